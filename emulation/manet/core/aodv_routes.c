// SPDX-License-Identifier: GPL-2.0-only
/*
 * AODV's routes: destinations with sequence numbers, precursors and lifetimes,
 * and the requests that the node has seen. A sequence number is never replaced by
 * an older one, and is incremented when a route is lost. So along any path the
 * pair of sequence number and hops improves, and there can be no loop.
 */
#include "aodv.h"

static u32 bucket_of(u32 to)
{
	return (to * 0x9e3779b1U >> 16) % AODV_BUCKETS;
}

void aodv_routes_init(struct manet *m)
{
	struct aodv *a = aodv_of(m);
	u32 i;

	memset(a->bucket, 0, sizeof(a->bucket));
	memset(a->route, 0, sizeof(a->route));
	memset(a->seen, 0, sizeof(a->seen));
	for (i = 1; i < AODV_ROUTES; i++)
		a->route[i].next = i + 1;
	a->free = 1;
}

struct aodv_route *aodv_find(const struct manet *m, u32 to)
{
	struct aodv *a = aodv_of(m);
	u16 i;

	for (i = a->bucket[bucket_of(to)]; i; i = a->route[i].next)
		if (a->route[i].to == to)
			return &a->route[i];
	return NULL;
}

static void aodv_forget(struct manet *m, struct aodv_route *r)
{
	struct aodv *a = aodv_of(m);
	u16 *at = &a->bucket[bucket_of(r->to)], self = r - a->route;

	if (r->valid)
		manet_tell(m, MANET_LOST_ROUTE, NULL, r->to, MANET_NOBODY, 0, 0, r->sequence);
	timer_cancel(m, &r->timer);
	timer_cancel(m, &r->search);
	while (*at != self)
		at = &a->route[*at].next;
	*at = r->next;
	memset(r, 0, sizeof(*r));
	r->next = a->free;
	a->free = self;
}

/* Replace invalid routes before valid ones, and among these the one that expires first. */
static void make_room(struct manet *m)
{
	struct aodv *a = aodv_of(m);
	struct aodv_route *worst = NULL;
	u16 i;

	for (i = 1; i <= AODV_ROUTES; i++) {
		struct aodv_route *r = &a->route[i];

		if (r->search.set || r->waiting || r->report)
			continue;
		if (!worst || r->valid < worst->valid || (r->valid == worst->valid && r->expires < worst->expires))
			worst = r;
	}
	if (worst)
		aodv_forget(m, worst);
}

struct aodv_route *aodv_get(struct manet *m, u32 to)
{
	struct aodv *a = aodv_of(m);
	struct aodv_route *r = aodv_find(m, to);
	u16 self;

	if (r)
		return r;
	if (!a->free)
		make_room(m);
	self = a->free;
	if (!self)
		return NULL;
	r = &a->route[self];
	a->free = r->next;
	memset(r, 0, sizeof(*r));
	r->to = to;
	r->silent = NEVER;
	r->ack_due = NEVER;
	r->expires = m->now + aodv_net_traversal(m);
	r->next = a->bucket[bucket_of(to)];
	a->bucket[bucket_of(to)] = self;
	aodv_arm(m, r);
	return r;
}

void aodv_arm(struct manet *m, struct aodv_route *r)
{
	u64 at = r->expires;

	at = r->silent < at ? r->silent : at;
	at = r->ack_due < at ? r->ack_due : at;
	if (at != NEVER && (!r->timer.set || at < r->timer.at))
		timer_set(m, &r->timer, TIMER_ROUTE, at);
}

void aodv_keep(struct manet *m, struct aodv_route *r, u64 life)
{
	if (r && r->valid && r->expires < m->now + life)
		r->expires = m->now + life;
}

static void keep_way(struct manet *m, u32 to)
{
	u64 life = param_ns(m, P_ACTIVE_MS);
	struct aodv_route *r = aodv_find(m, to);

	if (!r || !r->valid)
		return;
	aodv_keep(m, r, life);
	if (r->via != to)
		aodv_keep(m, aodv_find(m, r->via), life);
}

void aodv_use(struct manet *m, u32 source, u32 destination)
{
	aodv_of(m)->used = m->now;
	keep_way(m, destination);
	keep_way(m, source);
}

bool aodv_learn(struct manet *m, struct aodv_route *r, u32 via, u8 hops, bool known, u32 sequence, u64 life)
{
	bool was_valid = r->valid, repaired = r->repairable;
	u8 hops_before = r->hops;

	if (known && r->known && aodv_newer(r->sequence, sequence)) {
		if (via != r->to)
			return false;
		sequence = r->sequence; /* a neighbour is reachable, whatever its number */
	}
	if (!known && r->known)
		sequence = r->sequence;
	if (r->valid && r->known == (known || r->known) && sequence == r->sequence && hops >= r->hops) {
		if (hops == r->hops && via == r->via)
			aodv_keep(m, r, life);
		return false;
	}
	r->known |= known;
	r->sequence = sequence;
	if (!was_valid || r->expires < m->now + life)
		r->expires = m->now + life;
	if (!was_valid || r->via != via || r->hops != hops)
		manet_tell(m, was_valid ? MANET_CHANGED : MANET_FOUND, NULL, r->to, via, hops, 0, sequence);
	r->valid = true;
	r->via = via;
	r->hops = hops;
	r->repairable = false;
	aodv_arm(m, r);
	aodv_found(m, r, repaired, hops_before);
	return true;
}

void aodv_invalidate(struct manet *m, struct aodv_route *r, u32 sequence, bool repairable)
{
	u32 forgotten = repairable ? P_ACTIVE_MS : P_DELETE_MS;

	r->valid = false;
	r->sequence = r->known ? sequence : 0;
	r->repairable = repairable;
	r->silent = NEVER;
	r->hellos = 0;
	r->expires = param(m, forgotten) ? m->now + param_ns(m, forgotten) : NEVER;
	manet_tell(m, MANET_LOST_ROUTE, NULL, r->to, MANET_NOBODY, 0, 0, r->sequence);
	aodv_arm(m, r);
}

void aodv_forget_precursors(struct aodv_route *r)
{
	r->precursors = 0;
	r->crowded = false;
}

void aodv_add_precursor(struct aodv_route *r, u32 neighbour)
{
	u8 i;

	for (i = 0; i < r->precursors; i++)
		if (r->precursor[i] == neighbour)
			return;
	if (i == AODV_PRECURSORS)
		r->crowded = true;
	else
		r->precursor[r->precursors++] = neighbour;
}

static void aodv_expire(struct manet *m, struct aodv_route *r)
{
	if (r->search.set || r->waiting) {
		r->expires = m->now + 2 * aodv_net_traversal(m); /* 6.4 */
	} else if (r->valid) {
		aodv_invalidate(m, r, r->sequence + 1, false);
		aodv_forget_precursors(r);
	} else if (r->repairable) { /* no packet needed it: inform the precursors now (6.12) */
		r->repairable = false;
		r->expires = param(m, P_DELETE_MS) ? m->now + param_ns(m, P_DELETE_MS) : NEVER;
		aodv_report(m, r);
		aodv_send_errors(m, false);
	} else if (r->shunned > m->now) {
		r->expires = r->shunned;
	} else {
		aodv_forget(m, r);
	}
}

void aodv_route_due(struct manet *m, struct aodv_route *r)
{
	if (r->ack_due <= m->now) { /* the reply was lost: the link works in one direction only (6.8) */
		r->ack_due = NEVER;
		r->shunned = m->now + param_ns(m, P_BLACKLIST_MS);
	}
	if (r->silent <= m->now) {
		r->silent = NEVER;
		aodv_link_lost(m, r->to, NULL);
	}
	if (r->to && r->expires <= m->now)
		aodv_expire(m, r);
	if (r->to)
		aodv_arm(m, r);
}

bool aodv_seen(struct manet *m, u32 originator, u32 id)
{
	struct aodv_seen *set = aodv_of(m)->seen, *oldest;
	u32 i;

	set += ((originator * 0x9e3779b1U ^ id * 0x85ebca6bU) >> 16) % (AODV_SEEN / AODV_SEEN_WAYS) * AODV_SEEN_WAYS;
	for (oldest = set, i = 0; i < AODV_SEEN_WAYS; i++) {
		if (set[i].until > m->now && set[i].originator == originator && set[i].id == id)
			return true;
		if (set[i].until < oldest->until)
			oldest = &set[i];
	}
	oldest->originator = originator;
	oldest->id = id;
	oldest->until = m->now + param_ns(m, P_PATH_DISCOVERY_MS);
	return false;
}

bool aodv_may(struct manet *m, struct aodv_rate *rate, u32 limit, u64 *again)
{
	u64 *oldest;

	if (!limit)
		return true;
	oldest = &rate->at[(rate->next + AODV_RATE - limit) % AODV_RATE];
	if (*oldest && m->now < *oldest + SECOND) {
		if (again)
			*again = *oldest + SECOND;
		return false;
	}
	rate->at[rate->next] = m->now ? m->now : 1;
	rate->next = (rate->next + 1) % AODV_RATE;
	return true;
}
