// SPDX-License-Identifier: GPL-2.0-only
/*
 * AODV's route errors (RFC 3561, 6.11): which nodes get a report of lost routes,
 * and what a node does with a report. Routes are marked first. Then all marked
 * routes are sent in as few messages as possible, to their only precursor, or to
 * all neighbours.
 */
#include "aodv.h"

enum { ENTRY = 8, NO_DELETE = 0x80 };

/* Make a RERR with room for @count destinations; NULL: not now. */
static struct manet_packet *make_error(struct manet *m, u32 to, u32 count, bool keep)
{
	struct manet_packet *p;

	if (!aodv_may(m, &aodv_of(m)->errors, param(m, P_RERR_RATE), NULL)) {
		m->counters.dropped_control[MANET_RATE_LIMITED]++;
		return NULL;
	}
	p = udp_make(m, MANET_RERR, AODV_PORT, to, 1, AODV_ERROR_LEN + count * ENTRY);
	if (!p)
		return NULL;
	udp_payload(p)[0] = AODV_RERR;
	udp_payload(p)[1] = keep ? NO_DELETE : 0;
	udp_payload(p)[3] = count;
	return p;
}

static void put_unreachable(struct manet_packet *p, u32 i, u32 destination, u32 sequence)
{
	put32(udp_payload(p) + AODV_ERROR_LEN + i * ENTRY, destination);
	put32(udp_payload(p) + AODV_ERROR_LEN + i * ENTRY + 4, sequence);
}

static void send_rerr(struct manet *m, struct manet_packet *p, u32 to)
{
	udp_finish(p);
	if (to == MANET_EVERYBODY)
		aodv_broadcast(m, p);
	else
		manet_send(m, p, to);
}

void aodv_send_error(struct manet *m, u32 destination, u32 sequence, u32 to)
{
	struct manet_packet *p = make_error(m, to, 1, false);

	if (!p)
		return;
	put_unreachable(p, 0, destination, sequence);
	send_rerr(m, p, to);
}

/* The only precursor of all routes to report, or MANET_EVERYBODY. */
static u32 only_precursor(const struct manet *m)
{
	const struct aodv *a = aodv_of(m);
	u32 only = MANET_NOBODY;
	u16 i;

	if (!param(m, P_ERROR_UNICAST))
		return MANET_EVERYBODY;
	for (i = 1; i <= AODV_ROUTES; i++) {
		const struct aodv_route *r = &a->route[i];

		if (!r->report)
			continue;
		if (r->precursors != 1 || r->crowded || (only && only != r->precursor[0]))
			return MANET_EVERYBODY;
		only = r->precursor[0];
	}
	return only;
}

void aodv_report(struct manet *m, struct aodv_route *r)
{
	if (!r->precursors || r->report)
		return;
	r->report = true;
	aodv_of(m)->reports++;
}

void aodv_send_errors(struct manet *m, bool keep)
{
	struct aodv *a = aodv_of(m);
	u32 left = a->reports, to = left ? only_precursor(m) : MANET_NOBODY, count = 0, i, done = 0;
	struct manet_packet *p = NULL;

	a->reports = 0;
	for (i = 1; i <= AODV_ROUTES && left; i++) {
		struct aodv_route *r = &a->route[i];

		if (!r->report)
			continue;
		if (done == count) { /* the current message is full, or there is none yet */
			count = left < AODV_ERRORS ? left : AODV_ERRORS;
			p = make_error(m, to, count, keep);
			done = 0;
		}
		if (p)
			put_unreachable(p, done, r->to, r->sequence);
		r->report = false;
		if (!keep)
			aodv_forget_precursors(r);
		left--;
		if (++done == count && p)
			send_rerr(m, p, to);
	}
}

static void aodv_purge(struct manet *m, u32 destination, u32 from)
{
	struct manet_list purged = { 0 };

	if (param(m, P_ERROR_PURGE) == PURGE_DESTINATION)
		purged = queue_take_destination(m, destination);
	else if (param(m, P_ERROR_PURGE) == PURGE_NEXT_HOP)
		purged = queue_take_hop(m, from);
	aodv_drop_list(m, &purged, MANET_PURGED);
}

/* 6.11 (iii) */
void aodv_got_error(struct manet *m, struct manet_packet *p, const u8 *at, u16 len, u32 from)
{
	bool no_delete = at[1] & NO_DELETE;
	u32 i, count = at[3];

	p->kind = MANET_RERR;
	if (!count || len < AODV_ERROR_LEN + count * ENTRY)
		return manet_drop(m, p, MANET_MALFORMED);
	aodv_tell_got(m, p, MANET_RERR, get32(at + AODV_ERROR_LEN), 0, count);
	aodv_heard(m, from);
	for (i = 0; i < count; i++) {
		u32 destination = get32(at + AODV_ERROR_LEN + i * ENTRY);
		u32 sequence = get32(at + AODV_ERROR_LEN + i * ENTRY + 4);
		struct aodv_route *r = aodv_find(m, destination);

		if (!destination || destination == from || !r || !r->valid || r->via != from)
			continue;
		aodv_report(m, r);
		if (no_delete)
			continue;
		aodv_purge(m, destination, from);
		if (!r->known || !aodv_newer(sequence, r->sequence))
			sequence = r->sequence + 1; /* it never decreases */
		aodv_invalidate(m, r, sequence, false);
		if (!r->report)
			aodv_forget_precursors(r);
	}
	aodv_send_errors(m, no_delete);
	manet_drop(m, p, MANET_DONE);
}
