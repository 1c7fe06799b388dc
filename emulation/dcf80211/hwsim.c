// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interface to mac80211_hwsim: its netlink messages, carried by two queues
 * of a virtio device. Queue 0 brings frames, and the addresses of radios. Queue
 * 1 takes receptions and transmission reports.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "air.h"
#include "wire/message.h"

/* Enough for a TX_INFO message, or for a FRAME without its frame. */
#define MESSAGE_ROOM (MESSAGE_HEADER + 128)
/* Limit of waiting messages; at the limit deliveries are lost, and hwsim's frames stay in their queue. */
#define MOST_WAITING 4096
/* Offset of the transmitter's address in a frame. */
#define ADDR2 10
/* Frame Control of a beacon: the radio itself sends it at its time. */
#define BEACON 0x80

/* A frame of hwsim's while the core has it. */
struct held {
	struct dcf_frame frame;
	struct list_head list; /* until it arrives at its station's MAC */
	u64 due_ns;
	u16 station;
	struct backlog *report; /* allocated first, so that the end can always be reported to hwsim */
	u64 cookie;
	u32 flags;
	struct heard heard;
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

/* Allocate a message of @room bytes; NULL: there is no memory. */
static struct backlog *message_new(u32 room)
{
	return kmalloc(sizeof(struct backlog) + room, GFP_ATOMIC);
}

static u8 *message_begin(u8 *bytes, int cmd)
{
	struct genlmsghdr *genl = nlmsg_data((struct nlmsghdr *)bytes);

	memset(bytes, 0, MESSAGE_HEADER);
	genl->cmd = cmd;
	genl->version = 1;
	return bytes + MESSAGE_HEADER;
}

/* Complete a message and return its length. */
static u32 message_end(u8 *bytes, const u8 *end)
{
	return ((struct nlmsghdr *)bytes)->nlmsg_len = end - bytes;
}

static void message_wait(struct air *air, struct backlog *message, const u8 *end)
{
	message->len = message_end(message->bytes, end);
	list_add_tail(&message->list, &air->backlog);
	air->waiting++;
	/*
	 * Pairs with virtqueue_kick_prepare(): a driver that adds a buffer after we have
	 * found none sees the waiting message.
	 */
	smp_mb();
	if (!air->hushed)
		hwsim_give(air);
}

static void message_free(struct air *air, struct backlog *message)
{
	list_del(&message->list);
	air->waiting--;
	kfree(message);
}

void hwsim_give(struct air *air)
{
	struct backlog *message, *next;
	u16 head;
	u32 size;
	u8 *at;

	list_for_each_entry_safe(message, next, &air->backlog, list) {
		at = vdev_take(air, QUEUE_RX, &head, &size);
		if (!at)
			return;
		if (message->len <= size) {
			memcpy(at, message->bytes, message->len);
			size = message->len;
		} else {
			size = 0;
			air->lost_messages++;
		}
		vdev_give(air, QUEUE_RX, head, size);
		message_free(air, message);
	}
}

void hwsim_forget(struct air *air)
{
	struct backlog *message, *next;
	struct held *h, *after;

	list_for_each_entry_safe(message, next, &air->backlog, list)
		message_free(air, message);
	list_for_each_entry_safe(h, after, &air->arriving, list) {
		list_del(&h->list);
		kfree(h->report);
		kfree(h);
	}
	kfree(air->report);
	air->report = NULL;
}

static u8 *put_reception(u8 *bytes, const u8 *receiver, const struct dcf_frame *f, u16 mode, s32 power_mdbm)
{
	u8 *at = put_attr(message_begin(bytes, CMD_FRAME), ATTR_RECEIVER, receiver, ETH_ALEN);

	at = put_attr(at, ATTR_FRAME, f->bytes, f->len);
	at = put_u32(at, ATTR_RX_RATE, rate_to_hwsim(mode, f->freq));
	at = put_u32(at, ATTR_SIGNAL, message_dbm(power_mdbm));
	return put_u32(at, ATTR_FREQ, f->freq);
}

/*
 * Pass an overheard frame to mac80211, if hwsim has handled all that came before. Write any other directly into a
 * buffer of hwsim's, if no message waits for one and it is large enough.
 */
static void hwsim_deliver(void *edge, u16 to, const struct dcf_frame *f, u16 mode, s32 power_mdbm)
{
	struct air *air = edge;
	const u8 *receiver = air->radio[to].addr;
	struct backlog *message = NULL;
	u16 head;
	u32 size;
	u8 *at;

	if (air->in_timer && list_empty(&air->backlog) && vdev_rests(air) &&
	    overhear_take(air, to, f, &container_of(f, struct held, frame)->heard, mode, power_mdbm))
		return;
	at = list_empty(&air->backlog) && !air->hushed ? vdev_take(air, QUEUE_RX, &head, &size) : NULL;
	if (at && MESSAGE_ROOM + f->len <= size) {
		size = message_end(at, put_reception(at, receiver, f, mode, power_mdbm));
		return vdev_give(air, QUEUE_RX, head, size);
	}
	if (at)
		vdev_give(air, QUEUE_RX, head, 0);
	else if (air->waiting < MOST_WAITING)
		message = message_new(MESSAGE_ROOM + f->len);
	if (message)
		message_wait(air, message, put_reception(message->bytes, receiver, f, mode, power_mdbm));
	else
		air->lost_messages++;
}

static void hwsim_report(struct air *air, struct backlog *message, const u8 *transmitter, u64 cookie, u32 flags,
			 const struct tx_rate *rates)
{
	u8 *at = put_attr(message_begin(message->bytes, CMD_TX_INFO), ATTR_TRANSMITTER, transmitter, ETH_ALEN);

	at = put_u32(at, ATTR_FLAGS, flags);
	at = put_u32(at, ATTR_SIGNAL, 0);
	at = put_attr(at, ATTR_TX_INFO, rates, DCF_STAGES * sizeof(*rates));
	at = put_attr(at, ATTR_COOKIE, &cookie, sizeof(cookie));
	message_wait(air, message, at);
}

static void hwsim_done(void *edge, u16 station, struct dcf_frame *f, enum dcf_reason why)
{
	struct held *h = container_of(f, struct held, frame);
	struct air *air = edge;
	int i;

	for (i = 0; i < DCF_STAGES; i++) {
		h->rates[i].count = f->used[i];
		if (!f->used[i])
			h->rates[i].idx = -1;
	}
	/*
	 * hwsim has no status for a frame that was never sent. mac80211 takes a frame
	 * without an ACK as a sign of a bad link; two dozen in a row break a mesh link.
	 * A full queue says nothing about a link, so such a frame is reported as
	 * acknowledged.
	 */
	hwsim_report(air, h->report, air->radio[station].addr, h->cookie,
		     h->flags | (why == DCF_ACKED || why == DCF_QUEUE_FULL ? FLAG_ACKED : 0), h->rates);
	overhear_forget(&h->heard);
	kfree(h);
}

const struct dcf_ops hwsim_dcf_ops = { .deliver = hwsim_deliver, .done = hwsim_done, .record = trace_record };

static int find_radio(const struct air *air, const u8 *addr)
{
	int i;

	for (i = 0; i < air->stations; i++)
		if (air->radio[i].named && ether_addr_equal_unaligned(air->radio[i].addr, addr))
			return i;
	return -1;
}

/*
 * A radio whose interface has a new address keeps the name that hwsim gave it,
 * which user space cannot read. So if a station was named by an address, the
 * first message with this address tells the radio's name.
 */
static int find_or_learn(struct air *air, const u8 *name, const u8 *addr)
{
	int station = find_radio(air, name);
	u8 perm[ETH_ALEN];
	int i;

	for (i = 0; i < air->stations && station < 0; i++) {
		radio_perm_addr(perm, air->radio[i].addr);
		if (air->radio[i].named && ether_addr_equal_unaligned(perm, addr))
			station = i;
	}
	if (station >= 0 && i) {
		raw_spin_lock(&air->edca_lock);
		memcpy(air->radio[station].addr, name, ETH_ALEN);
		raw_spin_unlock(&air->edca_lock);
	}
	return station;
}

u64 hwsim_next(struct air *air)
{
	const struct held *h = list_first_entry_or_null(&air->arriving, struct held, list);

	return h ? h->due_ns : DCF_NEVER;
}

void hwsim_arrive(struct air *air, u64 now)
{
	struct held *h, *after;

	list_for_each_entry_safe(h, after, &air->arriving, list) {
		if (h->due_ns > now)
			return;
		list_del(&h->list);
		dcf_enqueue(air->dcf, h->station, &h->frame, now);
	}
}

/*
 * Hold a frame up for as long as the station's computer takes from an event to
 * its frame. Frames of one instant share a delay, and all keep their order.
 */
static void hold_up(struct air *air, struct held *h, u64 now)
{
	struct radio *r = &air->radio[h->station];
	struct held *before;

	if (r->handed_ns != now)
		r->due_ns = max(r->due_ns, now + air_host_delay(air, h->station));
	r->handed_ns = now;
	h->due_ns = r->due_ns;
	list_for_each_entry_reverse(before, &air->arriving, list)
		if (before->due_ns <= h->due_ns)
			break;
	list_add(&h->list, &before->list);
}

static void take_frame(struct air *air, const struct message *m, u64 now)
{
	int station = m->len < DCF_HDR_LEN ? find_radio(air, m->transmitter) :
					     find_or_learn(air, m->transmitter, m->frame + ADDR2);
	int i;
	struct backlog *message = air->report;
	struct held *h = NULL;

	air->report = NULL;
	if (station < 0) {
		air->unknown_radios++;
	} else if (!m->stage[0].count || m->len < DCF_HDR_LEN || m->len > DCF_MAX_LEN) {
		if (!air->refused_frames++)
			pr_err(DCF80211_NAME ": refused a frame of station %d: only the legacy rates of 802.11a/b/g are modelled; fix the rates (iw dev DEV set bitrates legacy-2.4 ...) or disable HT\n",
			       station);
	} else {
		h = kzalloc(sizeof(*h) + m->len, GFP_ATOMIC);
		air->lost_messages += !h;
	}
	if (!h) {
		/* The frame must not stay in hwsim's queue. */
		hwsim_report(air, message, m->transmitter, m->cookie, m->flags, m->rates);
		return;
	}
	memcpy(h->bytes, m->frame, m->len);
	memcpy(h->rates, m->rates, sizeof(h->rates));
	memcpy(h->frame.stage, m->stage, sizeof(h->frame.stage));
	for (i = 0; i < DCF_STAGES && air->short_preamble; i++)
		h->frame.stage[i].short_preamble = true;
	h->report = message;
	h->cookie = m->cookie;
	h->flags = m->flags;
	h->frame.bytes = h->bytes;
	h->frame.len = m->len;
	h->frame.freq = m->freq;
	h->frame.no_ack = m->flags & FLAG_NO_ACK;
	air->frames++;
	h->station = station;
	if (air->host_delay_ns && h->bytes[0] != BEACON)
		hold_up(air, h, now);
	else
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
		station = find_or_learn(air, m.transmitter, m.receiver);
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

/* Allocate the report of the next frame; a frame is only taken if its end can be reported. */
static bool can_report(struct air *air)
{
	if (!air->report)
		air->report = message_new(MESSAGE_ROOM);
	air->starved = !air->report;
	return air->report;
}

void hwsim_take(struct air *air, u64 now)
{
	void *buffer;
	u32 size;
	u16 head;

	while (air->waiting < MOST_WAITING && can_report(air) && (buffer = vdev_take(air, QUEUE_TX, &head, &size))) {
		take_message(air, buffer, size, now);
		vdev_give(air, QUEUE_TX, head, 0);
	}
}
