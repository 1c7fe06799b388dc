// SPDX-License-Identifier: GPL-2.0-only
/*
 * DSDV's table and its updates. A newer route replaces an older one; of equally
 * new routes, the shorter one is used. A route is announced after a time in which
 * it could become the best of its number (settling). The loss of a route is
 * announced at once.
 */
#include "dsdv.h"

#define MOST_ENTRIES ((MANET_MTU - IP_HEADER - UDP_HEADER) / DSDV_ENTRY) /* in one packet */

static u16 *dsdv_bucket(const struct manet *m, u32 to)
{
	return &dsdv(m)->bucket[(to * 0x9e3779b1U >> 16) % DSDV_ROUTES];
}

struct dsdv_route *dsdv_find(const struct manet *m, u32 to)
{
	u16 at = *dsdv_bucket(m, to);

	while (at != DSDV_NONE && dsdv(m)->route[at].to != to)
		at = dsdv(m)->route[at].chain;
	return at == DSDV_NONE ? NULL : &dsdv(m)->route[at];
}

/* Replace the destination that changed longest ago, of those without a route and without packets. */
static struct dsdv_route *make_room(struct manet *m)
{
	struct dsdv *s = dsdv(m);
	struct dsdv_route *oldest = NULL;
	u16 *at, i;

	if (s->used < DSDV_ROUTES)
		return &s->route[s->used++];
	for (i = 1; i < DSDV_ROUTES; i++) {
		struct dsdv_route *r = &s->route[i];

		if (!dsdv_is_way(r) && !r->waiting.count && !r->silent_at && (!oldest || r->changed < oldest->changed))
			oldest = r;
	}
	if (!oldest)
		return NULL;
	for (at = dsdv_bucket(m, oldest->to); &s->route[*at] != oldest; at = &s->route[*at].chain)
		;
	*at = oldest->chain;
	return oldest;
}

struct dsdv_route *dsdv_know(struct manet *m, u32 to)
{
	struct dsdv_route *r = dsdv_find(m, to);

	if (r)
		return r;
	r = make_room(m);
	if (!r)
		return NULL;
	*r = (struct dsdv_route){
		.to = to, .hops = DSDV_FAR, .told_hops = DSDV_FAR, .chain = *dsdv_bucket(m, to), .changed = m->now,
		.new_sequence = m->now, .settling = param_ns(m, P_SETTLING_MS), .settled_at = NEVER,
		.trigger_at = NEVER,
	};
	*dsdv_bucket(m, to) = r - dsdv(m)->route;
	return r;
}

void dsdv_clear(struct manet *m)
{
	struct dsdv *s = dsdv(m);
	struct dsdv_route *self;

	memset(s, 0, sizeof(*s));
	memset(s->bucket, 0xff, sizeof(s->bucket));
	self = dsdv_know(m, m->address); /* becomes DSDV_SELF */
	self->heard = true;
	self->hops = 0;
	self->via = m->address;
	self->settled_at = 0;
	timer_set(m, &s->periodic, TIMER_PERIODIC, m->now + manet_draw(m, param_ns(m, P_START_JITTER_MS) + 1));
}

static void dsdv_trigger(struct manet *m, struct dsdv_route *r, u64 at)
{
	struct manet_timer *t = &dsdv(m)->triggered;

	r->trigger_at = at;
	if (!t->set || at < t->at)
		timer_set(m, t, TIMER_TRIGGERED, at);
}

static void set_way(struct manet *m, struct dsdv_route *r, u32 via, u8 hops, u32 sequence)
{
	bool was = dsdv_is_way(r), same = r->via == via && r->hops == hops;

	r->via = via;
	r->hops = hops;
	r->sequence = sequence;
	r->heard = true;
	r->changed = m->now;
	if (dsdv_is_way(r) && !(was && same))
		manet_tell(m, was ? MANET_CHANGED : MANET_FOUND, NULL, r->to, via, hops, 0, sequence);
	else if (was && !dsdv_is_way(r))
		manet_tell(m, MANET_LOST_ROUTE, NULL, r->to, MANET_NOBODY, 0, 0, sequence);
	if (dsdv_is_way(r) && r->waiting.count)
		dsdv_release(m, r);
}

/* It has a newer number: how long did the routes of the previous one take to settle? */
static void begin_sequence(struct manet *m, struct dsdv_route *r)
{
	u32 weight = param(m, P_SETTLING_WEIGHT);

	r->settling = (r->settling * weight + (r->changed - r->new_sequence) * (256 - weight)) >> 8;
	r->new_sequence = m->now;
	r->tell_sequence = true;
}

/* Another node announces a later number for this node: exceed it. */
static void dsdv_correct(struct manet *m, u32 sequence)
{
	struct dsdv *s = dsdv(m);
	u64 at = s->last_update + param_ns(m, P_MIN_UPDATE_INTERVAL_MS);

	if ((s32)(sequence - s->route[DSDV_SELF].sequence) <= 0)
		return;
	s->route[DSDV_SELF].sequence = sequence + (sequence & 1);
	if (at < s->periodic.at)
		timer_set(m, &s->periodic, TIMER_PERIODIC, at > m->now ? at : m->now);
}

static void read_entry(struct manet *m, u32 from, u32 to, u8 hops, u32 sequence)
{
	struct dsdv_route *r = dsdv_find(m, to);
	bool far = hops == DSDV_FAR, settle;
	s32 newer;

	if (!r || !r->heard) {
		r = far ? NULL : dsdv_know(m, to);
		if (!r)
			return;
		r->new_sequence = m->now;
		r->tell_hops = true;
		r->settled_at = m->now + 2 * r->settling;
		set_way(m, r, from, hops, sequence);
		return dsdv_trigger(m, r, r->settled_at);
	}
	newer = sequence - r->sequence;
	if (newer < 0 && far && dsdv_is_way(r)) { /* they have old information */
		r->settled_at = m->now;
		r->tell_hops = true;
		dsdv_trigger(m, r, m->now);
	}
	if (newer < 0 || (!newer && hops >= r->hops))
		return;
	settle = !far && dsdv_is_way(r);
	if (newer)
		begin_sequence(m, r);
	set_way(m, r, from, hops, sequence);
	r->settled_at = settle ? m->now + 2 * r->settling : m->now;
	r->tell_hops = hops != r->told_hops;
	if (r->tell_hops ? !newer || param(m, P_TRIGGER) : param(m, P_TRIGGER) == 2)
		dsdv_trigger(m, r, r->settled_at);
}

/* false: there is no room for it, so nothing would notice its loss. */
static bool neighbour_is_there(struct manet *m, u32 neighbour)
{
	struct dsdv_route *r = dsdv_know(m, neighbour);

	if (!r)
		return false;
	if (!r->silent_at)
		manet_tell(m, MANET_LINK_FOUND, NULL, neighbour, neighbour, 1, 0, 0);
	r->silent_at = m->now + param(m, P_MISSED_UPDATES) * param_ns(m, P_UPDATE_INTERVAL_MS);
	if (!dsdv(m)->silence.set || r->silent_at < dsdv(m)->silence.at)
		timer_set(m, &dsdv(m)->silence, TIMER_SILENCE, r->silent_at);
	return true;
}

bool dsdv_read(struct manet *m, struct manet_packet *p, const u8 *bytes, u16 len)
{
	u32 from = ip_source(p->data), at, to, hops, sequence;
	struct dsdv_route *r;

	if (!len || len % DSDV_ENTRY)
		return false;
	m->counters.got[p->kind]++;
	manet_tell(m, MANET_GOT_CONTROL, p, ip_destination(p->data), MANET_NOBODY, 0, len / DSDV_ENTRY, 0);
	if (!neighbour_is_there(m, from))
		return true;
	for (at = 0; at < len; at += DSDV_ENTRY) {
		to = get32(bytes + at);
		hops = get32(bytes + at + 4);
		sequence = get32(bytes + at + 8);
		if (hops >= DSDV_FAR - 1 || sequence & 1) {
			hops = DSDV_FAR - 1;
			sequence |= 1;
		}
		if (to == m->address)
			dsdv_correct(m, sequence);
		else if (to != MANET_NOBODY && !manet_is_ours(m, to))
			read_entry(m, from, to, hops + 1, sequence);
	}
	r = dsdv_find(m, from);
	if (r && !r->heard) { /* it did not announce itself; use this until it does */
		set_way(m, r, from, 1, 0);
		r->settled_at = NEVER;
	}
	return true;
}

static bool is_to_tell(const struct manet *m, const struct dsdv_route *r, bool full)
{
	return r->heard && r->settled_at <= m->now && (full || r->tell_sequence || r->tell_hops);
}

static u32 count_to_tell(const struct manet *m, bool full)
{
	u32 count = 0, i;

	for (i = 0; i < dsdv(m)->used; i++)
		count += is_to_tell(m, &dsdv(m)->route[i], full);
	return count;
}

/* Send one packet of @count entries, from the *@next route on. */
static void send_entries(struct manet *m, u16 *next, u32 count, bool full, u64 after)
{
	struct manet_packet *p = udp_make(m, MANET_UPDATE, DSDV_PORT, MANET_EVERYBODY, 1, count * DSDV_ENTRY);
	u8 *at = p ? udp_payload(p) : NULL;

	for (; count; ++*next) {
		struct dsdv_route *r = &dsdv(m)->route[*next];

		if (!is_to_tell(m, r, full))
			continue;
		count--;
		r->told_hops = r->hops;
		r->tell_sequence = false;
		if (full)
			r->tell_hops = false;
		if (!at)
			continue;
		put32(at, r->to);
		put32(at + 4, r->hops);
		put32(at + 8, r->sequence);
		at += DSDV_ENTRY;
	}
	if (!p)
		return;
	udp_finish(p);
	manet_send_later(m, p, MANET_EVERYBODY, after);
}

/* Send the changes, if they are few, or else all routes. Changed metrics are in all updates until a full one. */
static void send_update(struct manet *m, bool full)
{
	struct dsdv *s = dsdv(m);
	u32 changes = count_to_tell(m, false), count;
	u64 after = manet_jitter(m), jitter, half = param_ns(m, P_UPDATE_INTERVAL_MS) / 2;
	u16 next = 0;

	full |= changes > 3 && 3 * changes > s->used;
	if (full) {
		s->route[DSDV_SELF].sequence += 2;
		jitter = manet_draw(m, param_ns(m, P_UPDATE_JITTER_MS) + 1);
		timer_set(m, &s->periodic, TIMER_PERIODIC, m->now + 2 * half - (jitter < half ? jitter : half));
	}
	s->last_update = m->now;
	for (changes = count_to_tell(m, full); changes; changes -= count) {
		count = changes < MOST_ENTRIES ? changes : MOST_ENTRIES;
		send_entries(m, &next, count, full, after);
	}
}

static void dsdv_triggered(struct manet *m)
{
	struct dsdv *s = dsdv(m);
	u64 at = s->last_update + param_ns(m, P_MIN_UPDATE_INTERVAL_MS), next = NEVER;
	u16 i;

	if (s->last_update && at > m->now)
		return timer_set(m, &s->triggered, TIMER_TRIGGERED, at);
	for (i = 0; i < s->used; i++) {
		if (s->route[i].trigger_at <= m->now)
			s->route[i].trigger_at = NEVER;
		else if (s->route[i].trigger_at < next)
			next = s->route[i].trigger_at;
	}
	if (count_to_tell(m, false))
		send_update(m, false);
	if (next != NEVER)
		timer_set(m, &s->triggered, TIMER_TRIGGERED, next);
}

void dsdv_link_lost(struct manet *m, u32 neighbour, bool by_feedback)
{
	struct dsdv *s = dsdv(m);
	struct dsdv_route *r = dsdv_find(m, neighbour);
	u16 i;

	if (r && r->silent_at) {
		r->silent_at = 0;
		manet_tell(m, MANET_LINK_LOST, NULL, neighbour, neighbour, 0, by_feedback, 0);
	}
	for (i = 1; i < s->used; i++) {
		r = &s->route[i];
		if (r->via != neighbour || !dsdv_is_way(r))
			continue;
		set_way(m, r, neighbour, DSDV_FAR, r->sequence + 1);
		r->tell_hops = true;
		r->tell_sequence = true;
		r->settled_at = m->now;
		dsdv_trigger(m, r, m->now);
	}
}

static void dsdv_silence(struct manet *m)
{
	struct dsdv *s = dsdv(m);
	u64 next = NEVER;
	u16 i;

	for (i = 1; i < s->used; i++) {
		if (s->route[i].silent_at && s->route[i].silent_at <= m->now)
			dsdv_link_lost(m, s->route[i].to, false);
		if (s->route[i].silent_at && s->route[i].silent_at < next)
			next = s->route[i].silent_at;
	}
	if (next != NEVER)
		timer_set(m, &s->silence, TIMER_SILENCE, next);
}

void dsdv_timer(struct manet *m, struct manet_timer *t)
{
	if (t->kind == TIMER_PERIODIC)
		send_update(m, true);
	else if (t->kind == TIMER_TRIGGERED)
		dsdv_triggered(m);
	else
		dsdv_silence(m);
}
