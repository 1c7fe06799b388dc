// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bit errors of the frame that a station follows: it was given a budget by one
 * draw, and spends it bit by bit, at the SINR that each had.
 */
#include "state.h"

/* What arrives besides a signal of so much power, and @noise_aw; where that does not fit, as much as does. */
u64 bits_besides(const struct dcf_station *s, u64 power_aw, u64 noise_aw)
{
	__uint128_t rest = s->energy_aw - power_aw + noise_aw;

	return rest > ~0ULL ? ~0ULL : rest;
}

u64 bits_cost_q40(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_mode *mode, u64 ns)
{
	s32 sinr = dcf_ratio_mdb(s->rx.link.power_aw, bits_besides(s, s->rx.link.power_aw, dcf->config.noise_aw));
	u64 bits_q8 = ns * mode->bits * 256 / mode->symbol_ns;

	return (__uint128_t)dcf_lambda_q40(&dcf->errors[mode->curve], sinr) * bits_q8 >> 8;
}

/* Bits of the locked frame since the last change, at the SINR that they had. */
void bits_spend(struct dcf *dcf, struct dcf_station *s)
{
	struct reception *rx = &s->rx;
	const struct dcf_mode *data = mode_of(dcf, rx->tx->mode), *header = &mode_legacy[dcf_is_ofdm(data) ? 4 : 0];
	u64 plcp_end = rx->start + mode_preamble_ns(data, rx->tx->short_preamble);
	u64 silent = rx->start + (rx->tx->end - rx->tx->start) - dcf_silence_ns(&dcf->config.phy, data);
	/* With HT and later neither padding nor packet extension fails. */
	u64 last = data->format < DCF_HT ? silent : plcp_end + mode_at_ns(data, 8ULL * rx->tx->psdu_len);
	u64 until = dcf_min(dcf->now, last);
	u64 from = rx->chunk_start, edge;

	/* The preamble and header go at the lowest rate of the frame's modulation. */
	for (; from < until; from = edge) {
		bool plcp = from < plcp_end;

		edge = plcp ? dcf_min(until, plcp_end) : until;
		rx->spent_q40 += bits_cost_q40(dcf, s, plcp ? header : data, edge - from);
	}
	rx->chunk_start = dcf->now;
}
