/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DSDV: one table. dsdv_updates.c reads and sends updates; dsdv.c sends packets
 * by the table. In a circle: dsdv.c, dsdv_updates.c.
 */
#ifndef MANET_DSDV_H
#define MANET_DSDV_H

#include "node.h"

#define DSDV_PORT 269 /* as in ns-3 */
#define DSDV_ENTRY 12 /* bytes: destination, hops, sequence number, as in ns-3 */
#define DSDV_ROUTES 512 /* a power of two */
#define DSDV_FAR 250 /* hops: no route; ns-2's BIG */
#define DSDV_NONE 0xffff
#define DSDV_SELF 0

enum {
	P_UPDATE_INTERVAL_MS = P_OWN,
	P_UPDATE_JITTER_MS,
	P_START_JITTER_MS,
	P_MIN_UPDATE_INTERVAL_MS,
	P_MISSED_UPDATES,
	P_SETTLING_MS,
	P_SETTLING_WEIGHT,
	P_TRIGGER,
	P_BUFFER,
	P_FEEDBACK
};

enum { TIMER_PERIODIC, TIMER_TRIGGERED, TIMER_SILENCE };

/* A destination gives even numbers; a node that loses the route adds one. */
struct dsdv_route {
	u32 to, via;
	u32 sequence;
	u16 chain; /* in its hash bucket */
	u8 hops; /* DSDV_FAR: no route */
	u8 told_hops; /* in the last update */
	bool heard; /* an update had it; otherwise packets wait for it, and nothing else */
	bool tell_sequence, tell_hops; /* changed since the last update, and since the last full update */
	u64 changed, new_sequence; /* time of these */
	u64 settling; /* weighted time between these two, where the first is later */
	u64 settled_at; /* not announced before */
	u64 trigger_at; /* NEVER: no update is due */
	u64 silent_at; /* of a neighbour: when it is lost; 0: it is none */
	struct manet_list waiting;
};

struct dsdv {
	struct manet_timer periodic, triggered, silence;
	u64 last_update;
	u16 used;
	u16 bucket[DSDV_ROUTES];
	struct dsdv_route route[DSDV_ROUTES];
};

static inline struct dsdv *dsdv(const struct manet *m)
{
	return (struct dsdv *)m->state;
}

static inline bool dsdv_is_way(const struct dsdv_route *r)
{
	return r->hops < DSDV_FAR;
}

/* dsdv_updates.c */
void dsdv_clear(struct manet *m);
/* NULL: not in the table. */
struct dsdv_route *dsdv_find(const struct manet *m, u32 to);
/* The same, or a new one without a route; NULL: there is no room. */
struct dsdv_route *dsdv_know(struct manet *m, u32 to);
/* false: malformed. */
bool dsdv_read(struct manet *m, struct manet_packet *p, const u8 *bytes, u16 len);
void dsdv_timer(struct manet *m, struct manet_timer *t);
/* All routes via this neighbour end. */
void dsdv_link_lost(struct manet *m, u32 neighbour, bool by_feedback);

/* dsdv.c */
/* There is a route now: send the waiting packets. */
void dsdv_release(struct manet *m, struct dsdv_route *r);

#endif
