/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ackthin reads from a packet: its flow, its payload, what it acknowledges,
 * and whether it only acknowledges. The bytes may come from anywhere, so every
 * access is bounds-checked. A packet that cannot be read with certainty is not
 * thinned.
 */
#ifndef ACKTHIN_SEGMENT_H
#define ACKTHIN_SEGMENT_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
#endif

#include "../pkt_ackthin.h"

/* No reason to pass: it may be held, and replaces the held ACK of its flow. */
#define ACKTHIN_HOLD ACKTHIN_REASONS

#define ACKTHIN_HEADERS 120 /* the longest IPv4 and TCP headers */

/* The sender's and the receiver's address and port; a receiver's ACKs are a flow of their own. */
struct ackthin_key {
	u8 addresses[32];	/* IPv4: the first eight bytes */
	u8 ports[4];
	u8 version;
};

struct ackthin_segment {
	struct ackthin_key key;
	u32 seq, end;		/* of its payload, with SYN and FIN */
	u32 ack;
	u16 window;		/* as in the header */
	bool has_ack;
	bool fresh;		/* SYN, RST: previous information on the flow is not valid any more */
	u8 why;			/* enum ackthin_reason; ACKTHIN_HOLD if the segment alone shows none */
};

enum {
	FLAG_FIN = 1, FLAG_SYN = 2, FLAG_RST = 4, FLAG_PSH = 8, FLAG_ACK = 16, FLAG_URG = 32, FLAG_ECE = 64, FLAG_CWR = 128
};
enum { FLAG_AE = 1, FLAGS_RESERVED = 0x0e };	/* in the byte before: RFC 9768; RFC 9293, 3.1 */
enum { OPT_END, OPT_NOP, OPT_SACK = 5, OPT_TIMESTAMPS = 8, OPT_TIMESTAMPS_LEN = 10 };

static inline u16 ackthin_be16(const u8 *at)
{
	return at[0] << 8 | at[1];
}

static inline u32 ackthin_be32(const u8 *at)
{
	return (u32)ackthin_be16(at) << 16 | ackthin_be16(at + 2);
}

static inline u8 ackthin_options(const u8 *at, u32 rest)
{
	u8 why = ACKTHIN_HOLD;

	while (rest && *at != OPT_END) {
		u32 len = 1;

		if (*at != OPT_NOP) {
			len = rest > 1 ? at[1] : 0;
			if (len < 2 || len > rest)
				return ACKTHIN_OPTION;
			if (*at == OPT_SACK)
				return ACKTHIN_SACK;
			if (*at != OPT_TIMESTAMPS || len != OPT_TIMESTAMPS_LEN)
				why = ACKTHIN_OPTION;
		}
		at += len;
		rest -= len;
	}
	return why;
}

static inline u8 ackthin_tcp(struct ackthin_segment *s, const u8 *tcp, u32 header, u32 payload)
{
	u8 flags = tcp[13];

	memcpy(s->key.ports, tcp, 4);
	s->seq = ackthin_be32(tcp + 4);
	s->end = s->seq + payload + !!(flags & FLAG_SYN) + !!(flags & FLAG_FIN);
	s->ack = ackthin_be32(tcp + 8);
	s->window = ackthin_be16(tcp + 14);
	s->has_ack = flags & FLAG_ACK;
	s->fresh = flags & (FLAG_SYN | FLAG_RST);
	if (payload)
		return ACKTHIN_DATA;
	if ((flags & ~(FLAG_ECE | FLAG_CWR)) != FLAG_ACK || tcp[12] & FLAGS_RESERVED)
		return ACKTHIN_CONTROL;
	if (flags & (FLAG_ECE | FLAG_CWR) || tcp[12] & FLAG_AE)
		return ACKTHIN_ECN;
	return ackthin_options(tcp + 20, header - 20);
}

/*
 * Read a packet of @len bytes, of which @have are present (all, or at least
 * ACKTHIN_HEADERS). False if it is not a TCP segment with ports.
 */
static inline bool ackthin_parse(struct ackthin_segment *s, const u8 *ip, u32 have, u32 len)
{
	bool fragment = false, congested;
	u32 head, total, header;

	memset(s, 0, sizeof(*s));
	if (have < 20)
		return false;
	s->key.version = ip[0] >> 4;
	if (s->key.version == 4) {
		head = (ip[0] & 15) * 4;
		total = ackthin_be16(ip + 2);
		if (head < 20 || ip[9] != 6 || ackthin_be16(ip + 6) & 0x1fff) /* a later fragment has no ports */
			return false;
		fragment = ip[6] & 0x20;
		memcpy(s->key.addresses, ip + 12, 8);
		congested = (ip[1] & 3) == 3;
	} else if (s->key.version == 6 && have >= 40 && ip[6] == 6) {
		head = 40;
		total = head + ackthin_be16(ip + 4);
		memcpy(s->key.addresses, ip + 8, 32);
		congested = (ip[1] >> 4 & 3) == 3;
	} else {
		return false;
	}
	if (total > len || head + 20 > total || head + 20 > have)
		return false;
	header = (ip[head + 12] >> 4) * 4;
	if (header < 20 || head + header > total || head + header > have)
		return false;
	s->why = ackthin_tcp(s, ip + head, header, total - head - header);
	if (fragment)
		s->why = ACKTHIN_OTHER;
	else if (congested && s->why > ACKTHIN_CONTROL)
		s->why = ACKTHIN_ECN;
	return true;
}

#endif
