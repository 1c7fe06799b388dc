/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of 802.11 frames: header fields that the DCF reads and writes, its
 * control frames, and the classification of data frames (IEEE 802.11-2016, 9.2
 * and 9.3). Every access is bounds-checked, because the bytes may come from
 * anywhere.
 */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include "../types.h"

#define DCF_ALEN 6
#define DCF_HDR_LEN 24 /* the shortest frame that hwsim passes on */
#define DCF_MAX_LEN 2400
#define DCF_MAX_MPDU 11450 /* of VHT and later, with an A-MSDU; no FCS */

/* The kinds of frames for the counters; docs/records.md, section 3, explains them. */
enum dcf_kind {
	DCF_RTS,
	DCF_CTS,
	DCF_ACK,
	DCF_TCP_DATA,
	DCF_TCP_ACK,
	DCF_ROUTING,
	DCF_MANAGEMENT,
	DCF_OTHER,
	DCF_ENCRYPTED, /* data frames whose content is not readable */
	DCF_UDP, /* a datagram, or a fragment of one */
	DCF_KINDS
};

enum dcf_kind dcf_classify(const u8 *frame, u32 len);

/* Access categories in order of priority, with the kernel's numbers (enum ieee80211_ac_numbers). */
enum dcf_category { DCF_VO, DCF_VI, DCF_BE, DCF_BK, DCF_CATEGORIES };

/* The category of a frame from the kernel: by its user priority, as in mac80211 (ieee80211_select_queue_80211()). */
enum dcf_category dcf_categorise(const u8 *frame, u32 len);

static inline const u8 *dcf_addr1(const u8 *frame)
{
	return frame + 4;
}

static inline bool dcf_is_group(const u8 *addr)
{
	return addr[0] & 1;
}

static inline bool dcf_same_addr(const u8 *a, const u8 *b)
{
	return !memcmp(a, b, DCF_ALEN);
}

/* Whether it is an access point's beacon, by its subtype and Capability Information (9.3.3.3, 9.4.1.4). */
static inline bool dcf_is_ap_beacon(const u8 *frame, u32 len)
{
	return len > DCF_HDR_LEN + 10 && frame[0] == 0x80 && frame[DCF_HDR_LEN + 10] & 0x01;
}

static inline u16 dcf_sequence_control(const u8 *frame)
{
	return frame[22] | frame[23] << 8;
}

/* Whether @next is the next fragment of the same MSDU after @frame (9.2.4.1.5, 9.2.4.4). */
static inline bool dcf_goes_on(const u8 *frame, const u8 *next)
{
	return frame[1] & 0x04 && dcf_sequence_control(next) == dcf_sequence_control(frame) + 1 &&
	       !memcmp(dcf_addr1(frame), dcf_addr1(next), 2 * DCF_ALEN);
}

static inline void dcf_set_retry(u8 *frame)
{
	frame[1] |= 0x08; /* Frame Control, Retry (9.2.4.1.6) */
}

static inline void dcf_set_duration(u8 *frame, u16 us)
{
	frame[2] = us & 0xff;
	frame[3] = us >> 8;
}

static inline u16 dcf_get_duration(const u8 *frame)
{
	u16 us = frame[2] | frame[3] << 8;

	return us & 0x8000 ? 0 : us; /* otherwise it is an AID */
}

/* Make a control frame, without FCS, in @out (at least 16 bytes); return its length. */
u32 dcf_make_rts(u8 *out, const u8 *ra, const u8 *ta, u16 duration_us);
u32 dcf_make_cts(u8 *out, const u8 *ra, u16 duration_us);
u32 dcf_make_ack(u8 *out, const u8 *ra, u16 duration_us);

/* The longest control frame, without FCS: a block ACK of 256. */
#define DCF_CONTROL_LEN 52

static inline u16 dcf_sequence(const u8 *frame)
{
	return dcf_sequence_control(frame) >> 4;
}

/* A fragment, by More Fragments or its number. */
static inline bool dcf_is_fragment(const u8 *frame)
{
	return frame[1] & 0x04 || dcf_sequence_control(frame) & 0x0f;
}

bool dcf_is_qos_data(const u8 *frame, u32 len);
/* The TID of QoS data; otherwise 0 (9.2.4.5.2). */
u8 dcf_tid(const u8 *frame, u32 len);

/*
 * A compressed block ACK (9.3.1.8), and the request for one (9.3.1.7). The bitmap
 * has 8 or 32 bytes, as the fragment number of the Starting Sequence Control
 * says. Readers accept any bytes.
 */
u32 dcf_make_block_ack(u8 *out, const u8 *ra, const u8 *ta, u16 duration_us, u8 tid, u16 start, const u8 *bitmap, u32 bytes);
u32 dcf_make_request(u8 *out, const u8 *ra, const u8 *ta, u16 duration_us, u8 tid, u16 start);
bool dcf_is_request(const u8 *frame, u32 len);
bool dcf_is_block_ack(const u8 *frame, u32 len);
/* The sequence number of both. */
u8 dcf_block_tid(const u8 *frame);
u16 dcf_block_start(const u8 *frame);
/* Does this block ACK acknowledge this MPDU? */
bool dcf_block_acks(const u8 *frame, u32 len, u16 sequence);

#endif
