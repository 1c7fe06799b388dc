// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reception: which of the arriving signals a station follows, and how others
 * corrupt it. docs/reception.md has both rules. With SINR a frame must be
 * detected: while its preamble arrives, a stronger signal replaces it, and it is
 * followed further only if it is then strong enough against all others.
 */
#include "state.h"

void reception_spoil(struct arrival *a, enum dcf_outcome outcome, u16 other, u8 kind)
{
	if (a->outcome != DCF_OK)
		return;
	a->outcome = outcome;
	a->other = other;
	a->other_kind = kind;
}

/*
 * A station that waits for PHY-RXSTART has seen it: the end of this reception decides (10.3.2.7,
 * 10.3.2.9, 10.3.2.4).
 */
static void reception_notice(struct dcf *dcf, struct dcf_station *s)
{
	u64 start = s->rx.start + mode_preamble_ns(mode_of(dcf, s->rx.tx->mode), s->rx.tx->short_preamble);

	if (timeline_has(dcf, s->index, EV_TIMEOUT) && start <= timeline_time(dcf, s->index, EV_TIMEOUT) &&
	    !dcf_rule(dcf, DCF_FIXED_TIMEOUTS))
		timeline_cancel(dcf, s->index, EV_TIMEOUT);
	if (timeline_has(dcf, s->index, EV_NAV_RESET) && start <= timeline_time(dcf, s->index, EV_NAV_RESET))
		timeline_cancel(dcf, s->index, EV_NAV_RESET);
}

static void reception_lock(struct dcf *dcf, struct dcf_station *s, struct transmission *tx, struct neighbour *nb,
			   struct arrival *arrival)
{
	struct reception *rx = &s->rx;

	rx->tx = tx;
	rx->arrival = arrival;
	rx->link = nb->link;
	rx->start = dcf->now;
	rx->is_frame = reception_is_frame(s, &nb->link);
	rx->rivals = 0;
	rx->chunk_start = dcf->now;
	rx->spent_q40 = rx->budget_q40 = rx->worst_aw = 0;
	if (tx->n > 1)
		mpdus_begin(dcf, s);
	if (dcf->config.reception == DCF_SINR) {
		rx->budget_q40 = dcf_draw_budget_q40(&s->random);
		rx->worst_aw = bits_most_beside(s, tx, nb->link.power_aw);
		if (rx->worst_aw)
			reception_spoil(arrival, DCF_OK, s->latest_other, s->latest_kind);
		timeline_set(dcf, s->index, EV_DETECT, dcf->now + dcf_detect_ns(mode_of(dcf, tx->mode)));
	} else if (rx->is_frame) {
		reception_notice(dcf, s);
	}
}

void reception_detect(struct dcf *dcf, struct dcf_station *s)
{
	const struct dcf_config *c = &dcf->config;
	struct reception *rx = &s->rx;
	u32 ratio = dcf_is_ofdm(mode_of(dcf, rx->tx->mode)) ? c->detect_ofdm_milli : c->detect_dsss_milli;
	u64 others_aw = bits_beside(s, rx->tx, rx->link.power_aw);

	if ((__uint128_t)share_aw(rx->tx, rx->link.power_aw) * 1000 >= (__uint128_t)others_aw * ratio)
		return reception_notice(dcf, s);
	reception_spoil(rx->arrival, DCF_COLLISION, rx->arrival->other, rx->arrival->other_kind);
	rx->tx = NULL;
}

void reception_drop(struct dcf *dcf, struct dcf_station *s)
{
	s->rx.tx = NULL;
	timeline_cancel(dcf, s->index, EV_DETECT);
}

/* The signal survives all others if it is above them by capture_ratio. */
static bool reception_captures(const struct dcf *dcf, u64 signal_aw, u64 others_aw)
{
	return (__uint128_t)signal_aw * 1000 >= (__uint128_t)others_aw * dcf->config.capture_ratio_milli;
}

/* @tx survives the other signals, in its primary channel or in all channels. */
static bool signal_outlasts(const struct dcf *dcf, const struct dcf_station *s, const struct transmission *tx, u64 power_aw,
			    bool all)
{
	u64 others = all ? bits_most_beside(s, tx, power_aw) : bits_beside(s, tx, power_aw);

	return reception_captures(dcf, share_aw(tx, power_aw), others);
}

bool reception_survives(const struct dcf *dcf, const struct dcf_station *s, bool data)
{
	return signal_outlasts(dcf, s, s->rx.tx, s->rx.link.power_aw, data);
}

/* It is not followed: ns-2 ignores other signals. */
static void reception_forget(const struct dcf *dcf, struct dcf_station *s, const struct dcf_link *link,
			     struct arrival *arrival)
{
	if (!dcf_rule(dcf, DCF_FORGET_SIGNALS))
		return;
	arrival->forgotten = true;
	s->energy_aw -= link->power_aw;
	s->sensed -= link->power_aw >= s->cs_threshold_aw;
}

/* A signal that ends at @end loses to a stronger one. */
static void reception_lose(struct dcf *dcf, struct dcf_station *s, u64 end, const struct dcf_link *link,
			   struct arrival *arrival)
{
	if (dcf_rule(dcf, DCF_NAV_ON_CAPTURE))
		access_set_nav(dcf, s, end + dcf_eifs_ns(&dcf->config.phy, s->freq));
	reception_forget(dcf, s, link, arrival);
}

/*
 * Does this signal replace the followed one? Of signals that arrive at the same
 * time, the strongest is followed; among equal ones, a draw decides. With SINR,
 * so is a stronger one that arrives before the preamble of the followed one has
 * been detected.
 */
static bool reception_outdoes(const struct dcf *dcf, struct dcf_station *s, const struct neighbour *nb)
{
	struct reception *rx = &s->rx;
	bool together = rx->start == dcf->now;

	if (nb->link.power_aw > rx->link.power_aw)
		return together || timeline_has(dcf, s->index, EV_DETECT);
	return together && nb->link.power_aw == rx->link.power_aw && dcf_draw_backoff(&s->random, ++rx->rivals) == 0;
}

static void take_over(struct dcf *dcf, struct dcf_station *s, struct transmission *tx, struct neighbour *nb,
		      struct arrival *arrival)
{
	u16 rivals = nb->link.power_aw > s->rx.link.power_aw ? 0 : s->rx.rivals;

	reception_spoil(s->rx.arrival, DCF_COLLISION, tx->from, tx->kind);
	reception_lock(dcf, s, tx, nb, arrival);
	s->rx.rivals = rivals;
}

/*
 * ns-2's rule: the receiver follows the first signal that it senses. A later
 * signal corrupts it unless the first is above it by capture_ratio. The later one
 * is lost in both cases. Of two corrupted signals, the longer one is followed, or
 * the stronger one.
 */
static void arrive_capture(struct dcf *dcf, struct dcf_station *s, struct transmission *tx, struct neighbour *nb,
			   struct arrival *arrival)
{
	u64 end = tx->end + nb->link.delay_ns, ends;
	struct reception *rx = &s->rx;

	if (!rx->tx) {
		reception_lock(dcf, s, tx, nb, arrival);
		if (!signal_outlasts(dcf, s, tx, nb->link.power_aw, tx->n == 1))
			reception_spoil(arrival, DCF_COLLISION, s->latest_other, s->latest_kind);
		return;
	}
	ends = rx->tx->end + rx->link.delay_ns;
	if (reception_outdoes(dcf, s, nb) &&
	    signal_outlasts(dcf, s, tx, nb->link.power_aw, tx->n == 1)) {
		reception_lose(dcf, s, ends, &rx->link, rx->arrival);
		return take_over(dcf, s, tx, nb, arrival);
	}
	reception_spoil(arrival, DCF_COLLISION, rx->tx->from, rx->tx->kind);
	if (rx->tx->n > 1) { /* it is followed to its end, even if this signal corrupts one of its MPDUs */
		reception_spoil(rx->arrival, DCF_OK, tx->from, tx->kind);
		return;
	}
	if ((rx->arrival->outcome == DCF_OK || dcf_rule(dcf, DCF_FORGET_SIGNALS)) &&
	    reception_survives(dcf, s, true))
		return reception_lose(dcf, s, end, &nb->link, arrival);
	reception_spoil(rx->arrival, DCF_COLLISION, tx->from, tx->kind);
	if (end < ends || (end == ends && nb->link.power_aw <= rx->link.power_aw))
		return reception_forget(dcf, s, &nb->link, arrival);
	reception_forget(dcf, s, &rx->link, rx->arrival);
	reception_lock(dcf, s, tx, nb, arrival);
}

static void arrive_sinr(struct dcf *dcf, struct dcf_station *s, struct transmission *tx, struct neighbour *nb,
			struct arrival *arrival)
{
	bool is_frame = reception_is_frame(s, &nb->link);
	struct reception *rx = &s->rx;

	if (is_frame && !rx->tx)
		return reception_lock(dcf, s, tx, nb, arrival);
	if (is_frame && reception_outdoes(dcf, s, nb))
		return take_over(dcf, s, tx, nb, arrival);
	if (!is_frame)
		arrival->outcome = DCF_BELOW_THRESHOLD;
	else
		reception_spoil(arrival, DCF_COLLISION, rx->tx->from, rx->tx->kind);
	if (rx->tx && nb->link.power_aw > rx->worst_aw) { /* the station to blame if it fails */
		rx->worst_aw = nb->link.power_aw;
		reception_spoil(rx->arrival, DCF_OK, tx->from, tx->kind);
	}
}

/* Does it overlap the channels of the followed signal? */
void reception_disturb(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, const struct dcf_link *link)
{
	struct reception *rx = &s->rx;
	u64 power = share_aw(tx, link->power_aw);

	if (!rx->tx || !(rx->tx->band.channels & tx->band.channels))
		return;
	if (dcf->config.reception == DCF_CAPTURE)
		return reception_spoil(rx->arrival, rx->tx->n > 1 || reception_survives(dcf, s, true) ? DCF_OK : DCF_COLLISION,
				       tx->from, tx->kind);
	if (power > rx->worst_aw) {
		rx->worst_aw = power;
		reception_spoil(rx->arrival, DCF_OK, tx->from, tx->kind);
	}
}

enum dcf_outcome reception_outcome(const struct dcf *dcf, const struct dcf_station *s)
{
	const struct reception *rx = &s->rx;

	if (rx->arrival->outcome != DCF_OK)
		return rx->arrival->outcome;
	if (!rx->is_frame || !(s->formats >> mode_of(dcf, rx->tx->mode)->format & 1))
		return DCF_BELOW_THRESHOLD;
	if (rx->tx->n > 1)
		return mpdus_sum(s, rx->tx->n);
	if (dcf->config.reception == DCF_CAPTURE || rx->spent_q40 <= rx->budget_q40)
		return DCF_OK;
	/* Lost: because of the other signals, if there were any. */
	return rx->worst_aw ? DCF_COLLISION : DCF_NOISE;
}

void reception_arrive(struct dcf *dcf, struct dcf_station *s, struct transmission *tx, struct neighbour *nb,
		      struct arrival *arrival)
{
	if (s->sending)
		reception_spoil(arrival, DCF_OWN_TX, s->index, s->tx[s->slot].kind);
	if (dcf->config.reception == DCF_CAPTURE && (!s->sending || dcf_rule(dcf, DCF_FOLLOW_WHILE_SENDING)))
		arrive_capture(dcf, s, tx, nb, arrival);
	else if (!s->sending)
		arrive_sinr(dcf, s, tx, nb, arrival);
}
