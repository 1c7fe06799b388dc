/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decisions of ackthin, without clock, packets or memory of its own: bytes
 * and times come in, decisions come out. The kernel's qdisc includes it; tests
 * and fuzzers use it in user space. segment.h reads the packets.
 *
 * TCP's ACKs are cumulative: of two ACKs that only acknowledge, the newer one
 * includes the older. Such an ACK may be held for a while, and a newer one
 * replaces it. All other segments pass at once, after the held ACK of their flow,
 * so nothing is reordered.
 */
#ifndef ACKTHIN_H
#define ACKTHIN_H

#ifdef __KERNEL__
#include <linux/math64.h>
#else
#define div64_u64(a, b) ((a) / (b))
#define DIV64_U64_ROUND_UP(a, b) (((a) + (b) - 1) / (b))
#endif

#include "segment.h"

#define ACKTHIN_LONGEST (500ULL * 1000000)	/* an ACK must not wait longer (RFC 1122, 4.2.3.2) */
#define ACKTHIN_ONE 1000			/* fractions are thousandths */

struct ackthin_config {
	u32 set[TCA_ACKTHIN_MAX + 1];	/* indexed by attribute */
	u32 skip;			/* current value of dynamic */
};

struct ackthin_flow {
	bool known;
	bool risen;		/* daa's maxdwin: dwin has reached its maximum once */
	u16 window;
	u32 seq, ack, advances;	/* next sequence number, newest ACK, and its number of duplicates */
	u32 gap;		/* up to this number an advancing ACK may fill a hole */
	u32 step;		/* bytes that the last ACK without a hole advanced by */
	u32 count;		/* ACKs since the last one passed; if it is 0, none is held */
	u32 dwin;		/* daa, thousandths */
	u64 since;		/* when the first ACK of the group arrived */
	u64 last;		/* when the last advancing ACK arrived; 0: measure nothing from there */
	u64 mean;		/* daa's filter: time between such ACKs; 0: unknown */
	u64 due;		/* when the held ACK must pass; 0: never */
};

/* RFC 9293, 3.4: sequence numbers wrap. */
static inline bool ackthin_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

static inline bool ackthin_is_daa(const struct ackthin_config *c)
{
	return c->set[TCA_ACKTHIN_POLICY] == ACKTHIN_DAA;
}

/* How long an ACK may be held, in ns, without the granularity; 0: unlimited. */
static inline u64 ackthin_patience(const struct ackthin_config *c, const struct ackthin_flow *f)
{
	u64 timeout = c->set[TCA_ACKTHIN_TIMEOUT] * 1000ULL;

	if (!ackthin_is_daa(c))
		return timeout;
	if (f->mean) /* eq. 5.2 */
		timeout = div64_u64(f->mean * (2 * ACKTHIN_ONE + c->set[TCA_ACKTHIN_KAPPA]), ACKTHIN_ONE);
	return timeout && timeout < ACKTHIN_LONGEST ? timeout : ACKTHIN_LONGEST;
}

static inline u64 ackthin_due(const struct ackthin_config *c, const struct ackthin_flow *f, u64 now)
{
	u64 due = now + ackthin_patience(c, f), granularity = c->set[TCA_ACKTHIN_GRANULARITY] * 1000ULL;

	if (due == now)
		return 0;
	if (granularity)
		due = DIV64_U64_ROUND_UP(due, granularity) * granularity;
	/* The latest time, whatever the granularity. */
	if (ackthin_is_daa(c) && due > f->since + ACKTHIN_LONGEST)
		due = f->since + ACKTHIN_LONGEST;
	return due;
}

/* One of how many advancing ACKs passes. */
static inline u32 ackthin_group(const struct ackthin_config *c, const struct ackthin_flow *f)
{
	u32 dwin = f->dwin / ACKTHIN_ONE;

	switch (c->set[TCA_ACKTHIN_POLICY]) {
	case ACKTHIN_DELAYED:
		return c->set[TCA_ACKTHIN_COUNT];
	case ACKTHIN_SKIP:
		return f->advances < c->set[TCA_ACKTHIN_START] ? 1 : c->set[TCA_ACKTHIN_SKIP] + 1;
	case ACKTHIN_DAA:
		return dwin < c->set[TCA_ACKTHIN_DWIN_MAX] ? dwin : c->set[TCA_ACKTHIN_DWIN_MAX];
	case ACKTHIN_DYNAMIC:
		return c->skip + 1;
	default:
		return 1;
	}
}

/*
 * Eq. 5.1. A pause must not inflate the filter, but a slower path must be
 * noticed: a sample counts as at most the current timeout.
 */
static inline void ackthin_sample(const struct ackthin_config *c, struct ackthin_flow *f, u64 now)
{
	u64 most = ackthin_patience(c, f), sample = now - f->last, alpha = c->set[TCA_ACKTHIN_ALPHA];

	if (!f->last || !ackthin_is_daa(c))
		return;
	if (sample > most)
		sample = most;
	if (f->mean)
		sample = div64_u64(alpha * f->mean + (ACKTHIN_ONE - alpha) * sample, ACKTHIN_ONE);
	f->mean = sample ? sample : 1;
}

/* Eq. 5.3, at the end of an epoch. */
static inline void ackthin_grow(const struct ackthin_config *c, struct ackthin_flow *f)
{
	u32 most = c->set[TCA_ACKTHIN_DWIN_MAX] * ACKTHIN_ONE;

	if (!ackthin_is_daa(c))
		return;
	f->dwin += f->risen ? ACKTHIN_ONE : c->set[TCA_ACKTHIN_MU];
	if (f->dwin >= most) {
		f->dwin = most;
		f->risen = true;
	}
}

static inline void ackthin_shrink(const struct ackthin_config *c, struct ackthin_flow *f)
{
	u32 least = c->set[TCA_ACKTHIN_DWIN_MIN] * ACKTHIN_ONE;

	if (f->dwin > least)
		f->dwin = least;
}

static inline void ackthin_begin(struct ackthin_flow *f, const struct ackthin_segment *s, u64 now)
{
	*f = (struct ackthin_flow){
		.known = true,
		.seq = s->end,
		.ack = s->ack,
		.gap = s->ack,
		.window = s->window,
		.advances = 1,
		.dwin = ACKTHIN_ONE,
		.last = now,
	};
}

/* Remember a segment. */
static inline void ackthin_note(struct ackthin_flow *f, const struct ackthin_segment *s)
{
	if (s->fresh)
		f->known = false;
	if (ackthin_before(f->seq, s->end))
		f->seq = s->end;
	if (!s->has_ack || ackthin_before(s->ack, f->ack))
		return;
	if (s->ack != f->ack && f->advances < ~0U)
		f->advances++;
	f->ack = s->ack;
	f->window = s->window;
	if (ackthin_before(f->gap, f->ack)) /* it must not lag by half of the sequence space */
		f->gap = f->ack;
}

/*
 * The receiver has data beyond a hole. The amount is unknown, but each such ACK
 * stands for at least a segment, and so does the hole. Until this amount is
 * acknowledged, an ACK may fill a part of the hole, and must not be delayed (RFC
 * 5681, 4.2).
 */
static inline void ackthin_hole(struct ackthin_flow *f)
{
	u32 step = f->step ? f->step : 1;

	if (!ackthin_before(f->ack, f->gap))
		f->gap = f->ack + step;
	f->gap += step;
	f->last = 0;
}

/* A pure ACK of a known flow: cases that must not be thinned, given the previous segments. */
static inline u8 ackthin_judge(const struct ackthin_flow *f, const struct ackthin_segment *s)
{
	if (s->seq != f->seq)
		return ACKTHIN_PROBE;
	if (ackthin_before(s->ack, f->ack))
		return ACKTHIN_OLD;
	if (s->ack == f->ack)
		return s->window == f->window ? ACKTHIN_DUPLICATE : ACKTHIN_WINDOW;
	if (!s->window || !f->window)
		return ACKTHIN_WINDOW;
	return ackthin_before(f->ack, f->gap) ? ACKTHIN_RECOVERY : ACKTHIN_HOLD;
}

/* An ACK that may be thinned: ACKTHIN_GROUP if it is the last of its group. */
static inline u8 ackthin_advance(const struct ackthin_config *c, struct ackthin_flow *f,
				 const struct ackthin_segment *s, u64 now)
{
	f->step = s->ack - f->ack;
	ackthin_sample(c, f, now);
	ackthin_note(f, s);
	f->last = now;
	f->count++;
	if (f->count >= ackthin_group(c, f)) {
		f->count = 0;
		ackthin_grow(c, f);
		return ACKTHIN_GROUP;
	}
	if (f->count == 1)
		f->since = now;
	if (f->count == 1 || ackthin_is_daa(c)) /* an ACK waits for the second next one: each begins a new group */
		f->due = ackthin_due(c, f, now);
	return ACKTHIN_HOLD;
}

/*
 * A segment has arrived. ACKTHIN_HOLD: hold it, and drop the held ACK of its
 * flow. ACKTHIN_GROUP: pass it, and drop the held ACK. Other reasons: pass the
 * held ACK, then this segment.
 */
static inline u8 ackthin_decide(const struct ackthin_config *c, struct ackthin_flow *f,
				const struct ackthin_segment *s, u64 now)
{
	u8 why = s->why;

	if (why == ACKTHIN_HOLD)
		why = f->known ? ackthin_judge(f, s) : ACKTHIN_FIRST;
	if (why == ACKTHIN_HOLD)
		return ackthin_advance(c, f, s, now);
	if (why == ACKTHIN_FIRST)
		ackthin_begin(f, s, now);
	ackthin_note(f, s);
	f->count = 0;
	switch (why) {
	case ACKTHIN_SACK:
	case ACKTHIN_DUPLICATE:
		ackthin_shrink(c, f);
		ackthin_hole(f);
		break;
	case ACKTHIN_WINDOW: /* may also be a duplicate: a receiver may open its window with each */
		ackthin_hole(f);
		break;
	}
	return why;
}

/* The held ACK passes because its time has come. */
static inline void ackthin_expire(const struct ackthin_config *c, struct ackthin_flow *f)
{
	f->count = 0;
	ackthin_shrink(c, f);
}

#endif
