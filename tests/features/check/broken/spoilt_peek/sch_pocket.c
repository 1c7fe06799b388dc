// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: peek changes qlen. A drop-tail queue that keeps the packet that it showed, so that the next dequeue gives it.
 * It also changes one of its two options without the queue's lock, and counts calls with softirqs on.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define LIMIT 50

static DEFINE_PER_CPU(u32, calls);

enum { POCKET_UNSPEC, POCKET_LARGEST, POCKET_SMALLEST };

struct pocket {
	struct sk_buff *shown;
	u32 largest, smallest, refused;
};

static int pocket_change(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[POCKET_SMALLEST + 1];
	struct pocket *pocket = qdisc_priv(sch);
	int err;

	*raw_cpu_ptr(&calls) += 1; /* Planted: a softirq can come between the read and the write. */
	/* Planted: no policy, so that an option may have any size. */
	err = nla_parse_nested_deprecated(tb, POCKET_SMALLEST, options, NULL, extack);
	if (err)
		return err;
	if (tb[POCKET_LARGEST] && nla_len(tb[POCKET_LARGEST]) == sizeof(u32)) {
		sch_tree_lock(sch);
		pocket->largest = max(nla_get_u32(tb[POCKET_LARGEST]), 2000U);
		sch_tree_unlock(sch);
	}
	if (tb[POCKET_SMALLEST] && nla_len(tb[POCKET_SMALLEST]) == sizeof(u32))
		pocket->smallest = nla_get_u32(tb[POCKET_SMALLEST]) % 10; /* Planted: without sch_tree_lock(). */
	return 0;
}

static int pocket_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct pocket *pocket = qdisc_priv(sch);

	sch->limit = LIMIT;
	pocket->largest = U32_MAX;
	return options ? pocket_change(sch, options, extack) : 0;
}

static int pocket_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct pocket *pocket = qdisc_priv(sch);

	++*raw_cpu_ptr(&calls);
	if (sch->q.qlen >= sch->limit)
		return qdisc_drop(skb, sch, to_free);
	if (qdisc_pkt_len(skb) < pocket->smallest || qdisc_pkt_len(skb) > pocket->largest) {
		pocket->refused++;
		return qdisc_drop(skb, sch, to_free);
	}
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

static int pocket_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct pocket *pocket = qdisc_priv(sch);

	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_OPTIONS);

	if (!nest || nla_put_u32(skb, POCKET_LARGEST, pocket->largest) ||
	    nla_put_u32(skb, POCKET_SMALLEST, pocket->refused))
		return -EMSGSIZE;
	return nla_nest_end(skb, nest);
}

static struct Qdisc_ops pocket_ops __read_mostly = {
	.id		= "pocket",
	.priv_size	= sizeof(struct pocket),
	.init		= pocket_init,
	.change		= pocket_change,
	.reset		= pocket_reset,
	.enqueue	= pocket_enqueue,
	.dequeue	= pocket_dequeue,
	.peek		= pocket_peek,
	.dump		= pocket_dump,
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
