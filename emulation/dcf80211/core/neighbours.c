// SPDX-License-Identifier: GPL-2.0-only
/*
 * Neighbours: the stations that hear a transmission, nearest first. Each
 * transmission has a list of its own, because its station may send again before
 * the last signal has passed all stations. If no station moves, a list is valid
 * until a power changes.
 *
 * If stations move, the list is made at the start of each transmission from the
 * candidates: the stations that can be in range by now. Other stations cannot,
 * for this reason: a station that is no candidate was farther away than the range
 * and a quarter of it. To get into range, both stations must come nearer by that
 * quarter. At their top speeds this takes longer than the candidates are valid.
 * When a station gets new waypoints, all stations find their candidates again. So
 * work grows with the number of stations nearby.
 */
#include "state.h"

void neighbours_place(struct dcf *dcf, struct dcf_station *s)
{
	const u32 n = dcf->config.stations;

	s->neighbours[0] = &dcf->neighbour[2 * n * s->index];
	s->neighbours[1] = s->neighbours[0] + n;
	s->candidates = &dcf->candidate[n * s->index];
}

static struct dcf_link *standing_link(const struct dcf *dcf, const struct dcf_station *from, u16 to)
{
	return &dcf->link[from->index * dcf->config.stations + to];
}

bool neighbours_hear(const struct dcf *dcf, const struct dcf_station *s, u64 power_aw)
{
	return power_aw && (dcf->config.reception != DCF_CAPTURE || power_aw >= s->cs_threshold_aw);
}

/* Can it hear the signal at its strongest? */
static bool may_hear(const struct dcf *dcf, u16 to, const struct dcf_link *link)
{
	return neighbours_hear(dcf, &dcf->station[to], fading_strongest(dcf, link->power_aw));
}

static void find_candidates(struct dcf *dcf, struct dcf_station *s)
{
	struct place here = { 0 };
	bool moves;
	u16 to;

	s->n_candidates = 0;
	s->some_move = false;
	if (s->motion.count)
		here = motion_place(dcf, s);
	for (to = 0; to < dcf->config.stations; to++) {
		struct dcf_station *other = &dcf->station[to];

		if (to == s->index)
			continue;
		moves = motion_between(dcf, s, other);
		if (moves ? !motion_near(dcf, s, &here, other) : !may_hear(dcf, to, standing_link(dcf, s, to)))
			continue;
		s->candidates[s->n_candidates++] = to;
		s->some_move |= moves;
	}
	s->candidates_until = motion_guard_ns(dcf, s);
	if (s->candidates_until != DCF_NEVER)
		s->candidates_until += dcf->now;
	s->listed[0] = s->listed[1] = false;
}

/* Nearest first; at equal distances, the lower number first. Insertion sort, as the list is nearly in order. */
static u16 neighbours_list(struct dcf *dcf, struct dcf_station *s, struct neighbour *neighbours)
{
	u16 n = 0, others = 0, i, at, to;
	struct place here = { 0 };
	struct dcf_link link;

	if (s->some_move)
		here = motion_place(dcf, s);
	for (i = 0; i < s->n_candidates; i++) {
		to = s->candidates[i];
		link = s->some_move && motion_between(dcf, s, &dcf->station[to]) ?
			       motion_link(dcf, s, &here, &dcf->station[to]) : *standing_link(dcf, s, to);
		if (!may_hear(dcf, to, &link)) {
			s->candidates[others++] = to;
			continue;
		}
		for (at = n++; at; at--) {
			const struct neighbour *before = &neighbours[at - 1];

			if (before->link.delay_ns < link.delay_ns ||
			    (before->link.delay_ns == link.delay_ns && before->station < to))
				break;
			neighbours[at] = *before;
		}
		neighbours[at] = (struct neighbour){
			.link = link, .mean_aw = link.power_aw, .mean_mdbm = link.power_mdbm, .station = to,
		};
	}
	for (i = 0; i < n; i++) /* so the next list is nearly in order */
		s->candidates[others + i] = neighbours[i].station;
	return n;
}

void neighbours_find(struct dcf *dcf, struct dcf_station *s, int slot)
{
	if (s->listed[slot] && !s->some_move && dcf->now < s->candidates_until)
		return;
	if (dcf->now >= s->candidates_until)
		find_candidates(dcf, s);
	s->n_neighbours[slot] = neighbours_list(dcf, s, s->neighbours[slot]);
	s->listed[slot] = true;
}

void neighbours_forget(struct dcf *dcf)
{
	u16 i;

	for (i = 0; i < dcf->config.stations; i++)
		dcf->station[i].candidates_until = 0;
}
