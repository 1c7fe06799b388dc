// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to the medium: DIFS or AIFS, EIFS, NAV and backoff (10.3.2, 10.3.4,
 * 10.22.2).
 *
 * Slots begin at a base: the medium has been idle for DIFS (or EIFS), the NAV has
 * been over for DIFS, and the backoff has been drawn. All three times are known
 * ahead, so access is one event, which moves when one of them changes. No slot
 * and no end of a NAV costs an event of its own. A station has one base, or four
 * with EDCA; its event is the earliest of them.
 *
 * EDCA acts at slot boundaries, the first of which is the end of AIFS
 * (10.22.2.4), and counts a slot at each of them. The DCF counts a slot when it
 * is over, so EDCA counts one more each time the medium becomes idle.
 */
#include "state.h"

u64 access_aifs_ns(const struct dcf *dcf, const struct access *a)
{
	return dcf->config.phy.sifs_ns + (u64)a->edca.aifsn * dcf->config.phy.slot_ns;
}

/* Slots count from here on. */
static u64 base_of(const struct dcf *dcf, const struct dcf_station *s, const struct access *a)
{
	const struct dcf_phy *phy = &dcf->config.phy;
	u64 aifs = access_aifs_ns(dcf, a), late;
	u64 base = s->idle_since + aifs + s->eifs_ns;

	base = dcf_max(base, dcf_max(s->nav_end, s->awaits_data) + aifs); /* EIFS runs regardless of the NAV (10.3.2.3.7) */
	if (!dcf->config.edca)
		return a->backoff ? dcf_max(base, a->invoked) : base;
	base = dcf_max(base, a->not_before);
	late = a->invoked > base ? a->invoked - base : 0;
	return base + (late + phy->slot_ns - 1) / phy->slot_ns * phy->slot_ns;
}

static u64 access_time(const struct dcf *dcf, const struct dcf_station *s, const struct access *a)
{
	return base_of(dcf, s, a) + (a->backoff ? (u64)a->slots * dcf->config.phy.slot_ns : 0);
}

bool access_counts(const struct dcf *dcf, const struct dcf_station *s, const struct access *a)
{
	return a->backoff && !s->busy && s->phase == CONTENDING && !s->owes && dcf->now >= base_of(dcf, s, a);
}

u16 access_slots_left(const struct dcf *dcf, const struct dcf_station *s, const struct access *a)
{
	u32 left = a->slots;

	if (!a->backoff || (dcf->config.edca && !left) || (!a->head && access_counts(dcf, s, a) && dcf->now >= access_time(dcf, s, a)))
		return DCF_NO_BACKOFF;
	if (access_counts(dcf, s, a)) /* less the slots that have passed, as access_freeze() would count them */
		left -= dcf_min((dcf->now - base_of(dcf, s, a)) / dcf->config.phy.slot_ns + dcf->config.edca, left);
	return left;
}

/* May @a's channel be used next? Of the frames that need different channels, the one that waited longest decides. */
static bool is_its_turn(const struct dcf_station *s, const struct access *a)
{
	const struct access *b;

	for_each_access(s, b)
		if (b->head && b->head->freq != a->head->freq &&
		    (b->head->queued_ns < a->head->queued_ns || (b->head->queued_ns == a->head->queued_ns && b < a)))
			return false;
	return true;
}

u64 access_soonest_ns(const struct dcf *dcf, const struct dcf_station *s)
{
	const struct access *a;
	u64 best = DCF_NEVER;

	if (s->phase != CONTENDING)
		return best;
	for_each_access(s, a) /* with EDCA the frame may be given up at once */
		if (a->head)
			best = dcf_min(best, access_aifs_ns(dcf, a) + (u64)a->slots * dcf->config.phy.slot_ns +
					     (dcf->config.edca ? 0 : exchange_lookahead(dcf, s, a->head)));
	return best;
}

void access_update(struct dcf *dcf, struct dcf_station *s)
{
	bool waits = s->busy || s->phase != CONTENDING || s->owes;
	const struct access *first = NULL;
	struct access *a;

	for_each_access(s, a) {
		a->at = !a->head || waits || !is_its_turn(s, a) ? DCF_NEVER : dcf_max(access_time(dcf, s, a), dcf->now);
		if (a->at != DCF_NEVER && (!first || a->at < first->at))
			first = a;
	}
	if (!first)
		return timeline_cancel(dcf, s->index, EV_ACCESS);
	timeline_set(dcf, s->index, EV_ACCESS, first->at);
	s->exchange_ns = dcf->config.edca && edca_gives_up(dcf, s, first->at) ? 0 : exchange_lookahead(dcf, s, first->head);
}

void access_backoff(struct dcf *dcf, struct dcf_station *s, struct access *a)
{
	a->backoff = true;
	a->slots = dcf_draw_backoff(&s->random, a->cw - (a->cw && dcf_rule(dcf, DCF_BELOW_CW)));
	a->invoked = dcf->now + (dcf_rule(dcf, DCF_ALWAYS_BACKOFF) ? dcf_difs_ns(&dcf->config.phy) : 0);
}

void access_widen(struct dcf *dcf, struct dcf_station *s, struct access *a)
{
	a->cw = dcf_min(2 * a->cw + 1, a->edca.cw_max);
	access_backoff(dcf, s, a);
}

void access_reset(const struct dcf *dcf, struct access *a)
{
	a->backoff = dcf->config.edca;
	a->slots = 0;
	a->invoked = dcf->now;
	a->not_before = 0;
	a->cw = a->edca.cw_min;
	a->at = DCF_NEVER;
	a->plan = (struct ampdu){ 0 };
}

/* A backoff also counts down when there is nothing to send (10.3.4.3). Then the next frame needs none. */
static void end_backoff(const struct dcf *dcf, const struct dcf_station *s, struct access *a, u64 by)
{
	if (by < access_time(dcf, s, a))
		return;
	a->backoff = dcf->config.edca;
	a->slots = 0;
	a->invoked = by;
}

void access_freeze(const struct dcf *dcf, const struct dcf_station *s, struct access *a, u64 known)
{
	u64 base = a->backoff ? base_of(dcf, s, a) : DCF_NEVER;

	if (known >= base) /* less the whole slots, or slot boundaries, that have passed */
		a->slots -= dcf_min((known - base) / dcf->config.phy.slot_ns + dcf->config.edca, a->slots);
	a->at = DCF_NEVER;
}

/*
 * A station knows that the medium is busy only after it has sensed the signal. A
 * slot that ends before that was idle, and an access that is due by then takes
 * place. Stations that hear the same frame end count slots from times that differ
 * by their propagation delays. Without this rule, a nanosecond would decide
 * whether equal slots collide.
 */
void access_medium_busy(struct dcf *dcf, struct dcf_station *s)
{
	u64 known = dcf->now + (s->sending ? 0 : dcf->config.phy.sensing_ns);
	bool goes_on = false;
	struct access *a;

	for_each_access(s, a) {
		if (s->phase != CONTENDING) /* the station that began the exchange has set them */
			break;
		if (a->at <= known) {
			goes_on = true;
			continue;
		}
		if (a->backoff && !a->head && !dcf->config.edca)
			end_backoff(dcf, s, a, known);
		access_freeze(dcf, s, a, known);
		/* It was waiting for the end of DIFS without a backoff: now it needs one. */
		if (!a->backoff && a->head)
			access_backoff(dcf, s, a);
	}
	s->eifs_ns = 0; /* it belongs to the previous busy period */
	if (!goes_on)
		timeline_cancel(dcf, s->index, EV_ACCESS);
}

void access_medium_idle(struct dcf *dcf, struct dcf_station *s)
{
	access_update(dcf, s);
}

void access_request(struct dcf *dcf, struct dcf_station *s, struct access *a)
{
	bool waits = s->busy || dcf_max(s->nav_end, s->awaits_data) > dcf->now || s->owes || s->phase != CONTENDING;

	if (a->backoff && !s->busy && s->phase == CONTENDING)
		end_backoff(dcf, s, a, dcf->now);
	/*
	 * If the medium is busy by either carrier sense, back off (10.3.4.2, 10.22.2.2 a). If it is
	 * idle, or idle for less than DIFS, do not.
	 */
	if ((!a->backoff || (dcf->config.edca && !a->slots)) && (waits || dcf_rule(dcf, DCF_ALWAYS_BACKOFF)))
		access_backoff(dcf, s, a);
	if (!s->busy) /* otherwise a station that continues would not */
		access_update(dcf, s);
}

void access_set_nav(struct dcf *dcf, struct dcf_station *s, u64 end)
{
	if (end <= dcf_max(s->nav_end, dcf->now))
		return;
	timeline_cancel(dcf, s->index, EV_NAV_RESET);
	if (dcf->measuring)
		s->counters.nav_ns += end - dcf_max(s->nav_end, dcf->now);
	s->nav_end = end;
	access_update(dcf, s);
}

void access_reset_nav(struct dcf *dcf, struct dcf_station *s)
{
	if (s->nav_end <= dcf->now)
		return;
	if (dcf->measuring)
		s->counters.nav_ns -= s->nav_end - dcf->now;
	s->nav_end = dcf->now;
	access_update(dcf, s);
}

/* 10.3.2.4: reset the NAV of an RTS if no frame follows it. */
static void watch_rts(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx)
{
	const struct dcf_phy *phy = &dcf->config.phy;
	const struct dcf_mode *mode = mode_of(dcf, tx->mode);
	u64 cts = dcf_airtime_ns(phy, &mode_legacy[dcf->answer[mode->reference]], CTS_LEN, tx->short_preamble);

	timeline_set(dcf, s->index, EV_NAV_RESET,
		     dcf->now + 2 * phy->sifs_ns + cts + mode_preamble_ns(mode, tx->short_preamble) + 2 * phy->slot_ns);
}

void access_hear_nav(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx)
{
	u64 end = dcf->now + dcf_get_duration(tx->bytes) * US;

	if (end <= s->nav_end || end == dcf->now)
		return;
	access_set_nav(dcf, s, end);
	if (tx->kind == DCF_RTS && dcf->config.nav_reset)
		watch_rts(dcf, s, tx);
}
