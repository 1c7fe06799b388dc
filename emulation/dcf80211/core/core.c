// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core's interface: set-up, frames and time in, and the time of the next
 * call.
 */
#include "state.h"

static size_t dcf_align16(size_t n)
{
	return (n + 15) & ~(size_t)15;
}

static u32 address_slots(u16 stations)
{
	u32 n = 16;

	while (n < 8U * stations)
		n *= 2;
	return n;
}

/* Lay out the memory of one air; with @dcf NULL, only measure it. */
static size_t lay_out(struct dcf *dcf, u16 stations)
{
	size_t n = stations, events = n * EVENTS, at = dcf_align16(sizeof(struct dcf));
	u8 *base = (u8 *)dcf;

#define PLACE(field, count)                                                    \
	do {                                                                   \
		if (dcf)                                                       \
			dcf->field = (void *)(base + at);                      \
		at += dcf_align16((count) * sizeof(*((struct dcf *)NULL)->field));  \
	} while (0)
	PLACE(station, n);
	PLACE(link, n * n);
	PLACE(timeline.heap, events);
	PLACE(timeline.place, events);
	PLACE(timeline.time, events);
	PLACE(address, address_slots(stations));
	PLACE(neighbour, 2 * n * n);
	PLACE(candidate, n * n);
#undef PLACE
	return at;
}

size_t dcf_size(u16 stations)
{
	return lay_out(NULL, stations);
}

static bool thresholds_fit(const struct dcf_config *c, u64 rx_aw, u64 cs_aw)
{
	return rx_aw && cs_aw && (rx_aw >= cs_aw || c->reception != DCF_CAPTURE);
}

bool dcf_check_thresholds(const struct dcf *dcf, u64 rx_aw, u64 cs_aw)
{
	return thresholds_fit(&dcf->config, rx_aw, cs_aw);
}

enum dcf_refusal dcf_check(const struct dcf_config *c)
{
	const struct dcf_phy *phy = &c->phy;

	if (!c->stations || c->stations > DCF_MAX_STATIONS)
		return DCF_BAD_STATIONS;
	if (phy->slot_ns < 1000 || phy->slot_ns > 1000000)
		return DCF_BAD_SLOT;
	if (phy->sifs_ns < DCF_MIN_SIFS_NS || phy->sifs_ns > DCF_MAX_SIFS_NS)
		return DCF_BAD_SIFS;
	/* A signal that ends before the station tunes to its channel has no effect: frames are longer. */
	if (phy->sensing_ns >= phy->slot_ns || phy->sensing_ns >= DCF_MIN_AIRTIME_NS)
		return DCF_BAD_SENSING;
	if (phy->signal_extension_ns > 1000000)
		return DCF_BAD_EXTENSION;
	if (phy->cw_min > phy->cw_max || phy->cw_max > 65535 || phy->cw_min & (phy->cw_min + 1) ||
	    phy->cw_max & (phy->cw_max + 1))
		return DCF_BAD_CW;
	if (!phy->basic_rates || phy->basic_rates >> DCF_RATES)
		return DCF_BAD_BASIC_RATES;
	if (c->reception >= DCF_RECEPTIONS || c->eifs >= DCF_EIFS_RULES || c->rules >> DCF_RULES)
		return DCF_BAD_RULE;
	if (c->edca && c->rules)
		return DCF_BAD_EDCA;
	if (!thresholds_fit(c, c->rx_threshold_aw, c->cs_threshold_aw))
		return DCF_BAD_CARRIER_SENSE;
	if (c->reception == DCF_CAPTURE && c->capture_ratio_milli < 1000)
		return DCF_BAD_CAPTURE_RATIO;
	if (c->reception == DCF_SINR && !c->noise_aw)
		return DCF_NO_NOISE;
	if (c->detect_ofdm_milli > DCF_MAX_DETECT_MILLI || c->detect_dsss_milli > DCF_MAX_DETECT_MILLI)
		return DCF_BAD_DETECTION;
	if (c->snap < DCF_HDR_LEN)
		return DCF_BAD_SNAP;
	return DCF_SOUND;
}

void dcf_init(struct dcf *dcf, const struct dcf_config *config, const struct dcf_ops *ops, void *edge)
{
	u32 i, a;

	lay_out(dcf, config->stations);
	dcf->config = *config;
	dcf->ops = ops;
	dcf->edge = edge;
	dcf->addresses = address_slots(config->stations);
	for (i = 0; i < DCF_RATES; i++)
		dcf->answer[i] = dcf_response(&config->phy, &mode_legacy[i]);
	for (a = 0; a < dcf->addresses; a++)
		dcf->address[a].station = DCF_NOBODY;
	for (i = 0; i < config->stations; i++) {
		struct dcf_station *s = &dcf->station[i];

		s->index = i;
		neighbours_place(dcf, s);
		s->short_limit = 7;
		s->long_limit = 4;
		s->queue_limit = 50;
		s->formats = (1U << DCF_FORMATS) - 1;
		edca_init(dcf, s);
		s->latest_other = DCF_NOBODY;
		s->rx_threshold_aw = config->rx_threshold_aw;
		s->cs_threshold_aw = config->cs_threshold_aw;
		s->random = config->seed ^ (i + 1ULL) << 48;
		dcf_random(&s->random); /* seeds that differ in few bits diverge here */
		s->random = dcf_random(&s->random);
	}
}

bool dcf_check_station(const struct dcf *dcf, u16 station, u8 short_limit, u8 long_limit, u16 queue)
{
	/* hwsim keeps at most 200 frames of a radio, and drops the oldest one without a report. */
	u16 most = dcf->n_modes ? DCF_MAX_BACKLOG : dcf->config.edca ? DCF_MAX_QUEUE / DCF_CATEGORIES : DCF_MAX_QUEUE;

	return station < dcf->config.stations && short_limit && long_limit && queue && queue <= most;
}

bool dcf_set_station(struct dcf *dcf, u16 station, u16 freq, u8 short_limit, u8 long_limit, u16 queue, bool promiscuous)
{
	struct dcf_station *s;

	if (!dcf_check_station(dcf, station, short_limit, long_limit, queue))
		return false;
	s = &dcf->station[station];
	s->short_limit = short_limit;
	s->long_limit = long_limit;
	s->queue_limit = queue;
	s->promiscuous = promiscuous;
	if (s->set_freq != freq) /* otherwise a frame may have moved it to another channel */
		tuning_retune(dcf, s, freq);
	s->set_freq = freq;
	return true;
}

void dcf_tune(struct dcf *dcf, u16 station, u16 freq)
{
	tuning_retune(dcf, &dcf->station[station], freq);
}

void dcf_switch(struct dcf *dcf, u16 station, bool on)
{
	tuning_switch(dcf, &dcf->station[station], on);
}

bool dcf_set_thresholds(struct dcf *dcf, u16 station, u64 rx_aw, u64 cs_aw)
{
	if (station >= dcf->config.stations || !dcf_check_thresholds(dcf, rx_aw, cs_aw))
		return false;
	tuning_resense(dcf, &dcf->station[station], rx_aw, cs_aw);
	neighbours_forget(dcf);
	return true;
}

bool dcf_set_link(struct dcf *dcf, u16 from, u16 to, const struct dcf_link *link)
{
	u16 n = dcf->config.stations;

	if (from >= n || to >= n || from == to || !dcf_check_link(link))
		return false;
	dcf->link[from * n + to] = *link;
	dcf->station[from].candidates_until = 0;
	return true;
}

bool dcf_set_curve(struct dcf *dcf, u8 curve, const struct dcf_errors *errors)
{
	u32 p;

	if (curve >= MODE_CURVES || !errors->step_mdb || errors->step_mdb > 100000 || errors->points > DCF_LAMBDA_POINTS)
		return false;
	for (p = 0; p < errors->points; p++)
		if (errors->lambda_q40[p] >> 40) /* at most half of the bits fail: below ln 2 */
			return false;
	dcf->errors[curve] = *errors;
	return true;
}

bool dcf_set_errors(struct dcf *dcf, u16 rate, const struct dcf_errors *errors)
{
	int i = dcf_rate_index(rate);

	return i >= 0 && dcf_set_curve(dcf, i, errors);
}

bool dcf_set_formats(struct dcf *dcf, u16 station, u8 formats)
{
	if (station >= dcf->config.stations || formats >> DCF_FORMATS)
		return false;
	dcf->station[station].formats = formats;
	return true;
}

bool dcf_set_modes(struct dcf *dcf, const struct dcf_mode *modes, u16 count)
{
	u16 i;

	for (i = 0; i < count; i++)
		if (modes[i].format < DCF_HT || modes[i].format >= DCF_FORMATS || !modes[i].bits || !modes[i].symbol_ns ||
		    modes[i].curve >= MODE_CURVES || modes[i].reference >= DCF_RATES || modes[i].doublings > 3 ||
		    (modes[i].doublings && dcf_rule(dcf, DCF_FORGET_SIGNALS)))
			return false;
	for (i = 0, dcf->wide = false; i < count; i++)
		dcf->wide |= modes[i].doublings;
	dcf->modes = modes;
	dcf->n_modes = count;
	return true;
}

bool dcf_begin_scoreboard(struct dcf *dcf, u16 station, struct dcf_scoreboard *board, u16 from, u8 tid, u16 window, u16 start)
{
	if (station >= dcf->config.stations || from >= dcf->config.stations || !window || window > BLOCKACK_WINDOW)
		return false;
	scoreboard_begin(board, window, start & (SEQUENCE_NUMBERS - 1));
	board->from = from;
	board->tid = tid;
	board->next = dcf->station[station].boards;
	dcf->station[station].boards = board;
	return true;
}

void dcf_end_scoreboard(struct dcf *dcf, u16 station, struct dcf_scoreboard *board)
{
	struct dcf_station *s = &dcf->station[station];
	struct dcf_scoreboard **at = &s->boards;

	while (*at && *at != board)
		at = &(*at)->next;
	if (*at)
		*at = board->next;
	if (s->owes && s->owed_board == board)
		answer_forget(dcf, s);
}

void dcf_run(struct dcf *dcf, u64 until)
{
	enum dcf_event kind;
	u16 station;

	dcf->until = until;
	while (timeline_pop(dcf, until, &station, &kind)) {
		struct dcf_station *s = &dcf->station[station];

		switch (kind) {
		case EV_GONE_0:
		case EV_GONE_1:
			medium_gone(dcf, s, kind - EV_GONE_0);
			break;
		case EV_DETECT:
			medium_detect(dcf, s);
			break;
		case EV_SENT:
			medium_sent(dcf, s);
			break;
		case EV_TIMEOUT:
			exchange_timeout(dcf, s);
			break;
		case EV_NAV_RESET:
			access_reset_nav(dcf, s);
			break;
		case EV_SIFS:
			exchange_sifs(dcf, s);
			break;
		case EV_ACCESS:
			exchange_begin(dcf, s);
			break;
		case EV_HEARD_0:
		case EV_HEARD_1:
			medium_heard(dcf, s, kind - EV_HEARD_0);
			break;
		case EVENTS:
			break;
		}
	}
	dcf->now = dcf_max(dcf->now, until); /* not the time of the last event */
}

void dcf_enqueue(struct dcf *dcf, u16 station, struct dcf_frame *frame, u64 now)
{
	dcf_run(dcf, now ? now - 1 : 0); /* frames of one time are equal: none is sent before the last one */
	dcf->now = now;
	queue_put(dcf, &dcf->station[station], frame);
}

/*
 * The earliest time at which this event can lead to ops->deliver() at a frame's
 * receiver, or to ops->done() for its ACK, its timeout, or a group frame. Some
 * reports need no timer of their own and are made when the next timer fires:
 * - receptions of a promiscuous station;
 * - the end of a unicast frame without ACK, after a SIFS at most;
 * - a failure that a reception decides, after a SIFS or when the timeout would
 * have fired;
 * - what follows an unanswered RTS (exchange_lookahead()).
 * Times in the trace are always those of the events.
 */
static u64 dcf_visible(const struct dcf *dcf, u16 station, enum dcf_event kind, u64 time)
{
	const struct dcf_station *s = &dcf->station[station];
	const struct dcf_phy *phy = &dcf->config.phy;
	const struct transmission *tx;
	u64 soonest;

	switch (kind) {
	case EV_GONE_0:
	case EV_GONE_1:
		tx = &s->tx[kind - EV_GONE_0];
		/*
		 * Neither is reported to the kernel, and the receiver waits for a SIFS before it
		 * sends a frame that may be.
		 */
		if (tx->kind == DCF_RTS || tx->kind == DCF_CTS)
			return time + phy->sifs_ns;
		/* It is delivered to the station that it passes next, and given back when it has passed all of them. */
		if (tx->receiver == DCF_NOBODY)
			return time;
		/* It is delivered, or is the ACK that ends a frame, at its receiver. Everything else takes a SIFS. */
		return tx->visible_at >= time && tx->visible_at != DCF_NEVER ? tx->visible_at : time + phy->sifs_ns;
	case EV_DETECT:
		/* If the followed frame is not detected, the medium may be idle. */
		soonest = access_soonest_ns(dcf, s);
		return soonest == DCF_NEVER ? soonest : time + soonest;
	case EV_SENT:
		/* The frame may end, as it waits for no ACK. A response, or its timeout, takes a SIFS and more. */
		return s->tx[s->slot].receiver == DCF_NOBODY ? time : time + phy->sifs_ns;
	case EV_TIMEOUT:
		/* This may have been the last attempt. */
		return time;
	case EV_NAV_RESET:
		/* The station may send after DIFS, or answer an RTS after a SIFS. */
		return time + phy->sifs_ns;
	case EV_SIFS:
		/* The frame that is sent now is received at the end of its airtime. DATA may end then, too. */
		return time + exchange_sifs_lookahead(dcf, s);
	case EV_ACCESS:
		/* An exchange begins. exchange_lookahead() knows how long it reports nothing. */
		return time + s->exchange_ns;
	default:
		/* EV_HEARD: each signal that a station hears ends later, which is another event. */
		return DCF_NEVER;
	}
}

/*
 * The earliest time of @best and of the reports of events in the heap at @at and below. Events
 * after @best do not count.
 */
static u64 next_from(const struct dcf *dcf, u32 at, u64 best)
{
	const struct timeline *t = &dcf->timeline;
	u32 event;

	if (at >= t->count || t->time[t->heap[at]] >= best)
		return best;
	event = t->heap[at];
	best = dcf_min(best, dcf_visible(dcf, event / EVENTS, event % EVENTS, t->time[event]));
	best = next_from(dcf, 2 * at + 1, best);
	return next_from(dcf, 2 * at + 2, best);
}

u64 dcf_next(const struct dcf *dcf)
{
	return next_from(dcf, 0, DCF_NEVER);
}

/* Until now: values that count at their start, and those that count at their end. */
static void close_counters(struct dcf *dcf, struct dcf_station *s)
{
	const struct transmission *tx = &s->tx[s->slot];

	if (s->busy)
		s->counters.busy_ns += dcf->now - dcf_max(s->busy_since, dcf->started);
	if (s->nav_end > dcf->now)
		s->counters.nav_ns -= s->nav_end - dcf->now;
	if (s->sending && tx->id >= dcf->first_counted)
		s->counters.tx_ns -= tx->end - dcf->now;
}

void dcf_flush(struct dcf *dcf)
{
	u16 i, slot;

	for (i = 0; i < dcf->config.stations; i++) {
		struct dcf_station *s = &dcf->station[i];

		if (dcf->measuring)
			close_counters(dcf, s);
		for (slot = 0; slot < 2; slot++)
			medium_let_go(dcf, s, &s->tx[slot]);
		queue_empty(dcf, s, true);
		s->phase = CONTENDING;
		s->sending = s->busy = s->owes = false;
		s->eifs_ns = 0;
		s->sensed = 0;
		s->energy_aw = 0;
		memset(s->channel_aw, 0, sizeof(s->channel_aw));
		s->nav_end = s->awaits_data = 0;
		s->rx.tx = NULL;
		memset(s->tx, 0, sizeof(s->tx));
	}
	neighbours_forget(dcf);
	memset(dcf->timeline.place, 0, dcf->config.stations * EVENTS * sizeof(*dcf->timeline.place));
	dcf->timeline.count = 0;
}

void dcf_start(struct dcf *dcf, u64 now)
{
	u16 i;

	dcf_run(dcf, now);
	dcf->started = now;
	dcf->first_counted = dcf->transmissions + 1;
	for (i = 0; i < dcf->config.stations; i++) {
		struct dcf_station *s = &dcf->station[i];

		memset(&s->counters, 0, sizeof(s->counters));
		if (s->nav_end > now)
			s->counters.nav_ns = s->nav_end - now;
	}
	dcf->measuring = true;
	trace_mark(dcf, false, 0);
}

void dcf_stop(struct dcf *dcf, u64 now, u32 lost_records)
{
	u16 i;

	dcf_run(dcf, now);
	if (!dcf->measuring)
		return;
	for (i = 0; i < dcf->config.stations; i++)
		close_counters(dcf, &dcf->station[i]);
	trace_mark(dcf, true, lost_records);
	dcf->measuring = false;
}

bool dcf_measuring(const struct dcf *dcf)
{
	return dcf->measuring;
}

const struct dcf_counters *dcf_counters(const struct dcf *dcf, u16 station)
{
	return &dcf->station[station].counters;
}

u64 dcf_events(const struct dcf *dcf)
{
	return dcf->events;
}
