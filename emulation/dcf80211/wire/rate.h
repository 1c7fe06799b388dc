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

/* One of the kernel's rate stages: @count attempts in @mode. */
#define DCF_STAGES 4
struct dcf_stage {
	u16 mode; /* place in the air's table, which the legacy rates begin */
	u8 count; /* 0: there is no such stage */
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
 * Convert between places in the table and hwsim's indices, which begin at the
 * band's first rate. @freq is in MHz. -1: no such rate.
 */
int rate_from_hwsim(s8 idx, u32 freq);
u8 rate_to_hwsim(u16 place, u32 freq);

/* Return the place of the band's lowest rate, which all its stations support: 1 Mb/s at 2.4 GHz, 6 Mb/s at 5 GHz. */
u16 rate_lowest(u32 freq);

#endif
