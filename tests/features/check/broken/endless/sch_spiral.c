// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: a loop that does not end. A queue that drops its oldest packets until a new one has room.
 */
#include <linux/module.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define ROOM 1400 /* bytes. Planted: a longer packet has none, however many are dropped. */

static int spiral_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	while (sch->qstats.backlog + qdisc_pkt_len(skb) > ROOM)
		if (__qdisc_queue_drop_head(sch, &sch->q, to_free))
			qdisc_qstats_drop(sch);
	return qdisc_enqueue_tail(skb, sch);
}

static struct Qdisc_ops spiral_ops __read_mostly = {
	.id		= "spiral",
	.reset		= qdisc_reset_queue,
	.enqueue	= spiral_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.owner		= THIS_MODULE,
};

static int __init spiral_load(void)
{
	return register_qdisc(&spiral_ops);
}

static void __exit spiral_unload(void)
{
	unregister_qdisc(&spiral_ops);
}

module_init(spiral_load);
module_exit(spiral_unload);
MODULE_DESCRIPTION("A queueing discipline that waits for room in vain");
MODULE_LICENSE("GPL");
