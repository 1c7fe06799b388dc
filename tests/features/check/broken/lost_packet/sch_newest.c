// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: a wrong qlen. A queue that drops its oldest packet if it is full. Its options are a structure; a smaller limit
 * drops packets of which the parent hears nothing. One of them cannot be changed, and nobody says so.
 * A timer counts seconds without a lock, and is not waited for; what else it counts in is freed before.
 * Not wrong is that much other work is stopped without waiting, as it was never queued.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define LIMIT 50
#define MANY 100
#define TICKS 30000	/* many pages */

struct newest_options {
	u32 limit, seconds, band;
};

struct newest {
	struct timer_list timer;
	u32 seconds, age, band, *ticks;
};

static void newest_tick(struct timer_list *timer)
{
	struct newest *newest = from_timer(newest, timer, timer);

	newest->age++; /* Planted: without the queue's lock. */
	newest->ticks[0]++;
	if (newest->seconds)
		mod_timer(timer, jiffies + newest->seconds * HZ);
}

static int newest_change(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	const struct newest_options *wanted = nla_data(options);
	struct newest *newest = qdisc_priv(sch);

	if (nla_len(options) < sizeof(*wanted) || wanted->seconds > 1000)
		return -EINVAL;
	sch_tree_lock(sch);
	sch->limit = max(wanted->limit, 1U);
	newest->seconds = wanted->seconds;
	if (newest->band == TC_PRIO_MAX + 1)	/* Planted: so a change is ignored. */
		newest->band = min_t(u32, wanted->band, TC_PRIO_MAX);
	while (sch->q.qlen > sch->limit) /* Planted: no qdisc_tree_reduce_backlog() follows. */
		rtnl_qdisc_drop(qdisc_dequeue_internal(sch, true), sch);
	if (newest->seconds)
		mod_timer(&newest->timer, jiffies + newest->seconds * HZ);
	sch_tree_unlock(sch);
	return 0;
}

static int newest_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct newest *newest = qdisc_priv(sch);

	sch->limit = LIMIT;
	newest->band = options ? TC_PRIO_MAX + 1 : 0;
	timer_setup(&newest->timer, newest_tick, 0);
	newest->ticks = kvcalloc(TICKS, sizeof(u32), GFP_KERNEL);
	if (!newest->ticks)
		return -ENOMEM;
	return options ? newest_change(sch, options, extack) : 0;
}

static noinline void newest_free(struct newest *newest)
{
	kvfree(newest->ticks);
}

static void newest_destroy(struct Qdisc *sch)
{
	struct newest *newest = qdisc_priv(sch);

	newest_free(newest); /* Planted: before the timer is stopped. */
	newest->seconds = 0;
	timer_delete(&newest->timer); /* Planted: it may still run. */
}

static int newest_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct newest *newest = qdisc_priv(sch);
	struct newest_options options = { .limit = sch->limit, .seconds = newest->seconds,
					  .band = newest->band };

	return nla_put(skb, TCA_OPTIONS, sizeof(options), &options);
}

static int newest_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct newest *newest = qdisc_priv(sch);

	if (newest->age % 2)
		skb->priority = 0;
	if (sch->q.qlen < sch->limit)
		return qdisc_enqueue_tail(skb, sch);
	/* Planted: qdisc_qstats_drop(sch) is missing, and the parent is not told. */
	__qdisc_queue_drop_head(sch, &sch->q, to_free);
	qdisc_enqueue_tail(skb, sch);
	return NET_XMIT_CN;
}

static struct Qdisc_ops newest_ops __read_mostly = {
	.id		= "newest",
	.priv_size	= sizeof(struct newest),
	.init		= newest_init,
	.change		= newest_change,
	.destroy	= newest_destroy,
	.dump		= newest_dump,
	.reset		= qdisc_reset_queue,
	.enqueue	= newest_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.owner		= THIS_MODULE,
};

static void newest_nothing(struct work_struct *work)
{
}

static int __init newest_load(void)
{
	int i;

	for (i = 0; i < MANY; i++) {
		struct work_struct *work = kmalloc(sizeof(*work), GFP_KERNEL);

		if (!work)
			return -ENOMEM;
		INIT_WORK(work, newest_nothing);
		cancel_work(work);
		kfree(work);
	}
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
