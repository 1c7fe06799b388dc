// SPDX-License-Identifier: GPL-2.0-only
/*
 * OLSR (RFC 3626) over one radio: relaying, and the times of messages. All nodes
 * know the links of the multipoint relays, so each computes its shortest paths
 * itself. No packet waits for a route, and a link is lost when its HELLOs are.
 *
 * MIDs are read and relayed, HNAs relayed; a node sends neither, because it has one
 * interface here. docs/routing/olsr.md compares the presets.
 *
 *	event           destination  next hop   hops  count        extra
 *	FOUND, CHANGED  the node     the next   its   -            -
 *	LOST_ROUTE      the node     -          -     -            -
 *	LINK_FOUND      neighbour    the same   1     -            -
 *	LINK_LOST       neighbour    the same   -     1: feedback  -
 *	SALVAGED        the packet's new        its   -            -
 *	GOT_CONTROL     as in IP     -          -     messages     the packet's number
 */
#include "olsr.h"

static const char *const states[] = {
	"", "asymmetric", "symmetric", "mpr", "selector", "mpr and selector", "lost", "two hops", "topology", NULL
};

enum { NO_STATE, ASYMMETRIC, SYMMETRIC, MPR, SELECTOR, MPR_AND_SELECTOR, LOST, TWO_HOPS, TOPOLOGY };

/* Compute the routes once, after all changes that came together. */
static void olsr_settle(struct manet *m)
{
	if (olsr(m)->routes_old)
		olsr_find_routes(m);
}

void olsr_advertised_changed(struct manet *m, bool by_failure)
{
	struct olsr *s = olsr(m);
	u64 at;

	if (param(m, P_IMMEDIATE_TC) < 2 && !(by_failure && param(m, P_IMMEDIATE_TC)))
		return;
	at = s->last_tc + param_ns(m, P_TC_MIN_INTERVAL_MS);
	if (!s->last_tc || at < m->now)
		at = m->now;
	if (at < s->tc.at)
		timer_set(m, &s->tc, TIMER_TC, at);
}

/* 3.6: an interval minus a jitter of at most half of it. */
static u64 olsr_interval(struct manet *m, u32 parameter)
{
	u64 jitter = manet_jitter(m), half = param_ns(m, parameter) / 2;

	return param_ns(m, parameter) - (jitter < half ? jitter : half);
}

static void olsr_start(struct manet *m)
{
	struct olsr *s = olsr(m);

	olsr_clear(m);
	timer_set(m, &s->hello, TIMER_HELLO, m->now + manet_jitter(m));
	timer_set(m, &s->tc, TIMER_TC, m->now + olsr_interval(m, P_TC_INTERVAL_MS));
}

static void olsr_stop(struct manet *m)
{
}

static void olsr_timer(struct manet *m, struct manet_timer *t)
{
	struct olsr *s = olsr(m);

	switch (t->kind) {
	case TIMER_HELLO:
		timer_set(m, &s->hello, TIMER_HELLO, m->now + olsr_interval(m, P_HELLO_INTERVAL_MS));
		olsr_send_hello(m);
		break;
	case TIMER_TC:
		timer_set(m, &s->tc, TIMER_TC, m->now + olsr_interval(m, P_TC_INTERVAL_MS));
		olsr_send_tc(m);
		break;
	case TIMER_PENDING:
		olsr_flush(m);
		break;
	case TIMER_EXPIRE:
		olsr_expire(m);
		olsr_settle(m);
		break;
	}
}

/* The first hop to this address, or MANET_NOBODY. */
static u32 next_hop(const struct manet *m, u32 to, u32 *hops)
{
	u16 number = olsr_find(m, to);
	const struct olsr_node *n;

	if (number == OLSR_NONE)
		return MANET_NOBODY;
	n = olsr_node(m, number);
	*hops = n->hops;
	return n->hops ? olsr_node(m, n->via)->interface : MANET_NOBODY;
}

static void send_on(struct manet *m, struct manet_packet *p, void (*send)(struct manet *, struct manet_packet *, u32))
{
	u32 hops, via = next_hop(m, ip_destination(p->data), &hops);

	if (via == MANET_NOBODY)
		return manet_drop(m, p, MANET_NO_ROUTE);
	send(m, p, via);
}

static void olsr_output(struct manet *m, struct manet_packet *p)
{
	send_on(m, p, manet_send);
}

static void olsr_input(struct manet *m, struct manet_packet *p, const u8 *from)
{
	const u8 *bytes;
	u16 len;
	bool sound;

	if (!manet_is_ours(m, ip_destination(p->data)))
		return send_on(m, p, manet_forward);
	bytes = udp_read(p, OLSR_PORT, &len);
	if (!bytes)
		return manet_deliver(m, p);
	if (ip_source(p->data) == m->address)
		return manet_drop(m, p, MANET_NOT_OURS);
	neighbour_heard(m, ip_source(p->data), from);
	p->kind = MANET_HELLO;
	sound = olsr_read(m, p, bytes, len);
	olsr_settle(m);
	manet_drop(m, p, sound ? MANET_DONE : MANET_MALFORMED);
}

/* Send it by another route, if there is one. */
static void olsr_salvage(struct manet *m, struct manet_packet *p, u32 not_by, enum manet_reason or)
{
	u32 hops, via = next_hop(m, ip_destination(p->data), &hops);

	if (p->kind != MANET_DATA || via == MANET_NOBODY || via == not_by)
		return manet_drop(m, p, or);
	manet_tell(m, MANET_SALVAGED, p, ip_destination(p->data), via, hops, 0, 0);
	manet_send(m, p, via);
}

/* Without feedback only this packet is lost. */
static void olsr_lost(struct manet *m, struct manet_packet *p)
{
	u32 broken = p->next_hop;
	struct manet_list waiting;
	u16 number = olsr_find(m, broken);

	if (!param(m, P_FEEDBACK))
		return manet_drop(m, p, MANET_LINK_BROKEN);
	if (number != OLSR_NONE)
		olsr_link_failed(m, number);
	olsr_settle(m);
	waiting = queue_take_hop(m, broken);
	olsr_salvage(m, p, broken, MANET_LINK_BROKEN);
	while ((p = list_pop(&waiting)))
		olsr_salvage(m, p, broken, MANET_PURGED);
}

static u32 olsr_hops(const struct manet *m, u32 to)
{
	u32 found = 0;

	next_hop(m, to, &found);
	return found;
}

static u8 link_state(const struct manet *m, const struct olsr_node *n)
{
	u8 type = LOST_LINK;

	olsr_link_type(m, n, &type);
	if (n->mpr)
		return olsr_is_selector(m, n) ? MPR_AND_SELECTOR : MPR;
	if (olsr_is_selector(m, n))
		return SELECTOR;
	return n->symmetric ? SYMMETRIC : type == LOST_LINK ? LOST : ASYMMETRIC;
}

static bool dump_node(const struct manet *m, u32 number, bool route, struct manet_entry *e)
{
	const struct olsr_node *n = olsr_node(m, number);

	if (!n->address || (route ? !n->hops : !n->linked))
		return false;
	*e = (struct manet_entry){ .kind = route ? MANET_ROUTE : MANET_NEIGHBOUR, .valid = route || n->symmetric,
				   .to = n->address, .hops = n->hops, .until = route ? NEVER : n->link_until };
	e->via = route ? olsr_node(m, n->via)->interface : n->interface;
	if (!route)
		e->state = link_state(m, n);
	return true;
}

static bool dump_edge(const struct manet *m, u32 number, struct manet_entry *e)
{
	const struct olsr_edge *edge = &olsr(m)->edge[number];
	const struct olsr_node *from = olsr_node(m, edge->from);

	if (edge->from == edge->to) /* free */
		return false;
	*e = (struct manet_entry){ .kind = MANET_LINK, .valid = true, .from = from->address,
				   .to = olsr_node(m, edge->to)->address, .until = edge->until,
				   .state = edge->topology ? TOPOLOGY : TWO_HOPS,
				   .sequence = edge->topology ? from->ansn : 0 };
	return true;
}

static bool olsr_dump(const struct manet *m, u32 *cursor, struct manet_entry *e)
{
	bool found = false;

	for (; !found && *cursor < 2 * OLSR_NODES + OLSR_EDGES; ++*cursor) {
		if (*cursor < 2 * OLSR_NODES)
			found = dump_node(m, *cursor % OLSR_NODES, *cursor < OLSR_NODES, e);
		else
			found = dump_edge(m, *cursor - 2 * OLSR_NODES, e);
	}
	return found;
}

static const struct manet_parameter parameters[] = {
	PARAMETER_QUEUE, PARAMETER_ROUTING_FIRST(1), PARAMETER_JITTER(500, 250, 250), PARAMETER_ORPHAN, PARAMETER_TELL, /* MAXJITTER, RFC 3626 18.2: a fourth of the HELLO interval */
	{ "hello_interval_ms", 100, 60000, { 2000, 1000, 2000 }, "between HELLOs; RFC 3626 18.2; thesis table 3.3" },
	{ "tc_interval_ms", 100, 60000, { 5000, 5000, 5000 }, "between TCs; RFC 3626 18.2; thesis table 3.3 (or 3 s)" },
	{ "neighbour_hold_ms", 100, 600000, { 6000, 6000, 6000 },
	  "a link holds after a HELLO: NEIGHB_HOLD_TIME, 3 refresh intervals; RFC 3626 18.3; thesis table 3.3" },
	{ "topology_hold_ms", 100, 600000, { 15000, 15000, 15000 },
	  "what a TC says holds: TOP_HOLD_TIME, 3 TC intervals; RFC 3626 18.3; thesis table A.3" },
	{ "duplicate_hold_ms", 100, 600000, { 30000, 30000, 30000 },
	  "a message is known for: DUP_HOLD_TIME; RFC 3626 18.3; thesis table A.3" },
	{ "willingness", 0, 7, { 3, 3, 3 }, "to forward, 0 never to 7 always; RFC 3626 18.8; thesis table A.3" },
	{ "tc_redundancy", 0, 2, { 0, 0, 0 },
	  "TCs name 0: who chose us, 1: and whom we chose, 2: all neighbours; RFC 3626 15.1; thesis table A.3" },
	{ "mpr_coverage", 1, 16, { 1, 1, 1 }, "relays for each two-hop neighbour; RFC 3626 16.1; thesis table 3.3" },
	{ "immediate_tc", 0, 2, { 1, 0, 0 },
	  "a TC at once 0: never, 1: when who chose us is lost (RFC 3626 9.3), 2: on each change; thesis: 0 and 2" },
	{ "tc_min_interval_ms", 0, 60000, { 500, 500, 500 }, "between TCs that are sent at once; not in the RFC" },
	{ "feedback", 0, 1, { 0, 0, 0 },
	  "a frame that is never acknowledged ends the link; optional in RFC 3626 13; thesis: signal monitoring off" },
	{ "hysteresis", 0, 1, { 0, 0, 0 },
	  "a link must be good before it is used; optional in RFC 3626 14; thesis: off" },
	{ "hysteresis_high", 0, 1000, { 800, 800, 800 }, "thousandths; HYST_THRESHOLD_HIGH, RFC 3626 14" },
	{ "hysteresis_low", 0, 1000, { 300, 300, 300 }, "thousandths; HYST_THRESHOLD_LOW" },
	{ "hysteresis_scaling", 1, 999, { 500, 500, 500 }, "thousandths; HYST_SCALING" },
};

const struct manet_protocol olsr_protocol = {
	.name = "olsr",
	.size = sizeof(struct olsr),
	.parameters = parameters,
	.n_parameters = ARRAY_SIZE(parameters),
	.states = states,
	.start = olsr_start,
	.stop = olsr_stop,
	.output = olsr_output,
	.input = olsr_input,
	.lost = olsr_lost,
	.timer = olsr_timer,
	.hops = olsr_hops,
	.dump = olsr_dump,
};
