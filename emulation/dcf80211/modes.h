/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All modes of HT, VHT and HE in the air, as one table for the core, and their
 * names in mac80211.
 */
#ifndef DCF80211_MODES_H
#define DCF80211_MODES_H

#include <net/mac80211.h>

#include "core/dcf.h"

struct modes;

/* NULL: there is no memory. */
struct modes *modes_create(void);
void modes_destroy(struct modes *modes);
/* Set them in the core. */
bool modes_set(const struct modes *modes, struct dcf *dcf);
/* The mode at a place of the core's table, legacy rates included. */
const struct dcf_mode *modes_at(const struct modes *modes, u16 place);
/* The place of this mode, with the usual training field and coding; -1: none. */
int modes_find(const struct modes *modes, u8 format, u8 mcs, u8 streams, u16 width_mhz, u16 guard_ns);
/* The place of a rate of mac80211's; -1: none. */
int modes_of_rate(const struct modes *modes, const struct ieee80211_tx_rate *rate, u16 freq);
/* Name a mode as mac80211 does for a sent frame (HT and VHT only), and for a received one. */
void modes_to_rate(const struct modes *modes, u16 place, struct ieee80211_tx_rate *rate);
/* The same mode with another MCS. */
u16 modes_with_mcs(const struct modes *modes, u16 place, u8 mcs);
u8 modes_mcs(const struct modes *modes, u16 place);
/* Does minstrel_ht not know this mode? HE and 160 MHz. */
bool modes_is_beyond(const struct modes *modes, u16 place);
/* For people; also of HE. */
void modes_to_info(const struct modes *modes, u16 place, struct rate_info *rate);
void modes_to_reception(const struct modes *modes, u16 place, struct ieee80211_rx_status *status);
/* Can this station receive this mode, of HT or later? */
bool modes_fit(const struct modes *modes, u16 place, const struct ieee80211_sta *sta);

#endif
