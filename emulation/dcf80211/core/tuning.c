// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tuning of a station: its channel, its thresholds, whether it is on. After a
 * change the station begins to listen again. It loses what it was receiving,
 * knows of current signals only that they exist, and waits for DIFS.
 *
 * A channel belongs to a frame. When the frame that has waited longest could be
 * sent next, the station goes to its channel. It has no exchange, response or NAV
 * on the old channel then. On the new channel it waits for access again. It stays
 * until a frame needs another channel, or the caller tunes it, as for a scan.
 */
#include "state.h"

static void listen_anew(struct dcf *dcf, struct dcf_station *s)
{
	struct access *a;

	if (!s->busy && s->phase == CONTENDING)
		for_each_access(s, a)
			access_freeze(dcf, s, a, dcf->now);
	medium_listen(dcf, s);
	if (s->phase == AWAITING_CTS || s->phase == AWAITING_ACK)
		timeline_set(dcf, s->index, EV_TIMEOUT, dcf->now);
	access_update(dcf, s);
}

/* Reservations and signals of the old channel do not count here. */
void tuning_retune(struct dcf *dcf, struct dcf_station *s, u16 freq)
{
	if (s->freq == freq)
		return;
	s->freq = freq;
	s->eifs_ns = 0;
	s->awaits_data = 0;
	if (s->owes)
		timeline_cancel(dcf, s->index, EV_SIFS);
	s->owes = false;
	timeline_cancel(dcf, s->index, EV_NAV_RESET);
	access_reset_nav(dcf, s);
	listen_anew(dcf, s);
}

void tuning_follow(struct dcf *dcf, struct dcf_station *s, u16 freq)
{
	struct access *a;

	for_each_access(s, a) {
		if (!s->busy || a->at != DCF_NEVER) /* otherwise it stands already */
			access_freeze(dcf, s, a, dcf->now);
		a->backoff = dcf->config.edca || (a->backoff && a->slots);
	}
	s->idle_since = dcf->now; /* slots that have passed count */
	tuning_retune(dcf, s, freq);
	for_each_access(s, a)
		if (a->head)
			access_request(dcf, s, a);
}

void tuning_resense(struct dcf *dcf, struct dcf_station *s, u64 rx_threshold_aw, u64 cs_threshold_aw)
{
	if (s->rx_threshold_aw == rx_threshold_aw && s->cs_threshold_aw == cs_threshold_aw)
		return;
	s->rx_threshold_aw = rx_threshold_aw;
	s->cs_threshold_aw = cs_threshold_aw;
	listen_anew(dcf, s);
}

/*
 * A station that is off hears nothing, so it sends no responses. Signals that are in the air
 * continue; the rest is not sent.
 */
void tuning_switch(struct dcf *dcf, struct dcf_station *s, bool on)
{
	if (s->off == !on)
		return;
	s->off = !on;
	listen_anew(dcf, s);
	if (!on)
		exchange_abandon(dcf, s);
}
