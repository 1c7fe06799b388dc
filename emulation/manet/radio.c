// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames to and from the radio. A packet of the core lies in the control buffer
 * of its skb. The radio gets a clone with a destructor. When the clone ends,
 * mac80211 has set skb->wifi_acked (net/mac80211/status.c), which is all the
 * feedback that a routing protocol needs. The original stays here, so that it can
 * take another route.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/ieee80211.h>
#include <linux/ip.h>
#include <linux/wait.h>
#include <net/arp.h>
#include <net/ip.h>
#include <net/mac80211.h>

#include "device.h"

static struct sk_buff *skb_of(struct manet_packet *p)
{
	return container_of((void *)p, struct sk_buff, cb);
}

static struct manet_packet *packet_of(struct sk_buff *skb)
{
	struct manet_packet *p = (void *)skb->cb;

	BUILD_BUG_ON(sizeof(*p) > sizeof(skb->cb));
	memset(p, 0, sizeof(*p));
	p->data = skb->data;
	p->len = skb->len;
	return p;
}

/* Set the start and the end of the skb as the core says. */
static void radio_follow(struct sk_buff *skb, const struct manet_packet *p)
{
	if (p->data > skb->data)
		__skb_pull(skb, p->data - skb->data);
	else if (p->data < skb->data)
		__skb_push(skb, skb->data - p->data);
	skb_trim(skb, p->len);
	skb_reset_network_header(skb);
}

static void radio_arm(struct manet_device *d)
{
	unsigned long flags;
	u64 next = d->running ? manet_next(d->core) : NEVER;

	if (next == d->armed) /* or a result has set it for now, and then this is called again */
		return;
	d->armed = next;
	spin_lock_irqsave(&d->answers, flags);
	if (d->answered)
		next = 0;
	if (next == NEVER)
		hrtimer_try_to_cancel(&d->timer);
	else
		hrtimer_start(&d->timer, ns_to_ktime(next), HRTIMER_MODE_ABS_SOFT);
	spin_unlock_irqrestore(&d->answers, flags);
}

void device_settle(struct manet_device *d)
	__releases(d->lock)
{
	struct sk_buff *frame = d->outgoing, *skb;
	struct sk_buff_head lost;

	d->outgoing = NULL;
	__skb_queue_head_init(&lost);
	skb_queue_splice_init(&d->lost, &lost);
	radio_arm(d);
	spin_unlock_bh(&d->lock);
	if (frame)
		dev_queue_xmit(frame);
	while ((skb = __skb_dequeue(&lost)))
		told(d, skb);
}

static void radio_answer(struct manet_device *d, const struct sk_buff *frame, enum manet_sent how)
{
	unsigned long flags;

	spin_lock_irqsave(&d->answers, flags);
	if (d->frame == frame) { /* and not a frame from before the interface went down */
		d->frame = NULL;
		d->answered = true;
		d->answer = how;
		hrtimer_start(&d->timer, 0, HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock_irqrestore(&d->answers, flags);
}

enum hrtimer_restart radio_timer(struct hrtimer *timer)
{
	struct manet_device *d = container_of(timer, struct manet_device, timer);
	u64 now = ktime_get_ns();
	bool answered;

	spin_lock_bh(&d->lock);
	spin_lock_irq(&d->answers);
	answered = d->answered;
	d->answered = false;
	spin_unlock_irq(&d->answers);
	d->armed = 0;
	if (d->running && answered)
		manet_sent(d->core, d->answer, now);
	else if (d->running)
		manet_run(d->core, now);
	device_settle(d);
	return HRTIMER_NORESTART;
}

/* Number of frames that the radio has, whose destructor is in this module; and the queue that waits for 0. */
static atomic_t with_radio = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(all_ended);

void radio_wait(void)
{
	wait_event(all_ended, !atomic_read(&with_radio));
	synchronize_rcu(); /* the last destructor has returned, too */
}

/* The radio has finished a frame. An 802.11 frame has mac80211's result; other frames have none. */
static void frame_ended(struct sk_buff *frame)
{
	const struct ieee80211_tx_info *info = IEEE80211_SKB_CB(frame);
	enum manet_sent how = MANET_ACKED;
	struct manet_device *d;

	rcu_read_lock();
	if (rcu_access_pointer(frame->dev->rx_handler) == radio_receive) {
		d = rcu_dereference(frame->dev->rx_handler_data);
		if (d->feedback && !frame->wifi_acked_valid)
			how = d->group ? MANET_NOT_SENT : MANET_STRANGER;
		else if (d->feedback && info->status.rates[0].idx < 0)
			how = MANET_NOT_SENT;
		else if (d->feedback && !frame->wifi_acked && !d->group)
			how = MANET_LOST;
		radio_answer(d, frame, how);
	}
	if (atomic_dec_and_test(&with_radio))
		wake_up(&all_ended);
	rcu_read_unlock();
}

static struct manet_packet *radio_make(void *edge, u16 len)
{
	struct manet_device *d = edge;
	struct sk_buff *skb = alloc_skb(LL_RESERVED_SPACE(d->lower) + MANET_HEADROOM + len, GFP_ATOMIC);

	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(d->lower) + MANET_HEADROOM);
	skb_put_zero(skb, len);
	skb->priority = TC_PRIO_CONTROL;
	return packet_of(skb);
}

/* Send a clone with an Ethernet header. Its end brings the result, so no path here may lose it without one. */
static void radio_transmit(void *edge, struct manet_packet *p, const u8 *mac)
{
	struct manet_device *d = edge;
	struct sk_buff *skb = skb_of(p), *frame;

	radio_follow(skb, p);
	frame = skb_clone(skb, GFP_ATOMIC);
	if (frame && skb_cow_head(frame, LL_RESERVED_SPACE(d->lower))) {
		kfree_skb(frame);
		frame = NULL;
	}
	d->frame = frame;
	d->group = is_multicast_ether_addr(mac);
	if (!frame) {
		radio_answer(d, NULL, MANET_NOT_SENT);
		return;
	}
	skb_dst_drop(frame);
	frame->dev = d->lower;
	frame->protocol = htons(ETH_P_IP);
	dev_hard_header(frame, d->lower, ETH_P_IP, mac, d->lower->dev_addr, frame->len);
	frame->destructor = frame_ended;
	atomic_inc(&with_radio);
	d->outgoing = frame;
	d->dev->stats.tx_packets++;
	d->dev->stats.tx_bytes += p->len;
}

static void radio_deliver(void *edge, struct manet_packet *p)
{
	struct manet_device *d = edge;
	struct sk_buff *skb = skb_of(p);

	radio_follow(skb, p);
	skb_reset_mac_header(skb);
	skb_reset_transport_header(skb);
	skb->dev = d->dev;
	skb->protocol = htons(ETH_P_IP);
	skb->pkt_type = ipv4_is_multicast(ip_hdr(skb)->daddr) ? PACKET_MULTICAST : PACKET_HOST;
	skb->ip_summed = CHECKSUM_NONE;
	d->dev->stats.rx_packets++;
	d->dev->stats.rx_bytes += p->len;
	netif_rx(skb);
}

static void radio_drop(void *edge, struct manet_packet *p, enum manet_reason why)
{
	struct manet_device *d = edge;
	struct sk_buff *skb = skb_of(p);

	if (why == MANET_DONE) {
		consume_skb(skb);
		return;
	}
	if (p->kind == MANET_DATA)
		d->dev->stats.tx_dropped++;
	radio_follow(skb, p);
	if (p->kind == MANET_DATA && d->value[P_TELL] && told_of(skb, why))
		__skb_queue_tail(&d->lost, skb);
	else
		kfree_skb(skb);
}

/* The kernel's own neighbour entry for the radio, such as a permanent one. */
static bool radio_resolve(void *edge, u32 neighbour, u8 *mac)
{
	struct manet_device *d = edge;
	__be32 address = htonl(neighbour);
	struct neighbour *n = neigh_lookup(&arp_tbl, &address, d->lower);
	bool known = n && READ_ONCE(n->nud_state) & NUD_VALID;

	if (known)
		neigh_ha_snapshot(mac, n, d->lower);
	if (n)
		neigh_release(n);
	return known;
}

static void radio_record(void *edge, const struct manet_record *r)
{
	struct manet_device *d = edge;

	if (r->event == MANET_FOUND || r->event == MANET_CHANGED || r->event == MANET_LOST_ROUTE)
		rt_genid_bump_ipv4(dev_net(d->dev)); /* cached routes are looked up again */
	trace_record(r);
}

const struct manet_ops radio_ops = {
	.make = radio_make,
	.transmit = radio_transmit,
	.deliver = radio_deliver,
	.drop = radio_drop,
	.resolve = radio_resolve,
	.record = radio_record,
};

netdev_tx_t radio_start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct manet_device *d = netdev_priv(dev);

	if (skb->protocol != htons(ETH_P_IP) || !pskb_may_pull(skb, sizeof(struct iphdr)) ||
	    skb_cow_head(skb, LL_RESERVED_SPACE(d->lower) + MANET_HEADROOM) || skb_linearize(skb) || skb->len > MANET_MTU) {
		DEV_STATS_INC(dev, tx_errors);
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	skb_tx_timestamp(skb);
	if (d->value[P_ORPHAN])
		skb_orphan(skb);
	if (d->value[P_TELL])
		skb_dst_force(skb);
	else
		skb_dst_drop(skb);
	spin_lock_bh(&d->lock);
	if (!d->running) {
		dev->stats.tx_dropped++;
		kfree_skb(skb);
	} else {
		manet_output(d->core, packet_of(skb), ktime_get_ns());
	}
	device_settle(d);
	return NETDEV_TX_OK;
}

/* A frame from the radio: the core gets all IPv4 packets, whatever their destination. */
static rx_handler_result_t radio_rx(struct sk_buff **from_radio)
{
	struct sk_buff *skb = *from_radio;
	struct manet_device *d = rcu_dereference(skb->dev->rx_handler_data);
	u8 from[ETH_ALEN];

	if (skb->protocol != htons(ETH_P_IP))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return RX_HANDLER_CONSUMED;
	ether_addr_copy(from, eth_hdr(skb)->h_source);
	if (skb->pkt_type == PACKET_OTHERHOST || skb->len > U16_MAX || skb_linearize(skb) ||
	    skb_cow(skb, LL_RESERVED_SPACE(d->lower) + MANET_HEADROOM)) {
		kfree_skb(skb);
		return RX_HANDLER_CONSUMED;
	}
	skb_dst_drop(skb);
	skb_orphan(skb);
	spin_lock_bh(&d->lock);
	if (d->running)
		manet_input(d->core, packet_of(skb), from, ktime_get_ns());
	else
		kfree_skb(skb);
	device_settle(d);
	return RX_HANDLER_CONSUMED;
}

rx_handler_func_t *radio_receive = radio_rx;

/* A frame from the monitor: IPv4 in an 802.11 data frame, after its radiotap header. */
struct heard {
	const struct ieee80211_hdr *header;
	const u8 *ip;
	u32 len;
};

static bool radio_parse(const struct sk_buff *skb, struct heard *h)
{
	u32 radiotap = skb_headlen(skb) >= 4 ? skb->data[2] | skb->data[3] << 8 : U16_MAX, llc;

	if (skb_headlen(skb) < radiotap + 24 + 8)
		return false;
	h->header = (const void *)(skb->data + radiotap);
	if (!ieee80211_is_data_present(h->header->frame_control))
		return false;
	llc = radiotap + ieee80211_hdrlen(h->header->frame_control);
	if (skb_headlen(skb) < llc + 8 || !ether_addr_equal(skb->data + llc, rfc1042_header) ||
	    skb->data[llc + 6] != ETH_P_IP >> 8 || skb->data[llc + 7] != (ETH_P_IP & 0xff))
		return false;
	h->ip = skb->data + llc + 8;
	h->len = min_t(u32, skb_headlen(skb) - llc - 8, U16_MAX);
	return true;
}

/*
 * Outside the context of a BSS there is no association. mac80211 drops data from
 * a station until it has an entry for it, which it makes for the first frame.
 * Only the monitor delivers that first frame.
 */
static bool is_strangers(const struct manet_device *d, const struct ieee80211_hdr *header)
{
	const struct wireless_dev *wdev = d->lower->ieee80211_ptr;

	return wdev && wdev->iftype == NL80211_IFTYPE_OCB && netif_running(d->lower) &&
	       !ieee80211_has_a4(header->frame_control) && is_broadcast_ether_addr(header->addr3) &&
	       !ieee80211_find_sta_by_ifaddr(wiphy_to_ieee80211_hw(wdev->wiphy), header->addr2, d->lower->dev_addr);
}

static void take_strangers(struct manet_device *d, const struct heard *h)
{
	struct manet_packet *p = radio_make(d, h->len);

	if (!p)
		return;
	memcpy(p->data, h->ip, h->len);
	manet_input(d->core, p, h->header->addr2, ktime_get_ns());
}

static rx_handler_result_t radio_rx_monitor(struct sk_buff **from_radio)
{
	struct manet_device *d = rcu_dereference((*from_radio)->dev->rx_handler_data);
	struct heard h;
	bool ours;

	if (!radio_parse(*from_radio, &h) || ether_addr_equal(h.header->addr2, d->lower->dev_addr))
		return RX_HANDLER_PASS;
	ours = is_multicast_ether_addr(h.header->addr1) || ether_addr_equal(h.header->addr1, d->lower->dev_addr);
	if (ours && !is_strangers(d, h.header))
		return RX_HANDLER_PASS;
	spin_lock_bh(&d->lock);
	if (d->running && ours)
		take_strangers(d, &h);
	else if (d->running)
		manet_overheard(d->core, h.ip, h.len, h.header->addr2, ktime_get_ns());
	device_settle(d);
	return RX_HANDLER_PASS;
}

rx_handler_func_t *radio_overhear = radio_rx_monitor;
