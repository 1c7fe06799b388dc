// SPDX-License-Identifier: GPL-2.0-only
/*
 * OLSR's computations: the multipoint relays (RFC 3626, 8.3.1) and the routes
 * (10). Where the RFC leaves a tie open, the lower address wins, or the first
 * entry. So equal sets give equal results.
 */
#include "olsr.h"

/* The edges of a list. */
#define for_each_edge(s, e, first) \
	for ((e) = edge_or_null(s, first); (e); (e) = edge_or_null(s, (e)->next))

static const struct olsr_edge *edge_or_null(const struct olsr *s, u16 edge)
{
	return edge == OLSR_NONE ? NULL : &s->edge[edge];
}

static bool may_relay(const struct olsr_node *n)
{
	return n->symmetric && n->willingness != WILL_NEVER;
}

/* In N2: neither this node nor one of its neighbours. */
static bool is_two_hops_away(const struct olsr *s, u16 number)
{
	return number != OLSR_SELF && !s->node[number].symmetric;
}

static u16 olsr_enough(const struct manet *m, u16 number)
{
	u16 covers = olsr(m)->covers[number], coverage = param(m, P_MPR_COVERAGE);

	return covers < coverage ? covers : coverage;
}

static void set_mpr(struct manet *m, struct olsr_node *n, bool mpr)
{
	struct olsr *s = olsr(m);
	const struct olsr_edge *e;

	if (n->mpr == mpr)
		return;
	n->mpr = mpr;
	for_each_edge(s, e, n->two_hops)
		if (is_two_hops_away(s, e->to))
			s->covered[e->to] += mpr ? 1 : -1;
}

/* Count the neighbours that reach each node at two hops, and choose the MPRs that are necessary (steps 1 to 3). */
static void olsr_begin(struct manet *m)
{
	struct olsr *s = olsr(m);
	const struct olsr_edge *e;
	u32 i;

	memset(s->covers, 0, sizeof(s->covers));
	memset(s->covered, 0, sizeof(s->covered));
	for (i = 0; i < s->links; i++) {
		struct olsr_node *n = &s->node[s->link[i]];

		n->mpr = false;
		for_each_edge(s, e, n->two_hops)
			if (may_relay(n) && is_two_hops_away(s, e->to))
				s->covers[e->to]++;
	}
	for (i = 0; i < s->links; i++) {
		struct olsr_node *n = &s->node[s->link[i]];
		bool must = n->willingness == WILL_ALWAYS;

		if (!may_relay(n))
			continue;
		for_each_edge(s, e, n->two_hops)
			must |= is_two_hops_away(s, e->to) && s->covers[e->to] <= param(m, P_MPR_COVERAGE);
		if (must)
			set_mpr(m, n, true);
	}
}

/* How many uncovered nodes @n reaches, and how many nodes in all (D(y)). */
static u32 olsr_reachability(const struct manet *m, const struct olsr_node *n, u32 *degree)
{
	const struct olsr *s = olsr(m);
	const struct olsr_edge *e;
	u32 reached = 0;

	*degree = 0;
	for_each_edge(s, e, n->two_hops) {
		if (!is_two_hops_away(s, e->to))
			continue;
		++*degree;
		reached += s->covered[e->to] < olsr_enough(m, e->to);
	}
	return reached;
}

/* Step 4: the neighbour with the highest willingness, then reachability, then degree. NULL: all nodes are covered. */
static struct olsr_node *next_mpr(struct manet *m)
{
	struct olsr *s = olsr(m);
	struct olsr_node *best = NULL;
	u32 best_reached = 0, best_degree = 0, reached, degree, i;

	for (i = 0; i < s->links; i++) {
		struct olsr_node *n = &s->node[s->link[i]];

		if (!may_relay(n) || n->mpr)
			continue;
		reached = olsr_reachability(m, n, &degree);
		if (!reached)
			continue;
		if (best && n->willingness != best->willingness) {
			if (n->willingness < best->willingness)
				continue;
		} else if (best && reached != best_reached) {
			if (reached < best_reached)
				continue;
		} else if (best && degree != best_degree) {
			if (degree < best_degree)
				continue;
		} else if (best && n->address > best->address) {
			continue;
		}
		best = n;
		best_reached = reached;
		best_degree = degree;
	}
	return best;
}

static bool is_superfluous(const struct manet *m, const struct olsr_node *n)
{
	const struct olsr *s = olsr(m);
	const struct olsr_edge *e;

	for_each_edge(s, e, n->two_hops)
		if (is_two_hops_away(s, e->to) && s->covered[e->to] <= olsr_enough(m, e->to))
			return false;
	return true;
}

void olsr_choose_mprs(struct manet *m)
{
	struct olsr *s = olsr(m);
	struct olsr_node *n;
	u32 willingness, i;

	olsr_begin(m);
	while ((n = next_mpr(m)))
		set_mpr(m, n, true);
	for (willingness = WILL_NEVER + 1; willingness < WILL_ALWAYS; willingness++) { /* step 5 */
		for (i = 0; i < s->links; i++) {
			n = &s->node[s->link[i]];
			if (n->mpr && n->willingness == willingness && is_superfluous(m, n))
				set_mpr(m, n, false);
		}
	}
	s->mprs_old = false;
}

/* Of two neighbours that lead to the same node, which one is preferred (10)? */
static bool is_better(const struct manet *m, const struct olsr_node *n, const struct olsr_node *than)
{
	bool selector = olsr_is_selector(m, n);

	if (n->willingness != than->willingness)
		return n->willingness > than->willingness;
	if (selector != olsr_is_selector(m, than))
		return selector;
	return n->address < than->address;
}

/* Add the nodes at one and two hops. Return the number of nodes in the queue, those at two hops. */
static u32 begin_routes(struct manet *m)
{
	struct olsr *s = olsr(m);
	const struct olsr_edge *e;
	u32 last = 0, i;

	for (i = 0; i < s->links; i++) {
		struct olsr_node *n = &s->node[s->link[i]];

		if (!n->symmetric)
			continue;
		n->hops = 1;
		n->via = s->link[i];
	}
	for (i = 0; i < s->links; i++) {
		const struct olsr_node *n = &s->node[s->link[i]];

		for_each_edge(s, e, n->two_hops) {
			struct olsr_node *to = &s->node[e->to];

			if (!may_relay(n) || !is_two_hops_away(s, e->to))
				continue;
			if (!to->hops)
				s->queue[last++] = e->to;
			if (!to->hops || is_better(m, n, &s->node[to->via]))
				to->via = s->link[i];
			to->hops = 2;
		}
	}
	return last;
}

static void tell_changes(struct manet *m)
{
	struct olsr *s = olsr(m);
	u32 left = s->used, i;

	for (i = 0; left; i++) {
		struct olsr_node *n = &s->node[i];

		if (!n->address)
			continue;
		left--;
		if (n->hops == n->hops_before && (!n->hops || n->via == n->via_before))
			continue;
		if (n->hops)
			manet_tell(m, n->hops_before ? MANET_CHANGED : MANET_FOUND, NULL, n->address,
				   s->node[n->via].interface, n->hops, 0, 0);
		else
			manet_tell(m, MANET_LOST_ROUTE, NULL, n->address, MANET_NOBODY, 0, 0, 0);
	}
}

void olsr_find_routes(struct manet *m)
{
	struct olsr *s = olsr(m);
	const struct olsr_edge *e;
	u32 first = 0, last, i;

	for (i = 0; i < OLSR_NODES; i++) {
		struct olsr_node *n = &s->node[i];

		n->hops_before = n->hops;
		n->via_before = n->via;
		n->hops = 0;
	}
	for (last = begin_routes(m); first < last; first++) {
		const struct olsr_node *n = &s->node[s->queue[first]];

		for_each_edge(s, e, n->topology) {
			struct olsr_node *to = &s->node[e->to];

			if (e->to == OLSR_SELF || to->hops || n->hops == 255)
				continue;
			to->hops = n->hops + 1;
			to->via = n->via;
			s->queue[last++] = e->to;
		}
	}
	s->routes_old = false;
	tell_changes(m);
}
