// SPDX-License-Identifier: GPL-2.0-only
/*
 * The medium: the effect of each transmission at every station that can sense it.
 * Energy adds up and is physical carrier sense; a station follows one signal at a
 * time, which becomes a reception (reception.c).
 *
 * Work is proportional to the number of stations that hear: each transmission has
 * a list of them, nearest first, and one event that walks the list.
 */
#include "state.h"

/* Does it reach the station: on its primary channel or, where there are wide PPDUs, in the same block? */
static bool medium_concerns(const struct dcf *dcf, const struct dcf_station *s, const struct transmission *tx)
{
	return !s->off && (s->freq == tx->freq || (dcf->wide && band_of(s->freq, 0).block == tx->band.block));
}

/*
 * The power that counts for the station: the whole power of a PPDU on its primary channel; of
 * another PPDU, the part in that channel.
 */
static u64 sensed_aw(const struct dcf_station *s, const struct transmission *tx, const struct dcf_link *link)
{
	if (s->freq == tx->freq)
		return link->power_aw;
	return band_of(s->freq, 0).channels & tx->band.channels ? share_aw(tx, link->power_aw) : 0;
}

/* The same where there are wide PPDUs. */
static void medium_spread(struct dcf_station *s, const struct transmission *tx, const struct dcf_link *link, int sign)
{
	u64 sensed = sensed_aw(s, tx, link), share = share_aw(tx, link->power_aw);
	u32 c;

	s->energy_aw += sign * (__int128_t)dcf_min(sensed, share);
	s->sensed += sign * (sensed >= s->cs_threshold_aw);
	for (c = 0; c < BAND_CHANNELS; c++)
		if (tx->band.channels >> c & 1)
			s->channel_aw[c] += sign * (__int128_t)share;
}

/* A signal arrives (@sign 1) or ends (@sign -1). */
static inline void medium_add(struct dcf_station *s, const struct transmission *tx, const struct neighbour *nb, int sign)
{
	if (nb->arrival.spread)
		return medium_spread(s, tx, &nb->link, sign);
	s->energy_aw += sign * (__int128_t)nb->link.power_aw;
	s->sensed += sign * (nb->link.power_aw >= s->cs_threshold_aw);
}

static void update_busy(struct dcf *dcf, struct dcf_station *s)
{
	bool energy = dcf->config.reception == DCF_CAPTURE ? s->sensed > 0 :
							     s->energy_aw >= s->cs_threshold_aw;
	bool busy = s->sending || s->rx.tx || energy;

	if (busy == s->busy)
		return;
	s->busy = busy;
	if (busy) {
		access_medium_busy(dcf, s);
		s->busy_since = dcf->now;
		return;
	}
	if (dcf->measuring)
		s->counters.busy_ns += dcf->now - dcf_max(s->busy_since, dcf->started);
	s->idle_since = dcf->now;
	access_medium_idle(dcf, s);
}

/* Charge the followed signal for the time until now. */
static void medium_spend(struct dcf *dcf, struct dcf_station *s)
{
	if (s->rx.tx && s->rx.tx->n > 1)
		mpdus_spend(dcf, s);
	else if (s->rx.tx && dcf->config.reception == DCF_SINR)
		bits_spend(dcf, s);
}

static void medium_arrive(struct dcf *dcf, struct transmission *tx, struct neighbour *nb, struct arrival *arrival)
{
	struct dcf_station *s = &dcf->station[nb->station];

	if (!medium_concerns(dcf, s, tx))
		return;
	*arrival = (struct arrival){ .outcome = DCF_OK, .other = DCF_NOBODY, .faded = !fading_leaves(dcf, tx, nb) };
	arrival->here = !arrival->faded;
	arrival->missed = s->freq != tx->freq || (dcf_is_ofdm(mode_of(dcf, tx->mode)) && s->formats == 1 << DCF_DSSS);
	if (arrival->faded)
		return;
	medium_spend(dcf, s);
	arrival->spread = dcf->wide;
	medium_add(s, tx, nb, 1);
	if (arrival->missed)
		reception_disturb(dcf, s, tx, &nb->link);
	else
		reception_arrive(dcf, s, tx, nb, arrival);
	s->latest_other = tx->from;
	s->latest_kind = tx->kind;
	update_busy(dcf, s);
}

static void count_mpdu(struct dcf_station *s, u8 kind, bool frame, bool addressed, enum dcf_outcome outcome)
{
	if (frame)
		s->counters.rx[kind][outcome]++;
	if (addressed)
		s->counters.addressed[kind][outcome]++;
}

static void count_mpdus(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, bool frame, bool addressed,
			bool followed, enum dcf_outcome outcome)
{
	const int slot = tx - dcf->station[tx->from].tx;
	const struct dcf_frame *f;
	u16 place = 0;

	for (f = tx->frame; f; f = mpdu_after(tx, f, slot), place++)
		count_mpdu(s, f->kind, frame, addressed, followed && outcome == DCF_OK ? mpdus_outcome(s, place) : outcome);
}

static void count_arrival(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx,
			  const struct neighbour *nb, const struct arrival *arrival, bool followed,
			  enum dcf_outcome outcome)
{
	bool addressed = tx->receiver == s->index, frame = reception_is_frame(s, &nb->link);

	if (!dcf->measuring || tx->id < dcf->first_counted || (!addressed && !frame))
		return;
	if (!frame) /* it could not have been received alone, either */
		outcome = DCF_BELOW_THRESHOLD;
	if (tx->n == 1)
		count_mpdu(s, tx->kind, frame, addressed, outcome);
	else
		count_mpdus(dcf, s, tx, frame, addressed, followed, outcome);
	trace_rx(dcf, s, tx, arrival, &nb->link, followed, outcome);
}

static void medium_leave(struct dcf *dcf, struct transmission *tx, struct neighbour *nb, struct arrival *arrival)
{
	struct dcf_station *s = &dcf->station[nb->station];
	enum dcf_outcome outcome = arrival->outcome;
	bool locked = s->rx.tx == tx;

	if (arrival->faded && !arrival->missed)
		count_arrival(dcf, s, tx, nb, arrival, false, DCF_BELOW_THRESHOLD);
	arrival->faded = false;
	if (!arrival->here)
		return;
	medium_spend(dcf, s);
	if (locked) {
		outcome = reception_outcome(dcf, s);
		reception_drop(dcf, s);
	}
	arrival->here = false;
	if (!arrival->forgotten)
		medium_add(s, tx, nb, -1);
	if (!arrival->missed)
		count_arrival(dcf, s, tx, nb, arrival, locked, outcome);
	update_busy(dcf, s);
	if (locked && !(s->sending && s->tx[s->slot].end > dcf->now)) /* the end is not noticed while it sends */
		exchange_received(dcf, s, tx, outcome);
}

static void medium_walk(struct dcf *dcf, struct dcf_station *from, int slot, u64 base, u16 *at, enum dcf_event event,
			void (*visit)(struct dcf *dcf, struct transmission *tx, struct neighbour *nb,
				      struct arrival *arrival))
{
	struct neighbour *neighbours = from->neighbours[slot];
	u16 n = from->n_neighbours[slot];

	do {
		for (; *at < n && base + neighbours[*at].link.delay_ns <= dcf->now; (*at)++)
			visit(dcf, &from->tx[slot], &neighbours[*at], &neighbours[*at].arrival);
	} while (*at < n && timeline_go_on(dcf, from->index, event, base + neighbours[*at].link.delay_ns));
}

void medium_heard(struct dcf *dcf, struct dcf_station *from, int slot)
{
	struct transmission *tx = &from->tx[slot];

	medium_walk(dcf, from, slot, tx->start, &tx->heard, EV_HEARD_0 + slot, medium_arrive);
}

void medium_detect(struct dcf *dcf, struct dcf_station *s)
{
	reception_detect(dcf, s);
	update_busy(dcf, s);
}

/* A transmission holds its frame from its start until it has passed all stations, even if the frame has ended. */
void medium_let_go(struct dcf *dcf, struct dcf_station *from, struct transmission *tx)
{
	struct dcf_frame *f, *next = tx->frame;

	tx->frame = NULL;
	while ((f = next)) {
		next = mpdu_after(tx, f, tx - from->tx);
		queue_release(dcf, from->index, f);
	}
}

void medium_gone(struct dcf *dcf, struct dcf_station *from, int slot)
{
	struct transmission *tx = &from->tx[slot];

	medium_walk(dcf, from, slot, tx->end, &tx->gone, EV_GONE_0 + slot, medium_leave);
	if (!timeline_has(dcf, from->index, EV_GONE_0 + slot))
		medium_let_go(dcf, from, tx);
}

void medium_send(struct dcf *dcf, struct dcf_station *s, struct transmission *tx)
{
	u32 duration = dcf_airtime_ns(&dcf->config.phy, mode_of(dcf, tx->mode), tx->psdu_len, tx->short_preamble);
	const struct neighbour *neighbours;
	struct dcf_frame *f;
	u16 i, n;

	s->slot = !s->slot;
	neighbours_find(dcf, s, s->slot);
	neighbours = s->neighbours[s->slot];
	n = s->n_neighbours[s->slot];
	tx->id = dcf->transmissions + 1;
	dcf->transmissions += tx->n;
	tx->from = s->index;
	tx->freq = s->freq;
	tx->doublings = mode_of(dcf, tx->mode)->doublings;
	if (dcf->wide)
		tx->band = band_of(s->freq, tx->doublings);
	tx->start = dcf->now;
	tx->end = dcf->now + duration;
	tx->heard = tx->gone = 0;
	tx->visible_at = DCF_NEVER;
	for (f = tx->frame; f; f = mpdu_after(tx, f, s->slot))
		f->holders++;
	s->sending = true;
	if (s->rx.tx) { /* half duplex */
		reception_spoil(s->rx.arrival, DCF_OWN_TX, s->index, tx->kind);
		if (dcf->config.reception == DCF_SINR || !dcf_rule(dcf, DCF_FOLLOW_WHILE_SENDING))
			reception_drop(dcf, s);
	}
	update_busy(dcf, s);
	timeline_set(dcf, s->index, EV_SENT, tx->end);
	for (i = 0; i < n; i++)
		if (neighbours[i].station == tx->receiver)
			tx->visible_at = tx->end + neighbours[i].link.delay_ns;
	if (n) {
		timeline_set(dcf, s->index, EV_HEARD_0 + s->slot, tx->start + neighbours[0].link.delay_ns);
		timeline_set(dcf, s->index, EV_GONE_0 + s->slot, tx->end + neighbours[0].link.delay_ns);
	}
	if (!dcf->measuring)
		return;
	for (f = tx->n > 1 ? tx->frame : NULL; f; f = mpdu_after(tx, f, s->slot))
		s->counters.tx[f->kind]++;
	s->counters.tx[tx->kind] += tx->n == 1;
	s->counters.airtime_ns[tx->kind] += duration; /* in a PPDU of several frames, that of the first one */
	s->counters.tx_ns += duration;
	if (dcf->config.edca && tx->frame) {
		s->counters.share[tx->frame->category].tx++;
		s->counters.share[tx->frame->category].airtime_ns += duration;
	}
	trace_tx(dcf, tx, duration);
}

void medium_sent(struct dcf *dcf, struct dcf_station *s)
{
	s->sending = false;
	if (!timeline_has(dcf, s->index, EV_GONE_0 + s->slot))
		medium_let_go(dcf, s, &s->tx[s->slot]); /* no station hears it */
	update_busy(dcf, s);
	exchange_sent(dcf, s, &s->tx[s->slot]);
}

/* A station that begins to listen during a signal has missed its preamble: the signal is only energy until it ends. */
static void medium_join(struct dcf *dcf, struct dcf_station *s, struct transmission *tx, struct neighbour *nb)
{
	if (dcf_rule(dcf, DCF_FORGET_SIGNALS) || !fading_leaves(dcf, tx, nb))
		return;
	nb->arrival = (struct arrival){ .here = true, .missed = true, .spread = dcf->wide, .other = DCF_NOBODY };
	medium_add(s, tx, nb, 1);
	s->latest_other = tx->from;
	s->latest_kind = tx->kind;
}

void medium_listen(struct dcf *dcf, struct dcf_station *s)
{
	struct dcf_station *other;
	u16 i, slot, j;

	reception_drop(dcf, s);
	s->energy_aw = 0;
	memset(s->channel_aw, 0, sizeof(s->channel_aw));
	s->sensed = 0;
	for (i = 0; i < dcf->config.stations; i++) {
		other = &dcf->station[i];
		for (slot = 0; slot < 2; slot++)
			for (j = 0; j < other->n_neighbours[slot]; j++) {
				struct transmission *tx = &other->tx[slot];
				struct neighbour *nb = &other->neighbours[slot][j];

				if (nb->station != s->index)
					continue;
				nb->arrival = (struct arrival){ 0 };
				if (medium_concerns(dcf, s, tx) && j >= tx->gone && j < tx->heard)
					medium_join(dcf, s, tx, nb);
			}
	}
	s->idle_since = dcf->now;
	update_busy(dcf, s);
}
