// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to the medium: DIFS, EIFS, NAV and backoff (10.3.2, 10.3.4).
 *
 * A station's slots begin at a base: when the medium has been idle for DIFS (or
 * EIFS), the NAV has been over for DIFS, and the backoff has been drawn. As all
 * three are known ahead, access is one event, moved when any of them changes;
 * no slot and no end of a NAV costs an event of its own.
 */
#include "state.h"

/* From here on slots count. */
static u64 base_of(const struct dcf *dcf, const struct dcf_station *s)
{
	u64 difs = dcf_difs_ns(&dcf->config.phy);
	u64 base = s->idle_since + (s->eifs ? dcf_eifs_ns(&dcf->config.phy, s->freq) : difs);

	base = dcf_max(base, dcf_max(s->nav_end, s->awaits_data) + difs); /* EIFS runs regardless of the NAV (10.3.2.3.7) */
	return s->backoff ? dcf_max(base, s->invoked) : base;
}

void access_update(struct dcf *dcf, struct dcf_station *s)
{
	u64 base;

	if (!s->head || s->busy || s->phase != CONTENDING || s->owes) {
		timeline_cancel(dcf, s->index, EV_ACCESS);
		return;
	}
	base = base_of(dcf, s);
	if (s->backoff)
		base += (u64)s->slots * dcf->config.phy.slot_ns;
	timeline_set(dcf, s->index, EV_ACCESS, dcf_max(base, dcf->now));
	s->exchange_ns = exchange_lookahead(dcf, s);
}

void access_backoff(struct dcf *dcf, struct dcf_station *s)
{
	s->backoff = true;
	s->slots = dcf_draw_backoff(&s->random, s->cw - (s->cw && dcf_rule(dcf, DCF_BELOW_CW)));
	s->invoked = dcf->now + (dcf_rule(dcf, DCF_ALWAYS_BACKOFF) ? dcf_difs_ns(&dcf->config.phy) : 0);
}

/* A backoff runs out also with nothing to send (10.3.4.3): then the next frame needs none. */
static void end_backoff(const struct dcf *dcf, struct dcf_station *s, u64 by)
{
	if (by >= base_of(dcf, s) + (u64)s->slots * dcf->config.phy.slot_ns)
		s->backoff = false;
}

/*
 * What is heard now is known only when it has been sensed: a slot that ends
 * before that has been idle, and an access due by then goes on. Stations that
 * hear a frame end count the same slots from moments that differ by their
 * delays; without this, whether equal slots collide hung on a nanosecond.
 */
void access_medium_busy(struct dcf *dcf, struct dcf_station *s)
{
	u64 base = base_of(dcf, s);
	u64 known = dcf->now + (s->sending ? 0 : dcf->config.phy.sensing_ns);

	if (timeline_has(dcf, s->index, EV_ACCESS) && timeline_time(dcf, s->index, EV_ACCESS) <= known) {
		s->eifs = false;
		return;
	}
	if (s->backoff && !s->head)
		end_backoff(dcf, s, known);
	if (s->backoff && known > base) /* frozen, less the whole slots that have passed */
		s->slots -= dcf_min((known - base) / dcf->config.phy.slot_ns, s->slots);
	s->eifs = false; /* it belongs to the busy period before */
	/* It was waiting for the end of DIFS, with no backoff: now it needs one. */
	if (!s->backoff && s->head && s->phase == CONTENDING)
		access_backoff(dcf, s);
	timeline_cancel(dcf, s->index, EV_ACCESS);
}

void access_medium_idle(struct dcf *dcf, struct dcf_station *s)
{
	access_update(dcf, s);
}

void access_request(struct dcf *dcf, struct dcf_station *s)
{
	if (s->backoff && !s->busy)
		end_backoff(dcf, s, dcf->now);
	/* Busy, by either carrier sense: back off (10.3.4.2). Idle, or not yet for DIFS: do not. */
	if (!s->backoff && (s->busy || dcf_max(s->nav_end, s->awaits_data) > dcf->now || s->owes ||
			    dcf_rule(dcf, DCF_ALWAYS_BACKOFF)))
		access_backoff(dcf, s);
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
