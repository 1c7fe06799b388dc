// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads OLSR's packets and messages (RFC 3626, 3.4, 5.4, 6, 7, 8, 9.5). All
 * lengths and values are checked.
 */
#include "olsr.h"

/* The next link message of a HELLO, from *at on; NULL: there is no further valid one. */
static const u8 *next_link_message(const u8 **at, const u8 *end, u32 *addresses)
{
	const u8 *message = *at;
	u32 size;

	if (end - message < OLSR_LINK_HEADER)
		return NULL;
	size = get16(message + 2);
	if (size < OLSR_LINK_HEADER || size > end - message)
		return NULL;
	*at = message + size;
	*addresses = (size - OLSR_LINK_HEADER) / 4;
	return message;
}

static bool is_link_code(u8 code)
{
	return code >> 2 <= MPR_NEIGH && !((code & 3) == SYM_LINK && code >> 2 == NOT_NEIGH);
}

/* What a HELLO says of the link to this node (7.1.1), and whether its sender chose this node as a relay (8.4.1). */
static void read_own_link(struct manet *m, u16 from, const u8 *at, const u8 *end, u64 valid)
{
	struct olsr_node *n = olsr_node(m, from);
	const u8 *message;
	u32 addresses, i;

	n->heard_until = m->now + valid;
	while ((message = next_link_message(&at, end, &addresses))) {
		for (i = 0; i < addresses && get32(message + OLSR_LINK_HEADER + 4 * i) != m->address; i++)
			;
		if (i == addresses || !is_link_code(message[0]))
			continue;
		if ((message[0] & 3) == LOST_LINK) {
			n->symmetric_until = 0;
		} else if ((message[0] & 3) != UNSPEC_LINK) {
			n->symmetric_until = m->now + valid;
			n->link_until = n->symmetric_until + param_ns(m, P_NEIGHBOUR_HOLD_MS);
		}
		if (message[0] >> 2 == MPR_NEIGH)
			olsr_selector_set(m, from, m->now + valid);
	}
	if (n->link_until < n->heard_until)
		n->link_until = n->heard_until;
	olsr_expire_by(m, n->heard_until);
	olsr_link_check(m, from, false);
}

/* 8.2.1 */
static void read_two_hops(struct manet *m, u16 from, const u8 *at, const u8 *end, u64 valid)
{
	const u8 *message;
	u32 addresses, i;
	u16 to;

	while ((message = next_link_message(&at, end, &addresses))) {
		if (!is_link_code(message[0]))
			continue;
		for (i = 0; i < addresses; i++) {
			to = olsr_know(m, get32(message + OLSR_LINK_HEADER + 4 * i));
			if (to == OLSR_NONE || to == OLSR_SELF || to == from)
				continue;
			if (message[0] >> 2 == NOT_NEIGH)
				olsr_edge_remove(m, from, to, false);
			else
				olsr_edge_set(m, from, to, false, m->now + valid);
		}
	}
}

static void read_hello(struct manet *m, u32 interface, u32 originator, const u8 *body, u16 len, u64 valid)
{
	u16 from = olsr_know(m, originator);
	struct olsr_node *n;

	if (from == OLSR_NONE || from == OLSR_SELF || len < 4)
		return;
	n = olsr_node(m, from);
	olsr_link_make(m, from, interface);
	if (n->willingness != body[3])
		olsr(m)->mprs_old = olsr(m)->routes_old = true;
	n->willingness = body[3];
	n->silence = olsr_time(body[2]);
	n->silent_at = m->now + n->silence + n->silence / 2;
	if (param(m, P_HYSTERESIS))
		olsr_expire_by(m, n->silent_at);
	read_own_link(m, from, body + 4, body + len, valid);
	if (n->symmetric)
		read_two_hops(m, from, body + 4, body + len, valid);
}

/* 9.5; the sender is a symmetric neighbour. */
static void read_tc(struct manet *m, u32 originator, const u8 *body, u16 len, u64 valid)
{
	u16 from = olsr_know(m, originator), ansn, to;
	struct olsr_node *n;
	u32 at;

	if (from == OLSR_NONE || len < 4)
		return;
	n = olsr_node(m, from);
	ansn = get16(body);
	if (n->topology != OLSR_NONE && (s16)(ansn - n->ansn) < 0)
		return;
	if (ansn != n->ansn)
		olsr_edges_clear(m, from, true);
	n->ansn = ansn;
	for (at = 4; at + 4 <= len; at += 4) {
		to = olsr_know(m, get32(body + at));
		if (to != OLSR_NONE && to != from)
			olsr_edge_set(m, from, to, true, m->now + valid);
	}
}

/* 5.4 */
static void read_mid(struct manet *m, u32 originator, const u8 *body, u16 len, u64 valid)
{
	u16 node = olsr_know(m, originator);
	u32 at, address;

	for (at = 0; node != OLSR_NONE && node != OLSR_SELF && at + 4 <= len; at += 4) {
		address = get32(body + at);
		if (address != MANET_NOBODY && address != originator && !manet_is_ours(m, address))
			olsr_alias(m, address, node, m->now + valid);
	}
}

/* 3.4.1, for one interface. */
static void olsr_forward(struct manet *m, u16 sender, const u8 *message, u16 size)
{
	u32 originator = get32(message + 4);
	u16 sequence = get16(message + 10);

	if (olsr_is_duplicate(m, originator, sequence))
		return;
	olsr_duplicate_set(m, originator, sequence);
	if (!olsr_is_selector(m, olsr_node(m, sender)) || message[8] <= 1 || size > OLSR_ROOM)
		return;
	olsr_relay(m, message, size);
}

/* 3.4 */
static void read_message(struct manet *m, u32 interface, const u8 *message, u16 size)
{
	u32 originator = get32(message + 4);
	u16 sender = olsr_find(m, interface), len = size - OLSR_MESSAGE_HEADER;
	const u8 *body = message + OLSR_MESSAGE_HEADER;
	u64 valid = olsr_time(message[1]);

	if (!message[8] || originator == m->address)
		return;
	if (message[0] == OLSR_HELLO)
		return read_hello(m, interface, originator, body, len, valid);
	if (sender == OLSR_NONE || !olsr_node(m, sender)->symmetric)
		return;
	if (!olsr_is_duplicate(m, originator, get16(message + 10))) {
		if (message[0] == OLSR_TC)
			read_tc(m, originator, body, len, valid);
		else if (message[0] == OLSR_MID)
			read_mid(m, originator, body, len, valid);
	}
	olsr_forward(m, sender, message, size);
}

/* The complete messages. The packet counts as TC if it has any message besides HELLOs. */
static u32 count_messages(const u8 *bytes, u32 len, u8 *kind)
{
	u32 at = OLSR_PACKET_HEADER, size, count = 0;

	*kind = MANET_HELLO;
	for (; len - at >= OLSR_MESSAGE_HEADER; at += size, count++) {
		size = get16(bytes + at + 2);
		if (size < OLSR_MESSAGE_HEADER || size > len - at)
			return 0;
		if (bytes[at] != OLSR_HELLO)
			*kind = MANET_TC;
	}
	return at == len ? count : 0;
}

bool olsr_read(struct manet *m, struct manet_packet *p, const u8 *bytes, u16 len)
{
	u32 interface = ip_source(p->data), at = OLSR_PACKET_HEADER, count, left;
	u16 sender, sequence;

	if (len < OLSR_PACKET_HEADER || get16(bytes) < OLSR_PACKET_HEADER || get16(bytes) > len)
		return false;
	count = count_messages(bytes, get16(bytes), &p->kind);
	if (!count)
		return false;
	sequence = get16(bytes + 2);
	m->counters.got[p->kind]++;
	manet_tell(m, MANET_GOT_CONTROL, p, ip_destination(p->data), MANET_NOBODY, 0, count, sequence);
	for (left = count; left; left--) {
		u16 size = get16(bytes + at + 2);

		read_message(m, interface, bytes + at, size);
		at += size;
	}
	sender = olsr_find(m, interface);
	if (param(m, P_HYSTERESIS) && sender != OLSR_NONE && olsr_node(m, sender)->linked)
		olsr_link_heard(m, sender, sequence);
	return true;
}
