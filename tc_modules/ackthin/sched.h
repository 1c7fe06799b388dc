/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ackthin in the kernel: what its files share. qdisc.c is the queue, flow.c the
 * flows and what is held of them, probe.c the MAC's counters, configuration.c
 * what netlink sets and shows, proc.c /proc/net/ackthin. What is thinned is
 * decided in ackthin.h, which knows none of this.
 *
 * All of a queue is under its root's lock (sch_tree_lock()), save the probe.
 */
#ifndef ACKTHIN_SCHED_H
#define ACKTHIN_SCHED_H

#include <net/pkt_sched.h>

#include "ackthin.h"

#define ACKTHIN_BUCKETS 256
#define ACKTHIN_NEVER U64_MAX

struct probe;

struct flow {
	struct ackthin_key key;
	struct ackthin_flow state;
	struct hlist_node bucket;
	struct list_head age, waiting; /* the latter while an ACK is held */
	struct sk_buff *held;
	u64 acks, thinned, timers;
};

struct ackthin_sched {
	struct ackthin_config config;
	struct list_head flows, waiting; /* the flow seen last comes first; the one that waits longest comes first */
	struct hlist_head buckets[ACKTHIN_BUCKETS];
	u32 perturbation;
	u64 next; /* when the watchdog will look at those that wait */
	struct qdisc_watchdog watchdog;
	struct probe *probe;
	struct tc_ackthin_xstats stats;
	struct list_head same_net;
	struct Qdisc *sch;
};

/* flow.c */
/* The flow of a segment; a new one only for an ACK that might be held, else NULL. */
struct flow *flow_find(struct Qdisc *sch, const struct ackthin_segment *s);
/* Keep @skb beside the queue, in the place of what is held. */
int flow_hold(struct Qdisc *sch, struct flow *flow, struct sk_buff *skb);
/* Let what is held go, behind all that is in the queue. */
void flow_release(struct Qdisc *sch, struct flow *flow, enum ackthin_reason why);
/* Drop what is held: something newer is in the queue. */
void flow_thin(struct Qdisc *sch, struct flow *flow);
/* Let go what is held for too long, at @now in ns of CLOCK_MONOTONIC. */
void flows_expire(struct Qdisc *sch, u64 now);
/* Let go all that is held. */
void flows_release(struct Qdisc *sch);
/* And drop all that is held. */
void flows_forget(struct Qdisc *sch);

/* probe.c */
int probes_init(void);
void probes_exit(void);
bool probe_can(const struct net_device *dev);
/* NULL: no memory. */
struct probe *probe_start(struct net_device *dev, const struct ackthin_config *c);
/* @p may be NULL. */
void probe_stop(struct probe *p);
/* Failed attempts per frame, in thousandths; from now on to the station with this MAC address. */
u32 probe_failures(struct probe *p, u64 next_hop);
void probe_show(const struct probe *p, struct tc_ackthin_xstats *stats);

/* configuration.c */
extern const struct ackthin_config ackthin_defaults;
int ackthin_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int ackthin_dump(struct Qdisc *sch, struct sk_buff *skb);
int ackthin_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

/* proc.c */
int proc_init(void);
void proc_exit(void);
/* Under RTNL: from now on the queue's flows are shown, until it is taken off the list. */
void proc_add(struct ackthin_sched *q);

#endif
