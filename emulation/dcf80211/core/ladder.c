// SPDX-License-Identifier: GPL-2.0-only
#include "dcf.h"
#include "ladder.h"

enum {
	NEWS = 16, OF_TRIAL = 2, /* one part of a mean share is the last PPDU's */
	FOLLOW = 8, /* the same, of what is expected of lower ones */
	TRIAL = 50, /* PPDUs between trials */
};

/* Data rates, in thirds of the lowest (tables 27-79 to 27-114). */
static const u8 rates[LADDER_STEPS] = { 3, 6, 9, 12, 18, 24, 27, 30, 36, 40, 45, 50 };

static u8 best_of(const struct ladder *l)
{
	u8 i, best = 0;

	for (i = 1; i < LADDER_STEPS; i++)
		if ((u32)l->share[i] * rates[i] > (u32)l->share[best] * rates[best])
			best = i;
	return best;
}

void ladder_begin(struct ladder *l)
{
	u8 i;

	*l = (struct ladder){ .since = TRIAL }; /* from the lowest up, one step a PPDU */
	for (i = 0; i < LADDER_STEPS; i++)
		l->share[i] = LADDER_ALL;
}

void ladder_sent(struct ladder *l, u8 mcs, u16 mpdus, u16 acked)
{
	s32 share = l->share[mcs], now = (s32)acked * LADDER_ALL / mpdus;
	bool trial = mcs > l->best, better = now * rates[mcs] > l->share[l->best] * rates[l->best];
	u8 i;

	share += (now - share) / (trial ? OF_TRIAL : NEWS);
	l->share[mcs] = share;
	for (i = 0; i < mcs; i++)
		l->share[i] += (share - l->share[i]) / FOLLOW;
	for (i = mcs + 1; i < LADDER_STEPS; i++)
		l->share[i] = dcf_min(l->share[i], share * rates[mcs] / rates[i]);
	l->best = best_of(l);
	if (!trial)
		l->since += l->since < TRIAL;
	else if (!better)
		l->since = 0;
	l->mcs = l->best + (l->since == TRIAL && l->best + 1 < LADDER_STEPS);
}
