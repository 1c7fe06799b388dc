// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: it cannot be unloaded. A drop-tail queue that looks at itself every second while it is there.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/timer.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define LIMIT 50

struct ticket {
	struct timer_list timer;
	u32 longest;
};

static void ticket_poll(struct timer_list *timer)
{
	struct ticket *ticket = from_timer(ticket, timer, timer);

	pr_debug("ticket: at most %u packets\n", READ_ONCE(ticket->longest));
	mod_timer(timer, jiffies + HZ);
}

static int ticket_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct ticket *ticket = qdisc_priv(sch);

	sch->limit = LIMIT;
	timer_setup(&ticket->timer, ticket_poll, 0);
	__module_get(THIS_MODULE); /* for the timer */
	mod_timer(&ticket->timer, jiffies + HZ);
	return 0;
}

static void ticket_destroy(struct Qdisc *sch)
{
	struct ticket *ticket = qdisc_priv(sch);

	/* Planted: module_put(THIS_MODULE) is missing. */
	timer_delete_sync(&ticket->timer);
}

static int ticket_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct ticket *ticket = qdisc_priv(sch);

	if (sch->q.qlen >= sch->limit)
		return qdisc_drop(skb, sch, to_free);
	WRITE_ONCE(ticket->longest, max(ticket->longest, sch->q.qlen + 1));
	return qdisc_enqueue_tail(skb, sch);
}

static struct Qdisc_ops ticket_ops __read_mostly = {
	.id		= "ticket",
	.priv_size	= sizeof(struct ticket),
	.init		= ticket_init,
	.destroy	= ticket_destroy,
	.reset		= qdisc_reset_queue,
	.enqueue	= ticket_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.owner		= THIS_MODULE,
};

static int __init ticket_load(void)
{
	return register_qdisc(&ticket_ops);
}

static void __exit ticket_unload(void)
{
	unregister_qdisc(&ticket_ops);
}

module_init(ticket_load);
module_exit(ticket_unload);
MODULE_DESCRIPTION("A queueing discipline that cannot be unloaded");
MODULE_LICENSE("GPL");
