/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dcf80211: the air under mac80211_hwsim. This header joins the module's files:
 * module.c (its beginning and end), air.c (the core, its lock and its timer), hwsim.c (frames to and from the
 * hwsim driver), virtio.c (the virtio device that carries them), control.c
 * (generic netlink), settings.c (its commands that change stations, powers and
 * places), refusal.c (its sentences), trace.c (the trace), conf_tx.c (what
 * mac80211 says of access categories).
 *
 * What happens to the air comes in at its edges, kicks its timer, and is taken
 * from there by it. In a circle: air.c, conf_tx.c, hwsim.c, virtio.c.
 *
 * Locking. One air at a time. control.c's genl mutex orders set-up, control and
 * removal. air->lock (taken with interrupts off) guards the core and the rings;
 * it is taken in the timer and by control, never in hwsim's notify, which comes
 * with hwsim's own lock held and only arms the timer. Order: air->lock, then
 * hwsim's. air->told_lock guards what mac80211 has told, and with air->lock how
 * radios are named; it is taken last.
 */
#ifndef DCF80211_AIR_H
#define DCF80211_AIR_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <linux/virtio.h>

#include "core/dcf.h"

#define DCF80211_NAME "dcf80211"

enum { QUEUE_TX, QUEUE_RX, QUEUES };

struct netlink_ext_ack;
struct channel;
struct tracepoint;

/* One hwsim radio: its transmitter address, whether control has named it, and where it is when. */
struct radio {
	u8 addr[DCF_ALEN];
	bool named;
	struct dcf_waypoint *way;
	u32 waypoints;
	struct dcf_edca told[DCF_CATEGORIES]; /* by mac80211, of the categories in these bits, and not taken over yet */
	u8 is_told, is_fixed; /* is_fixed: of these control has said it */
};

/* hwsim's radio 42:... answers to 02:... */
static inline void radio_perm_addr(u8 *perm, const u8 *addr)
{
	memcpy(perm, addr, DCF_ALEN);
	perm[0] &= ~0x40;
}

/* A message on its way into a free buffer of hwsim's receive queue. */
struct backlog {
	struct list_head list;
	u32 len;
	u8 bytes[];
};

/*
 * How late things were, in real time: of each how often, in bins of which four
 * are an octave of nanoseconds. Those below 4 have a bin each; the last one has
 * all that is beyond.
 */
#define DELAY_BINS 132

struct delays {
	u64 count[DELAY_BINS];
	u64 max_ns;
};

struct air {
	spinlock_t lock;
	struct hrtimer timer;
	u64 armed; /* for when */
	bool short_preamble; /* of all frames; else as the kernel asks */
	int kicked; /* hwsim has put something into a ring */
	u64 kicked_ns; /* when, and nobody has looked since */
	bool running; /* the rings are there */
	struct dcf *dcf;
	u16 stations;
	struct radio *radio;
	struct dcf_point *point; /* what arrives over any distance */
	u32 points;

	struct virtio_device vdev;
	struct completion released; /* the last reference to vdev is gone */
	u8 status;
	struct {
		struct virtqueue *vq;
		u16 seen;
		bool used; /* something was given back: hwsim must be told */
	} queue[QUEUES];
	struct list_head backlog;
	u32 waiting; /* in it */
	struct backlog *report; /* of the next frame that is taken */
	bool hushed; /* somebody has looked: what hwsim is to be told since then waits for the timer, as it would have */
	bool starved; /* there was no memory for it: frames may wait in their ring */

	raw_spinlock_t told_lock;
	bool told;
	struct tracepoint *point_conf_tx; /* with our probe */
	struct notifier_block modules;

	struct channel *trace; /* or NULL */

	u64 lost_messages, refused_frames, unknown_radios, frames, timers;
	struct delays late, lag; /* of the timer; of hwsim's frames, from its kick on */
};

/* air.c */
struct air *air_create(const struct dcf_config *config);
void air_destroy(struct air *air);
void air_kick(struct air *air);
/* Under air->lock: the core has changed, arm its timer anew. */
void air_arm(struct air *air);
static inline u64 air_now(void)
{
	return ktime_get_ns();
}

/* hwsim.c: all under air->lock */
extern const struct dcf_ops hwsim_dcf_ops;
/* Take what hwsim has sent, give what waits for it, or let that be. */
void hwsim_take(struct air *air, u64 now);
void hwsim_give(struct air *air);
void hwsim_forget(struct air *air);

/* virtio.c */
int vdev_register(struct air *air);
void vdev_unregister(struct air *air);
/* Under air->lock: the driver's next buffer, or NULL; give it back with @len bytes in it; tell the driver of all given. */
void *vdev_take(struct air *air, int q, u16 *head, u32 *size);
void vdev_give(struct air *air, int q, u16 head, u32 len);
void vdev_interrupt(struct air *air);

/* trace.c */
int trace_open(struct air *air);
void trace_close(struct air *air);
/* Under air->lock: count anew what is lost; and how much that is. */
void trace_begin(struct air *air);
u32 trace_lost(const struct air *air);
void trace_flush(struct air *air);
void trace_record(void *edge, const void *head, u32 head_len, const void *body, u32 body_len);

/* conf_tx.c */
/* Have what mac80211 tells drivers of their access categories wait at their radios; -ENOENT: the kernel has no tracepoint for it. */
int conf_tx_open(struct air *air);
void conf_tx_close(struct air *air);
/* Under air->lock: take it over. */
void conf_tx_take(struct air *air);

/* refusal.c */
void refusal_say(struct netlink_ext_ack *extack, enum dcf_refusal why);

/* control.c */
int control_register(void);
void control_unregister(void);

#endif
