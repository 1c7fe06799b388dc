// SPDX-License-Identifier: GPL-2.0-only
/*
 * Static routes: the user sets all of them, and no event changes them. A packet
 * that the link layer gives up is lost, and nothing else is.
 */
#include "node.h"

#define ROUTES 512 /* a power of two */

struct route {
	u32 to, via;
	u8 hops;
};

struct routes {
	struct route route[ROUTES]; /* open addressing; to 0: free; via MANET_NOBODY: the route was removed */
};

static struct routes *static_routes(const struct manet *m)
{
	return (struct routes *)m->state;
}

/* Its entry, or a free one, or NULL: there is no room. */
static struct route *static_entry(const struct manet *m, u32 to)
{
	u32 first = to * 0x9e3779b1U % ROUTES, i;

	for (i = 0; i < ROUTES; i++) {
		struct route *r = &static_routes(m)->route[(first + i) % ROUTES];

		if (r->to == to || !r->to)
			return r;
	}
	return NULL;
}

static bool set_route(struct manet *m, u32 to, u32 via, u8 hops)
{
	struct route *r = static_entry(m, to);
	u32 before = r ? r->via : MANET_NOBODY;

	if (!r || !to)
		return false;
	*r = (struct route){ .to = to, .via = via, .hops = hops };
	if (via != before)
		manet_tell(m, via == MANET_NOBODY ? MANET_LOST_ROUTE : before == MANET_NOBODY ? MANET_FOUND : MANET_CHANGED,
			   NULL, to, via, hops, 0, 0);
	return true;
}

static void static_start(struct manet *m)
{
}

static void static_stop(struct manet *m)
{
}

static void send_on(struct manet *m, struct manet_packet *p, void (*send)(struct manet *, struct manet_packet *, u32))
{
	const struct route *r = static_entry(m, ip_destination(p->data));

	if (!r || !r->to || r->via == MANET_NOBODY)
		return manet_drop(m, p, MANET_NO_ROUTE);
	send(m, p, r->via);
}

static void static_output(struct manet *m, struct manet_packet *p)
{
	send_on(m, p, manet_send);
}

static void static_input(struct manet *m, struct manet_packet *p, const u8 *from)
{
	if (manet_is_ours(m, ip_destination(p->data)))
		return manet_deliver(m, p);
	send_on(m, p, manet_forward);
}

static void static_lost(struct manet *m, struct manet_packet *p)
{
	manet_drop(m, p, MANET_LINK_BROKEN);
}

static void static_timer(struct manet *m, struct manet_timer *t)
{
}

static u32 static_hops(const struct manet *m, u32 to)
{
	const struct route *r = static_entry(m, to);

	return r && r->to && r->via != MANET_NOBODY ? r->hops : 0;
}

static bool static_dump(const struct manet *m, u32 *cursor, struct manet_entry *e)
{
	for (; *cursor < ROUTES; ++*cursor) {
		const struct route *r = &static_routes(m)->route[*cursor];

		if (!r->to)
			continue;
		++*cursor;
		*e = (struct manet_entry){ .kind = MANET_ROUTE, .valid = r->via != MANET_NOBODY, .to = r->to,
					   .via = r->via, .hops = r->hops, .until = NEVER };
		return true;
	}
	return false;
}

static const struct manet_parameter parameters[] = {
	PARAMETER_QUEUE, PARAMETER_ROUTING_FIRST(0), PARAMETER_JITTER(0, 0, 0), PARAMETER_ORPHAN, PARAMETER_TELL
};

const struct manet_protocol static_protocol = {
	.name = "static",
	.size = sizeof(struct routes),
	.parameters = parameters,
	.n_parameters = ARRAY_SIZE(parameters),
	.start = static_start,
	.stop = static_stop,
	.output = static_output,
	.input = static_input,
	.lost = static_lost,
	.timer = static_timer,
	.hops = static_hops,
	.set_route = set_route,
	.dump = static_dump,
};
