// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the MPDUs of a PPDU when access is won: the frame at the head of the
 * queue, and then, in order, the frames of the same block-ACK agreement that fit.
 * Unacknowledged frames have kept their places, so retries come first. A frame
 * without an agreement is sent alone.
 */
#include "state.h"

struct ampdu aggregate_alone(const struct dcf *dcf, const struct dcf_frame *f)
{
	const struct ampdu none = { 0 };

	return ampdu_with(&none, mode_of(dcf, frame_mode(f)), 0, f->len + FCS_LEN);
}

/*
 * May @f be in a PPDU with @first? The oldest frame of an agreement starts its window, so no frame
 * outside the window may.
 */
static bool goes_with(const struct dcf_frame *first, const struct dcf_frame *f)
{
	return f->session == first->session && !f->request && !f->planned && f->freq == first->freq &&
	       sequence_from(dcf_sequence(first->bytes), dcf_sequence(f->bytes)) < first->session->window;
}

struct ampdu aggregate_next(const struct dcf *dcf, struct dcf_frame *first, u64 most_ns)
{
	const struct dcf_mode *mode = mode_of(dcf, frame_mode(first));
	u32 silence = dcf_silence_ns(&dcf->config.phy, mode), most = MODE_MAX_NS;
	struct ampdu ppdu = aggregate_alone(dcf, first), more;
	const struct dcf_limits *limits;
	struct dcf_frame *f;

	if (most_ns < most + silence)
		most = most_ns > silence ? most_ns - silence : 0;
	if (!first->session || first->request || first->alone || !ampdu_takes(mode, first->len + FCS_LEN))
		return ppdu;
	limits = &first->session->limits;
	for (f = first->next; f; f = f->next) {
		if (!goes_with(first, f))
			continue;
		if (f->alone)
			break;
		more = ampdu_with(&ppdu, mode, limits->spacing_ns, f->len + FCS_LEN);
		if (!ampdu_takes(mode, f->len + FCS_LEN) || !ampdu_fits(&more, mode, limits, most))
			break;
		ppdu = more;
	}
	return ppdu;
}

void aggregate_plan(const struct dcf *dcf, struct dcf_station *s, u64 most_ns)
{
	struct access *a = s->holder;
	struct dcf_frame *f;
	u16 n;

	for (f = a->head; f && a->plan.n > 1; f = f->next)
		f->planned = false;
	a->head->planned = false;
	a->plan = aggregate_next(dcf, a->head, most_ns);
	a->head->planned = true;
	for (f = a->head->next, n = 1; n < a->plan.n; f = f->next)
		if (goes_with(a->head, f)) {
			f->planned = true;
			n++;
		}
}

struct dcf_frame *aggregate_after(const struct access *a)
{
	struct dcf_frame *f = a->head;

	while (f && f->planned)
		f = f->next;
	return f;
}

void aggregate_load(struct dcf *dcf, struct dcf_station *s, struct transmission *tx)
{
	struct access *a = s->holder;
	struct dcf_frame *f, *last = a->head;
	int slot = tx - s->tx;

	tx->frame = a->head;
	tx->bytes = a->head->bytes;
	tx->len = a->head->len;
	tx->kind = a->head->kind;
	tx->receiver = a->head->receiver;
	tx->mode = frame_mode(a->head);
	tx->short_preamble = a->head->stage[a->head->at_stage].short_preamble;
	tx->n = a->plan.n;
	tx->psdu_len = ampdu_psdu_len(&a->plan, mode_of(dcf, tx->mode));
	tx->spacing_ns = tx->n > 1 ? a->head->session->limits.spacing_ns : 0;
	for (f = tx->n > 1 ? a->head->next : NULL; f; f = f->next)
		if (f->planned) {
			f->used[f->at_stage] += f->used[f->at_stage] < 255;
			last->in[slot] = f;
			last = f;
		}
	last->in[slot] = NULL;
}

/* @f was sent and not acknowledged: will it be sent again? */
static bool settle_failed(struct dcf *dcf, struct dcf_station *s, struct dcf_frame *f, bool is_long)
{
	exchange_count_failure(dcf, s, f, is_long);
	if (f->tries >= f->session->tries)
		return false;
	exchange_next_stage(dcf, f);
	return true;
}

bool aggregate_settle(struct dcf *dcf, struct dcf_station *s, const struct transmission *answer)
{
	struct access *a = s->holder;
	struct dcf_frame *f, *before = NULL;
	bool all = true, is_long = exchange_is_long(s, a->head); /* it says whether an RTS came before the PPDU */
	u16 left = a->plan.n;

	while (left) {
		f = before ? before->next : a->head;
		left -= f->planned;
		if (!f->planned) {
			before = f;
		} else if (answer && dcf_block_acks(answer->bytes, answer->len, dcf_sequence(f->bytes))) {
			queue_end_after(dcf, s, a, before, DCF_ACKED);
		} else if (settle_failed(dcf, s, f, is_long)) {
			f->planned = false;
			before = f;
		} else {
			all = false;
			queue_end_after(dcf, s, a, before, is_long ? DCF_LONG_LIMIT : DCF_SHORT_LIMIT);
		}
	}
	a->plan = (struct ampdu){ 0 };
	return all;
}

void aggregate_tell(struct dcf *dcf, struct dcf_station *s, const struct transmission *answer)
{
	const struct access *a = s->holder;
	const struct dcf_frame *f = a->head;
	struct dcf_sent sent;
	u16 left;

	if (!f->session || f->request || !dcf->ops->sent)
		return;
	sent = (struct dcf_sent){
		.session = f->session,
		.mode = frame_mode(f),
		.mpdus = a->plan.n,
		.category = f->category,
		.airtime_ns = exchange_airtime(dcf, frame_mode(f),
					       ampdu_psdu_len(&a->plan, mode_of(dcf, frame_mode(f))), false),
	};
	for (left = a->plan.n; left; f = f->next) {
		if (!f->planned)
			continue;
		left--;
		sent.fresh += f->tries == 1;
		sent.acked += answer && (a->plan.n == 1 || dcf_block_acks(answer->bytes, answer->len, dcf_sequence(f->bytes)));
	}
	dcf->ops->sent(dcf->edge, s->index, &sent);
}
