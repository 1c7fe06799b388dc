// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timeline: the events of all stations in order. It is a binary heap that
 * knows the place of each event, so that events can be moved and cancelled.
 * Events at the same time are ordered by kind, then by station, so the order is
 * total.
 */
#include "state.h"

static bool timeline_before(const struct timeline *t, u32 a, u32 b)
{
	u32 kind_a = a % EVENTS, kind_b = b % EVENTS;

	if (t->time[a] != t->time[b])
		return t->time[a] < t->time[b];
	if (kind_a != kind_b)
		return kind_a < kind_b;
	return a < b;
}

static void timeline_put(struct timeline *t, u32 at, u32 event)
{
	t->heap[at] = event;
	t->place[event] = at + 1;
}

static void timeline_sift(struct dcf *dcf, u32 at, u32 event)
{
	struct timeline *t = &dcf->timeline;
	u32 child;

	for (; at && timeline_before(t, event, t->heap[(at - 1) / 2]); at = (at - 1) / 2)
		timeline_put(t, at, t->heap[(at - 1) / 2]);
	for (; (child = 2 * at + 1) < t->count; at = child) {
		if (child + 1 < t->count && timeline_before(t, t->heap[child + 1], t->heap[child]))
			child++;
		if (!timeline_before(t, t->heap[child], event))
			break;
		timeline_put(t, at, t->heap[child]);
	}
	timeline_put(t, at, event);
}

void timeline_set(struct dcf *dcf, u16 station, enum dcf_event kind, u64 time)
{
	struct timeline *t = &dcf->timeline;
	u32 event = station * EVENTS + kind;
	u32 at = t->place[event] ? t->place[event] - 1 : t->count++;

	t->time[event] = time;
	timeline_sift(dcf, at, event);
}

void timeline_remove(struct dcf *dcf, u32 event)
{
	struct timeline *t = &dcf->timeline;
	u32 at = t->place[event];

	t->place[event] = 0;
	if (--t->count != at - 1)
		timeline_sift(dcf, at - 1, t->heap[t->count]);
}

u64 timeline_time(const struct dcf *dcf, u16 station, enum dcf_event kind)
{
	return dcf->timeline.time[station * EVENTS + kind];
}

bool timeline_pop(struct dcf *dcf, u64 until, u16 *station, enum dcf_event *kind)
{
	struct timeline *t = &dcf->timeline;
	u32 event;

	if (!t->count || t->time[t->heap[0]] > until)
		return false;
	event = t->heap[0];
	*station = event / EVENTS;
	*kind = event % EVENTS;
	dcf->now = t->time[event];
	dcf->events++;
	timeline_remove(dcf, event);
	return true;
}

bool timeline_go_on(struct dcf *dcf, u16 station, enum dcf_event kind, u64 time)
{
	struct timeline *t = &dcf->timeline;
	u32 event = station * EVENTS + kind;

	t->time[event] = time;
	if (time > dcf->until || (t->count && timeline_before(t, t->heap[0], event))) {
		timeline_set(dcf, station, kind, time);
		return false;
	}
	dcf->now = time;
	dcf->events++;
	return true;
}
