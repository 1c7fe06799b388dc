// SPDX-License-Identifier: GPL-2.0-only
/*
 * The edge to mac80211_hwsim: a virtio device (id 29) whose two queues carry
 * hwsim's netlink messages. Queue 0 brings frames, and which addresses a radio
 * answers to; queue 1 takes receptions and transmission reports. Both sides are
 * in this kernel, so a descriptor's address is a physical address of ours.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_ring.h>
#include <net/genetlink.h>

#include "air.h"
#include "wire/message.h"

#define RING_SIZE 256
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

/* The device's side of a split ring. NULL: the driver has left nothing more. */
static void *ring_take(struct air *air, int q, u16 *head, u32 *size)
{
	const struct vring *r = virtqueue_get_vring(air->queue[q].vq);

	if (le16_to_cpu((__force __le16)READ_ONCE(r->avail->idx)) == air->queue[q].seen)
		return NULL;
	rmb(); /* index before entry */
	*head = le16_to_cpu((__force __le16)r->avail->ring[air->queue[q].seen++ % r->num]);
	*size = le32_to_cpu((__force __le32)r->desc[*head].len);
	return phys_to_virt(le64_to_cpu((__force __le64)r->desc[*head].addr));
}

static void ring_give(struct air *air, int q, u16 head, u32 len)
{
	const struct vring *r = virtqueue_get_vring(air->queue[q].vq);
	u16 i = le16_to_cpu((__force __le16)r->used->idx);

	r->used->ring[i % r->num].id = (__force __virtio32)cpu_to_le32(head);
	r->used->ring[i % r->num].len = (__force __virtio32)cpu_to_le32(len);
	wmb(); /* entry before index */
	r->used->idx = (__force __virtio16)cpu_to_le16(i + 1);
	air->queue[q].used = true;
}

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
		msg = ring_take(air, QUEUE_RX, head, &size);
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
		ring_give(air, QUEUE_RX, head, len);
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
		msg = ring_take(air, QUEUE_RX, &head, &size);
		if (!msg)
			return;
		memcpy(msg, wait->bytes, min(wait->len, size));
		ring_give(air, QUEUE_RX, head, min(wait->len, size));
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

	while ((buffer = ring_take(air, QUEUE_TX, &head, &size))) {
		take_message(air, buffer, size, now);
		ring_give(air, QUEUE_TX, head, 0);
	}
}

void hwsim_interrupt(struct air *air)
{
	int q;

	for (q = 0; q < QUEUES && air->running; q++) {
		if (air->queue[q].used)
			vring_interrupt(0, air->queue[q].vq);
		air->queue[q].used = false;
	}
}

static struct air *air_of(struct virtio_device *vdev)
{
	return container_of(vdev, struct air, vdev);
}

static bool notify(struct virtqueue *vq)
{
	struct air *air = air_of(vq->vdev);

	/* hwsim refills queue 1 after each message: of interest only if something waits for it. */
	if (vq == air->queue[QUEUE_TX].vq || !list_empty_careful(&air->backlog))
		air_kick(air);
	return true;
}

static int make_queue(struct virtio_device *vdev, int i, struct virtqueue **out, vq_callback_t *callback, const char *name)
{
	struct air *air = air_of(vdev);

	*out = vring_create_virtqueue(i, RING_SIZE, PAGE_SIZE, vdev, true, false, false, notify, callback, name);
	air->queue[i].vq = *out;
	air->queue[i].seen = 0;
	return *out ? 0 : -ENOMEM;
}

static void del_vqs(struct virtio_device *vdev)
{
	struct air *air = air_of(vdev);
	int i;

	for (i = 0; i < QUEUES; i++) {
		if (air->queue[i].vq)
			vring_del_virtqueue(air->queue[i].vq);
		air->queue[i].vq = NULL;
	}
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static int find_vqs(struct virtio_device *vdev, unsigned int n, struct virtqueue *vqs[], struct virtqueue_info info[],
		    struct irq_affinity *affinity)
#define QUEUE_CALLBACK(i) info[i].callback
#define QUEUE_NAME(i) info[i].name
#else
static int find_vqs(struct virtio_device *vdev, unsigned int n, struct virtqueue *vqs[], vq_callback_t *callbacks[],
		    const char *const names[], const bool *ctx, struct irq_affinity *affinity)
#define QUEUE_CALLBACK(i) callbacks[i]
#define QUEUE_NAME(i) names[i]
#endif
{
	unsigned int i;
	int err = n == QUEUES ? 0 : -EINVAL;

	for (i = 0; i < n && !err; i++)
		err = make_queue(vdev, i, &vqs[i], QUEUE_CALLBACK(i), QUEUE_NAME(i));
	if (err)
		del_vqs(vdev);
	return err;
}

static u8 get_status(struct virtio_device *vdev)
{
	return air_of(vdev)->status;
}

static void set_status(struct virtio_device *vdev, u8 status)
{
	struct air *air = air_of(vdev);
	unsigned long flags;

	spin_lock_irqsave(&air->lock, flags);
	air->status = status;
	air->running = status & VIRTIO_CONFIG_S_DRIVER_OK;
	spin_unlock_irqrestore(&air->lock, flags);
}

/* The driver lets go of the device: after this nobody touches rings or frames. */
static void reset(struct virtio_device *vdev)
{
	struct air *air = air_of(vdev);
	struct backlog *wait, *next;
	unsigned long flags;

	set_status(vdev, 0);
	hrtimer_cancel(&air->timer);
	spin_lock_irqsave(&air->lock, flags);
	if (air->queue[QUEUE_RX].vq)
		dcf_flush(air->dcf);
	list_for_each_entry_safe(wait, next, &air->backlog, list) {
		list_del(&wait->list);
		kfree(wait);
	}
	spin_unlock_irqrestore(&air->lock, flags);
}

static u64 get_features(struct virtio_device *vdev)
{
	return BIT_ULL(VIRTIO_F_VERSION_1);
}

static int finalize_features(struct virtio_device *vdev)
{
	return 0;
}

static void release(struct device *dev)
{
	complete(&container_of(dev, struct air, vdev.dev)->released);
}

static const struct virtio_config_ops config_ops = {
	.get_status = get_status,
	.set_status = set_status,
	.reset = reset,
	.find_vqs = find_vqs,
	.del_vqs = del_vqs,
	.get_features = get_features,
	.finalize_features = finalize_features,
};

void hwsim_unregister(struct air *air)
{
	unregister_virtio_device(&air->vdev);
	wait_for_completion(&air->released);
}

int hwsim_register(struct air *air)
{
	int err;

	air->vdev.id.device = VIRTIO_ID_MAC80211_HWSIM;
	air->vdev.config = &config_ops;
	air->vdev.dev.release = release;
	init_completion(&air->released);
	err = register_virtio_device(&air->vdev);
	if (err) {
		put_device(&air->vdev.dev);
		wait_for_completion(&air->released);
		return err;
	}
	if (air->running)
		return 0;
	/* Nobody took it: hwsim is not loaded, or already has a medium. */
	hwsim_unregister(air);
	return -ENODEV;
}
