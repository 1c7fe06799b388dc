// SPDX-License-Identifier: GPL-2.0-only
/*
 * Motion: the positions of stations, and the power and delay of a signal over the
 * distance between two of them. A station moves in a straight line from waypoint
 * to waypoint. What counts is the squared distance when a transmission begins; a
 * table gives power and delay for it. Each leg needs one division, at its start,
 * and no root.
 *
 * Positions are in eighths of a millimetre, so that rounding does not lose the
 * millimetres of waypoints. Within 100 km of the origin, squares of distances fit
 * 63 bits. Velocities are in units of 2^-32 of an eighth per microsecond. A leg
 * with motion lasts less than 2^32 us, so a position is off by at most two
 * eighths.
 */
#include "state.h"

#define PARTS 8 /* of a millimetre */
#define SQUARE_BITS 6 /* PARTS squared */
#define VELOCITY_BITS 32
#define SLACK (5 * PARTS) /* more than the error of a distance, then and now: 14 for rounding, 16 for a microsecond */
#define MOST_MDBM 1000000

/* From the last waypoint passed to the next. */
static void take_leg(struct motion *m)
{
	const struct dcf_waypoint *from = &m->way[m->leg], *to = from + 1;
	bool last = m->leg + 1 == m->count;
	int i;

	m->from_us = from->at_us;
	m->until_us = last ? DCF_NEVER : to->at_us;
	for (i = 0; i < 3; i++) {
		m->from[i] = (s64)from->mm[i] * PARTS;
		m->velocity[i] = last ? 0 : (s64)(to->mm[i] - from->mm[i]) * ((s64)PARTS << VELOCITY_BITS) /
						    (s64)(to->at_us - from->at_us);
	}
}

struct place motion_place(const struct dcf *dcf, struct dcf_station *s)
{
	struct motion *m = &s->motion;
	u64 now = dcf->now > m->since_ns ? (dcf->now - m->since_ns) / US : 0, passed;
	struct place place;
	int i;

	if (m->until_us <= now) {
		while (m->leg + 1 < m->count && m->way[m->leg + 1].at_us <= now)
			m->leg++;
		take_leg(m);
	}
	passed = now > m->from_us ? now - m->from_us : 0;
	for (i = 0; i < 3; i++)
		place.at[i] = m->from[i] + (s64)((__int128_t)m->velocity[i] * passed >> VELOCITY_BITS);
	return place;
}

static u64 square_of(struct dcf *dcf, const struct place *a, const struct place *b)
{
	u64 square = 0;
	int i;

	dcf->evaluations++;
	for (i = 0; i < 3; i++)
		square += (a->at[i] - b->at[i]) * (a->at[i] - b->at[i]);
	return square;
}

/* The point at @part of 2^32 on the way from @a to @b. */
static s64 motion_blend(s64 a, s64 b, u64 part)
{
	return a + ((b - a) * (s64)part >> 32);
}

struct dcf_link motion_link(struct dcf *dcf, struct dcf_station *from, const struct place *here, struct dcf_station *to)
{
	const struct place there = motion_place(dcf, to);
	const u64 square = square_of(dcf, here, &there);
	const struct dcf_table *table = &dcf->table;
	u32 octave = 63 - __builtin_clzll(square | 1), bin = 0, shift;
	struct dcf_link link = { 0 };
	const struct dcf_point *a, *b;
	u64 part = 0, power;

	if (square > from->reach.mm2 << SQUARE_BITS)
		return link;
	if (octave >= table->first) { /* nearer distances count as this one */
		shift = octave - table->bin_bits;
		bin = (octave - table->first) << table->bin_bits | (square >> shift & ((1U << table->bin_bits) - 1));
		part = square << (63 - octave) << 1 << table->bin_bits >> 32;
	}
	if (bin + 1 >= table->points)
		return link;
	a = &table->point[bin];
	b = a + 1;
	power = a->power_aw + (u64)(((__int128_t)b->power_aw - a->power_aw) * part >> 32);
	link.power_aw = (__uint128_t)power * from->reach.gain_q63 >> 63;
	link.power_mdbm = motion_blend(a->power_mdbm, b->power_mdbm, part) - from->reach.weaker_mdb;
	link.delay_ns = (motion_blend(a->delay_q16, b->delay_q16, part) + (1 << 15)) >> 16;
	return link;
}

bool motion_near(struct dcf *dcf, struct dcf_station *from, const struct place *here, struct dcf_station *to)
{
	const struct place there = motion_place(dcf, to);

	return square_of(dcf, here, &there) / 25 <= (from->reach.mm2 << SQUARE_BITS) / 16;
}

static u64 motion_root(u64 square)
{
	u64 found = 0, next, bit;

	for (bit = 1ULL << 31; bit; bit >>= 1) {
		next = found | bit;
		if (next * next <= square)
			found = next;
	}
	return found;
}

u64 motion_guard_ns(const struct dcf *dcf, const struct dcf_station *from)
{
	u64 quarter = motion_root(from->reach.mm2 << SQUARE_BITS) / 4;
	u64 speed = (u64)from->motion.top_mm_s + dcf->fastest_mm_s;

	if (!from->motion.count || !speed)
		return DCF_NEVER;
	return quarter > SLACK ? (quarter - SLACK) * (1000000000 / PARTS) / speed : 0;
}

bool dcf_set_table(struct dcf *dcf, const struct dcf_table *table)
{
	const struct dcf_point *p;
	u32 i;

	if (table->points && (table->bin_bits < 1 || table->bin_bits > 12 || table->first < table->bin_bits ||
			      table->first > 62 || table->points > (63U - table->first) << table->bin_bits))
		return false;
	for (i = 0; i < table->points; i++) {
		p = &table->point[i];
		if (p->power_aw > DCF_MAX_POWER_AW || p->power_mdbm > MOST_MDBM || p->power_mdbm < -MOST_MDBM ||
		    p->delay_q16 >= (DCF_MAX_DELAY_NS - 1) << 16)
			return false;
	}
	dcf->table = *table;
	neighbours_forget(dcf);
	return true;
}

bool dcf_set_reach(struct dcf *dcf, u16 station, const struct dcf_reach *reach)
{
	if (station >= dcf->config.stations || reach->mm2 > DCF_MAX_REACH_MM2 || reach->gain_q63 > 1ULL << 63 ||
	    reach->weaker_mdb > MOST_MDBM || reach->weaker_mdb < -MOST_MDBM)
		return false;
	dcf->station[station].reach = *reach;
	neighbours_forget(dcf);
	return true;
}

static u64 motion_magnitude(s64 value)
{
	return value < 0 ? -value : value;
}

/* Is this a valid leg? Then @top_mm_s becomes at least its speed. */
static bool leg_is_sound(const struct dcf_waypoint *from, const struct dcf_waypoint *to, u32 *top_mm_s)
{
	u64 way, square = 0, sum = 0, most = 0, us;
	int i;

	if (to->at_us <= from->at_us)
		return false;
	us = to->at_us - from->at_us;
	for (i = 0; i < 3; i++) {
		way = motion_magnitude((s64)to->mm[i] - from->mm[i]);
		square += way * way;
		sum += way;
		most = dcf_max(most, way);
	}
	if (square && (us >> 32 || square > (us + 2) * (us + 2))) /* a millimetre per microsecond, rounded */
		return false;
	/* Without a root: the longest plus half of the others is not less than the length. */
	*top_mm_s = dcf_max(*top_mm_s, (sum + most) * 500000 / us + 1);
	return true;
}

bool dcf_set_waypoints(struct dcf *dcf, u16 station, const struct dcf_waypoint *way, u32 count, u64 since_ns)
{
	struct motion *m;
	u32 top_mm_s = 0, i;

	if (station >= dcf->config.stations)
		return false;
	for (i = 0; i < 3 * count; i++)
		if (motion_magnitude(way[i / 3].mm[i % 3]) > DCF_MAX_MM)
			return false;
	for (i = 1; i < count; i++)
		if (!leg_is_sound(&way[i - 1], &way[i], &top_mm_s))
			return false;
	m = &dcf->station[station].motion;
	*m = (struct motion){ .way = way, .count = count, .since_ns = since_ns, .top_mm_s = top_mm_s };
	if (count)
		take_leg(m);
	dcf->fastest_mm_s = 0;
	for (i = 0; i < dcf->config.stations; i++)
		dcf->fastest_mm_s = dcf_max(dcf->fastest_mm_s, dcf->station[i].motion.top_mm_s);
	neighbours_forget(dcf);
	return true;
}

bool dcf_get_link(struct dcf *dcf, u16 from, u16 to, struct dcf_link *link)
{
	struct dcf_station *a, *b;
	struct place here;

	if (from >= dcf->config.stations || to >= dcf->config.stations)
		return false;
	a = &dcf->station[from];
	b = &dcf->station[to];
	*link = dcf->link[from * dcf->config.stations + to];
	if (from == to || !motion_between(dcf, a, b))
		return true;
	here = motion_place(dcf, a);
	*link = motion_link(dcf, a, &here, b);
	return true;
}

u64 dcf_evaluations(const struct dcf *dcf)
{
	return dcf->evaluations;
}
