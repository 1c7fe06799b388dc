// SPDX-License-Identifier: GPL-2.0-only
#include "record.h"

enum { RECORD_TX = 1, RECORD_RX, RECORD_END, RECORD_MARK };
enum { TX_HEAD = RECORD_HEAD, RX_SIZE = 32, END_SIZE = 32, MARK_SIZE = 24 };

static void put16(u8 *p, u16 v)
{
	p[0] = v;
	p[1] = v >> 8;
}

static void put32(u8 *p, u32 v)
{
	put16(p, v);
	put16(p + 2, v >> 16);
}

static void put64(u8 *p, u64 v)
{
	put32(p, v);
	put32(p + 4, v >> 32);
}

static void begin(u8 *p, u32 head, u32 body, u8 type, u8 what, u16 station)
{
	memset(p, 0, head);
	put16(p, (head + body + 7) & ~7U);
	p[2] = type;
	p[3] = what;
	put16(p + 4, station);
}

u32 record_write_tx(u8 *out, const struct record_tx *r)
{
	begin(out, TX_HEAD, r->kept, RECORD_TX, r->kind, r->station);
	put16(out + 6, r->receiver);
	put64(out + 8, r->id);
	put64(out + 16, r->start_ns);
	put32(out + 24, r->duration_ns);
	put16(out + 28, r->rate);
	put16(out + 30, r->freq);
	put64(out + 32, r->queued_ns);
	put16(out + 40, r->len);
	out[42] = r->attempt;
	out[43] = r->short_preamble;
	put32(out + 44, r->msdu);
	out[48] = r->category;
	put16(out + 52, r->kept);
	return TX_HEAD;
}

u32 record_write_rx(u8 *out, const struct record_rx *r)
{
	begin(out, RX_SIZE, 0, RECORD_RX, r->outcome, r->station);
	put16(out + 6, r->other);
	put64(out + 8, r->id);
	put64(out + 16, r->start_ns);
	put32(out + 24, r->power_mdbm);
	out[28] = r->other_kind;
	out[29] = r->addressed;
	return RX_SIZE;
}

u32 record_write_end(u8 *out, const struct record_end *r)
{
	begin(out, END_SIZE, 0, RECORD_END, r->reason, r->station);
	out[6] = r->kind;
	out[7] = r->category;
	put64(out + 8, r->last_tx);
	put64(out + 16, r->time_ns);
	put32(out + 24, r->msdu);
	out[28] = r->short_retries;
	out[29] = r->long_retries;
	return END_SIZE;
}

u32 record_write_mark(u8 *out, const struct record_mark *r)
{
	begin(out, MARK_SIZE, 0, RECORD_MARK, r->stop, 0);
	put32(out + 4, r->lost);
	put64(out + 8, r->time_ns);
	return MARK_SIZE;
}
