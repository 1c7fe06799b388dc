/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dcf80211: the air under mac80211. This header joins the module's files:
 * module.c (load and unload), air.c (the core, its lock and its timer), hwsim.c
 * (frames to and from the hwsim driver), virtio.c (the virtio device that
 * carries them), overhear.c (frames for other stations), driver.c and mpdu.c (the driver of HT and later, and its
 * frames), control.c (generic netlink), settings.c (commands that change
 * stations, powers and positions), refusal.c (error messages), trace.c (the
 * trace), conf_tx.c (EDCA parameters from mac80211).
 *
 * Events from outside are stored and kick the timer, which then handles them. So
 * each edge calls the air in order to be called by it, and they are one noun.
 * In a circle: air.c, conf_tx.c, driver.c, hwsim.c, mpdu.c, virtio.c.
 *
 * Locking. There is one air at a time. The genl mutex orders set-up, control
 * and removal. air->lock (taken with interrupts off) guards the core and the
 * rings. The timer and control take it. hwsim's notify, which is called with
 * hwsim's lock held, never takes it but only arms the timer. Order: air->lock,
 * then hwsim's lock. air->edca_lock guards the parameters from mac80211; the
 * names of radios change only with both it and air->lock held. It is taken last.
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
struct driver;
struct ieee80211_hw;
struct modes;
struct net;
struct net_device;
struct overhearing;
struct tracepoint;

/* An hwsim radio: its transmitter address, whether control has named it, and its waypoints. */
struct radio {
	u8 addr[DCF_ALEN];
	bool named;
	struct dcf_waypoint *way;
	u32 waypoints;
	struct dcf_edca new_edca[DCF_CATEGORIES]; /* from mac80211, for the categories in has_new; not yet set */
	u8 has_new, is_fixed; /* is_fixed: categories that control has set */
	struct ieee80211_hw __rcu *monitored; /* hwsim's, while it has a monitor: overheard frames go there */
	struct driver *driver; /* of HT and later; NULL: there is none, or it is hwsim's */
	u16 fixed; /* its mode of data frames; 0: there is none */
	u64 random, handed_ns, due_ns; /* of the host's delays: the stream; the latest frame's time, and when it arrives */
};

/* The permanent address of hwsim's radio 42:... is 02:... */
static inline void radio_perm_addr(u8 *perm, const u8 *addr)
{
	memcpy(perm, addr, DCF_ALEN);
	perm[0] &= ~0x40;
}

/* A message that waits for a free buffer in hwsim's receive queue. */
struct backlog {
	struct list_head list;
	u32 len;
	u8 bytes[];
};

/*
 * A histogram of delays in real time. Four bins are an octave of nanoseconds.
 * Values below 4 have a bin each; the last bin has all larger values.
 */
#define DELAY_BINS 132

struct delays {
	u64 count[DELAY_BINS];
	u64 max_ns;
};

struct air {
	spinlock_t lock;
	struct hrtimer timer;
	u64 armed; /* the time that the timer is set for */
	bool short_preamble; /* for all frames; otherwise as the kernel requests */
	u32 host_delay_ns; /* mean; 0: none */
	struct list_head arriving; /* frames that the host's delay holds up, by the time at which they arrive */
	int kicked; /* hwsim has put something into a ring */
	u64 kicked_ns; /* when: the first kick since the last reading */
	bool running; /* the rings exist */
	struct dcf *dcf;
	u16 stations;
	struct radio *radio;
	struct dcf_point *point; /* received power by distance */
	u32 points;

	struct modes *modes; /* radios are the driver's; NULL: they are hwsim's */
	struct net_device *napi_dev; /* of the radios' NAPI, for GRO only */
	struct virtio_device vdev;
	struct completion released; /* the last reference to vdev is gone */
	u8 status;
	struct {
		struct virtqueue *vq;
		u16 seen;
		bool used; /* a buffer was given back: hwsim must be notified */
	} queue[QUEUES];
	struct list_head backlog;
	u32 waiting; /* messages in backlog */
	struct backlog *report; /* for the next frame that is taken */
	bool hushed; /* after a LOOK command: messages for hwsim wait for the timer, as without the command */
	bool starved; /* an allocation failed: frames may wait in their ring */

	raw_spinlock_t edca_lock;
	bool edca_changed; /* a radio has new parameters from mac80211 */
	struct tracepoint *point_conf_tx; /* with our probe */
	struct notifier_block modules;

	struct overhearing *overhearing; /* or NULL */
	bool in_timer; /* what is delivered now is delivered by the timer */

	struct channel *trace; /* or NULL */

	u64 lost_messages, refused_frames, unknown_radios, frames, timers;
	struct delays late, lag; /* delays of the timer; of hwsim's frames since its kick */
};

/* air.c */
/* @ht: for radios of HT and later, instead of hwsim's. */
struct air *air_create(const struct dcf_config *config, bool ht);
void air_destroy(struct air *air);
void air_kick(struct air *air);
/* Set the timer after a change of the core. Call it with air->lock held. */
void air_arm(struct air *air);
/* Draw how long a station's host takes from an event to its frame. */
u64 air_host_delay(struct air *air, u16 station);
static inline u64 air_now(void)
{
	return ktime_get_ns();
}

/* hwsim.c: all with air->lock held */
extern const struct dcf_ops hwsim_dcf_ops, mpdu_dcf_ops;
/* Take hwsim's messages; give it those that wait; drop those that wait. */
void hwsim_take(struct air *air, u64 now);
/* When the next frame arrives that the host's delay holds up, or DCF_NEVER; let those arrive whose time has come. */
u64 hwsim_next(struct air *air);
void hwsim_arrive(struct air *air, u64 now);
void hwsim_give(struct air *air);
void hwsim_forget(struct air *air);

/* virtio.c */
int vdev_register(struct air *air);
void vdev_unregister(struct air *air);
/*
 * With air->lock held: return the driver's next buffer, or NULL; give it back
 * with @len bytes in it; notify the driver of all buffers given back.
 */
void *vdev_take(struct air *air, int q, u16 *head, u32 *size);
void vdev_give(struct air *air, int q, u16 head, u32 len);
void vdev_interrupt(struct air *air);
/* Has the driver handled all that queue 1 has brought it? */
bool vdev_rests(const struct air *air);

/* overhear.c */
/* A frame as stations overhear it: the skb that they share, and the transmission that it is of. */
struct heard {
	struct sk_buff *skb;
	u64 tx;
};

#ifdef DCF80211_HT
int overhear_open(struct air *air);
void overhear_close(struct air *air);
/* With air->lock held: does the frame go to mac80211 directly? Release what it holds; let the tasklet deliver. */
bool overhear_take(struct air *air, u16 to, const struct dcf_frame *f, struct heard *heard, u16 mode, s32 power_mdbm);
void overhear_forget(struct heard *heard);
void overhear_go(struct air *air);
#else
static inline int overhear_open(struct air *air)
{
	return 0;
}

static inline void overhear_close(struct air *air)
{
}

static inline bool overhear_take(struct air *air, u16 to, const struct dcf_frame *f, struct heard *heard, u16 mode,
				 s32 power_mdbm)
{
	return false;
}

static inline void overhear_forget(struct heard *heard)
{
}

static inline void overhear_go(struct air *air)
{
}
#endif

/* trace.c */
int trace_open(struct air *air);
void trace_close(struct air *air);
/* With air->lock held: reset the count of lost records; return it. */
void trace_begin(struct air *air);
u32 trace_lost(const struct air *air);
void trace_flush(struct air *air);
void trace_record(void *edge, const void *head, u32 head_len, const void *body, u32 body_len);

/* conf_tx.c */
/*
 * Store EDCA parameters, from mac80211's calls of drivers, at their radios.
 * Return -ENOENT if the kernel lacks the tracepoint.
 */
int conf_tx_open(struct air *air);
void conf_tx_close(struct air *air);
/* Apply them. Call it with air->lock held. */
void conf_tx_take(struct air *air);

/* The most aggregates of a category that a radio prepares. */
#define DRIVER_DEPTH 8
#define DRIVER_AUTO 255

/* What a radio can do, and how it aggregates. */
struct driver_traits {
	u8 format; /* enum dcf_format; DCF_OFDM: it has legacy rates only */
	u8 streams;
	u16 width_mhz, guard_ns;
	u8 mcs; /* of data frames; DRIVER_AUTO: mac80211's rate control chooses */
	u8 depth; /* aggregates of a category that it prepares */
	u8 tries; /* of an MPDU */
	u16 window; /* MPDUs; 0: it does not aggregate */
	u16 mpdus; /* in an aggregate */
	u32 bytes, ppdu_ns; /* of an aggregate */
	u8 density; /* Minimum MPDU Start Spacing, as in HT capabilities */
	bool aql, fairness;
	bool protection; /* an RTS where the BSS's HT Protection asks for one */
	u16 fifo; /* frames of a category in a queue of its own; 0: it prepares aggregates instead */
	u8 pacing_shift; /* of TCP small queues */
};

/* driver.c */
#ifdef DCF80211_HT
/* With the module. */
int driver_load(void);
void driver_unload(void);
int driver_open(struct air *air);
void driver_close(struct air *air);
/* Make a radio, which belongs to this socket. */
int driver_create(struct air *air, u16 station, const char *name, const struct driver_traits *traits, struct net *net,
		  u32 portid);
/* Remove the radios of a socket; @net NULL: all. */
void driver_release(struct air *air, const struct net *net, u32 portid);
#else
static inline int driver_load(void)
{
	return 0;
}

static inline void driver_unload(void)
{
}

static inline int driver_open(struct air *air)
{
	return -EOPNOTSUPP;
}

static inline void driver_close(struct air *air)
{
}

static inline int driver_create(struct air *air, u16 station, const char *name, const struct driver_traits *traits,
				struct net *net, u32 portid)
{
	return -EOPNOTSUPP;
}

static inline void driver_release(struct air *air, const struct net *net, u32 portid)
{
}
#endif

/* refusal.c */
void refusal_say(struct netlink_ext_ack *extack, enum dcf_refusal why);

/* control.c */
int control_register(void);
void control_unregister(void);

#endif
