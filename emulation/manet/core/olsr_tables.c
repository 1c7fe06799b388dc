// SPDX-License-Identifier: GPL-2.0-only
/*
 * OLSR's sets (RFC 3626, 4): known nodes and their addresses, links between other
 * nodes, messages that were received before, and how long all of these are valid.
 * One timer waits for the first entry to expire. Most entries are refreshed
 * before, so it fires seldom, and then checks all of them.
 */
#include "olsr.h"

#define WAYS 8

void olsr_clear(struct manet *m)
{
	struct olsr *s = olsr(m);
	u32 i;

	memset(s, 0, sizeof(*s));
	memset(s->bucket, 0xff, sizeof(s->bucket));
	for (i = 0; i < OLSR_EDGES; i++)
		s->edge[i].next = i + 1 < OLSR_EDGES ? i + 1 : OLSR_NONE;
	olsr_know(m, m->address); /* becomes OLSR_SELF */
}

static u16 *olsr_bucket(const struct manet *m, u32 address)
{
	return &olsr(m)->bucket[(address * 0x9e3779b1U >> 16) % OLSR_NODES];
}

static u16 find_own(const struct manet *m, u32 address)
{
	u16 number = *olsr_bucket(m, address);

	while (number != OLSR_NONE && olsr_node(m, number)->address != address)
		number = olsr_node(m, number)->chain;
	return number;
}

static struct olsr_alias *alias_of(const struct manet *m, u32 address)
{
	struct olsr *s = olsr(m);
	u32 i;

	for (i = 0; i < s->alias_next; i++)
		if (s->alias[i].address == address)
			return &s->alias[i];
	return NULL;
}

u16 olsr_find(const struct manet *m, u32 address)
{
	const struct olsr_alias *alias = olsr(m)->alias_next ? alias_of(m, address) : NULL;

	return alias ? alias->node : find_own(m, address);
}

u16 olsr_know(struct manet *m, u32 address)
{
	struct olsr *s = olsr(m);
	u16 number = olsr_find(m, address);
	struct olsr_node *n;

	if (number != OLSR_NONE)
		return number;
	if (address == MANET_NOBODY || (s->used && manet_is_ours(m, address)))
		return OLSR_NONE;
	if (s->used == OLSR_NODES) {
		olsr_expire_by(m, m->now + SECOND); /* some may not be needed any more */
		return OLSR_NONE;
	}
	for (number = s->used; s->node[number % OLSR_NODES].address; number++)
		;
	number %= OLSR_NODES;
	n = &s->node[number];
	*n = (struct olsr_node){
		.address = address, .two_hops = OLSR_NONE, .topology = OLSR_NONE, .interface = address,
		.chain = *olsr_bucket(m, address), .via = OLSR_NONE,
	};
	*olsr_bucket(m, address) = number;
	s->used++;
	return number;
}

static void olsr_forget(struct manet *m, u16 number)
{
	struct olsr_node *n = olsr_node(m, number);
	u16 *at = olsr_bucket(m, n->address);

	while (*at != number)
		at = &olsr_node(m, *at)->chain;
	*at = n->chain;
	n->address = MANET_NOBODY;
	olsr(m)->used--;
}

void olsr_alias(struct manet *m, u32 address, u16 node, u64 until)
{
	struct olsr *s = olsr(m);
	struct olsr_alias *a = alias_of(m, address);

	if (!a)
		a = alias_of(m, MANET_NOBODY);
	if (!a && s->alias_next < OLSR_ALIASES)
		a = &s->alias[s->alias_next++];
	if (!a)
		return;
	*a = (struct olsr_alias){ address, node, until };
	olsr_expire_by(m, until);
}

static u16 *list_of(const struct manet *m, u16 from, bool topology)
{
	struct olsr_node *n = olsr_node(m, from);

	return topology ? &n->topology : &n->two_hops;
}

static void olsr_changed(struct manet *m, bool topology)
{
	olsr(m)->routes_old = true;
	if (!topology)
		olsr(m)->mprs_old = true;
}

static void unlink_edge(struct manet *m, u16 *at)
{
	struct olsr *s = olsr(m);
	u16 edge = *at;

	*at = s->edge[edge].next;
	s->edge[edge].next = s->free_edge;
	s->edge[edge].from = s->edge[edge].to = 0; /* of no node */
	s->free_edge = edge;
}

static u16 *find_edge(struct manet *m, u16 from, u16 to, bool topology)
{
	u16 *at = list_of(m, from, topology);

	while (*at != OLSR_NONE && olsr(m)->edge[*at].to != to)
		at = &olsr(m)->edge[*at].next;
	return at;
}

void olsr_edge_set(struct manet *m, u16 from, u16 to, bool topology, u64 until)
{
	struct olsr *s = olsr(m);
	u16 *at = find_edge(m, from, to, topology), edge = *at;

	if (edge == OLSR_NONE) {
		edge = s->free_edge;
		if (edge == OLSR_NONE)
			return;
		s->free_edge = s->edge[edge].next;
		s->edge[edge] = (struct olsr_edge){ .from = from, .to = to, .next = OLSR_NONE, .topology = topology };
		*at = edge;
		olsr_changed(m, topology);
	}
	s->edge[edge].until = until;
	olsr_expire_by(m, until);
}

void olsr_edge_remove(struct manet *m, u16 from, u16 to, bool topology)
{
	u16 *at = find_edge(m, from, to, topology);

	if (*at == OLSR_NONE)
		return;
	unlink_edge(m, at);
	olsr_changed(m, topology);
}

void olsr_edges_clear(struct manet *m, u16 from, bool topology)
{
	u16 *at = list_of(m, from, topology);

	if (*at != OLSR_NONE)
		olsr_changed(m, topology);
	while (*at != OLSR_NONE)
		unlink_edge(m, at);
}

static struct olsr_duplicate *olsr_duplicates(const struct manet *m, u32 originator, u16 sequence)
{
	return &olsr(m)->duplicate[((originator * 0x9e3779b1U + sequence * 0x85ebca6bU) >> 16) %
				   (OLSR_DUPLICATES / WAYS) * WAYS];
}

bool olsr_is_duplicate(const struct manet *m, u32 originator, u16 sequence)
{
	const struct olsr_duplicate *d = olsr_duplicates(m, originator, sequence);
	u32 i;

	for (i = 0; i < WAYS; i++)
		if (d[i].originator == originator && d[i].sequence == sequence && d[i].until > m->now)
			return true;
	return false;
}

/* Replace the one that expires first. */
void olsr_duplicate_set(struct manet *m, u32 originator, u16 sequence)
{
	struct olsr_duplicate *d = olsr_duplicates(m, originator, sequence), *place = d;
	u32 i;

	for (i = 1; i < WAYS; i++)
		if (d[i].until < place->until)
			place = &d[i];
	*place = (struct olsr_duplicate){ originator, sequence, m->now + param_ns(m, P_DUPLICATE_HOLD_MS) };
}

void olsr_expire_by(struct manet *m, u64 until)
{
	struct manet_timer *t = &olsr(m)->expire;

	if (!t->set || until < t->at)
		timer_set(m, t, TIMER_EXPIRE, until);
}

static void expire_edges(struct manet *m, u16 from, bool topology)
{
	struct olsr *s = olsr(m);
	u16 *at = list_of(m, from, topology);

	while (*at != OLSR_NONE) {
		struct olsr_edge *e = &s->edge[*at];

		if (e->until > m->now) {
			olsr_expire_by(m, e->until);
			s->node[e->to].mentioned = true;
			at = &e->next;
		} else {
			unlink_edge(m, at);
			olsr_changed(m, topology);
		}
	}
}

void olsr_expire(struct manet *m)
{
	struct olsr *s = olsr(m);
	struct olsr_node *n;
	u16 i;

	for (i = s->links; i-- > 0;)
		olsr_link_expire(m, s->link[i]);
	for (i = 0; i < s->alias_next; i++) {
		if (s->alias[i].address && s->alias[i].until <= m->now)
			s->alias[i].address = MANET_NOBODY;
		else if (s->alias[i].address)
			olsr_expire_by(m, s->alias[i].until);
		if (s->alias[i].address)
			s->node[s->alias[i].node].mentioned = true;
	}
	for (i = 0; i < OLSR_NODES; i++) {
		if (s->node[i].address) {
			expire_edges(m, i, false);
			expire_edges(m, i, true);
		}
	}
	for (i = 1; i < OLSR_NODES; i++) {
		n = &s->node[i];
		if (n->address && !n->mentioned && !n->linked && !n->hops && n->two_hops == OLSR_NONE &&
		    n->topology == OLSR_NONE)
			olsr_forget(m, i);
		n->mentioned = false;
	}
}
