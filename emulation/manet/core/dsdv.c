// SPDX-License-Identifier: GPL-2.0-only
/*
 * DSDV: destination-sequenced distance vectors (Perkins and Bhagwat, SIGCOMM 1994),
 * with additions from ns-2: values, which the paper lacks, and packets that wait for
 * a route. Each destination numbers its routes, and a route with a later number always
 * replaces the old one, so there are no loops. docs/routing/dsdv.md has details.
 *
 *	event           destination  next hop   hops  count        extra
 *	FOUND, CHANGED  the node     the next   its   -            its number
 *	LOST_ROUTE      the node     -          -     -            its number, odd
 *	LINK_FOUND      neighbour    the same   1     -            -
 *	LINK_LOST       neighbour    the same   -     1: feedback  -
 *	BUFFERED        the packet's -          -     waiting      -
 *	RELEASED        the packet's the next   its   left         -
 *	GOT_CONTROL     as in IP     -          -     entries      -
 */
#include "dsdv.h"

static const char *const states[] = { "settled", "settling", "broken", NULL };

enum { SETTLED, SETTLING, BROKEN };

enum { TAG_FORWARDED }; /* p->tag: the packet is another node's */

static void dsdv_start(struct manet *m)
{
	dsdv_clear(m);
}

static void dsdv_stop(struct manet *m)
{
	struct dsdv *s = dsdv(m);
	struct manet_packet *p;
	u16 i;

	for (i = 0; i < s->used; i++)
		while ((p = list_pop(&s->route[i].waiting)))
			manet_drop(m, p, MANET_GONE);
}

static void send_by(struct manet *m, struct manet_packet *p, u32 via)
{
	if (p->tag[TAG_FORWARDED])
		manet_forward(m, p, via);
	else
		manet_send(m, p, via);
}

void dsdv_release(struct manet *m, struct dsdv_route *r)
{
	struct manet_list waiting = r->waiting;
	struct manet_packet *p;

	memset(&r->waiting, 0, sizeof(r->waiting));
	while ((p = list_pop(&waiting))) {
		manet_tell(m, MANET_RELEASED, p, r->to, r->via, r->hops, waiting.count, 0);
		send_by(m, p, r->via);
	}
}

static void wait_for_way(struct manet *m, struct manet_packet *p)
{
	struct dsdv_route *r = param(m, P_BUFFER) ? dsdv_know(m, ip_destination(p->data)) : NULL;

	if (!r)
		return manet_drop(m, p, MANET_NO_ROUTE);
	list_add(&r->waiting, p);
	manet_tell(m, MANET_BUFFERED, p, r->to, MANET_NOBODY, 0, r->waiting.count, 0);
	while (r->waiting.count > param(m, P_BUFFER))
		manet_drop(m, list_pop(&r->waiting), MANET_BUFFER_FULL);
}

static void send_on(struct manet *m, struct manet_packet *p)
{
	const struct dsdv_route *r = dsdv_find(m, ip_destination(p->data));

	if (r && dsdv_is_way(r))
		send_by(m, p, r->via);
	else
		wait_for_way(m, p);
}

static void dsdv_output(struct manet *m, struct manet_packet *p)
{
	send_on(m, p);
}

static void dsdv_input(struct manet *m, struct manet_packet *p, const u8 *from)
{
	const u8 *bytes;
	u16 len;

	if (!manet_is_ours(m, ip_destination(p->data))) {
		p->tag[TAG_FORWARDED] = true;
		return ip_ttl(p->data) > 1 ? send_on(m, p) : manet_drop(m, p, MANET_TTL_EXPIRED);
	}
	bytes = udp_read(p, DSDV_PORT, &len);
	if (!bytes)
		return manet_deliver(m, p);
	if (ip_source(p->data) == MANET_NOBODY || manet_is_ours(m, ip_source(p->data)))
		return manet_drop(m, p, MANET_NOT_OURS);
	neighbour_heard(m, ip_source(p->data), from);
	p->kind = MANET_UPDATE;
	manet_drop(m, p, dsdv_read(m, p, bytes, len) ? MANET_DONE : MANET_MALFORMED);
}

/*
 * Without feedback only this packet is lost. With feedback, the packets for this neighbour take
 * another route, or wait.
 */
static void dsdv_lost(struct manet *m, struct manet_packet *p)
{
	u32 broken = p->next_hop;
	struct manet_list waiting;

	if (!param(m, P_FEEDBACK))
		return manet_drop(m, p, MANET_LINK_BROKEN);
	dsdv_link_lost(m, broken, true);
	waiting = queue_take_hop(m, broken);
	do {
		p->tag[TAG_FORWARDED] = false; /* its TTL has been decremented already */
		if (p->kind == MANET_DATA)
			send_on(m, p);
		else
			manet_drop(m, p, MANET_LINK_BROKEN);
	} while ((p = list_pop(&waiting)));
}

static u32 dsdv_hops(const struct manet *m, u32 to)
{
	const struct dsdv_route *r = dsdv_find(m, to);

	return r && dsdv_is_way(r) ? r->hops : 0;
}

static bool dump_route(const struct manet *m, const struct dsdv_route *r, u32 what, struct manet_entry *e)
{
	*e = (struct manet_entry){ .to = r->to, .via = r->via, .hops = dsdv_is_way(r) ? r->hops : 0,
				   .sequence = r->sequence, .valid = dsdv_is_way(r), .until = NEVER };
	switch (what) {
	case 0:
		e->kind = MANET_ROUTE;
		e->state = !dsdv_is_way(r) ? BROKEN : r->settled_at > m->now ? SETTLING : SETTLED;
		e->until = e->state == SETTLING ? r->settled_at : NEVER;
		return r->heard;
	case 1:
		e->kind = MANET_NEIGHBOUR;
		e->via = r->to;
		e->until = r->silent_at;
		return r->silent_at;
	default:
		e->kind = MANET_PENDING;
		e->waiting = r->waiting.count;
		return r->waiting.count;
	}
}

static bool dsdv_dump(const struct manet *m, u32 *cursor, struct manet_entry *e)
{
	u32 others = dsdv(m)->used ? dsdv(m)->used - 1 : 0;
	bool found = false;

	for (; !found && *cursor < 3 * others; ++*cursor)
		found = dump_route(m, &dsdv(m)->route[1 + *cursor / 3], *cursor % 3, e);
	return found;
}

static const struct manet_parameter parameters[] = {
	PARAMETER_QUEUE, PARAMETER_ROUTING_FIRST(1), PARAMETER_JITTER(10, 10, 10), PARAMETER_ORPHAN, PARAMETER_TELL, /* ns-2's DSDV_BROADCAST_JITTER */
	{ "update_interval_ms", 100, 600000, { 15000, 15000, 15000 },
	  "between full updates; ns-2 perup_" },
	{ "update_jitter_ms", 0, 600000, { 3750, 3750, 3750 }, "less than that by up to; ns-2: a fourth" },
	{ "start_jitter_ms", 0, 60000, { 2000, 2000, 2000 }, "before the first; ns-2 DSDV_STARTUP_JITTER" },
	{ "min_update_interval_ms", 0, 60000, { 1000, 1000, 1000 },
	  "between updates at least; ns-2 DSDV_MIN_TUP_PERIOD" },
	{ "missed_updates", 1, 100, { 3, 3, 3 }, "and the link is lost; ns-2 min_update_periods_" },
	{ "settling_ms", 0, 600000, { 6000, 6000, 6000 },
	  "at first; twice that is waited; ns-2 wst0_" },
	{ "settling_weight", 0, 256, { 224, 224, 224 },
	  "256ths of the old settling time; 7/8: ns-2 alpha_" },
	{ "trigger", 0, 2, { 1, 0, 0 },
	  "an update for a later number 0: never (ns-2), 1: if the hops change (the paper), 2: always (DSDV-SQ)" },
	{ "buffer", 0, 1000, { 5, 5, 5 }, "packets that wait for a way, each destination; ns-2" },
	{ "feedback", 0, 1, { 0, 0, 0 }, "a frame that is never acknowledged ends the link; ns-2 use_mac_" },
};

const struct manet_protocol dsdv_protocol = {
	.name = "dsdv",
	.size = sizeof(struct dsdv),
	.parameters = parameters,
	.n_parameters = ARRAY_SIZE(parameters),
	.states = states,
	.start = dsdv_start,
	.stop = dsdv_stop,
	.output = dsdv_output,
	.input = dsdv_input,
	.lost = dsdv_lost,
	.timer = dsdv_timer,
	.hops = dsdv_hops,
	.dump = dsdv_dump,
};
