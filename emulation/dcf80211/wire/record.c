// SPDX-License-Identifier: GPL-2.0-only
#include "record.h"

enum { RECORD_TX = 1, RECORD_RX, RECORD_END, RECORD_MARK };

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

/* The first 16 bytes of all records. @head: the length of these and of what follows, without @body. */
static u32 record_begin(u8 *p, u32 head, u32 body, u8 type, u8 what, u16 station, u16 other, u64 id)
{
	memset(p, 0, head);
	record_put16(p, (head + body + 7) & ~7U);
	p[2] = type;
	p[3] = what;
	record_put16(p + 4, station);
	record_put16(p + 6, other);
	record_put64(p + 8, id);
	return head;
}

u32 record_write_tx(u8 *out, const struct record_tx *r)
{
	u32 len = record_begin(out, RECORD_TX_HEAD, r->bytes, RECORD_TX, r->kind, r->station, r->receiver, r->id);

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
	record_put16(out + 50, r->more);
	record_put16(out + 52, r->kept);
	record_put16(out + 54, r->mode);
	return len;
}

u32 record_write_rx(u8 *out, const struct record_rx *r)
{
	u32 words = r->lost ? r->more / 64 + 1 : 0, word;
	u32 len = record_begin(out, 32 + 16 * words, 0, RECORD_RX, r->outcome, r->station, r->other, r->id);

	record_put64(out + 16, r->start_ns);
	record_put32(out + 24, r->power_mdbm);
	out[28] = r->other_kind;
	out[29] = r->addressed;
	record_put16(out + 30, r->more);
	for (word = 0; word < words; word++) {
		record_put64(out + 32 + 8 * word, r->lost[word]);
		record_put64(out + 32 + 8 * (words + word), r->hit[word]);
	}
	return len;
}

u32 record_write_end(u8 *out, const struct record_end *r)
{
	u32 len = record_begin(out, 32, 0, RECORD_END, r->reason, r->station, r->kind | r->category << 8, r->last_tx);

	record_put64(out + 16, r->time_ns);
	record_put32(out + 24, r->msdu);
	out[28] = r->short_retries;
	out[29] = r->long_retries;
	return len;
}

u32 record_write_mpdu(u8 *out, const struct record_mpdu *r)
{
	record_put64(out, r->queued_ns);
	record_put32(out + 8, r->msdu);
	record_put32(out + 12, r->offset);
	record_put16(out + 16, r->len);
	record_put16(out + 18, r->kept);
	out[20] = r->kind;
	out[21] = r->attempt;
	record_put16(out + 22, 0);
	return RECORD_MPDU_HEAD;
}

u32 record_write_mark(u8 *out, const struct record_mark *r)
{
	return record_begin(out, 24, 0, RECORD_MARK, r->stop, r->lost, r->lost >> 16, r->time_ns);
}
