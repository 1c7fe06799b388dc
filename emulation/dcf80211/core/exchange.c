// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frame exchange of the station that began it: RTS, CTS, DATA, ACK, their
 * timeouts and retries (10.3.2.7, 10.3.2.9, 10.3.4.4); and which part of a
 * station handles a frame that it receives. Responses are in answer.c.
 */
#include "state.h"

static const struct dcf_stage *stage_of(const struct dcf_frame *f)
{
	return &f->stage[f->at_stage];
}

u64 exchange_airtime(const struct dcf *dcf, u16 mode, u32 len, bool short_preamble)
{
	return dcf_airtime_ns(&dcf->config.phy, mode_of(dcf, mode), len, short_preamble);
}

/* The mode of the response to a frame in that mode. */
u16 exchange_response(const struct dcf *dcf, u16 mode)
{
	return dcf->answer[mode_of(dcf, mode)->reference];
}

/* The duration of a PPDU that begins with @f. */
static u64 ppdu_airtime(const struct dcf *dcf, const struct dcf_frame *f, const struct ampdu *ppdu)
{
	u16 mode = frame_mode(f);

	return exchange_airtime(dcf, mode, ampdu_psdu_len(ppdu, mode_of(dcf, mode)), stage_of(f)->short_preamble);
}

/* The duration of @f alone: no PPDU with it is shorter. */
static u64 data_airtime(const struct dcf *dcf, const struct dcf_frame *f)
{
	const struct ampdu alone = aggregate_alone(dcf, f);

	return ppdu_airtime(dcf, f, &alone);
}

static u64 answer_airtime(const struct dcf *dcf, const struct dcf_frame *f, u16 mpdus)
{
	u32 len = frame_wants_block(f, mpdus) ? block_ack_len(f->session ? f->session->window : 0) : ACK_LEN;

	return exchange_airtime(dcf, exchange_response(dcf, frame_mode(f)), len, stage_of(f)->short_preamble);
}

/* The duration of a CTS; an ACK lasts as long. */
static u64 response_airtime(const struct dcf *dcf, const struct dcf_frame *f)
{
	return exchange_airtime(dcf, exchange_response(dcf, frame_mode(f)), CTS_LEN, stage_of(f)->short_preamble);
}

static u16 protecting_mode(const struct dcf *dcf, const struct dcf_frame *f)
{
	return dcf_protecting(&dcf->config.phy, mode_of(dcf, frame_mode(f)), f->freq);
}

void exchange_count_failure(struct dcf *dcf, struct dcf_station *s, struct dcf_frame *f, bool is_long)
{
	if (is_long)
		f->lrc++;
	else
		f->src++;
	if (dcf->measuring && f->queued_ns >= dcf->started) {
		s->counters.long_retries += is_long;
		s->counters.short_retries += !is_long;
	}
}

/* For a frame with an agreement, the last stage holds until its number of attempts ends it. */
void exchange_next_stage(const struct dcf *dcf, struct dcf_frame *f)
{
	bool there = f->at_stage + 1 < DCF_STAGES && f->stage[f->at_stage + 1].count;

	f->stage_tries += f->stage_tries < 255;
	if (f->stage_tries < stage_of(f)->count || !dcf->config.retry_by_stages || (f->session && !there))
		return;
	f->at_stage++;
	f->stage_tries = 0;
}

bool exchange_is_long(const struct dcf_station *s, const struct dcf_frame *f)
{
	return stage_of(f)->rts && (f->session || !s->unasked);
}

bool exchange_last_try(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_frame *f, bool rts)
{
	/* An agreement limits how often an MPDU is sent, whether an RTS came before it or not. */
	if (f->session && !f->request && !rts)
		return f->tries >= f->session->tries;
	if (dcf->config.retry_by_stages && !f->session)
		return f->stage_tries + 1 >= stage_of(f)->count &&
		       (f->at_stage + 1 >= DCF_STAGES || !f->stage[f->at_stage + 1].count);
	/* The frame after an RTS is longer than the RTS threshold, so the long limit counts (10.3.4.4). */
	if (!rts && exchange_is_long(s, f))
		return f->lrc + 1 >= s->long_limit;
	return f->src + 1 >= exchange_short_limit(s, f);
}

u8 exchange_short_limit(const struct dcf_station *s, const struct dcf_frame *f)
{
	return f->session && !f->request ? f->session->tries : s->short_limit;
}

u64 exchange_besides(const struct dcf *dcf, const struct dcf_frame *f, u16 mpdus, bool asks)
{
	const struct dcf_stage *stage = stage_of(f);
	u64 sifs = dcf->config.phy.sifs_ns, response = response_airtime(dcf, f);
	u16 mode = exchange_response(dcf, frame_mode(f)), to_self = protecting_mode(dcf, f);
	u64 all = 0;

	if (!frame_wants_ack(f))
		return 0;
	if (asks && stage->rts)
		all += exchange_airtime(dcf, mode, RTS_LEN, stage->short_preamble) + sifs + response + sifs;
	else if (asks && stage->cts_to_self)
		all += exchange_airtime(dcf, to_self, CTS_LEN, stage->short_preamble) + sifs;
	return all + sifs + answer_airtime(dcf, f, mpdus);
}

u64 exchange_duration(const struct dcf *dcf, const struct dcf_frame *f, const struct ampdu *ppdu, bool asks)
{
	return ppdu_airtime(dcf, f, ppdu) + exchange_besides(dcf, f, ppdu->n, asks);
}

/* Within a burst: has the previous frame reserved the medium for @f, so that it needs no RTS? */
static bool is_cleared(const struct dcf_station *s, const struct dcf_frame *f)
{
	return s->goes_on || f->session; /* by a fragment's ACK (10.2.7), or the first exchange */
}

/* The shortest time after EV_SIFS at which the kernel can get a report. */
u64 exchange_sifs_lookahead(const struct dcf *dcf, const struct dcf_station *s)
{
	if (s->phase == CLEARED || (s->phase == BURST && is_cleared(s, held_frame(s))))
		return data_airtime(dcf, held_frame(s));
	if (s->phase == BURST)
		return exchange_lookahead(dcf, s, held_frame(s));
	return exchange_airtime(dcf, s->owed_mode, ACK_LEN, s->owed_short_preamble);
}

/*
 * The same, after access. A failed RTS needs a timer only if it was the last
 * attempt. Several RTSs may fail in the time of an answered one. If the last
 * attempt is among them, the report comes late, by less than that time. So does
 * a delivery by a station whose longer NAV the reset after a failed RTS ends. A
 * kernel that wants punctual reports has one more timer for each RTS.
 */
u64 exchange_lookahead(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_frame *f)
{
	const struct dcf_phy *phy = &dcf->config.phy;
	u64 response = response_airtime(dcf, f), data = data_airtime(dcf, f);

	if (!frame_wants_ack(f))
		return data;
	if (stage_of(f)->rts)
		/* to the end of the CTS timeout, or of DATA */
		return dcf->config.punctual || exchange_last_try(dcf, s, f, true) ? response + phy->sifs_ns :
									   2 * response + 2 * phy->sifs_ns + data;
	return data;
}

static void send_data(struct dcf *dcf, struct dcf_station *s)
{
	struct transmission *tx = medium_next_tx(s);
	const struct ampdu *plan = &s->holder->plan;
	struct dcf_frame *head = held_frame(s), *f;
	int slot = tx - s->tx;
	u16 place;
	u64 after = exchange_besides(dcf, head, plan->n, false);
	u64 more = edca_more_ns(dcf, s, ppdu_airtime(dcf, head, plan) + after);

	s->unasked = s->phase == BURST && is_cleared(s, head);
	s->more_ns = more;
	s->goes_on = queue_goes_on(head);
	aggregate_load(dcf, s, tx);
	for (f = head; f; f = mpdu_after(tx, f, slot)) {
		dcf_set_duration(f->bytes, dcf_duration_us(after + more));
		if (f->tries && !f->request)
			dcf_set_retry(f->bytes);
		if (f->tries < 255)
			f->tries++;
	}
	s->phase = SENDING_DATA;
	medium_send(dcf, s, tx);
	for (f = head, place = 0; f; f = mpdu_after(tx, f, slot)) {
		f->last_tx = tx->id;
		f->last_place = place++;
	}
}

void exchange_send_control(struct dcf *dcf, struct dcf_station *s, enum dcf_kind kind, const u8 *ra, const u8 *ta,
			   u16 receiver, u16 duration, u16 mode, bool short_preamble, struct dcf_frame *f)
{
	struct transmission *tx = medium_next_tx(s);

	tx->frame = f;
	tx->bytes = tx->control;
	tx->kind = kind;
	tx->receiver = receiver;
	tx->mode = mode;
	tx->short_preamble = short_preamble;
	tx->len = kind == DCF_RTS ? dcf_make_rts(tx->control, ra, ta, duration) :
		  kind == DCF_CTS ? dcf_make_cts(tx->control, ra, duration) :
				    dcf_make_ack(tx->control, ra, duration);
	tx->n = 1;
	tx->psdu_len = tx->len + FCS_LEN;
	medium_send(dcf, s, tx);
	if (f) {
		f->last_tx = tx->id;
		f->last_place = 0;
	}
}

/*
 * The longest PPDU with which the holder's exchange fits into the TXOP, and after
 * the first exchange into the previous Duration: stations that hear only the
 * responses know of no longer reservation.
 */
static u64 txop_left(const struct dcf *dcf, const struct dcf_station *s, bool asks)
{
	u64 besides = exchange_besides(dcf, held_frame(s), 2, asks), left = DCF_NEVER;

	if (s->holder->edca.txop_32us)
		left = s->txop_end > dcf->now ? s->txop_end - dcf->now : 0;
	if (s->phase == BURST)
		left = dcf_min(left, s->more_ns - dcf->config.phy.sifs_ns);
	return left == DCF_NEVER ? left : left > besides ? left - besides : 0;
}

/* The holder's frame, or its RTS or CTS to itself. */
static void send_first(struct dcf *dcf, struct dcf_station *s)
{
	struct dcf_frame *f = held_frame(s);
	const struct dcf_stage *stage = stage_of(f);
	bool cleared = s->phase == BURST && is_cleared(s, f);
	u64 sifs = dcf->config.phy.sifs_ns, response = response_airtime(dcf, f), after;
	u16 mode = exchange_response(dcf, frame_mode(f));
	const u8 *ta = f->bytes + 10;

	if (f->used[f->at_stage] < 255)
		f->used[f->at_stage]++;
	aggregate_plan(dcf, s, txop_left(dcf, s, !cleared));
	if (!frame_wants_ack(f) || cleared || (!stage->rts && !stage->cts_to_self))
		return send_data(dcf, s);
	after = exchange_duration(dcf, f, &s->holder->plan, false);
	s->phase = SENDING_RTS;
	if (stage->rts) {
		f->rts_tries++;
		exchange_send_control(dcf, s, DCF_RTS, dcf_addr1(f->bytes), ta, f->receiver,
			     dcf_duration_us(sifs + response + sifs + after), mode, stage->short_preamble, f);
	} else {
		exchange_send_control(dcf, s, DCF_CTS, ta, NULL, s->index, dcf_duration_us(sifs + after), protecting_mode(dcf, f),
			     stage->short_preamble, f);
	}
}

void exchange_begin(struct dcf *dcf, struct dcf_station *s)
{
	u16 freq = edca_due(dcf, s)->head->freq;

	if (freq != s->freq)
		return tuning_follow(dcf, s, freq);
	edca_win(dcf, s);
	send_first(dcf, s);
	if (dcf->config.edca)
		edca_collide(dcf, s);
}

/* An exchange succeeded. The next one follows if it is no longer than announced; a retransmission may be longer. */
static bool go_on(struct dcf *dcf, struct dcf_station *s)
{
	const struct dcf_frame *f = held_frame(s);
	struct ampdu alone;

	if (!s->more_ns || !f)
		return false;
	alone = aggregate_alone(dcf, f);
	if (dcf->config.phy.sifs_ns + exchange_duration(dcf, f, &alone, !is_cleared(s, f)) > s->more_ns)
		return false;
	s->phase = BURST;
	timeline_set(dcf, s->index, EV_SIFS, dcf->now + dcf->config.phy.sifs_ns);
	return true;
}

static void next_frame(struct dcf *dcf, struct dcf_station *s, enum dcf_reason why)
{
	struct access *a = s->holder;
	bool sent = why == DCF_ACKED || why == DCF_GROUP, backs_off = a->head->next || sent;

	a->cw = a->edca.cw_min;
	if (sent)
		queue_end(dcf, s, a, why);
	else
		queue_give_up(dcf, s, a, why);
	if (!sent || !go_on(dcf, s)) {
		s->phase = CONTENDING;
		if (backs_off || !dcf_rule(dcf, DCF_ALWAYS_BACKOFF))
			access_backoff(dcf, s, a); /* post-backoff (10.3.4.3); in ns-2 not after a failure */
	}
	access_update(dcf, s);
}

void exchange_abandon(struct dcf *dcf, struct dcf_station *s)
{
	s->phase = CONTENDING;
	s->owes = false;
	timeline_cancel(dcf, s->index, EV_TIMEOUT);
	timeline_cancel(dcf, s->index, EV_SIFS);
	queue_empty(dcf, s, false);
	access_update(dcf, s);
}

static void try_again(struct dcf *dcf, struct dcf_station *s)
{
	s->phase = CONTENDING;
	access_widen(dcf, s, s->holder);
	access_update(dcf, s);
}

/* A block ACK arrived: the exchange succeeded, whatever the results of its MPDUs. */
static void take_block(struct dcf *dcf, struct dcf_station *s, const struct transmission *answer)
{
	struct access *a = s->holder;

	a->cw = a->edca.cw_min;
	aggregate_settle(dcf, s, answer);
	if (go_on(dcf, s))
		return;
	s->phase = CONTENDING;
	access_backoff(dcf, s, a);
}

/* No block ACK arrived: all MPDUs have failed. */
static void block_fail(struct dcf *dcf, struct dcf_station *s)
{
	struct access *a = s->holder;

	edca_hold_back(dcf, s);
	if (aggregate_settle(dcf, s, NULL))
		return try_again(dcf, s);
	a->cw = a->edca.cw_min; /* as after any frame that is given up */
	s->phase = CONTENDING;
	access_backoff(dcf, s, a);
	access_update(dcf, s);
}

/* The CTS (@rts) or the ACK is missing. */
static void exchange_fail(struct dcf *dcf, struct dcf_station *s, bool rts)
{
	struct dcf_frame *f = held_frame(s);
	bool is_long = !rts && exchange_is_long(s, f), last = exchange_last_try(dcf, s, f, rts);

	if (!rts)
		aggregate_tell(dcf, s, NULL);
	if (!rts && s->holder->plan.n > 1)
		return block_fail(dcf, s);
	exchange_count_failure(dcf, s, f, is_long);
	edca_hold_back(dcf, s);
	if (last)
		return next_frame(dcf, s, dcf->config.retry_by_stages && !f->session ? DCF_STAGES_USED :
					  rts ? DCF_RTS_LIMIT : is_long ? DCF_LONG_LIMIT : DCF_SHORT_LIMIT);
	exchange_next_stage(dcf, f);
	try_again(dcf, s);
}

void exchange_sent(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx)
{
	const struct dcf_phy *phy = &dcf->config.phy;
	const struct dcf_frame *f = held_frame(s);
	u16 mode;

	if (s->phase != SENDING_RTS && s->phase != SENDING_DATA)
		return; /* a CTS or an ACK of another station's exchange */
	if (s->phase == SENDING_DATA && !frame_wants_ack(f))
		return next_frame(dcf, s, DCF_GROUP);
	if (tx->kind == DCF_CTS) { /* a CTS to itself: no response */
		s->phase = CLEARED;
		return timeline_set(dcf, s->index, EV_SIFS, dcf->now + phy->sifs_ns);
	}
	s->phase = s->phase == SENDING_RTS ? AWAITING_CTS : AWAITING_ACK;
	/* CTSTimeout, ACKTimeout: SIFS + slot + aRxPHYStartDelay (10.3.2.7, 10.3.2.9) */
	mode = exchange_response(dcf, frame_mode(f));
	timeline_set(dcf, s->index, EV_TIMEOUT, dcf->now + phy->sifs_ns + (dcf_rule(dcf, DCF_FIXED_TIMEOUTS) ?
		     response_airtime(dcf, f) + 2 * NS2_DELAY_NS :
		     phy->slot_ns + mode_preamble_ns(mode_of(dcf, mode), stage_of(f)->short_preamble)));
}

void exchange_timeout(struct dcf *dcf, struct dcf_station *s)
{
	exchange_fail(dcf, s, s->phase == AWAITING_CTS);
}

void exchange_sifs(struct dcf *dcf, struct dcf_station *s)
{
	bool idle = !s->busy && s->nav_end <= dcf->now;

	if (s->phase == BURST || s->phase == CLEARED)
		tuning_retune(dcf, s, held_frame(s)->freq); /* if its channel was changed meanwhile */
	if (s->phase == BURST)
		return send_first(dcf, s);
	if (s->phase == CLEARED)
		return idle || !dcf_rule(dcf, DCF_DATA_IF_IDLE) ? send_data(dcf, s) : try_again(dcf, s);
	answer_send(dcf, s, idle);
}

/* The response to this station's frame; any other frame in its place is a failure. lock() has cancelled the timeout. */
static bool take_answer(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx)
{
	bool cts = s->phase == AWAITING_CTS;
	struct dcf_frame *f = held_frame(s);
	bool block = !cts && frame_wants_block(f, s->holder->plan.n);

	if (tx->kind != (cts ? DCF_CTS : DCF_ACK) || tx->receiver != s->index || dcf_is_block_ack(tx->bytes, tx->len) != block) {
		if (!dcf_rule(dcf, DCF_FIXED_TIMEOUTS))
			exchange_fail(dcf, s, cts);
		return false;
	}
	timeline_cancel(dcf, s->index, EV_TIMEOUT);
	if (!cts) {
		aggregate_tell(dcf, s, tx);
		if (s->holder->plan.n > 1)
			take_block(dcf, s, tx);
		else
			next_frame(dcf, s, DCF_ACKED);
		return true;
	}
	f->src = 0; /* a frame below the RTS threshold, the RTS, has succeeded (10.3.4.4) */
	f->rts_tries = 0;
	s->phase = CLEARED;
	s->owes = false;
	timeline_set(dcf, s->index, EV_SIFS, dcf->now + dcf->config.phy.sifs_ns);
	return true;
}

void exchange_received(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, enum dcf_outcome outcome)
{
	bool mine = tx->receiver == s->index, waiting = s->phase == AWAITING_CTS || s->phase == AWAITING_ACK, overhears;

	if (outcome != DCF_OK) {
		if (s->rx.is_frame ? dcf->config.eifs != DCF_EIFS_OFF : dcf->config.eifs == DCF_EIFS_ENERGY) {
			const u32 eifs_ns = dcf_eifs_ns(&dcf->config.phy, s->freq);

			if (dcf_rule(dcf, DCF_EIFS_IS_NAV))
				access_set_nav(dcf, s, dcf->now + eifs_ns);
			else
				s->eifs_ns = eifs_ns - dcf_difs_ns(&dcf->config.phy);
		}
		if (waiting && !timeline_has(dcf, s->index, EV_TIMEOUT))
			exchange_fail(dcf, s, s->phase == AWAITING_CTS);
		return access_update(dcf, s);
	}
	s->eifs_ns = 0;
	if (waiting && take_answer(dcf, s, tx))
		return access_update(dcf, s);
	if (!mine)
		access_hear_nav(dcf, s, tx);
	if (tx->kind == DCF_RTS && mine)
		answer_rts(dcf, s, tx);
	if (tx->kind > DCF_ACK && mine && s->awaits_data > dcf->now) {
		if (!stage_of(tx->frame)->rts)
			return access_update(dcf, s); /* ns-2 holds one pending ACK only */
		s->awaits_data = 0;
	}
	overhears = s->promiscuous && tx->kind != DCF_MANAGEMENT;
	if (tx->kind > DCF_ACK && (mine || overhears || dcf_is_group(dcf_addr1(tx->bytes))))
		answer_data(dcf, s, tx, mine);
	access_update(dcf, s);
}
