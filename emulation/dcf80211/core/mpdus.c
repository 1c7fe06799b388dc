// SPDX-License-Identifier: GPL-2.0-only
/*
 * The result of each MPDU of the PPDU that a station follows. The preamble and
 * each MPDU are parts with an error budget of their own, which bit errors use up
 * while the part passes; bytes between MPDUs cost nothing. A lost preamble loses
 * all MPDUs.
 */
#include "state.h"

static void bit_set(u64 *bits, u16 place)
{
	bits[place / 64] |= 1ULL << place % 64;
}

static bool bit_get(const u64 *bits, u16 place)
{
	return bits[place / 64] >> place % 64 & 1;
}

void mpdus_begin(const struct dcf *dcf, struct dcf_station *s)
{
	const struct reception *rx = &s->rx;

	s->mpdus = (struct mpdus){
		.from = rx->start,
		.until = rx->start + mode_preamble_ns(mode_of(dcf, rx->tx->mode), rx->tx->short_preamble),
	};
}

/* The current part is over; begin the next one. */
static void mpdus_turn(struct dcf *dcf, struct dcf_station *s)
{
	struct reception *rx = &s->rx;
	struct mpdus *m = &s->mpdus;
	const struct transmission *tx = rx->tx;
	const struct dcf_mode *mode = mode_of(dcf, tx->mode);
	bool lost = rx->spent_q40 > rx->budget_q40, hit = dcf->config.reception == DCF_CAPTURE || rx->worst_aw;
	u64 data = rx->start + mode_preamble_ns(mode, tx->short_preamble);

	if (!m->place.n) {
		if (lost)
			reception_spoil(rx->arrival, hit ? DCF_COLLISION : DCF_NOISE, rx->arrival->other,
					rx->arrival->other_kind);
		m->mpdu = tx->frame;
	} else {
		if (lost)
			bit_set(m->lost, m->place.n - 1);
		if (lost && hit)
			bit_set(m->hit, m->place.n - 1);
		m->mpdu = m->mpdu->in[tx - dcf->station[tx->from].tx];
	}
	rx->spent_q40 = rx->worst_aw = 0;
	m->from = m->until = DCF_NEVER;
	if (!m->mpdu)
		return;
	m->place = ampdu_with(&m->place, mode, tx->spacing_ns, m->mpdu->len + FCS_LEN);
	m->from = data + mode_at_ns(mode, 8ULL * m->place.start);
	m->until = data + mode_at_ns(mode, 8ULL * m->place.len);
	if (dcf->config.reception == DCF_SINR)
		rx->budget_q40 = dcf_draw_budget_q40(&s->random);
}

/* With capture, a part is lost if any signal was too strong for it, and otherwise not. */
static u64 part_cost_q40(const struct dcf *dcf, const struct dcf_station *s, u64 ns)
{
	const struct dcf_mode *mode = mode_of(dcf, s->rx.tx->mode);

	if (dcf->config.reception == DCF_CAPTURE)
		return !reception_survives(dcf, s, s->mpdus.place.n);
	return bits_cost_q40(dcf, s, s->mpdus.place.n ? mode : &mode_legacy[4], ns);
}

/* With capture: all signals have been the same since its start, and it survives them to its end. */
static bool survives_whole(const struct dcf *dcf, const struct dcf_station *s)
{
	const struct reception *rx = &s->rx;

	return dcf->config.reception == DCF_CAPTURE && rx->chunk_start == rx->start &&
	       dcf->now >= rx->start + (rx->tx->end - rx->tx->start) && reception_survives(dcf, s, false) &&
	       reception_survives(dcf, s, true);
}

void mpdus_spend(struct dcf *dcf, struct dcf_station *s)
{
	struct reception *rx = &s->rx;
	u64 others, from, until;

	if (survives_whole(dcf, s)) { /* nothing is lost */
		s->mpdus.from = s->mpdus.until = DCF_NEVER;
		rx->chunk_start = dcf->now;
		return;
	}
	others = bits_most_beside(s, rx->tx, rx->link.power_aw);
	for (;;) {
		from = dcf_max(rx->chunk_start, s->mpdus.from);
		until = dcf_min(dcf->now, s->mpdus.until);
		if (from < until) {
			rx->spent_q40 += part_cost_q40(dcf, s, until - from);
			rx->worst_aw = dcf_max(rx->worst_aw, others);
		}
		if (dcf->now < s->mpdus.until)
			break;
		mpdus_turn(dcf, s);
	}
	rx->chunk_start = dcf->now;
}

enum dcf_outcome mpdus_outcome(const struct dcf_station *s, u16 place)
{
	return !bit_get(s->mpdus.lost, place) ? DCF_OK : bit_get(s->mpdus.hit, place) ? DCF_COLLISION : DCF_NOISE;
}

enum dcf_outcome mpdus_sum(const struct dcf_station *s, u16 n)
{
	enum dcf_outcome sum = DCF_NOISE, one;
	u16 place;

	for (place = 0; place < n; place++) {
		one = mpdus_outcome(s, place);
		if (one == DCF_OK)
			return DCF_OK;
		if (one == DCF_COLLISION)
			sum = one;
	}
	return sum;
}
