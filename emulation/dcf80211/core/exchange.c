// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frame exchange: RTS, CTS, DATA, ACK, their timeouts and retries
 * (10.3.2.7, 10.3.2.9, 10.3.4.4), and what a station does with what it hears.
 */
#include "state.h"

/* What ns-2 allows for a signal's way, whatever it is. */
#define NS2_DELAY_NS (2 * US)

static const struct dcf_stage *stage_of(const struct dcf_frame *f)
{
	return &f->stage[f->at_stage];
}

static bool wants_ack(const struct dcf_frame *f)
{
	return !f->no_ack && !dcf_is_group(dcf_addr1(f->bytes));
}

static u64 exchange_airtime(const struct dcf *dcf, u16 mode, u32 len, bool short_preamble)
{
	return dcf_airtime_ns(&dcf->config.phy, mode_of(dcf, mode), len, short_preamble);
}

/* In which mode a frame in that mode is answered. */
static u16 response_mode(const struct dcf *dcf, u16 mode)
{
	return dcf_response(&dcf->config.phy, mode_of(dcf, mode));
}

static u64 data_airtime(const struct dcf *dcf, const struct dcf_frame *f)
{
	return exchange_airtime(dcf, stage_of(f)->mode, f->len + FCS_LEN, stage_of(f)->short_preamble);
}

static u64 response_airtime(const struct dcf *dcf, const struct dcf_frame *f)
{
	return exchange_airtime(dcf, response_mode(dcf, stage_of(f)->mode), ACK_LEN, stage_of(f)->short_preamble);
}

static u16 protecting_mode(const struct dcf *dcf, const struct dcf_frame *f)
{
	return dcf_protecting(&dcf->config.phy, mode_of(dcf, stage_of(f)->mode), f->freq);
}

bool exchange_last_try(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_frame *f, bool rts)
{
	if (dcf->config.retry_by_stages)
		return f->stage_tries + 1 >= stage_of(f)->count &&
		       (f->at_stage + 1 >= DCF_STAGES || !f->stage[f->at_stage + 1].count);
	/* What follows an RTS is longer than the RTS threshold: the long limit (10.3.4.4). */
	if (!rts && stage_of(f)->rts && !s->unasked)
		return f->lrc + 1 >= s->long_limit;
	return f->src + 1 >= s->short_limit;
}

u64 exchange_duration(const struct dcf *dcf, const struct dcf_frame *f, bool asks)
{
	const struct dcf_stage *stage = stage_of(f);
	u64 sifs = dcf->config.phy.sifs_ns, response = response_airtime(dcf, f);
	u16 mode = response_mode(dcf, stage->mode), to_self = protecting_mode(dcf, f);
	u64 all = data_airtime(dcf, f);

	if (!wants_ack(f))
		return all;
	if (!asks)
		return all + sifs + response;
	if (stage->rts)
		all += exchange_airtime(dcf, mode, RTS_LEN, stage->short_preamble) + sifs + response + sifs;
	else if (stage->cts_to_self)
		all += exchange_airtime(dcf, to_self, CTS_LEN, stage->short_preamble) + sifs;
	return all + sifs + response;
}

/* How long after EV_SIFS the kernel can learn of anything, at the soonest. */
u64 exchange_sifs_lookahead(const struct dcf *dcf, const struct dcf_station *s)
{
	return s->phase == CLEARED ? data_airtime(dcf, held_frame(s)) :
	       s->phase == BURST   ? (s->goes_on ? data_airtime(dcf, held_frame(s)) : exchange_lookahead(dcf, s, held_frame(s))) :
				     exchange_airtime(dcf, s->owed_mode, ACK_LEN, s->owed_short_preamble);
}

/*
 * The same, after access. That an RTS fails is worth a timer only if it is the
 * last: where several fail in the time that an answered one takes, and the last
 * is among them, the kernel is told late, by less than that time, unless it
 * wants to know punctually: who hands over one frame at a time does.
 */
u64 exchange_lookahead(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_frame *f)
{
	const struct dcf_phy *phy = &dcf->config.phy;
	u64 response = response_airtime(dcf, f), data = data_airtime(dcf, f);

	if (!wants_ack(f))
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
	struct dcf_frame *f = held_frame(s);
	u64 after = wants_ack(f) ? dcf->config.phy.sifs_ns + response_airtime(dcf, f) : 0;
	u64 more = edca_more_ns(dcf, s, data_airtime(dcf, f) + after);

	s->unasked = s->phase == BURST && s->goes_on;
	s->more = more;
	s->goes_on = queue_goes_on(f);
	dcf_set_duration(f->bytes, dcf_duration_us(after + more));
	if (f->tries)
		dcf_set_retry(f->bytes);
	if (f->tries < 255)
		f->tries++;
	tx->frame = f;
	tx->bytes = f->bytes;
	tx->len = f->len;
	tx->kind = f->kind;
	tx->receiver = f->receiver;
	tx->mode = stage_of(f)->mode;
	tx->short_preamble = stage_of(f)->short_preamble;
	s->phase = SENDING_DATA;
	medium_send(dcf, s, tx);
	f->last_tx = tx->id;
}

static void send_control(struct dcf *dcf, struct dcf_station *s, enum dcf_kind kind, const u8 *ra, const u8 *ta,
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
	medium_send(dcf, s, tx);
	if (f)
		f->last_tx = tx->id;
}

/* The holder's frame, or what precedes it. */
static void send_first(struct dcf *dcf, struct dcf_station *s)
{
	struct dcf_frame *f = held_frame(s);
	const struct dcf_stage *stage = stage_of(f);
	u64 sifs = dcf->config.phy.sifs_ns, response = response_airtime(dcf, f), after;
	u16 mode = response_mode(dcf, stage->mode);
	const u8 *ta = f->bytes + 10;

	if (f->used[f->at_stage] < 255)
		f->used[f->at_stage]++;
	/* A fragment's ACK has cleared the way for the next (10.2.7). */
	if (!wants_ack(f) || (s->phase == BURST && s->goes_on) || (!stage->rts && !stage->cts_to_self))
		return send_data(dcf, s);
	after = data_airtime(dcf, f) + sifs + response;
	s->phase = SENDING_RTS;
	if (stage->rts) {
		f->rts_tries++;
		send_control(dcf, s, DCF_RTS, dcf_addr1(f->bytes), ta, f->receiver,
			     dcf_duration_us(sifs + response + sifs + after), mode, stage->short_preamble, f);
	} else {
		send_control(dcf, s, DCF_CTS, ta, NULL, s->index, dcf_duration_us(sifs + after), protecting_mode(dcf, f),
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

static void next_frame(struct dcf *dcf, struct dcf_station *s, enum dcf_reason why)
{
	struct access *a = s->holder;
	bool sent = why == DCF_ACKED || why == DCF_GROUP;

	a->cw = a->edca.cw_min;
	if (sent && s->more) {
		s->phase = BURST;
		timeline_set(dcf, s->index, EV_SIFS, dcf->now + dcf->config.phy.sifs_ns);
	} else {
		s->phase = CONTENDING;
		if (a->head->next || sent || !dcf_rule(dcf, DCF_ALWAYS_BACKOFF))
			access_backoff(dcf, s, a); /* post-backoff (10.3.4.3); ns-2: not after a failure */
	}
	if (sent)
		queue_end(dcf, s, a, why);
	else
		queue_give_up(dcf, s, a, why);
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

/* No CTS (@rts), or no ACK. */
static void exchange_fail(struct dcf *dcf, struct dcf_station *s, bool rts)
{
	struct dcf_frame *f = held_frame(s);
	bool is_long = !rts && stage_of(f)->rts && !s->unasked, last = exchange_last_try(dcf, s, f, rts);

	if (is_long)
		f->lrc++;
	else
		f->src++;
	if (dcf->measuring && f->queued_ns >= dcf->started) {
		s->counters.long_retries += is_long;
		s->counters.short_retries += !is_long;
	}
	edca_hold_back(dcf, s);
	if (last)
		return next_frame(dcf, s, dcf->config.retry_by_stages ? DCF_STAGES_USED :
					  rts ? DCF_RTS_LIMIT : is_long ? DCF_LONG_LIMIT : DCF_SHORT_LIMIT);
	if (++f->stage_tries >= stage_of(f)->count && dcf->config.retry_by_stages) {
		f->at_stage++;
		f->stage_tries = 0;
	}
	try_again(dcf, s);
}

void exchange_sent(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx)
{
	const struct dcf_phy *phy = &dcf->config.phy;
	const struct dcf_frame *f = held_frame(s);
	u16 mode;

	if (s->phase != SENDING_RTS && s->phase != SENDING_DATA)
		return; /* a CTS or an ACK for somebody else's exchange */
	if (s->phase == SENDING_DATA && !wants_ack(f))
		return next_frame(dcf, s, DCF_GROUP);
	if (tx->kind == DCF_CTS) { /* to itself: nobody answers */
		s->phase = CLEARED;
		return timeline_set(dcf, s->index, EV_SIFS, dcf->now + phy->sifs_ns);
	}
	s->phase = s->phase == SENDING_RTS ? AWAITING_CTS : AWAITING_ACK;
	/* CTSTimeout, ACKTimeout: SIFS + slot + aRxPHYStartDelay (10.3.2.7, 10.3.2.9) */
	mode = response_mode(dcf, stage_of(f)->mode);
	timeline_set(dcf, s->index, EV_TIMEOUT, dcf->now + phy->sifs_ns + (dcf_rule(dcf, DCF_FIXED_TIMEOUTS) ?
		     response_airtime(dcf, f) + 2 * NS2_DELAY_NS :
		     phy->slot_ns + mode_preamble_ns(mode_of(dcf, mode), stage_of(f)->short_preamble)));
}

void exchange_timeout(struct dcf *dcf, struct dcf_station *s)
{
	exchange_fail(dcf, s, s->phase == AWAITING_CTS);
}

/* The CTS that is about to be sent leaves time for DATA, SIFS and an ACK. */
static void await_data(struct dcf *dcf, struct dcf_station *s)
{
	u64 cts = exchange_airtime(dcf, s->owed_mode, CTS_LEN, s->owed_short_preamble);
	u64 ack = dcf->config.phy.sifs_ns + cts;

	s->awaits_data = dcf->now + cts + dcf_max(s->owed_duration * US, ack) - ack + 2 * NS2_DELAY_NS;
}

void exchange_sifs(struct dcf *dcf, struct dcf_station *s)
{
	bool idle = !s->busy && s->nav_end <= dcf->now;

	if (s->phase == BURST || s->phase == CLEARED)
		tuning_retune(dcf, s, held_frame(s)->freq); /* if it was told to be elsewhere meanwhile */
	if (s->phase == BURST)
		return send_first(dcf, s);
	if (s->phase == CLEARED)
		return idle || !dcf_rule(dcf, DCF_DATA_IF_IDLE) ? send_data(dcf, s) : try_again(dcf, s);
	s->owes = false;
	if (s->owed_kind == DCF_CTS && !idle && dcf_rule(dcf, DCF_CTS_IF_IDLE))
		return access_update(dcf, s);
	if (s->owed_kind == DCF_CTS && dcf_rule(dcf, DCF_AWAIT_DATA))
		await_data(dcf, s);
	send_control(dcf, s, s->owed_kind, s->owed_ra, NULL, s->owed_to, s->owed_duration, s->owed_mode,
		     s->owed_short_preamble, NULL);
}

static void exchange_owe(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, enum dcf_kind kind,
			 u16 duration)
{
	s->owes = true;
	s->owed_kind = kind;
	memcpy(s->owed_ra, tx->bytes + 10, DCF_ALEN); /* its transmitter address */
	s->owed_to = tx->from;
	s->owed_duration = duration;
	s->owed_mode = response_mode(dcf, tx->mode);
	s->owed_short_preamble = tx->short_preamble;
	/* By fixed timeouts a station still waits for an answer of its own. */
	timeline_set(dcf, s->index, EV_SIFS, dcf->config.phy.sifs_ns +
		     (timeline_has(dcf, s->index, EV_TIMEOUT) ? timeline_time(dcf, s->index, EV_TIMEOUT) : dcf->now));
	access_update(dcf, s);
}

/* What remains of the Duration of @tx when its answer is over (9.3.1.3, 9.3.1.4). */
static u16 left_after(const struct dcf *dcf, const struct transmission *tx, u32 answer_len)
{
	u16 mode = response_mode(dcf, tx->mode), duration = dcf_get_duration(tx->bytes);
	u64 answer = exchange_airtime(dcf, mode, answer_len, tx->short_preamble);
	u16 gone = dcf_duration_us(dcf->config.phy.sifs_ns + answer);

	return duration > gone ? duration - gone : 0;
}

static void hear_rts(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx)
{
	if (s->phase != CONTENDING || s->awaits_data > dcf->now)
		return; /* as ns-2 */
	if (s->nav_end <= dcf->now || dcf_rule(dcf, DCF_CTS_IF_IDLE)) /* else silent (10.3.2.7) */
		exchange_owe(dcf, s, tx, DCF_CTS, left_after(dcf, tx, CTS_LEN));
}

/* The answer to what this station sent, or anything else in its place, a failure. lock() has cancelled the timeout. */
static bool take_answer(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx)
{
	bool cts = s->phase == AWAITING_CTS;
	struct dcf_frame *f = held_frame(s);

	if (tx->kind != (cts ? DCF_CTS : DCF_ACK) || tx->receiver != s->index) {
		if (!dcf_rule(dcf, DCF_FIXED_TIMEOUTS))
			exchange_fail(dcf, s, cts);
		return false;
	}
	timeline_cancel(dcf, s->index, EV_TIMEOUT);
	if (!cts) {
		next_frame(dcf, s, DCF_ACKED);
		return true;
	}
	f->src = 0; /* a frame not above the threshold, the RTS, has succeeded (10.3.4.4) */
	f->rts_tries = 0;
	s->phase = CLEARED;
	s->owes = false;
	timeline_set(dcf, s->index, EV_SIFS, dcf->now + dcf->config.phy.sifs_ns);
	return true;
}

void exchange_received(struct dcf *dcf, struct dcf_station *s, const struct reception *rx, enum dcf_outcome outcome)
{
	const struct transmission *tx = rx->tx;
	bool mine = tx->receiver == s->index, waiting = s->phase == AWAITING_CTS || s->phase == AWAITING_ACK, overhears;

	if (outcome != DCF_OK) {
		if (rx->is_frame ? dcf->config.eifs != DCF_EIFS_OFF : dcf->config.eifs == DCF_EIFS_ENERGY) {
			if (dcf_rule(dcf, DCF_EIFS_IS_NAV))
				access_set_nav(dcf, s, dcf->now + dcf_eifs_ns(&dcf->config.phy, s->freq));
			else
				s->eifs = true;
		}
		if (waiting && !timeline_has(dcf, s->index, EV_TIMEOUT))
			exchange_fail(dcf, s, s->phase == AWAITING_CTS);
		return access_update(dcf, s);
	}
	s->eifs = false;
	if (waiting && take_answer(dcf, s, tx))
		return access_update(dcf, s);
	if (!mine)
		access_hear_nav(dcf, s, tx);
	if (tx->kind == DCF_RTS && mine)
		hear_rts(dcf, s, tx);
	if (tx->kind > DCF_ACK && mine && s->awaits_data > dcf->now) {
		if (!stage_of(tx->frame)->rts)
			return access_update(dcf, s); /* ns-2 has no room for another ACK to send */
		s->awaits_data = 0;
	}
	overhears = s->promiscuous && tx->kind != DCF_MANAGEMENT;
	if (tx->kind > DCF_ACK && (mine || overhears || dcf_is_group(dcf_addr1(tx->bytes)))) {
		dcf->ops->deliver(dcf->edge, s->index, tx->frame, tx->mode, rx->link.power_mdbm);
		if (mine && wants_ack(tx->frame))
			exchange_owe(dcf, s, tx, DCF_ACK, left_after(dcf, tx, ACK_LEN));
	}
	access_update(dcf, s);
}
