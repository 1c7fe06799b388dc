/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The legacy rates, their indices, and the kernel's rate stages. The basic rate
 * set, the error tables and, at 2.4 GHz, hwsim use a rate's index in one table.
 */
#ifndef WIRE_RATE_H
#define WIRE_RATE_H

#include "../types.h"

/* In units of 100 kb/s. */
#define DCF_RATES 12
extern const u16 dcf_rates[DCF_RATES];

/* One of the kernel's rate stages: @count attempts at @rate. */
#define DCF_STAGES 4
struct dcf_stage {
	u16 rate; /* 100 kb/s; 0: there is no such stage */
	u8 count;
	bool rts, cts_to_self, short_preamble;
};

/* Return a rate's index in the table, or -1. */
static inline int dcf_rate_index(u16 rate)
{
	int i;

	for (i = 0; i < DCF_RATES; i++)
		if (dcf_rates[i] == rate)
			return i;
	return -1;
}

/*
 * Convert between rates and hwsim's indices, which begin at the band's first
 * rate. @freq is in MHz. 0: no such rate.
 */
u16 rate_from_hwsim(s8 idx, u32 freq);
u8 rate_to_hwsim(u16 rate, u32 freq);

/* Return the band's lowest rate, which all its stations support: 1 Mb/s at 2.4 GHz, 6 Mb/s at 5 GHz. */
u16 rate_lowest(u32 freq);

#endif
