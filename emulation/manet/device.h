/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * manet: an interface over a radio that finds its way by itself, over several
 * hops. This header joins the module's files: module.c (its beginning and end),
 * device.c (the interface and rtnetlink), radio.c (frames to and from the radio,
 * and what became of them), told.c (to sources, that there is no way), control.c
 * (generic netlink), trace.c (the trace).
 *
 * Locking. device->lock guards the core; it is taken with softirqs off, and never
 * held while a frame is handed to the radio, as its answer may come at once:
 * whoever has changed something calls device_settle(), which does that after the
 * lock is gone. device->answers guards what the radio says, and when the timer
 * fires for it; it is taken with interrupts off, last.
 */
#ifndef MANET_DEVICE_H
#define MANET_DEVICE_H

#include <linux/hrtimer.h>
#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>

#include "core/manet.h"

#define MANET_NAME "manet"

struct manet_device {
	struct net_device *dev;
	struct net_device *lower; /* the radio's interface */
	int lower_index;
	bool tied; /* it gets what the radio receives */
	struct net_device *monitor; /* where it overhears, or NULL */
	spinlock_t lock;
	struct hrtimer timer;
	u64 armed; /* for when, NEVER: it is not; 0: nobody knows */
	u32 protocol;
	u32 value[MANET_MAX_PARAMETERS];
	u64 seed;
	bool feedback; /* the radio says what became of a frame */
	bool running;
	struct manet *core;
	struct sk_buff *outgoing; /* to be handed to the radio by device_settle() */
	struct sk_buff_head lost; /* of whose sources it tells */

	spinlock_t answers;
	const struct sk_buff *frame; /* with the radio */
	bool group; /* it is for everybody, so for no ACK */
	bool answered;
	enum manet_sent answer;
};

/* device.c */
int devices_register(void);
void devices_unregister(void);
struct manet_device *device_of(struct net_device *dev); /* NULL: it is none */
u32 device_protocol(const char *name); /* or the number of them all */

/* radio.c */
extern const struct manet_ops radio_ops;
extern rx_handler_func_t *radio_receive, *radio_overhear;
/* Until the radios have ended all that they were given. */
void radio_wait(void);
enum hrtimer_restart radio_timer(struct hrtimer *timer);
netdev_tx_t radio_start_xmit(struct sk_buff *skb, struct net_device *dev);
/* Ends what has begun with spin_lock_bh(&d->lock) and a call of the core. */
void device_settle(struct manet_device *d) __releases(d->lock);

/* told.c */
/* Whether the source of a packet that is lost is to be told; an IPv4 header comes first in it. */
bool told_of(const struct sk_buff *skb, enum manet_reason why);
/* Tell it. Not under the lock: the answer may leave by this interface. The skb is gone then. */
void told(struct manet_device *d, struct sk_buff *skb);

/* control.c */
int control_register(void);
void control_unregister(void);

/* trace.c */
int trace_open(void);
void trace_close(void);
void trace_record(const struct manet_record *r);

#endif
