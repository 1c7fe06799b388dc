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

/* Bits of the locked frame since the last change, at the SINR that they had. */
void bits_spend(struct dcf *dcf, struct dcf_station *s)
{
	struct reception *rx = &s->rx;
	u64 plcp_end = rx->start + dcf_plcp_ns(rx->tx->rate, rx->tx->short_preamble);
	u64 silent = rx->start + (rx->tx->end - rx->tx->start) - dcf_silence_ns(&dcf->config.phy, rx->tx->rate);
	u64 until = dcf_min(dcf->now, silent);
	s32 sinr = dcf_ratio_mdb(rx->link.power_aw, bits_besides(s, rx->link.power_aw, dcf->config.noise_aw));
	u64 from = rx->chunk_start, edge;

	/* The preamble and header go at the lowest rate of the frame's modulation. */
	for (; from < until; from = edge) {
		bool plcp = from < plcp_end;
		u16 rate = !plcp ? rx->tx->rate : dcf_rate_is_ofdm(rx->tx->rate) ? 60 : 10;
		u64 bits_q8;

		edge = plcp ? dcf_min(until, plcp_end) : until;
		bits_q8 = (edge - from) * rate * 256 / 10000;
		rx->spent_q40 += dcf_lambda_q40(&dcf->errors[dcf_rate_index(rate)], sinr) * bits_q8 >> 8;
	}
	rx->chunk_start = dcf->now;
}
