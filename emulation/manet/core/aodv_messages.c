// SPDX-License-Identifier: GPL-2.0-only
/*
 * AODV's messages: RREQ, RREP, RREP-ACK and HELLO (RFC 3561, 5; RERR is in
 * aodv_errors.c), each in a packet of its own. Lengths are checked before a
 * message is read. Extensions are skipped and not passed on.
 */
#include "aodv.h"

enum { RREQ_LEN = 24, RREP_LEN = 20, ACK_LEN = 2 };
enum { RREQ_GRATUITOUS = 0x20, RREQ_DESTINATION_ONLY = 0x10, RREQ_UNKNOWN = 0x08 };
enum { RREP_ACK_WANTED = 0x40 };

#define TTL_FAR 255

struct rreq {
	u8 flags, hops;
	u32 id, destination, destination_sequence, originator, originator_sequence;
};

struct rrep {
	u8 flags, hops;
	u32 destination, sequence, originator, life; /* life: in milliseconds */
};

static void send_rreq(struct manet *m, const struct rreq *q, u8 ttl)
{
	struct manet_packet *p = udp_make(m, MANET_RREQ, AODV_PORT, MANET_EVERYBODY, ttl, RREQ_LEN);
	u8 *at;

	if (!p)
		return;
	at = udp_payload(p);
	at[0] = AODV_RREQ;
	at[1] = q->flags;
	at[3] = q->hops;
	put32(at + 4, q->id);
	put32(at + 8, q->destination);
	put32(at + 12, q->destination_sequence);
	put32(at + 16, q->originator);
	put32(at + 20, q->originator_sequence);
	udp_finish(p);
	aodv_broadcast(m, p);
}

static void write_rrep(struct manet_packet *p, const struct rrep *q)
{
	u8 *at = udp_payload(p);

	at[0] = AODV_RREP;
	at[1] = q->flags;
	at[3] = q->hops;
	put32(at + 4, q->destination);
	put32(at + 8, q->sequence);
	put32(at + 12, q->originator);
	put32(at + 16, q->life);
	udp_finish(p);
}

static void send_rrep(struct manet *m, struct rrep *q, u32 next_hop, u8 ttl)
{
	struct aodv_route *neighbour = aodv_find(m, next_hop);
	struct manet_packet *p;

	if (aodv_of(m)->quiet > m->now)
		return;
	p = udp_make(m, MANET_RREP, AODV_PORT, next_hop, ttl, RREP_LEN);
	if (!p)
		return;
	q->flags = 0;
	if (param(m, P_REPLY_ACK) && neighbour) {
		q->flags = RREP_ACK_WANTED;
		neighbour->ack_due = m->now + param_ns(m, P_NEXT_HOP_WAIT_MS);
		aodv_arm(m, neighbour);
	}
	write_rrep(p, q);
	manet_send(m, p, next_hop);
}

void aodv_send_hello(struct manet *m)
{
	struct manet_packet *p = udp_make(m, MANET_HELLO, AODV_PORT, MANET_EVERYBODY, 1, RREP_LEN);
	struct rrep q = {
		.destination = m->address, .sequence = aodv_of(m)->sequence, .originator = m->address,
		.life = param(m, P_HELLO_LOSS) * param(m, P_HELLO_MS),
	};

	if (!p)
		return;
	write_rrep(p, &q);
	aodv_broadcast(m, p);
}

void aodv_send_request(struct manet *m, struct aodv_route *r)
{
	struct aodv *a = aodv_of(m);
	struct rreq q = {
		.flags = (r->gratuitous ? RREQ_GRATUITOUS : 0) | (r->known ? 0 : RREQ_UNKNOWN) |
			 (param(m, P_DESTINATION_ONLY) ? RREQ_DESTINATION_ONLY : 0),
		.id = ++a->id, .destination = r->to, .destination_sequence = r->known ? r->sequence : 0,
		.originator = m->address, .originator_sequence = ++a->sequence, /* 6.1 */
	};

	aodv_seen(m, m->address, q.id);
	manet_tell(m, MANET_SEARCH, NULL, r->to, MANET_NOBODY, r->hops, r->ttl, q.id);
	send_rreq(m, &q, r->ttl);
}

static bool is_host(const struct manet *m, u32 address)
{
	return address && !manet_is_ours(m, address);
}

void aodv_tell_got(struct manet *m, struct manet_packet *p, enum manet_kind kind, u32 to, u8 hops, u32 extra)
{
	p->kind = kind;
	m->counters.got[kind]++;
	manet_tell(m, MANET_GOT_CONTROL, p, to, ip_source(p->data), hops, ip_ttl(p->data), extra);
}

/* The sender of a message is a neighbour (6.2). */
void aodv_heard(struct manet *m, u32 neighbour)
{
	struct aodv_route *r;

	if (!param(m, P_NEIGHBOUR_ROUTES))
		return;
	r = aodv_get(m, neighbour);
	if (!r || r->shunned > m->now)
		return;
	aodv_learn(m, r, neighbour, 1, false, 0, param_ns(m, P_ACTIVE_MS));
	if (r->silent != NEVER)
		r->silent = m->now + param_ns(m, P_HELLO_LOSS) * param(m, P_HELLO_MS) + param_ns(m, P_HELLO_SLACK_MS);
}

/* The life of a route back to an originator at this distance (6.5). */
static u64 reverse_life(const struct manet *m, u8 hops)
{
	u64 whole = 2 * aodv_net_traversal(m), less = 2 * param_ns(m, P_NODE_TRAVERSAL_MS) * hops;

	if (param(m, P_REVERSE_MS))
		return param_ns(m, P_REVERSE_MS);
	return less < whole ? whole - less : 0;
}

static u32 life_of(const struct manet *m, const struct aodv_route *r)
{
	u64 life = r->expires > m->now ? r->expires - m->now : 0;

	return life / MS > 0xffffffffU ? 0xffffffffU : life / MS;
}

static void reply_myself(struct manet *m, const struct rreq *q, u32 next_hop)
{
	struct aodv *a = aodv_of(m);
	struct rrep reply = { .destination = m->address, .originator = q->originator, .life = param(m, P_MY_MS) };

	if (!(q->flags & RREQ_UNKNOWN)) { /* 6.6.1; an old number would be ignored */
		if (aodv_newer(q->destination_sequence, a->sequence))
			a->sequence = q->destination_sequence;
		else if (q->destination_sequence == a->sequence)
			a->sequence++;
	}
	reply.sequence = a->sequence;
	send_rrep(m, &reply, next_hop, TTL_FAR);
}

/* 6.6.2, and 6.6.3: inform the destination, too. */
static void reply_for(struct manet *m, const struct rreq *q, struct aodv_route *forth, struct aodv_route *back)
{
	struct rrep reply = {
		.hops = forth->hops, .destination = forth->to, .sequence = forth->sequence,
		.originator = q->originator, .life = life_of(m, forth),
	};

	aodv_add_precursor(forth, back->via);
	aodv_add_precursor(back, forth->via);
	send_rrep(m, &reply, back->via, TTL_FAR);
	if (!(q->flags & RREQ_GRATUITOUS))
		return;
	reply = (struct rrep){ .hops = back->hops, .destination = back->to, .sequence = back->sequence,
			       .originator = forth->to, .life = life_of(m, back) };
	send_rrep(m, &reply, forth->via, TTL_FAR);
}

static bool can_reply(const struct rreq *q, const struct aodv_route *forth, const struct aodv_route *back)
{
	return forth && forth->valid && forth->known && !(q->flags & RREQ_DESTINATION_ONLY) &&
	       (q->flags & RREQ_UNKNOWN || !aodv_newer(q->destination_sequence, forth->sequence)) &&
	       forth->via != back->via && forth->via != q->originator; /* there it would be useless, or make a loop */
}

/* 6.5 */
static void got_rreq(struct manet *m, struct manet_packet *p, const u8 *at, u32 from)
{
	struct rreq q = {
		.flags = at[1], .hops = at[3], .id = get32(at + 4), .destination = get32(at + 8),
		.destination_sequence = get32(at + 12), .originator = get32(at + 16), .originator_sequence = get32(at + 20),
	};
	struct aodv_route *neighbour = aodv_find(m, from), *back, *forth;

	aodv_tell_got(m, p, MANET_RREQ, q.destination, q.hops, q.id);
	if (neighbour && neighbour->shunned > m->now)
		return manet_drop(m, p, MANET_NOT_OURS);
	aodv_heard(m, from);
	if (q.originator == m->address || aodv_seen(m, q.originator, q.id))
		return manet_drop(m, p, MANET_DONE);
	if (!is_host(m, q.originator) || (q.destination != m->address && !is_host(m, q.destination)) || q.hops == 255)
		return manet_drop(m, p, MANET_MALFORMED);
	back = aodv_get(m, q.originator);
	if (!back)
		return manet_drop(m, p, MANET_NO_MEMORY);
	q.hops++;
	aodv_learn(m, back, from, q.hops, true, q.originator_sequence, reverse_life(m, q.hops));
	if (!back->valid) /* all known information about it is newer */
		return manet_drop(m, p, MANET_DONE);
	forth = aodv_find(m, q.destination);
	if (q.destination == m->address) {
		reply_myself(m, &q, back->via);
	} else if (can_reply(&q, forth, back)) {
		reply_for(m, &q, forth, back);
	} else if (ip_ttl(p->data) > 1 && aodv_of(m)->quiet <= m->now) {
		if (forth && forth->known && (q.flags & RREQ_UNKNOWN || aodv_newer(forth->sequence, q.destination_sequence))) {
			q.destination_sequence = forth->sequence;
			q.flags &= ~RREQ_UNKNOWN;
		}
		send_rreq(m, &q, ip_ttl(p->data) - 1);
	}
	manet_drop(m, p, MANET_DONE);
}

/* 6.9 */
static void got_hello(struct manet *m, struct manet_packet *p, const struct rrep *q, u32 from)
{
	u64 silence = param_ns(m, P_HELLO_LOSS) * param(m, P_HELLO_MS) + param_ns(m, P_HELLO_SLACK_MS);
	struct aodv_route *r = aodv_get(m, from);

	aodv_tell_got(m, p, MANET_HELLO, from, 0, q->sequence);
	if (r && r->shunned <= m->now) {
		r->hellos += r->hellos < 255;
		if (r->hellos >= param(m, P_HELLOS_NEEDED)) {
			aodv_learn(m, r, from, 1, true, q->sequence, silence);
			aodv_keep(m, r, silence);
			if (!param(m, P_FEEDBACK))
				r->silent = m->now + silence;
			aodv_arm(m, r);
		}
	}
	manet_drop(m, p, MANET_DONE);
}

static void send_ack(struct manet *m, u32 to)
{
	struct manet_packet *p = udp_make(m, MANET_ACK, AODV_PORT, to, 1, ACK_LEN);

	if (!p)
		return;
	udp_payload(p)[0] = AODV_RREP_ACK;
	udp_finish(p);
	manet_send(m, p, to);
}

/* 6.7 */
static void got_rrep(struct manet *m, struct manet_packet *p, const u8 *at, u32 from)
{
	struct rrep q = {
		.flags = at[1], .hops = at[3], .destination = get32(at + 4), .sequence = get32(at + 8),
		.originator = get32(at + 12), .life = get32(at + 16),
	};
	bool for_us = q.originator == m->address;
	struct aodv_route *forth, *back;

	if (ip_destination(p->data) != m->address) {
		if (q.destination == from && !q.hops)
			return got_hello(m, p, &q, from);
		return manet_drop(m, p, MANET_MALFORMED);
	}
	aodv_tell_got(m, p, MANET_RREP, q.destination, q.hops, q.sequence);
	aodv_heard(m, from);
	if (q.flags & RREP_ACK_WANTED)
		send_ack(m, from);
	if (!is_host(m, q.destination) || q.hops == 255 || (!for_us && !is_host(m, q.originator)))
		return manet_drop(m, p, MANET_NOT_OURS);
	forth = aodv_get(m, q.destination);
	if (!forth)
		return manet_drop(m, p, MANET_NO_MEMORY);
	if (!aodv_learn(m, forth, from, q.hops + 1, true, q.sequence, q.life * MS) || for_us)
		return manet_drop(m, p, MANET_DONE);
	back = aodv_find(m, q.originator);
	if (!back || !back->valid || back->via == from)
		return manet_drop(m, p, MANET_NO_ROUTE);
	if (ip_ttl(p->data) <= 1)
		return manet_drop(m, p, MANET_TTL_EXPIRED);
	q.hops = forth->hops;
	q.sequence = forth->sequence;
	aodv_add_precursor(forth, back->via);
	aodv_add_precursor(back, forth->via);
	aodv_keep(m, back, param_ns(m, P_ACTIVE_MS));
	send_rrep(m, &q, back->via, ip_ttl(p->data) - 1);
	manet_drop(m, p, MANET_DONE);
}

static void got_ack(struct manet *m, struct manet_packet *p, u32 from)
{
	struct aodv_route *r = aodv_find(m, from);

	aodv_tell_got(m, p, MANET_ACK, from, 0, 0);
	if (r)
		r->ack_due = NEVER;
	aodv_heard(m, from);
	manet_drop(m, p, MANET_DONE);
}

void aodv_control(struct manet *m, struct manet_packet *p, const u8 *from, u8 *at, u16 len)
{
	u32 neighbour = ip_source(p->data);

	if (neighbour == m->address)
		return manet_drop(m, p, MANET_DUPLICATE);
	if (!is_host(m, neighbour) || len < ACK_LEN)
		return manet_drop(m, p, MANET_MALFORMED);
	neighbour_heard(m, neighbour, from);
	if (at[0] == AODV_RREQ && len >= RREQ_LEN)
		got_rreq(m, p, at, neighbour);
	else if (at[0] == AODV_RREP && len >= RREP_LEN)
		got_rrep(m, p, at, neighbour);
	else if (at[0] == AODV_RERR && len >= AODV_ERROR_LEN)
		aodv_got_error(m, p, at, len, neighbour);
	else if (at[0] == AODV_RREP_ACK)
		got_ack(m, p, neighbour);
	else
		manet_drop(m, p, MANET_MALFORMED);
}
