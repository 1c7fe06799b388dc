/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bands: which channels of 20 MHz a PPDU covers. The channels at 5 and 6 GHz form blocks of 160 MHz, in which those of 40 and
 * 80 MHz have fixed places (IEEE 802.11-2020, annex E). Elsewhere a channel is a block of its own.
 */
#ifndef DCF_BAND_H
#define DCF_BAND_H

#include "../types.h"

#define BAND_CHANNELS 8

struct band {
	u16 block; /* MHz: the first channel of its block */
	u8 channels; /* the channels of the block, one bit each */
};

/* 2^@doublings channels, whose primary channel is at @freq MHz. */
static inline struct band band_of(u16 freq, u8 doublings)
{
	u16 base = freq >= 5955 ? 5955 : freq >= 5745 ? 5745 : freq >= 5500 ? 5500 : 5180;
	u16 at = freq < base || (freq - base) % 20 ? 0 : (freq - base) / 20;
	u16 block = freq < base || (freq - base) % 20 ? freq : base + at / BAND_CHANNELS * BAND_CHANNELS * 20;
	u8 n = 1 << doublings, first = at % BAND_CHANNELS & ~(n - 1);

	return (struct band){ .block = block, .channels = ((1U << n) - 1) << first };
}

#endif
