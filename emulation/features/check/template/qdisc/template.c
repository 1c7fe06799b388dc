// SPDX-License-Identifier: GPL-2.0-only
/*
 * template: a queueing discipline.
 *
 * It is a drop-tail queue, ready to be changed: look for CHANGE. The kernel passes every packet that leaves an interface
 * to enqueue, and calls dequeue for the next one when the interface has room. qlen and backlog must always be correct:
 * the helpers in include/net/sch_generic.h maintain them.
 *
 * Both run in softirq context, with the queue locked: nothing there may sleep.
 */

#include <linux/module.h>
#include <net/pkt_sched.h>

static unsigned int limit __read_mostly = 50;
module_param(limit, uint, 0644);
MODULE_PARM_DESC(limit, "packets that a queue holds; those that are made from now on");

/* State of a queue. */
struct template_state {
	u64 dropped;
};

/* CHANGE which packets wait, which are dropped, and which are marked. */
static int template_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct template_state *q = qdisc_priv(sch);

	if (sch->q.qlen < sch->limit)
		return qdisc_enqueue_tail(skb, sch);

	q->dropped++;
	return qdisc_drop(skb, sch, to_free);
}

static int template_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct template_state *q = qdisc_priv(sch);

	q->dropped = 0;
	sch->limit = READ_ONCE(limit);
	return 0;
}

/* CHANGE the order with your own dequeue; peek must return the packet that dequeue will return. */
static struct Qdisc_ops template_ops __read_mostly = {
	.id		= "template",
	.priv_size	= sizeof(struct template_state),
	.enqueue	= template_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= template_init,
	.reset		= qdisc_reset_queue,
	.owner		= THIS_MODULE,
};

static int __init template_register(void)
{
	return register_qdisc(&template_ops);
}

static void __exit template_unregister(void)
{
	unregister_qdisc(&template_ops);
}

module_init(template_register);
module_exit(template_unregister);

MODULE_DESCRIPTION("Queueing discipline template: drop-tail, ready to be changed");
MODULE_LICENSE("GPL");
