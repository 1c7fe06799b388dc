// SPDX-License-Identifier: GPL-2.0-only
#include "frame.h"

#define FC_TYPE 0x0c
#define FC_MANAGEMENT 0x00
#define FC_DATA 0x08
#define FC_QOS 0x80
#define FC_NULL 0x40
#define FC_ACTION 0xd0
#define FC1_TO_DS 0x01
#define FC1_FROM_DS 0x02
#define FC1_PROTECTED 0x40
#define FC1_ORDER 0x80

enum { IPPROTO_IS_TCP = 6, IPPROTO_IS_UDP = 17, IPPROTO_IS_DSR = 48, IPPROTO_IS_NONE = 59, IPPROTO_IS_MANET = 138 };

/* The beginning of an HWMP action frame: category Mesh, HWMP Mesh Path Selection (9.4.1.11, 9.6.17.3) */
enum { ACTION_MESH = 13, MESH_PATH_SELECTION = 1 };

#define DSR_FIXED 4 /* length: a DSR Options header's fixed part (RFC 4728, 6.1), or a flow's whole header (7.1) */
#define DSR_FLOW 0x80

/* batman-adv's packets: include/uapi/linux/batadv_packet.h */
#define ETHER_BATMAN 0x4305
#define BATADV_VERSION 15
#define BATADV_FRAG_LEN 20
#define BATADV_DEST 4
enum { BATADV_UNICAST = 0x40, BATADV_FRAG = 0x41, BATADV_UNICAST_4ADDR = 0x42 };

static u16 frame_be16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

/* Classify a TCP segment: with payload, a pure ACK, or one that opens or ends a connection. */
static enum dcf_kind classify_tcp(const u8 *p, u32 len, u32 segment_len)
{
	u32 header;

	if (len < 14 || segment_len < 20)
		return DCF_OTHER;
	header = (p[12] >> 4) * 4;
	if (header < 20 || header > segment_len)
		return DCF_OTHER;
	if (p[13] & 0x07) /* FIN, SYN, RST */
		return segment_len > header ? DCF_TCP_DATA : DCF_OTHER;
	if (segment_len > header)
		return DCF_TCP_DATA;
	return p[13] & 0x10 ? DCF_TCP_ACK : DCF_OTHER;
}

/* Ports of manet protocols, AODV, OLSR and Babel (IANA). */
static bool is_routing_port(u16 port)
{
	return port == 269 || port == 654 || port == 698 || port == 6696;
}

/*
 * Classify a packet's payload of @payload bytes, of which @len are present.
 * After a DSR header, the next header decides. A packet with nothing after it,
 * or with a second one, is routing.
 */
static enum dcf_kind classify_transport(u8 protocol, const u8 *p, u32 len, u32 payload)
{
	if (protocol == IPPROTO_IS_DSR && len >= DSR_FIXED && p[0] != IPPROTO_IS_NONE) {
		u32 header = DSR_FIXED + (p[1] & DSR_FLOW ? 0 : frame_be16(p + 2));

		if (header <= len && header <= payload) {
			protocol = p[0];
			p += header;
			len -= header;
			payload -= header;
		}
	}
	switch (protocol) {
	case IPPROTO_IS_TCP:
		return classify_tcp(p, len, payload);
	case IPPROTO_IS_UDP:
		return len >= 4 && is_routing_port(frame_be16(p + 2)) ? DCF_ROUTING : DCF_UDP;
	case IPPROTO_IS_DSR:
	case IPPROTO_IS_MANET:
		return DCF_ROUTING;
	default:
		return DCF_OTHER;
	}
}

static enum dcf_kind classify_ipv4(const u8 *p, u32 len)
{
	u32 header, total;

	if (len < 20 || p[0] >> 4 != 4)
		return DCF_OTHER;
	header = (p[0] & 0x0f) * 4;
	total = frame_be16(p + 2);
	if (header < 20 || total < header || len < header)
		return DCF_OTHER;
	if (frame_be16(p + 6) & 0x1fff) /* a later fragment has no transport header */
		return p[9] == IPPROTO_IS_UDP ? DCF_UDP : DCF_OTHER;
	return classify_transport(p[9], p + header, len - header, total - header);
}

/* Extension headers are not followed: packets with them count as OTHER. */
static enum dcf_kind classify_ipv6(const u8 *p, u32 len)
{
	if (len < 40 || p[0] >> 4 != 6)
		return DCF_OTHER;
	return classify_transport(p[6], p + 40, len - 40, frame_be16(p + 4));
}

static enum dcf_kind classify_ether(u16 type, const u8 *p, u32 len)
{
	switch (type) {
	case 0x0800:
		return classify_ipv4(p, len);
	case 0x86dd:
		return classify_ipv6(p, len);
	case ETHER_BATMAN: /* inside another one */
		return DCF_ROUTING;
	default:
		return DCF_OTHER;
	}
}

/*
 * Classify a batman-adv packet: a unicast packet is what its Ethernet frame is.
 * So is the first fragment of one, which is recognized by a second header to the
 * same destination. A fragment has no sign of being the first; its number only
 * marks the last.
 */
static enum dcf_kind classify_batman(const u8 *p, u32 len)
{
	u32 header;

	if (len >= BATADV_FRAG_LEN && p[0] == BATADV_FRAG && p[1] == BATADV_VERSION) {
		const u8 *dest = p + BATADV_DEST;

		p += BATADV_FRAG_LEN;
		len -= BATADV_FRAG_LEN;
		if (len < BATADV_DEST + DCF_ALEN || p[1] != BATADV_VERSION || !dcf_same_addr(p + BATADV_DEST, dest))
			return DCF_OTHER;
	}
	if (len < 2 || p[1] != BATADV_VERSION)
		return DCF_ROUTING;
	if (p[0] != BATADV_UNICAST && p[0] != BATADV_UNICAST_4ADDR)
		return DCF_ROUTING;
	header = p[0] == BATADV_UNICAST ? 10 : 18;
	if (len < header + 14)
		return DCF_OTHER;
	return classify_ether(frame_be16(p + header + 12), p + header + 14, len - header - 14);
}

static enum dcf_kind classify_management(const u8 *frame, u32 len)
{
	const u8 *body = frame + DCF_HDR_LEN;

	if (len < DCF_HDR_LEN + 2 || frame[0] != FC_ACTION || frame[1] & FC1_PROTECTED)
		return DCF_MANAGEMENT;
	return body[0] == ACTION_MESH && body[1] == MESH_PATH_SELECTION ? DCF_ROUTING : DCF_MANAGEMENT;
}

enum dcf_kind dcf_classify(const u8 *frame, u32 len)
{
	static const u8 snap[6] = { 0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00 };
	u32 at = DCF_HDR_LEN;

	if (len < DCF_HDR_LEN)
		return DCF_OTHER;
	if ((frame[0] & FC_TYPE) == FC_MANAGEMENT)
		return classify_management(frame, len);
	if ((frame[0] & FC_TYPE) != FC_DATA || frame[0] & FC_NULL)
		return DCF_OTHER;
	if (frame[1] & FC1_PROTECTED)
		return DCF_ENCRYPTED;
	if ((frame[1] & (FC1_TO_DS | FC1_FROM_DS)) == (FC1_TO_DS | FC1_FROM_DS))
		at += DCF_ALEN;
	if (frame[0] & FC_QOS) {
		bool mesh = at + 2 <= len && frame[at + 1] & 0x01; /* Mesh Control Present (9.2.4.5.9) */
		bool several = at + 2 <= len && frame[at] & 0x80; /* A-MSDU Present (9.2.4.5.9): it is what its first MSDU is */

		at += 2 + (several ? 2 * DCF_ALEN + 2 : 0);
		if (frame[1] & FC1_ORDER)
			at += 4; /* HT Control */
		if (mesh && at < len)
			at += 6 + (frame[at] & 0x03) * DCF_ALEN; /* 9.2.4.7.3 */
	}
	if (at + 8 > len || memcmp(frame + at, snap, sizeof(snap)))
		return DCF_OTHER;
	if (frame_be16(frame + at + 6) == ETHER_BATMAN)
		return classify_batman(frame + at + 8, len - at - 8);
	return classify_ether(frame_be16(frame + at + 6), frame + at + 8, len - at - 8);
}

enum dcf_category dcf_categorise(const u8 *frame, u32 len)
{
	/* By user priority (10.2.4.2, table 10-1). */
	static const u8 of_priority[8] = { DCF_BE, DCF_BK, DCF_BK, DCF_BE, DCF_VI, DCF_VI, DCF_VO, DCF_VO };
	u32 at = DCF_HDR_LEN;

	if (dcf_is_request(frame, len))
		return of_priority[dcf_block_tid(frame) & 0x07];
	if (len < DCF_HDR_LEN || (frame[0] & FC_TYPE) != FC_DATA)
		return DCF_VO;
	if ((frame[1] & (FC1_TO_DS | FC1_FROM_DS)) == (FC1_TO_DS | FC1_FROM_DS))
		at += DCF_ALEN;
	return frame[0] & FC_QOS && at < len ? of_priority[frame[at] & 0x07] : DCF_BE;
}

static u32 make_control(u8 *out, u8 subtype, const u8 *ra, u16 duration_us)
{
	out[0] = subtype;
	out[1] = 0;
	dcf_set_duration(out, duration_us);
	memcpy(out + 4, ra, DCF_ALEN);
	return 10;
}

u32 dcf_make_rts(u8 *out, const u8 *ra, const u8 *ta, u16 duration_us)
{
	u32 len = make_control(out, 0xb4, ra, duration_us);

	memcpy(out + len, ta, DCF_ALEN);
	return len + DCF_ALEN;
}

u32 dcf_make_cts(u8 *out, const u8 *ra, u16 duration_us)
{
	return make_control(out, 0xc4, ra, duration_us);
}

u32 dcf_make_ack(u8 *out, const u8 *ra, u16 duration_us)
{
	return make_control(out, 0xd4, ra, duration_us);
}

bool dcf_is_qos_data(const u8 *frame, u32 len)
{
	return len >= DCF_HDR_LEN && (frame[0] & (FC_TYPE | FC_QOS)) == (FC_DATA | FC_QOS);
}

u8 dcf_tid(const u8 *frame, u32 len)
{
	u32 at = DCF_HDR_LEN;

	if (!dcf_is_qos_data(frame, len))
		return 0;
	if ((frame[1] & (FC1_TO_DS | FC1_FROM_DS)) == (FC1_TO_DS | FC1_FROM_DS))
		at += DCF_ALEN;
	return at < len ? frame[at] & 0x0f : 0;
}

enum { FC_BAR = 0x84, FC_BLOCK_ACK = 0x94 };
enum { BLOCK_CONTROL = 16, BLOCK_START = 18, BLOCK_BITMAP = 20 };
#define COMPRESSED 0x04 /* BA Type (9.3.1.8.1) */
#define BITMAP_256 0x04 /* fragment number (9.3.1.8.2) */

static u32 make_block(u8 *out, u8 subtype, const u8 *ra, const u8 *ta, u16 duration_us, u8 tid, u16 start, u8 fragment)
{
	u32 len = make_control(out, subtype, ra, duration_us);

	memcpy(out + len, ta, DCF_ALEN);
	out[BLOCK_CONTROL] = COMPRESSED;
	out[BLOCK_CONTROL + 1] = tid << 4;
	out[BLOCK_START] = start << 4 | fragment;
	out[BLOCK_START + 1] = start >> 4;
	return BLOCK_BITMAP;
}

u32 dcf_make_block_ack(u8 *out, const u8 *ra, const u8 *ta, u16 duration_us, u8 tid, u16 start, const u8 *bitmap, u32 bytes)
{
	u32 len = make_block(out, FC_BLOCK_ACK, ra, ta, duration_us, tid, start, bytes == 32 ? BITMAP_256 : 0);

	memcpy(out + len, bitmap, bytes);
	return len + bytes;
}

u32 dcf_make_request(u8 *out, const u8 *ra, const u8 *ta, u16 duration_us, u8 tid, u16 start)
{
	return make_block(out, FC_BAR, ra, ta, duration_us, tid, start, 0);
}

static bool is_block(const u8 *frame, u32 len, u8 subtype)
{
	return len >= BLOCK_BITMAP && frame[0] == subtype && (frame[BLOCK_CONTROL] & 0x1e) == COMPRESSED;
}

bool dcf_is_request(const u8 *frame, u32 len)
{
	return is_block(frame, len, FC_BAR);
}

static u32 bitmap_bytes(const u8 *frame)
{
	return (frame[BLOCK_START] & 0x0f) == BITMAP_256 ? 32 : 8;
}

bool dcf_is_block_ack(const u8 *frame, u32 len)
{
	return is_block(frame, len, FC_BLOCK_ACK) && len >= BLOCK_BITMAP + bitmap_bytes(frame);
}

u8 dcf_block_tid(const u8 *frame)
{
	return frame[BLOCK_CONTROL + 1] >> 4;
}

u16 dcf_block_start(const u8 *frame)
{
	return frame[BLOCK_START] >> 4 | frame[BLOCK_START + 1] << 4;
}

bool dcf_block_acks(const u8 *frame, u32 len, u16 sequence)
{
	u16 at = (sequence - dcf_block_start(frame)) & 0xfff;

	return dcf_is_block_ack(frame, len) && at < 8 * bitmap_bytes(frame) && frame[BLOCK_BITMAP + at / 8] >> at % 8 & 1;
}
