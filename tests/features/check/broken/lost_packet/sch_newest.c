// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: a wrong qlen. A queue that drops its oldest packet if it is full.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define LIMIT 50

static int newest_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	sch->limit = LIMIT;
	return 0;
}

static int newest_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	if (sch->q.qlen < sch->limit)
		return qdisc_enqueue_tail(skb, sch);
	/* Planted: qdisc_qstats_drop(sch) is missing, and the parent is not told. */
	__qdisc_queue_drop_head(sch, &sch->q, to_free);
	qdisc_enqueue_tail(skb, sch);
	return NET_XMIT_CN;
}

static struct Qdisc_ops newest_ops __read_mostly = {
	.id		= "newest",
	.init		= newest_init,
	.reset		= qdisc_reset_queue,
	.enqueue	= newest_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.owner		= THIS_MODULE,
};

static int __init newest_load(void)
{
	return register_qdisc(&newest_ops);
}

static void __exit newest_unload(void)
{
	unregister_qdisc(&newest_ops);
}

module_init(newest_load);
module_exit(newest_unload);
MODULE_DESCRIPTION("A queueing discipline that does not count what it drops");
MODULE_LICENSE("GPL");
