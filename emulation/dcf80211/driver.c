// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mac80211 driver's side that mac80211 calls: radios, their interfaces and
 * beacons, stations, and block-ACK agreements.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "compat.h"
#include "driver.h"

#define TU_US 1024
#define MOST_INTERFACES 32 /* of a radio */
#define EMPTY_MS 100 /* in which a radio sends what it has, before it leaves a channel */
#define REST_US 1000 /* after which an idle radio rests: it may owe an ACK */

/* What an interface has of ours. */
struct interface {
	bool beacons;
};

static struct driver *driver_of(struct ieee80211_hw *hw)
{
	return hw->priv;
}

static struct interface *interface_of(struct ieee80211_vif *vif)
{
	return (void *)vif->drv_priv;
}

static u64 tsf_now(const struct driver *d)
{
	return div_u64(air_now(), 1000) + d->tsf_offset_us;
}

/* The host's delay is over. */
static enum hrtimer_restart driver_wake(struct hrtimer *timer)
{
	struct driver *d = container_of(timer, struct driver, wake);

	mpdu_release(d);
	tasklet_schedule(&d->work);
	return HRTIMER_NORESTART;
}

/* Begin the host's delay, unless it has begun. */
static void driver_delay(struct driver *d)
{
	unsigned long flags;
	u64 delay_ns;

	if (hrtimer_is_queued(&d->wake)) /* not: its callback runs */
		return;
	spin_lock_irqsave(&d->air->lock, flags);
	delay_ns = air_host_delay(d->air, d->station);
	spin_unlock_irqrestore(&d->air->lock, flags);
	hrtimer_start(&d->wake, ns_to_ktime(delay_ns), HRTIMER_MODE_REL_SOFT);
}

static void driver_tx(struct ieee80211_hw *hw, struct ieee80211_tx_control *control, struct sk_buff *skb)
{
	struct driver *d = driver_of(hw);

	mpdu_send(d, control->sta, skb, d->air->host_delay_ns);
	if (d->air->host_delay_ns)
		driver_delay(d);
}

static void driver_wake_tx_queue(struct ieee80211_hw *hw, struct ieee80211_txq *txq)
{
	struct driver *d = driver_of(hw);

	if (d->air->host_delay_ns)
		driver_delay(d);
	else
		tasklet_schedule(&d->work);
}

static int driver_start(struct ieee80211_hw *hw)
{
	return 0;
}

static void driver_stop(struct ieee80211_hw *hw, bool suspend)
{
}

void driver_rest_later(struct driver *d)
{
	hrtimer_start(&d->rest, ns_to_ktime(REST_US * NSEC_PER_USEC), HRTIMER_MODE_REL_SOFT);
}

static enum hrtimer_restart driver_rest(struct hrtimer *timer)
{
	struct driver *d = container_of(timer, struct driver, rest);
	unsigned long flags;

	spin_lock_irqsave(&d->air->lock, flags);
	if (d->hw->conf.flags & IEEE80211_CONF_IDLE && !d->held) {
		dcf_run(d->air->dcf, air_now());
		dcf_switch(d->air->dcf, d->station, false);
		air_arm(d->air);
	}
	spin_unlock_irqrestore(&d->air->lock, flags);
	return HRTIMER_NORESTART;
}

static void find_channel(void *data, u8 *mac, struct ieee80211_vif *vif)
{
	bool *found = data;

	*found |= !vif->cfg.idle;
}

/* Does an interface use a channel? Not: the last one has left its network or goes down, so its frames are refused. */
static bool has_channel(const struct driver *d)
{
	bool found = false;

	ieee80211_iterate_active_interfaces_atomic(d->hw, IEEE80211_IFACE_ITER_NORMAL, find_channel, &found);
	return found;
}

/* A scan, or a stay on another channel, may send nothing there. */
static int driver_config(struct ieee80211_hw *hw, u32 changed)
{
	u16 freq = hw->conf.chandef.chan->center_freq;
	struct driver *d = driver_of(hw);

	if (!(changed & (IEEE80211_CONF_CHANGE_CHANNEL | IEEE80211_CONF_CHANGE_IDLE)))
		return 0;
	if (freq != d->freq && has_channel(d)) /* a later frame would take the radio back */
		wait_event_timeout(d->emptied, !READ_ONCE(d->held), msecs_to_jiffies(EMPTY_MS));
	d->freq = freq;
	spin_lock_irq(&d->air->lock);
	dcf_run(d->air->dcf, air_now());
	if (!(hw->conf.flags & IEEE80211_CONF_IDLE))
		dcf_switch(d->air->dcf, d->station, true);
	if (changed & IEEE80211_CONF_CHANGE_CHANNEL)
		dcf_tune(d->air->dcf, d->station, freq);
	air_arm(d->air);
	spin_unlock_irq(&d->air->lock);
	if (hw->conf.flags & IEEE80211_CONF_IDLE)
		driver_rest_later(d);
	return 0;
}

static void driver_configure_filter(struct ieee80211_hw *hw, unsigned int changed, unsigned int *total, u64 multicast)
{
	*total &= FIF_ALLMULTI | FIF_BCN_PRBRESP_PROMISC | FIF_CONTROL | FIF_OTHER_BSS | FIF_PROBE_REQ;
}

/* The station has this address, or has it no longer. */
static int set_address(struct driver *d, const u8 *addr, bool has)
{
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&d->air->lock, flags);
	dcf_run(d->air->dcf, air_now());
	done = has ? dcf_add_address(d->air->dcf, d->station, addr) : dcf_del_address(d->air->dcf, d->station, addr);
	if (!has) /* the core has ended all frames, also those that were in the air */
		memset(d->prepared, 0, sizeof(d->prepared));
	air_arm(d->air);
	spin_unlock_irqrestore(&d->air->lock, flags);
	return done ? 0 : -EADDRINUSE;
}

static int driver_add_interface(struct ieee80211_hw *hw, struct ieee80211_vif *vif)
{
	return set_address(driver_of(hw), vif->addr, true);
}

/* The interface sends no more beacons; the radio sends none without an interface that does. */
static void beacons_stop(struct driver *d, struct ieee80211_vif *vif)
{
	if (!interface_of(vif)->beacons)
		return;
	WRITE_ONCE(interface_of(vif)->beacons, false);
	if (!--d->beacons)
		hrtimer_cancel(&d->beacon);
}

static void driver_remove_interface(struct ieee80211_hw *hw, struct ieee80211_vif *vif)
{
	struct driver *d = driver_of(hw);

	beacons_stop(d, vif);
	set_address(d, vif->addr, false);
}

/* With it an interface that is up can change its type. */
static int driver_change_interface(struct ieee80211_hw *hw, struct ieee80211_vif *vif, enum nl80211_iftype type,
				   bool p2p)
{
	beacons_stop(driver_of(hw), vif);
	return 0;
}

static void beacon_send(struct driver *d, struct sk_buff *skb)
{
	struct ieee80211_tx_info *info = IEEE80211_SKB_CB(skb);
	struct ieee80211_mgmt *mgmt = (void *)skb->data;

	if (info->flags & IEEE80211_TX_CTL_ASSIGN_SEQ) {
		mgmt->seq_ctrl &= cpu_to_le16(IEEE80211_SCTL_FRAG);
		mgmt->seq_ctrl |= cpu_to_le16(d->sequence++ << 4);
	}
	if (ieee80211_is_beacon(mgmt->frame_control))
		mgmt->u.beacon.timestamp = cpu_to_le64(tsf_now(d));
	mpdu_send(d, NULL, skb, false);
}

/* mac80211 counts down in the beacons to a change of channel or color. */
static void beacons_of(void *data, u8 *mac, struct ieee80211_vif *vif)
{
	struct driver *d = data;
	struct sk_buff *skb;

	if (!READ_ONCE(interface_of(vif)->beacons))
		return;
	skb = ieee80211_beacon_get(d->hw, vif, 0);
	if (skb)
		beacon_send(d, skb);
	while (skb && (skb = ieee80211_get_buffered_bc(d->hw, vif)))
		beacon_send(d, skb);
	if (!ieee80211_beacon_cntdwn_is_complete(vif, 0))
		return;
	if (vif->bss_conf.csa_active)
		ieee80211_csa_finish(vif, 0);
	if (vif->bss_conf.color_change_active)
		ieee80211_color_change_finish(vif, 0);
}

static enum hrtimer_restart driver_beacon(struct hrtimer *timer)
{
	struct driver *d = container_of(timer, struct driver, beacon);

	if (!READ_ONCE(d->beacons))
		return HRTIMER_NORESTART;
	ieee80211_iterate_active_interfaces_atomic(d->hw, IEEE80211_IFACE_ITER_NORMAL, beacons_of, d);
	hrtimer_forward_now(timer, ns_to_ktime((u64)d->interval_us * 1000));
	return HRTIMER_RESTART;
}

/* Beacons are sent at multiples of the TSF interval (11.1.3). */
static void beacons_start(struct driver *d)
{
	u32 since;

	div_u64_rem(tsf_now(d), d->interval_us, &since);
	hrtimer_start(&d->beacon, ns_to_ktime((u64)(d->interval_us - since) * 1000), HRTIMER_MODE_REL_SOFT);
}

static void driver_link_info_changed(struct ieee80211_hw *hw, struct ieee80211_vif *vif, struct ieee80211_bss_conf *info,
				     u64 changed)
{
	struct driver *d = driver_of(hw);

	if (!(changed & (BSS_CHANGED_BEACON_ENABLED | BSS_CHANGED_BEACON_INT)))
		return;
	if (!info->enable_beacon || !info->beacon_int)
		return beacons_stop(d, vif);
	d->interval_us = info->beacon_int * TU_US;
	d->beacons += !interface_of(vif)->beacons;
	WRITE_ONCE(interface_of(vif)->beacons, true);
	beacons_start(d);
}

static void driver_vif_cfg_changed(struct ieee80211_hw *hw, struct ieee80211_vif *vif, u64 changed)
{
}

static u64 driver_get_tsf(struct ieee80211_hw *hw, struct ieee80211_vif *vif)
{
	return tsf_now(driver_of(hw));
}

static void driver_set_tsf(struct ieee80211_hw *hw, struct ieee80211_vif *vif, u64 tsf)
{
	struct driver *d = driver_of(hw);

	d->tsf_offset_us += tsf - tsf_now(d);
	if (d->beacons)
		beacons_start(d);
}

/* Each station of an independent BSS answers probe requests. */
static int driver_tx_last_beacon(struct ieee80211_hw *hw)
{
	return 1;
}

/* EDCA's parameters come by conf_tx.c. */
static int driver_conf_tx(struct ieee80211_hw *hw, struct ieee80211_vif *vif, unsigned int link, u16 ac,
			  const struct ieee80211_tx_queue_params *params)
{
	return 0;
}

static void driver_flush(struct ieee80211_hw *hw, struct ieee80211_vif *vif, u32 queues, bool drop)
{
}

static int driver_set_rts_threshold(struct ieee80211_hw *hw, u32 value)
{
	return 0; /* mac80211 compares each frame with it */
}

static int driver_sta_add(struct ieee80211_hw *hw, struct ieee80211_vif *vif, struct ieee80211_sta *sta)
{
	struct driver *d = driver_of(hw);
	struct peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL);

	if (!peer)
		return -ENOMEM;
	peer->sta = sta;
	peer->uses = 1;
	spin_lock_irq(&d->air->lock);
	peer->station = dcf_find_address(d->air->dcf, sta->addr);
	spin_unlock_irq(&d->air->lock);
	*(struct peer **)sta->drv_priv = peer;
	return 0;
}

static void session_stop(struct driver *d, struct peer *peer, u16 tid)
{
	struct session *session;

	spin_lock_irq(&d->air->lock);
	session = peer->session[tid];
	peer->session[tid] = NULL;
	if (session) {
		session->core.limits.mpdus = 1; /* remaining frames are sent singly, without an agreement */
		session_put(session);
	}
	spin_unlock_irq(&d->air->lock);
}

static void board_stop(struct driver *d, struct peer *peer, u16 tid)
{
	spin_lock_irq(&d->air->lock);
	if (peer->rx[tid].on)
		dcf_end_scoreboard(d->air->dcf, d->station, &peer->rx[tid].board);
	peer->rx[tid].on = false;
	air_arm(d->air);
	spin_unlock_irq(&d->air->lock);
}

static int driver_sta_remove(struct ieee80211_hw *hw, struct ieee80211_vif *vif, struct ieee80211_sta *sta)
{
	struct driver *d = driver_of(hw);
	struct peer *peer = *(struct peer **)sta->drv_priv;
	u16 tid;

	for (tid = 0; tid < IEEE80211_NUM_TIDS; tid++) {
		session_stop(d, peer, tid);
		board_stop(d, peer, tid);
	}
	WRITE_ONCE(peer->sta, NULL);
	WRITE_ONCE(*(struct peer **)sta->drv_priv, NULL);
	tasklet_disable(&d->work); /* wait for the tasklet, which may use the station */
	tasklet_enable(&d->work);
	spin_lock_irq(&d->air->lock);
	peer_put(peer);
	spin_unlock_irq(&d->air->lock);
	return 0;
}

static u32 longest_ampdu(const struct driver_traits *t, const struct ieee80211_sta *sta)
{
	u32 exponent = 13 + sta->deflink.ht_cap.ampdu_factor;

	if (t->format >= DCF_VHT && sta->deflink.vht_cap.vht_supported)
		exponent = 13 + u32_get_bits(sta->deflink.vht_cap.cap, IEEE80211_VHT_CAP_MAX_A_MPDU_LENGTH_EXPONENT_MASK);
	if (t->format >= DCF_HE && sta->deflink.he_cap.has_he)
		exponent = 23; /* MAX_AMPDU_LEN_EXP_EXT_3 */
	return min(t->bytes, (1U << exponent) - 1);
}

static int session_start(struct driver *d, struct ieee80211_sta *sta, u16 tid, u16 window)
{
	static const u16 spacing_ns[] = { 0, 250, 500, 1000, 2000, 4000, 8000, 16000 };
	const struct driver_traits *t = &d->traits;
	struct peer *peer = *(struct peer **)sta->drv_priv;
	struct session *session = kzalloc(sizeof(*session), GFP_KERNEL);

	if (!session)
		return -ENOMEM;
	session->core = (struct dcf_session){
		.window = min(window ?: t->window, t->window),
		.tries = t->tries,
		.mode = READ_ONCE(peer->mode),
		.limits = {
			.bytes = longest_ampdu(t, sta),
			.ppdu_ns = t->ppdu_ns,
			.mpdus = t->mpdus,
			.spacing_ns = spacing_ns[sta->deflink.ht_cap.ampdu_density & 7],
		},
	};
	session->peer = peer;
	session->tid = tid;
	session->uses = 1;
	session_stop(d, peer, tid);
	spin_lock_irq(&d->air->lock);
	peer->uses++;
	WRITE_ONCE(peer->session[tid], session);
	spin_unlock_irq(&d->air->lock);
	return 0;
}

static int board_start(struct driver *d, struct ieee80211_sta *sta, u16 tid, u16 window, u16 start)
{
	struct peer *peer = *(struct peer **)sta->drv_priv;
	bool on;

	board_stop(d, peer, tid);
	spin_lock_irq(&d->air->lock);
	on = dcf_begin_scoreboard(d->air->dcf, d->station, &peer->rx[tid].board, peer->station, tid, window, start);
	peer->rx[tid].on = on;
	spin_unlock_irq(&d->air->lock);
	return on ? 0 : -EINVAL;
}

/* mac80211 knows the rates that it has chosen itself. It also asks for a station that it has not added, or has removed. */
static void driver_sta_statistics(struct ieee80211_hw *hw, struct ieee80211_vif *vif, struct ieee80211_sta *sta,
				  struct station_info *info)
{
	const struct peer *peer = *(struct peer **)sta->drv_priv;
	struct driver *d = driver_of(hw);
	u16 mode;

	if (!peer)
		return;
	info->tx_retries = READ_ONCE(peer->retries);
	info->filled |= BIT_ULL(NL80211_STA_INFO_TX_RETRIES);
	mode = mpdu_mode(d, sta);
	if (!mode) /* mac80211 shows the last choice of its rate control */
		return;
	modes_to_info(d->air->modes, mode, &info->txrate);
	info->filled |= BIT_ULL(NL80211_STA_INFO_TX_BITRATE);
}

static int driver_ampdu_action(struct ieee80211_hw *hw, struct ieee80211_vif *vif, struct ieee80211_ampdu_params *params)
{
	struct driver *d = driver_of(hw);
	struct ieee80211_sta *sta = params->sta;
	struct peer *peer = *(struct peer **)sta->drv_priv;

	switch (params->action) {
	case IEEE80211_AMPDU_TX_START:
		return IEEE80211_AMPDU_TX_START_IMMEDIATE;
	case IEEE80211_AMPDU_TX_OPERATIONAL:
		return session_start(d, sta, params->tid, params->buf_size);
	case IEEE80211_AMPDU_TX_STOP_CONT:
		session_stop(d, peer, params->tid);
		ieee80211_stop_tx_ba_cb_irqsafe(vif, sta->addr, params->tid);
		return 0;
	case IEEE80211_AMPDU_TX_STOP_FLUSH:
	case IEEE80211_AMPDU_TX_STOP_FLUSH_CONT:
		session_stop(d, peer, params->tid);
		return 0;
	case IEEE80211_AMPDU_RX_START:
		return board_start(d, sta, params->tid, params->buf_size, params->ssn);
	case IEEE80211_AMPDU_RX_STOP:
		board_stop(d, peer, params->tid);
		return 0;
	}
	return -EOPNOTSUPP;
}

static const struct ieee80211_ops driver_ops = {
	.tx = driver_tx,
	.wake_tx_queue = driver_wake_tx_queue,
	.start = driver_start,
	.stop = driver_stop,
	.config = driver_config,
	.configure_filter = driver_configure_filter,
	.add_interface = driver_add_interface,
	.change_interface = driver_change_interface,
	.remove_interface = driver_remove_interface,
	.vif_cfg_changed = driver_vif_cfg_changed,
	.link_info_changed = driver_link_info_changed,
	.get_tsf = driver_get_tsf,
	.set_tsf = driver_set_tsf,
	.tx_last_beacon = driver_tx_last_beacon,
	.conf_tx = driver_conf_tx,
	.flush = driver_flush,
	.set_rts_threshold = driver_set_rts_threshold,
	.sta_add = driver_sta_add,
	.sta_remove = driver_sta_remove,
	.sta_statistics = driver_sta_statistics,
	.ampdu_action = driver_ampdu_action,
	.add_chanctx = ieee80211_emulate_add_chanctx,
	.remove_chanctx = ieee80211_emulate_remove_chanctx,
	.change_chanctx = ieee80211_emulate_change_chanctx,
	.switch_vif_chanctx = ieee80211_emulate_switch_vif_chanctx,
};

static const struct ieee80211_iface_limit limits[] = {
	{ .max = 1, .types = BIT(NL80211_IFTYPE_ADHOC) },
	{
		.max = MOST_INTERFACES,
		.types = BIT(NL80211_IFTYPE_STATION) | BIT(NL80211_IFTYPE_AP) | BIT(NL80211_IFTYPE_MESH_POINT) |
			 BIT(NL80211_IFTYPE_P2P_CLIENT) | BIT(NL80211_IFTYPE_P2P_GO),
	},
};

static const struct ieee80211_iface_combination together = {
	.limits = limits,
	.n_limits = ARRAY_SIZE(limits),
	.max_interfaces = MOST_INTERFACES,
	.num_different_channels = 1,
	.beacon_int_infra_match = true,
};

/* Nothing is forbidden, up to 160 MHz. */
static const struct ieee80211_regdomain anywhere = {
	.n_reg_rules = 3,
	.alpha2 = "99",
	.reg_rules = {
		REG_RULE(2402, 2482, 40, 0, 30, 0),
		REG_RULE(5170, 5250, 80, 0, 30, 0),
		REG_RULE(5735, 5895, 160, 0, 30, 0),
	},
};

static void describe_radio(struct driver *d, const u8 *addr)
{
	struct ieee80211_hw *hw = d->hw;

	SET_IEEE80211_PERM_ADDR(hw, addr);
	ieee80211_hw_set(hw, SIGNAL_DBM);
	ieee80211_hw_set(hw, REPORTS_TX_ACK_STATUS);
	ieee80211_hw_set(hw, SUPPORT_FAST_XMIT);
	ieee80211_hw_set(hw, SUPPORTS_RC_TABLE); /* mpdu.c asks for rates itself */
	ieee80211_hw_set(hw, HOST_BROADCAST_PS_BUFFERING);
	ieee80211_hw_set(hw, MFP_CAPABLE);
	if (driver_aggregates(d))
		ieee80211_hw_set(hw, AMPDU_AGGREGATION);
	hw->queues = IEEE80211_NUM_ACS;
	hw->max_rates = DCF_STAGES;
	hw->max_rate_tries = 10;
	hw->tx_sk_pacing_shift = d->traits.pacing_shift;
	hw->max_rx_aggregation_subframes = d->traits.window ?: 1;
	hw->max_tx_aggregation_subframes = d->traits.window ?: 1;
	hw->sta_data_size = sizeof(struct peer *);
	hw->vif_data_size = sizeof(struct interface);
	hw->wiphy->interface_modes = BIT(NL80211_IFTYPE_STATION) | BIT(NL80211_IFTYPE_AP) | BIT(NL80211_IFTYPE_ADHOC) |
				     BIT(NL80211_IFTYPE_MESH_POINT) | BIT(NL80211_IFTYPE_MONITOR) |
				     BIT(NL80211_IFTYPE_P2P_CLIENT) | BIT(NL80211_IFTYPE_P2P_GO);
	hw->wiphy->iface_combinations = &together;
	hw->wiphy->n_iface_combinations = 1;
	hw->wiphy->flags |= WIPHY_FLAG_IBSS_RSN | WIPHY_FLAG_HAS_CHANNEL_SWITCH | WIPHY_FLAG_SUPPORTS_TDLS;
	hw->wiphy->flags &= ~WIPHY_FLAG_PS_ON_BY_DEFAULT;
	hw->wiphy->regulatory_flags |= REGULATORY_CUSTOM_REG;
	wiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_VHT_IBSS);
	if (d->traits.fairness)
		wiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_AIRTIME_FAIRNESS);
	if (d->traits.aql)
		wiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_AQL);
}

static int fix_mode(struct driver *d)
{
	const struct driver_traits *t = &d->traits;
	int place;

	if (t->mcs == DRIVER_AUTO)
		return 0;
	place = modes_find(d->air->modes, t->format, t->mcs, t->streams, t->width_mhz, t->guard_ns);
	if (place < 0)
		return -EINVAL;
	d->fixed = place;
	d->air->radio[d->station].fixed = place;
	return 0;
}

/* The parent of all radios: ethtool, which Open vSwitch asks, follows it. */
static struct device *parent;

int driver_load(void)
{
	parent = root_device_register("dcf80211");
	return PTR_ERR_OR_ZERO(parent);
}

void driver_unload(void)
{
	root_device_unregister(parent);
}

static void driver_free(struct driver *d)
{
	together_end(d);
	caps_free(d);
	ieee80211_free_hw(d->hw);
}

/* The core calls this radio no more. */
static void driver_detach(struct driver *d)
{
	unsigned long flags;

	spin_lock_irqsave(&d->air->lock, flags);
	d->air->radio[d->station].driver = NULL;
	d->air->radio[d->station].fixed = 0;
	spin_unlock_irqrestore(&d->air->lock, flags);
	tasklet_kill(&d->work);
	mpdu_close(d);
}

int driver_create(struct air *air, u16 station, const char *name, const struct driver_traits *traits,
		  struct net *net, u32 portid)
{
	struct ieee80211_hw *hw = ieee80211_alloc_hw_nm(sizeof(struct driver), &driver_ops, name);
	u8 addr[ETH_ALEN];
	struct driver *d;
	int err;

	if (!hw)
		return -ENOMEM;
	d = hw->priv;
	*d = (struct driver){
		.hw = hw, .air = air, .station = station, .traits = *traits, .net = net, .portid = portid,
	};
	mpdu_init(d);
	together_begin(d);
	hrtimer_setup(&d->wake, driver_wake, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&d->rest, driver_rest, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&d->beacon, driver_beacon, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	radio_perm_addr(addr, air->radio[station].addr);
	describe_radio(d, addr);
	SET_IEEE80211_DEV(hw, parent);
	wiphy_net_set(hw->wiphy, net);
	err = fix_mode(d) ?: caps_set(d);
	if (!err) {
		wiphy_apply_custom_regulatory(hw->wiphy, &anywhere);
		spin_lock_irq(&air->lock);
		air->radio[station].driver = d;
		spin_unlock_irq(&air->lock);
		err = ieee80211_register_hw(hw);
		if (err)
			driver_detach(d);
	}
	if (err)
		driver_free(d);
	return err;
}

static void driver_destroy(struct driver *d)
{
	ieee80211_unregister_hw(d->hw);
	hrtimer_cancel(&d->beacon);
	hrtimer_cancel(&d->wake);
	driver_detach(d);
	hrtimer_cancel(&d->rest); /* the tasklet may have set it */
	driver_free(d);
}

void driver_release(struct air *air, const struct net *net, u32 portid)
{
	struct driver *d;
	u16 i;

	for (i = 0; i < air->stations; i++) {
		d = air->radio[i].driver;
		if (d && (!net || (net_eq(d->net, net) && d->portid == portid)))
			driver_destroy(d);
	}
}

int driver_open(struct air *air)
{
	int err;

	air->modes = modes_create();
	if (!air->modes)
		return -ENOMEM;
	err = modes_set(air->modes, air->dcf) ? together_open(air) : -EINVAL;
	if (err)
		modes_destroy(air->modes);
	air->running = !err;
	return err;
}

void driver_close(struct air *air)
{
	unsigned long flags;

	driver_release(air, NULL, 0);
	spin_lock_irqsave(&air->lock, flags);
	air->running = false;
	spin_unlock_irqrestore(&air->lock, flags);
	hrtimer_cancel(&air->timer);
	spin_lock_irqsave(&air->lock, flags);
	dcf_flush(air->dcf);
	spin_unlock_irqrestore(&air->lock, flags);
	together_close(air);
	modes_destroy(air->modes);
}
