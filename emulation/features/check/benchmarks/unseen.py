# SPDX-License-Identifier: BSD-3-Clause
"""Faults for which no check was made, for `bench faults --unseen`: seven sets. Only the fifth and the seventh are in
modules that `FAULTS` has, too.

Each set was written before anyone knew how `module check` does on it. At the first try, 6 of the first ten were found,
and 6 of the ten races of the second set. The third set has wrong numbers and policies only. Most faults of the fourth
are those that a later version of the kernel mended; 2 of its twelve were found at the first try. The fifth has ten of
each kind, and was written before the stage reference was there; 18 were found at the first try. The sixth, too, has ten
of each kind, half of them in seven modules that no other set uses; 7 were found at the first try. The seventh was
written by someone who knew nothing of the checks: of twenty faults, the thirteen that are in the kernel's own modules,
of which 11 were found at the first try.
"""

from __future__ import annotations

from emulation.features.check.benchmarks.planted import NUMBER, RACE, Fault

FIRST = (
    Fault("readers walk a list without the lock of its writers", RACE, "tcp_illinois", (
        ("/* TCP Illinois Parameters */\n", "static LIST_HEAD(slowest);\nstatic DEFINE_SPINLOCK(slowest_lock);\n\n"
         "struct slow {\n\tstruct list_head node;\n\tu32 rtt;\n};\n\n/* TCP Illinois Parameters */\n"),
        ("static void tcp_illinois_init(", "static void tcp_illinois_release(struct sock *sk)\n{\n"
         "\tstruct illinois *ca = inet_csk_ca(sk);\n\tstruct slow *slow = kmalloc(sizeof(*slow), GFP_ATOMIC), *old;\n\n"
         "\tif (!slow)\n\t\treturn;\n\tslow->rtt = ca->max_rtt;\n\tspin_lock_bh(&slowest_lock);\n"
         "\told = list_first_entry_or_null(&slowest, struct slow, node);\n\tif (old)\n\t\tlist_del(&old->node);\n"
         "\tlist_add(&slow->node, &slowest);\n\tspin_unlock_bh(&slowest_lock);\n\tkfree(old);\n}\n\n"
         "static u32 slowest_rtt(void)\n{\n\tstruct slow *slow;\n\tu32 rtt = 0;\n\n"
         "\tlist_for_each_entry(slow, &slowest, node)\n\t\trtt = max(rtt, slow->rtt);\n\treturn rtt;\n}\n\n"
         "static void tcp_illinois_init("),
        ("\tca->max_rtt = 0;\n", "\tca->max_rtt = slowest_rtt() / 2;\n"),
        ("\t.init\t\t= tcp_illinois_init,\n", "\t.init\t\t= tcp_illinois_init,\n\t.release\t= tcp_illinois_release,\n"),
        ("\ttcp_unregister_congestion_control(&tcp_illinois);\n",
         "\tstruct slow *slow;\n\n\ttcp_unregister_congestion_control(&tcp_illinois);\n"
         "\tslow = list_first_entry_or_null(&slowest, struct slow, node);\n\tkfree(slow);\n"),
    )),
    Fault("a task takes a softirq's lock without disabling softirqs", RACE, "tcp_htcp", (
        ("static void htcp_init(", "static DEFINE_SPINLOCK(best_lock);\nstatic u32 best_rtt = ~0U;\n\n"
         "static void htcp_release(struct sock *sk)\n{\n\tstruct htcp *ca = inet_csk_ca(sk);\n\n"
         "\tspin_lock(&best_lock);\n\tbest_rtt = min(best_rtt, ca->minRTT ?: ~0U);\n\tspin_unlock(&best_lock);\n}\n\n"
         "static void htcp_init("),
        ("\tca->last_cong = jiffies;\n}\n\nstatic void htcp_state",
         "\tca->last_cong = jiffies;\n\tspin_lock_bh(&best_lock);\n\tif (best_rtt == ~0U)\n\t\tca->modeswitch = 0;\n"
         "\tspin_unlock_bh(&best_lock);\n}\n\nstatic void htcp_state"),
        ("\t.init\t\t= htcp_init,\n", "\t.init\t\t= htcp_init,\n\t.release\t= htcp_release,\n"),
    )),
    Fault("a table is replaced without the queues' lock", RACE, "sch_fq", (
        ("\tsch_tree_lock(sch);\n\n\told_fq_root = ", "\told_fq_root = "),
        ("\tWRITE_ONCE(q->fq_trees_log, log);\n\n\tsch_tree_unlock(sch);\n", "\tWRITE_ONCE(q->fq_trees_log, log);\n"),
    )),
    Fault("change drops packets without the queues' lock", RACE, "sch_hhf", (
        ("\twhile (sch->q.qlen > sch->limit) {\n", "\tsch_tree_unlock(sch);\n\n\twhile (sch->q.qlen > sch->limit) {\n"),
        ("\tqdisc_tree_reduce_backlog(sch, dropped_pkts, dropped_bytes);\n\n\tsch_tree_unlock(sch);\n",
         "\tqdisc_tree_reduce_backlog(sch, dropped_pkts, dropped_bytes);\n"),
    )),
    Fault("all connections share a remembered result", RACE, "tcp_bbr", (
        ("\tunsigned int mss = tcp_sk(sk)->mss_cache;\n\n\trate *= mss;\n",
         "\tstatic u64 last_rate, last_result;\n\tstatic int last_gain;\n"
         "\tunsigned int mss = tcp_sk(sk)->mss_cache;\n\n"
         "\tif (rate == last_rate && gain == last_gain)\n\t\treturn last_result;\n\tlast_rate = rate;\n"
         "\tlast_gain = gain;\n\trate *= mss;\n"),
        ("\treturn rate >> BW_SCALE;\n", "\tlast_result = rate >> BW_SCALE;\n\treturn last_result;\n"),
    )),
    Fault("the window passes its clamp", NUMBER, "tcp_bbr", (
        ("\ttcp_snd_cwnd_set(tp, min(cwnd, tp->snd_cwnd_clamp));\t/* apply global cap */\n",
         "\ttcp_snd_cwnd_set(tp, cwnd);\n"),
    )),
    Fault("dequeue takes the wrong length off the backlog", NUMBER, "sch_fq_pie", (
        ("\t\tpkt_len = qdisc_pkt_len(skb);\n\t\tsch->qstats.backlog -= pkt_len;\n",
         "\t\tpkt_len = skb->len;\n\t\tsch->qstats.backlog -= pkt_len;\n"),
    )),
    Fault("dropping for a better packet leaves the backlog", NUMBER, "sch_skbprio", (
        ("\tqdisc_qstats_backlog_dec(sch, to_drop);\n", ""),
    )),
    Fault("parents are not told what a full queue drops", NUMBER, "sch_cake", (
        ("\tqdisc_tree_reduce_backlog(sch, prev_qlen, prev_backlog);\n\treturn NET_XMIT_SUCCESS;\n",
         "\treturn NET_XMIT_SUCCESS;\n"),
    )),
    Fault("an index leaves its table", NUMBER, "tcp_highspeed", (
        ("\t\t\t       ca->ai < HSTCP_AIMD_MAX - 1)\n", "\t\t\t       ca->ai < HSTCP_AIMD_MAX)\n"),
    )),
)  # fmt: skip

SECOND = (
    Fault("a counter per CPU is changed by tasks and softirqs", RACE, "tcp_bic", (
        ("static inline void bictcp_reset(", "struct bic_stats {\n\tu64 flows;\n};\n\n"
         "static DEFINE_PER_CPU(struct bic_stats, bic_stats);\n\nstatic inline void bictcp_reset("),
        ("\tstruct bictcp *ca = inet_csk_ca(sk);\n\n\tbictcp_reset(ca);\n\n", "\tstruct bictcp *ca = inet_csk_ca(sk);\n"
         "\tstruct bic_stats *stats = raw_cpu_ptr(&bic_stats);\n\n\tstats->flows++;\n\tbictcp_reset(ca);\n\n"),
    )),
    Fault("a restart after idle time forgets an allocation", RACE, "tcp_cdg", (
        ("\t\tca->gradients = gradients;\n", ""),
    )),
    Fault("work that queues itself again is not waited for", RACE, "tcp_nv", (
        ("static void tcpnv_init(", "static u32 least_rtt = U32_MAX;\nstatic struct delayed_work aging;\n\n"
         "static void age(struct work_struct *work)\n{\n\tWRITE_ONCE(least_rtt, U32_MAX);\n"
         "\tschedule_delayed_work(&aging, HZ / 10);\n}\n\nstatic void tcpnv_init("),
        ("\tBUILD_BUG_ON(sizeof(struct tcpnv) > ICSK_CA_PRIV_SIZE);\n",
         "\tBUILD_BUG_ON(sizeof(struct tcpnv) > ICSK_CA_PRIV_SIZE);\n\tINIT_DELAYED_WORK(&aging, age);\n"
         "\tschedule_delayed_work(&aging, HZ / 10);\n"),
        ("\ttcp_unregister_congestion_control(&tcpnv);\n",
         "\tcancel_delayed_work(&aging);\n\ttcp_unregister_congestion_control(&tcpnv);\n"),
    )),
    Fault("a reference to a socket is not given back", RACE, "tcp_lp", (
        ("static void tcp_lp_init(", "static DEFINE_SPINLOCK(watched_lock);\nstatic struct sock *watched;\n\n"
         "static void tcp_lp_release(struct sock *sk)\n{\n\tspin_lock_bh(&watched_lock);\n\tif (watched == sk)\n"
         "\t\twatched = NULL;\n\tspin_unlock_bh(&watched_lock);\n}\n\nstatic void tcp_lp_init("),
        ("\tlp->inference = 0;\n", "\tlp->inference = 0;\n\tspin_lock_bh(&watched_lock);\n\tif (!watched) {\n"
         "\t\tsock_hold(sk);\n\t\twatched = sk;\n\t}\n\tspin_unlock_bh(&watched_lock);\n"),
        ("\t.init = tcp_lp_init,\n", "\t.init = tcp_lp_init,\n\t.release = tcp_lp_release,\n"),
    )),
    Fault("a packet is read after a child has it", RACE, "sch_sfb", (
        ("\tmemcpy(&cb, sfb_skb_cb(skb), sizeof(cb));\n", ""),
        ("\tstruct sfb_skb_cb cb;\n", ""),
        ("increment_qlen(&cb, q);", "increment_qlen(sfb_skb_cb(skb), q);"),
    )),
    Fault("a shaper's watchdog outlives its qdisc", RACE, "sch_tbf", (
        ("\tq->ptokens = q->mtu;\n\tqdisc_watchdog_cancel(&q->watchdog);\n", "\tq->ptokens = q->mtu;\n"),
        ("\tqdisc_watchdog_cancel(&q->watchdog);\n\ttbf_offload_destroy(sch);\n", "\ttbf_offload_destroy(sch);\n"),
    )),
    Fault("a deleted class stays in the list of active ones", RACE, "sch_drr", (
        ("static void drr_qlen_notify(struct Qdisc *csh, unsigned long arg)\n{\n"
         "\tstruct drr_class *cl = (struct drr_class *)arg;\n\n\tlist_del_init(&cl->alist);\n}",
         "static void drr_qlen_notify(struct Qdisc *csh, unsigned long arg)\n{\n}"),
    )),
    Fault("bands are changed without the queues' lock", RACE, "sch_ets", (
        ("\tsch_tree_lock(sch);\n\n\tfor (i = nbands; i < oldbands; i++) {\n",
         "\tfor (i = nbands; i < oldbands; i++) {\n"),
        ("\tsch_tree_unlock(sch);\n\n\tets_offload_change(sch);\n\tfor (i = q->nbands;",
         "\tets_offload_change(sch);\n\tfor (i = q->nbands;"),
    )),
    Fault("two locks are taken in both orders", RACE, "tcp_vegas", (
        ("/* Do RTT sampling needed for Vegas.\n", "static DEFINE_SPINLOCK(count_lock);\n"
         "static DEFINE_SPINLOCK(best_lock);\nstatic u32 flows, best_rtt = 0x7fffffff;\n\n"
         "static void vegas_start(struct sock *sk)\n{\n\ttcp_vegas_init(sk);\n\tspin_lock_bh(&count_lock);\n"
         "\tflows++;\n\tspin_lock(&best_lock);\n\tif (flows == 1)\n\t\tbest_rtt = 0x7fffffff;\n"
         "\tspin_unlock(&best_lock);\n\tspin_unlock_bh(&count_lock);\n}\n\n"
         "static void vegas_release(struct sock *sk)\n{\n\tstruct vegas *vegas = inet_csk_ca(sk);\n\n"
         "\tspin_lock_bh(&best_lock);\n\tbest_rtt = min(best_rtt, vegas->baseRTT);\n\tspin_lock(&count_lock);\n"
         "\tflows--;\n\tspin_unlock(&count_lock);\n\tspin_unlock_bh(&best_lock);\n}\n\n"
         "/* Do RTT sampling needed for Vegas.\n"),
        ("\t.init\t\t= tcp_vegas_init,\n", "\t.init\t\t= vegas_start,\n\t.release\t= vegas_release,\n"),
    )),
    Fault("a module goes before its RCU callbacks have run", RACE, "tcp_hybla", (
        ("static void hybla_init(", "struct past {\n\tstruct rcu_head rcu;\n\tu32 rtt_us;\n};\n\n"
         "static struct past __rcu *past;\nstatic DEFINE_SPINLOCK(past_lock);\n\n"
         "static void forget(struct rcu_head *rcu)\n{\n\tkfree(container_of(rcu, struct past, rcu));\n}\n\n"
         "static void hybla_release(struct sock *sk)\n{\n\tstruct hybla *ca = inet_csk_ca(sk);\n"
         "\tstruct past *old, *new = kmalloc(sizeof(*new), GFP_ATOMIC);\n\n\tif (!new)\n\t\treturn;\n"
         "\tnew->rtt_us = ca->minrtt_us;\n\tspin_lock_bh(&past_lock);\n"
         "\told = rcu_replace_pointer(past, new, lockdep_is_held(&past_lock));\n\tspin_unlock_bh(&past_lock);\n"
         "\tif (old)\n\t\tcall_rcu(&old->rcu, forget);\n}\n\nstatic void hybla_init("),
        ("\tca->minrtt_us = tp->srtt_us;\n\ttcp_snd_cwnd_set(tp, ca->rho);\n",
         "\tca->minrtt_us = tp->srtt_us;\n\trcu_read_lock();\n\tif (!ca->minrtt_us && rcu_access_pointer(past))\n"
         "\t\tca->minrtt_us = rcu_dereference(past)->rtt_us;\n\trcu_read_unlock();\n"
         "\ttcp_snd_cwnd_set(tp, ca->rho);\n"),
        ("\t.init\t\t= hybla_init,\n", "\t.init\t\t= hybla_init,\n\t.release\t= hybla_release,\n"),
        ("\ttcp_unregister_congestion_control(&tcp_hybla);\n",
         "\ttcp_unregister_congestion_control(&tcp_hybla);\n\tkfree(rcu_dereference_protected(past, 1));\n"),
    )),
    Fault("a window that the application does not fill grows", NUMBER, "tcp_scalable", (
        ("\tif (!tcp_is_cwnd_limited(sk))\n\t\treturn;\n\n", ""),
    )),
    Fault("undo forgets what the window grew since", NUMBER, "tcp_dctcp", (
        ("\tstruct tcp_sock *tp = tcp_sk(sk);\n\n\treturn max(tcp_snd_cwnd(tp), ca->loss_cwnd);\n",
         "\n\treturn ca->loss_cwnd;\n"),
    )),
    Fault("a change of the flags is ignored", NUMBER, "sch_red", (
        ("\tq->flags = flags;\n", "\tif (q->qdisc == &noop_qdisc)\n\t\tq->flags = flags;\n"),
    )),
    Fault("a smaller table gets a packet too many", NUMBER, "sch_choke", (
        ("\t\t\t\tif (tail < mask) {\n", "\t\t\t\tif (tail <= mask) {\n"),
    )),
    Fault("packets of a removed band are still counted", NUMBER, "sch_prio", (
        ("\tfor (i = q->bands; i < oldbands; i++)\n\t\tqdisc_purge_queue(q->queues[i]);\n\n", ""),
    )),
    Fault("lost packets are not counted", NUMBER, "sch_netem", (
        ("\tif (count == 0) {\n\t\tqdisc_qstats_drop(sch);\n", "\tif (count == 0) {\n"),
    )),
    Fault("peek never shows a packet", NUMBER, "sch_tbf", (
        ("\t.peek\t\t=\tqdisc_peek_dequeued,\n", "\t.peek\t\t=\tqdisc_peek_head,\n"),
    )),
    Fault("idle time counts as growth", NUMBER, "tcp_cubic", (
        ("\t\t\tca->epoch_start += delta;\n", ""),
    )),
    Fault("the estimate of the queue overflows", NUMBER, "tcp_yeah", (
        ("\t\t\tbw = tcp_snd_cwnd(tp);\n\t\t\tbw *= rtt - yeah->vegas.baseRTT;\n",
         "\t\t\tbw = tcp_snd_cwnd(tp) * (rtt - yeah->vegas.baseRTT);\n"),
    )),
    Fault("a divisor may be 0", NUMBER, "tcp_bic", (
        ("\tif (ca->cnt == 0)\t\t\t/* cannot be zero */\n\t\tca->cnt = 1;\n", ""),
    )),
)  # fmt: skip

THIRD = (
    Fault("a loss halves the window twice", NUMBER, "tcp_htcp", (
        ("\treturn max((tcp_snd_cwnd(tp) * ca->beta) >> 7, 2U);\n",
         "\treturn max((tcp_snd_cwnd(tp) * ca->beta) >> 8, 2U);\n"),
    )),
    Fault("what was counted towards growth counts again", NUMBER, "tcp_illinois", (
        ("\t\t\t\t\t\t (u32)tp->snd_cwnd_clamp));\n\t\t\ttp->snd_cwnd_cnt = 0;\n",
         "\t\t\t\t\t\t (u32)tp->snd_cwnd_clamp));\n"),
    )),
    Fault("the least RTT is the largest", NUMBER, "tcp_vegas", (
        ("\tif (vrtt < vegas->baseRTT)\n\t\tvegas->baseRTT = vrtt;\n",
         "\tif (vrtt > vegas->baseRTT || vegas->baseRTT == 0x7fffffff)\n\t\tvegas->baseRTT = vrtt;\n"),
    )),
    Fault("all connections share the time of the last drop", NUMBER, "tcp_lp", (
        ("static void tcp_lp_pkts_acked(", "static u32 last_drop;\n\nstatic void tcp_lp_pkts_acked("),
        ("\tif (lp->last_drop && (now - lp->last_drop < lp->inference))\n",
         "\tif (READ_ONCE(last_drop) && (now - READ_ONCE(last_drop) < lp->inference))\n"),
        ("\tlp->last_drop = now;\n", "\tWRITE_ONCE(last_drop, now);\n"),
    )),
    Fault("the RTT is taken in milliseconds where it is in microseconds", NUMBER, "tcp_hybla", (
        ("tcp_sk(sk)->srtt_us / (rtt0 * USEC_PER_MSEC)", "tcp_sk(sk)->srtt_us / rtt0"),
    )),
    Fault("a class pays for no packet", NUMBER, "sch_drr", (
        ("\t\t\tWRITE_ONCE(cl->deficit, cl->deficit - len);\n", ""),
    )),
    Fault("a pacing time has the wrong unit", NUMBER, "sch_fq", (
        ("\t\tu64 len = (u64)plen * NSEC_PER_SEC;\n", "\t\tu64 len = (u64)plen * USEC_PER_SEC;\n"),
    )),
    Fault("the limit is off by one", NUMBER, "sch_sfb", (
        ("\tif (unlikely(sch->q.qlen >= q->limit)) {\n", "\tif (unlikely(sch->q.qlen > q->limit)) {\n"),
    )),
    Fault("a heavy flow gets the share of the light ones", NUMBER, "sch_hhf", (
        ("\t\t\t      1 : q->hhf_non_hh_weight;\n", "\t\t\t      q->hhf_non_hh_weight : 1;\n"),
    )),
    Fault("tokens are paid for half of the bytes", NUMBER, "sch_htb", (
        ("\ttoks -= (s64) psched_l2t_ns(&cl->rate, bytes);\n",
         "\ttoks -= (s64) psched_l2t_ns(&cl->rate, bytes) / 2;\n"),
        ("\ttoks -= (s64) psched_l2t_ns(&cl->ceil, bytes);\n",
         "\ttoks -= (s64) psched_l2t_ns(&cl->ceil, bytes) / 2;\n"),
    )),
)  # fmt: skip

FOURTH = (
    Fault("classes are shown without the lock under which they change", RACE, "sch_qfq", (
        ("\tsch_tree_lock(sch);\n\tclass_weight\t= cl->agg->class_weight;\n\tlmax\t\t= cl->agg->lmax;\n"
         "\tsch_tree_unlock(sch);\n", "\tclass_weight\t= cl->agg->class_weight;\n\tlmax\t\t= cl->agg->lmax;\n"),
        ("\tsch_tree_lock(sch);\n\txstats.weight = cl->agg->class_weight;\n\txstats.lmax = cl->agg->lmax;\n"
         "\tsch_tree_unlock(sch);\n", "\txstats.weight = cl->agg->class_weight;\n\txstats.lmax = cl->agg->lmax;\n"),
    )),
    Fault("a timer is stopped that was never set up", RACE, "sch_netem", (
        ("\tqdisc_watchdog_init(&q->watchdog, sch);\n\n\tif (!opt)\n\t\treturn -EINVAL;\n",
         "\tif (!opt)\n\t\treturn -EINVAL;\n\n\tqdisc_watchdog_init(&q->watchdog, sch);\n"),
    )),
    Fault("a class that gets children stays among the waiting leaves", RACE, "sch_htb", (
        ("\t\t\tif (parent->cmode != HTB_CAN_SEND) {\n"
         "\t\t\t\thtb_safe_rb_erase(&parent->pq_node, &q->hlevel[0].wait_pq);\n"
         "\t\t\t\tparent->cmode = HTB_CAN_SEND;\n\t\t\t}\n", ""),
    )),
    Fault("a counter is marked, but not updated as one", RACE, "tcp_highspeed", (
        ("static void hstcp_init(", "static int flows;\n\nstatic void hstcp_release(struct sock *sk)\n{\n"
         "\tWRITE_ONCE(flows, READ_ONCE(flows) - 1);\n}\n\nstatic void hstcp_init("),
        ("\tca->ai = 0;\n", "\tca->ai = 0;\n\tWRITE_ONCE(flows, READ_ONCE(flows) + 1);\n"),
        ("\t\t\ttp->snd_cwnd_cnt += ca->ai + 1;\n",
         "\t\t\ttp->snd_cwnd_cnt += READ_ONCE(flows) > 100 ? 1 : ca->ai + 1;\n"),
        ("\t.init\t\t= hstcp_init,\n", "\t.init\t\t= hstcp_init,\n\t.release\t= hstcp_release,\n"),
    )),
    Fault("a pointer is followed after rcu_read_unlock()", RACE, "tcp_bic", (
        ("static inline void bictcp_reset(", "struct known {\n\tstruct rcu_head rcu;\n\tu32 max_cwnd;\n};\n\n"
         "static struct known __rcu *latest;\nstatic DEFINE_SPINLOCK(latest_lock);\n\n"
         "static const struct known *latest_path(void)\n{\n\tconst struct known *path;\n\n\trcu_read_lock();\n"
         "\tpath = rcu_dereference(latest);\n\trcu_read_unlock();\n\treturn path;\n}\n\n"
         "static inline void bictcp_reset("),
        ("static void bictcp_state(", "static void bictcp_event(struct sock *sk, enum tcp_ca_event event)\n{\n"
         "\tstruct bictcp *ca = inet_csk_ca(sk);\n\tconst struct known *path = latest_path();\n\n"
         "\tif (event == CA_EVENT_TX_START && path && ca->last_max_cwnd < path->max_cwnd)\n"
         "\t\tca->last_max_cwnd = path->max_cwnd;\n}\n\n"
         "static void bictcp_release(struct sock *sk)\n{\n\tconst struct bictcp *ca = inet_csk_ca(sk);\n"
         "\tstruct known *path = kmalloc(sizeof(*path), GFP_ATOMIC);\n\n\tif (!path)\n\t\treturn;\n"
         "\tpath->max_cwnd = ca->last_max_cwnd;\n\tspin_lock_bh(&latest_lock);\n"
         "\tpath = rcu_replace_pointer(latest, path, lockdep_is_held(&latest_lock));\n"
         "\tspin_unlock_bh(&latest_lock);\n\tif (path)\n\t\tkfree_rcu(path, rcu);\n}\n\n"
         "static void bictcp_state("),
        ("\t.init\t\t= bictcp_init,\n", "\t.init\t\t= bictcp_init,\n\t.release\t= bictcp_release,\n"
         "\t.cwnd_event\t= bictcp_event,\n"),
        ("\ttcp_unregister_congestion_control(&bictcp);\n",
         "\ttcp_unregister_congestion_control(&bictcp);\n\tkfree(rcu_dereference_protected(latest, 1));\n"),
    )),
    Fault("a module goes, but its notifier stays", RACE, "tcp_lp", (
        ("static void tcp_lp_init(", "static atomic_t changes;\n\n"
         "static int tcp_lp_device_event(struct notifier_block *block, unsigned long event, void *info)\n{\n"
         "\tif (event == NETDEV_CHANGE || event == NETDEV_UP)\n\t\tatomic_inc(&changes);\n\treturn NOTIFY_DONE;\n}\n\n"
         "static struct notifier_block tcp_lp_notifier = {\n\t.notifier_call = tcp_lp_device_event,\n};\n\n"
         "static void tcp_lp_init("),
        ("struct lp {\n\tu32 flag;\n", "struct lp {\n\tu32 flag;\n\tint changes;\n"),
        ("\tlp->flag = 0;\n", "\tlp->flag = 0;\n\tlp->changes = atomic_read(&changes);\n"),
        ("\t/* calc inference */\n", "\tif (lp->changes != atomic_read(&changes)) {\n"
         "\t\tlp->changes = atomic_read(&changes);\n\t\tlp->owd_min = 0xffffffff;\n\t\tlp->owd_max = 0;\n\t}\n\n"
         "\t/* calc inference */\n"),
        ("\tBUILD_BUG_ON(sizeof(struct lp) > ICSK_CA_PRIV_SIZE);\n\treturn tcp_register_congestion_control(&tcp_lp);\n",
         "\tint err;\n\n\tBUILD_BUG_ON(sizeof(struct lp) > ICSK_CA_PRIV_SIZE);\n"
         "\terr = register_netdevice_notifier(&tcp_lp_notifier);\n\tif (err)\n\t\treturn err;\n"
         "\terr = tcp_register_congestion_control(&tcp_lp);\n\tif (err)\n"
         "\t\tunregister_netdevice_notifier(&tcp_lp_notifier);\n\treturn err;\n"),
    )),
    Fault("a parameter shifts by more bits than there are", NUMBER, "tcp_dctcp", (
        ("static int dctcp_shift_g_set(const char *val, const struct kernel_param *kp)\n{\n"
         "\treturn param_set_uint_minmax(val, kp, 0, 10);\n}\n\n"
         "static const struct kernel_param_ops dctcp_shift_g_ops = {\n\t.set = dctcp_shift_g_set,\n"
         "\t.get = param_get_uint,\n};\n\nmodule_param_cb(dctcp_shift_g, &dctcp_shift_g_ops, &dctcp_shift_g, 0644);\n",
         "module_param(dctcp_shift_g, uint, 0644);\n"),
    )),
    Fault("an ACK of many segments counts as one", NUMBER, "tcp_cubic", (
        ("\ttcp_cong_avoid_ai(tp, ca->cnt, acked);\n", "\ttcp_cong_avoid_ai(tp, ca->cnt, 1);\n"),
    )),
    Fault("the threshold may be one segment", NUMBER, "tcp_illinois", (
        ("\treturn max(tcp_snd_cwnd(tp) - decr, 2U);\n", "\treturn tcp_snd_cwnd(tp) - decr;\n"),
    )),
    Fault("the bytes of segments are not counted", NUMBER, "sch_tbf", (
        ("\tsch->qstats.backlog += len;\n\tif (nb > 0) {\n", "\tif (nb > 0) {\n"),
    )),
    Fault("the average of the queue stays as it is while idle", NUMBER, "sch_red", (
        ("\t\tsch->q.qlen--;\n\t} else {\n\t\tif (!red_is_idling(&q->vars))\n"
         "\t\t\tred_start_of_idle_period(&q->vars);\n\t}\n", "\t\tsch->q.qlen--;\n\t}\n"),
    )),
    Fault("a flow that comes back is always before the old ones", NUMBER, "sch_fq_pie", (
        ("\t\tif (head == &q->new_flows && !list_empty(&q->old_flows))\n"
         "\t\t\tlist_move_tail(&flow->flowchain, &q->old_flows);\n\t\telse\n\t\t\tlist_del_init(&flow->flowchain);\n",
         "\t\tlist_del_init(&flow->flowchain);\n"),
    )),
)  # fmt: skip

FIFTH = (
    Fault("a timer of the module walks a list without its lock", RACE, "tcp_veno", (
        ("struct veno {\n", "struct veno_flow {\n\tstruct list_head node;\n\tu32 rtt;\n};\n\n"
         "static LIST_HEAD(veno_flows);\nstatic DEFINE_SPINLOCK(veno_lock);\nstatic u32 veno_least;\n\n"
         "struct veno {\n"),
        ("static inline void veno_enable(", "static void veno_survey(struct timer_list *timer)\n{\n"
         "\tstruct veno_flow *one;\n\tu32 least = ~0U;\n\n\tlist_for_each_entry(one, &veno_flows, node)\n"
         "\t\tleast = min(least, one->rtt);\n\tWRITE_ONCE(veno_least, least);\n"
         "\tmod_timer(timer, jiffies + HZ / 50);\n}\n\nstatic DEFINE_TIMER(veno_timer, veno_survey);\n\n"
         "static inline void veno_enable("),
        ("static struct tcp_congestion_ops", "static void tcp_veno_release(struct sock *sk)\n{\n"
         "\tstruct veno_flow *one = kmalloc(sizeof(*one), GFP_ATOMIC), *old = NULL;\n\n\tif (!one)\n\t\treturn;\n"
         "\tone->rtt = ((struct veno *)inet_csk_ca(sk))->basertt;\n\tspin_lock_bh(&veno_lock);\n"
         "\tif (!list_empty(&veno_flows)) {\n\t\told = list_first_entry(&veno_flows, struct veno_flow, node);\n"
         "\t\tlist_del(&old->node);\n\t}\n\tlist_add_tail(&one->node, &veno_flows);\n\tspin_unlock_bh(&veno_lock);\n"
         "\tkfree(old);\n}\n\nstatic struct tcp_congestion_ops"),
        ("\t.init\t\t= tcp_veno_init,\n", "\t.init\t\t= tcp_veno_init,\n\t.release\t= tcp_veno_release,\n"),
        ("\ttcp_register_congestion_control(&tcp_veno);\n",
         "\ttcp_register_congestion_control(&tcp_veno);\n\tmod_timer(&veno_timer, jiffies + HZ / 50);\n"),
        ("\ttcp_unregister_congestion_control(&tcp_veno);\n",
         "\tstruct veno_flow *one, *next;\n\n\ttcp_unregister_congestion_control(&tcp_veno);\n"
         "\ttimer_shutdown_sync(&veno_timer);\n\tlist_for_each_entry_safe(one, next, &veno_flows, node)\n"
         "\t\tkfree(one);\n"),
    )),
    Fault("the queue is trimmed and set up again without the queues' lock", RACE, "sch_codel", (
        ("\tsch_tree_lock(sch);\n\n\tif (tb[TCA_CODEL_TARGET]) {\n", "\tif (tb[TCA_CODEL_TARGET]) {\n"),
        ("\tqdisc_tree_reduce_backlog(sch, dropped_pkts, dropped_bytes);\n\n\tsch_tree_unlock(sch);\n",
         "\tqdisc_tree_reduce_backlog(sch, dropped_pkts, dropped_bytes);\n"),
    )),
    Fault("the timer that adapts the queue outlives it", RACE, "sch_red", (
        ("\tdel_timer_sync(&q->adapt_timer);\n\tred_offload(sch, false);\n", "\tred_offload(sch, false);\n"),
    )),
    Fault("users are counted in a plain integer", RACE, "tcp_westwood", (
        ("static void tcp_westwood_init(", "struct shared {\n\tint users;\n\tu32 rtt;\n};\n\n"
         "static struct shared *shared;\nstatic DEFINE_SPINLOCK(shared_lock);\n\n"
         "static void tcp_westwood_release(struct sock *sk)\n{\n\tstruct shared *mine = NULL;\n\n"
         "\tif (shared && --shared->users == 0) {\n\t\tspin_lock_bh(&shared_lock);\n\t\tmine = shared;\n"
         "\t\tshared = NULL;\n\t\tspin_unlock_bh(&shared_lock);\n\t}\n\tkfree(mine);\n}\n\n"
         "static void tcp_westwood_init("),
        ("\tw->first_ack = 1;\n}\n", "\tw->first_ack = 1;\n\tspin_lock_bh(&shared_lock);\n\tif (!shared)\n"
         "\t\tshared = kzalloc(sizeof(*shared), GFP_ATOMIC);\n\tif (shared)\n\t\tshared->users++;\n"
         "\tspin_unlock_bh(&shared_lock);\n}\n"),
        ("\t.init\t\t= tcp_westwood_init,\n", "\t.init\t\t= tcp_westwood_init,\n\t.release\t= tcp_westwood_release,\n"),
    )),
    Fault("a lock stays held on a path taken seldom", RACE, "tcp_illinois", (
        ("static void rtt_reset(struct sock *sk)\n", "static DEFINE_SPINLOCK(worst_lock);\nstatic u32 worst_rtt;\n\n"
         "static void note_worst(u32 rtt)\n{\n\tspin_lock_bh(&worst_lock);\n\tif (rtt > 2 * USEC_PER_SEC)\n"
         "\t\treturn;\n\tworst_rtt = max(worst_rtt, rtt);\n\tspin_unlock_bh(&worst_lock);\n}\n\n"
         "static void rtt_reset(struct sock *sk)\n"),
        ("\t++ca->cnt_rtt;\n\tca->sum_rtt += rtt_us;\n",
         "\t++ca->cnt_rtt;\n\tca->sum_rtt += rtt_us;\n\tnote_worst(rtt_us);\n"),
    )),
    Fault("work keeps a socket that it does not hold", RACE, "tcp_htcp", (
        ("static void htcp_init(struct sock *sk)\n",
         "struct later {\n\tstruct delayed_work work;\n\tstruct sock *sk;\n};\n\n"
         "static void htcp_later(struct work_struct *work)\n{\n"
         "\tstruct later *later = container_of(to_delayed_work(work), struct later, work);\n\n"
         "\tif (READ_ONCE(later->sk->sk_state) == TCP_ESTABLISHED)\n\t\tpr_debug(\"htcp: still there\\n\");\n"
         "\tkfree(later);\n}\n\nstatic struct workqueue_struct *later_queue;\n\n"
         "static void htcp_init(struct sock *sk)\n"),
        ("\tca->last_cong = jiffies;\n}\n\nstatic void htcp_state",
         "\tca->last_cong = jiffies;\n\n\tstruct later *later = kmalloc(sizeof(*later), GFP_ATOMIC);\n\n"
         "\tif (!later)\n\t\treturn;\n\tINIT_DELAYED_WORK(&later->work, htcp_later);\n\tlater->sk = sk;\n"
         "\tqueue_delayed_work(later_queue, &later->work, 5 * HZ);\n}\n\nstatic void htcp_state"),
        ("\treturn tcp_register_congestion_control(&htcp);\n",
         "\tlater_queue = alloc_workqueue(\"htcp\", 0, 0);\n\tif (!later_queue)\n\t\treturn -ENOMEM;\n"
         "\treturn tcp_register_congestion_control(&htcp);\n"),
        ("\ttcp_unregister_congestion_control(&htcp);\n",
         "\ttcp_unregister_congestion_control(&htcp);\n\tssleep(6);\n\tdestroy_workqueue(later_queue);\n"),
    )),
    Fault("a high-resolution timer of a connection is not cancelled", RACE, "tcp_scalable", (
        ("static void tcp_scalable_cong_avoid(", "struct scalable {\n\tstruct hrtimer timer;\n\tu32 ticks;\n};\n\n"
         "static enum hrtimer_restart tcp_scalable_tick(struct hrtimer *timer)\n{\n"
         "\tstruct scalable *own = container_of(timer, struct scalable, timer);\n\n\tif (++own->ticks > 100)\n"
         "\t\treturn HRTIMER_NORESTART;\n\thrtimer_forward_now(timer, ms_to_ktime(20));\n"
         "\treturn HRTIMER_RESTART;\n}\n\nstatic void tcp_scalable_init(struct sock *sk)\n{\n"
         "\tstruct scalable **ca = inet_csk_ca(sk), *own = kzalloc(sizeof(*own), GFP_ATOMIC);\n\n\t*ca = own;\n"
         "\tif (!own)\n\t\treturn;\n\thrtimer_init(&own->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);\n"
         "\town->timer.function = tcp_scalable_tick;\n"
         "\thrtimer_start(&own->timer, ms_to_ktime(20), HRTIMER_MODE_REL_SOFT);\n}\n\n"
         "static void tcp_scalable_release(struct sock *sk)\n{\n\tstruct scalable **ca = inet_csk_ca(sk);\n\n"
         "\tkfree(*ca);\n\t*ca = NULL;\n}\n\nstatic void tcp_scalable_cong_avoid("),
        ("\t.ssthresh\t= tcp_scalable_ssthresh,\n",
         "\t.init\t\t= tcp_scalable_init,\n\t.release\t= tcp_scalable_release,\n"
         "\t.ssthresh\t= tcp_scalable_ssthresh,\n"),
    )),
    Fault("list_del() where readers walk with RCU", RACE, "tcp_cubic", (
        ("static inline void bictcp_reset(", "struct seen {\n\tstruct list_head node;\n\tstruct rcu_head rcu;\n"
         "\tu32 rtt;\n};\n\nstatic LIST_HEAD(seen_list);\nstatic DEFINE_SPINLOCK(seen_lock);\n\n"
         "static void cubictcp_release(struct sock *sk)\n{\n\tstruct bictcp *ca = inet_csk_ca(sk);\n"
         "\tstruct seen *new = kzalloc(sizeof(*new), GFP_ATOMIC), *old;\n\n\tif (!new)\n\t\treturn;\n"
         "\tnew->rtt = ca->delay_min;\n\tspin_lock_bh(&seen_lock);\n"
         "\told = list_first_entry_or_null(&seen_list, struct seen, node);\n\tif (old)\n\t\tlist_del(&old->node);\n"
         "\tlist_add_tail_rcu(&new->node, &seen_list);\n\tspin_unlock_bh(&seen_lock);\n\tif (old)\n"
         "\t\tkfree_rcu(old, rcu);\n}\n\nstatic u32 least_seen(void)\n{\n\tstruct seen *one;\n\tu32 least = ~0U;\n\n"
         "\trcu_read_lock();\n\tlist_for_each_entry_rcu(one, &seen_list, node)\n\t\tleast = min(least, one->rtt);\n"
         "\trcu_read_unlock();\n\treturn least;\n}\n\nstatic inline void bictcp_reset("),
        ("\tca->epoch_start = 0;\t/* end of epoch */\n\n\t/* Wmax", "\tca->epoch_start = 0;\t/* end of epoch */\n"
         "\tif (!least_seen())\n\t\tca->last_max_cwnd = 0;\n\n\t/* Wmax"),
        ("\t.init\t\t= cubictcp_init,\n", "\t.init\t\t= cubictcp_init,\n\t.release\t= cubictcp_release,\n"),
        ("\ttcp_unregister_congestion_control(&cubictcp);\n",
         "\tstruct seen *one, *next;\n\n\ttcp_unregister_congestion_control(&cubictcp);\n\tsynchronize_rcu();\n"
         "\tlist_for_each_entry_safe(one, next, &seen_list, node)\n\t\tkfree(one);\n\trcu_barrier();\n"),
    )),
    Fault("a class is emptied without the queues' lock", RACE, "sch_drr", (
        ("\tsch_tree_lock(sch);\n\n\tqdisc_purge_queue(cl->qdisc);\n"
         "\tqdisc_class_hash_remove(&q->clhash, &cl->common);\n\n\tsch_tree_unlock(sch);\n",
         "\tqdisc_purge_queue(cl->qdisc);\n\tqdisc_class_hash_remove(&q->clhash, &cl->common);\n"),
    )),
    Fault("tokens and rates are set without the queues' lock", RACE, "sch_tbf", (
        ("\tq->max_size = max_size;\n\tif (tb[TCA_TBF_BURST])\n",
         "\tsch_tree_unlock(sch);\n\tq->max_size = max_size;\n\tif (tb[TCA_TBF_BURST])\n"),
        ("\tmemcpy(&q->peak, &peak, sizeof(struct psched_ratecfg));\n\n\tsch_tree_unlock(sch);\n",
         "\tmemcpy(&q->peak, &peak, sizeof(struct psched_ratecfg));\n\n"),
    )),
    Fault("the interval is kept in the wrong unit", NUMBER, "sch_codel", (
        ("\t\t\t   ((u64)interval * NSEC_PER_USEC) >> CODEL_SHIFT);\n", "\t\t\t   (u64)interval * NSEC_PER_USEC);\n"),
    )),
    Fault("a queue that grows lowers the probability", NUMBER, "sch_pie", (
        ("\tdelta += beta * (qdelay - qdelay_old);\n", "\tdelta += beta * (qdelay_old - qdelay);\n"),
    )),
    Fault("a congested flow grows as fast as others", NUMBER, "tcp_veno", (
        ("\t\t\t\tif (veno->inc &&\n", "\t\t\t\tif (\n"),
    )),
    Fault("the filter of the bandwidth loses an eighth", NUMBER, "tcp_westwood", (
        ("\treturn ((7 * a) + b) >> 3;\n", "\treturn ((6 * a) + b) >> 3;\n"),
    )),
    Fault("a flow may have a packet more than its depth", NUMBER, "sch_sfq", (
        ("\tif (slot->qlen >= q->maxdepth) {\n", "\tif (slot->qlen > q->maxdepth) {\n"),
    )),
    Fault("the memory of packets that leave is not given back", NUMBER, "sch_fq_codel", (
        ("\t\tq->memory_usage -= get_codel_cb(skb)->mem_usage;\n", ""),
    )),
    Fault("marked packets are not counted", NUMBER, "sch_red", (
        ("\t\t\tWRITE_ONCE(q->stats.prob_mark,\n\t\t\t\t   q->stats.prob_mark + 1);\n", ""),
    )),
    Fault("fast convergence at the wrong time", NUMBER, "tcp_cubic", (
        ("\tif (tcp_snd_cwnd(tp) < ca->last_max_cwnd && fast_convergence)\n",
         "\tif (tcp_snd_cwnd(tp) > ca->last_max_cwnd && fast_convergence)\n"),
    )),
    Fault("probing is not followed by draining", NUMBER, "tcp_bbr", (
        ("\tBBR_UNIT * 3 / 4,\t/* drain queue", "\tBBR_UNIT * 4 / 4,\t/* drain queue"),
    )),
    Fault("packets are doubled when they should not be", NUMBER, "sch_netem", (
        ("\t    q->duplicate >= get_crandom(&q->dup_cor, &q->prng))\n",
         "\t    q->duplicate < get_crandom(&q->dup_cor, &q->prng))\n"),
    )),
)  # fmt: skip

SIXTH = (
    Fault("a class joins a tree after its queue became empty", RACE, "sch_hfsc", (
        ("\t\t\tif (cl->qdisc->q.qlen != 0) {\n\t\t\t\tif (realtime)\n\t\t\t\t\tupdate_ed(cl, next_len);\n"
         "\t\t\t\telse\n\t\t\t\t\tupdate_d(cl, next_len);\n\t\t\t}\n",
         "\t\t\tif (realtime)\n\t\t\t\tupdate_ed(cl, next_len);\n\t\t\telse\n\t\t\t\tupdate_d(cl, next_len);\n"),
    )),
    Fault("virtual queues are freed while packets may still choose them", RACE, "sch_gred", (
        ("\ttable->DPs = sopt->DPs;\n\ttable->def", "\ttable->def"),
        ("\tfor (i = table->DPs; i < MAX_DPs; i++) {\n", "\tfor (i = sopt->DPs; i < MAX_DPs; i++) {\n"),
        ("\t\t\tgred_destroy_vq(table->tab[i]);\n\t\t\ttable->tab[i] = NULL;\n\t\t}\n\t}\n",
         "\t\t\tgred_destroy_vq(table->tab[i]);\n\t\t\ttable->tab[i] = NULL;\n\t\t}\n\t}\n"
         "\ttable->DPs = sopt->DPs;\n"),
    )),
    Fault("a qdisc that is gone stays in the list of the notifier", RACE, "sch_cbs", (
        ("\tspin_lock(&cbs_list_lock);\n\tlist_del(&q->cbs_list);\n\tspin_unlock(&cbs_list_lock);\n\n\tqdisc_put(",
         "\tqdisc_put("),
    )),
    Fault("the last slave stays the next one to send", RACE, "sch_teql", (
        ("\t\t\t\t\trcu_assign_pointer(master->slaves, NULL);\n", ""),
    )),
    Fault("an object is published before it is filled", RACE, "tcp_scalable", (
        ("static void tcp_scalable_cong_avoid(", "struct pace {\n\tu32 ai_cnt;\n\tu32 md_scale;\n};\n\n"
         "static struct pace *pace;\n\nstatic void tcp_scalable_init(struct sock *sk)\n{\n\tstruct pace *new;\n\n"
         "\tif (READ_ONCE(pace))\n\t\treturn;\n\tnew = kzalloc(sizeof(*new), GFP_ATOMIC);\n\tif (!new)\n"
         "\t\treturn;\n\tif (cmpxchg(&pace, NULL, new)) {\n\t\tkfree(new);\n\t\treturn;\n\t}\n"
         "\tnew->md_scale = TCP_SCALABLE_MD_SCALE;\n\tnew->ai_cnt = TCP_SCALABLE_AI_CNT;\n}\n\n"
         "static void tcp_scalable_cong_avoid("),
        ("\tstruct tcp_sock *tp = tcp_sk(sk);\n\n\tif (!tcp_is_cwnd_limited(sk))",
         "\tconst struct pace *known = READ_ONCE(pace);\n\tstruct tcp_sock *tp = tcp_sk(sk);\n\n"
         "\tif (!tcp_is_cwnd_limited(sk))"),
        ("min(tcp_snd_cwnd(tp), TCP_SCALABLE_AI_CNT)",
         "min(tcp_snd_cwnd(tp), known ? known->ai_cnt : TCP_SCALABLE_AI_CNT)"),
        ("\t.ssthresh\t= tcp_scalable_ssthresh,\n",
         "\t.init\t\t= tcp_scalable_init,\n\t.ssthresh\t= tcp_scalable_ssthresh,\n"),
        ("\ttcp_unregister_congestion_control(&tcp_scalable);\n",
         "\ttcp_unregister_congestion_control(&tcp_scalable);\n\tkfree(pace);\n"),
    )),
    Fault("a class is destroyed under the queues' lock", RACE, "sch_qfq", (
        ("\tqfq_rm_from_agg(q, cl);\n\n\tsch_tree_unlock(sch);\n\n\tqfq_destroy_class(sch, cl);\n",
         "\tqfq_rm_from_agg(q, cl);\n\tqfq_destroy_class(sch, cl);\n\n\tsch_tree_unlock(sch);\n\n"),
    )),
    Fault("flows are freed before the timer is stopped", RACE, "sch_fq_pie", (
        ("\tq->p_params.tupdate = 0;\n\tdel_timer_sync(&q->adapt_timer);\n\tkvfree(q->flows);\n",
         "\tkvfree(q->flows);\n\tq->p_params.tupdate = 0;\n\tdel_timer_sync(&q->adapt_timer);\n"),
    )),
    Fault("a reader takes an object whose last user has gone", RACE, "tcp_hybla", (
        ("/* Tcp Hybla structure. */\nstruct hybla {\n", "struct hybla_path {\n\tstruct list_head node;\n"
         "\tstruct rcu_head rcu;\n\trefcount_t users;\n\t__be32 addr;\n\tu32 rtt_us;\n};\n\n"
         "static LIST_HEAD(paths);\nstatic DEFINE_SPINLOCK(paths_lock);\n\n"
         "static struct hybla_path *hybla_path_get(__be32 addr)\n{\n\tstruct hybla_path *one;\n\n\trcu_read_lock();\n"
         "\tlist_for_each_entry_rcu(one, &paths, node) {\n\t\tif (one->addr == addr) {\n"
         "\t\t\trefcount_inc(&one->users);\n\t\t\trcu_read_unlock();\n\t\t\treturn one;\n\t\t}\n\t}\n"
         "\trcu_read_unlock();\n\n\tone = kzalloc(sizeof(*one), GFP_ATOMIC);\n\tif (!one)\n\t\treturn NULL;\n"
         "\trefcount_set(&one->users, 1);\n\tone->addr = addr;\n\tspin_lock_bh(&paths_lock);\n"
         "\tlist_add_rcu(&one->node, &paths);\n\tspin_unlock_bh(&paths_lock);\n\treturn one;\n}\n\n"
         "static void hybla_path_put(struct hybla_path *one)\n{\n"
         "\tif (!refcount_dec_and_test(&one->users))\n\t\treturn;\n"
         "\tspin_lock_bh(&paths_lock);\n\tlist_del_rcu(&one->node);\n\tspin_unlock_bh(&paths_lock);\n"
         "\tkfree_rcu(one, rcu);\n}\n\n"
         "/* Tcp Hybla structure. */\nstruct hybla {\n\tstruct hybla_path *path;\n"),
        ("static void hybla_state(", "static void hybla_release(struct sock *sk)\n{\n"
         "\tstruct hybla *ca = inet_csk_ca(sk);\n\n\tif (!ca->path)\n\t\treturn;\n"
         "\tWRITE_ONCE(ca->path->rtt_us, ca->minrtt_us);\n\thybla_path_put(ca->path);\n\tca->path = NULL;\n}\n\n"
         "static void hybla_state("),
        ("\tca->minrtt_us = tp->srtt_us;\n\ttcp_snd_cwnd_set(tp, ca->rho);\n",
         "\tca->minrtt_us = tp->srtt_us;\n\tca->path = hybla_path_get(sk->sk_daddr);\n"
         "\tif (ca->path && !ca->minrtt_us)\n\t\tca->minrtt_us = READ_ONCE(ca->path->rtt_us);\n"
         "\ttcp_snd_cwnd_set(tp, ca->rho);\n"),
        ("\t.init\t\t= hybla_init,\n", "\t.init\t\t= hybla_init,\n\t.release\t= hybla_release,\n"),
    )),
    Fault("a seqlock's writer may be interrupted by its reader", RACE, "tcp_yeah", (
        ("static void tcp_yeah_init(", "static DEFINE_SEQLOCK(best_lock);\n\n"
         "static struct {\n\tu32 rtt;\n\tu32 cwnd;\n} best;\n\n"
         "static void tcp_yeah_release(struct sock *sk)\n{\n\tstruct yeah *yeah = inet_csk_ca(sk);\n\n"
         "\twrite_seqlock(&best_lock);\n\tbest.rtt = yeah->vegas.baseRTT;\n\tbest.cwnd = tcp_snd_cwnd(tcp_sk(sk));\n"
         "\twrite_sequnlock(&best_lock);\n}\n\nstatic void tcp_yeah_init("),
        ("\tyeah->reno_count = 2;\n\n\t/* Ensure", "\tyeah->reno_count = 2;\n\n\tunsigned int seq;\n"
         "\tu32 rtt, cwnd;\n\n\tdo {\n\t\tseq = read_seqbegin(&best_lock);\n\t\trtt = best.rtt;\n"
         "\t\tcwnd = best.cwnd;\n\t} while (read_seqretry(&best_lock, seq));\n"
         "\tif (cwnd > 1000 && rtt < 1000)\n\t\tyeah->reno_count = 4;\n\n\t/* Ensure"),
        ("\t.init\t\t= tcp_yeah_init,\n", "\t.init\t\t= tcp_yeah_init,\n\t.release\t= tcp_yeah_release,\n"),
    )),
    Fault("whoever asks for the mean RTT starts it again", RACE, "tcp_nv", (
        ("\tu32 nv_no_cong_cnt;\t/* Consecutive no congestion decisions */\n",
         "\tu32 nv_no_cong_cnt;\t/* Consecutive no congestion decisions */\n\tu32 sum_rtt;\n\tu32 samples;\n"),
        ("\tca->nv_catchup = 0;\n\tca->cwnd_growth_factor = 0;\n",
         "\tca->nv_catchup = 0;\n\tca->cwnd_growth_factor = 0;\n\tca->sum_rtt = 0;\n\tca->samples = 0;\n"),
        ("\t/* If not in TCP_CA_Open or TCP_CA_Disorder states, skip. */\n",
         "\tca->sum_rtt += sample->rtt_us;\n\tca->samples++;\n\n"
         "\t/* If not in TCP_CA_Open or TCP_CA_Disorder states, skip. */\n"),
        ("\tconst struct tcpnv *ca = inet_csk_ca(sk);\n", "\tstruct tcpnv *ca = inet_csk_ca(sk);\n"),
        ("\t\tinfo->vegas.tcpv_rtt = ca->nv_last_rtt;\n",
         "\t\tinfo->vegas.tcpv_rtt = ca->samples ? ca->sum_rtt / ca->samples : 0;\n\t\tca->sum_rtt = 0;\n"
         "\t\tca->samples = 0;\n"),
    )),
    Fault("packets sent by link sharing use up the guaranteed rate", NUMBER, "sch_hfsc", (
        ("\tif (realtime)\n\t\tWRITE_ONCE(cl->cl_cumul,", "\tWRITE_ONCE(cl->cl_cumul,"),
    )),
    Fault("the time that a packet is being sent counts as waiting", NUMBER, "sch_cbs", (
        ("\tif (unlikely(atomic64_read(&q->port_rate) == 0))\n\t\tq->last = now;\n\telse\n"
         "\t\tq->last = now + div64_s64(len * NSEC_PER_SEC,\n\t\t\t\t\t  atomic64_read(&q->port_rate));\n",
         "\tq->last = now;\n"),
    )),
    Fault("the average that queues share stays as it is while idle", NUMBER, "sch_gred", (
        ("\t\t\t\tif (!sch->qstats.backlog)\n\t\t\t\t\tred_start_of_idle_period(&t->wred_set);\n",
         "\t\t\t\tif (!q->backlog)\n\t\t\t\t\tred_start_of_idle_period(&q->vars);\n"),
    )),
    Fault("a second release forgets what the first has not sent", NUMBER, "sch_plug", (
        ("\t\tq->pkts_to_release += q->pkts_last_epoch;\n", "\t\tq->pkts_to_release = q->pkts_last_epoch;\n"),
    )),
    Fault("the timer ignores the time that a packet needs", NUMBER, "sch_etf", (
        ("\tnext = ktime_sub_ns(skb->tstamp, q->delta);\n\tqdisc_watchdog_schedule_ns(&q->watchdog, "
         "ktime_to_ns(next));\n", "\tnext = skb->tstamp;\n\tqdisc_watchdog_schedule_ns(&q->watchdog, "
         "ktime_to_ns(next));\n"),
    )),
    Fault("the round starts at the same band each time", NUMBER, "sch_multiq", (
        ("static struct sk_buff *multiq_dequeue(struct Qdisc *sch)\n{\n"
         "\tstruct multiq_sched_data *q = qdisc_priv(sch);\n",
         "static struct sk_buff *multiq_dequeue(struct Qdisc *sch)\n{\n"
         "\tstruct multiq_sched_data *q = qdisc_priv(sch);\n\tunsigned int curband = q->curband;\n"),
        ("\t\tq->curband++;\n\t\tif (q->curband >= q->bands)\n\t\t\tq->curband = 0;\n",
         "\t\tcurband++;\n\t\tif (curband >= q->bands)\n\t\t\tcurband = 0;\n"),
        ("netdev_get_tx_queue(qdisc_dev(sch), q->curband))) {\n\t\t\tqdisc = q->queues[q->curband];\n",
         "netdev_get_tx_queue(qdisc_dev(sch), curband))) {\n\t\t\tqdisc = q->queues[curband];\n"),
    )),
    Fault("idle time does not end the probe of the RTT", NUMBER, "tcp_bbr", (
        ("\t\telse if (bbr->mode == BBR_PROBE_RTT)\n\t\t\tbbr_check_probe_rtt_done(sk);\n", ""),
    )),
    Fault("a table's size is a parameter that may change", NUMBER, "tcp_cdg", (
        ("module_param(window, int, 0444);\n", "module_param(window, int, 0644);\n"),
    )),
    Fault("a loss reduces the window by the share of marks", NUMBER, "tcp_dctcp", (
        ("\tif (new_state == TCP_CA_Recovery &&\n\t    new_state != inet_csk(sk)->icsk_ca_state)\n"
         "\t\tdctcp_react_to_loss(sk);\n", ""),
    )),
    Fault("an RTT that falls late in a round is not seen", NUMBER, "tcp_cubic", (
        ("\t\tif (ca->curr_rtt > delay)\n\t\t\tca->curr_rtt = delay;\n"
         "\t\tif (ca->sample_cnt < HYSTART_MIN_SAMPLES) {\n",
         "\t\tif (ca->sample_cnt < HYSTART_MIN_SAMPLES) {\n\t\t\tif (ca->curr_rtt > delay)\n"
         "\t\t\t\tca->curr_rtt = delay;\n"),
    )),
)  # fmt: skip

SEVENTH = (
    Fault("a table goes before the timer that walks it is stopped", RACE, "sch_fq_pie", (
        ("\tkvfree(q->flows);\n", ""),
        ("\ttcf_block_put(q->block);\n", "\ttcf_block_put(q->block);\n" "\tkvfree(q->flows);\n"),
    )),
    Fault("a timer takes the child's own lock, not the root's", RACE, "sch_sfq", (
        ("\troot_lock = qdisc_lock(qdisc_root_sleeping(sch));\n", "\troot_lock = qdisc_lock(sch);\n"),
    )),
    Fault("memory is allocated, which may sleep, under the lock of the queues", RACE, "sch_choke", (
        ("\tmask = roundup_pow_of_two(ctl->limit + 1) - 1;\n", "\tmask = roundup_pow_of_two(ctl->limit + 1) - 1;\n"
         "\tsch_tree_lock(sch);\n"),
        ("\t\tif (!ntab)\n", "\t\tif (!ntab) {\n" "\t\t\tsch_tree_unlock(sch);\n"),
        ("\t\t\treturn -ENOMEM;\n", "\t\t\treturn -ENOMEM;\n" "\t\t}\n"),
        ("\t\tsch_tree_lock(sch);\n" "\t\told = q->tab;\n", "\t\told = q->tab;\n"),
        ("\t} else\n" "\t\tsch_tree_lock(sch);\n", "\t}\n"),
    )),
    Fault("a class's packets are counted without the lock of the queues", RACE, "sch_fq_codel", (
        ("\t\t\tsch_tree_lock(sch);\n", ""),
        ("\t\t\tsch_tree_unlock(sch);\n", ""),
    )),
    Fault("what a restart clears is allocated again", NUMBER, "tcp_cdg", (
        ("static void tcp_cdg_cwnd_event(struct sock *sk, const enum tcp_ca_event ev)\n",
         "static void tcp_cdg_init(struct sock *sk);\n" "\n"
         "static void tcp_cdg_cwnd_event(struct sock *sk, const enum tcp_ca_event ev)\n"),
        ("\tstruct tcp_sock *tp = tcp_sk(sk);\n" "\tstruct cdg_minmax *gradients;\n",
         "\tstruct tcp_sock *tp = tcp_sk(sk);\n"),
        ("\t\tgradients = ca->gradients;\n" "\t\tif (gradients)\n"
         "\t\t\tmemset(gradients, 0, window * sizeof(gradients[0]));\n", ""),
        ("\n" "\t\tca->gradients = gradients;\n" "\t\tca->rtt_seq = tp->snd_nxt;\n"
         "\t\tca->shadow_wnd = tcp_snd_cwnd(tp);\n", "\t\ttcp_cdg_init(sk);\n"),
    )),
    Fault("a packet that was peeked at is no longer counted", NUMBER, "sch_codel", (
        ("\t\tif (skb) {\n", "\t\tif (skb)\n"),
        ("\t\t\t/* it's still part of the queue */\n" "\t\t\tqdisc_qstats_backlog_inc(sch, skb);\n"
         "\t\t\tsch->q.qlen++;\n" "\t\t}\n", ""),
    )),
    Fault("parents do not hear of what a smaller limit drops", NUMBER, "sch_hhf", (
        ("\tunsigned int dropped_pkts = 0, dropped_bytes = 0;\n", ""),
        ("\t\tdropped_pkts++;\n" "\t\tdropped_bytes += qdisc_pkt_len(skb);\n", ""),
        ("\tqdisc_tree_reduce_backlog(sch, dropped_pkts, dropped_bytes);\n" "\n", ""),
    )),
    Fault("the new packet's bytes are taken off for the evicted one", NUMBER, "sch_skbprio", (
        ("\tqdisc_qstats_backlog_dec(sch, to_drop);\n", "\tqdisc_qstats_backlog_dec(sch, skb);\n"),
    )),
    Fault("a class shows the statistics of the whole qdisc", NUMBER, "sch_prio", (
        ("\t    qdisc_qstats_copy(d, cl_q) < 0)\n", "\t    qdisc_qstats_copy(d, sch) < 0)\n"),
    )),
    Fault("the least round-trip time of a round is never reset", NUMBER, "tcp_vegas", (
        ("\t\tvegas->minRTT = 0x7fffffff;\n", ""),
    )),
    Fault("the threshold may be 0", NUMBER, "tcp_westwood", (
        ("\treturn max_t(u32, (w->bw_est * w->rtt_min) / tp->mss_cache, 2);\n",
         "\treturn (w->bw_est * w->rtt_min) / tp->mss_cache;\n"),
    )),
    Fault("a round-trip time below a tick is 0, and divided by", NUMBER, "tcp_htcp", (
        ("\t\tmeasure_rtt(sk, usecs_to_jiffies(sample->rtt_us));\n",
         "\t\tmeasure_rtt(sk, sample->rtt_us / (USEC_PER_SEC / HZ));\n"),
        ("\t    now - ca->lasttime >= ca->minRTT &&\n" "\t    ca->minRTT > 0) {\n",
         "\t    now - ca->lasttime >= ca->minRTT) {\n"),
    )),
    Fault("all flows share the least round-trip time", NUMBER, "tcp_veno", (
        ("\tu32 minrtt;\t\t/* min of rtts measured within last rtt (in usec) */\n", ""),
        ("\tu32 diff;\t\t/* calculate the diff rate */\n" "};\n", "\tu32 diff;\t\t/* calculate the diff rate */\n"
         "};\n" "\n" "static u32 minrtt = 0x7fffffff;\t/* min of rtts measured within last rtt (in usec) */\n"),
        ("\tveno->doing_veno_now = 1;\n" "\n" "\tveno->minrtt = 0x7fffffff;\n", "\tveno->doing_veno_now = 1;\n"
         "\n" "\tminrtt = 0x7fffffff;\n"),
        ("\tveno->minrtt = min(veno->minrtt, vrtt);\n", "\tminrtt = min(minrtt, vrtt);\n"),
        ("\t\trtt = veno->minrtt;\n", "\t\trtt = minrtt;\n"),
        ("\t/* veno->cntrtt = 0; */\n" "\tveno->minrtt = 0x7fffffff;\n", "\t/* veno->cntrtt = 0; */\n"
         "\tminrtt = 0x7fffffff;\n"),
    )),
)  # fmt: skip
