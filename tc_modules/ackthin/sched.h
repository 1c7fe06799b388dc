/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ackthin in the kernel: shared by its files. qdisc.c is the queue, flow.c the
 * flows and their held ACKs, probe.c the MAC's counters, configuration.c the
 * settings, proc.c /proc/net/ackthin. ackthin.h decides which ACKs are thinned,
 * and depends on none of these. The root's lock (sch_tree_lock()) guards the
 * whole queue except the probe.
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
	struct list_head flows, waiting; /* the most recently seen flow first; the one that waits longest first */
	struct hlist_head buckets[ACKTHIN_BUCKETS];
	u32 perturbation;
	u64 next; /* when the watchdog will check the waiting flows */
	struct qdisc_watchdog watchdog;
	struct probe *probe;
	struct tc_ackthin_xstats stats;
	struct list_head same_net;
	struct Qdisc *sch;
};

/* flow.c */
/* The flow of a segment; a new one only for an ACK that might be held, else NULL. */
struct flow *flow_find(struct Qdisc *sch, const struct ackthin_segment *s);
/* Keep @skb outside the queue, in place of the held ACK. */
int flow_hold(struct Qdisc *sch, struct flow *flow, struct sk_buff *skb);
/* Put the held ACK at the end of the queue. */
void flow_release(struct Qdisc *sch, struct flow *flow, enum ackthin_reason why);
/* Drop the held ACK: a newer one is in the queue. */
void flow_thin(struct Qdisc *sch, struct flow *flow);
/* Pass the ACKs that are due at @now, in ns of CLOCK_MONOTONIC. */
void flows_expire(struct Qdisc *sch, u64 now);
/* Pass all held ACKs. */
void flows_release(struct Qdisc *sch);
/* Drop all held ACKs. */
void flows_forget(struct Qdisc *sch);

/* probe.c */
int probes_init(void);
void probes_exit(void);
bool probe_can(const struct net_device *dev);
/* NULL: no memory. */
struct probe *probe_start(struct net_device *dev, const struct ackthin_config *c);
/* @p may be NULL. */
void probe_stop(struct probe *p);
/* Failed attempts per frame, in thousandths, to the station with this MAC address from now on. */
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
/* Under RTNL: show the queue's flows from now on; remove it from the list. */
void proc_add(struct ackthin_sched *q);

#endif
