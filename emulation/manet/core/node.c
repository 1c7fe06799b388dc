// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interface of a node (manet.h): it checks packets and passes them to the
 * protocol at their time, after all timers that were due before.
 */
#include "node.h"

u64 manet_draw(struct manet *m, u64 below)
{
	u64 z = m->random += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return (__uint128_t)z * below >> 64;
}

u64 manet_jitter(struct manet *m)
{
	return manet_draw(m, param_ns(m, P_JITTER_MS) + 1);
}

bool manet_set(struct manet *m, u32 parameter, u32 value)
{
	const struct manet_parameter *p = m->protocol->parameters + parameter;

	if (parameter >= m->protocol->n_parameters || value < p->least || value > p->most)
		return false;
	m->parameter[parameter] = value;
	return true;
}

u32 manet_get(const struct manet *m, u32 parameter)
{
	return parameter < m->protocol->n_parameters ? m->parameter[parameter] : 0;
}

void manet_start(struct manet *m, u64 now)
{
	m->now = now;
	m->running = true;
	m->protocol->start(m);
}

static void drop_all(struct manet *m, struct manet_list *list)
{
	struct manet_packet *p;

	while ((p = list_pop(list)))
		manet_drop(m, p, MANET_GONE);
}

void manet_stop(struct manet *m)
{
	m->queue.held = true;
	m->protocol->stop(m);
	drop_all(m, &m->queue.control);
	drop_all(m, &m->queue.data);
	drop_all(m, &m->later);
	if (m->queue.in_air)
		manet_drop(m, m->queue.in_air, MANET_GONE);
	memset(&m->queue, 0, sizeof(m->queue));
	memset(&m->later_due, 0, sizeof(m->later_due));
	m->timers = m->last_timer = NULL;
	m->running = false;
}

void manet_tell(struct manet *m, enum manet_event event, const struct manet_packet *p, u32 to, u32 next_hop, u8 hops,
		u8 count, u32 extra)
{
	struct manet_record r = {
		.size = sizeof(r), .event = event, .node = m->address, .time = m->now, .to = to,
		.next_hop = next_hop, .hops = hops, .count = count, .extra = extra,
	};

	m->counters.events[event]++;
	if (p) {
		r.kind = p->kind;
		r.source = ip_source(p->data);
		r.ip_id = get16(p->data + 4);
		r.len = p->len;
	}
	m->ops->record(m->edge, &r);
}

void manet_drop(struct manet *m, struct manet_packet *p, enum manet_reason why)
{
	struct manet_record r;

	if (why != MANET_DONE) {
		(p->kind == MANET_DATA ? m->counters.dropped : m->counters.dropped_control)[why]++;
		m->counters.events[MANET_DROPPED]++;
		r = (struct manet_record){
			.size = sizeof(r), .event = MANET_DROPPED, .kind = p->kind, .node = m->address, .time = m->now,
			.to = ip_destination(p->data), .next_hop = p->next_hop, .reason = why,
			.source = ip_source(p->data), .ip_id = get16(p->data + 4), .len = p->len,
		};
		m->ops->record(m->edge, &r);
	}
	m->ops->drop(m->edge, p, why);
}

void manet_deliver(struct manet *m, struct manet_packet *p)
{
	m->counters.delivered++;
	m->ops->deliver(m->edge, p);
}

void manet_send(struct manet *m, struct manet_packet *p, u32 next_hop)
{
	p->next_hop = next_hop;
	p->since = m->now;
	queue_put(m, p);
}

void manet_forward(struct manet *m, struct manet_packet *p, u32 next_hop)
{
	if (!ip_decrement_ttl(p->data))
		return manet_drop(m, p, MANET_TTL_EXPIRED);
	m->counters.forwarded++;
	manet_send(m, p, next_hop);
}

/* Ordered by time; equal times in order of arrival. */
void manet_send_later(struct manet *m, struct manet_packet *p, u32 next_hop, u64 delay)
{
	struct manet_packet **at = &m->later.head;

	if (!delay)
		return manet_send(m, p, next_hop);
	p->next_hop = next_hop;
	p->since = m->now + delay;
	while (*at && (*at)->since <= p->since)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
	if (!p->next)
		m->later.tail = p;
	m->later.count++;
	timer_set(m, &m->later_due, TIMER_LATER, m->later.head->since);
}

static void send_what_is_due(struct manet *m)
{
	while (m->later.head && m->later.head->since <= m->now) {
		struct manet_packet *p = list_pop(&m->later);

		manet_send(m, p, p->next_hop);
	}
	if (m->later.head)
		timer_set(m, &m->later_due, TIMER_LATER, m->later.head->since);
}

void manet_run(struct manet *m, u64 now)
{
	struct manet_timer *t;

	while ((t = m->timers) && t->at <= now) {
		m->now = t->at > m->now ? t->at : m->now;
		timer_cancel(m, t);
		if (t->kind == TIMER_QUEUE_AGAIN)
			queue_again(m);
		else if (t->kind == TIMER_LATER)
			send_what_is_due(m);
		else
			m->protocol->timer(m, t);
	}
	m->now = now > m->now ? now : m->now;
}

u64 manet_next(const struct manet *m)
{
	return m->timers ? m->timers->at : NEVER;
}

static bool is_group(const struct manet *m, u32 address)
{
	return address >> 28 == 14 || address == MANET_EVERYBODY || address == (m->address | m->host_bits);
}

bool manet_is_ours(const struct manet *m, u32 address)
{
	return address == m->address || is_group(m, address);
}

void manet_output(struct manet *m, struct manet_packet *p, u64 now)
{
	manet_run(m, now);
	p->kind = MANET_DATA;
	p->next = NULL;
	memset(p->tag, 0, sizeof(p->tag));
	if (is_group(m, ip_destination(p->data)))
		return manet_send(m, p, MANET_EVERYBODY);
	m->protocol->output(m, p);
}

void manet_input(struct manet *m, struct manet_packet *p, const u8 *from, u64 now)
{
	manet_run(m, now);
	p->kind = MANET_DATA;
	p->next = NULL;
	p->next_hop = MANET_NOBODY;
	memset(p->tag, 0, sizeof(p->tag));
	if (!ip_sound(p->data, p->len, false))
		return manet_drop(m, p, MANET_MALFORMED);
	m->protocol->input(m, p, from);
}

void manet_overheard(struct manet *m, const u8 *bytes, u16 len, const u8 *from, u64 now)
{
	manet_run(m, now);
	if (m->protocol->overheard && ip_sound(bytes, len, true))
		m->protocol->overheard(m, bytes, len, from);
}

void manet_sent(struct manet *m, enum manet_sent how, u64 now)
{
	manet_run(m, now);
	queue_sent(m, how);
}

u32 manet_hops(const struct manet *m, u32 to)
{
	return m->protocol->hops(m, to);
}

bool manet_set_route(struct manet *m, u32 to, u32 via, u8 hops)
{
	return m->protocol->set_route && m->protocol->set_route(m, to, via, hops);
}

bool manet_dump(const struct manet *m, u32 *cursor, struct manet_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	return m->protocol->dump(m, cursor, entry);
}

u32 manet_address(const struct manet *m)
{
	return m->address;
}

const char *manet_state_name(const struct manet *m, u8 state)
{
	u8 i;

	for (i = 0; m->protocol->states && m->protocol->states[i]; i++)
		if (i == state)
			return m->protocol->states[i];
	return "";
}

const struct manet_counters *manet_counters(const struct manet *m)
{
	return &m->counters;
}
