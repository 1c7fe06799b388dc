// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows, in a table that replaces the one not seen for longest, and the one ACK
 * that each may hold. A held ACK counts in the queue's length, but is outside the
 * queue until it passes or a newer one replaces it. Flows with a held ACK are in
 * a list, and one watchdog fires when the first of them is due.
 */
#include <linux/jhash.h>

#include "sched.h"

#define MAX_FLOWS 1024 /* more replace those that were not seen for longest */

void flow_release(struct Qdisc *sch, struct flow *flow, enum ackthin_reason why)
{
	struct ackthin_sched *q = qdisc_priv(sch);

	q->stats.passed[why]++;
	sch->q.qlen--; /* its arrival was counted */
	__qdisc_enqueue_tail(flow->held, &sch->q);
	flow->held = NULL;
	list_del_init(&flow->waiting);
}

void flows_release(struct Qdisc *sch)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct flow *flow, *next;

	list_for_each_entry_safe(flow, next, &q->waiting, waiting) {
		flow->state.count = 0;
		flow_release(sch, flow, ACKTHIN_FLUSHED);
	}
	q->next = ACKTHIN_NEVER;
}

/* A newer ACK includes @old. The queue's length never becomes 0 here, which parents would notice. */
static void flow_drop_old(struct Qdisc *sch, struct flow *flow, struct sk_buff *old)
{
	struct ackthin_sched *q = qdisc_priv(sch);

	flow->thinned++;
	q->stats.thinned++;
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, old);
	qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(old));
	consume_skb(old);
}

void flow_thin(struct Qdisc *sch, struct flow *flow)
{
	struct sk_buff *old = flow->held;

	flow->held = NULL;
	list_del_init(&flow->waiting);
	flow_drop_old(sch, flow, old);
}

static void look_at(struct ackthin_sched *q, u64 when)
{
	q->next = when;
	qdisc_watchdog_schedule_ns(&q->watchdog, when);
}

int flow_hold(struct Qdisc *sch, struct flow *flow, struct sk_buff *skb)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct sk_buff *old = flow->held;

	flow->held = skb;
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	if (old)
		flow_drop_old(sch, flow, old);
	else
		list_add_tail(&flow->waiting, &q->waiting);
	if (flow->state.due && flow->state.due < q->next)
		look_at(q, flow->state.due);
	return NET_XMIT_SUCCESS;
}

/* Postponed or unneeded timers made the watchdog fire too early, which costs little. */
void flows_expire(struct Qdisc *sch, u64 now)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct flow *flow, *next;
	u64 soonest = ACKTHIN_NEVER;

	list_for_each_entry_safe(flow, next, &q->waiting, waiting) {
		if (!flow->state.due)
			continue;
		if (flow->state.due > now) {
			soonest = min(soonest, flow->state.due);
			continue;
		}
		flow->timers++;
		ackthin_expire(&q->config, &flow->state);
		flow_release(sch, flow, ACKTHIN_TIMER);
	}
	q->next = ACKTHIN_NEVER;
	if (soonest != ACKTHIN_NEVER)
		look_at(q, soonest);
}

static void flow_forget(struct ackthin_sched *q, struct flow *flow)
{
	hlist_del(&flow->bucket);
	list_del(&flow->age);
	list_del(&flow->waiting);
	kfree_skb(flow->held);
	kfree(flow);
	q->stats.flows--;
}

void flows_forget(struct Qdisc *sch)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct flow *flow, *next;

	list_for_each_entry_safe(flow, next, &q->flows, age)
		flow_forget(q, flow);
	q->next = ACKTHIN_NEVER;
}

static struct flow *new_flow(struct Qdisc *sch, const struct ackthin_key *key, struct hlist_head *bucket)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct flow *flow;

	if (q->stats.flows >= MAX_FLOWS) {
		flow = list_last_entry(&q->flows, struct flow, age);
		if (flow->held)
			flow_release(sch, flow, ACKTHIN_FLUSHED);
		flow_forget(q, flow);
		q->stats.evicted++;
	}
	flow = kzalloc(sizeof(*flow), GFP_ATOMIC);
	if (!flow)
		return NULL;
	flow->key = *key;
	hlist_add_head(&flow->bucket, bucket);
	list_add(&flow->age, &q->flows);
	INIT_LIST_HEAD(&flow->waiting);
	q->stats.flows++;
	return flow;
}

struct flow *flow_find(struct Qdisc *sch, const struct ackthin_segment *s)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	u32 hash = jhash(&s->key, sizeof(s->key), q->perturbation);
	struct hlist_head *bucket = &q->buckets[hash % ACKTHIN_BUCKETS];
	struct flow *flow;

	hlist_for_each_entry(flow, bucket, bucket) {
		if (!memcmp(&flow->key, &s->key, sizeof(s->key))) {
			list_move(&flow->age, &q->flows);
			return flow;
		}
	}
	return s->why == ACKTHIN_HOLD ? new_flow(sch, &s->key, bucket) : NULL;
}
