// SPDX-License-Identifier: GPL-2.0-only
/*
 * OLSR's neighbours (RFC 3626, 7, 8.1, 8.4, 13, 14): whether their links exist
 * and are symmetric, their quality, and whether they chose this node as a relay.
 */
#include "olsr.h"

#define MOST_MISSED 16 /* missed packets that are counted at most */

void olsr_link_make(struct manet *m, u16 number, u32 interface)
{
	struct olsr *s = olsr(m);
	struct olsr_node *n = olsr_node(m, number);

	n->interface = interface;
	if (n->linked)
		return;
	n->linked = true;
	n->pending = param(m, P_HYSTERESIS); /* until its quality is known */
	n->quality = 0;
	n->symmetric_until = 0;
	n->heard_until = 0;
	n->link_until = 0;
	n->lost_until = 0;
	n->silent_at = NEVER;
	n->missed = 0;
	s->link[s->links++] = number;
}

static void link_remove(struct manet *m, u16 number)
{
	struct olsr *s = olsr(m);
	struct olsr_node *n = olsr_node(m, number);
	u16 kept = 0, i;

	n->linked = false;
	n->mpr = false;
	if (n->advertised)
		s->advertised_less = true;
	n->advertised = false;
	for (i = 0; i < s->links; i++)
		if (s->link[i] != number)
			s->link[kept++] = s->link[i];
	s->links = kept;
}

static bool is_symmetric(const struct manet *m, const struct olsr_node *n)
{
	return n->linked && n->symmetric_until > m->now &&
	       !(param(m, P_HYSTERESIS) && (n->pending || n->lost_until > m->now));
}

void olsr_selector_set(struct manet *m, u16 number, u64 until)
{
	struct olsr_node *n = olsr_node(m, number);
	bool was = n->selector_until;

	n->selector_until = until;
	if (was != !!until)
		olsr_advertised_changed(m, false);
	if (until)
		olsr_expire_by(m, until);
}

/* 8.5 */
void olsr_link_check(struct manet *m, u16 number, bool by_feedback)
{
	struct olsr_node *n = olsr_node(m, number);
	bool now = is_symmetric(m, n);

	if (n->symmetric == now)
		return;
	n->symmetric = now;
	olsr(m)->routes_old = olsr(m)->mprs_old = true;
	manet_tell(m, now ? MANET_LINK_FOUND : MANET_LINK_LOST, NULL, n->address, n->interface, now, by_feedback, 0);
	if (!now) {
		n->mpr = false;
		olsr_edges_clear(m, number, false);
	}
	if (n->selector_until && !now) {
		n->selector_until = 0;
		olsr_advertised_changed(m, true);
	} else if (param(m, P_TC_REDUNDANCY) == 2) {
		olsr_advertised_changed(m, !now);
	}
}

void olsr_link_failed(struct manet *m, u16 number)
{
	struct olsr_node *n = olsr_node(m, number);

	if (!n->linked)
		return;
	n->symmetric_until = 0;
	n->heard_until = 0;
	n->link_until = m->now + param_ns(m, P_NEIGHBOUR_HOLD_MS); /* HELLOs announce it as lost until then */
	olsr_expire_by(m, n->link_until);
	olsr_link_check(m, number, true);
}

static void olsr_judge(struct manet *m, struct olsr_node *n, bool heard)
{
	u32 scaling = param(m, P_HYSTERESIS_SCALING);

	n->quality = n->quality * (1000 - scaling) / 1000 + (heard ? OLSR_QUALITY * scaling / 1000 : 0);
	if (n->quality > OLSR_QUALITY / 1000 * param(m, P_HYSTERESIS_HIGH)) {
		n->pending = false;
		n->lost_until = 0;
	} else if (n->quality < OLSR_QUALITY / 1000 * param(m, P_HYSTERESIS_LOW) && !n->pending) {
		n->pending = true;
		n->lost_until = m->now + param_ns(m, P_NEIGHBOUR_HOLD_MS);
		if (n->lost_until > n->link_until)
			n->lost_until = n->link_until;
		olsr_expire_by(m, n->lost_until);
	}
}

void olsr_link_heard(struct manet *m, u16 number, u16 sequence)
{
	struct olsr_node *n = olsr_node(m, number);
	u16 missed = sequence - n->packet_sequence - 1;

	if (n->quality && missed < MOST_MISSED) /* otherwise it is the first one, or the neighbour has restarted */
		for (; missed > n->missed; missed--)
			olsr_judge(m, n, false);
	n->packet_sequence = sequence;
	n->missed = 0;
	olsr_judge(m, n, true);
	olsr_link_check(m, number, false);
}

bool olsr_link_type(const struct manet *m, const struct olsr_node *n, u8 *type)
{
	bool lost = param(m, P_HYSTERESIS) && n->lost_until > m->now;

	if (!lost && n->symmetric_until > m->now)
		*type = SYM_LINK;
	else
		*type = !lost && n->heard_until > m->now ? ASYM_LINK : LOST_LINK;
	return lost || !param(m, P_HYSTERESIS) || !n->pending;
}

static void expire_by_if(struct manet *m, u64 until)
{
	if (until > m->now)
		olsr_expire_by(m, until);
}

void olsr_link_expire(struct manet *m, u16 number)
{
	struct olsr_node *n = olsr_node(m, number);

	if (param(m, P_HYSTERESIS) && n->silent_at <= m->now) {
		olsr_judge(m, n, false);
		n->missed++;
		n->silent_at = m->now + n->silence;
	}
	if (n->link_until <= m->now)
		n->symmetric_until = 0;
	olsr_link_check(m, number, false);
	if (n->selector_until && !olsr_is_selector(m, n))
		olsr_selector_set(m, number, 0);
	if (n->link_until <= m->now)
		return link_remove(m, number);
	expire_by_if(m, n->symmetric_until);
	expire_by_if(m, n->link_until);
	expire_by_if(m, n->lost_until);
	expire_by_if(m, n->selector_until);
	if (param(m, P_HYSTERESIS) && n->silent_at != NEVER)
		olsr_expire_by(m, n->silent_at);
}
