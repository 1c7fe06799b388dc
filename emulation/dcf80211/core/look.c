// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports what a station is doing. Nothing here changes any state, so a run is
 * the same with and without these reports.
 */
#include "state.h"

/* The access function that is next: the first one that waits, or else the one whose backoff counts down. */
static const struct access *next_access(const struct dcf_station *s)
{
	const struct access *a, *found = s->holder;

	for_each_access(s, a)
		if ((a->head && (!found->head || a->at < found->at)) || (a->backoff && !found->head && !found->backoff))
			found = a;
	return found;
}

static bool look_waits(const struct dcf_station *s)
{
	const struct access *a;

	for_each_access(s, a)
		if (a->head)
			return true;
	return false;
}

static u64 event_time(const struct dcf *dcf, const struct dcf_station *s, enum dcf_event kind)
{
	return timeline_has(dcf, s->index, kind) ? timeline_time(dcf, s->index, kind) : 0;
}

static void look_contend(const struct dcf *dcf, const struct dcf_station *s, const struct access *a,
			 struct dcf_look *look)
{
	bool counts = a->slots && look->backoff != DCF_NO_BACKOFF && access_counts(dcf, s, a);

	if (!look_waits(s) && !counts)
		return;
	look->doing = counts ? DCF_BACKOFF : DCF_DEFER;
	look->until_ns = !a->head || a->at == DCF_NEVER ? 0 : a->at;
	if (look->doing == DCF_DEFER && !look->until_ns && !s->busy && look->nav_end_ns)
		look->until_ns = look->nav_end_ns;
}

void dcf_look(const struct dcf *dcf, u16 station, struct dcf_look *look)
{
	const struct dcf_station *s = &dcf->station[station];
	const struct access *a, *next = next_access(s);

	*look = (struct dcf_look){
		.nav_end_ns = s->nav_end > dcf->now ? s->nav_end : 0,
		.cw = next->cw,
		.backoff = access_slots_left(dcf, s, next),
		.doing = DCF_IDLE,
	};
	for_each_access(s, a)
		look->queued += a->queued;
	if (s->off) {
		look->doing = DCF_OFF;
	} else if (s->sending) {
		look->doing = DCF_SEND;
		look->until_ns = s->tx[s->slot].end;
	} else if (timeline_has(dcf, station, EV_SIFS)) {
		look->doing = DCF_SIFS;
		look->until_ns = event_time(dcf, s, EV_SIFS);
	} else if (s->rx.tx && s->rx.is_frame) {
		look->doing = DCF_RECEIVE;
		look->until_ns = s->rx.tx->end + s->rx.link.delay_ns;
	} else if (s->phase == AWAITING_CTS || s->phase == AWAITING_ACK) {
		look->doing = s->phase == AWAITING_CTS ? DCF_WAIT_CTS : DCF_WAIT_ACK;
		look->until_ns = event_time(dcf, s, EV_TIMEOUT);
	} else {
		look_contend(dcf, s, next, look);
	}
}
