// SPDX-License-Identifier: GPL-2.0-only
/*
 * A drop-tail queue with a list of all queues, the last one used at its end. Planted: the list has no lock, unless
 * GUARDED; a qdisc's own lock is another one for each.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <net/pkt_sched.h>

#ifndef NAME
#define NAME "muster"
#endif

struct muster {
	struct list_head all;
};

static LIST_HEAD(all);
static __maybe_unused DEFINE_SPINLOCK(all_lock);

static void muster_move(struct muster *q, bool gone)
{
#ifdef GUARDED
	spin_lock_bh(&all_lock);
#endif
	if (gone)
		list_del_init(&q->all);
	else
		list_move_tail(&q->all, &all);
#ifdef GUARDED
	spin_unlock_bh(&all_lock);
#endif
}

static int muster_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	muster_move(qdisc_priv(sch), false);
	if (sch->q.qlen < READ_ONCE(sch->limit))
		return qdisc_enqueue_tail(skb, sch);
	return qdisc_drop(skb, sch, to_free);
}

static int muster_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct muster *q = qdisc_priv(sch);

	sch->limit = 1000;
	INIT_LIST_HEAD(&q->all);
	return 0;
}

static void muster_destroy(struct Qdisc *sch)
{
	muster_move(qdisc_priv(sch), true);
}

static struct Qdisc_ops muster_ops __read_mostly = {
	.id		= NAME,
	.priv_size	= sizeof(struct muster),
	.enqueue	= muster_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= muster_init,
	.reset		= qdisc_reset_queue,
	.destroy	= muster_destroy,
	.owner		= THIS_MODULE,
};

static int __init muster_load(void)
{
	return register_qdisc(&muster_ops);
}

static void __exit muster_unload(void)
{
	unregister_qdisc(&muster_ops);
}

module_init(muster_load);
module_exit(muster_unload);
MODULE_DESCRIPTION("A queue with a list of all queues");
MODULE_LICENSE("GPL");
