// SPDX-License-Identifier: GPL-2.0-only
/*
 * The station's queue. The radio has one frame at a time. The others wait here,
 * so a protocol can take back those for a lost neighbour or destination. It is
 * drop-tail. With routing_first, control packets go before data (as in ns-2's
 * PriQueue, but in their order), and a full queue drops data.
 */
#include "node.h"

#define MOST_TRIES 4 /* attempts to pass one frame to the radio, after waits of 1, 2, 4 ms */

void list_add(struct manet_list *list, struct manet_packet *p)
{
	p->next = NULL;
	if (list->tail)
		list->tail->next = p;
	else
		list->head = p;
	list->tail = p;
	list->count++;
}

struct manet_packet *list_pop(struct manet_list *list)
{
	struct manet_packet *p = list->head;

	if (!p)
		return NULL;
	list->head = p->next;
	if (!list->head)
		list->tail = NULL;
	list->count--;
	p->next = NULL;
	return p;
}

struct manet_list list_take(struct manet_list *list, bool (*matches)(const struct manet_packet *p, u64 what), u64 what)
{
	struct manet_list taken = { 0 }, kept = { 0 };
	struct manet_packet *p;

	while ((p = list_pop(list)))
		list_add(matches(p, what) ? &taken : &kept, p);
	*list = kept;
	return taken;
}

static void list_append(struct manet_list *list, struct manet_list *more)
{
	struct manet_packet *p;

	while ((p = list_pop(more)))
		list_add(list, p);
}

static bool is_for_hop(const struct manet_packet *p, u64 next_hop)
{
	return p->next_hop == next_hop;
}

static bool is_for_destination(const struct manet_packet *p, u64 destination)
{
	return p->kind == MANET_DATA && ip_destination(p->data) == destination;
}

static struct manet_list queue_take(struct manet *m, bool (*matches)(const struct manet_packet *p, u64 what), u64 what)
{
	struct manet_list taken = list_take(&m->queue.control, matches, what);
	struct manet_list data = list_take(&m->queue.data, matches, what);
	struct manet_list later = list_take(&m->later, matches, what);

	list_append(&taken, &data);
	list_append(&taken, &later);
	return taken;
}

struct manet_list queue_take_hop(struct manet *m, u32 next_hop)
{
	return queue_take(m, is_for_hop, next_hop);
}

struct manet_list queue_take_destination(struct manet *m, u32 destination)
{
	return queue_take(m, is_for_destination, destination);
}

static void drop_last(struct manet *m, struct manet_list *list)
{
	u32 others = list->count - 1;

	while (others--)
		list_add(list, list_pop(list));
	manet_drop(m, list_pop(list), MANET_QUEUE_FULL);
}

void queue_put(struct manet *m, struct manet_packet *p)
{
	struct manet_queue *q = &m->queue;
	bool first = param(m, P_ROUTING_FIRST) && p->kind != MANET_DATA;

	if (q->control.count + q->data.count >= param(m, P_QUEUE)) {
		if (!first || !q->data.count)
			return manet_drop(m, p, MANET_QUEUE_FULL);
		drop_last(m, &q->data);
	}
	p->tries = 0;
	list_add(first ? &q->control : &q->data, p);
	queue_next(m);
}

/* false: it cannot be sent, and is dropped. */
static bool hand_over(struct manet *m, struct manet_packet *p)
{
	static const u8 everybody[MANET_ALEN] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const struct manet_neighbour *to;
	u8 mac[MANET_ALEN];

	to = p->next_hop == MANET_EVERYBODY ? NULL : neighbour_of(m, p->next_hop);
	if (p->next_hop == MANET_EVERYBODY) {
		memcpy(mac, everybody, MANET_ALEN);
	} else if (to) {
		memcpy(mac, to->mac, MANET_ALEN);
	} else if (!m->ops->resolve(m->edge, p->next_hop, mac)) {
		manet_drop(m, p, MANET_NO_NEIGHBOUR);
		return false;
	}
	m->queue.in_air = p;
	if (!p->tries) {
		m->counters.sent[p->kind]++;
		m->counters.sent_bytes[p->kind] += p->len;
		if (p->kind != MANET_DATA)
			manet_tell(m, MANET_SENT_CONTROL, p, ip_destination(p->data), p->next_hop, 0, 0, 0);
	}
	p->tries++;
	m->ops->transmit(m->edge, p, mac);
	return true;
}

void queue_next(struct manet *m)
{
	struct manet_queue *q = &m->queue;
	struct manet_packet *p;

	if (q->in_air || q->held)
		return;
	do {
		p = list_pop(&q->control);
		if (!p)
			p = list_pop(&q->data);
	} while (p && !hand_over(m, p));
}

void queue_again(struct manet *m)
{
	struct manet_packet *p = m->queue.in_air;

	m->queue.in_air = NULL;
	if (p && !hand_over(m, p))
		queue_next(m);
}

void queue_sent(struct manet *m, enum manet_sent how)
{
	struct manet_queue *q = &m->queue;
	struct manet_packet *p = q->in_air;

	if (!p || q->again.set)
		return;
	if (how >= MANET_NOT_SENT && p->tries < MOST_TRIES)
		return timer_set(m, &q->again, TIMER_QUEUE_AGAIN, m->now + (MS << (p->tries - 1)));
	q->in_air = NULL;
	q->held = true;
	switch (how) {
	case MANET_ACKED:
		m->counters.acked++;
		if (m->protocol->acked)
			m->protocol->acked(m, p);
		manet_drop(m, p, MANET_DONE);
		break;
	case MANET_LOST:
		m->counters.lost++;
		m->protocol->lost(m, p);
		break;
	case MANET_STRANGER:
		m->protocol->lost(m, p); /* otherwise all later packets for it would be lost without a report */
		break;
	case MANET_NOT_SENT:
		manet_drop(m, p, MANET_UNSENT);
		break;
	}
	q->held = false;
	queue_next(m);
}
