/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * manet: an interface over a radio that finds routes over several hops. This
 * header joins the module's files: module.c (load and unload), device.c (the
 * interface and rtnetlink), radio.c (frames to and from the radio, and their
 * results), told.c (reports to sources without a route), control.c (generic
 * netlink), trace.c (the trace).
 *
 * Locking. device->lock guards the core. It is taken with softirqs off, and never
 * held while a frame is passed to the radio, because the result may come at once.
 * So every change ends with device_settle(), which passes the frame on after the
 * unlock. device->answers guards the radio's report and the timer that handles
 * it; it is taken last, with interrupts off.
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
	bool tied; /* handles frames that the radio received */
	struct net_device *monitor; /* interface where it overhears, or NULL */
	spinlock_t lock;
	struct hrtimer timer;
	u64 armed; /* time that the timer is set for; NEVER: it is not; 0: unknown */
	u32 protocol;
	u32 value[MANET_MAX_PARAMETERS];
	u64 seed;
	bool feedback; /* the radio has reported a result */
	bool running;
	struct manet *core;
	struct sk_buff *outgoing; /* device_settle() passes it to the radio */
	struct sk_buff_head lost; /* packets whose sources get a report */

	spinlock_t answers;
	const struct sk_buff *frame; /* the frame that the radio has */
	bool group; /* it is a broadcast, so it gets no ACK */
	bool answered;
	enum manet_sent answer;
};

/* device.c */
int devices_register(void);
void devices_unregister(void);
struct manet_device *device_of(struct net_device *dev); /* NULL: it is no such interface */
u32 device_protocol(const char *name); /* or the number of all interfaces */

/* radio.c */
extern const struct manet_ops radio_ops;
extern rx_handler_func_t *radio_receive, *radio_overhear;
/* Wait until the radios have finished all their frames. */
void radio_wait(void);
enum hrtimer_restart radio_timer(struct hrtimer *timer);
netdev_tx_t radio_start_xmit(struct sk_buff *skb, struct net_device *dev);
/* Ends a section that began with spin_lock_bh(&d->lock) and a call of the core. */
void device_settle(struct manet_device *d) __releases(d->lock);

/* told.c */
/* Does the source of a lost packet get a report? The packet begins with an IPv4 header. */
bool told_of(const struct sk_buff *skb, enum manet_reason why);
/* Send the report and free the skb. Call it without the lock, because the report may leave by this interface. */
void told(struct manet_device *d, struct sk_buff *skb);

/* control.c */
int control_register(void);
void control_unregister(void);

/* trace.c */
int trace_open(void);
void trace_close(void);
void trace_record(const struct manet_record *r);

#endif
