// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random numbers and logarithms in integers, the same on every machine. Each
 * station has its own stream (splitmix64), so draws of one station do not affect
 * those of others.
 */
#include "state.h"

u64 dcf_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Uniform over 0..cw (10.3.3): cw + 1 out of 2^32 leaves a bias below 2^-22. */
u32 dcf_draw_backoff(u64 *state, u32 cw)
{
	return (dcf_random(state) >> 32) * (cw + 1ULL) >> 32;
}

/* log2 of @x in units of 2^-32, by repeated squaring: each bit says whether the square reaches 2. */
static u64 log2_q32(u64 x)
{
	u32 whole = 0, i;
	u64 mantissa, fraction = 0;

	while (x >> whole >> 1)
		whole++;
	mantissa = whole > 31 ? x >> (whole - 31) : x << (31 - whole); /* in [1, 2), in units of 2^-31 */
	for (i = 0; i < 32; i++) {
		mantissa = mantissa * mantissa >> 31;
		fraction <<= 1;
		if (mantissa >> 32) {
			mantissa >>= 1;
			fraction |= 1;
		}
	}
	return (u64)whole << 32 | fraction;
}

u64 dcf_draw_budget_q40(u64 *state)
{
	u64 u = dcf_random(state) | 1; /* uniform over (0, 2^64) */
	u64 minus_log2 = (64ULL << 32) - log2_q32(u);

	return (minus_log2 >> 6) * 2977044472ULL >> 18; /* times ln 2 = 2977044472 / 2^32; Q32 to Q40 */
}

u32 dcf_draw_exponential(u64 *state, u32 mean)
{
	u64 budget = dcf_draw_budget_q40(state);

	return dcf_min(budget, 16ULL << 40) * (mean >> 4) >> 36;
}

s32 dcf_ratio_mdb(u64 a, u64 b)
{
	s64 log2 = (s64)log2_q32(a ? a : 1) - (s64)log2_q32(b ? b : 1);

	return (log2 >> 12) * 301030 / 100 >> 20; /* 10000 log10 2 = 3010.30 */
}

u64 dcf_lambda_q40(const struct dcf_errors *errors, s32 sinr_mdb)
{
	s64 steps = (s64)sinr_mdb - errors->first_mdb;
	u64 a, b, part;
	u32 i;

	if (!errors->points)
		return 0;
	if (steps < 0)
		return errors->lambda_q40[0];
	i = steps / errors->step_mdb;
	if (i + 1 >= errors->points)
		return errors->lambda_q40[errors->points - 1];
	/* Linear between two points. The tables decrease with the SINR. */
	a = errors->lambda_q40[i];
	b = errors->lambda_q40[i + 1];
	part = steps % errors->step_mdb;
	return a - (a - dcf_min(a, b)) / errors->step_mdb * part;
}
