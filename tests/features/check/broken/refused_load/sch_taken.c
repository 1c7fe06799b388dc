// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: it has the name of a qdisc that is built in.
 */
#include <linux/module.h>
#include <net/pkt_sched.h>

static int taken_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return sch->q.qlen < sch->limit ? qdisc_enqueue_tail(skb, sch) : qdisc_drop(skb, sch, to_free);
}

static int taken_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	sch->limit = DEFAULT_TX_QUEUE_LEN;
	return 0;
}

static struct Qdisc_ops taken_ops __read_mostly = {
	.id		= "pfifo", /* Planted: a name of its own is needed. */
	.enqueue	= taken_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= taken_init,
	.reset		= qdisc_reset_queue,
	.owner		= THIS_MODULE,
};

static int __init taken_load(void)
{
	return register_qdisc(&taken_ops);
}

static void __exit taken_unload(void)
{
	unregister_qdisc(&taken_ops);
}

module_init(taken_load);
module_exit(taken_unload);
MODULE_DESCRIPTION("A qdisc whose name is taken");
MODULE_LICENSE("GPL");
