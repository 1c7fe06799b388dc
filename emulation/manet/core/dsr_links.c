// SPDX-License-Identifier: GPL-2.0-only
/*
 * DSR's link cache (RFC 4728 section 4.1): a graph of one-way links, and the
 * shortest paths in hops from this node as a tree. The tree is computed again
 * when a new link shortens a path, or a link of the tree is lost.
 *
 * Links live for cache_timeout_ms after they were last learned, or by Link-
 * MaxLife (appendix A): as long as the less stable of their nodes. A node becomes
 * more stable when its links are used and less stable when one breaks. Among the
 * shortest paths, the one whose links live longest is used.
 */
#include "dsr.h"

#define GAIN 4 /* StabilityIncrFactor; StabilityDecrFactor is a half */
#define LIFE_LEAST SECOND
#define LIFE_MOST (3600 * SECOND)

static u16 member_slot(u32 address)
{
	return dsr_hash(address) % DSR_MEMBERS;
}

static u16 link_slot(u16 from, u16 to)
{
	return dsr_hash((u32)from << 16 | to) % DSR_LINKS;
}

void links_start(struct manet *m)
{
	struct dsr_links *l = &dsr_of(m)->links;
	u16 i;

	memset(l, 0, sizeof(*l));
	memset(l->link_hash, 0xff, sizeof(l->link_hash));
	memset(l->member_hash, 0xff, sizeof(l->member_hash));
	for (i = 0; i < DSR_LINKS; i++) {
		l->link[i].from = DSR_NONE;
		l->link[i].next_hash = i + 1 < DSR_LINKS ? i + 1 : DSR_NONE;
	}
	for (i = 0; i < DSR_MEMBERS; i++)
		l->member[i].next_hash = i + 1 < DSR_MEMBERS ? i + 1 : DSR_NONE;
}

static u16 member_of(const struct dsr_links *l, u32 address)
{
	u16 i = l->member_hash[member_slot(address)];

	while (i != DSR_NONE && l->member[i].address != address)
		i = l->member[i].next_hash;
	return i;
}

/* DSR_NONE: there is no room. */
static u16 member_made(struct dsr_links *l, u32 address)
{
	u16 i = member_of(l, address), *slot = &l->member_hash[member_slot(address)];

	if (i != DSR_NONE || l->free_members == DSR_NONE)
		return i;
	i = l->free_members;
	l->free_members = l->member[i].next_hash;
	l->member[i] = (struct dsr_member){
		.address = address, .first_out = DSR_NONE, .last_out = DSR_NONE, .next_hash = *slot,
		.parent = DSR_NONE,
	};
	*slot = i;
	return i;
}

static void let_go(struct dsr_links *l, u16 member)
{
	u16 *at = &l->member_hash[member_slot(l->member[member].address)];

	if (l->member[member].links)
		return;
	while (*at != member)
		at = &l->member[*at].next_hash;
	*at = l->member[member].next_hash;
	l->member[member].next_hash = l->free_members;
	l->free_members = member;
}

static u16 link_of(const struct dsr_links *l, u16 from, u16 to)
{
	u16 i = l->link_hash[link_slot(from, to)];

	while (i != DSR_NONE && (l->link[i].from != from || l->link[i].to != to))
		i = l->link[i].next_hash;
	return i;
}

static void take_out(struct dsr_links *l, u16 link)
{
	struct dsr_link *gone = &l->link[link];
	struct dsr_member *from = &l->member[gone->from];
	u16 *at = &l->link_hash[link_slot(gone->from, gone->to)], before = DSR_NONE, to = gone->to, i;

	while (*at != link)
		at = &l->link[*at].next_hash;
	*at = gone->next_hash;
	for (i = from->first_out; i != link; i = l->link[i].next_out)
		before = i;
	if (before == DSR_NONE)
		from->first_out = gone->next_out;
	else
		l->link[before].next_out = gone->next_out;
	if (from->last_out == link)
		from->last_out = before;
	if (l->member[to].parent == gone->from)
		l->tree_valid = false;
	from->links--;
	l->member[to].links--;
	let_go(l, gone->from);
	let_go(l, to);
	gone->from = DSR_NONE;
	gone->next_hash = l->free_links;
	l->free_links = link;
	l->count--;
}

/* ---- stability ---- */

static struct dsr_stable *dsr_find_stable(struct manet *m, u32 address)
{
	struct dsr_links *l = &dsr_of(m)->links;
	struct dsr_stable *set = &l->stable[dsr_hash(address) % (DSR_STABLE / DSR_WAYS) * DSR_WAYS], *oldest = set;
	u32 i;

	for (i = 0; i < DSR_WAYS; i++) {
		if (set[i].address == address)
			return &set[i];
		if (set[i].changed < oldest->changed)
			oldest = &set[i];
	}
	*oldest = (struct dsr_stable){ .address = address, .life = param_ns(m, P_STABILITY_MS), .changed = m->now };
	return oldest;
}

static u64 dsr_lifetime(struct manet *m, u32 from, u32 to)
{
	u64 life = param_ns(m, P_CACHE_TIMEOUT_MS), other;

	if (!param(m, P_MAX_LIFE))
		return life ? life : NEVER / 2;
	life = dsr_find_stable(m, from)->life;
	other = dsr_find_stable(m, to)->life;
	life = other < life ? other : life;
	return life < LIFE_LEAST ? LIFE_LEAST : life;
}

static void dsr_grow(struct manet *m, u32 node, u64 time)
{
	struct dsr_stable *s = dsr_find_stable(m, node);

	s->changed = m->now;
	s->life += GAIN * time;
	if (s->life > LIFE_MOST)
		s->life = LIFE_MOST;
}

void links_use(struct manet *m, const struct dsr_route *r)
{
	struct dsr_links *l = &dsr_of(m)->links;
	u64 until = m->now + param_ns(m, P_USE_EXTENDS_MS);
	u8 i;

	for (i = 0; i + 1 < r->count; i++) {
		u16 from = member_of(l, r->node[i]), to = member_of(l, r->node[i + 1]), at;

		at = from == DSR_NONE || to == DSR_NONE ? DSR_NONE : link_of(l, from, to);
		if (at == DSR_NONE)
			continue;
		dsr_grow(m, r->node[i], m->now - l->link[at].used);
		dsr_grow(m, r->node[i + 1], m->now - l->link[at].used);
		l->link[at].used = m->now;
		if (l->link[at].until < until)
			l->link[at].until = until;
	}
}

void links_blame(struct manet *m, u32 from, u32 to)
{
	dsr_find_stable(m, from)->life /= 2;
	dsr_find_stable(m, to)->life /= 2;
}

/* ---- */

/* Replace the link that expires first, among the next few. */
static void make_room(struct dsr_links *l)
{
	u16 tries = DSR_LINKS, few = 16, first = DSR_NONE, at;

	for (; tries && few; tries--) {
		at = l->hand++ % DSR_LINKS;
		if (l->link[at].from == DSR_NONE)
			continue;
		few--;
		if (first == DSR_NONE || l->link[at].until < l->link[first].until)
			first = at;
	}
	if (first != DSR_NONE)
		take_out(l, first);
}

static void put_in(struct dsr_links *l, u16 from, u16 to, u64 until, u64 now)
{
	u16 link = l->free_links, *slot = &l->link_hash[link_slot(from, to)];
	struct dsr_member *f = &l->member[from], *t = &l->member[to];

	l->free_links = l->link[link].next_hash;
	l->link[link] = (struct dsr_link){
		.from = from, .to = to, .until = until, .used = now, .next_out = DSR_NONE, .next_hash = *slot,
	};
	*slot = link;
	if (f->last_out == DSR_NONE)
		f->first_out = link;
	else
		l->link[f->last_out].next_out = link;
	f->last_out = link;
	f->links++;
	t->links++;
	l->count++;
}

/* Does the tree stay valid with one more link? If not, record whether a path became shorter. */
static bool changes_nothing(struct manet *m, const struct dsr_member *from, const struct dsr_member *to)
{
	struct dsr *d = dsr_of(m);

	if (!d->links.tree_valid || to->address == m->address)
		return d->links.tree_valid;
	if (from->address != m->address && from->parent == DSR_NONE)
		return true; /* the link's node is not reached */
	if (to->parent != DSR_NONE && to->depth <= from->depth)
		return true;
	if (to->parent != DSR_NONE && to->depth == from->depth + 1)
		return !param(m, P_MAX_LIFE); /* otherwise it is as short, and may live longer */
	d->news = true;
	return false;
}

void links_add(struct manet *m, u32 from, u32 to)
{
	struct dsr_links *l = &dsr_of(m)->links;
	u64 until = m->now + dsr_lifetime(m, from, to);
	u16 f = member_of(l, from), t = member_of(l, to), link;

	link = f == DSR_NONE || t == DSR_NONE ? DSR_NONE : link_of(l, f, t);
	if (link != DSR_NONE) {
		if (l->link[link].until < until)
			l->link[link].until = until;
		return;
	}
	if (l->count >= param(m, P_CACHE_LINKS)) {
		if (!param(m, P_CACHE_REPLACE))
			return;
		make_room(l);
	}
	f = member_made(l, from);
	if (f == DSR_NONE)
		return;
	l->member[f].links++; /* keep it */
	t = member_made(l, to);
	l->member[f].links--;
	if (t == DSR_NONE)
		return let_go(l, f);
	put_in(l, f, t, until, m->now);
	if (until < NEVER / 2 && (!l->expiry.set || until < l->expiry.at))
		timer_set(m, &l->expiry, TIMER_LINKS, until);
	if (!l->tree_valid)
		dsr_of(m)->news = true;
	l->tree_valid = changes_nothing(m, &l->member[f], &l->member[t]);
}

bool links_forget(struct manet *m, u32 from, u32 to)
{
	struct dsr_links *l = &dsr_of(m)->links;
	u16 f = member_of(l, from), t = member_of(l, to), link;

	link = f == DSR_NONE || t == DSR_NONE ? DSR_NONE : link_of(l, f, t);
	if (link == DSR_NONE)
		return false;
	take_out(l, link);
	return true;
}

void links_expire(struct manet *m)
{
	struct dsr_links *l = &dsr_of(m)->links;
	u64 next = NEVER;
	u16 i;

	for (i = 0; i < DSR_LINKS; i++) {
		if (l->link[i].from == DSR_NONE)
			continue;
		if (l->link[i].until <= m->now)
			take_out(l, i);
		else if (l->link[i].until < next)
			next = l->link[i].until;
	}
	if (next != NEVER)
		timer_set(m, &l->expiry, TIMER_LINKS, next);
}

/*
 * Breadth-first search, so by hops; of the paths to one node, the one that lives longest. The root
 * is its own parent.
 */
static void find_tree(struct dsr_links *l, u16 root, bool longest_lived)
{
	u16 head = 0, tail = 0, i;

	for (i = 0; i < DSR_MEMBERS; i++)
		l->member[i].parent = DSR_NONE;
	l->member[root].parent = root;
	l->member[root].depth = 0;
	l->member[root].life = NEVER;
	l->queue[tail++] = root;
	while (head < tail) {
		u16 from = l->queue[head++];

		for (i = l->member[from].first_out; i != DSR_NONE; i = l->link[i].next_out) {
			struct dsr_member *to = &l->member[l->link[i].to], *by = &l->member[from];
			u64 life = l->link[i].until < by->life ? l->link[i].until : by->life;
			bool first = to->parent == DSR_NONE;

			if (by->depth >= 250 || (!first && !(longest_lived && to->depth == by->depth + 1 && life > to->life)))
				continue;
			to->parent = from;
			to->depth = by->depth + 1;
			to->life = life;
			if (first)
				l->queue[tail++] = l->link[i].to;
		}
	}
	l->tree_valid = true;
}

bool links_find(struct manet *m, u32 to, struct dsr_route *r)
{
	struct dsr_links *l = &dsr_of(m)->links;
	u16 root = member_of(l, m->address), at = member_of(l, to);
	u8 i;

	if (root == DSR_NONE || at == DSR_NONE)
		return false;
	if (!l->tree_valid || l->member[root].parent != root)
		find_tree(l, root, param(m, P_MAX_LIFE));
	if (l->member[at].parent == DSR_NONE || l->member[at].depth > param(m, P_HOPS_MOST) || at == root)
		return false;
	r->count = l->member[at].depth + 1;
	for (i = r->count; i; at = l->member[at].parent)
		r->node[--i] = l->member[at].address;
	return true;
}
