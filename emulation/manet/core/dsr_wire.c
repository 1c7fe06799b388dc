// SPDX-License-Identifier: GPL-2.0-only
/*
 * DSR's packet format (RFC 4728 section 6): an options header between the IP
 * header and the payload. Received bytes are used only after dsr_parse() has
 * checked them.
 *
 * Segments Left counts the listed nodes that the packet has still to visit,
 * including the next one, as the text of 6.7 says and DSR-UU does.
 */
#include "dsr.h"

enum { ROUTE_FIXED = 4, REQUEST_FIXED = 8, REPLY_FIXED = 3, ERROR_SIZE = 16, ACK_SIZE = 12, ACK_REQUEST_SIZE = 4 };

/* Can an option of @len data bytes have its type? */
static bool dsr_fits(const u8 *option, u8 len)
{
	switch (option[0]) {
	case OPT_REQUEST:
		return len >= 6 && !((len - 6) & 3) && (len - 6) / 4 < DSR_HOPS;
	case OPT_REPLY:
		return len >= 5 && !((len - 1) & 3) && (len - 1) / 4 <= DSR_HOPS;
	case OPT_ERROR:
		return len >= 10 && (option[2] != NODE_UNREACHABLE || len >= 14);
	case OPT_ACK:
		return len >= 10;
	case OPT_ACK_REQUEST:
		return len >= 2;
	case OPT_ROUTE:
		return len >= 2 && !((len - 2) & 3) && (len - 2) / 4 <= DSR_HOPS && (option[3] & 63) <= (len - 2) / 4;
	}
	return (option[0] & 0x60) != 0x60 || option[0] == OPT_PAD1; /* these must not be skipped (8.1.6) */
}

static u16 *place_of(struct dsr_options *o, u8 type)
{
	switch (type) {
	case OPT_REQUEST:
		return &o->request;
	case OPT_REPLY:
		return &o->reply;
	case OPT_ERROR:
		return &o->error;
	case OPT_ACK:
		return &o->ack;
	case OPT_ACK_REQUEST:
		return &o->ack_request;
	case OPT_ROUTE:
		return &o->route;
	}
	return NULL;
}

static u8 kind_of(const struct dsr_options *o)
{
	if (o->next_header != NO_NEXT_HEADER)
		return MANET_DATA;
	return o->request ? MANET_RREQ : o->reply ? MANET_RREP : o->error ? MANET_RERR : MANET_ACK;
}

static u32 dsr_option_after(const u8 *ip, u32 at)
{
	return ip[at] == OPT_PAD1 ? at + 1 : at + 2 + ip[at + 1];
}

bool dsr_parse(const u8 *ip, u32 len, bool cut, struct dsr_options *o)
{
	u32 at = ip_header_len(ip), total = get16(ip + 2), end;

	memset(o, 0, sizeof(*o));
	o->header = at;
	if (len > total)
		len = total;
	if (at + DSR_FIXED > len)
		return false;
	end = at + DSR_FIXED + get16(ip + at + 2);
	if (end > len || (ip[at + 1] & 0x80)) /* a flow state header */
		return false;
	o->end = end;
	o->next_header = ip[at];
	for (at += DSR_FIXED; at < end; at = dsr_option_after(ip, at)) {
		u16 *first;

		if (ip[at] == OPT_PAD1)
			continue;
		if (at + 2 > end || dsr_option_after(ip, at) > end || !dsr_fits(ip + at, ip[at + 1]))
			return false;
		first = place_of(o, ip[at]);
		if (first && *first && ip[at] != OPT_REPLY && ip[at] != OPT_ERROR && ip[at] != OPT_ACK)
			return false; /* of these types only one is allowed */
		if (first && !*first)
			*first = at;
	}
	o->kind = kind_of(o);
	return true;
}

u16 dsr_next(const u8 *ip, const struct dsr_options *o, u16 at)
{
	u8 type = ip[at];

	for (at = dsr_option_after(ip, at); at < o->end; at = dsr_option_after(ip, at))
		if (ip[at] == type)
			return at;
	return 0;
}

/* ---- routes ---- */

static bool is_host(const struct manet *m, u32 address)
{
	return address && address >> 28 != 14 && address != MANET_EVERYBODY &&
	       (!m->host_bits || address != (m->address | m->host_bits));
}

bool dsr_sound(const struct manet *m, const struct dsr_route *r)
{
	u8 i, j;

	for (i = 0; i < r->count; i++) {
		if (!is_host(m, r->node[i]))
			return false;
		for (j = 0; j < i; j++)
			if (r->node[i] == r->node[j])
				return false;
	}
	return r->count >= 2;
}

u8 dsr_place(const struct dsr_route *r, u32 node)
{
	u8 i;

	for (i = 0; i < r->count && r->node[i] != node; i++)
		;
	return i;
}

void dsr_reverse(struct dsr_route *r)
{
	u8 i;

	for (i = 0; i < r->count / 2; i++) {
		u32 node = r->node[i];

		r->node[i] = r->node[r->count - 1 - i];
		r->node[r->count - 1 - i] = node;
	}
}

bool dsr_join(const struct manet *m, struct dsr_route *r, u8 last, const struct dsr_route *tail)
{
	u8 from = dsr_place(tail, r->node[last]) + 1;

	if (from > tail->count || last + 1 + tail->count - from > (int)param(m, P_HOPS_MOST) + 1)
		return false;
	r->count = last + 1;
	while (from < tail->count)
		r->node[r->count++] = tail->node[from++];
	return dsr_sound(m, r);
}

static void add_addresses(struct dsr_route *r, const u8 *at, u8 count)
{
	for (; count; count--, at += 4)
		r->node[r->count++] = get32(at);
}

u8 dsr_salvaged(const u8 *ip, const struct dsr_options *o)
{
	return (get16(ip + o->route + 2) >> 6) & 15;
}

u8 dsr_left(const u8 *ip, const struct dsr_options *o)
{
	return ip[o->route + 3] & 63;
}

void dsr_set_left(struct manet_packet *p, const struct dsr_options *o, u8 left)
{
	p->data[o->route + 3] = (p->data[o->route + 3] & 0xc0) | left;
}

/* The first listed node of a salvaged packet is the one that salvaged it, unless its path is kept. */
bool dsr_route_in(const struct manet *m, const u8 *ip, const struct dsr_options *o, struct dsr_route *r, u8 *next)
{
	u8 listed = (ip[o->route + 1] - 2) / 4, left = dsr_left(ip, o);
	bool from_source = !dsr_salvaged(ip, o) || param(m, P_SALVAGE_KEEPS_PATH);

	if (left > listed || listed + 1 + from_source > DSR_NODES)
		return false;
	r->count = 0;
	if (from_source)
		r->node[r->count++] = ip_source(ip);
	add_addresses(r, ip + o->route + ROUTE_FIXED, listed);
	r->node[r->count++] = ip_destination(ip);
	*next = from_source + listed - left;
	return dsr_sound(m, r);
}

bool dsr_request_in(const struct manet *m, const u8 *ip, const struct dsr_options *o, struct dsr_route *r)
{
	r->count = 0;
	r->node[r->count++] = ip_source(ip);
	add_addresses(r, ip + o->request + REQUEST_FIXED, (ip[o->request + 1] - 6) / 4);
	r->node[r->count++] = m->address;
	return dsr_sound(m, r);
}

bool dsr_reply_in(const struct manet *m, const u8 *ip, u16 at, struct dsr_route *r)
{
	r->count = 0;
	r->node[r->count++] = ip_destination(ip);
	add_addresses(r, ip + at + REPLY_FIXED, (ip[at + 1] - 1) / 4);
	return dsr_sound(m, r);
}

/* ---- writing ---- */

void dsr_splice(struct manet_packet *p, const struct dsr_options *o, u16 at, u16 size, u16 now)
{
	u8 *begin = p->data + size - now;

	memmove(begin, p->data, at);
	p->data = begin;
	p->len += now - size;
	if (now > size)
		memset(begin + at, 0, now - size);
	put16(begin + o->header + 2, get16(begin + o->header + 2) + now - size);
	ip_finish(begin, get16(begin + 2) + now - size, ip_protocol(begin));
}

/* The addresses of @r from its place @first to the one before the last. */
static u8 *write_route(u8 *at, const struct dsr_route *r, u8 first, u8 left, u8 salvaged)
{
	u8 listed = r->count - 1 - first;

	*at++ = OPT_ROUTE;
	*at++ = 2 + 4 * listed;
	put16(at, salvaged << 6 | left);
	for (at += 2; first < r->count - 1; first++, at += 4)
		put32(at, r->node[first]);
	return at;
}

static u16 route_size(const struct dsr_route *r, u8 first)
{
	return ROUTE_FIXED + 4 * (r->count - 1 - first);
}

void dsr_put_header(struct manet_packet *p, const struct dsr_route *r, bool with_first, u8 salvaged)
{
	u16 ip = ip_header_len(p->data), options = route_size(r, !with_first);
	u8 *at;

	memmove(p->data - DSR_FIXED - options, p->data, ip);
	p->data -= DSR_FIXED + options;
	p->len += DSR_FIXED + options;
	at = p->data + ip;
	at[0] = ip_protocol(p->data);
	at[1] = 0;
	put16(at + 2, options);
	write_route(at + DSR_FIXED, r, !with_first, r->count - 2, salvaged);
	ip_finish(p->data, get16(p->data + 2) + DSR_FIXED + options, IP_DSR);
}

void dsr_take_header(struct manet_packet *p, const struct dsr_options *o)
{
	u16 size = o->end - o->header;

	memmove(p->data + size, p->data, o->header);
	p->data += size;
	p->len -= size;
	ip_finish(p->data, get16(p->data + 2) - size, o->next_header);
}

void dsr_set_route(struct manet_packet *p, struct dsr_options *o, const struct dsr_route *r, bool with_first, u8 done,
		   u8 salvaged)
{
	dsr_splice(p, o, o->route, 2 + p->data[o->route + 1], route_size(r, !with_first));
	write_route(p->data + o->route, r, !with_first, r->count - 1 - !with_first - done, salvaged);
	dsr_parse(p->data, p->len, false, o);
}

void dsr_ask_ack(struct manet_packet *p, struct dsr_options *o, u16 id)
{
	u8 *at;

	dsr_splice(p, o, o->header + DSR_FIXED, 0, ACK_REQUEST_SIZE);
	at = p->data + o->header + DSR_FIXED;
	at[0] = OPT_ACK_REQUEST;
	at[1] = 2;
	put16(at + 2, id);
	dsr_parse(p->data, p->len, false, o);
}

/* Make a packet with an options header and room for @options bytes, from *@at on. */
static struct manet_packet *dsr_make(struct manet *m, enum manet_kind kind, u32 to, u8 ttl, u16 options, u8 **at)
{
	u16 len = IP_HEADER + DSR_FIXED + options;
	struct manet_packet *p = m->ops->make(m->edge, len);

	if (!p) {
		m->counters.dropped_control[MANET_NO_MEMORY]++;
		return NULL;
	}
	p->len = len;
	p->kind = kind;
	ip_begin(m, p->data, len, IP_DSR, m->address, to, ttl);
	p->data[IP_HEADER] = NO_NEXT_HEADER;
	put16(p->data + IP_HEADER + 2, options);
	*at = p->data + IP_HEADER + DSR_FIXED;
	return p;
}

static u8 *write_error(u8 *at, u32 from, u32 to, u32 unreachable, u8 salvaged)
{
	*at++ = OPT_ERROR;
	*at++ = ERROR_SIZE - 2;
	*at++ = NODE_UNREACHABLE;
	*at++ = salvaged;
	put32(at, from);
	put32(at + 4, to);
	put32(at + 8, unreachable);
	return at + 12;
}

struct manet_packet *dsr_make_request(struct manet *m, u32 target, u16 id, u8 ttl, u32 error_from, u32 error_to)
{
	u8 *at;
	struct manet_packet *p = dsr_make(m, MANET_RREQ, MANET_EVERYBODY, ttl,
					   REQUEST_FIXED + (error_from ? ERROR_SIZE : 0), &at);

	if (!p)
		return NULL;
	*at++ = OPT_REQUEST;
	*at++ = REQUEST_FIXED - 2;
	put16(at, id);
	put32(at + 2, target);
	if (error_from)
		write_error(at + 6, error_from, m->address, error_to, 0);
	return p;
}

struct manet_packet *dsr_make_reply(struct manet *m, const struct dsr_route *way, const struct dsr_route *reply)
{
	u8 *at, i;
	u16 size = REPLY_FIXED + 4 * (reply->count - 1);
	struct manet_packet *p = dsr_make(m, MANET_RREP, way->node[way->count - 1], 255,
					   route_size(way, 1) + size, &at);

	if (!p)
		return NULL;
	at = write_route(at, way, 1, way->count - 2, 0);
	*at++ = OPT_REPLY;
	*at++ = size - 2;
	*at++ = 0;
	for (i = 1; i < reply->count; i++, at += 4)
		put32(at, reply->node[i]);
	return p;
}

struct manet_packet *dsr_make_error(struct manet *m, const struct dsr_route *way, u32 unreachable, u8 salvaged)
{
	u8 *at;
	u32 to = way->node[way->count - 1];
	struct manet_packet *p = dsr_make(m, MANET_RERR, to, 255, route_size(way, 1) + ERROR_SIZE, &at);

	if (!p)
		return NULL;
	at = write_route(at, way, 1, way->count - 2, 0);
	write_error(at, m->address, to, unreachable, salvaged);
	return p;
}

struct manet_packet *dsr_make_ack(struct manet *m, u32 to, u16 id)
{
	u8 *at;
	struct manet_packet *p = dsr_make(m, MANET_ACK, to, 1, ACK_SIZE, &at);

	if (!p)
		return NULL;
	*at++ = OPT_ACK;
	*at++ = ACK_SIZE - 2;
	put16(at, id);
	put32(at + 2, m->address);
	put32(at + 6, to);
	return p;
}

struct manet_packet *dsr_make_ack_request(struct manet *m, u32 to, u16 id)
{
	u8 *at;
	struct manet_packet *p = dsr_make(m, MANET_ACK, to, 1, ACK_REQUEST_SIZE, &at);

	if (!p)
		return NULL;
	*at++ = OPT_ACK_REQUEST;
	*at++ = 2;
	put16(at, id);
	return p;
}
