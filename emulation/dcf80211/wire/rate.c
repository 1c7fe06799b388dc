// SPDX-License-Identifier: GPL-2.0-only
#include "rate.h"

const u16 dcf_rates[DCF_RATES] = { 10, 20, 55, 110, 60, 90, 120, 180, 240, 360, 480, 540 };

#define CCK_RATES 4 /* they are first in the table; 5 GHz has none */

static bool is_5_ghz(u32 freq)
{
	return freq > 4000;
}

int rate_from_hwsim(s8 idx, u32 freq)
{
	int i = is_5_ghz(freq) ? idx + CCK_RATES : idx;

	return idx >= 0 && i < DCF_RATES ? i : -1;
}

u8 rate_to_hwsim(u16 place, u32 freq)
{
	return is_5_ghz(freq) && place >= CCK_RATES ? place - CCK_RATES : place;
}

u16 rate_lowest(u32 freq)
{
	return rate_from_hwsim(0, freq);
}
