// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the core writes to the trace. The end of a frame is counted here as well,
 * because its record and its count have one condition.
 */
#include "state.h"
#include "../wire/record.h"

/* One record each, after the record of their PPDU. */
static void trace_mpdus(struct dcf *dcf, const struct transmission *tx)
{
	const int slot = tx - dcf->station[tx->from].tx;
	const struct dcf_mode *mode = mode_of(dcf, tx->mode);
	struct ampdu place = { 0 };
	const struct dcf_frame *f;
	u8 head[RECORD_HEAD];

	for (f = tx->frame; f; f = mpdu_after(tx, f, slot)) {
		place = ampdu_with(&place, mode, tx->spacing_ns, f->len + FCS_LEN);
		const struct record_mpdu r = {
			.id = tx->id,
			.msdu = f->msdu,
			.offset = place.start,
			.station = tx->from,
			.len = f->len + FCS_LEN,
			.sequence = dcf_sequence(f->bytes),
			.place = place.n - 1,
			.kind = f->kind,
			.attempt = f->tries,
		};

		dcf->ops->record(dcf->edge, head, record_write_mpdu(head, &r), NULL, 0);
	}
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
		.kind = tx->kind,
		.attempt = !f || tx->kind == DCF_CTS ? 1 : tx->kind == DCF_RTS ? f->rts_tries : f->tries,
		.category = f && dcf->config.edca ? 1 + f->category : 0,
		.short_preamble = tx->short_preamble,
	};
	dcf->ops->record(dcf->edge, head, record_write_tx(head, &r), tx->bytes, r.kept);
	if (tx->n > 1)
		trace_mpdus(dcf, tx);
}

/* One record for each lost MPDU of a PPDU that was received. */
static void trace_lost(struct dcf *dcf, const struct dcf_station *s, const struct transmission *tx,
		       const struct arrival *arrival)
{
	struct record_lost r = { .id = tx->id, .station = s->index };
	u8 head[RECORD_HEAD];

	for (r.place = 0; r.place < tx->n; r.place++) {
		r.outcome = mpdus_outcome(s, r.place);
		r.other = r.outcome == DCF_COLLISION ? arrival->other : DCF_NOBODY;
		if (r.outcome != DCF_OK)
			dcf->ops->record(dcf->edge, head, record_write_lost(head, &r), NULL, 0);
	}
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
	};
	dcf->ops->record(dcf->edge, head, record_write_rx(head, &r), NULL, 0);
	if (followed && outcome == DCF_OK && tx->n > 1)
		trace_lost(dcf, s, tx, arrival);
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
		.last_tx = f->last_tx,
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
