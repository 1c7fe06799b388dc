// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a station listens to: its channel, its thresholds, whether it is on. A
 * change of any of them has it listen anew. What was being received is lost; of
 * what passes it knows that it is there, and no more; and it waits for DIFS.
 *
 * A channel belongs to a frame. A station goes to that of the frame which has
 * waited longest when it would be that one's turn to be sent, so that there is
 * nothing of its own on the old channel by then: no exchange, answer or NAV. There it
 * waits for its turn once more. It stays until a frame wants another.
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

/* What was promised and heard there does not hold here. */
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
		if (!s->busy || a->at != DCF_NEVER) /* else it stands already */
			access_freeze(dcf, s, a, dcf->now);
		a->backoff = dcf->config.edca || (a->backoff && a->slots);
	}
	s->idle_since = dcf->now; /* what has passed is counted */
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

/* Off, a station hears nothing, and so answers nothing; what is in the air already goes on, the rest is not sent. */
void tuning_switch(struct dcf *dcf, struct dcf_station *s, bool on)
{
	if (s->off == !on)
		return;
	s->off = !on;
	listen_anew(dcf, s);
	if (!on)
		exchange_abandon(dcf, s);
}
