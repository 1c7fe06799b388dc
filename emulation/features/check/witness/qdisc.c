// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of a qdisc: which packet comes and goes, what is dropped, the counts afterwards, and what tc shows. A packet
 * is known by its length and a sum of its first bytes, without those that a mark changes; the mark is beside it.
 */
#include <linux/crc32.h>
#include <linux/module.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "witness.h"

#define HEADERS 96	/* bytes of a packet that are summed up */

struct queue {
	const void *ops;
	struct Qdisc_ops own;
	struct Qdisc_class_ops classes;
	const struct Qdisc_class_ops *own_classes;
};

static struct queue queues[MOST_WATCHED];

static struct queue *queue_of(const struct Qdisc *sch)
{
	return witness_find(queues, sizeof(*queues), sch->ops);
}

static void begin_queue(const char *operation, const struct queue *queue, struct Qdisc *sch)
{
	witness_begin(operation);
	witness_add(" %zu:%x:%x", queue - queues, sch->handle >> 16, sch->parent);
}

static void end_queue(struct Qdisc *sch)
{
	witness_add(" qlen=%u backlog=%u drops=%u overlimits=%u requeues=%u sent=%llu bytes=%llu limit=%u\n",
		    sch->q.qlen, sch->qstats.backlog, sch->qstats.drops, sch->qstats.overlimits, sch->qstats.requeues,
		    u64_stats_read(&sch->bstats.packets), u64_stats_read(&sch->bstats.bytes), sch->limit);
	local_bh_enable();
}

static void add_packet(const struct sk_buff *skb)
{
	u8 headers[HEADERS] = {}, mark = 0;
	int count, at = skb_network_offset(skb);

	count = min_t(int, sizeof(headers), (int)skb->len - at);
	if (at < 0 || count <= 0 || skb_copy_bits(skb, at, headers, count))
		count = 0;
	if (count > 12 && headers[0] >> 4 == 4) {
		mark = headers[1];
		headers[1] = headers[10] = headers[11] = 0;
	} else if (count > 12 && headers[0] >> 4 == 6) {
		mark = headers[0] << 4 | headers[1] >> 4;
		headers[0] = headers[1] = 0;
	}
	witness_add(" packet=%08x length=%u tos=%u priority=%u", crc32(0, headers, count), qdisc_pkt_len(skb), mark,
		    skb->priority);
}

static int watch_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct queue *queue = queue_of(sch);
	struct sk_buff *freed = *to_free, *dropped;
	int result;

	begin_queue("enqueue", queue, sch);
	add_packet(skb);
	witness_add("\n");
	local_bh_enable();
	result = queue->own.enqueue(skb, sch, to_free);
	begin_queue("enqueue", queue, sch);
	witness_add(" returned=%d", result);
	for (dropped = *to_free; dropped && dropped != freed; dropped = dropped->next)
		add_packet(dropped);
	end_queue(sch);
	return result;
}

static struct sk_buff *watch_dequeue(struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);
	struct sk_buff *skb = queue->own.dequeue(sch);

	begin_queue("dequeue", queue, sch);
	witness_add(" returned=%s", skb ? "packet" : "nothing");
	if (skb)
		add_packet(skb);
	end_queue(sch);
	return skb;
}

static struct sk_buff *watch_peek(struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);
	struct sk_buff *skb = queue->own.peek(sch);

	begin_queue("peek", queue, sch);
	witness_add(" returned=%s", skb ? "packet" : "nothing");
	if (skb)
		add_packet(skb);
	end_queue(sch);
	return skb;
}

#define RESULT(operation, call)					\
	struct queue *queue = queue_of(sch);			\
	int result = queue->call;				\
								\
	begin_queue(operation, queue, sch);			\
	witness_add(" returned=%d", result);			\
	end_queue(sch);						\
	return result

static int watch_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	RESULT("init", own.init(sch, options, extack));
}

static int watch_change(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	RESULT("change", own.change(sch, options, extack));
}

static void watch_reset(struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);

	queue->own.reset(sch);
	begin_queue("reset", queue, sch);
	end_queue(sch);
}

/* Call an operation that shows something in a message, and add what it shows. */
#define SHOWN(operation, call, message)							\
	struct queue *queue = queue_of(sch);						\
	unsigned int before = (message)->len;						\
	int result = queue->call;							\
											\
	begin_queue(operation, queue, sch);						\
	witness_add(" returned=%d shown=", result < 0 ? result : 0);			\
	if ((message)->len > before)							\
		witness_bytes((message)->data + before, (message)->len - before);	\
	end_queue(sch);									\
	return result

static int watch_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	SHOWN("dump", own.dump(sch, skb), skb);
}

static int watch_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	SHOWN("dump_stats", own.dump_stats(sch, d), d->skb);
}

static int class_dump(struct Qdisc *sch, unsigned long class, struct sk_buff *skb, struct tcmsg *head)
{
	SHOWN("class_dump", own_classes->dump(sch, class, skb, head), skb);
}

static int class_dump_stats(struct Qdisc *sch, unsigned long class, struct gnet_dump *d)
{
	SHOWN("class_dump_stats", own_classes->dump_stats(sch, class, d), d->skb);
}

static int class_change(struct Qdisc *sch, u32 id, u32 parent, struct nlattr **options, unsigned long *class,
			struct netlink_ext_ack *extack)
{
	RESULT("class_change", own_classes->change(sch, id, parent, options, class, extack));
}

static int class_delete(struct Qdisc *sch, unsigned long class, struct netlink_ext_ack *extack)
{
	RESULT("class_delete", own_classes->delete(sch, class, extack));
}

static int class_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new, struct Qdisc **old,
		       struct netlink_ext_ack *extack)
{
	RESULT("class_graft", own_classes->graft(sch, class, new, old, extack));
}

static void class_qlen_notify(struct Qdisc *sch, unsigned long class)
{
	struct queue *queue = queue_of(sch);

	queue->own_classes->qlen_notify(sch, class);
	begin_queue("class_qlen_notify", queue, sch);
	end_queue(sch);
}

void witness_qdisc_tree_reduce_backlog(struct Qdisc *sch, int packets, int bytes);

void witness_qdisc_tree_reduce_backlog(struct Qdisc *sch, int packets, int bytes)
{
	struct queue *queue = queue_of(sch);

	if (queue) {
		begin_queue("qdisc_tree_reduce_backlog", queue, sch);
		witness_add(" packets=%d packets_bytes=%d", packets, bytes);
		end_queue(sch);
	}
	qdisc_tree_reduce_backlog(sch, packets, bytes);
}
EXPORT_SYMBOL(witness_qdisc_tree_reduce_backlog);

#define OPERATIONS(each, ...) do {		\
	each(enqueue, __VA_ARGS__);		\
	each(dequeue, __VA_ARGS__);		\
	each(peek, __VA_ARGS__);		\
	each(init, __VA_ARGS__);		\
	each(reset, __VA_ARGS__);		\
	each(change, __VA_ARGS__);		\
	each(dump, __VA_ARGS__);		\
	each(dump_stats, __VA_ARGS__);		\
} while (0)

#define WRAP_CLASS(operation) (queue->classes.operation = queue->classes.operation ? class_##operation : NULL)
#define TELL(operation, ops) witness_add("%s", (ops)->operation ? " " #operation : "")

int witness_register_qdisc(struct Qdisc_ops *ops);

int witness_register_qdisc(struct Qdisc_ops *ops)
{
	struct queue *queue = witness_find(queues, sizeof(*queues), NULL);
	int error;

	if (!queue)
		return register_qdisc(ops);
	*queue = (struct queue){ .ops = ops, .own = *ops, .own_classes = ops->cl_ops };
	witness_begin("register");
	witness_add(" %zu flags=%u has", queue - queues, ops->static_flags);
	OPERATIONS(TELL, ops);
	witness_end();
	OPERATIONS(WRAP, ops);
	if (ops->cl_ops) {
		queue->classes = *ops->cl_ops;
		WRAP_CLASS(dump);
		WRAP_CLASS(dump_stats);
		WRAP_CLASS(change);
		WRAP_CLASS(delete);
		WRAP_CLASS(graft);
		WRAP_CLASS(qlen_notify);
		ops->cl_ops = &queue->classes;
	}
	error = register_qdisc(ops);
	if (error) {
		OPERATIONS(UNWRAP, ops, &queue->own);
		ops->cl_ops = queue->own_classes;
		queue->ops = NULL;
	}
	return error;
}
EXPORT_SYMBOL(witness_register_qdisc);
