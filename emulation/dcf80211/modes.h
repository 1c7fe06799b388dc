/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All modes of HT, VHT and HE that the air knows, as one table for the core, and
 * how mac80211 names them.
 */
#ifndef DCF80211_MODES_H
#define DCF80211_MODES_H

#include <net/mac80211.h>

#include "core/dcf.h"

struct modes;

/* NULL: there is no memory. */
struct modes *modes_create(void);
void modes_destroy(struct modes *modes);
/* Give them to the core. */
bool modes_set(const struct modes *modes, struct dcf *dcf);
/* The mode at a place of the core's table, legacy rates included. */
const struct dcf_mode *modes_at(const struct modes *modes, u16 place);
/* Which place has this mode, with the usual training field and coding; -1: none. */
int modes_find(const struct modes *modes, u8 format, u8 mcs, u8 streams, u16 width_mhz, u16 guard_ns);
/* Which place has a rate of mac80211's; -1: none. */
int modes_of_rate(const struct modes *modes, const struct ieee80211_tx_rate *rate, u16 freq);
/* Name a mode as mac80211 does for what was sent (HT and VHT only), and for what was received. */
void modes_to_rate(const struct modes *modes, u16 place, struct ieee80211_tx_rate *rate);
/* The same for a mode of HE, of which mac80211 has no rate of that sort. */
bool modes_is_he(const struct modes *modes, u16 place);
void modes_to_he(const struct modes *modes, u16 place, struct rate_info *rate);
void modes_to_reception(const struct modes *modes, u16 place, struct ieee80211_rx_status *status);

#endif
