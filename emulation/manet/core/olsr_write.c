// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes OLSR's packets and messages (RFC 3626, 3.3, 3.4.1, 6.2, 9.3, 18.3). A
 * relayed message waits for its jitter in one packet, and is sent with the next
 * message of this node.
 */
#include "olsr.h"

#define MOST_IN_MESSAGE 330 /* addresses; more are in a further message; leaves room for headers of links */
#define TICK_NS 3906250ULL /* 1/256 s: C / 16 */
#define FAR 255 /* hops of a TC at most */

/* 18.3: the shortest time that can be encoded and is not less; C * (1 + a / 16) * 2^b is (16 + a) * 2^b ticks. */
u8 olsr_time_code(u32 ms)
{
	u32 ticks = (ms * 32 + 124) / 125, a, b;

	for (b = 0; b < 16; b++) {
		a = (ticks + (1U << b) - 1) >> b;
		if (a <= 16)
			return b;
		if (a < 32)
			return (a - 16) << 4 | b;
	}
	return 0xff;
}

u64 olsr_time(u8 code)
{
	return ((16 + (code >> 4)) << (code & 15)) * TICK_NS;
}

void olsr_flush(struct manet *m)
{
	struct olsr *s = olsr(m);
	u16 len = OLSR_PACKET_HEADER + s->pending_len;
	struct manet_packet *p;

	timer_cancel(m, &s->pending_due);
	if (!s->pending_len)
		return;
	p = udp_make(m, s->pending_kind, OLSR_PORT, MANET_EVERYBODY, 1, len);
	s->pending_len = 0;
	if (!p)
		return;
	put16(udp_payload(p), len);
	put16(udp_payload(p) + 2, ++s->packet_sequence);
	memcpy(udp_payload(p) + OLSR_PACKET_HEADER, s->pending, len - OLSR_PACKET_HEADER);
	udp_finish(p);
	manet_send(m, p, MANET_EVERYBODY);
}


static u8 *olsr_room(struct manet *m, u16 len)
{
	struct olsr *s = olsr(m);

	if (s->pending_len + len > OLSR_ROOM)
		olsr_flush(m);
	return s->pending + s->pending_len;
}

/* A message has been written. */
static void olsr_add(struct manet *m, u16 len, enum manet_kind kind)
{
	struct olsr *s = olsr(m);

	if (!s->pending_len || kind != MANET_HELLO)
		s->pending_kind = kind;
	s->pending_len += len;
}

void olsr_relay(struct manet *m, const u8 *message, u16 size)
{
	struct olsr *s = olsr(m);
	u8 *out = olsr_room(m, size);
	u64 at = m->now + manet_jitter(m);

	memcpy(out, message, size);
	out[8]--; /* time to live */
	out[9]++; /* hops */
	olsr_add(m, size, MANET_TC);
	if (!s->pending_due.set || at < s->pending_due.at)
		timer_set(m, &s->pending_due, TIMER_PENDING, at);
}

static void message_header(struct manet *m, u8 *at, u8 type, u32 valid_ms, u16 size, u8 ttl)
{
	at[0] = type;
	at[1] = olsr_time_code(valid_ms);
	put16(at + 2, size);
	put32(at + 4, m->address);
	at[8] = ttl;
	at[9] = 0;
	put16(at + 10, ++olsr(m)->message_sequence);
}

/* 6.2; 0xff: it is not announced. */
static u8 link_code(const struct manet *m, const struct olsr_node *n)
{
	u8 type;

	if (!olsr_link_type(m, n, &type))
		return 0xff;
	return (n->mpr ? MPR_NEIGH : n->symmetric ? SYM_NEIGH : NOT_NEIGH) << 2 | type;
}

/* Write a HELLO with @count links, from the @first one on. */
static void add_hello(struct manet *m, u32 first, u32 count)
{
	u8 *start = olsr_room(m, OLSR_MESSAGE_HEADER + 4 + 6 * OLSR_LINK_HEADER + 4 * count);
	u8 *at = start + OLSR_MESSAGE_HEADER;
	const struct olsr *s = olsr(m);
	u8 *group;
	u32 i;
	u8 code;

	put16(at, 0);
	at[2] = olsr_time_code(param(m, P_HELLO_INTERVAL_MS));
	at[3] = param(m, P_WILLINGNESS);
	at += 4;
	for (code = 0; code < 12; code++) {
		group = at;
		at += OLSR_LINK_HEADER;
		for (i = first; i < first + count; i++) {
			const struct olsr_node *n = &s->node[s->link[i]];

			if (link_code(m, n) != code)
				continue;
			put32(at, n->interface);
			at += 4;
		}
		group[0] = code;
		group[1] = 0;
		put16(group + 2, at - group);
		if (at == group + OLSR_LINK_HEADER)
			at = group;
	}
	message_header(m, start, OLSR_HELLO, param(m, P_NEIGHBOUR_HOLD_MS), at - start, 1);
	olsr_add(m, at - start, MANET_HELLO);
}

void olsr_send_hello(struct manet *m)
{
	u32 first = 0, count;

	if (olsr(m)->mprs_old)
		olsr_choose_mprs(m);
	do {
		count = olsr(m)->links - first < MOST_IN_MESSAGE ? olsr(m)->links - first : MOST_IN_MESSAGE;
		add_hello(m, first, count);
		first += count;
	} while (first < olsr(m)->links);
	olsr_flush(m);
}

static bool is_advertised(const struct manet *m, const struct olsr_node *n)
{
	return param(m, P_TC_REDUNDANCY) == 2 ? n->symmetric :
	       n->symmetric && (olsr_is_selector(m, n) || (param(m, P_TC_REDUNDANCY) && n->mpr));
}

/* Write a TC with @count of the advertised neighbours, from the *@first link on. */
static void add_tc(struct manet *m, u32 *first, u32 count)
{
	u8 *start = olsr_room(m, OLSR_MESSAGE_HEADER + 4 + 4 * count);
	u8 *at = start + OLSR_MESSAGE_HEADER;
	struct olsr *s = olsr(m);

	put16(at, s->ansn);
	put16(at + 2, 0);
	at += 4;
	for (; count; ++*first) {
		const struct olsr_node *n = &s->node[s->link[*first]];

		if (!n->advertised)
			continue;
		put32(at, n->address);
		at += 4;
		count--;
	}
	message_header(m, start, OLSR_TC, param(m, P_TOPOLOGY_HOLD_MS), at - start, FAR);
	olsr_add(m, at - start, MANET_TC);
}

/*
 * 9.3: a node that advertises no neighbour any more sends empty TCs as long as older ones may be
 * valid, and then none.
 */
void olsr_send_tc(struct manet *m)
{
	struct olsr *s = olsr(m);
	bool changed = s->advertised_less;
	u32 left = 0, first = 0, count, i;

	if (s->mprs_old && param(m, P_TC_REDUNDANCY) == 1)
		olsr_choose_mprs(m);
	for (i = 0; i < s->links; i++) {
		struct olsr_node *n = &s->node[s->link[i]];
		bool now = is_advertised(m, n);

		changed |= now != n->advertised;
		left += now;
		n->advertised = now;
	}
	s->advertised_less = false;
	if (changed)
		s->ansn++;
	if (left)
		s->empty_until = m->now + param_ns(m, P_TOPOLOGY_HOLD_MS);
	else if (s->empty_until <= m->now)
		return;
	s->last_tc = m->now;
	do {
		count = left < MOST_IN_MESSAGE ? left : MOST_IN_MESSAGE;
		add_tc(m, &first, count);
		left -= count;
	} while (left);
	olsr_flush(m);
}
