// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a node knows of routes: a cache of links (dsr_links.c) or, as in the CMU
 * agent, of paths from this node, in two parts: paths from replies or in use, and
 * overheard ones. Also the routes in use, so that their discovery, changes and
 * loss can be reported.
 */
#include "dsr.h"

/* ---- paths ---- */

static bool is_there(const struct manet *m, const struct dsr_path *path)
{
	return path->route.count && path->until > m->now;
}

static u8 dsr_common(const struct dsr_route *a, const struct dsr_route *b)
{
	u8 i;

	for (i = 0; i < a->count && i < b->count && a->node[i] == b->node[i]; i++)
		;
	return i;
}

/* A path that it contains, or that contains it, from the start; or a free place; or the next one in turn. */
static struct dsr_path *place_for(const struct manet *m, struct dsr_paths *paths, u32 size, const struct dsr_route *r)
{
	struct dsr_path *path, *free = NULL;

	for (path = paths->path; path < paths->path + size; path++) {
		if (is_there(m, path)) {
			u8 n = dsr_common(&path->route, r);

			if (n == r->count || n == path->route.count)
				return path;
		} else if (!free) {
			free = path;
		}
	}
	if (!free) {
		free = &paths->path[paths->victim % size];
		paths->victim = (paths->victim + 1) % size;
	}
	free->route.count = 0;
	return free;
}

static void paths_add(struct manet *m, struct dsr_paths *paths, u32 size, const struct dsr_route *r)
{
	struct dsr_path *path;
	u64 lifetime = param_ns(m, P_CACHE_TIMEOUT_MS);

	if (r->count < 2)
		return;
	path = place_for(m, paths, size, r);
	path->until = lifetime ? m->now + lifetime : NEVER;
	if (path->route.count >= r->count)
		return;
	path->route = *r;
	dsr_of(m)->news = true;
}

static struct dsr_path *dsr_shortest(const struct manet *m, struct dsr_paths *paths, u32 size, u32 to, u8 *nodes)
{
	struct dsr_path *path, *best = NULL;

	for (path = paths->path; path < paths->path + size; path++) {
		u8 place = is_there(m, path) ? dsr_place(&path->route, to) : DSR_NODES;

		if (place < path->route.count && place + 1 < *nodes) {
			*nodes = place + 1;
			best = path;
		}
	}
	return best;
}

static bool paths_find(struct manet *m, u32 to, struct dsr_route *r, bool use)
{
	struct dsr *d = dsr_of(m);
	u8 nodes = param(m, P_HOPS_MOST) + 2;
	struct dsr_path *first, *second;

	first = dsr_shortest(m, &d->primary, param(m, P_CACHE_PRIMARY), to, &nodes);
	second = dsr_shortest(m, &d->secondary, param(m, P_CACHE_SECONDARY), to, &nodes);
	if (!first && !second)
		return false;
	*r = second ? second->route : first->route;
	if (second && use) {
		paths_add(m, &d->primary, param(m, P_CACHE_PRIMARY), &second->route);
		second->route.count = 0;
	}
	r->count = nodes;
	return nodes > 1;
}

static void paths_forget(struct dsr_paths *paths, u32 from, u32 to)
{
	struct dsr_path *path;
	u8 i;

	for (path = paths->path; path < paths->path + DSR_PATHS; path++) {
		for (i = 0; i + 1 < path->route.count; i++)
			if (path->route.node[i] == from && path->route.node[i + 1] == to)
				path->route.count = i ? i + 1 : 0;
	}
}

/* Learn the part from place @at on, in either direction, with this node before it if it is not on it. */
static void learn_path(struct manet *m, const struct dsr_route *r, u8 at, bool back, bool asked)
{
	struct dsr *d = dsr_of(m);
	struct dsr_route path = { .count = 0 };

	if (r->node[at] != m->address)
		path.node[path.count++] = m->address;
	while (at < r->count && path.count < DSR_NODES) {
		path.node[path.count++] = r->node[at];
		at = back ? at - 1 : at + 1; /* below 0: it is 255 */
	}
	if (asked)
		paths_add(m, &d->primary, param(m, P_CACHE_PRIMARY), &path);
	else
		paths_add(m, &d->secondary, param(m, P_CACHE_SECONDARY), &path);
}

/* ---- both ---- */

static void learn_link(struct manet *m, u32 from, u32 to)
{
	links_add(m, from, to);
	if (param(m, P_CACHE_REVERSE))
		links_add(m, to, from);
}

void dsr_learn(struct manet *m, const struct dsr_route *r, bool asked, u32 sender)
{
	u8 i, at;

	if (!param(m, P_CACHE_PATHS)) {
		for (i = 0; i + 1 < r->count; i++)
			learn_link(m, r->node[i], r->node[i + 1]);
		if (sender && sender != m->address)
			learn_link(m, m->address, sender);
		return;
	}
	at = dsr_place(r, m->address);
	if (at == r->count && sender)
		at = dsr_place(r, sender);
	if (at == r->count)
		return;
	learn_path(m, r, at, false, asked);
	if (param(m, P_CACHE_REVERSE))
		learn_path(m, r, at, true, asked);
}

static bool forget_one_way(struct manet *m, u32 from, u32 to)
{
	if (!param(m, P_CACHE_PATHS))
		return links_forget(m, from, to);
	paths_forget(&dsr_of(m)->primary, from, to);
	paths_forget(&dsr_of(m)->secondary, from, to);
	return false;
}

void dsr_forget(struct manet *m, u32 from, u32 to)
{
	bool was_there = forget_one_way(m, from, to);

	if (param(m, P_BREAK_BOTH))
		was_there |= forget_one_way(m, to, from);
	if (was_there && param(m, P_MAX_LIFE))
		links_blame(m, from, to);
}

bool dsr_known(struct manet *m, u32 neighbour)
{
	u8 mac[MANET_ALEN];

	return neighbour_of(m, neighbour) || m->ops->resolve(m->edge, neighbour, mac);
}

/* A route via a neighbour without a known MAC address does not count. */
bool dsr_find(struct manet *m, u32 to, struct dsr_route *r, bool use)
{
	u32 most = DSR_MEMBERS;

	while (most-- && (param(m, P_CACHE_PATHS) ? paths_find(m, to, r, use) : links_find(m, to, r))) {
		if (dsr_known(m, r->node[1]))
			return true;
		forget_one_way(m, m->address, r->node[1]);
	}
	return false;
}

/* ---- routes in use ---- */

static struct dsr_used *used_place(const struct manet *m, u32 to)
{
	struct dsr_used *used = dsr_of(m)->used;
	u32 first = dsr_hash(to), i;

	for (i = 0; i < DSR_USED; i++) {
		struct dsr_used *u = &used[(first + i) % DSR_USED];

		if (u->to == to || !u->to)
			return u;
	}
	return NULL;
}

const struct dsr_used *dsr_used_for(const struct manet *m, u32 to)
{
	const struct dsr_used *u = used_place(m, to);

	return u && u->to ? u : NULL;
}

void dsr_uses_links(struct manet *m, const struct dsr_route *r)
{
	if (param(m, P_MAX_LIFE) && !param(m, P_CACHE_PATHS))
		links_use(m, r);
}

void dsr_uses(struct manet *m, const struct manet_packet *p, const struct dsr_route *r)
{
	u32 to = r->node[r->count - 1], via = r->node[1];
	struct dsr_used *u = used_place(m, to), now = { .to = to, .via = via, .hops = r->count - 1, .valid = true };

	dsr_uses_links(m, r);
	if (!u)
		return;
	dsr_of(m)->in_use += !u->valid;
	if (!u->valid)
		manet_tell(m, MANET_FOUND, p, to, via, now.hops, 0, 0);
	else if (u->via != via || u->hops != now.hops)
		manet_tell(m, MANET_CHANGED, p, to, via, now.hops, 0, 0);
	*u = now;
}

void dsr_tell_lost(struct manet *m)
{
	struct dsr *d = dsr_of(m);
	struct dsr_used *u = d->used;
	u32 left = d->in_use;
	struct dsr_route r;

	for (; left; u++) {
		left -= u->valid;
		if (!u->valid || dsr_find(m, u->to, &r, false))
			continue;
		u->valid = false;
		d->in_use--;
		manet_tell(m, MANET_LOST_ROUTE, NULL, u->to, u->via, 0, 0, 0);
	}
}
