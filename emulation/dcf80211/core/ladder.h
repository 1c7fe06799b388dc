/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A rate control for HE, of which minstrel_ht knows nothing. It is no vendor's.
 *
 * For each MCS it keeps the mean share of MPDUs that PPDUs of late have brought
 * through, and uses the MCS that promises most. Higher ones promise no more than
 * the one in use, until one is tried; lower ones are expected to follow it. So a
 * few collisions, which lower the share of whatever MCS is used, rarely change
 * which is best, and a row of failures does. Now and then it tries the next higher
 * MCS, and goes on as long as that is better.
 */
#ifndef DCF_LADDER_H
#define DCF_LADDER_H

#include "../types.h"

#define LADDER_STEPS 12
#define LADDER_ALL 4096 /* a share of 1 */

struct ladder {
	u16 share[LADDER_STEPS];
	u8 best, mcs; /* promises most; to be used now */
	u8 since; /* PPDUs after a trial */
};

void ladder_begin(struct ladder *ladder);
/* A PPDU was sent at @mcs, and @acked of its @mpdus MPDUs were acknowledged. */
void ladder_sent(struct ladder *ladder, u8 mcs, u16 mpdus, u16 acked);

#endif
