// SPDX-License-Identifier: GPL-2.0-only
/*
 * DSR's route maintenance (RFC 4728 section 8.3). A link fails if the link layer
 * says so or, without feedback, if requests for an acknowledgment are not
 * answered. Then the link leaves the cache, and the source of the packet gets an
 * error. The packet, and all packets that wait for that neighbour, take another
 * route if there is one.
 */
#include "dsr.h"

#define MOST_TOLD 8 /* sources that get an error for one failure */
#define RTO_LEAST (20 * MS)
#define RTO_MOST (1280 * MS)

/* ---- errors ---- */

/* A route from here to @to, the first node of @r, on which this node is at @here. */
static bool way_back(struct manet *m, const struct dsr_route *r, u8 here, struct dsr_route *way)
{
	u32 how = param(m, P_ERROR_ROUTE); /* 0: from the cache, 1: reversed, 2: reversed if the cache has none */
	u8 i;

	if (how != 1 && dsr_find(m, r->node[0], way, false))
		return true;
	if (!how)
		return false;
	way->count = here + 1;
	for (i = 0; i <= here; i++)
		way->node[i] = r->node[here - i];
	return true;
}

/* Send an error to the node that added the link: the source of @p, or the node that salvaged it last. */
static void send_error(struct manet *m, const struct manet_packet *p, u32 hop, u32 *told, u8 *count)
{
	struct dsr_options o;
	struct dsr_route r, way;
	struct manet_packet *error;
	u8 next, i;

	if (ip_protocol(p->data) != IP_DSR || !dsr_parse(p->data, p->len, false, &o) || !o.route ||
	    !dsr_route_in(m, p->data, &o, &r, &next) || !next)
		return;
	if (r.node[next] != hop || r.node[next - 1] != m->address || next == 1)
		return;
	for (i = 0; i < *count; i++)
		if (told[i] == r.node[0])
			return;
	if (*count == MOST_TOLD || !way_back(m, &r, next - 1, &way))
		return;
	told[(*count)++] = r.node[0];
	error = dsr_make_error(m, &way, hop, dsr_salvaged(p->data, &o));
	if (error)
		dsr_unicast(m, error, way.node[1], 0);
}

void dsr_error_came(struct manet *m, const u8 *ip, u16 at)
{
	struct dsr *d = dsr_of(m);
	u32 from = get32(ip + at + 4), to;

	if (ip[at + 2] != NODE_UNREACHABLE)
		return;
	to = get32(ip + at + 12);
	dsr_forget(m, from, to);
	if (get32(ip + at + 8) == m->address) {
		d->error_from = from;
		d->error_to = to;
		d->error_at = m->now;
	}
	dsr_tell_lost(m);
}

/* ---- salvage ---- */

static bool has_link(const struct manet *m, const u8 *ip, const struct dsr_options *o, u32 hop)
{
	struct dsr_route r;
	u16 at;
	u8 i;

	for (at = o->reply; at; at = dsr_next(ip, o, at)) {
		if (!dsr_reply_in(m, ip, at, &r))
			return true;
		for (i = 0; i + 1 < r.count; i++)
			if ((r.node[i] == m->address && r.node[i + 1] == hop) ||
			    (r.node[i] == hop && r.node[i + 1] == m->address))
				return true;
	}
	return false;
}

static bool may_be_saved(const struct manet *m, const struct manet_packet *p, const struct dsr_options *o, u32 hop)
{
	u32 replies = param(m, P_SALVAGE_REPLIES); /* 0: none, 1: all, 2: those without the link */

	if (!o->route || !param(m, P_SALVAGE) || p->kind == MANET_ACK ||
	    dsr_salvaged(p->data, o) >= param(m, P_SALVAGE_MOST))
		return false;
	return !o->reply || replies == 1 || (replies == 2 && !has_link(m, p->data, o, hop));
}

/* false: the route would have a loop, or be too long. */
static bool put_on(struct manet *m, struct manet_packet *p, struct dsr_options *o, const struct dsr_route *rest)
{
	u8 salvaged = dsr_salvaged(p->data, o) + 1, next;
	struct dsr_route r;

	if (p->len + 4U * DSR_NODES > param(m, P_LONGEST) + 2U + p->data[o->route + 1])
		return false;
	if (!param(m, P_SALVAGE_KEEPS_PATH)) {
		dsr_set_route(p, o, rest, true, 1, salvaged);
		return true;
	}
	if (!dsr_route_in(m, p->data, o, &r, &next) || !next || r.node[next - 1] != m->address ||
	    !dsr_join(m, &r, next - 1, rest))
		return false;
	dsr_set_route(p, o, &r, false, next - 1, salvaged);
	return true;
}

static void as_new(struct manet *m, struct manet_packet *p, const struct dsr_options *o)
{
	struct dsr_route r;

	p->tag[1] = o->route ? dsr_salvaged(p->data, o) : 0;
	if (o->header)
		dsr_take_header(p, o);
	if (dsr_find(m, ip_destination(p->data), &r, ip_source(p->data) == m->address))
		return dsr_originate(m, p, &r, 0);
	dsr_wait(m, p);
}

static void dsr_save(struct manet *m, struct manet_packet *p, u32 hop, enum manet_reason why)
{
	bool own = ip_source(p->data) == m->address, found;
	struct dsr_options o = { 0 };
	struct dsr_route rest;

	if (ip_protocol(p->data) == IP_DSR && !dsr_parse(p->data, p->len, false, &o))
		return manet_drop(m, p, why);
	if (own && p->kind == MANET_DATA && param(m, P_OWN_BACK))
		return as_new(m, p, &o);
	if (!may_be_saved(m, p, &o, hop))
		return manet_drop(m, p, why);
	found = dsr_find(m, ip_destination(p->data), &rest, false);
	if (!found && p->kind == MANET_DATA && !own && param(m, P_FORWARDER_BUFFERS))
		return as_new(m, p, &o);
	if (!found || !put_on(m, p, &o, &rest))
		return manet_drop(m, p, why);
	dsr_uses_links(m, &rest);
	manet_tell(m, MANET_SALVAGED, p, ip_destination(p->data), rest.node[1], rest.count - 1,
		   dsr_salvaged(p->data, &o), 0);
	dsr_unicast(m, p, rest.node[1], 0);
}

static bool is_copy_for(const struct manet_packet *p, u64 neighbour)
{
	return p->next_hop == neighbour;
}

void dsr_failed(struct manet *m, struct manet_packet *p)
{
	struct manet_list waiting = { 0 }, copies;
	u32 hop = p->next_hop, told[MOST_TOLD];
	u8 count = 0;

	manet_tell(m, MANET_LINK_LOST, p, hop, MANET_NOBODY, 0, 0, 0);
	dsr_forget(m, m->address, hop);
	copies = list_take(&dsr_of(m)->unconfirmed, is_copy_for, hop);
	if (param(m, P_PURGE))
		waiting = queue_take_hop(m, hop);
	send_error(m, p, hop, told, &count);
	dsr_save(m, p, hop, MANET_LINK_BROKEN);
	while ((p = list_pop(&copies))) {
		if (param(m, P_ERROR_EACH) || !count)
			send_error(m, p, hop, told, &count);
		dsr_save(m, p, hop, MANET_LINK_BROKEN);
	}
	while ((p = list_pop(&waiting))) {
		if (param(m, P_ERROR_EACH))
			send_error(m, p, hop, told, &count);
		dsr_save(m, p, hop, MANET_PURGED);
	}
	dsr_tell_lost(m);
}

/* ---- acknowledgments, without feedback of the link layer ---- */

static struct dsr_neighbour *dsr_find_neighbour(struct manet *m, u32 address, bool made)
{
	struct dsr *d = dsr_of(m);
	struct dsr_neighbour *set = &d->neighbour[dsr_hash(address) % (DSR_NEIGHBOURS / DSR_WAYS) * DSR_WAYS], *free = NULL;
	u32 i;

	for (i = 0; i < DSR_WAYS; i++) {
		if (set[i].address == address)
			return &set[i];
		if (!set[i].waiting && (!free || set[i].used < free->used))
			free = &set[i];
	}
	if (!made || !free)
		return NULL;
	*free = (struct dsr_neighbour){ .address = address, .rto = param_ns(m, P_MAINT_RTO_MS) };
	return free;
}

static void keep_copy(struct manet *m, const struct manet_packet *p, u32 hop)
{
	struct dsr *d = dsr_of(m);
	struct manet_packet *copy;

	if (d->unconfirmed.count >= param(m, P_MAINT_BUFFER))
		return;
	copy = m->ops->make(m->edge, p->len);
	if (!copy)
		return;
	memcpy(copy->data, p->data, p->len);
	copy->len = p->len;
	copy->kind = p->kind;
	copy->next_hop = hop;
	list_add(&d->unconfirmed, copy);
}

/* A packet for @hop requests an acknowledgment, if there was no recent request, and a copy is kept until it comes. */
static void dsr_watch(struct manet *m, struct manet_packet *p, u32 hop, u64 delay)
{
	struct dsr_neighbour *n = dsr_find_neighbour(m, hop, true);
	u64 goes = m->now + delay;
	struct dsr_options o;

	if (ip_protocol(p->data) != IP_DSR || !dsr_parse(p->data, p->len, false, &o))
		return;
	if (o.ack_request) {
		dsr_splice(p, &o, o.ack_request, 2 + p->data[o.ack_request + 1], 0);
		dsr_parse(p->data, p->len, false, &o);
	}
	if (!n || p->len + 4U > param(m, P_LONGEST))
		return;
	n->used = m->now;
	if (!n->waiting && (!n->asked || goes >= n->asked + param_ns(m, P_MAINT_HOLDOFF_MS))) {
		n->waiting = true;
		n->tries = 0;
		n->asked = goes;
		dsr_ask_ack(p, &o, ++n->id);
		timer_set(m, &n->timer, TIMER_NEIGHBOUR, goes + n->rto);
	}
	if (n->waiting)
		keep_copy(m, p, hop);
}

/* As TCP does (RFC 6298), in nanoseconds. */
static void dsr_measure(struct dsr_neighbour *n, u64 time)
{
	u64 off = time > n->mean ? time - n->mean : n->mean - time;

	if (!n->mean) {
		n->mean = time;
		n->deviation = time / 2;
	} else {
		n->deviation = n->deviation - n->deviation / 4 + off / 4;
		n->mean = n->mean - n->mean / 8 + time / 8;
	}
	n->rto = n->mean + 4 * n->deviation;
	n->rto = n->rto < RTO_LEAST ? RTO_LEAST : n->rto > RTO_MOST ? RTO_MOST : n->rto;
}

/* Report the loss of a packet whose copy was kept, now. */
static void dsr_confirmed(struct manet *m, struct dsr_neighbour *n)
{
	struct manet_list copies = list_take(&dsr_of(m)->unconfirmed, is_copy_for, n->address);
	struct manet_packet *p;

	n->waiting = false;
	timer_cancel(m, &n->timer);
	while ((p = list_pop(&copies)))
		manet_drop(m, p, p->tag[0] ? MANET_LINK_BROKEN : MANET_DONE);
}

void dsr_ack_came(struct manet *m, u32 from, u16 id)
{
	struct dsr_neighbour *n = dsr_find_neighbour(m, from, false);

	if (!n || !n->waiting || n->id != id)
		return;
	if (!n->tries && m->now > n->asked)
		dsr_measure(n, m->now - n->asked);
	dsr_confirmed(m, n);
}

static bool is_same(const u8 *a, const u8 *b)
{
	return get16(a + 4) == get16(b + 4) && ip_source(a) == ip_source(b) && ip_destination(a) == ip_destination(b) &&
	       (get16(a + 6) & 0x1fff) == (get16(b + 6) & 0x1fff);
}

void dsr_passed_on(struct manet *m, u32 from, const u8 *ip, const struct dsr_options *o)
{
	struct dsr_neighbour *n = dsr_find_neighbour(m, from, false);
	const struct manet_packet *p;
	struct dsr_options mine;

	if (!n || !n->waiting)
		return;
	for (p = dsr_of(m)->unconfirmed.head; p; p = p->next) {
		if (p->next_hop != from || !is_same(p->data, ip) || !dsr_parse(p->data, p->len, false, &mine) ||
		    !mine.route || dsr_left(ip, o) >= dsr_left(p->data, &mine))
			continue;
		return dsr_confirmed(m, n);
	}
}

void dsr_neighbour_timer(struct manet *m, struct dsr_neighbour *n)
{
	struct manet_packet *p;

	if (n->tries++ < param(m, P_MAINT_RETRIES)) {
		p = dsr_make_ack_request(m, n->address, n->id);
		n->asked = m->now;
		timer_set(m, &n->timer, TIMER_NEIGHBOUR, m->now + (n->rto << (n->tries < 6 ? n->tries : 6)));
		if (p)
			manet_send(m, p, n->address);
		return;
	}
	n->waiting = false;
	n->rto = param_ns(m, P_MAINT_RTO_MS);
	n->mean = 0;
	n->asked = 0;
	p = dsr_make_ack_request(m, n->address, n->id); /* it represents the link if there is no copy */
	if (!p)
		return;
	p->next_hop = n->address;
	dsr_failed(m, p);
}

void dsr_lost_unconfirmed(struct manet *m, struct manet_packet *p)
{
	struct manet_packet *copy;

	for (copy = dsr_of(m)->unconfirmed.head; copy; copy = copy->next) {
		if (copy->next_hop != p->next_hop || !is_same(copy->data, p->data))
			continue;
		copy->tag[0] = 1;
		return manet_drop(m, p, MANET_DONE);
	}
	manet_drop(m, p, MANET_LINK_BROKEN);
}

void dsr_unicast(struct manet *m, struct manet_packet *p, u32 next_hop, u64 delay)
{
	p->next_hop = next_hop;
	if (!dsr_known(m, next_hop))
		return dsr_failed(m, p);
	if (!param(m, P_FEEDBACK) && p->kind != MANET_ACK)
		dsr_watch(m, p, next_hop, delay);
	manet_send_later(m, p, next_hop, delay);
}
