// SPDX-License-Identifier: GPL-2.0-only
#include "phy.h"

bool dcf_rate_is_ofdm(u16 rate)
{
	return dcf_rate_index(rate) >= 4;
}

u32 dcf_silence_ns(const struct dcf_phy *phy, u16 rate)
{
	return dcf_rate_is_ofdm(rate) ? phy->signal_extension_ns : 0;
}

u32 dcf_plcp_ns(u16 rate, bool short_preamble)
{
	if (dcf_rate_is_ofdm(rate))
		return 20 * US;
	/* 1 Mb/s knows the long preamble only (16.2.2.3). */
	return short_preamble && rate != 10 ? 96 * US : 192 * US;
}

u32 dcf_detect_ns(u16 rate)
{
	return (dcf_rate_is_ofdm(rate) ? 4 : 15) * US;
}

u32 dcf_airtime_ns(const struct dcf_phy *phy, u16 rate, u32 len, bool short_preamble)
{
	u32 plcp = dcf_plcp_ns(rate, short_preamble);

	if (dcf_rate_index(rate) < 0)
		return 0;
	if (dcf_rate_is_ofdm(rate)) {
		/* SERVICE 16 bits, tail 6 bits; a symbol of 4 us carries rate * 4 us (17.4.3) */
		u32 bits = 16 + 8 * len + 6, per_symbol = rate * 4 / 10;

		return plcp + (bits + per_symbol - 1) / per_symbol * 4 * US + dcf_silence_ns(phy, rate);
	}
	return plcp + (80 * len + rate - 1) / rate * US;
}

/* The highest basic rate of OFDM, or of DSSS, not above @rate; 0: there is none. */
static u16 basic_rate(const struct dcf_phy *phy, u16 rate, bool ofdm)
{
	u16 best = 0;
	int i;

	for (i = 0; i < DCF_RATES; i++)
		if (phy->basic_rates & (1U << i) && dcf_rate_is_ofdm(dcf_rates[i]) == ofdm &&
		    dcf_rates[i] <= rate && dcf_rates[i] > best)
			best = dcf_rates[i];
	return best;
}

u16 dcf_protecting_rate(const struct dcf_phy *phy, u16 rate, u32 freq)
{
	if (!dcf_rate_is_ofdm(rate) || dcf_rate_is_ofdm(rate_lowest(freq)))
		return dcf_response_rate(phy, rate);
	return basic_rate(phy, rate, false) ?: rate_lowest(freq);
}

u16 dcf_response_rate(const struct dcf_phy *phy, u16 rate)
{
	bool ofdm = dcf_rate_is_ofdm(rate);
	u16 best = basic_rate(phy, rate, ofdm);

	if (best)
		return best;
	/* None: the highest mandatory rate not above the frame's. */
	if (!ofdm)
		return rate;
	return rate >= 240 ? 240 : rate >= 120 ? 120 : 60;
}
