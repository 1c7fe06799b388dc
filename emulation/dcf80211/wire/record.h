/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace records: docs/records.md, section 3. They are written in one layout,
 * little-endian, on any machine. Times are in nanoseconds. Numbers of stations,
 * kinds, outcomes and reasons are the core's.
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include "../types.h"

/* Length of the longest record without a frame. */
#define RECORD_HEAD 56

/* A transmission begins. */
struct record_tx {
	u64 id, start_ns;
	u64 queued_ns; /* when the kernel passed the frame on; 0: the frame is not from the kernel */
	u32 duration_ns;
	u32 msdu; /* its number at the station; 0: it is not from the kernel */
	u16 station, receiver; /* or DCF_NOBODY */
	u16 rate, freq; /* 100 kb/s, MHz */
	u16 len; /* with FCS */
	u16 kept; /* bytes of the frame that follow */
	u8 kind, attempt;
	u8 category; /* 1 + enum dcf_category; 0: none */
	bool short_preamble;
};

/* A transmission has passed a receiver. */
struct record_rx {
	u64 id, start_ns; /* of the arrival */
	s32 power_mdbm;
	u16 station;
	u16 other; /* the station that corrupted it, or DCF_NOBODY */
	u8 outcome, other_kind;
	bool addressed;
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

/* An MPDU of the PPDU of several MPDUs that has begun. */
struct record_mpdu {
	u64 id;
	u32 msdu, offset; /* offset: of its delimiter in the PSDU */
	u16 station, len, sequence, place;
	u8 kind, attempt;
};

/* One MPDU of a received PPDU was lost. */
struct record_lost {
	u64 id;
	u16 station, place;
	u16 other; /* the station that corrupted it, or DCF_NOBODY */
	u8 outcome;
};

/* The measurement begins or ends. */
struct record_mark {
	u64 time_ns;
	u32 lost;
	bool stop;
};

/*
 * Write a record to @out, which has RECORD_HEAD bytes, and return its length.
 * The kept bytes of a transmission's frame follow it.
 */
u32 record_write_tx(u8 *out, const struct record_tx *r);
u32 record_write_rx(u8 *out, const struct record_rx *r);
u32 record_write_end(u8 *out, const struct record_end *r);
u32 record_write_mpdu(u8 *out, const struct record_mpdu *r);
u32 record_write_lost(u8 *out, const struct record_lost *r);
u32 record_write_mark(u8 *out, const struct record_mark *r);

#endif
