// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: peek changes qlen. A drop-tail queue that keeps the packet that it showed, so that the next dequeue gives it.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define LIMIT 50

struct pocket {
	struct sk_buff *shown;
};

static int pocket_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	sch->limit = LIMIT;
	return 0;
}

static int pocket_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	if (sch->q.qlen >= sch->limit)
		return qdisc_drop(skb, sch, to_free);
	return qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *pocket_peek(struct Qdisc *sch)
{
	struct pocket *pocket = qdisc_priv(sch);

	/* Planted: the packet is still in the queue for all others, but not in qlen and backlog. */
	if (!pocket->shown)
		pocket->shown = qdisc_dequeue_head(sch);
	return pocket->shown;
}

static struct sk_buff *pocket_dequeue(struct Qdisc *sch)
{
	struct pocket *pocket = qdisc_priv(sch);
	struct sk_buff *skb = pocket->shown;

	pocket->shown = NULL;
	return skb ?: qdisc_dequeue_head(sch);
}

static void pocket_reset(struct Qdisc *sch)
{
	struct pocket *pocket = qdisc_priv(sch);

	kfree_skb(pocket->shown);
	pocket->shown = NULL;
	qdisc_reset_queue(sch);
}

static struct Qdisc_ops pocket_ops __read_mostly = {
	.id		= "pocket",
	.priv_size	= sizeof(struct pocket),
	.init		= pocket_init,
	.reset		= pocket_reset,
	.enqueue	= pocket_enqueue,
	.dequeue	= pocket_dequeue,
	.peek		= pocket_peek,
	.owner		= THIS_MODULE,
};

static int __init pocket_load(void)
{
	return register_qdisc(&pocket_ops);
}

static void __exit pocket_unload(void)
{
	unregister_qdisc(&pocket_ops);
}

module_init(pocket_load);
module_exit(pocket_unload);
MODULE_DESCRIPTION("A queueing discipline whose peek takes the packet out");
MODULE_LICENSE("GPL");
