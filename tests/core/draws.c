// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where draw.c's backoffs are asked for, a test may have its own list of random
 * numbers: what another simulator drew, in the order in which its stations did.
 */
#include <stdlib.h>

#include "../../emulation/dcf80211/core/state.h"

u32 __real_dcf_draw_backoff(u64 *state, u32 cw);
u32 __wrap_dcf_draw_backoff(u64 *state, u32 cw);
void give_draws(const u32 *list, u32 count);

static const u32 *given;
static u32 left;

/* The list stays the caller's; NULL: no list any more. */
void give_draws(const u32 *list, u32 count)
{
	given = list;
	left = count;
}

u32 __wrap_dcf_draw_backoff(u64 *state, u32 cw)
{
	if (!given)
		return __real_dcf_draw_backoff(state, cw);
	if (!left--)
		abort();
	return *given++ % (cw + 1);
}
