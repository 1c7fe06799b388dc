// SPDX-License-Identifier: GPL-2.0-only
/*
 * What holds after each call of a qdisc: a packet that comes in is queued, or it or another one is counted as dropped,
 * or taken off the parents' counts; parents, which see return values and what qdisc_tree_reduce_backlog() tells them,
 * count what is there; a packet that goes out has left the queue, is counted as sent, and is the one that was peeked at; qlen and
 * backlog are 0 together; the queue does not grow beyond its limit of packets; and counters do not run backwards.
 *
 * A qdisc with children counts no bytes in some cases, so its backlog is not checked. A change of its options must not
 * leave it with more packets than its children have, if it did not have them before. Packets to be segmented, and those
 * that a filter took, are not counted in the usual way, and neither are the packets of a qdisc with counters per CPU.
 */
#include <linux/module.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <net/sock.h>

#include "oracle.h"

struct queue {
	struct watched watched;
	struct Qdisc_ops own;
};

/*
 * A flag of a qdisc that the kernel does not use: its children may replace a packet by its segments, until it is empty.
 */
#define SEGMENTED (1U << 31)

/* A qdisc before a call. */
struct before {
	u32 qlen, backlog, drops, overlimits;
	u64 sent, bytes;
	u32 calls, reduced;
};

static struct queue queues[MOST_WATCHED];
static u32 reduced;	/* packets that were taken off parents' counts */
static u32 calls;	/* of enqueue and dequeue; calls can nest if a packet is sent again */

static const struct Qdisc *changed;	/* the one whose change operation runs; it may call its dequeue */

/*
 * Packets of one priority that came in one after the other, while none went out. Only these are compared with the
 * limit: fq has one for each group of priorities, and none for TC_PRIO_CONTROL and some packets of packet sockets.
 */
static struct {
	const struct Qdisc *sch;
	u32 priority, count;
} run;

/* The last packet that was peeked at, and is still in its queue. */
static const struct Qdisc *peeked_in;
static const struct sk_buff *peeked;

static struct queue *queue_of(const struct Qdisc *sch)
{
	return oracle_find(queues, sizeof(*queues), sch->ops);
}

#define tell(queue, rule, function, sch, format, ...) do {						\
	if (oracle_tells(&(queue)->watched, rule))							\
		pr_info("dcflab: wrong count: %pS " format " (%s at %s)\n", function, ##__VA_ARGS__,	\
			(queue)->own.id, qdisc_dev(sch)->name);						\
} while (0)

static struct before look_at_qdisc(struct Qdisc *sch)
{
	return (struct before){ .qlen = sch->q.qlen, .backlog = sch->qstats.backlog, .drops = sch->qstats.drops,
				.overlimits = sch->qstats.overlimits, .calls = ++calls, .reduced = reduced,
				.sent = u64_stats_read(&sch->bstats.packets),
				.bytes = u64_stats_read(&sch->bstats.bytes) };
}

static bool is_checked(const struct Qdisc *sch, const struct before *before)
{
	return !(sch->flags & (TCQ_F_NOLOCK | TCQ_F_CPUSTATS | SEGMENTED)) && before->calls == calls;
}

static bool has_children(const struct queue *queue)
{
	return queue->own.cl_ops && queue->own.cl_ops->graft;
}

struct sum {
	struct qdisc_walker walker;
	u32 qlen;
};

static int add_child(struct Qdisc *sch, unsigned long class, struct qdisc_walker *walker)
{
	struct Qdisc *child = class ? sch->ops->cl_ops->leaf(sch, class) : NULL;

	container_of(walker, struct sum, walker)->qlen += child ? qdisc_qlen_sum(child) : 0;
	return 0;
}

/* Return how many packets a qdisc counts that none of its children has. */
static int own_packets(const struct queue *queue, struct Qdisc *sch)
{
	const struct Qdisc_class_ops *classes = queue->own.cl_ops;
	struct sum sum = { .walker.fn = add_child };

	if (!has_children(queue) || !classes->leaf || !classes->walk)
		return 0;
	sch_tree_lock(sch);
	classes->walk(sch, &sum.walker);
	sum.qlen = sch->q.qlen - sum.qlen;
	sch_tree_unlock(sch);
	return sum.qlen;
}

/* Check what holds after all calls. `more` packets are in the queue, or would be if none had been dropped. */
static void check_packets(struct queue *queue, const void *function, struct Qdisc *sch, const struct before *before,
			  int more)
{
	int grown = sch->q.qlen - before->qlen, dropped = sch->qstats.drops - before->drops;
	int reported = reduced - before->reduced;

	if (dropped < 0 || (int)(sch->qstats.overlimits - before->overlimits) < 0)
		tell(queue, RULE_STATISTICS, function, sch,
		     "let statistics run backwards: drops from %u to %u, overlimits from %u to %u", before->drops,
		     sch->qstats.drops, before->overlimits, sch->qstats.overlimits);
	else if (grown + dropped != more && grown + reported != more)
		tell(queue, RULE_QLEN, function, sch,
		     "changed qlen from %u to %u and drops by %d; the sum of both changes must be %d",
		     before->qlen, sch->q.qlen, dropped, more);
	else if (!has_children(queue) && !sch->q.qlen != !sch->qstats.backlog)
		tell(queue, RULE_EMPTY, function, sch, "left a qlen of %u and a backlog of %u bytes",
		     sch->q.qlen, sch->qstats.backlog);
}

/* The parents' counts grow by @more packets, less those whose loss was reported to them. */
static void check_parents(struct queue *queue, const void *function, struct Qdisc *sch, const struct before *before,
			  int more)
{
	int grown = sch->q.qlen - before->qlen, reported = reduced - before->reduced;

	if (!has_children(queue) && grown != more - reported)
		tell(queue, RULE_PARENT, function, sch,
		     "changed qlen from %u to %u; parents count %d for the packet, less %d for qdisc_tree_reduce_backlog()",
		     before->qlen, sch->q.qlen, more, reported);
}

static void check_backlog(struct queue *queue, const void *function, struct Qdisc *sch, const struct before *before,
			  int more)
{
	int grown = sch->qstats.backlog - before->backlog;

	if (!has_children(queue) && sch->qstats.drops == before->drops && reduced == before->reduced && grown != more)
		tell(queue, RULE_BACKLOG, function, sch,
		     "changed the backlog from %u to %u bytes, where the packet has %u", before->backlog,
		     sch->qstats.backlog, abs(more));
}

static void forget_packets(const struct Qdisc *sch)
{
	if (peeked_in == sch)
		peeked_in = NULL;
	if (run.sch == sch)
		run.sch = NULL;
}

/* The packets that it may hold beside its limit: the kernel's fq takes up to eight on its fast path. */
static u32 beside_limit(const struct Qdisc *sch)
{
	return strcmp(sch->ops->id, "fq") ? 0 : 8;
}

static int watch_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct queue *queue = queue_of(sch);
	int length = qdisc_pkt_len(skb), result;
	u32 priority = skb->priority;
	bool whole = !skb_is_gso(skb), raw = skb->sk && skb->sk->sk_family == AF_PACKET;
	struct before before;

	if (peeked_in == sch)
		peeked_in = NULL;
	if (!whole && has_children(queue))
		sch->flags |= SEGMENTED;
	else if (!sch->q.qlen)
		sch->flags &= ~SEGMENTED;
	before = look_at_qdisc(sch);
	result = queue->own.enqueue(skb, sch, to_free);
	if (!whole || result & __NET_XMIT_STOLEN || !is_checked(sch, &before))
		return result;
	check_packets(queue, queue->own.enqueue, sch, &before, 1);
	check_parents(queue, queue->own.enqueue, sch, &before, result == NET_XMIT_SUCCESS);
	check_backlog(queue, queue->own.enqueue, sch, &before, length);
	if (raw || (int)(sch->q.qlen - before.qlen) <= 0)
		return result;
	if (run.sch != sch || run.priority != priority)
		run.count = 0;
	run.sch = sch;
	run.priority = priority;
	run.count++;
	if (sch->limit && min(sch->q.qlen, run.count) > (u64)sch->limit + beside_limit(sch) &&
	    priority != TC_PRIO_CONTROL)
		tell(queue, RULE_LIMIT, queue->own.enqueue, sch, "queued a packet beyond the limit: qlen is %u, limit %u",
		     sch->q.qlen, sch->limit);
	return result;
}

static struct sk_buff *watch_dequeue(struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);
	const struct sk_buff *expected = peeked_in == sch ? peeked : NULL;
	struct before before;
	struct sk_buff *skb;
	u64 sent, bytes;

	if (changed == sch && !in_serving_softirq())
		return queue->own.dequeue(sch);
	forget_packets(sch);
	before = look_at_qdisc(sch);
	skb = queue->own.dequeue(sch);
	if (!is_checked(sch, &before))
		return skb;
	if (expected && skb != expected)
		tell(queue, RULE_PEEK, queue->own.dequeue, sch, "gave %s packet after %pS had shown one",
		     skb ? "another" : "no", queue->own.peek);
	check_packets(queue, queue->own.dequeue, sch, &before, skb ? -1 : 0);
	check_parents(queue, queue->own.dequeue, sch, &before, skb ? -1 : 0);
	if (!skb)
		return skb;
	check_backlog(queue, queue->own.dequeue, sch, &before, -(int)qdisc_pkt_len(skb));
	sent = u64_stats_read(&sch->bstats.packets) - before.sent;
	if (sent != (skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1))
		tell(queue, RULE_SENT, queue->own.dequeue, sch, "counted %lld packets as sent with one (qdisc_bstats_update)",
		     sent);
	bytes = u64_stats_read(&sch->bstats.bytes) - before.bytes;
	if (bytes != qdisc_pkt_len(skb))
		tell(queue, RULE_BYTES, queue->own.dequeue, sch, "counted %lld bytes as sent with a packet of %u", bytes,
		     qdisc_pkt_len(skb));
	return skb;
}

static struct sk_buff *watch_peek(struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);
	struct before before = look_at_qdisc(sch);
	struct sk_buff *skb = queue->own.peek(sch);

	before.calls = calls; /* qdisc_peek_dequeued() calls dequeue */
	if (!is_checked(sch, &before))
		return skb;
	check_packets(queue, queue->own.peek, sch, &before, 0);
	check_parents(queue, queue->own.peek, sch, &before, 0);
	if (skb && skb_queue_empty(&sch->gso_skb)) {
		peeked_in = sch;
		peeked = skb;
	}
	return skb;
}

static int watch_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct queue *queue = queue_of(sch);

	memory_own_qdisc(sch, sizeof(*sch) + queue->own.priv_size);
	return queue->own.init(sch, options, extack);
}

static void watch_reset(struct Qdisc *sch)
{
	forget_packets(sch);
	queue_of(sch)->own.reset(sch);
}

static int watch_change(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct queue *queue = queue_of(sch);
	int error, own = own_packets(queue, sch), left;
	struct before before;

	forget_packets(sch);
	before = look_at_qdisc(sch);
	changed = sch;
	error = queue->own.change(sch, options, extack);
	changed = NULL;
	if (is_checked(sch, &before)) {
		check_packets(queue, queue->own.change, sch, &before, 0);
		check_parents(queue, queue->own.change, sch, &before, 0);
	}
	left = own_packets(queue, sch);
	if (left > max(own, 0))
		tell(queue, RULE_CHILDREN, queue->own.change, sch,
		     "left a qlen of %u, which is %d more than its children have", sch->q.qlen, left);
	return error;
}

static void watch_destroy(struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);

	queue->own.destroy(sch);
	late_in_memory((unsigned long)sch, sizeof(*sch) + queue->own.priv_size);
}

bool oracle_is_alone(const void *function)
{
	int i;

	for (i = 0; i < MOST_WATCHED; i++) {
		const struct Qdisc_ops *own = &queues[i].own;

		if (function == own->init || function == own->reset || function == own->destroy)
			return true;
	}
	return false;
}

void oracle_qdisc_tree_reduce_backlog(struct Qdisc *sch, int packets, int bytes);

void oracle_qdisc_tree_reduce_backlog(struct Qdisc *sch, int packets, int bytes)
{
	reduced += packets;
	qdisc_tree_reduce_backlog(sch, packets, bytes);
}
EXPORT_SYMBOL(oracle_qdisc_tree_reduce_backlog);

int oracle_register_qdisc(struct Qdisc_ops *ops);
void oracle_unregister_qdisc(struct Qdisc_ops *ops);

#define OPERATIONS(each, ...) do {		\
	each(enqueue, __VA_ARGS__);		\
	each(dequeue, __VA_ARGS__);		\
	each(peek, __VA_ARGS__);		\
	each(init, __VA_ARGS__);		\
	each(reset, __VA_ARGS__);		\
	each(change, __VA_ARGS__);		\
	each(destroy, __VA_ARGS__);		\
} while (0)

static void unwrap_qdisc(struct Qdisc_ops *ops, struct queue *queue)
{
	OPERATIONS(UNWRAP, ops, &queue->own);
	queue->watched.registered = false;
}

int oracle_register_qdisc(struct Qdisc_ops *ops)
{
	struct queue *queue = oracle_place(queues, sizeof(*queues), ops);
	int error;

	if (!queue || queue->watched.registered)
		return register_qdisc(ops);
	*queue = (struct queue){ .watched = { .ops = ops, .registered = true }, .own = *ops };
	OPERATIONS(WRAP, ops);
	error = register_qdisc(ops);
	if (error)
		unwrap_qdisc(ops, queue);
	else
		oracle_registered++;
	return error;
}
EXPORT_SYMBOL(oracle_register_qdisc);

void oracle_unregister_qdisc(struct Qdisc_ops *ops)
{
	struct queue *queue = oracle_find(queues, sizeof(*queues), ops);

	unregister_qdisc(ops);
	if (queue && queue->watched.registered)
		unwrap_qdisc(ops, queue);
}
EXPORT_SYMBOL(oracle_unregister_qdisc);
