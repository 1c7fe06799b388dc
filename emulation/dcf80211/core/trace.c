// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the core writes to the trace. The end of a frame is counted here as well,
 * because its record and its count have one condition.
 */
#include "state.h"

/* Append an MPDU's bytes to the record, up to a multiple of 8. Return the record's length. */
static u32 keep_bytes(struct dcf *dcf, u32 at, const u8 *bytes, u32 kept)
{
	u32 padded = (kept + 7) & ~7U;

	memcpy(dcf->record + at, bytes, kept);
	memset(dcf->record + at + kept, 0, padded - kept);
	return at + padded;
}

/* A PPDU of several is one record. If they do not fit it, fewer bytes of each are kept. */
static void trace_aggregate(struct dcf *dcf, const struct transmission *tx, struct record_tx *r)
{
	const u32 most = ((RECORD_MOST - RECORD_TX_HEAD) / tx->n - RECORD_MPDU_HEAD) & ~7U;
	const int slot = tx - dcf->station[tx->from].tx;
	const struct dcf_mode *mode = mode_of(dcf, tx->mode);
	struct ampdu place = { 0 };
	const struct dcf_frame *f;
	u32 at = RECORD_TX_HEAD;

	for (f = tx->frame; f; f = mpdu_after(tx, f, slot)) {
		const u16 kept = dcf_min(dcf_min(f->len, dcf->config.snap), most);

		place = ampdu_with(&place, mode, tx->spacing_ns, f->len + FCS_LEN);
		if (f == tx->frame) {
			r->kept = kept;
		} else {
			const struct record_mpdu m = {
				.queued_ns = f->queued_ns,
				.msdu = f->msdu,
				.offset = place.start,
				.len = f->len + FCS_LEN,
				.kept = kept,
				.kind = f->kind,
				.attempt = f->tries,
			};

			at += record_write_mpdu(dcf->record + at, &m);
		}
		at = keep_bytes(dcf, at, f->bytes, kept);
	}
	r->bytes = at - RECORD_TX_HEAD;
	record_write_tx(dcf->record, r);
	dcf->ops->record(dcf->edge, dcf->record, at, NULL, 0);
}

void trace_tx(struct dcf *dcf, const struct transmission *tx, u32 duration_ns)
{
	const struct dcf_frame *f = tx->frame;
	u8 head[RECORD_HEAD];
	struct record_tx r;

	if (!dcf->config.trace)
		return;
	r = (struct record_tx){
		.id = tx->id,
		.start_ns = tx->start,
		.queued_ns = f ? f->queued_ns : 0,
		.duration_ns = duration_ns,
		.msdu = f ? f->msdu : 0,
		.station = tx->from,
		.receiver = tx->receiver,
		.rate = mode_of(dcf, tx->mode)->rate,
		.freq = tx->freq,
		.len = tx->len + FCS_LEN,
		.kept = dcf_min(tx->len, dcf->config.snap),
		.more = tx->n - 1,
		.mode = mode_of(dcf, tx->mode)->code,
		.kind = tx->kind,
		.attempt = !f || tx->kind == DCF_CTS ? 1 : tx->kind == DCF_RTS ? f->rts_tries : f->tries,
		.category = f && dcf->config.edca ? 1 + f->category : 0,
		.short_preamble = tx->short_preamble,
	};
	if (tx->n > 1)
		return trace_aggregate(dcf, tx, &r);
	r.bytes = r.kept;
	dcf->ops->record(dcf->edge, head, record_write_tx(head, &r), tx->bytes, r.kept);
}

static bool lost_any(const struct dcf_station *s, u16 n)
{
	u16 word;

	for (word = 0; n > 1 && word * 64 < n; word++)
		if (s->mpdus.lost[word])
			return true;
	return false;
}

void trace_rx(struct dcf *dcf, const struct dcf_station *s, const struct transmission *tx, const struct arrival *arrival,
	      const struct dcf_link *link, bool followed, enum dcf_outcome outcome)
{
	u8 head[RECORD_HEAD];
	struct record_rx r;

	if (!dcf->config.trace)
		return;
	r = (struct record_rx){
		.id = tx->id,
		.start_ns = tx->start + link->delay_ns,
		.power_mdbm = link->power_mdbm,
		.station = s->index,
		.other = outcome == DCF_COLLISION || outcome == DCF_OWN_TX ? arrival->other : DCF_NOBODY,
		.outcome = outcome,
		.other_kind = arrival->other_kind,
		.addressed = tx->receiver == s->index,
		.more = tx->n - 1,
	};
	if (followed && outcome == DCF_OK && lost_any(s, tx->n)) {
		r.lost = s->mpdus.lost;
		r.hit = s->mpdus.hit;
		r.other = arrival->other;
	}
	dcf->ops->record(dcf->edge, head, record_write_rx(head, &r), NULL, 0);
}

static void count_end(struct dcf_share *share, enum dcf_reason why)
{
	switch (why) {
	case DCF_ACKED:
		share->acked++;
		break;
	case DCF_GROUP:
		share->group++;
		break;
	case DCF_QUEUE_FULL:
	case DCF_REFUSED:
		share->dropped++;
		break;
	default:
		share->given_up++;
	}
}

void trace_end(struct dcf *dcf, struct dcf_station *s, const struct dcf_frame *f, enum dcf_reason why)
{
	u8 head[RECORD_HEAD];
	struct record_end r;

	if (!dcf->measuring || f->queued_ns < dcf->started)
		return;
	s->counters.end[f->kind][why]++;
	if (dcf->config.edca)
		count_end(&s->counters.share[f->category], why);
	if (!dcf->config.trace)
		return;
	r = (struct record_end){
		.last_tx = f->last_tx + f->last_place,
		.time_ns = dcf->now,
		.msdu = f->msdu,
		.station = s->index,
		.kind = f->kind,
		.reason = why,
		.short_retries = f->src,
		.long_retries = f->lrc,
		.category = dcf->config.edca ? 1 + f->category : 0,
	};
	dcf->ops->record(dcf->edge, head, record_write_end(head, &r), NULL, 0);
}

void trace_mark(struct dcf *dcf, bool stop, u32 lost)
{
	const struct record_mark r = { .time_ns = dcf->now, .lost = lost, .stop = stop };
	u8 head[RECORD_HEAD];

	if (dcf->config.trace)
		dcf->ops->record(dcf->edge, head, record_write_mark(head, &r), NULL, 0);
}
