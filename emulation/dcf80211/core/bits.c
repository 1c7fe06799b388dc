// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bit errors of the frame that a station receives. One draw gives the frame a
 * budget; each bit spends a part of it, which depends on the SINR at its time.
 */
#include "state.h"

/* The power of all signals at the station except one of @power_aw, plus @noise_aw; at most the largest u64. */
u64 bits_besides(const struct dcf_station *s, u64 power_aw, u64 noise_aw)
{
	__uint128_t rest = s->energy_aw - power_aw + noise_aw;

	return rest > ~0ULL ? ~0ULL : rest;
}

u64 bits_beside(const struct dcf_station *s, const struct transmission *tx, u64 power_aw)
{
	return bits_besides(s, share_aw(tx, power_aw), 0);
}

/* The same in channel @c of the station's block. */
static u64 channel_besides(const struct dcf_station *s, u32 c, u64 share, u64 noise_aw)
{
	__uint128_t rest = s->channel_aw[c] - share + noise_aw;

	return rest > ~0ULL ? ~0ULL : rest;
}

u64 bits_most_beside(const struct dcf_station *s, const struct transmission *tx, u64 power_aw)
{
	u64 most = bits_beside(s, tx, power_aw);
	u32 c;

	for (c = 0; tx->doublings && c < BAND_CHANNELS; c++)
		if (tx->band.channels >> c & 1)
			most = dcf_max(most, channel_besides(s, c, share_aw(tx, power_aw), 0));
	return most;
}

static u64 lambda_at(const struct dcf *dcf, const struct dcf_mode *mode, u64 power_aw, u64 others_aw)
{
	return dcf_lambda_q40(&dcf->errors[mode->curve], dcf_ratio_mdb(power_aw, others_aw));
}

/*
 * The cost of a bit in @mode: the mean over its channels, as bits are spread over all subcarriers.
 * A preamble costs what it costs in the primary channel.
 */
static u64 lambda_of(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_mode *mode)
{
	const struct transmission *tx = s->rx.tx;
	u64 share = share_aw(tx, s->rx.link.power_aw), sum = 0;
	u32 c;

	if (!mode->doublings)
		return lambda_at(dcf, mode, share, bits_besides(s, share, dcf->config.noise_aw));
	for (c = 0; c < BAND_CHANNELS; c++)
		if (tx->band.channels >> c & 1)
			sum += lambda_at(dcf, mode, share, channel_besides(s, c, share, dcf->config.noise_aw));
	return sum >> mode->doublings;
}

u64 bits_cost_q40(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_mode *mode, u64 ns)
{
	u64 bits_q8 = ns * mode->bits * 256 / mode->symbol_ns;

	return (__uint128_t)lambda_of(dcf, s, mode) * bits_q8 >> 8;
}

/* Charge the bits of the locked frame since the last change, at the SINR that they had. */
void bits_spend(struct dcf *dcf, struct dcf_station *s)
{
	struct reception *rx = &s->rx;
	const struct dcf_mode *data = mode_of(dcf, rx->tx->mode), *header = &mode_legacy[dcf_is_ofdm(data) ? 4 : 0];
	u64 plcp_end = rx->start + mode_preamble_ns(data, rx->tx->short_preamble);
	u64 silent = rx->start + (rx->tx->end - rx->tx->start) - dcf_silence_ns(&dcf->config.phy, data);
	/* In HT and later, errors in padding and packet extension do not count. */
	u64 last = data->format < DCF_HT ? silent : plcp_end + mode_at_ns(data, 8ULL * rx->tx->psdu_len);
	u64 until = dcf_min(dcf->now, last);
	u64 from = rx->chunk_start, edge;

	/* The preamble and the header use the lowest rate of the frame's modulation. */
	for (; from < until; from = edge) {
		bool plcp = from < plcp_end;

		edge = plcp ? dcf_min(until, plcp_end) : until;
		rx->spent_q40 += bits_cost_q40(dcf, s, plcp ? header : data, edge - from);
	}
	rx->chunk_start = dcf->now;
}
