// SPDX-License-Identifier: GPL-2.0-only
/*
 * The edge to mac80211_hwsim: its netlink messages, which two queues of a virtio
 * device carry. Queue 0 brings frames, and which addresses a radio answers to;
 * queue 1 takes receptions and transmission reports.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "air.h"
#include "wire/message.h"

/* Large enough for a FRAME message of DCF_MAX_LEN bytes. */
#define MAX_MESSAGE (MESSAGE_HEADER + DCF_MAX_LEN + 128)

/* A frame of hwsim's, as the core holds it. */
struct held {
	struct dcf_frame frame;
	u64 cookie;
	u32 flags;
	struct tx_rate rates[DCF_STAGES];
	u8 bytes[];
};

static u8 *put_attr(u8 *at, int type, const void *data, u32 len)
{
	struct nlattr *a = (void *)at;

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy(nla_data(a), data, len);
	memset(nla_data(a) + len, 0, nla_padlen(len));
	return at + NLA_ALIGN(a->nla_len);
}

static u8 *put_u32(u8 *at, int type, u32 value)
{
	return put_attr(at, type, &value, sizeof(value));
}

/* A buffer to write a message to hwsim into: its own, or one of ours when it has none free. */
static u8 *message_begin(struct air *air, int cmd, u16 *head, struct backlog **wait)
{
	struct genlmsghdr *genl;
	u8 *msg = NULL;
	u32 size;

	*wait = NULL;
	if (list_empty(&air->backlog)) /* else order would be lost */
		msg = vdev_take(air, QUEUE_RX, head, &size);
	if (!msg) {
		*wait = kmalloc(sizeof(**wait) + MAX_MESSAGE, GFP_ATOMIC);
		if (!*wait)
			return NULL;
		msg = (*wait)->bytes;
	}
	memset(msg, 0, MESSAGE_HEADER);
	genl = nlmsg_data((struct nlmsghdr *)msg);
	genl->cmd = cmd;
	genl->version = 1;
	return msg;
}

static void message_end(struct air *air, u8 *msg, u8 *end, u16 head, struct backlog *wait)
{
	u32 len = end - msg;

	((struct nlmsghdr *)msg)->nlmsg_len = len;
	if (!wait) {
		vdev_give(air, QUEUE_RX, head, len);
		return;
	}
	wait->len = len;
	list_add_tail(&wait->list, &air->backlog);
}

void hwsim_give(struct air *air)
{
	struct backlog *wait, *next;
	u16 head;
	u32 size;
	u8 *msg;

	list_for_each_entry_safe(wait, next, &air->backlog, list) {
		msg = vdev_take(air, QUEUE_RX, &head, &size);
		if (!msg)
			return;
		memcpy(msg, wait->bytes, min(wait->len, size));
		vdev_give(air, QUEUE_RX, head, min(wait->len, size));
		list_del(&wait->list);
		kfree(wait);
	}
}

void hwsim_forget(struct air *air)
{
	struct backlog *wait, *next;

	list_for_each_entry_safe(wait, next, &air->backlog, list) {
		list_del(&wait->list);
		kfree(wait);
	}
}

static void deliver(void *edge, u16 to, const struct dcf_frame *f, u16 rate, s32 power_mdbm)
{
	struct air *air = edge;
	struct backlog *wait;
	u8 *msg, *at;
	u16 head = 0;

	msg = message_begin(air, CMD_FRAME, &head, &wait);
	if (!msg)
		return; /* no memory: as if noise had taken it, and hwsim would have had none either */
	at = put_attr(msg + MESSAGE_HEADER, ATTR_RECEIVER, air->radio[to].addr, ETH_ALEN);
	at = put_attr(at, ATTR_FRAME, f->bytes, f->len);
	at = put_u32(at, ATTR_RX_RATE, rate_to_hwsim(rate, f->freq));
	at = put_u32(at, ATTR_SIGNAL, power_mdbm / 1000);
	at = put_u32(at, ATTR_FREQ, f->freq);
	message_end(air, msg, at, head, wait);
}

static void report(struct air *air, const u8 *transmitter, u64 cookie, u32 flags, const struct tx_rate *rates)
{
	struct backlog *wait;
	u8 *msg, *at;
	u16 head = 0;

	msg = message_begin(air, CMD_TX_INFO, &head, &wait);
	if (!msg)
		return;
	at = put_attr(msg + MESSAGE_HEADER, ATTR_TRANSMITTER, transmitter, ETH_ALEN);
	at = put_u32(at, ATTR_FLAGS, flags);
	at = put_u32(at, ATTR_SIGNAL, 0);
	at = put_attr(at, ATTR_TX_INFO, rates, DCF_STAGES * sizeof(*rates));
	at = put_attr(at, ATTR_COOKIE, &cookie, sizeof(cookie));
	message_end(air, msg, at, head, wait);
}

static void done(void *edge, u16 station, struct dcf_frame *f, enum dcf_reason why)
{
	struct held *h = container_of(f, struct held, frame);
	struct air *air = edge;
	int i;

	for (i = 0; i < DCF_STAGES; i++) {
		h->rates[i].count = f->used[i];
		if (!f->used[i])
			h->rates[i].idx = -1;
	}
	report(air, air->radio[station].addr, h->cookie, h->flags | (why == DCF_ACKED ? FLAG_ACKED : 0), h->rates);
	kfree(h);
}

const struct dcf_ops hwsim_dcf_ops = { .deliver = deliver, .done = done, .record = trace_record };

static int find_radio(const struct air *air, const u8 *addr)
{
	int i;

	for (i = 0; i < air->stations; i++)
		if (air->radio[i].named && ether_addr_equal_unaligned(air->radio[i].addr, addr))
			return i;
	return -1;
}

static void take_frame(struct air *air, const struct message *m, u64 now)
{
	int station = find_radio(air, m->transmitter);
	struct held *h = NULL;

	if (station >= 0 && m->stage[0].rate && m->len >= DCF_HDR_LEN && m->len <= DCF_MAX_LEN)
		h = kzalloc(sizeof(*h) + m->len, GFP_ATOMIC);
	if (!h) {
		if (station < 0)
			air->unknown_radios++;
		else if (!air->refused_frames++)
			pr_err(DCF80211_NAME ": refused a frame of station %d: only the legacy rates of 802.11a/b/g are modelled; fix the rates (iw dev DEV set bitrates legacy-2.4 ...) or disable HT\n",
			       station);
		report(air, m->transmitter, m->cookie, m->flags, m->rates); /* it must not stay in hwsim's queue */
		return;
	}
	memcpy(h->bytes, m->frame, m->len);
	memcpy(h->rates, m->rates, sizeof(h->rates));
	memcpy(h->frame.stage, m->stage, sizeof(h->frame.stage));
	h->cookie = m->cookie;
	h->flags = m->flags;
	h->frame.bytes = h->bytes;
	h->frame.len = m->len;
	h->frame.freq = m->freq;
	h->frame.no_ack = m->flags & FLAG_NO_ACK;
	air->frames++;
	dcf_enqueue(air->dcf, station, &h->frame, now);
}

static void take_message(struct air *air, const void *buffer, u32 size, u64 now)
{
	struct message m;
	int station;

	switch (message_read(&m, buffer, size)) {
	case MESSAGE_FRAME:
		return take_frame(air, &m, now);
	case MESSAGE_ADD_ADDR:
		station = find_radio(air, m.transmitter);
		if (station >= 0)
			dcf_add_address(air->dcf, station, m.receiver);
		return;
	case MESSAGE_DEL_ADDR:
		station = find_radio(air, m.transmitter);
		if (station >= 0)
			dcf_del_address(air->dcf, station, m.receiver);
		return;
	case MESSAGE_BROKEN:
		air->refused_frames++;
		return;
	case MESSAGE_OTHER:
		return;
	}
}

void hwsim_take(struct air *air, u64 now)
{
	void *buffer;
	u32 size;
	u16 head;

	while ((buffer = vdev_take(air, QUEUE_TX, &head, &size))) {
		take_message(air, buffer, size, now);
		vdev_give(air, QUEUE_TX, head, 0);
	}
}
