// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic Source Routing (RFC 4728): the sender of a packet writes the whole route
 * into it. Routes are searched when they are needed, and learned from all packets
 * that are overheard.
 *
 * Events in the trace, besides dropped packets and control packets:
 *
 *	FOUND, CHANGED    when data goes: to, next hop, hops
 *	LOST_ROUTE        of a destination in use, when the cache has no route left: to, the last next hop
 *	BUFFERED          to; RELEASED  to, next hop, hops
 *	SEARCH            to, count: TTL, extra: the request's number; SEARCH_FAILED  to
 *	LINK_LOST         to: the neighbour
 *	SALVAGED          to, next hop, hops from here, count: times so far
 */
#include "dsr.h"

/* ---- from the host ---- */

/* A packet of another host is sent as a salvaged one, as if its route began here. */
void dsr_originate(struct manet *m, struct manet_packet *p, const struct dsr_route *r, u64 delay)
{
	bool own = ip_source(p->data) == m->address, acks = !param(m, P_FEEDBACK);
	bool header = r->count > 2 || !own || acks || param(m, P_HEADER_ONE_HOP);
	u32 more = header ? DSR_FIXED + 4 + 4 * (r->count - 2 + !own + acks) : 0;

	if (p->len + more > param(m, P_LONGEST))
		return manet_drop(m, p, MANET_TOO_LONG);
	if (own)
		dsr_uses(m, p, r);
	if (header)
		dsr_put_header(p, r, !own, own ? 0 : p->tag[1] + 1);
	dsr_unicast(m, p, r->node[1], delay);
}

static void dsr_output(struct manet *m, struct manet_packet *p)
{
	struct dsr_route r;

	if (ip_destination(p->data) == m->address)
		return manet_deliver(m, p);
	if (dsr_find(m, ip_destination(p->data), &r, true))
		return dsr_originate(m, p, &r, 0);
	dsr_wait(m, p);
}

/* ---- from the radio ---- */

static void read_errors(struct manet *m, const u8 *ip, const struct dsr_options *o, bool overheard)
{
	u16 at;

	for (at = o->error; at; at = dsr_next(ip, o, at))
		if (get32(ip + at + 8) == m->address || param(m, P_HEAR_ERRORS) > overheard)
			dsr_error_came(m, ip, at);
}

static void read_replies(struct manet *m, const u8 *ip, const struct dsr_options *o, bool overheard)
{
	bool asked = !overheard && ip_destination(ip) == m->address;
	struct dsr_route r, found;
	u32 target;
	u16 at;

	for (at = o->reply; at; at = dsr_next(ip, o, at)) {
		if (!dsr_reply_in(m, ip, at, &r) || !(asked || param(m, P_LEARN_REPLIES) > overheard))
			continue;
		dsr_learn(m, &r, asked, 0);
		target = r.node[r.count - 1];
		if (!asked || !dsr_find(m, target, &found, false))
			continue;
		dsr_found(m, target);
		dsr_release(m, target, true);
	}
}

/* A packet may wait for what was learned. */
static void dsr_after(struct manet *m)
{
	struct dsr *d = dsr_of(m);

	if (d->news && param(m, P_RELEASE_ALL) && d->buffer.count)
		dsr_release(m, 0, false);
	d->news = false;
}

static void request_came(struct manet *m, struct manet_packet *p, struct dsr_options *o, const u8 *from)
{
	struct dsr_route r;

	if (o->route || ip_source(p->data) == m->address)
		return manet_drop(m, p, o->route ? MANET_MALFORMED : MANET_DUPLICATE);
	if (!dsr_request_in(m, p->data, o, &r))
		return manet_drop(m, p, dsr_place(&r, m->address) + 1 < r.count ? MANET_DUPLICATE : MANET_MALFORMED);
	neighbour_heard(m, r.node[r.count - 2], from);
	read_errors(m, p->data, o, false);
	dsr_requested(m, p, o, &r);
}

static void send_ack(struct manet *m, u32 to, u16 id)
{
	struct manet_packet *p = dsr_make_ack(m, to, id);

	if (p)
		dsr_unicast(m, p, to, manet_jitter(m));
}

static void read_acks(struct manet *m, const u8 *ip, const struct dsr_options *o, u32 sender)
{
	u16 at;

	for (at = o->ack; at; at = dsr_next(ip, o, at))
		if (get32(ip + at + 8) == m->address)
			dsr_ack_came(m, get32(ip + at + 4), get16(ip + at + 2));
	if (o->ack_request && sender)
		send_ack(m, sender, get16(ip + o->ack_request + 2));
}

/* Deliver the packet, or send it to the node after @here of @r. */
static void go_on(struct manet *m, struct manet_packet *p, const struct dsr_options *o, const struct dsr_route *r, u8 here)
{
	if (ip_destination(p->data) == m->address) {
		if (o->next_header == NO_NEXT_HEADER)
			return manet_drop(m, p, MANET_DONE);
		dsr_take_header(p, o);
		return manet_deliver(m, p);
	}
	if (!ip_decrement_ttl(p->data))
		return manet_drop(m, p, MANET_TTL_EXPIRED);
	m->counters.forwarded += p->kind == MANET_DATA;
	dsr_set_left(p, o, dsr_left(p->data, o) - 1);
	dsr_unicast(m, p, r->node[here + 1], 0);
}

static void options_came(struct manet *m, struct manet_packet *p, const struct dsr_options *o, const u8 *from)
{
	struct dsr_route r = { .count = 2, .node = { ip_source(p->data), ip_destination(p->data) } };
	u8 here = 1;
	u32 sender;

	if (o->route && !dsr_route_in(m, p->data, o, &r, &here))
		return manet_drop(m, p, MANET_MALFORMED);
	sender = here ? r.node[here - 1] : MANET_NOBODY;
	if (r.node[here] != m->address || sender == m->address)
		return manet_drop(m, p, MANET_NOT_OURS);
	if (sender)
		neighbour_heard(m, sender, from);
	if (o->route && param(m, P_LEARN_ROUTES))
		dsr_learn(m, &r, false, sender);
	read_errors(m, p->data, o, false);
	read_replies(m, p->data, o, false);
	read_acks(m, p->data, o, sender);
	go_on(m, p, o, &r, here);
}

static void dsr_input(struct manet *m, struct manet_packet *p, const u8 *from)
{
	struct dsr_options o;

	p->len = get16(p->data + 2);
	if (ip_protocol(p->data) != IP_DSR) {
		if (ip_source(p->data) != m->address)
			neighbour_heard(m, ip_source(p->data), from);
		if (manet_is_ours(m, ip_destination(p->data)))
			return manet_deliver(m, p);
		return manet_drop(m, p, MANET_NOT_OURS);
	}
	if (!dsr_parse(p->data, p->len, false, &o))
		return manet_drop(m, p, MANET_MALFORMED);
	p->kind = o.kind;
	if (p->kind != MANET_DATA) {
		m->counters.got[p->kind]++;
		manet_tell(m, MANET_GOT_CONTROL, p, ip_destination(p->data), MANET_NOBODY, 0, 0, 0);
	}
	if (o.request)
		request_came(m, p, &o, from);
	else
		options_came(m, p, &o, from);
	dsr_after(m);
}

static void dsr_overheard(struct manet *m, const u8 *bytes, u16 len, const u8 *from)
{
	struct dsr *d = dsr_of(m);
	struct dsr_options o;
	struct dsr_route r;
	u8 next, here;
	u32 sender;

	if (ip_protocol(bytes) != IP_DSR || !dsr_parse(bytes, len, true, &o) || !o.route ||
	    !dsr_route_in(m, bytes, &o, &r, &next) || !next)
		return;
	sender = r.node[next - 1];
	if (sender == m->address || r.node[next] == m->address)
		return;
	neighbour_heard(m, sender, from);
	if (d->unconfirmed.count && param(m, P_PASSIVE_ACKS))
		dsr_passed_on(m, sender, bytes, &o);
	if (param(m, P_LEARN_ROUTES) == 2)
		dsr_learn(m, &r, false, sender);
	read_errors(m, bytes, &o, true);
	read_replies(m, bytes, &o, true);
	here = dsr_place(&r, m->address);
	if (here > next && here < r.count && param(m, P_GRATUITOUS) > (o.kind != MANET_DATA))
		dsr_shorten(m, &r, next - 1, here);
	if (d->held_off.count && o.kind == MANET_DATA)
		dsr_heard_use(m, r.node[0], r.node[r.count - 1], r.count - 1);
	dsr_after(m);
}

static void dsr_lost(struct manet *m, struct manet_packet *p)
{
	if (param(m, P_FEEDBACK))
		dsr_failed(m, p);
	else
		dsr_lost_unconfirmed(m, p);
}

/* ---- */

static void dsr_timer(struct manet *m, struct manet_timer *t)
{
	switch (t->kind) {
	case TIMER_LINKS:
		links_expire(m);
		return dsr_tell_lost(m);
	case TIMER_BUFFER:
		return dsr_buffer_timer(m);
	case TIMER_SEARCH:
		return dsr_search_timer(m, (struct dsr_search *)t);
	case TIMER_HELD_OFF:
		return dsr_held_off_timer(m);
	case TIMER_NEIGHBOUR:
		return dsr_neighbour_timer(m, (struct dsr_neighbour *)t);
	}
}

static void dsr_start(struct manet *m)
{
	struct dsr *d = dsr_of(m);

	memset(d, 0, sizeof(*d));
	links_start(m);
	d->request_id = manet_draw(m, 0x10000); /* after a restart other nodes still remember the last numbers */
}

static void drop_all(struct manet *m, struct manet_list *list, enum manet_reason why)
{
	struct manet_packet *p;

	while ((p = list_pop(list)))
		manet_drop(m, p, why);
}

static void dsr_stop(struct manet *m)
{
	struct dsr *d = dsr_of(m);

	drop_all(m, &d->buffer, MANET_GONE);
	drop_all(m, &d->held_off, MANET_GONE);
	drop_all(m, &d->unconfirmed, MANET_DONE); /* copies */
}

static u32 dsr_hops(const struct manet *m, u32 to)
{
	struct dsr_route r;
	const struct dsr_used *u;

	if (dsr_find((struct manet *)m, to, &r, false))
		return r.count - 1;
	u = dsr_used_for(m, to);
	return u ? u->hops : 0;
}

const struct manet_protocol dsr_protocol = {
	.name = "dsr",
	.size = sizeof(struct dsr),
	.overhead = DSR_FIXED + 4 + 4 * DSR_HOPS + 4, /* of a salvaged packet, with a request for an acknowledgment */
	.parameters = dsr_parameters,
	.n_parameters = DSR_PARAMETERS,
	.states = dsr_states,
	.start = dsr_start,
	.stop = dsr_stop,
	.output = dsr_output,
	.input = dsr_input,
	.overheard = dsr_overheard,
	.lost = dsr_lost,
	.timer = dsr_timer,
	.hops = dsr_hops,
	.dump = dsr_dump,
};
