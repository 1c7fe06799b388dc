// SPDX-License-Identifier: GPL-2.0-only
/* The state of a DSR node as entries: routes in use, caches, searches, seen requests, neighbours. */
#include "dsr.h"

enum { STATE_NONE, STATE_PRIMARY, STATE_SECONDARY, STATE_SEARCHING, STATE_IDLE, STATE_SEEN, STATE_ASKED };

const char *const dsr_states[] = { "", "primary", "secondary", "searching", "idle", "seen", "asked", NULL };

static bool used_line(const struct manet *m, u32 i, struct manet_entry *e)
{
	const struct dsr_used *u = &dsr_of(m)->used[i];
	struct dsr_route r;
	u8 k;

	if (!u->to)
		return false;
	*e = (struct manet_entry){ .kind = MANET_ROUTE, .hops = u->hops, .valid = u->valid, .to = u->to, .via = u->via,
				   .until = NEVER };
	if (!dsr_find((struct manet *)m, u->to, &r, false))
		return true;
	e->n_path = r.count - 2;
	for (k = 0; k < e->n_path; k++)
		e->path[k] = r.node[k + 1];
	return true;
}

static bool link_line(const struct manet *m, u32 i, struct manet_entry *e)
{
	const struct dsr_links *l = &dsr_of(m)->links;
	const struct dsr_link *link = &l->link[i];

	if (link->from == DSR_NONE)
		return false;
	*e = (struct manet_entry){ .kind = MANET_LINK, .valid = true, .from = l->member[link->from].address,
				   .to = l->member[link->to].address, .hops = 1, .until = link->until };
	return true;
}

static bool path_line(const struct manet *m, u32 i, struct manet_entry *e)
{
	const struct dsr *d = dsr_of(m);
	bool second = i >= DSR_PATHS;
	const struct dsr_path *path = &(second ? &d->secondary : &d->primary)->path[i % DSR_PATHS];
	u8 k;

	if (!path->route.count)
		return false;
	*e = (struct manet_entry){ .kind = MANET_SOURCE_ROUTE, .valid = path->until > m->now, .hops = path->route.count - 1,
				   .from = m->address, .to = path->route.node[path->route.count - 1],
				   .via = path->route.node[1], .until = path->until,
				   .state = second ? STATE_SECONDARY : STATE_PRIMARY, .n_path = path->route.count - 2 };
	for (k = 0; k < e->n_path; k++)
		e->path[k] = path->route.node[k + 1];
	return true;
}

static bool search_line(const struct manet *m, u32 i, struct manet_entry *e)
{
	const struct dsr_search *s = &dsr_of(m)->search[i];

	if (i >= dsr_of(m)->searches)
		return false;
	*e = (struct manet_entry){ .kind = MANET_PENDING, .valid = s->on, .to = s->target, .from = m->address, .hops = s->ttl,
				   .state = s->on ? STATE_SEARCHING : STATE_IDLE, .sequence = s->tries,
				   .until = s->timer.set ? s->timer.at : NEVER, .waiting = dsr_waiting_for(m, s->target) };
	return true;
}

static bool requester_line(const struct manet *m, u32 i, struct manet_entry *e)
{
	const struct dsr_requester *r = &dsr_of(m)->requester[i];
	const struct dsr_seen *last = &r->seen[(r->oldest + r->count + DSR_IDS - 1) % DSR_IDS];

	if (i >= dsr_of(m)->requesters)
		return false;
	*e = (struct manet_entry){ .kind = MANET_PENDING, .from = r->address, .to = last->target, .sequence = last->id,
				   .state = STATE_SEEN, .until = NEVER };
	return true;
}

static bool neighbour_line(const struct manet *m, u32 i, struct manet_entry *e)
{
	const struct dsr_neighbour *n = &dsr_of(m)->neighbour[i];

	if (!n->address)
		return false;
	*e = (struct manet_entry){ .kind = MANET_NEIGHBOUR, .to = n->address, .sequence = n->id, .valid = !n->waiting,
				   .state = n->waiting ? STATE_ASKED : STATE_NONE,
				   .until = n->timer.set ? n->timer.at : NEVER };
	return true;
}

bool dsr_dump(const struct manet *m, u32 *cursor, struct manet_entry *entry)
{
	static const struct {
		u32 count;
		bool (*line)(const struct manet *m, u32 i, struct manet_entry *e);
	} parts[] = {
		{ DSR_USED, used_line }, { DSR_LINKS, link_line }, { 2 * DSR_PATHS, path_line },
		{ DSR_SEARCHES, search_line }, { DSR_REQUESTERS, requester_line }, { DSR_NEIGHBOURS, neighbour_line },
	};
	u32 first = 0, part;

	for (part = 0; part < ARRAY_SIZE(parts); first += parts[part++].count) {
		while (*cursor < first + parts[part].count)
			if (parts[part].line(m, (*cursor)++ - first, entry))
				return true;
	}
	return false;
}
