# SPDX-License-Identifier: BSD-3-Clause
"""Realistic faults to plant in copies of the kernel's own modules, for `bench faults`.

Half of them are races, the others wrong numbers. Each is a few edits of one file (`Fault`) of the source of the lab's
kernel. They were known while the checks were written; `unseen.py` has others.
"""

from __future__ import annotations

from dataclasses import dataclass

from emulation.lane.errors import Failure

RACE, NUMBER = "race", "wrong number"


@dataclass(frozen=True)
class Fault:
    """A planted fault: a name, its kind, the module, and pairs of text: what is there once, and what takes its
    place."""

    name: str
    kind: str
    module: str
    edits: tuple[tuple[str, str], ...]

    @property
    def file(self) -> str:
        return f"net/{'ipv4' if self.module.startswith('tcp_') else 'sched'}/{self.module}.c"


FAULTS = (
    Fault("a list of connections has no lock", RACE, "tcp_veno", (
        ("struct veno {\n", "static LIST_HEAD(flows);\n\nstruct veno {\n\tstruct list_head flow;\n"),
        ("\tveno->inc = 1;\n\tveno_enable(sk);\n", "\tveno->inc = 1;\n\tveno_enable(sk);\n"
         "\tif (!veno->flow.next)\n\t\tlist_add(&veno->flow, &flows);\n"),
        ("static struct tcp_congestion_ops", "static void tcp_veno_release(struct sock *sk)\n{\n"
         "\tstruct veno *veno = inet_csk_ca(sk);\n\n\tif (veno->flow.next)\n\t\tlist_del(&veno->flow);\n}\n\n"
         "static struct tcp_congestion_ops"),
        ("\t.init\t\t= tcp_veno_init,\n", "\t.init\t\t= tcp_veno_init,\n\t.release\t= tcp_veno_release,\n"),
    )),
    Fault("an object is freed without a grace period", RACE, "tcp_westwood", (
        ("static void tcp_westwood_init(", "struct best {\n\tu32 rtt;\n};\n\nstatic struct best __rcu *best;\n"
         "static DEFINE_SPINLOCK(best_lock);\n\nstatic void tcp_westwood_init("),
        ("static void tcp_westwood_ack(", "static void tcp_westwood_release(struct sock *sk)\n{\n"
         "\tstruct westwood *w = inet_csk_ca(sk);\n"
         "\tstruct best *old, *new = kmalloc(sizeof(*new), GFP_ATOMIC);\n\n\tif (!new)\n\t\treturn;\n"
         "\tnew->rtt = w->rtt_min;\n\tspin_lock_bh(&best_lock);\n"
         "\told = rcu_replace_pointer(best, new, lockdep_is_held(&best_lock));\n\tspin_unlock_bh(&best_lock);\n"
         "\tkfree(old);\n}\n\nstatic void tcp_westwood_ack("),
        ("\tif (ack_flags & CA_ACK_SLOWPATH) {\n", "\tconst struct best *known;\n\n\trcu_read_lock();\n"
         "\tknown = rcu_dereference(best);\n\tif (known && known->rtt < 2)\n"
         "\t\t((struct westwood *)inet_csk_ca(sk))->first_ack = 0;\n"
         "\trcu_read_unlock();\n\tif (ack_flags & CA_ACK_SLOWPATH) {\n"),
        ("\t.init\t\t= tcp_westwood_init,\n", "\t.init\t\t= tcp_westwood_init,\n\t.release\t= tcp_westwood_release,\n"),
        ("\ttcp_unregister_congestion_control(&tcp_westwood);\n",
         "\ttcp_unregister_congestion_control(&tcp_westwood);\n\tkfree(rcu_dereference_protected(best, 1));\n"),
    )),
    Fault("a counter of all connections is a plain variable", RACE, "tcp_veno", (
        ("static void tcp_veno_state(", "static unsigned long changes;\n\nstatic void tcp_veno_state("),
        ("\tif (ca_state == TCP_CA_Open)\n", "\tchanges++;\n\tif (ca_state == TCP_CA_Open)\n"),
    )),
    Fault("a qdisc's timer is not cancelled", RACE, "sch_pie", (
        ("\tq->params.tupdate = 0;\n\tdel_timer_sync(&q->adapt_timer);\n", "\tq->params.tupdate = 0;\n"),
    )),
    Fault("a qdisc's timer may still run when it is freed", RACE, "sch_pie", (
        ("del_timer_sync(&q->adapt_timer)", "del_timer(&q->adapt_timer)"),
    )),
    Fault("a module's timer is not cancelled at unload", RACE, "tcp_westwood", (
        ("static int __init tcp_westwood_register(", "static struct timer_list aging;\n\n"
         "static void age(struct timer_list *timer)\n{\n\tmod_timer(timer, jiffies + HZ / 20);\n}\n\n"
         "static int __init tcp_westwood_register("),
        ("\treturn tcp_register_congestion_control(", "\ttimer_setup(&aging, age, 0);\n"
         "\tmod_timer(&aging, jiffies + HZ / 20);\n\treturn tcp_register_congestion_control("),
    )),
    Fault("a pointer is followed without rcu_read_lock()", RACE, "sch_codel", (
        ("\tq->params.mtu = ", "\tif (!rcu_access_pointer(preset))\n"
         "\t\trcu_assign_pointer(preset, kzalloc(sizeof(struct preset), GFP_KERNEL));\n\tq->params.mtu = "),
        ("static int codel_init(", "struct preset {\n\tu32 limit;\n};\n\nstatic struct preset __rcu *preset;\n\n"
         "static int codel_init("),
        ("\tstruct nlattr *opts;\n\n", "\tconst struct preset *now = rcu_dereference(preset);\n"
         "\tstruct nlattr *opts;\n\n\tif (now && now->limit > sch->limit)\n\t\treturn -1;\n\n"),
        ("\tunregister_qdisc(&codel_qdisc_ops);\n",
         "\tunregister_qdisc(&codel_qdisc_ops);\n\tkfree(rcu_dereference_protected(preset, 1));\n"),
    )),
    Fault("it sleeps under a spinlock", RACE, "sch_codel", (
        ("\tsch_tree_lock(sch);\n\n\tif (tb[TCA_CODEL_TARGET]) {\n", "\tvoid *copy;\n\n\tsch_tree_lock(sch);\n"
         "\tcopy = kmemdup(&q->params, sizeof(q->params), GFP_KERNEL);\n\tkfree(copy);\n\n"
         "\tif (tb[TCA_CODEL_TARGET]) {\n"),
    )),
    Fault("a table is initialised by whoever comes first, without a lock", RACE, "tcp_veno", (
        ("static void tcp_veno_init(", "static u32 *table;\nstatic bool table_ready;\n\nstatic void tcp_veno_init("),
        ("\tveno->basertt = 0x7fffffff;\n\tveno->inc = 1;\n", "\tif (!table_ready) {\n"
         "\t\ttable = kcalloc(64, sizeof(*table), GFP_ATOMIC);\n\t\ttable_ready = true;\n\t}\n"
         "\tif (table && table[0])\n\t\tveno->cntrtt = 0;\n\tveno->basertt = 0x7fffffff;\n\tveno->inc = 1;\n"),
        ("\ttcp_unregister_congestion_control(&tcp_veno);\n",
         "\ttcp_unregister_congestion_control(&tcp_veno);\n\tkfree(table);\n"),
    )),
    Fault("a timer changes the queues without their lock", RACE, "sch_sfq", (
        ("\tspin_lock(root_lock);\n\tq->perturbation = nkey;\n", "\tq->perturbation = nkey;\n"),
        ("\t\tsfq_rehash(sch);\n\tspin_unlock(root_lock);\n", "\t\tsfq_rehash(sch);\n"),
        ("\troot_lock = qdisc_lock(qdisc_root_sleeping(sch));\n\tq->perturbation", "\tq->perturbation"),
        ("\tspinlock_t *root_lock;\n\tsiphash_key_t nkey;\n", "\tsiphash_key_t nkey;\n"),
    )),
    Fault("parents are not told what a smaller limit drops", NUMBER, "sch_codel", (
        ("\tqdisc_tree_reduce_backlog(sch, dropped_pkts, dropped_bytes);\n", ""),
    )),
    Fault("parents are not told what dequeue drops", NUMBER, "sch_codel", (
        ("\t\tqdisc_tree_reduce_backlog(sch, q->stats.drop_count,\n\t\t\t\t\t  q->stats.drop_len);\n", ""),
    )),
    Fault("dropping from the fattest flow leaves the backlog", NUMBER, "sch_fq_codel", (
        ("\tsch->qstats.backlog -= len;\n\tsch->q.qlen -= i;\n", "\tsch->q.qlen -= i;\n"),
    )),
    Fault("early drops are not counted", NUMBER, "sch_pie", (
        ("\treturn qdisc_drop(skb, sch, to_free);\n", "\t__qdisc_drop(skb, to_free);\n\treturn NET_XMIT_DROP;\n"),
    )),
    Fault("the window never grows after a timeout", NUMBER, "tcp_veno", (
        ("\tif (ca_state == TCP_CA_Open)\n\t\tveno_enable(sk);\n\telse\n\t\tveno_disable(sk);\n",
         "\tif (ca_state == TCP_CA_Loss)\n\t\tveno_disable(sk);\n"),
        ("\tif (!veno->doing_veno_now) {\n\t\ttcp_reno_cong_avoid(sk, ack, acked);\n\t\treturn;\n\t}\n",
         "\tif (!veno->doing_veno_now)\n\t\treturn;\n"),
        (" || event == CA_EVENT_TX_START)", ")"),
    )),
    Fault("ssthresh() underflows", NUMBER, "tcp_veno", (
        ("return max(tcp_snd_cwnd(tp) * 4 / 5, 2U);", "return max(tcp_snd_cwnd(tp) - 3 - veno->diff, 2U);"),
    )),
    Fault("window times RTT overflows", NUMBER, "tcp_veno", (
        ("target_cwnd = (u64)tcp_snd_cwnd(tp) * veno->basertt;", "target_cwnd = tcp_snd_cwnd(tp) * veno->basertt;"),
    )),
    Fault("undo_cwnd() returns the threshold", NUMBER, "tcp_westwood", (
        ("static struct tcp_congestion_ops", "static u32 tcp_westwood_undo(struct sock *sk)\n{\n"
         "\treturn tcp_sk(sk)->snd_ssthresh;\n}\n\nstatic struct tcp_congestion_ops"),
        ("\t.undo_cwnd      = tcp_reno_undo_cwnd,\n", "\t.undo_cwnd      = tcp_westwood_undo,\n"),
    )),
    Fault("peek does not count its packet again", NUMBER, "sch_codel", (
        ("\t\t\tqdisc_qstats_backlog_inc(sch, skb);\n\t\t\tsch->q.qlen++;\n",
         "\t\t\tqdisc_qstats_backlog_inc(sch, skb);\n"),
    )),
    Fault("dropping leaves qlen", NUMBER, "sch_sfq", (
        ("\tsfq_dec(q, x);\n\t\tsch->q.qlen--;\n", "\tsfq_dec(q, x);\n"),
    )),
)  # fmt: skip

# What is found in unchanged modules, and is true, by reading: by module, a part of each text.
KNOWN = {
    # rate_bps, without the queues' lock; and a flow whose queue is empty does not pass through the old ones
    "sch_cake": ("cake_change [sch_cake] writes byte", "cake lets 0 packets of a flow that waits out"),
    "sch_choke": ("allocated by the kernel (__ip_append_data",),  # holes fill its table, which then loses its packets
    "sch_cbs": ("cbs_enqueue [sch_cbs] changed qlen from",),  # what its child drops is no drop of its own
    "sch_etf": ("gave no packet after etf_peek_timesortedlist [sch_etf]",),  # one whose time has not come
    "sch_fq_codel": ("fq_codel_dump_class_stats [sch_fq_codel] reads",),  # a pointer, without the queues' lock
    "sch_gred": ("gred_dump [sch_gred] reads",),  # and writes, without the queues' lock
    "tcp_bic": ("division-overflow in tcp_bic.c",),  # by a parameter that may be 0
    "sch_plug": ("plug_change [sch_plug] writes byte",),  # without the queues' lock
    "sch_teql": ("teql_enqueue [sch_teql] changed qlen from 0 to 0",),  # it counts when it is asked for packets
    "tcp_hybla": ("division-overflow", "hybla_init [tcp_hybla] left a congestion window of"),  # rtt0 is 0, or negative
    "tcp_nv": ("net/tcp.h:1322",),  # nv_pad is negative
    "tcp_westwood": ("above its clamp of",),  # the window after a loss
}


def planted(fault: Fault, source: str) -> str:
    """Return the source with the fault. Raises Failure if it is another version's."""
    for old, new in fault.edits:
        if source.count(old) != 1:
            raise Failure(f"{fault.file} of this kernel does not fit {fault.name!r}: {old.strip()!r} is not there once")
        source = source.replace(old, new)
    return source
