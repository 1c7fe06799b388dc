/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Radios of HT and later: a mac80211 driver over the core. driver.c registers
 * radios and their interfaces, caps.c has their capabilities, mpdu.c carries
 * frames from mac80211's queues to the core and back, together.c combines
 * datagrams, modes.c names modes.
 *
 * mac80211 keeps the queues. A radio takes from them only what fits the next few
 * aggregates of each category, so fq_codel, airtime fairness and AQL decide what
 * is sent next. The core forms each aggregate when access is won.
 *
 * The core calls with air->lock held and interrupts off. Its reports are stored
 * at the radio, whose tasklet passes them to mac80211 without any lock, and then
 * takes new frames. Objects below are counted under air->lock.
 */
#ifndef DCF80211_DRIVER_H
#define DCF80211_DRIVER_H

#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <net/mac80211.h>

#include "air.h"
#include "core/ladder.h"
#include "modes.h"

/* Another station, as a radio knows it. It exists longer than mac80211's sta, while frames refer to it. */
struct peer {
	struct ieee80211_sta *sta; /* NULL: it is gone */
	u32 uses;
	u32 retries; /* of MPDUs to it */
	u16 mode; /* of HE data, if a rate control chooses it; 0: mac80211's does */
	struct ladder ladder;
	u16 station; /* of the core */
	struct session *session[IEEE80211_NUM_TIDS];
	struct {
		struct dcf_scoreboard board;
		bool on;
	} rx[IEEE80211_NUM_TIDS];
};

struct session {
	struct dcf_session core;
	struct peer *peer;
	struct mpdu *lost; /* the last MPDU that was given up */
	u32 uses;
	u8 tid;
};

/* Prepared aggregates: how many MPDUs of each have not been sent yet. */
struct prepared {
	u16 mpdus[DRIVER_DEPTH];
	u8 count;
};

struct driver {
	struct ieee80211_hw *hw;
	struct air *air;
	u16 station;
	struct driver_traits traits;
	const struct net *net; /* whose socket of this number owns the radio */
	u32 portid;

	u16 fixed; /* place of the mode of data frames; 0: there is none */

	struct tasklet_struct work;
	/* For the tasklet. */
	struct sk_buff_head received;
	struct list_head done, sent;
	struct prepared prepared[IEEE80211_NUM_ACS];
	struct list_head waiting; /* frames for the core, after the host's delay */
	u32 held; /* frames that the core has, or that wait for it */
	wait_queue_head_t emptied;
	u16 freq; /* that mac80211 has tuned it to */
	u64 last_ppdu; /* the core's number of the last PPDU received, */
	struct ieee80211_rx_status status; /* and what is known of it */
	struct napi_struct napi;

	struct hrtimer wake; /* after the host's delay */
	struct hrtimer rest; /* of a radio that mac80211 does not use */
	struct hrtimer beacon;
	u32 beacons; /* interfaces that have beacons, all with this interval */
	u32 interval_us;
	s64 tsf_offset_us;
	u16 sequence;

	struct ieee80211_supported_band band[NUM_NL80211_BANDS];
	struct ieee80211_sband_iftype_data he[NUM_NL80211_BANDS];
};

static inline bool driver_aggregates(const struct driver *d)
{
	return d->traits.window;
}

/* driver.c: an idle radio will hear nothing, when it has sent what it has */
void driver_rest_later(struct driver *d);

/* caps.c: fill the bands in; a new radio has its traits */
int caps_set(struct driver *d);
void caps_free(struct driver *d);

/* mpdu.c */
extern const struct dcf_ops mpdu_dcf_ops;
void mpdu_init(struct driver *d);
/* Drop the reports that the tasklet has not passed on. */
void mpdu_close(struct driver *d);
/* The mode of data for this station: the fixed one, if it supports that, or the rate control's for HE. 0: mac80211 chooses. */
u16 mpdu_mode(const struct driver *d, struct ieee80211_sta *sta);
/* Send a frame that is in no queue. @later: at mpdu_release(). */
void mpdu_send(struct driver *d, struct ieee80211_sta *sta, struct sk_buff *skb, bool later);
void mpdu_release(struct driver *d);
/* together.c */
int together_open(struct air *air);
void together_close(struct air *air);
void together_begin(struct driver *d);
void together_end(struct driver *d);
/* Pass received packets on to the stack; mac80211 has made a list of them. */
void together_pass(struct driver *d, struct list_head *list);

/* With air->lock held. */
void peer_put(struct peer *peer);
void session_put(struct session *session);

#endif
