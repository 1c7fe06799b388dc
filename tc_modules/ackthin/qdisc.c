// SPDX-License-Identifier: GPL-2.0-only
/*
 * ackthin: a queue that thins TCP's acknowledgments at a station's output.
 *
 * On a multihop wireless path an ACK of 40 bytes takes nearly as much air time as
 * a data segment, and collides with data in the other direction. ACKs are
 * cumulative, so most can be left out. ackthin.h decides which, and which must
 * never be left out. This file is the queue: one FIFO, so packets stay in order.
 * A held ACK is outside the FIFO and enters it when it passes (flow.c). docs/ack-
 * thinning.md has the policies with their sources.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>

#include "sched.h"

static bool read_segment(const struct sk_buff *skb, struct ackthin_segment *s)
{
	int offset = skb_network_offset(skb);
	u32 len, have;
	u8 buffer[ACKTHIN_HEADERS];
	const u8 *ip;

	if (offset < 0 || offset >= skb->len)
		return false;
	if (skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6))
		return false;
	len = skb->len - offset;
	have = min_t(u32, len, sizeof(buffer));
	ip = skb_header_pointer(skb, offset, have, buffer);
	return ip && ackthin_parse(s, ip, have, len);
}

/* The policy dynamic: the station that the ACKs go to, and how many ACKs to skip. */
static void consult_probe(struct ackthin_sched *q, const struct sk_buff *skb)
{
	struct ackthin_config *c = &q->config;
	u32 failures;

	if (!q->probe)
		return;
	failures = probe_failures(q->probe, ether_addr_to_u64(eth_hdr(skb)->h_dest));
	c->skip = min(failures / c->set[TCA_ACKTHIN_STEP], c->set[TCA_ACKTHIN_SKIP_MAX]);
}

static u8 queue_decide(struct Qdisc *sch, struct flow *flow, const struct ackthin_segment *s, const struct sk_buff *skb)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	u8 why = s->why;

	if (s->why > ACKTHIN_CONTROL)
		q->stats.acks++;
	if (!flow)
		return why == ACKTHIN_HOLD ? ACKTHIN_FIRST : why;
	if (s->why > ACKTHIN_CONTROL) {
		flow->acks++;
		consult_probe(q, skb);
	}
	return ackthin_decide(&q->config, &flow->state, s, ktime_get_ns());
}

static int ackthin_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	enum ackthin_reason why = ACKTHIN_OTHER;
	struct ackthin_segment s;
	struct flow *flow = NULL;
	int result;

	if (unlikely(sch->q.qlen >= sch->limit))
		return qdisc_drop(skb, sch, to_free);
	if (read_segment(skb, &s)) {
		flow = flow_find(sch, &s);
		why = queue_decide(sch, flow, &s, skb);
	}
	if (why == ACKTHIN_HOLD)
		return flow_hold(sch, flow, skb);
	q->stats.passed[why]++;
	if (flow && flow->held && why != ACKTHIN_GROUP)
		flow_release(sch, flow, ACKTHIN_FLUSHED);
	result = qdisc_enqueue_tail(skb, sch);
	if (flow && flow->held)
		flow_thin(sch, flow);
	return result;
}

static struct sk_buff *ackthin_dequeue(struct Qdisc *sch)
{
	struct ackthin_sched *q = qdisc_priv(sch);

	if (q->next != ACKTHIN_NEVER) {
		u64 now = ktime_get_ns();

		if (now >= q->next)
			flows_expire(sch, now);
	}
	return qdisc_dequeue_head(sch);
}

static void ackthin_reset(struct Qdisc *sch)
{
	struct ackthin_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	flows_forget(sch);
	qdisc_reset_queue(sch);
}

static int ackthin_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct net_device *dev = qdisc_dev(sch);
	struct ackthin_sched *q = qdisc_priv(sch);

	q->sch = sch;
	q->config = ackthin_defaults;
	if (dev->tx_queue_len)
		q->config.set[TCA_ACKTHIN_LIMIT] = dev->tx_queue_len;
	q->next = ACKTHIN_NEVER;
	q->perturbation = get_random_u32();
	INIT_LIST_HEAD(&q->flows);
	INIT_LIST_HEAD(&q->waiting);
	qdisc_watchdog_init(&q->watchdog, sch);
	proc_add(q);
	return ackthin_change(sch, opt, extack);
}

/* Also called after a failed init. */
static void ackthin_destroy(struct Qdisc *sch)
{
	struct ackthin_sched *q = qdisc_priv(sch);

	ackthin_reset(sch);
	list_del(&q->same_net);
	probe_stop(q->probe);
}

static struct Qdisc_ops ackthin_ops = {
	.id = "ackthin",
	.priv_size = sizeof(struct ackthin_sched),
	.enqueue = ackthin_enqueue,
	.dequeue = ackthin_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = ackthin_init,
	.reset = ackthin_reset,
	.destroy = ackthin_destroy,
	.change = ackthin_change,
	.dump = ackthin_dump,
	.dump_stats = ackthin_dump_stats,
	.owner = THIS_MODULE,
};

static int __init ackthin_module_init(void)
{
	int err;

	err = probes_init();
	if (err)
		return err;
	err = proc_init();
	if (err)
		goto no_proc;
	err = register_qdisc(&ackthin_ops);
	if (err)
		goto no_qdisc;
	return 0;

no_qdisc:
	proc_exit();
no_proc:
	probes_exit();
	return err;
}

static void __exit ackthin_module_exit(void)
{
	unregister_qdisc(&ackthin_ops);
	proc_exit();
	probes_exit();
}

module_init(ackthin_module_init);
module_exit(ackthin_module_exit);
MODULE_LICENSE("GPL");
#ifdef SOURCE_SHA256 /* from Kbuild */
MODULE_INFO(source_sha256, SOURCE_SHA256);
#endif
MODULE_DESCRIPTION("ACK thinning: holds pure TCP ACKs and sends the newest (policies plain, delayed, skip, daa, dynamic)");
#ifdef MODULE_ALIAS_NET_SCH
MODULE_ALIAS_NET_SCH("ackthin");
#endif
