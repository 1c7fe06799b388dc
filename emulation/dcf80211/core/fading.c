// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block fading: each signal reaches each receiver with a gain of its own, which
 * is constant to the end of the signal. A table gives the distribution by its
 * quantiles; a uniform number selects one. This number comes from the stream of
 * the pair of stations, at the place given by the transmission's number. With a
 * coherence time it is the number of the time span in which the signal begins;
 * both directions share a stream, and the spans of each pair begin at times of
 * their own. So there is no state between transmissions, and other receivers
 * change nothing. With the seed and the trace, each gain can be computed again.
 */
#include "state.h"

#define GOLDEN 0x9e3779b97f4a7c15ULL /* the step of dcf_random() for one number */
#define PLACE_BITS 10

_Static_assert(1 << PLACE_BITS == DCF_FADES, "bits say where in the table");

static u64 fading_draw(const struct dcf *dcf, const struct transmission *tx, u16 to)
{
	u64 span = dcf->coherence_ns, place = tx->id, state, first;
	bool turned = span && to < tx->from;
	u16 a = turned ? to : tx->from, b = turned ? tx->from : to;

	state = dcf->config.seed ^ (a + 1ULL) << 48 ^ (b + 1ULL) << 32;
	first = dcf_random(&state);
	if (span)
		place = (tx->start + ((first >> 32) * span >> 32)) / span;
	state = dcf_random(&state) + place * GOLDEN;
	return dcf_random(&state);
}

static u64 gain_at(const struct dcf *dcf, u64 u)
{
	const u64 *at = &dcf->gain_q32[u >> (64 - PLACE_BITS)];

	return at[0] + (u64)((__uint128_t)(at[1] - at[0]) * (u << PLACE_BITS >> 32) >> 32);
}

static u64 fading_times(u64 power_aw, u64 gain_q32)
{
	__uint128_t faded = (__uint128_t)power_aw * gain_q32 >> 32;

	return faded > DCF_MAX_POWER_AW ? DCF_MAX_POWER_AW : faded;
}

u64 fading_strongest(const struct dcf *dcf, u64 power_aw)
{
	return dcf->fades ? fading_times(power_aw, dcf->gain_q32[DCF_FADES]) : power_aw;
}

bool fading_draws(const struct dcf *dcf, const struct transmission *tx, struct neighbour *nb)
{
	u64 gain = gain_at(dcf, fading_draw(dcf, tx, nb->station));

	nb->link.power_aw = fading_times(nb->mean_aw, gain);
	nb->link.power_mdbm = nb->mean_mdbm + dcf_ratio_mdb(gain, 1ULL << 32);
	return neighbours_hear(dcf, &dcf->station[nb->station], nb->link.power_aw);
}

bool dcf_set_fading(struct dcf *dcf, const u64 *gain_q32, u32 coherence_ns)
{
	u32 i;

	if (gain_q32 && gain_q32[DCF_FADES] > DCF_MAX_GAIN_Q32)
		return false;
	for (i = 0; gain_q32 && i < DCF_FADES; i++)
		if (gain_q32[i] > gain_q32[i + 1])
			return false;
	dcf->fades = gain_q32;
	dcf->coherence_ns = coherence_ns;
	if (gain_q32)
		memcpy(dcf->gain_q32, gain_q32, sizeof(dcf->gain_q32));
	neighbours_forget(dcf);
	return true;
}
