// SPDX-License-Identifier: GPL-2.0-only
/*
 * Searching for a route: the growing ring (6.4), its timeouts and its end, and
 * the packets that wait for it. A local repair (6.12) works the same, with
 * another first ring and an error at its end.
 */
#include "aodv.h"

static u64 aodv_traversal(const struct manet *m, u32 hops)
{
	return 2 * param_ns(m, P_NODE_TRAVERSAL_MS) * hops;
}

u64 aodv_net_traversal(const struct manet *m)
{
	return aodv_traversal(m, param(m, P_NET_DIAMETER));
}

static u8 shift_of(u8 wide)
{
	return wide < 1 ? 0 : wide > 8 ? 7 : wide - 1;
}

/* The timeout of the request that was just sent. */
static u64 aodv_patience(const struct manet *m, const struct aodv_route *r)
{
	u32 slack = param(m, P_TIMEOUT_BUFFER);

	if (r->repairable && r->asked == 1 && param(m, P_REPAIR_RINGS))
		slack = 0; /* as AODV-UU; see the parameter */
	if (r->ttl < param(m, P_NET_DIAMETER))
		return aodv_traversal(m, r->ttl + slack);
	switch (param(m, P_BACKOFF)) {
	case BACKOFF_DOUBLE:
		return aodv_net_traversal(m) << shift_of(r->wide);
	case BACKOFF_LINEAR:
		return aodv_net_traversal(m) * (r->wide ? r->wide : 1);
	}
	return param(m, P_RING) ? aodv_traversal(m, r->ttl + slack) : aodv_net_traversal(m);
}

/* The most hops of a route to a source whose packets wait for @r. Usually there is one source. */
static u32 hops_to_sources(const struct manet *m, const struct aodv_route *r)
{
	const struct manet_packet *p;
	u32 most = 0;

	for (p = aodv_of(m)->buffer.head; p; p = p->next) {
		const struct aodv_route *source;

		if (ip_destination(p->data) != r->to)
			continue;
		source = aodv_find(m, ip_source(p->data));
		if (source && source->valid && source->hops > most)
			most = source->hops;
	}
	return most;
}

static u8 first_ttl(const struct manet *m, const struct aodv_route *r)
{
	u32 half, ttl;

	if (!param(m, P_RING))
		return param(m, P_NET_DIAMETER);
	if (r->repairable) {
		half = hops_to_sources(m, r) / 2;
		ttl = (r->hops > half ? r->hops : half) + param(m, P_LOCAL_ADD_TTL);
	} else if (r->hops) {
		ttl = r->hops + param(m, P_TTL_INCREMENT);
		if (!param(m, P_PAST_THRESHOLD) && ttl > param(m, P_TTL_THRESHOLD))
			ttl = param(m, P_NET_DIAMETER);
	} else {
		ttl = param(m, P_TTL_START);
	}
	return ttl < param(m, P_NET_DIAMETER) ? ttl : param(m, P_NET_DIAMETER);
}

/* Take the next ring; false: that was the last one. */
static bool aodv_widen(const struct manet *m, struct aodv_route *r)
{
	u32 diameter = param(m, P_NET_DIAMETER), threshold = param(m, P_TTL_THRESHOLD), next;

	next = r->ttl + param(m, P_TTL_INCREMENT);
	if (r->repairable && !r->own && !param(m, P_REPAIR_RINGS))
		return false;
	if (r->tries >= param(m, P_RREQ_RETRIES))
		return false;
	if (r->ttl < diameter && (param(m, P_PAST_THRESHOLD) ? r->ttl < threshold : next <= threshold)) {
		r->ttl = next < diameter ? next : diameter;
		return true;
	}
	r->ttl = diameter;
	r->tries++;
	return true;
}

/* Send a request now, or when the rate limit allows it. With TTL 0 the ring has not been sent yet. */
static void aodv_request(struct manet *m, struct aodv_route *r)
{
	struct aodv *a = aodv_of(m);
	u64 again = 0;

	if (a->quiet > m->now || !aodv_may(m, &a->requests, param(m, P_RREQ_RATE), &again)) {
		r->hold = a->quiet > m->now ? a->quiet : again;
		timer_set(m, &r->search, TIMER_SEARCH, r->hold);
		return;
	}
	r->hold = 0;
	r->asked += r->asked < 255;
	if (r->ttl >= param(m, P_NET_DIAMETER))
		r->wide++;
	aodv_send_request(m, r);
	timer_set(m, &r->search, TIMER_SEARCH, m->now + aodv_patience(m, r));
}

void aodv_search(struct manet *m, struct aodv_route *r)
{
	if (r->search.set)
		return;
	r->ttl = first_ttl(m, r);
	r->asked = 0;
	r->tries = 0;
	r->wide = 0;
	aodv_request(m, r);
}

static void give_up(struct manet *m, struct aodv_route *r);

void aodv_search_due(struct manet *m, struct aodv_route *r)
{
	if (!r->ttl) { /* it had to wait after a failed search */
		if (r->waiting)
			aodv_search(m, r);
	} else if (r->hold || aodv_widen(m, r)) {
		aodv_request(m, r);
	} else {
		give_up(m, r);
	}
}

static bool waits_for(const struct manet_packet *p, u64 destination)
{
	return ip_destination(p->data) == destination;
}

static struct manet_list take_waiting(struct manet *m, struct aodv_route *r)
{
	struct manet_list none = { 0 };

	if (!r->waiting)
		return none;
	r->waiting = 0;
	return list_take(&aodv_of(m)->buffer, waits_for, r->to);
}

static void give_up(struct manet *m, struct aodv_route *r)
{
	struct manet_list waiting = take_waiting(m, r);

	manet_tell(m, MANET_SEARCH_FAILED, NULL, r->to, MANET_NOBODY, 0, r->ttl, r->sequence);
	r->ttl = 0;
	r->own = false;
	r->gratuitous = false;
	aodv_drop_list(m, &waiting, MANET_NO_ROUTE);
	if (r->repairable) {
		r->repairable = false;
		aodv_report(m, r);
		aodv_send_errors(m, false);
	}
	r->expires = param(m, P_DELETE_MS) ? m->now + param_ns(m, P_DELETE_MS) : NEVER;
	if (param(m, P_FAILED_HOLD_MS))
		timer_set(m, &r->search, TIMER_SEARCH, m->now + param_ns(m, P_FAILED_HOLD_MS));
	aodv_arm(m, r);
}

void aodv_found(struct manet *m, struct aodv_route *r, bool repaired, u8 hops_before)
{
	struct manet_list waiting = take_waiting(m, r);
	struct manet_packet *p;
	u64 delay = 0;

	timer_cancel(m, &r->search);
	r->ttl = 0;
	r->hold = 0;
	r->own = false;
	r->gratuitous = false;
	if (repaired) {
		manet_tell(m, MANET_REPAIRED, NULL, r->to, r->via, r->hops, hops_before, r->sequence);
		if (r->hops > hops_before) { /* precursors may search for a better route (6.12) */
			aodv_report(m, r);
			aodv_send_errors(m, true);
		}
	}
	while ((p = list_pop(&waiting))) {
		aodv_use(m, ip_source(p->data), r->to);
		manet_tell(m, MANET_RELEASED, p, r->to, r->via, r->hops, 0, 0);
		manet_send_later(m, p, r->via, delay);
		delay += param_ns(m, P_RELEASE_MS);
	}
}

static void drop_oldest(struct manet *m, enum manet_reason why)
{
	struct manet_packet *p = list_pop(&aodv_of(m)->buffer);
	struct aodv_route *r = aodv_find(m, ip_destination(p->data));

	if (r && r->waiting)
		r->waiting--;
	manet_drop(m, p, why);
}

void aodv_wait(struct manet *m, struct aodv_route *r, struct manet_packet *p)
{
	struct aodv *a = aodv_of(m);
	u32 gratuitous = param(m, P_GRATUITOUS);

	if (a->buffer.count >= param(m, P_BUFFER))
		drop_oldest(m, MANET_BUFFER_FULL);
	r->own |= ip_source(p->data) == m->address;
	r->gratuitous |= gratuitous == GRATUITOUS_TCP ? ip_protocol(p->data) == IP_TCP : gratuitous;
	p->since = m->now;
	p->next_hop = MANET_NOBODY;
	list_add(&a->buffer, p);
	r->waiting++;
	manet_tell(m, MANET_BUFFERED, p, r->to, MANET_NOBODY, 0, 0, a->buffer.count);
	if (!a->buffer_due.set)
		timer_set(m, &a->buffer_due, TIMER_BUFFER, m->now + param_ns(m, P_BUFFER_MS));
	aodv_search(m, r);
}

void aodv_buffer_due(struct manet *m)
{
	struct aodv *a = aodv_of(m);
	u64 life = param_ns(m, P_BUFFER_MS);

	while (a->buffer.head && a->buffer.head->since + life <= m->now)
		drop_oldest(m, MANET_BUFFER_TIMEOUT);
	if (a->buffer.head)
		timer_set(m, &a->buffer_due, TIMER_BUFFER, a->buffer.head->since + life);
}
