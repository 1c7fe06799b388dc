/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DSDV: one table, of which dsdv_updates.c is what neighbours say and are told, and
 * dsdv.c what packets do with it. In a circle: dsdv.c, dsdv_updates.c.
 */
#ifndef MANET_DSDV_H
#define MANET_DSDV_H

#include "node.h"

#define DSDV_PORT 269 /* as ns-3's */
#define DSDV_ENTRY 12 /* bytes: destination, hops, sequence number, as in ns-3 */
#define DSDV_ROUTES 512 /* a power of two */
#define DSDV_FAR 250 /* hops: no way; ns-2's BIG */
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

/* A number is even as its destination gave it; who loses the way adds one. */
struct dsdv_route {
	u32 to, via;
	u32 sequence;
	u16 chain; /* in its hash bucket */
	u8 hops; /* DSDV_FAR: no way */
	u8 told_hops; /* in the last update */
	bool heard; /* somebody told of it; else packets wait, and no more */
	bool tell_sequence, tell_hops; /* changed since an update, a full update */
	u64 changed, new_sequence; /* when */
	u64 settling; /* weighted time between these, the first being the later one */
	u64 settled_at; /* not told before */
	u64 trigger_at; /* NEVER: not at all */
	u64 silent_at; /* a neighbour: lost then; 0: none */
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
/* The same, or a new one without a way; NULL: no room. */
struct dsdv_route *dsdv_know(struct manet *m, u32 to);
/* false: malformed. */
bool dsdv_read(struct manet *m, struct manet_packet *p, const u8 *bytes, u16 len);
void dsdv_timer(struct manet *m, struct manet_timer *t);
/* All ways by this neighbour end. */
void dsdv_link_lost(struct manet *m, u32 neighbour, bool by_feedback);

/* dsdv.c */
/* There is a way now: those that wait go. */
void dsdv_release(struct manet *m, struct dsdv_route *r);

#endif
