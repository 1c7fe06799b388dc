// SPDX-License-Identifier: GPL-2.0-only
/*
 * DSR's send buffer (RFC 4728 section 4.2) and route requests (8.2.1). Packets
 * without a route wait; a full buffer drops the oldest. For each destination of
 * waiting packets, requests are sent with growing TTLs and growing intervals
 * until a reply comes. The interval is kept after a search that is not needed any
 * more.
 */
#include "dsr.h"

static struct dsr_search *search_for(struct manet *m, u32 target)
{
	struct dsr *d = dsr_of(m);
	u32 i;

	for (i = 0; i < d->searches; i++)
		if (d->search[i].target == target)
			return &d->search[i];
	return NULL;
}

/* Its entry, a new one, or that of the oldest ended search; NULL: all searches continue. */
static struct dsr_search *search_made(struct manet *m, u32 target)
{
	struct dsr *d = dsr_of(m);
	struct dsr_search *s = search_for(m, target);
	u32 i;

	if (s)
		return s;
	if (d->searches < DSR_SEARCHES) {
		s = &d->search[d->searches++];
	} else {
		for (i = 0; i < DSR_SEARCHES; i++)
			if (!d->search[i].on && (!s || d->search[i].used < s->used))
				s = &d->search[i];
	}
	if (s)
		*s = (struct dsr_search){ .target = target };
	return s;
}

static bool is_for(const struct manet_packet *p, u64 to)
{
	return ip_destination(p->data) == to;
}

static void drop_waiting(struct manet *m, u32 to)
{
	struct manet_list waiting = list_take(&dsr_of(m)->buffer, is_for, to);
	struct manet_packet *p;

	while ((p = list_pop(&waiting)))
		manet_drop(m, p, MANET_NO_ROUTE);
}

/* Packets that wait for a route there; *@own: those of this node. */
static u32 dsr_waiting(const struct manet *m, u32 to, u32 *own)
{
	const struct manet_packet *p;
	u32 count = 0;

	*own = 0;
	for (p = dsr_of(m)->buffer.head; p; p = p->next) {
		if (ip_destination(p->data) != to)
			continue;
		count++;
		*own += ip_source(p->data) == m->address;
	}
	return count;
}

u32 dsr_waiting_for(const struct manet *m, u32 to)
{
	u32 own;

	return dsr_waiting(m, to, &own);
}

static u64 dsr_grown(struct manet *m, u64 period, u32 times)
{
	u64 most = param_ns(m, P_PERIOD_MOST_MS);

	while (times-- && period < most)
		period *= param(m, P_BACKOFF);
	return period < most ? period : most;
}

/* TTL and timeout of the next request. */
static void next_ring(struct manet *m, struct dsr_search *s)
{
	u64 first = param_ns(m, P_FIRST_TIMEOUT_MS), period = param_ns(m, P_PERIOD_MS);
	u32 ttl, most = param(m, P_TTL_MOST);

	if (param(m, P_RING_AGAIN) ? !(s->tries & 1) : !s->tries) {
		s->ttl = param(m, P_TTL_FIRST);
		s->timeout = first;
		return;
	}
	ttl = param(m, P_TTL_FACTOR) ? s->ttl * param(m, P_TTL_FACTOR) : most;
	s->ttl = ttl < most ? ttl : most;
	s->timeout = dsr_grown(m, period, param(m, P_RING_AGAIN) ? s->tries / 2 : s->tries - 1);
	if (param(m, P_RING_AGAIN) && s->timeout > first)
		s->timeout -= first; /* a period lasts from one first request to the next */
}

static void send_request(struct manet *m, struct dsr_search *s)
{
	struct dsr *d = dsr_of(m);
	u64 spread = param_ns(m, P_SPREAD_ERROR_MS);
	bool error = d->error_from && m->now - d->error_at < spread;
	struct manet_packet *p;

	p = dsr_make_request(m, s->target, ++d->request_id, s->ttl, error ? d->error_from : 0, d->error_to);
	if (error && s->ttl > 1)
		d->error_from = 0;
	manet_tell(m, MANET_SEARCH, NULL, s->target, MANET_EVERYBODY, 0, s->ttl, d->request_id);
	if (p)
		manet_send_later(m, p, MANET_EVERYBODY, manet_jitter(m));
}

static void give_up(struct manet *m, struct dsr_search *s)
{
	s->on = false;
	s->tries = 0;
	manet_tell(m, MANET_SEARCH_FAILED, NULL, s->target, MANET_NOBODY, 0, 0, 0);
	drop_waiting(m, s->target);
}

void dsr_search_timer(struct manet *m, struct dsr_search *s)
{
	u32 own, all = dsr_waiting(m, s->target, &own);

	if (!s->on)
		return; /* the interval before the next request is over */
	if (!all && !param(m, P_SEARCH_EMPTY)) {
		s->on = false;
		return;
	}
	if (s->tries > param(m, P_RETRIES) || (all && !own && s->tries > 1))
		return give_up(m, s);
	next_ring(m, s);
	if (!all || own || !s->tries)
		send_request(m, s); /* for other nodes' packets only the first */
	s->tries++;
	s->used = m->now;
	timer_set(m, &s->timer, TIMER_SEARCH, m->now + s->timeout);
}

static void start_search(struct manet *m, u32 target)
{
	struct dsr_search *s = search_made(m, target);

	if (!s || s->on)
		return;
	s->on = true;
	if (!s->timer.set)
		dsr_search_timer(m, s);
}

void dsr_found(struct manet *m, u32 target)
{
	struct dsr_search *s = search_for(m, target);

	if (!s)
		return;
	timer_cancel(m, &s->timer);
	s->on = false;
	s->tries = 0;
}

void dsr_buffer_timer(struct manet *m)
{
	struct manet_list *buffer = &dsr_of(m)->buffer;
	u64 most = param_ns(m, P_BUFFER_TIMEOUT_MS);

	while (buffer->head && buffer->head->since + most <= m->now)
		manet_drop(m, list_pop(buffer), MANET_BUFFER_TIMEOUT);
	if (buffer->head)
		timer_set(m, &dsr_of(m)->buffer_due, TIMER_BUFFER, buffer->head->since + most);
}

void dsr_wait(struct manet *m, struct manet_packet *p)
{
	struct dsr *d = dsr_of(m);
	u32 to = ip_destination(p->data);

	if (d->buffer.count >= param(m, P_BUFFER))
		manet_drop(m, list_pop(&d->buffer), MANET_BUFFER_FULL);
	p->since = m->now;
	p->next_hop = MANET_NOBODY;
	list_add(&d->buffer, p);
	manet_tell(m, MANET_BUFFERED, p, to, MANET_NOBODY, 0, 0, 0);
	if (!d->buffer_due.set)
		dsr_buffer_timer(m);
	start_search(m, to);
}

void dsr_release(struct manet *m, u32 to, bool answered)
{
	struct dsr *d = dsr_of(m);
	struct manet_list kept = { 0 }, ready = { 0 };
	struct manet_packet *p;
	struct dsr_route r;
	u64 delay = 0;

	while ((p = list_pop(&d->buffer))) {
		u32 target = ip_destination(p->data);

		list_add((to && target != to) || !dsr_find(m, target, &r, false) ? &kept : &ready, p);
	}
	d->buffer = kept;
	while ((p = list_pop(&ready))) {
		if (!dsr_find(m, ip_destination(p->data), &r, ip_source(p->data) == m->address)) {
			dsr_wait(m, p); /* its route was used up while others were sent */
			continue;
		}
		manet_tell(m, MANET_RELEASED, p, ip_destination(p->data), r.node[1], r.count - 1, 0, 0);
		dsr_originate(m, p, &r, delay);
		delay += answered ? param_ns(m, P_RELEASE_GAP_MS) : 0;
	}
}
