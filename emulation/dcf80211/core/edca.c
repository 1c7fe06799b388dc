// SPDX-License-Identifier: GPL-2.0-only
/*
 * EDCA (10.22.2): a station has four access functions, one a category, each with
 * a queue, AIFS, contention window and backoff of its own. Carrier sense and NAV
 * belong to the station.
 *
 * If several functions may send in one slot, the highest category sends, and the
 * others act as after a collision on the air (10.22.2.4). The function that sends
 * holds the medium for a TXOP: frames of its category that fit follow each other
 * after a SIFS (10.22.2.7).
 */
#include "state.h"

#define TXOP_UNIT_NS (32 * US)

void edca_init(struct dcf *dcf, struct dcf_station *s)
{
	const struct dcf_phy *phy = &dcf->config.phy;
	struct access *a;

	s->holder = s->access;
	s->access_end = s->access + (dcf->config.edca ? DCF_CATEGORIES : 1);
	for_each_access(s, a) {
		a->edca = (struct dcf_edca){ .cw_min = phy->cw_min, .cw_max = phy->cw_max, .aifsn = 2 }; /* DIFS */
		access_reset(dcf, a);
	}
}

bool dcf_set_edca(struct dcf *dcf, u16 station, enum dcf_category category, const struct dcf_edca *edca)
{
	struct dcf_station *s;
	struct access *a;

	if (station >= dcf->config.stations || category >= DCF_CATEGORIES || !edca->aifsn || edca->cw_min > edca->cw_max ||
	    (!dcf->config.edca && (category != DCF_BE || edca->aifsn != 2 || edca->txop_32us)))
		return false;
	s = &dcf->station[station];
	a = &s->access[dcf->config.edca ? category : 0];
	if (!s->busy && s->phase == CONTENDING) { /* slots count again, from the next boundary on */
		access_freeze(dcf, s, a, dcf->now);
		a->invoked = dcf->now;
	}
	a->cw = a->cw == a->edca.cw_min ? edca->cw_min : dcf_max(edca->cw_min, dcf_min(a->cw, edca->cw_max));
	a->edca = *edca;
	if (!s->busy)
		access_update(dcf, s);
	return true;
}

bool dcf_get_edca(const struct dcf *dcf, u16 station, struct dcf_edca edca[DCF_CATEGORIES])
{
	int i;

	if (!dcf->config.edca || station >= dcf->config.stations)
		return false;
	for (i = 0; i < DCF_CATEGORIES; i++)
		edca[i] = dcf->station[station].access[i].edca;
	return true;
}

const struct access *edca_due(const struct dcf *dcf, const struct dcf_station *s)
{
	const struct access *a = s->access;

	while (a->at > dcf->now)
		a++;
	return a;
}

void edca_win(struct dcf *dcf, struct dcf_station *s)
{
	struct access *a;

	s->holder = NULL;
	for_each_access(s, a) {
		if (a->at <= dcf->now)
			s->holder = s->holder ?: a;
		else if (!s->busy || a->at != DCF_NEVER) /* otherwise it stands already */
			access_freeze(dcf, s, a, dcf->now);
	}
	a = s->holder;
	a->at = DCF_NEVER;
	a->backoff = dcf->config.edca;
	a->slots = 0;
	s->txop_end = dcf->now + a->edca.txop_32us * TXOP_UNIT_NS;
}

/* Do failures of @a's frame count? No station reports whether a group frame arrived. */
static bool edca_counts(const struct access *a)
{
	return !dcf_is_group(dcf_addr1(a->head->bytes));
}

/* Would one more collision be the last? The kernel's rate stages count transmissions. */
static bool is_last(const struct dcf *dcf, const struct dcf_station *s, const struct access *a)
{
	return edca_counts(a) && !dcf->config.retry_by_stages && a->head->src + 1 >= exchange_short_limit(s, a->head);
}

bool edca_gives_up(const struct dcf *dcf, const struct dcf_station *s, u64 at)
{
	const struct access *a, *first = NULL;

	for_each_access(s, a) {
		if (a->at != at)
			continue;
		if (first && is_last(dcf, s, a))
			return true;
		first = a;
	}
	return false;
}

/* The frame was not sent, so neither the Retry bit nor the kernel's rate stages count it. */
static void edca_collide_one(struct dcf *dcf, struct dcf_station *s, struct access *a)
{
	struct dcf_frame *f = a->head;
	bool last;

	a->at = DCF_NEVER;
	if (dcf->measuring)
		s->counters.share[a - s->access].collisions++;
	last = is_last(dcf, s, a);
	if (edca_counts(a)) {
		f->src += f->src < 255;
		if (dcf->measuring && f->queued_ns >= dcf->started)
			s->counters.short_retries++;
	}
	if (!last)
		return access_widen(dcf, s, a);
	a->cw = a->edca.cw_min;
	access_backoff(dcf, s, a);
	queue_give_up(dcf, s, a, f->stage[f->at_stage].rts ? DCF_RTS_LIMIT : DCF_SHORT_LIMIT);
}

void edca_collide(struct dcf *dcf, struct dcf_station *s)
{
	struct access *a;

	for_each_access(s, a)
		if (a->at <= dcf->now)
			edca_collide_one(dcf, s, a);
}

u64 edca_more_ns(const struct dcf *dcf, const struct dcf_station *s, u64 exchange_ns)
{
	u64 sifs = dcf->config.phy.sifs_ns, until = dcf->now + exchange_ns + sifs, besides, more;
	struct dcf_frame *next = aggregate_after(s->holder);
	struct ampdu ppdu;

	if (queue_goes_on(held_frame(s))) { /* regardless of the limit */
		ppdu = aggregate_alone(dcf, next);
		return sifs + exchange_duration(dcf, next, &ppdu, false);
	}
	if (!next || !s->holder->edca.txop_32us || next->freq != held_frame(s)->freq || until >= s->txop_end)
		return 0;
	besides = exchange_besides(dcf, next, 2, !next->session);
	ppdu = aggregate_next(dcf, next, until + besides < s->txop_end ? s->txop_end - until - besides : 0);
	more = sifs + exchange_duration(dcf, next, &ppdu, !next->session);
	return dcf->now + exchange_ns + more <= s->txop_end ? more : 0;
}

void edca_hold_back(struct dcf *dcf, struct dcf_station *s)
{
	struct access *a;

	for_each_access(s, a)
		if (a != s->holder)
			a->not_before = dcf->now + access_aifs_ns(dcf, a);
}
