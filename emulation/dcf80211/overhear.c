// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overheard frames: data frames for other stations, which radios with a monitor
 * interface get (PROMISCUOUS). They are most of what is delivered in a dense
 * network, and mac80211 only passes them to its monitors. So they go to mac80211
 * directly, not through hwsim: all receivers of a transmission share one skb,
 * one after the other. A tasklet delivers them at the same nanosecond.
 *
 * What hwsim has received before and not yet handled comes first. Until then,
 * overheard frames go through hwsim, too.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/mac80211.h>

#include "air.h"
#include "wire/frame.h"
#include "wire/message.h"

#define MOST_OVERHEARD 1024
/* Headroom of a frame: for mac80211's radiotap header. */
#define HEADROOM 128
#define HWSIM "mac80211_hwsim"

struct overheard {
	struct sk_buff *skb; /* a reference */
	u16 to, freq;
	u8 rate;
	s8 dbm;
};

struct overhearing {
	struct air *air;
	struct tasklet_struct tasklet;
	struct notifier_block interfaces;
	u32 count;
	struct overheard *coming; /* with air->lock held */
	struct overheard *going; /* the tasklet's */
};

/* Make the frame's skb, or find it: a frame that is sent again has changed. */
static struct sk_buff *overhear_skb(const struct dcf_frame *f, struct heard *heard)
{
	if (heard->skb && heard->tx == f->last_tx)
		return heard->skb;
	overhear_forget(heard);
	heard->skb = alloc_skb(HEADROOM + f->len, GFP_ATOMIC);
	if (!heard->skb)
		return NULL;
	heard->tx = f->last_tx;
	skb_reserve(heard->skb, HEADROOM);
	skb_put_data(heard->skb, f->bytes, f->len);
	return heard->skb;
}

void overhear_forget(struct heard *heard)
{
	if (heard->skb)
		dev_kfree_skb_irq(heard->skb);
	heard->skb = NULL;
}

bool overhear_take(struct air *air, u16 to, const struct dcf_frame *f, struct heard *heard, u16 mode, s32 power_mdbm)
{
	struct overhearing *o = air->overhearing;
	struct sk_buff *skb;

	if (!rcu_access_pointer(air->radio[to].monitored) || o->count == MOST_OVERHEARD || f->receiver == to ||
	    is_multicast_ether_addr(dcf_addr1(f->bytes)))
		return false;
	skb = overhear_skb(f, heard);
	if (!skb)
		return false;
	o->coming[o->count++] = (struct overheard){
		.skb = skb_get(skb), .to = to, .freq = f->freq, .rate = rate_to_hwsim(mode, f->freq),
		.dbm = message_dbm(power_mdbm),
	};
	return true;
}

void overhear_go(struct air *air)
{
	if (air->overhearing && air->overhearing->count)
		tasklet_schedule(&air->overhearing->tasklet);
}

/* Whether hwsim would pass it on. */
static bool is_tuned(const struct ieee80211_hw *hw, const struct overheard *h)
{
	const struct ieee80211_channel *channel = hw->conf.chandef.chan;

	return !(hw->conf.flags & IEEE80211_CONF_IDLE) && channel && channel->center_freq == h->freq &&
	       h->rate < hw->wiphy->bands[channel->band]->n_bitrates;
}

static void overhear_deliver(struct ieee80211_hw *hw, struct overheard *h)
{
	struct ieee80211_rx_status *status;
	struct sk_buff *skb = h->skb;

	if (skb_cloned(skb)) { /* someone keeps the bytes that an earlier receiver got */
		skb = skb_copy(h->skb, GFP_ATOMIC);
		consume_skb(h->skb);
		if (!skb)
			return;
	}
	__skb_pull(skb, HEADROOM - skb_headroom(skb)); /* without an earlier receiver's radiotap header */
	skb->tstamp = 0;
	status = IEEE80211_SKB_RXCB(skb);
	*status = (struct ieee80211_rx_status){
		.flag = RX_FLAG_ONLY_MONITOR, .freq = h->freq, .band = hw->conf.chandef.chan->band, .rate_idx = h->rate,
		.signal = h->dbm,
	};
	ieee80211_rx(hw, skb);
}

static void overhear_play(struct tasklet_struct *tasklet)
{
	struct overhearing *o = container_of(tasklet, struct overhearing, tasklet);
	struct ieee80211_hw *hw;
	unsigned long flags;
	u32 count, i;

	spin_lock_irqsave(&o->air->lock, flags);
	count = o->count;
	o->count = 0;
	swap(o->coming, o->going);
	spin_unlock_irqrestore(&o->air->lock, flags);
	rcu_read_lock();
	for (i = 0; i < count; i++) {
		hw = rcu_dereference(o->air->radio[o->going[i].to].monitored);
		if (hw && is_tuned(hw, &o->going[i]))
			overhear_deliver(hw, &o->going[i]);
		else
			consume_skb(o->going[i].skb);
	}
	rcu_read_unlock();
}

/* A radio whose name is not known yet goes without. */
static void overhear_set(struct air *air, struct wiphy *wiphy, bool on)
{
	u8 perm[ETH_ALEN];
	unsigned long flags;
	int i;

	spin_lock_irqsave(&air->lock, flags);
	for (i = 0; i < air->stations; i++) {
		radio_perm_addr(perm, air->radio[i].addr);
		if (air->radio[i].named && ether_addr_equal_unaligned(perm, wiphy->perm_addr))
			rcu_assign_pointer(air->radio[i].monitored, on ? wiphy_to_ieee80211_hw(wiphy) : NULL);
	}
	spin_unlock_irqrestore(&air->lock, flags);
}

static int interface_changed(struct notifier_block *notifier, unsigned long event, void *data)
{
	struct overhearing *o = container_of(notifier, struct overhearing, interfaces);
	const struct net_device *dev = netdev_notifier_info_to_dev(data);
	const struct wireless_dev *wdev = dev->ieee80211_ptr;

	if ((event != NETDEV_UP && event != NETDEV_GOING_DOWN) || !wdev || wdev->iftype != NL80211_IFTYPE_MONITOR ||
	    strcmp(dev_driver_string(wiphy_dev(wdev->wiphy)), HWSIM))
		return NOTIFY_DONE;
	overhear_set(o->air, wdev->wiphy, event == NETDEV_UP);
	if (event == NETDEV_GOING_DOWN)
		synchronize_rcu(); /* the radio may stop now, after which it may get nothing */
	return NOTIFY_DONE;
}

int overhear_open(struct air *air)
{
	struct overhearing *o = kzalloc(sizeof(*o), GFP_KERNEL);
	int err = -ENOMEM;

	if (!o)
		return err;
	o->air = air;
	o->interfaces.notifier_call = interface_changed;
	tasklet_setup(&o->tasklet, overhear_play);
	o->coming = kcalloc(MOST_OVERHEARD, sizeof(*o->coming), GFP_KERNEL);
	o->going = kcalloc(MOST_OVERHEARD, sizeof(*o->going), GFP_KERNEL);
	air->overhearing = o;
	if (o->coming && o->going)
		err = register_netdevice_notifier(&o->interfaces);
	if (!err)
		return 0;
	o->interfaces.notifier_call = NULL;
	overhear_close(air);
	return err;
}

void overhear_close(struct air *air)
{
	struct overhearing *o = air->overhearing;

	if (!o)
		return;
	if (o->interfaces.notifier_call)
		unregister_netdevice_notifier(&o->interfaces); /* calls interface_changed as if all went down */
	tasklet_kill(&o->tasklet);
	while (o->count)
		kfree_skb(o->coming[--o->count].skb);
	kfree(o->coming);
	kfree(o->going);
	kfree(o);
	air->overhearing = NULL;
}
