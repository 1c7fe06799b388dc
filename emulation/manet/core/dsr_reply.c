// SPDX-License-Identifier: GPL-2.0-only
/*
 * Received route requests (RFC 4728 section 8.2.2), and replies: from the target,
 * from a node that knows the rest of the route (8.2.3), after a delay in which a
 * better reply may be overheard (8.2.5), and from a node that finds a shorter
 * route (8.1.5). A reply takes the hops of the request back, because 802.11 needs
 * both directions.
 */
#include "dsr.h"

#define MOST_HELD_OFF 64

static u16 requester_slot(u32 address)
{
	return dsr_hash(address) % DSR_REQUESTERS;
}

/* Indices in the chains are one more than those in the table. */
static struct dsr_requester *requester_for(struct dsr *d, u32 address)
{
	u16 i = d->requester_hash[requester_slot(address)];

	while (i && d->requester[i - 1].address != address)
		i = d->requester[i - 1].next_hash;
	return i ? &d->requester[i - 1] : NULL;
}

static struct dsr_requester *requester_made(struct manet *m, u32 address)
{
	struct dsr *d = dsr_of(m);
	struct dsr_requester *r = &d->requester[0];
	u16 *at, index;
	u32 i;

	if (d->requesters < param(m, P_REQUEST_TABLE)) {
		r = &d->requester[d->requesters++];
	} else { /* the one with the oldest last request */
		for (i = 1; i < d->requesters; i++)
			if (d->requester[i].used < r->used)
				r = &d->requester[i];
		at = &d->requester_hash[requester_slot(r->address)];
		while (&d->requester[*at - 1] != r)
			at = &d->requester[*at - 1].next_hash;
		*at = r->next_hash;
	}
	index = r - d->requester;
	at = &d->requester_hash[requester_slot(address)];
	*r = (struct dsr_requester){ .address = address, .next_hash = *at };
	*at = index + 1;
	return r;
}

static bool is_known(const struct manet *m, const struct dsr_requester *r, u16 id, u32 target)
{
	u8 i;

	if (param(m, P_REQUEST_NEWEST))
		return r->count && (s16)(r->seen[(r->oldest + r->count - 1) % DSR_IDS].id - id) >= 0;
	for (i = 0; i < r->count; i++)
		if (r->seen[(r->oldest + i) % DSR_IDS].id == id && r->seen[(r->oldest + i) % DSR_IDS].target == target)
			return true;
	return false;
}

/* Return whether this request came before, and remember it. Numbers of different originators are never compared. */
static bool came_before(struct manet *m, u32 originator, u16 id, u32 target)
{
	struct dsr_requester *r = requester_for(dsr_of(m), originator);

	if (!r)
		r = requester_made(m, originator);
	r->used = m->now;
	if (is_known(m, r, id, target))
		return true;
	while (r->count >= param(m, P_REQUEST_IDS)) {
		r->oldest = (r->oldest + 1) % DSR_IDS;
		r->count--;
	}
	r->seen[(r->oldest + r->count++) % DSR_IDS] = (struct dsr_seen){ .id = id, .target = target };
	return false;
}

/* @way begins here; @reply ends here. */
static void send_reply(struct manet *m, const struct dsr_route *way, const struct dsr_route *reply, u64 delay)
{
	struct manet_packet *p = dsr_make_reply(m, way, reply);

	if (p)
		dsr_unicast(m, p, way->node[1], delay);
}

/* ---- replies that are held off ---- */

static void dsr_arm(struct manet *m)
{
	struct dsr *d = dsr_of(m);

	if (d->held_off.head)
		timer_set(m, &d->held_off_due, TIMER_HELD_OFF, d->held_off.head->since);
}

static void hold_off(struct manet *m, struct manet_packet *p, u32 next_hop, u32 target, u8 hops, u64 delay)
{
	struct manet_list later = { 0 }, *held = &dsr_of(m)->held_off;
	struct manet_packet *other;

	p->next_hop = next_hop;
	p->tag[0] = target;
	p->tag[1] = hops;
	p->since = m->now + delay;
	while (held->head && held->head->since <= p->since)
		list_add(&later, list_pop(held));
	list_add(&later, p);
	while ((other = list_pop(held)))
		list_add(&later, other);
	*held = later;
	dsr_arm(m);
}

void dsr_held_off_timer(struct manet *m)
{
	struct manet_list *held = &dsr_of(m)->held_off;

	while (held->head && held->head->since <= m->now) {
		struct manet_packet *p = list_pop(held);

		dsr_unicast(m, p, p->next_hop, 0);
	}
	dsr_arm(m);
}

void dsr_heard_use(struct manet *m, u32 source, u32 target, u8 hops)
{
	struct manet_list kept = { 0 }, *held = &dsr_of(m)->held_off;
	struct manet_packet *p;

	while ((p = list_pop(held))) {
		if (ip_destination(p->data) == source && p->tag[0] == target && hops <= p->tag[1])
			manet_drop(m, p, MANET_DUPLICATE);
		else
			list_add(&kept, p);
	}
	*held = kept;
}

/* ---- requests ---- */

static u64 other_jitter(struct manet *m)
{
	return param(m, P_OTHER_JITTER) ? manet_jitter(m) : 0;
}

/* false: this node does not know the rest of the route, or the route would have a loop. */
static bool reply_from_cache(struct manet *m, const struct dsr_route *so_far, const struct dsr_route *way, u32 target)
{
	struct dsr_route rest, all = *so_far;
	u64 unit = param_ns(m, P_REPLY_HOLDOFF_MS);
	struct manet_packet *p;

	if (!param(m, P_CACHED_REPLIES) || !dsr_find(m, target, &rest, false) || !dsr_join(m, &all, all.count - 1, &rest))
		return false;
	if (!unit || dsr_of(m)->held_off.count >= MOST_HELD_OFF) {
		send_reply(m, way, &all, other_jitter(m));
		return true;
	}
	p = dsr_make_reply(m, way, &all);
	if (p)
		hold_off(m, p, way->node[1], target, all.count - 1, unit * (all.count - 2) + manet_draw(m, unit));
	return true;
}

static void send_on(struct manet *m, struct manet_packet *p, struct dsr_options *o, u8 hops)
{
	u16 end = o->request + 2 + p->data[o->request + 1];

	if (hops >= param(m, P_HOPS_MOST) || p->len + 4U > param(m, P_LONGEST))
		return manet_drop(m, p, MANET_TOO_LONG);
	if (!ip_decrement_ttl(p->data))
		return manet_drop(m, p, MANET_TTL_EXPIRED);
	dsr_splice(p, o, end, 0, 4);
	put32(p->data + end, m->address);
	p->data[o->request + 1] += 4;
	manet_send_later(m, p, MANET_EVERYBODY, param(m, P_FORWARD_JITTER) ? manet_jitter(m) : 0);
}

/* The request is answered. Other content of the packet is for its target only. */
static void end_request(struct manet *m, struct manet_packet *p, const struct dsr_options *o, bool here)
{
	if (o->next_header == NO_NEXT_HEADER)
		return manet_drop(m, p, MANET_DONE);
	if (!here)
		return manet_drop(m, p, MANET_NO_ROUTE);
	dsr_take_header(p, o);
	ip_set_destination(p->data, m->address);
	manet_deliver(m, p);
}

void dsr_requested(struct manet *m, struct manet_packet *p, struct dsr_options *o, const struct dsr_route *so_far)
{
	u16 id = get16(p->data + o->request + 2);
	u32 target = get32(p->data + o->request + 4), originator = so_far->node[0];
	bool before = came_before(m, originator, id, target), here = target == m->address;
	struct dsr_route way = *so_far;

	if (before && !(here && param(m, P_REPLY_ALL)))
		return manet_drop(m, p, MANET_DUPLICATE);
	dsr_reverse(&way);
	if (here || param(m, P_LEARN_REQUESTS)) {
		dsr_learn(m, &way, here, 0);
		if (dsr_of(m)->buffer.count)
			dsr_release(m, originator, false);
	}
	if (here)
		send_reply(m, &way, so_far, manet_jitter(m));
	if (here || reply_from_cache(m, so_far, &way, target))
		return end_request(m, p, o, here);
	send_on(m, p, o, so_far->count - 1);
}

/* ---- shorter ways ---- */

void dsr_shorten(struct manet *m, const struct dsr_route *r, u8 heard, u8 here)
{
	struct dsr *d = dsr_of(m);
	struct dsr_route way = { .count = heard + 2 }, all = *r;
	struct dsr_gratuitous *g;
	u8 i;

	for (g = d->gratuitous; g < d->gratuitous + DSR_GRATUITOUS; g++)
		if (g->source == r->node[0] && g->heard == r->node[heard] && g->until > m->now)
			return;
	d->oldest_gratuitous = (d->oldest_gratuitous + 1) % DSR_GRATUITOUS;
	d->gratuitous[d->oldest_gratuitous] = (struct dsr_gratuitous){
		.source = r->node[0], .heard = r->node[heard], .until = m->now + param_ns(m, P_GRATUITOUS_HOLDOFF_MS),
	};
	way.node[0] = m->address;
	for (i = 0; i <= heard; i++)
		way.node[i + 1] = r->node[heard - i];
	all.count = heard + 1;
	while (here < r->count)
		all.node[all.count++] = r->node[here++];
	send_reply(m, &way, &all, other_jitter(m));
}
