// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtio device (id 29) that mac80211_hwsim uses as its medium: two split
 * rings. It lives from registration to the driver's reset. Both sides are in
 * this kernel, so descriptors hold physical addresses of this kernel.
 */
#include <linux/virtio_config.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_ring.h>

#include "air.h"
#include "compat.h"

#define RING_SIZE 256

void *vdev_take(struct air *air, int q, u16 *head, u32 *size)
{
	const struct vring *r = virtqueue_get_vring(air->queue[q].vq);

	if (le16_to_cpu((__force __le16)READ_ONCE(r->avail->idx)) == air->queue[q].seen)
		return NULL;
	virt_rmb(); /* read the index before the entry */
	*head = le16_to_cpu((__force __le16)r->avail->ring[air->queue[q].seen++ % r->num]);
	*size = le32_to_cpu((__force __le32)r->desc[*head].len);
	return phys_to_virt(le64_to_cpu((__force __le64)r->desc[*head].addr));
}

void vdev_give(struct air *air, int q, u16 head, u32 len)
{
	const struct vring *r = virtqueue_get_vring(air->queue[q].vq);
	u16 i = le16_to_cpu((__force __le16)r->used->idx);

	r->used->ring[i % r->num].id = (__force __virtio32)cpu_to_le32(head);
	r->used->ring[i % r->num].len = (__force __virtio32)cpu_to_le32(len);
	virt_wmb(); /* write the entry before the index */
	r->used->idx = (__force __virtio16)cpu_to_le16(i + 1);
	air->queue[q].used = true;
}

bool vdev_rests(const struct air *air)
{
	const struct vring *r = virtqueue_get_vring(air->queue[QUEUE_RX].vq);

	return (u16)(le16_to_cpu((__force __le16)READ_ONCE(r->avail->idx)) - le16_to_cpu((__force __le16)r->used->idx)) == r->num;
}

void vdev_interrupt(struct air *air)
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

static bool vdev_notify(struct virtqueue *vq)
{
	struct air *air = air_of(vq->vdev);

	/* hwsim refills queue 1 after each message, which only matters if a message waits. */
	if (vq == air->queue[QUEUE_TX].vq || (!list_empty_careful(&air->backlog) && !READ_ONCE(air->hushed)))
		air_kick(air);
	return true;
}

static int make_queue(struct virtio_device *vdev, int i, struct virtqueue **out, vq_callback_t *callback, const char *name)
{
	struct air *air = air_of(vdev);

	*out = vring_create_virtqueue(i, RING_SIZE, PAGE_SIZE, vdev, true, false, false, vdev_notify, callback, name);
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

static int find_vqs(struct virtio_device *vdev, unsigned int n, struct virtqueue *vqs[], FIND_VQS_ARGS,
		    struct irq_affinity *affinity)
{
	unsigned int i;
	int err = n == QUEUES ? 0 : -EINVAL;

	for (i = 0; i < n && !err; i++)
		err = make_queue(vdev, i, &vqs[i], FIND_VQS_CALLBACK(i), FIND_VQS_NAME(i));
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

/* The driver releases the device: afterwards nothing uses rings or frames. */
static void vdev_reset(struct virtio_device *vdev)
{
	struct air *air = air_of(vdev);
	unsigned long flags;

	set_status(vdev, 0);
	hrtimer_cancel(&air->timer);
	spin_lock_irqsave(&air->lock, flags);
	if (air->queue[QUEUE_RX].vq)
		dcf_flush(air->dcf);
	hwsim_forget(air);
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

static void vdev_release(struct device *dev)
{
	complete(&container_of(dev, struct air, vdev.dev)->released);
}

static const struct virtio_config_ops config_ops = {
	.get_status = get_status,
	.set_status = set_status,
	.reset = vdev_reset,
	.find_vqs = find_vqs,
	.del_vqs = del_vqs,
	.get_features = get_features,
	.finalize_features = finalize_features,
};

void vdev_unregister(struct air *air)
{
	unregister_virtio_device(&air->vdev);
	wait_for_completion(&air->released);
}

int vdev_register(struct air *air)
{
	int err;

	air->vdev.id.device = VIRTIO_ID_MAC80211_HWSIM;
	air->vdev.config = &config_ops;
	air->vdev.dev.release = vdev_release;
	init_completion(&air->released);
	err = register_virtio_device(&air->vdev);
	if (err) {
		put_device(&air->vdev.dev);
		wait_for_completion(&air->released);
		return err;
	}
	if (air->running)
		return 0;
	/* No driver took it: hwsim is not loaded, or already has a medium. */
	vdev_unregister(air);
	return -ENODEV;
}
