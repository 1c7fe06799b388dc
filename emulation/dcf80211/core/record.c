// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace records: docs/interfaces.md, section 3. Each is written as bytes of one
 * layout, little-endian, whatever machine this is.
 */
#include "state.h"

enum { RECORD_TX = 1, RECORD_RX, RECORD_END, RECORD_MARK };
enum { TX_HEAD = 56, RX_SIZE = 32, END_SIZE = 32, MARK_SIZE = 24 };

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

static void begin(u8 *p, u32 size, u8 type, u8 what, u16 station)
{
	memset(p, 0, TX_HEAD);
	put16(p, size);
	p[2] = type;
	p[3] = what;
	put16(p + 4, station);
}

static void write_record(struct dcf *dcf, const u8 *head, u32 head_len, const void *body, u32 body_len)
{
	if (dcf->config.trace)
		dcf->ops->record(dcf->edge, head, head_len, body, body_len);
}

void record_tx(struct dcf *dcf, const struct transmission *tx, u32 duration_ns)
{
	const struct dcf_frame *f = tx->frame;
	u32 len = tx->len < dcf->config.snap ? tx->len : dcf->config.snap;
	u8 r[TX_HEAD];

	begin(r, (TX_HEAD + len + 7) & ~7U, RECORD_TX, tx->kind, tx->from);
	put16(r + 6, tx->receiver);
	put64(r + 8, tx->id);
	put64(r + 16, tx->start);
	put32(r + 24, duration_ns);
	put16(r + 28, tx->rate);
	put16(r + 30, tx->freq);
	put64(r + 32, f ? f->queued_ns : 0);
	put16(r + 40, tx->len + FCS_LEN);
	r[42] = !f || tx->kind == DCF_CTS ? 1 : tx->kind == DCF_RTS ? f->rts_tries : f->tries;
	r[43] = tx->short_preamble;
	put32(r + 44, f ? f->msdu : 0);
	put16(r + 52, len);
	write_record(dcf, r, TX_HEAD, tx->bytes, len);
}

void record_rx(struct dcf *dcf, const struct dcf_station *s, const struct transmission *tx, const struct arrival *arrival,
	       const struct dcf_link *link, enum dcf_outcome outcome)
{
	u8 r[TX_HEAD];

	begin(r, RX_SIZE, RECORD_RX, outcome, s->index);
	put16(r + 6, outcome == DCF_COLLISION || outcome == DCF_OWN_TX ? arrival->other : DCF_NOBODY);
	put64(r + 8, tx->id);
	put64(r + 16, tx->start + link->delay_ns);
	put32(r + 24, link->power_mdbm);
	r[28] = arrival->other_kind;
	r[29] = tx->receiver == s->index;
	write_record(dcf, r, RX_SIZE, NULL, 0);
}

void record_end(struct dcf *dcf, struct dcf_station *s, const struct dcf_frame *f, enum dcf_reason why)
{
	u8 r[TX_HEAD];

	if (!dcf->measuring || f->queued_ns < dcf->started)
		return;
	s->counters.end[f->kind][why]++;
	begin(r, END_SIZE, RECORD_END, why, s->index);
	r[6] = f->kind;
	put64(r + 8, f->last_tx);
	put64(r + 16, dcf->now);
	put32(r + 24, f->msdu);
	r[28] = f->src;
	r[29] = f->lrc;
	write_record(dcf, r, END_SIZE, NULL, 0);
}

void record_mark(struct dcf *dcf, bool stop, u32 lost)
{
	u8 r[TX_HEAD];

	begin(r, MARK_SIZE, RECORD_MARK, stop, 0);
	put32(r + 4, lost);
	put64(r + 8, dcf->now);
	write_record(dcf, r, MARK_SIZE, NULL, 0);
}
