// SPDX-License-Identifier: GPL-2.0-only
#include "record.h"

enum { RECORD_TX = 1, RECORD_RX, RECORD_END, RECORD_MARK, RECORD_MPDU, RECORD_LOST };
enum { TX_HEAD = RECORD_HEAD, RX_SIZE = 32, END_SIZE = 32, MARK_SIZE = 24, MPDU_SIZE = 32, LOST_SIZE = 24 };

static void record_put16(u8 *p, u16 v)
{
	p[0] = v;
	p[1] = v >> 8;
}

static void record_put32(u8 *p, u32 v)
{
	record_put16(p, v);
	record_put16(p + 2, v >> 16);
}

static void record_put64(u8 *p, u64 v)
{
	record_put32(p, v);
	record_put32(p + 4, v >> 32);
}

static void record_begin(u8 *p, u32 head, u32 body, u8 type, u8 what, u16 station)
{
	memset(p, 0, head);
	record_put16(p, (head + body + 7) & ~7U);
	p[2] = type;
	p[3] = what;
	record_put16(p + 4, station);
}

u32 record_write_tx(u8 *out, const struct record_tx *r)
{
	record_begin(out, TX_HEAD, r->kept, RECORD_TX, r->kind, r->station);
	record_put16(out + 6, r->receiver);
	record_put64(out + 8, r->id);
	record_put64(out + 16, r->start_ns);
	record_put32(out + 24, r->duration_ns);
	record_put16(out + 28, r->rate);
	record_put16(out + 30, r->freq);
	record_put64(out + 32, r->queued_ns);
	record_put16(out + 40, r->len);
	out[42] = r->attempt;
	out[43] = r->short_preamble;
	record_put32(out + 44, r->msdu);
	out[48] = r->category;
	record_put16(out + 52, r->kept);
	return TX_HEAD;
}

u32 record_write_rx(u8 *out, const struct record_rx *r)
{
	record_begin(out, RX_SIZE, 0, RECORD_RX, r->outcome, r->station);
	record_put16(out + 6, r->other);
	record_put64(out + 8, r->id);
	record_put64(out + 16, r->start_ns);
	record_put32(out + 24, r->power_mdbm);
	out[28] = r->other_kind;
	out[29] = r->addressed;
	return RX_SIZE;
}

u32 record_write_end(u8 *out, const struct record_end *r)
{
	record_begin(out, END_SIZE, 0, RECORD_END, r->reason, r->station);
	out[6] = r->kind;
	out[7] = r->category;
	record_put64(out + 8, r->last_tx);
	record_put64(out + 16, r->time_ns);
	record_put32(out + 24, r->msdu);
	out[28] = r->short_retries;
	out[29] = r->long_retries;
	return END_SIZE;
}

u32 record_write_mpdu(u8 *out, const struct record_mpdu *r)
{
	record_begin(out, MPDU_SIZE, 0, RECORD_MPDU, r->kind, r->station);
	record_put16(out + 6, r->place);
	record_put64(out + 8, r->id);
	record_put32(out + 16, r->msdu);
	record_put32(out + 20, r->offset);
	record_put16(out + 24, r->len);
	record_put16(out + 26, r->sequence);
	out[28] = r->attempt;
	return MPDU_SIZE;
}

u32 record_write_lost(u8 *out, const struct record_lost *r)
{
	record_begin(out, LOST_SIZE, 0, RECORD_LOST, r->outcome, r->station);
	record_put16(out + 6, r->place);
	record_put64(out + 8, r->id);
	record_put16(out + 16, r->other);
	return LOST_SIZE;
}

u32 record_write_mark(u8 *out, const struct record_mark *r)
{
	record_begin(out, MARK_SIZE, 0, RECORD_MARK, r->stop, 0);
	record_put32(out + 4, r->lost);
	record_put64(out + 8, r->time_ns);
	return MARK_SIZE;
}
