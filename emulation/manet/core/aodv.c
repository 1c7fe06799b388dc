// SPDX-License-Identifier: GPL-2.0-only
/*
 * AODV (RFC 3561): a node searches for a route when data needs it, and forgets
 * unused ones. Presets: rfc; thesis, as AODV-UU 0.9.6 in ns-2; cmu, as ns-2's own
 * AODV. docs/routing/aodv.md compares them.
 *
 * Fields of trace records, beyond manet.h:
 *   FOUND, CHANGED   to, next_hop, hops; extra: its sequence number
 *   LOST_ROUTE       to; extra: the sequence number plus one
 *   REPAIRED         to, next_hop, hops; count: previous hops
 *   SALVAGED         the packet; next_hop: the new one
 *   BUFFERED         the packet; extra: packets in the buffer
 *   RELEASED         the packet; next_hop, hops
 *   SEARCH           to; hops: the last known number; count: TTL; extra: the request's id
 *   SEARCH_FAILED    to; count: the last TTL
 *   LINK_LOST        to: the neighbour; count: routes via it
 *   GOT_CONTROL      to: its subject; next_hop: the sender; hops: so far; count: IP TTL;
 *                    extra: RREQ: its id; RREP, HELLO: the sequence number; RERR: destinations
 */
#include "aodv.h"

void aodv_drop_list(struct manet *m, struct manet_list *list, enum manet_reason why)
{
	struct manet_packet *p;

	while ((p = list_pop(list)))
		manet_drop(m, p, why);
}

void aodv_broadcast(struct manet *m, struct manet_packet *p)
{
	aodv_of(m)->broadcast = m->now;
	manet_send_later(m, p, MANET_EVERYBODY, manet_jitter(m));
}

static void aodv_start(struct manet *m)
{
	struct aodv *a = aodv_of(m);

	memset(a, 0, sizeof(*a));
	aodv_routes_init(m);
	a->sequence = 1;
	if (param(m, P_REBOOT_HOLD))
		a->quiet = m->now + param_ns(m, P_DELETE_MS);
	if (!param(m, P_FEEDBACK) && param(m, P_HELLO_ALWAYS))
		timer_set(m, &a->hello, TIMER_HELLO, m->now);
}

static void aodv_stop(struct manet *m)
{
	aodv_drop_list(m, &aodv_of(m)->buffer, MANET_GONE);
}

/* HELLOs are sent while data flows, or always (6.9). */
static void hello_due(struct manet *m)
{
	struct aodv *a = aodv_of(m);
	u64 interval = param_ns(m, P_HELLO_MS), jitter = param_ns(m, P_HELLO_JITTER_MS);
	u64 next = interval;

	if (!param(m, P_HELLO_ALWAYS) && a->used + param_ns(m, P_ACTIVE_MS) < m->now)
		return;
	if (param(m, P_HELLO_SKIP) && a->broadcast && m->now - a->broadcast < interval)
		next = interval - (m->now - a->broadcast);
	else
		aodv_send_hello(m);
	if (jitter)
		next += manet_draw(m, 2 * jitter + 1) - (jitter < next ? jitter : next - 1);
	timer_set(m, &a->hello, TIMER_HELLO, m->now + next);
}

static void aodv_passes(struct manet *m, const struct manet_packet *p)
{
	struct aodv *a = aodv_of(m);

	aodv_use(m, ip_source(p->data), ip_destination(p->data));
	if (!param(m, P_FEEDBACK) && !a->hello.set)
		timer_set(m, &a->hello, TIMER_HELLO, m->now);
}

/* Handle a packet that the link layer gave back, or that waited behind it, when its next hop is known to be lost. */
static void aodv_settle(struct manet *m, struct manet_packet *p, enum manet_reason why)
{
	struct aodv_route *r = p->kind == MANET_DATA ? aodv_find(m, ip_destination(p->data)) : NULL;

	if (!r)
		return manet_drop(m, p, why);
	if (r->repairable || (r->search.set && r->ttl))
		return aodv_wait(m, r, p);
	if (!param(m, P_RESEND))
		return manet_drop(m, p, why);
	if (r->valid) {
		manet_tell(m, MANET_SALVAGED, p, r->to, r->via, r->hops, 0, 0);
		return manet_send(m, p, r->via);
	}
	if (ip_source(p->data) == m->address)
		return aodv_wait(m, r, p);
	manet_drop(m, p, why);
}

/* Does this node repair the loss of this neighbour, instead of reporting it at once (6.12)? */
static bool may_repair(const struct manet *m, u32 neighbour, const struct manet_packet *p)
{
	const struct aodv_route *r, *source;

	if (!param(m, P_REPAIR))
		return false;
	if (!p || p->kind != MANET_DATA)
		return true;
	r = aodv_find(m, ip_destination(p->data));
	if (!r || !r->valid || r->via != neighbour || r->hops > param(m, P_MAX_REPAIR_TTL))
		return false;
	source = aodv_find(m, ip_source(p->data));
	return !param(m, P_REPAIR_NEAR) || (source && source->hops > r->hops);
}

void aodv_link_lost(struct manet *m, u32 neighbour, struct manet_packet *p)
{
	bool repair = may_repair(m, neighbour, p);
	struct manet_list waited = { 0 };
	struct aodv *a = aodv_of(m);
	u16 i, lost = 0;

	if (!repair || param(m, P_REPAIR_QUEUE))
		waited = queue_take_hop(m, neighbour);
	for (i = 1; i <= AODV_ROUTES; i++) {
		struct aodv_route *r = &a->route[i];

		if (!r->valid || r->via != neighbour)
			continue;
		lost++;
		aodv_invalidate(m, r, r->sequence + 1, repair && r->hops <= param(m, P_MAX_REPAIR_TTL));
		if (r->repairable)
			continue;
		aodv_report(m, r);
		if (!r->report)
			aodv_forget_precursors(r);
	}
	if (lost)
		manet_tell(m, MANET_LINK_LOST, NULL, neighbour, MANET_NOBODY, 0, lost < 255 ? lost : 255, 0);
	aodv_send_errors(m, false);
	if (p)
		aodv_settle(m, p, MANET_LINK_BROKEN);
	while ((p = list_pop(&waited)))
		aodv_settle(m, p, MANET_PURGED);
}

static void aodv_lost(struct manet *m, struct manet_packet *p)
{
	struct aodv_route *r;

	if (!param(m, P_FEEDBACK) || p->next_hop == MANET_EVERYBODY)
		return manet_drop(m, p, MANET_LINK_BROKEN);
	if (p->kind != MANET_DATA) {
		if (!param(m, P_CONTROL_FEEDBACK))
			return manet_drop(m, p, MANET_LINK_BROKEN);
		r = aodv_find(m, p->next_hop);
		if (p->kind == MANET_RREP && r)
			r->shunned = m->now + param_ns(m, P_BLACKLIST_MS); /* 6.8 */
		return aodv_link_lost(m, p->next_hop, p);
	}
	r = aodv_find(m, ip_destination(p->data));
	if (r && r->search.set && r->ttl) /* its route was lost before, and is searched */
		return aodv_wait(m, r, p);
	aodv_link_lost(m, p->next_hop, p);
}

/* An acknowledged RREP shows that the link works in both directions. */
static void aodv_acked(struct manet *m, const struct manet_packet *p)
{
	struct aodv_route *r = p->kind == MANET_RREP ? aodv_find(m, p->next_hop) : NULL;

	if (r)
		r->ack_due = NEVER;
}

static void aodv_output(struct manet *m, struct manet_packet *p)
{
	u32 to = ip_destination(p->data);
	struct aodv_route *r;

	if (to == m->address)
		return manet_deliver(m, p);
	aodv_passes(m, p);
	r = to ? aodv_get(m, to) : NULL;
	if (!r)
		return manet_drop(m, p, to ? MANET_NO_MEMORY : MANET_NO_ROUTE);
	if (r->valid)
		return manet_send(m, p, r->via);
	aodv_wait(m, r, p);
}

/* The previous node believes that there is a route: 6.11 (ii). */
static void no_route(struct manet *m, struct manet_packet *p, struct aodv_route *r)
{
	const struct aodv_route *back = aodv_find(m, ip_source(p->data));
	struct aodv *a = aodv_of(m);
	u32 to = param(m, P_ERROR_UNICAST) && back && back->valid ? back->via : MANET_EVERYBODY;

	if (r && param(m, P_DELETE_MS))
		r->expires = m->now + param_ns(m, P_DELETE_MS);
	if (a->quiet > m->now)
		a->quiet = m->now + param_ns(m, P_DELETE_MS);
	aodv_send_error(m, ip_destination(p->data), r && r->known ? r->sequence : 0, to);
	manet_drop(m, p, MANET_NO_ROUTE);
}

static void aodv_input(struct manet *m, struct manet_packet *p, const u8 *from)
{
	bool ours = manet_is_ours(m, ip_destination(p->data));
	u16 len;
	u8 *message = udp_read(p, AODV_PORT, &len);
	struct aodv_route *r;

	if (message)
		return ours ? aodv_control(m, p, from, message, len) : manet_drop(m, p, MANET_NOT_OURS);
	if (ip_source(p->data) == m->address && !param(m, P_RESEND))
		return manet_drop(m, p, MANET_DUPLICATE); /* a repair found a route back through this node */
	aodv_passes(m, p);
	if (ours)
		return manet_deliver(m, p);
	r = aodv_find(m, ip_destination(p->data));
	if (r && r->valid)
		return manet_forward(m, p, r->via);
	if (!r || !r->repairable)
		return no_route(m, p, r);
	if (!ip_decrement_ttl(p->data))
		return manet_drop(m, p, MANET_TTL_EXPIRED);
	m->counters.forwarded++;
	aodv_wait(m, r, p);
}

static struct aodv_route *route_of(struct manet_timer *t, size_t offset)
{
	return (struct aodv_route *)((u8 *)t - offset);
}

static void aodv_timer(struct manet *m, struct manet_timer *t)
{
	switch (t->kind) {
	case TIMER_ROUTE:
		aodv_route_due(m, route_of(t, offsetof(struct aodv_route, timer)));
		break;
	case TIMER_SEARCH:
		aodv_search_due(m, route_of(t, offsetof(struct aodv_route, search)));
		break;
	case TIMER_BUFFER:
		aodv_buffer_due(m);
		break;
	case TIMER_HELLO:
		hello_due(m);
		break;
	}
}

static u32 aodv_hops(const struct manet *m, u32 to)
{
	const struct aodv_route *r = aodv_find(m, to);

	return r ? r->hops : 0;
}

static const char *const states[] = { "invalid", "valid", "searched", "in repair", "blacklisted", NULL };

static bool aodv_dump(const struct manet *m, u32 *cursor, struct manet_entry *e)
{
	const struct manet_neighbour *neighbour;

	for (; *cursor < AODV_ROUTES; ++*cursor) {
		const struct aodv_route *r = &aodv_of(m)->route[*cursor + 1];

		if (!r->to)
			continue;
		++*cursor;
		*e = (struct manet_entry){ .kind = MANET_ROUTE, .valid = r->valid, .to = r->to, .via = r->via,
					   .hops = r->hops, .sequence = r->sequence, .until = r->expires,
					   .waiting = r->waiting, .n_path = r->precursors };
		memcpy(e->path, r->precursor, r->precursors * sizeof(r->precursor[0]));
		e->state = r->shunned > m->now ? STATE_BLACKLISTED : r->valid ? STATE_VALID :
			   r->repairable ? STATE_REPAIRED : r->search.set ? STATE_SEARCHED : STATE_INVALID;
		neighbour = neighbour_of(m, r->to);
		if (neighbour && r->hops == 1)
			memcpy(e->mac, neighbour->mac, MANET_ALEN);
		return true;
	}
	return false;
}

const struct manet_protocol aodv_protocol = {
	.name = "aodv",
	.size = sizeof(struct aodv),
	.parameters = aodv_parameters,
	.n_parameters = P_AODV_PARAMETERS,
	.states = states,
	.start = aodv_start,
	.stop = aodv_stop,
	.output = aodv_output,
	.input = aodv_input,
	.lost = aodv_lost,
	.acked = aodv_acked,
	.timer = aodv_timer,
	.hops = aodv_hops,
	.dump = aodv_dump,
};
