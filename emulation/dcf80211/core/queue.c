// SPDX-License-Identifier: GPL-2.0-only
/* Queues: one at each access function, and how the frames in it end. */
#include "state.h"

/* Fragments are not aggregated, and ns-2 has no block ACK. */
static bool session_acceptable(const struct dcf *dcf, const struct dcf_frame *f)
{
	const struct dcf_session *session = f->session;

	if (dcf->config.rules || f->no_ack || dcf_is_group(dcf_addr1(f->bytes)) || !session->tries || !session->window ||
	    session->window > BLOCKACK_WINDOW)
		return false;
	return dcf_is_request(f->bytes, f->len) || (dcf_is_qos_data(f->bytes, f->len) && !dcf_is_fragment(f->bytes));
}

static bool queue_acceptable(const struct dcf *dcf, const struct dcf_frame *f)
{
	int i;

	if (f->len < DCF_HDR_LEN && !dcf_is_request(f->bytes, f->len))
		return false;
	if (f->len > (dcf->n_modes ? DCF_MAX_MPDU : DCF_MAX_LEN) || !f->stage[0].count || !f->freq)
		return false;
	if (f->session && !session_acceptable(dcf, f))
		return false;
	for (i = 0; i < DCF_STAGES; i++)
		if (f->stage[i].count && (!mode_there(dcf, f->stage[i].mode) ||
					  f->len + FCS_LEN > mode_max_mpdu(mode_of(dcf, f->stage[i].mode)->format)))
			return false;
	return true;
}

/*
 * An access point's beacon is the next frame after the current one (11.1.3.2),
 * before all that wait, so a full queue loses none. If one still waits when the
 * next is due, it is enough.
 */
static bool goes_first(const struct access *a, const struct dcf_frame *f)
{
	return dcf_is_ap_beacon(f->bytes, f->len) &&
	       !(a->head && a->head->next && dcf_is_ap_beacon(a->head->next->bytes, a->head->next->len));
}

static void queue_append(struct access *a, struct dcf_frame *frame)
{
	if (a->tail)
		a->tail->next = frame;
	else
		a->head = frame;
	a->tail = frame;
}

/* Its window begins with the oldest frame that has not ended. @f: the one that was behind @ended. */
static void session_move(const struct dcf_frame *ended, struct dcf_frame *f)
{
	struct dcf_session *session = ended->session;

	if (!session || ended != session->oldest)
		return;
	while (f && (f->session != session || f->request))
		f = f->next;
	session->oldest = f;
	session->start = f ? dcf_sequence(f->bytes) : session->next;
}

static void session_begin(struct dcf_frame *frame)
{
	struct dcf_session *session = frame->session;

	if (!session || frame->request)
		return;
	if (!session->oldest) {
		session->oldest = frame;
		session->start = dcf_sequence(frame->bytes);
	}
	session->next = (dcf_sequence(frame->bytes) + 1) & (SEQUENCE_NUMBERS - 1);
}

void queue_put(struct dcf *dcf, struct dcf_station *s, struct dcf_frame *frame)
{
	struct dcf_frame *after;
	enum dcf_reason why;
	struct access *a;
	bool acceptable, first;

	frame->next = NULL;
	frame->queued_ns = dcf->now;
	frame->last_tx = 0;
	frame->last_place = 0;
	frame->msdu = ++s->msdus;
	frame->kind = dcf_classify(frame->bytes, frame->len);
	frame->category = dcf->config.edca ? dcf_categorise(frame->bytes, frame->len) : 0;
	frame->src = frame->lrc = frame->rts_tries = frame->tries = 0;
	frame->at_stage = frame->stage_tries = 0;
	memset(frame->used, 0, sizeof(frame->used));
	frame->request = dcf_is_request(frame->bytes, frame->len);
	frame->planned = false;
	a = &s->access[frame->category];
	acceptable = queue_acceptable(dcf, frame);
	first = acceptable && goes_first(a, frame);
	if (!acceptable || (a->queued > s->queue_limit && !first)) {
		why = acceptable ? DCF_QUEUE_FULL : DCF_REFUSED;
		trace_end(dcf, s, frame, why);
		dcf->ops->done(dcf->edge, s->index, frame, why);
		return;
	}
	frame->receiver = dcf_is_group(dcf_addr1(frame->bytes)) ? DCF_NOBODY :
								  dcf_find_address(dcf, dcf_addr1(frame->bytes));
	address_sends(dcf, s);
	frame->holders = 1;
	session_begin(frame);
	a->queued++;
	for (after = a->head; first && after && queue_goes_on(after);)
		after = after->next; /* the current fragment is followed by the others of its MSDU */
	if (first && after && after->next) {
		frame->next = after->next;
		after->next = frame;
	} else {
		queue_append(a, frame);
	}
	if (a->head == frame)
		access_request(dcf, s, a);
}

void queue_release(struct dcf *dcf, u16 station, struct dcf_frame *f)
{
	if (!--f->holders)
		dcf->ops->done(dcf->edge, station, f, f->why);
}

void queue_end(struct dcf *dcf, struct dcf_station *s, struct access *a, enum dcf_reason why)
{
	queue_end_after(dcf, s, a, NULL, why);
}

void queue_end_after(struct dcf *dcf, struct dcf_station *s, struct access *a, struct dcf_frame *before, enum dcf_reason why)
{
	struct dcf_frame **at = before ? &before->next : &a->head, *f = *at;

	*at = f->next;
	if (!f->next)
		a->tail = before;
	f->next = NULL;
	a->queued--;
	session_move(f, *at);
	trace_end(dcf, s, f, why);
	f->why = why;
	queue_release(dcf, s->index, f);
}

bool queue_goes_on(const struct dcf_frame *f)
{
	return f->next && !f->request && !f->next->request && f->next->freq == f->freq && dcf_goes_on(f->bytes, f->next->bytes);
}

void queue_give_up(struct dcf *dcf, struct dcf_station *s, struct access *a, enum dcf_reason why)
{
	bool goes_on;

	do {
		goes_on = queue_goes_on(a->head);
		queue_end(dcf, s, a, why);
		why = DCF_REFUSED;
	} while (goes_on);
}

void queue_empty(struct dcf *dcf, struct dcf_station *s, bool quietly)
{
	struct dcf_frame *f;
	struct access *a;

	for_each_access(s, a) {
		while ((f = a->head)) {
			a->head = f->next;
			f->next = NULL;
			if (f->session)
				f->session->oldest = NULL;
			if (!quietly)
				trace_end(dcf, s, f, DCF_REFUSED);
			f->why = DCF_REFUSED;
			queue_release(dcf, s->index, f);
		}
		a->tail = NULL;
		a->queued = 0;
		access_reset(dcf, a);
	}
}
