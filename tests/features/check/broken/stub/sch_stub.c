// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: packets stay. A drop-tail queue that lets a small packet wait for another one.
 */
#include <linux/module.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define SMALL 60 /* bytes: an ACK without options */

static int stub_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	sch->limit = 50;
	return 0;
}

static int stub_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	if (sch->q.qlen >= sch->limit)
		return qdisc_drop(skb, sch, to_free);
	return qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *stub_dequeue(struct Qdisc *sch)
{
	const struct sk_buff *skb = qdisc_peek_head(sch);

	if (sch->q.qlen == 1 && skb->protocol == htons(ETH_P_IP) && qdisc_pkt_len(skb) < SMALL)
		return NULL; /* Planted: without a qdisc_watchdog it stays if no other packet comes. */
	return qdisc_dequeue_head(sch);
}

static struct Qdisc_ops stub_ops __read_mostly = {
	.id		= "stub",
	.init		= stub_init,
	.reset		= qdisc_reset_queue,
	.enqueue	= stub_enqueue,
	.dequeue	= stub_dequeue,
	.peek		= qdisc_peek_dequeued,
	.owner		= THIS_MODULE,
};

static int __init stub_load(void)
{
	return register_qdisc(&stub_ops);
}

static void __exit stub_unload(void)
{
	unregister_qdisc(&stub_ops);
}

module_init(stub_load);
module_exit(stub_unload);
MODULE_DESCRIPTION("A queueing discipline that does not wake up");
MODULE_LICENSE("GPL");
