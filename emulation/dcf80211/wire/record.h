/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace records: docs/records.md, section 3. They are written in one layout,
 * little-endian, on any machine. Times are in nanoseconds. Numbers of stations,
 * kinds, outcomes and reasons are the core's.
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include "../types.h"

/* Lengths: of the longest record without a frame; of a transmission's, and of each MPDU's after its first, without theirs. */
#define RECORD_HEAD 96
#define RECORD_TX_HEAD 56
#define RECORD_MPDU_HEAD 24
/* Length of the longest record. */
#define RECORD_MOST 65528

/* A PPDU begins; what it says of an MPDU is the first one's. */
struct record_tx {
	u64 id, start_ns;
	u64 queued_ns; /* when the kernel passed the frame on; 0: the frame is not from the kernel */
	u32 duration_ns;
	u32 msdu; /* its number at the station; 0: it is not from the kernel */
	u16 station, receiver; /* or DCF_NOBODY */
	u16 rate, freq; /* 100 kb/s, MHz */
	u16 len; /* with FCS */
	u16 kept; /* bytes of the frame that follow */
	u16 more; /* MPDUs after the first */
	u16 mode; /* its code; 0: a legacy rate */
	u32 bytes; /* all that follow */
	u8 kind, attempt;
	u8 category; /* 1 + enum dcf_category; 0: none */
	bool short_preamble;
};

/* One of those, in the same record. */
struct record_mpdu {
	u64 queued_ns;
	u32 msdu;
	u32 offset; /* of its delimiter in the PSDU */
	u16 len, kept;
	u8 kind, attempt;
};

/* A transmission has passed a receiver. */
struct record_rx {
	u64 id, start_ns; /* of the arrival */
	s32 power_mdbm;
	u16 station;
	u16 other; /* the station that corrupted it, or DCF_NOBODY */
	u8 outcome, other_kind;
	bool addressed;
	u16 more; /* MPDUs after the first */
	const u64 *lost, *hit; /* bitmaps of MPDUs: lost, and lost in a collision; NULL: none was lost */
};

/* A station has finished a frame. */
struct record_end {
	u64 last_tx, time_ns; /* last_tx: the id of its last transmission, or 0 */
	u32 msdu;
	u16 station;
	u8 kind, reason;
	u8 short_retries, long_retries;
	u8 category; /* as in struct record_tx */
};

/* The measurement begins or ends. */
struct record_mark {
	u64 time_ns;
	u32 lost;
	bool stop;
};

/*
 * Write a record to @out, which has RECORD_HEAD bytes, and return its length.
 * The kept bytes of a transmission's frame follow it, and its other MPDUs.
 */
u32 record_write_tx(u8 *out, const struct record_tx *r);
u32 record_write_rx(u8 *out, const struct record_rx *r);
u32 record_write_end(u8 *out, const struct record_end *r);
u32 record_write_mpdu(u8 *out, const struct record_mpdu *r);
u32 record_write_mark(u8 *out, const struct record_mark *r);

#endif
