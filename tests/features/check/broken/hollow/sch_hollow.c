// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: it loads without registering anything. A drop-tail queue.
 */
#include <linux/module.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

static int hollow_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	sch->limit = 50;
	return 0;
}

static int hollow_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	if (sch->q.qlen >= sch->limit)
		return qdisc_drop(skb, sch, to_free);
	return qdisc_enqueue_tail(skb, sch);
}

static struct Qdisc_ops hollow_ops __read_mostly = {
	.id		= "hollow",
	.init		= hollow_init,
	.reset		= qdisc_reset_queue,
	.enqueue	= hollow_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.owner		= THIS_MODULE,
};

static struct workqueue_struct *hollow_work;

static int __init hollow_load(void)
{
	hollow_work = alloc_workqueue("hollow", 0, 0);
	if (hollow_work) /* Planted: it is inverted. */
		return 0;
	return register_qdisc(&hollow_ops);
}

static void __exit hollow_unload(void)
{
	unregister_qdisc(&hollow_ops);
	destroy_workqueue(hollow_work);
}

module_init(hollow_load);
module_exit(hollow_unload);
MODULE_DESCRIPTION("A queueing discipline that nobody can use");
MODULE_LICENSE("GPL");
