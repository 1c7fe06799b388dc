// SPDX-License-Identifier: GPL-2.0-only
#include "phy.h"

/* The highest basic rate of OFDM, or of DSSS, that is not above @rate; -1: there is none. */
static int basic_rate(const struct dcf_phy *phy, u16 rate, bool ofdm)
{
	int i, best = -1;

	for (i = 0; i < DCF_RATES; i++) /* rates of each modulation increase */
		if (phy->basic_rates & (1U << i) && dcf_is_ofdm(&mode_legacy[i]) == ofdm && dcf_rates[i] <= rate)
			best = i;
	return best;
}

/* The highest mandatory rate of OFDM that is not above the frame's: BPSK counts as 6 Mb/s, QPSK as 12, all else as 24. */
static u16 mandatory_rate(const struct dcf_mode *mode)
{
	enum { MBPS_6 = 4, MBPS_12 = 6, MBPS_24 = 8 };

	return mode->reference >= MBPS_24 ? MBPS_24 : mode->reference >= MBPS_12 ? MBPS_12 : MBPS_6;
}

u16 dcf_response(const struct dcf_phy *phy, const struct dcf_mode *mode)
{
	bool ofdm = dcf_is_ofdm(mode);
	int best = basic_rate(phy, dcf_rates[mode->reference], ofdm);

	if (best >= 0)
		return best;
	/* None: the highest mandatory rate not above the frame's. */
	return ofdm ? mandatory_rate(mode) : mode->reference;
}

u16 dcf_protecting(const struct dcf_phy *phy, const struct dcf_mode *mode, u32 freq)
{
	int best;

	if (!dcf_is_ofdm(mode) || dcf_is_ofdm(&mode_legacy[rate_lowest(freq)]))
		return dcf_response(phy, mode);
	best = basic_rate(phy, mode->rate, false);
	return best < 0 ? rate_lowest(freq) : best;
}
