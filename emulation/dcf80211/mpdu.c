// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of radios of HT and later: from mac80211's queues to the core, and their
 * results back to mac80211.
 *
 * A radio prepares a few aggregates of each category, each from one queue. It
 * takes the next one when the MPDUs of one have been sent for the first time.
 * Or it has a queue of its own, first in, first out, as drivers had before
 * mac80211 had theirs: it takes a frame from each queue in turn while it has room.
 * Retries are sent with later aggregates, because the core has them in its queue.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>

#include "driver.h"

#define FCS 4

/* A frame while the core has it. */
struct mpdu {
	struct dcf_frame frame;
	struct list_head list;
	struct sk_buff *skb;
	struct peer *peer; /* or NULL */
	struct session *session; /* or NULL */
	struct ieee80211_tx_rate rates[DCF_STAGES];
	enum dcf_reason why;
	u8 ac; /* of its queue. The core goes by the header, where data without QoS is best effort */
	bool fixed; /* mac80211's rate control did not choose its mode */
	bool prepared; /* it is an aggregate by itself, until it ends */
};

/* A sent PPDU: struct dcf_sent, for mac80211. */
struct sent {
	struct list_head list;
	struct session *session;
	u16 mode, mpdus, acked;
	u32 airtime_ns;
};

/* What the air reported, for the tasklet. */
struct reports {
	struct sk_buff_head received;
	struct list_head done, sent;
};

void peer_put(struct peer *peer)
{
	if (!--peer->uses)
		kfree(peer);
}

void session_put(struct session *session)
{
	if (--session->uses)
		return;
	peer_put(session->peer);
	kfree(session);
}

static void prepared_add(struct driver *d, struct prepared *p, u16 mpdus)
{
	if (p->count < (d->traits.fifo ? 1 : DRIVER_DEPTH))
		p->mpdus[p->count++] = mpdus;
	else
		p->mpdus[p->count - 1] += mpdus;
}

/* This many MPDUs have been sent; the oldest ones count first. */
static void prepared_take(struct prepared *p, u16 mpdus)
{
	u16 some;

	while (mpdus && p->count) {
		some = min(mpdus, p->mpdus[0]);
		mpdus -= some;
		p->mpdus[0] -= some;
		if (p->mpdus[0])
			break;
		p->count--;
		memmove(p->mpdus, p->mpdus + 1, p->count * sizeof(*p->mpdus));
	}
}

/* Called by the core. */

/* The next MPDU is the first of its PPDU: note what mac80211 gets to know of all of them. */
static void begin_ppdu(struct driver *d, const struct dcf_frame *f, u16 mode, s32 power_mdbm)
{
	d->last_ppdu = f->last_tx;
	d->status = (struct ieee80211_rx_status){
		.freq = f->freq,
		.band = f->freq < 4000 ? NL80211_BAND_2GHZ : NL80211_BAND_5GHZ,
		.signal = clamp(DIV_ROUND_CLOSEST(power_mdbm, 1000), -128, 127),
		.mactime = div_u64(air_now(), 1000) + d->tsf_offset_us,
		.flag = RX_FLAG_MACTIME_END,
	};
	modes_to_reception(d->air->modes, mode, &d->status);
}

static void mpdu_deliver(void *edge, u16 to, const struct dcf_frame *f, u16 mode, s32 power_mdbm)
{
	const unsigned int odd = ieee80211_hdrlen(*(const __le16 *)f->bytes) % 4;
	const struct dcf_mode *numbers;
	struct air *air = edge;
	struct driver *d = air->radio[to].driver;
	struct sk_buff *skb;

	if (!d)
		return;
	skb = dev_alloc_skb(odd + f->len);
	if (!skb) {
		air->lost_messages++;
		return;
	}
	skb_reserve(skb, odd); /* mac80211 would move each frame whose payload is not aligned */
	skb_put_data(skb, f->bytes, f->len);
	/* The airtime of the part of the PPDU that carries it, for the tasklet. The first one has the preamble. */
	numbers = modes_at(air->modes, mode);
	skb->mark = mode_at_ns(numbers, 8ULL * (AMPDU_DELIMITER + f->len + FCS));
	if (d->last_ppdu != f->last_tx) {
		skb->mark += mode_preamble_ns(numbers, false);
		begin_ppdu(d, f, mode, power_mdbm);
	}
	*IEEE80211_SKB_RXCB(skb) = d->status;
	__skb_queue_tail(&d->received, skb);
	tasklet_schedule(&d->work);
}

static void mpdu_free(struct mpdu *m)
{
	if (m->session)
		session_put(m->session);
	if (m->peer)
		peer_put(m->peer);
	kfree(m);
}

/* A PPDU to this station was sent in @mode. With air->lock held. */
static void choose_mode(const struct driver *d, struct peer *peer, u16 mode, u16 mpdus, u16 acked)
{
	u16 next, tid;

	if (!peer->mode || !modes_is_beyond(d->air->modes, mode))
		return;
	ladder_sent(&peer->ladder, modes_mcs(d->air->modes, mode), mpdus, acked);
	next = modes_with_mcs(d->air->modes, peer->mode, peer->ladder.mcs);
	WRITE_ONCE(peer->mode, next);
	for (tid = 0; tid < IEEE80211_NUM_TIDS; tid++)
		if (peer->session[tid])
			peer->session[tid]->core.mode = next;
}

static void mpdu_done(void *edge, u16 station, struct dcf_frame *f, enum dcf_reason why)
{
	struct mpdu *m = container_of(f, struct mpdu, frame);
	struct air *air = edge;
	struct driver *d = air->radio[station].driver;

	if (!d) { /* the radio is gone */
		dev_kfree_skb_any(m->skb);
		mpdu_free(m);
		return;
	}
	m->why = why;
	if (!--d->held)
		wake_up(&d->emptied);
	if (m->prepared || (m->session && !f->tries)) /* mpdu_sent() has reported the others */
		prepared_take(&d->prepared[m->ac], 1);
	if (m->session && why != DCF_ACKED)
		m->session->lost = m;
	if (m->peer && !m->session && f->tries)
		choose_mode(d, m->peer, f->stage[0].mode, f->tries, why == DCF_ACKED);
	list_add_tail(&m->list, &d->done);
	tasklet_schedule(&d->work);
}

static void mpdu_sent(void *edge, u16 station, const struct dcf_sent *sent)
{
	struct session *session = container_of(sent->session, struct session, core);
	struct air *air = edge;
	struct driver *d = air->radio[station].driver;
	struct sent *s;

	if (!d)
		return;
	prepared_take(&d->prepared[sent->category], sent->fresh);
	choose_mode(d, session->peer, sent->mode, sent->mpdus, sent->acked);
	tasklet_schedule(&d->work);
	s = kmalloc(sizeof(*s), GFP_ATOMIC);
	if (!s)
		return;
	session->uses++;
	*s = (struct sent){
		.session = session,
		.mode = sent->mode,
		.mpdus = sent->mpdus,
		.acked = sent->acked,
		.airtime_ns = sent->airtime_ns,
	};
	list_add_tail(&s->list, &d->sent);
}

const struct dcf_ops mpdu_dcf_ops = {
	.deliver = mpdu_deliver,
	.done = mpdu_done,
	.record = trace_record,
	.sent = mpdu_sent,
};

/* Reports to mac80211. */

static void register_airtime(const struct driver *d, struct ieee80211_sta *sta, u8 tid, u32 sent_us, u32 received_us)
{
	if (d->traits.fairness)
		ieee80211_sta_register_airtime(sta, tid, sent_us, received_us);
}

static void pass_sent(struct driver *d, const struct sent *s)
{
	struct ieee80211_sta *sta = READ_ONCE(s->session->peer->sta);
	struct ieee80211_tx_info info = {
		.flags = IEEE80211_TX_CTL_AMPDU | IEEE80211_TX_STAT_AMPDU | (s->acked ? IEEE80211_TX_STAT_ACK : 0),
		.band = d->hw->conf.chandef.chan->band,
	};

	if (!sta)
		return;
	info.status.rates[0].count = 1;
	info.status.rates[1].idx = -1;
	info.status.ampdu_len = min(s->mpdus, U8_MAX);
	info.status.ampdu_ack_len = min(s->acked, U8_MAX);
	if (s->mode >= DCF_RATES && !modes_is_beyond(d->air->modes, s->mode))
		modes_to_rate(d->air->modes, s->mode, &info.status.rates[0]);
	else if (s->mode < DCF_RATES)
		info.status.rates[0].idx = rate_to_hwsim(s->mode, d->hw->conf.chandef.chan->center_freq);
	if (!modes_is_beyond(d->air->modes, s->mode)) /* rate controls do not know this mode */
		ieee80211_tx_rate_update(d->hw, sta, &info);
	register_airtime(d, sta, s->session->tid, s->airtime_ns / 1000, 0);
}

/* All attempts of a frame without a session. */
static u32 airtime_us(const struct driver *d, const struct mpdu *m)
{
	u64 ns = 0;
	int i;

	for (i = 0; i < DCF_STAGES; i++)
		ns += (u64)m->frame.used[i] *
		      mode_txtime_ns(modes_at(d->air->modes, m->frame.stage[i].mode), m->frame.len + FCS, false);
	return div_u64(ns, 1000);
}

static void pass_done(struct driver *d, struct mpdu *m)
{
	struct ieee80211_tx_info *info = IEEE80211_SKB_CB(m->skb);
	struct ieee80211_sta *sta = m->peer ? READ_ONCE(m->peer->sta) : NULL;
	struct ieee80211_tx_status status = { .sta = sta, .info = info, .skb = m->skb };
	struct ieee80211_hdr *hdr = (void *)m->skb->data;
	struct ieee80211_rate_status used = { .try_count = m->frame.used[0] };
	u16 mode = m->frame.stage[0].mode;
	int i, tid;

	if (m->session && m->session->core.mode)
		mode = READ_ONCE(m->session->core.mode);
	if (m->fixed) { /* AQL estimates airtime by it */
		modes_to_info(d->air->modes, mode, &used.rate_idx);
		status.rates = &used;
		status.n_rates = 1;
	}

	ieee80211_tx_info_clear_status(info);
	for (i = 0; i < DCF_STAGES; i++) {
		info->status.rates[i] = m->rates[i];
		info->status.rates[i].count = min(m->frame.used[i], 31);
		if (!m->frame.used[i])
			info->status.rates[i].idx = -1;
	}
	if (!m->session) /* the status belongs to the frame, not to a PPDU */
		info->flags &= ~IEEE80211_TX_CTL_AMPDU;
	if (m->why == DCF_ACKED)
		info->flags |= IEEE80211_TX_STAT_ACK;
	else if (m->why == DCF_GROUP && info->flags & IEEE80211_TX_CTL_NO_ACK)
		info->flags |= IEEE80211_TX_STAT_NOACK_TRANSMITTED;
	else if (m->session && m->session->lost == m) /* one block-ACK request covers all of them */
		info->flags |= IEEE80211_TX_STAT_AMPDU_NO_BACK;
	if (m->peer && m->frame.tries)
		m->peer->retries += m->frame.tries - 1;
	if (sta && !m->session) {
		tid = ieee80211_is_data_qos(hdr->frame_control) ? ieee80211_get_tid(hdr) : 0;
		register_airtime(d, sta, tid, airtime_us(d, m), 0);
	}
	if (sta)
		ieee80211_tx_status_ext(d->hw, &status);
	else
		ieee80211_tx_status_skb(d->hw, m->skb);
}

/* Frames from one station, of one TID; or of unknown ones. */
struct origin {
	u8 addr[2 * ETH_ALEN]; /* receiver and transmitter */
	u8 tid;
	struct ieee80211_sta *sta; /* or NULL */
	u32 airtime_us; /* not registered yet */
};

static void register_received(const struct driver *d, struct origin *o)
{
	if (o->sta)
		register_airtime(d, o->sta, o->tid, 0, o->airtime_us);
	o->airtime_us = 0;
}

static void find_origin(const struct driver *d, struct origin *o, const struct ieee80211_hdr *hdr)
{
	u8 tid;

	if (!ieee80211_is_data_qos(hdr->frame_control)) {
		register_received(d, o);
		*o = (struct origin){ 0 };
		return;
	}
	tid = ieee80211_get_tid((struct ieee80211_hdr *)hdr);
	if (o->sta && o->tid == tid && !memcmp(o->addr, &hdr->addrs, sizeof(o->addr)))
		return;
	register_received(d, o);
	memcpy(o->addr, &hdr->addrs, sizeof(o->addr));
	o->tid = tid;
	o->sta = ieee80211_find_sta_by_ifaddr(d->hw, hdr->addr2, hdr->addr1);
}

/* IP gets all frames of this time together. */
static void pass_received(struct driver *d, struct sk_buff_head *received)
{
	struct origin origin = { 0 };
	struct sk_buff *skb;
	LIST_HEAD(list);

	while ((skb = __skb_dequeue(received))) {
		find_origin(d, &origin, (void *)skb->data);
		origin.airtime_us += DIV_ROUND_CLOSEST(skb->mark, 1000);
		skb->mark = 0;
		ieee80211_rx_list(d->hw, origin.sta, skb, &list);
	}
	register_received(d, &origin);
	together_pass(d, &list);
}

static void reports_free(struct air *air, struct reports *reports)
{
	struct mpdu *m, *next;
	struct sent *s, *after;
	unsigned long flags;

	spin_lock_irqsave(&air->lock, flags);
	list_for_each_entry_safe(m, next, &reports->done, list) {
		if (m->session && m->session->lost == m)
			m->session->lost = NULL;
		mpdu_free(m);
	}
	list_for_each_entry_safe(s, after, &reports->sent, list) {
		session_put(s->session);
		kfree(s);
	}
	spin_unlock_irqrestore(&air->lock, flags);
}

static void reports_take(struct driver *d, struct reports *reports)
{
	unsigned long flags;

	__skb_queue_head_init(&reports->received);
	INIT_LIST_HEAD(&reports->done);
	INIT_LIST_HEAD(&reports->sent);
	spin_lock_irqsave(&d->air->lock, flags);
	skb_queue_splice_init(&d->received, &reports->received);
	list_splice_init(&d->done, &reports->done);
	list_splice_init(&d->sent, &reports->sent);
	spin_unlock_irqrestore(&d->air->lock, flags);
}

/* Frames from mac80211. */

static struct peer *peer_of(struct ieee80211_sta *sta)
{
	return sta ? *(struct peer **)sta->drv_priv : NULL;
}

/* The attempts of a frame without a session in a fixed mode. */
#define FIXED_TRIES 10

static u32 data_ns(const struct driver *d, u16 place)
{
	return mode_at_ns(modes_at(d->air->modes, place), 100000);
}

/* The slower one of the two ends' fixed modes. */
static u16 fixed_mode(const struct driver *d, const struct ieee80211_sta *sta, const struct peer *peer)
{
	u16 place = d->fixed, other = 0;

	if (peer->station != DCF_NOBODY)
		other = d->air->radio[peer->station].fixed;
	if (other && data_ns(d, other) > data_ns(d, place))
		place = other;
	return modes_fit(d->air->modes, place, sta) ? place : 0;
}

/* The lowest MCS with all streams and the width that both have. */
static u16 lowest_he(const struct driver *d, const struct ieee80211_sta *sta)
{
	const struct driver_traits *t = &d->traits;
	int mode = modes_find(d->air->modes, DCF_HE, 0, min(sta->deflink.rx_nss, t->streams),
			      min_t(u16, 20 << sta->deflink.bandwidth, t->width_mhz), t->guard_ns);

	return max(mode, 0);
}

u16 mpdu_mode(const struct driver *d, struct ieee80211_sta *sta)
{
	struct peer *peer = peer_of(sta);
	unsigned long flags;

	if (!peer)
		return 0;
	if (d->fixed)
		return fixed_mode(d, sta, peer);
	if (d->traits.format != DCF_HE || !sta->deflink.he_cap.has_he)
		return 0;
	if (!READ_ONCE(peer->mode)) {
		spin_lock_irqsave(&d->air->lock, flags);
		ladder_begin(&peer->ladder);
		WRITE_ONCE(peer->mode, lowest_he(d, sta));
		spin_unlock_irqrestore(&d->air->lock, flags);
	}
	return READ_ONCE(peer->mode);
}

/* Keys use mac80211's rate control. */
static bool is_data(struct sk_buff *skb)
{
	const struct ieee80211_hdr *hdr = (const void *)skb->data;

	return ieee80211_is_data_qos(hdr->frame_control) &&
	       !(IEEE80211_SKB_CB(skb)->control.flags & IEEE80211_TX_CTRL_PORT_CTRL_PROTO);
}

/* mac80211 compares each frame with the RTS threshold. It leaves it to drivers to heed that for modes with an MCS. */
static bool wants_rts(const struct ieee80211_tx_info *info, const struct ieee80211_tx_rate *rate)
{
	return rate->flags & IEEE80211_TX_RC_USE_RTS_CTS ||
	       (info->control.use_rts && rate->flags & (IEEE80211_TX_RC_MCS | IEEE80211_TX_RC_VHT_MCS));
}

/* The stages of a frame by mac80211's rates. false: there is no such mode. */
static bool set_stages(const struct driver *d, const struct ieee80211_tx_info *info, struct mpdu *m)
{
	int i, mode = -1;

	for (i = 0; i < DCF_STAGES && m->rates[i].idx >= 0; i++) {
		mode = modes_of_rate(d->air->modes, &m->rates[i], m->frame.freq);
		if (mode < 0)
			break;
		m->frame.stage[i] = (struct dcf_stage){
			.mode = mode,
			.count = m->rates[i].count ?: 1,
			.rts = wants_rts(info, &m->rates[i]),
			.cts_to_self = m->rates[i].flags & IEEE80211_TX_RC_USE_CTS_PROTECT,
			.short_preamble = m->rates[i].flags & IEEE80211_TX_RC_USE_SHORT_PREAMBLE,
		};
	}
	return mode >= 0;
}

/* Only the first stage, in the fixed mode, with the protection that the rate control wants. */
static void fix_stage(const struct driver *d, struct mpdu *m, u16 mode)
{
	memset(&m->frame.stage[1], 0, sizeof(m->frame.stage) - sizeof(m->frame.stage[0]));
	m->frame.stage[0].mode = mode;
	m->frame.stage[0].count = FIXED_TRIES;
	m->fixed = true;
	if (!modes_is_beyond(d->air->modes, mode))
		modes_to_rate(d->air->modes, mode, &m->rates[0]);
}

/* Does the BSS ask for protection of PPDUs of this mode (HT Protection, IEEE 802.11-2020, 10.27.3)? */
static bool is_protected(const struct driver *d, const struct ieee80211_vif *vif, u16 place)
{
	const struct dcf_mode *mode = modes_at(d->air->modes, place);

	if (!d->traits.protection || !vif || mode->format < DCF_HT)
		return false;
	switch (vif->bss_conf.ht_operation_mode & IEEE80211_HT_OP_MODE_PROTECTION) {
	case IEEE80211_HT_OP_MODE_PROTECTION_NONMEMBER:
	case IEEE80211_HT_OP_MODE_PROTECTION_NONHT_MIXED:
		return true;
	case IEEE80211_HT_OP_MODE_PROTECTION_20MHZ:
		return mode->doublings;
	}
	return false;
}

/* The attempts of @m. false: there is no such rate. */
static bool choose_attempts(struct driver *d, struct ieee80211_sta *sta, struct mpdu *m)
{
	struct ieee80211_tx_info *info = IEEE80211_SKB_CB(m->skb);
	u16 mode;
	int i;

	if (sta)
		ieee80211_get_tx_rates(info->control.vif, sta, m->skb, m->rates, DCF_STAGES);
	else
		memcpy(m->rates, info->control.rates, sizeof(m->rates));
	if (!set_stages(d, info, m))
		return false;
	mode = sta && is_data(m->skb) ? mpdu_mode(d, sta) : 0;
	if (mode)
		fix_stage(d, m, mode);
	else
		m->frame.alone = info->flags & IEEE80211_TX_CTL_RATE_CTRL_PROBE;
	for (i = 0; i < DCF_STAGES && m->frame.stage[i].count; i++)
		m->frame.stage[i].rts |= is_protected(d, info->control.vif, m->frame.stage[i].mode);
	return true;
}

/* Does mac80211 want the same attempts for both, which are data of one agreement? */
static bool is_like(struct sk_buff *skb, struct sk_buff *other)
{
	const struct ieee80211_tx_info *a = IEEE80211_SKB_CB(skb), *b = IEEE80211_SKB_CB(other);

	return a->flags == b->flags && a->control.flags == b->control.flags && a->control.vif == b->control.vif &&
	       a->control.use_rts == b->control.use_rts && a->control.use_cts_prot == b->control.use_cts_prot &&
	       a->control.short_preamble == b->control.short_preamble && a->control.skip_table == b->control.skip_table &&
	       !memcmp(a->control.rates, b->control.rates, sizeof(a->control.rates));
}

/*
 * @before: the previous one of its aggregate, or NULL. Returns NULL and frees the
 * frame if there is no memory, or no such rate.
 */
static struct mpdu *mpdu_new(struct driver *d, struct ieee80211_sta *sta, struct sk_buff *skb,
			     const struct mpdu *before)
{
	struct ieee80211_tx_info *info = IEEE80211_SKB_CB(skb);
	struct mpdu *m = kzalloc(sizeof(*m), GFP_ATOMIC);

	if (!m || skb_linearize(skb))
		goto drop;
	m->skb = skb;
	m->frame.freq = d->hw->conf.chandef.chan->center_freq;
	if (before && is_like(skb, before->skb)) {
		memcpy(m->rates, before->rates, sizeof(m->rates));
		memcpy(m->frame.stage, before->frame.stage, sizeof(m->frame.stage));
		m->fixed = before->fixed;
	} else if (!choose_attempts(d, sta, m)) {
		d->air->refused_frames++;
		goto drop;
	}
	m->frame.bytes = skb->data;
	m->frame.len = skb->len;
	m->frame.no_ack = info->flags & IEEE80211_TX_CTL_NO_ACK;
	m->peer = peer_of(sta);
	return m;
drop:
	kfree(m);
	ieee80211_free_txskb(d->hw, skb);
	return NULL;
}

/* With air->lock held. */
static void mpdu_hold(struct driver *d, struct mpdu *m)
{
	if (m->peer)
		m->peer->uses++;
	if (m->session) {
		m->session->uses++;
		m->frame.session = &m->session->core;
	}
	d->held++;
}

/* The same. */
static void mpdu_enqueue(struct driver *d, struct mpdu *m, u64 now)
{
	d->air->frames++;
	dcf_enqueue(d->air->dcf, d->station, &m->frame, now);
}

void mpdu_send(struct driver *d, struct ieee80211_sta *sta, struct sk_buff *skb, bool later)
{
	const struct ieee80211_bar *bar = (void *)skb->data;
	struct mpdu *m = mpdu_new(d, sta, skb, NULL);
	unsigned long flags;

	if (!m)
		return;
	spin_lock_irqsave(&d->air->lock, flags);
	if (m->peer && ieee80211_is_back_req(bar->frame_control)) /* its window determines the length of the response */
		m->session = m->peer->session[le16_get_bits(bar->control, IEEE80211_BAR_CTRL_TID_INFO_MASK)];
	mpdu_hold(d, m);
	if (later)
		list_add_tail(&m->list, &d->waiting);
	else
		mpdu_enqueue(d, m, air_now());
	air_arm(d->air);
	spin_unlock_irqrestore(&d->air->lock, flags);
}

void mpdu_release(struct driver *d)
{
	struct mpdu *m, *next;
	unsigned long flags;

	spin_lock_irqsave(&d->air->lock, flags);
	list_for_each_entry_safe(m, next, &d->waiting, list) {
		list_del(&m->list);
		mpdu_enqueue(d, m, air_now());
	}
	air_arm(d->air);
	spin_unlock_irqrestore(&d->air->lock, flags);
}

/* The number of MPDUs of the agreement that fit its window. */
static u16 window_left(const struct dcf_session *session)
{
	u16 span = sequence_from(READ_ONCE(session->start), READ_ONCE(session->next));

	return span < session->window ? session->window - span : 0;
}

/* Take an aggregate from a queue. false: nothing can be taken now. */
static bool take_aggregate(struct driver *d, struct ieee80211_txq *txq)
{
	struct peer *peer = peer_of(txq->sta);
	struct prepared *prepared = &d->prepared[txq->ac];
	struct session *session = NULL;
	struct ampdu ppdu = { 0 }, more;
	struct mpdu *m, *next, *before = NULL;
	const struct dcf_mode *mode;
	unsigned long flags;
	struct sk_buff *skb;
	LIST_HEAD(taken);
	u16 count = 0, left = 0;
	u64 now;

	if (peer && txq->tid < IEEE80211_NUM_TIDS)
		session = READ_ONCE(peer->session[txq->tid]);
	if (session)
		left = window_left(&session->core);
	if (session && !left && !d->traits.fifo)
		return false;
	while ((skb = ieee80211_tx_dequeue(d->hw, txq))) {
		m = mpdu_new(d, txq->sta, skb, before);
		if (!m)
			continue;
		list_add_tail(&m->list, &taken);
		count++;
		if (!session || !(IEEE80211_SKB_CB(skb)->flags & IEEE80211_TX_CTL_AMPDU))
			break;
		m->session = session;
		before = m;
		if (m->frame.alone || d->traits.fifo)
			break;
		mode = modes_at(d->air->modes, m->frame.stage[0].mode);
		ppdu = ampdu_with(&ppdu, mode, session->core.limits.spacing_ns, m->frame.len + FCS);
		more = ampdu_with(&ppdu, mode, session->core.limits.spacing_ns, m->frame.len + FCS);
		if (count >= left || !ampdu_fits(&more, mode, &session->core.limits, MODE_MAX_NS))
			break;
	}
	if (!count)
		return false;
	spin_lock_irqsave(&d->air->lock, flags);
	prepared_add(d, prepared, count);
	now = air_now();
	list_for_each_entry_safe(m, next, &taken, list) {
		m->prepared = !m->session;
		m->ac = txq->ac;
		mpdu_hold(d, m);
		mpdu_enqueue(d, m, now);
	}
	air_arm(d->air);
	spin_unlock_irqrestore(&d->air->lock, flags);
	return true;
}

static bool has_room(const struct driver *d, u8 ac)
{
	const struct prepared *p = &d->prepared[ac];

	if (d->traits.fifo)
		return !READ_ONCE(p->count) || READ_ONCE(p->mpdus[0]) < d->traits.fifo;
	return READ_ONCE(p->count) < d->traits.depth;
}

static void take_frames(struct driver *d, u8 ac)
{
	struct ieee80211_txq *txq;
	bool any = true;

	while (any && has_room(d, ac)) {
		any = false;
		ieee80211_txq_schedule_start(d->hw, ac);
		while (has_room(d, ac) && (txq = ieee80211_next_txq(d->hw, ac))) {
			any |= take_aggregate(d, txq);
			ieee80211_return_txq(d->hw, txq, false);
		}
		ieee80211_txq_schedule_end(d->hw, ac);
	}
}

static void mpdu_work(struct tasklet_struct *work)
{
	struct driver *d = from_tasklet(d, work, work);
	struct reports reports;
	struct mpdu *m;
	struct sent *s;
	u8 ac;

	reports_take(d, &reports);
	rcu_read_lock();
	list_for_each_entry(s, &reports.sent, list)
		pass_sent(d, s);
	list_for_each_entry(m, &reports.done, list)
		pass_done(d, m);
	pass_received(d, &reports.received);
	reports_free(d->air, &reports);
	for (ac = 0; ac < IEEE80211_NUM_ACS; ac++)
		take_frames(d, ac);
	rcu_read_unlock();
	if (d->hw->conf.flags & IEEE80211_CONF_IDLE)
		driver_rest_later(d);
}

void mpdu_init(struct driver *d)
{
	__skb_queue_head_init(&d->received);
	INIT_LIST_HEAD(&d->done);
	INIT_LIST_HEAD(&d->sent);
	INIT_LIST_HEAD(&d->waiting);
	init_waitqueue_head(&d->emptied);
	tasklet_setup(&d->work, mpdu_work);
}

void mpdu_close(struct driver *d)
{
	struct reports reports;
	struct mpdu *m;

	reports_take(d, &reports);
	list_splice_init(&d->waiting, &reports.done);
	__skb_queue_purge(&reports.received);
	list_for_each_entry(m, &reports.done, list)
		dev_kfree_skb_any(m->skb);
	reports_free(d->air, &reports);
}
