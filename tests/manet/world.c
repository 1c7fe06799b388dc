// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many nodes and the plainest of radios between them, for tests of the cores: who
 * is linked with whom is a table; a frame takes as long as it is long; one to a
 * neighbour is acknowledged if the link is there and luck holds, else given up
 * after some time. Every memory access of the cores can be watched by sanitizers,
 * as each packet is an allocation of its own.
 */
#include <assert.h>
#include <stdlib.h>

#include "world.h"

#define SEEN 64 /* frames that are kept, for the fuzzer */
#define BYTE_NS 4000ULL /* 2 Mb/s */
#define OVERHEAD_NS 500000ULL
#define GIVE_UP_NS 20000000ULL

struct box { /* a packet, and what belongs to it */
	struct manet_packet packet;
	u8 *memory;
};

struct node {
	struct world *world;
	u32 index;
	struct manet *manet;
	u64 due;
	struct manet_packet *in_air;
	u8 to[MANET_ALEN];
};

struct event {
	u64 at, order;
	u32 node;
	bool wake; /* a timer; else the end of a frame */
};

struct callbacks {
	void (*deliver)(u32 node, const u8 *bytes, u16 len, u64 now);
	void (*record)(u32 node, const struct manet_record *record);
	/* Every frame, when it ends. @to: its receiver, or all bits. */
	void (*frame)(u32 from, u32 to, const u8 *bytes, u16 len, u64 now, bool lost);
};

struct world {
	u32 count;
	u64 now, order, random;
	u32 loss_q32; /* of a frame at a receiver */
	bool promiscuous, forgetful; /* nobody's MAC address is known */
	enum manet_sent refusing; /* no radio takes anything, for this reason; 0: they do */
	u8 *linked;
	struct node *node;
	struct event *heap;
	size_t events, room;
	u64 frames, packets; /* packets: there now */
	struct callbacks call;
	u8 seen[SEEN][MANET_MTU + MANET_HEADROOM];
	u16 seen_len[SEEN];
};

static bool earlier(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct world *w, u64 at, u32 node, bool wake)
{
	struct event e = { at, w->order++, node, wake };
	size_t i = w->events++;

	if (w->events > w->room) {
		w->room = 2 * w->room + 64;
		w->heap = realloc(w->heap, w->room * sizeof(*w->heap));
	}
	for (; i && earlier(&e, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = e;
}

static struct event pop(struct world *w)
{
	struct event first = w->heap[0], last = w->heap[--w->events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < w->events) {
		if (child + 1 < w->events && earlier(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!earlier(&w->heap[child], &last))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = last;
	return first;
}

static void arm(struct node *n)
{
	u64 next = manet_next(n->manet);

	if (next == n->due)
		return;
	n->due = next;
	if (next != NEVER)
		push(n->world, next > n->world->now ? next : n->world->now, n->index, true);
}

static struct manet_packet *make(struct world *w, u16 len)
{
	struct box *b = calloc(1, sizeof(*b));

	b->memory = calloc(1, MANET_HEADROOM + len);
	b->packet.data = b->memory + MANET_HEADROOM;
	b->packet.len = len;
	w->packets++;
	return &b->packet;
}

static void unmake(struct world *w, struct manet_packet *p)
{
	struct box *b = (struct box *)p;

	assert(p->data >= b->memory);
	free(b->memory);
	free(b);
	w->packets--;
}

static struct manet_packet *on_make(void *edge, u16 len)
{
	return make(((struct node *)edge)->world, len);
}

static void on_transmit(void *edge, struct manet_packet *p, const u8 *mac)
{
	struct node *n = edge;

	assert(!n->in_air && p->data >= ((struct box *)p)->memory);
	n->in_air = p;
	memcpy(n->to, mac, MANET_ALEN);
	push(n->world, n->world->now + OVERHEAD_NS + p->len * BYTE_NS, n->index, false);
}

static void on_deliver(void *edge, struct manet_packet *p)
{
	struct node *n = edge;

	if (n->world->call.deliver)
		n->world->call.deliver(n->index, p->data, p->len, n->world->now);
	unmake(n->world, p);
}

static void on_drop(void *edge, struct manet_packet *p, enum manet_reason why)
{
	struct node *n = edge;

	(void)why;
	if (n->in_air == p)
		n->in_air = NULL;
	unmake(n->world, p);
}

static bool on_resolve(void *edge, u32 neighbour, u8 *mac)
{
	struct node *n = edge;

	if (n->world->forgetful || neighbour - FIRST_ADDRESS >= n->world->count)
		return false;
	memset(mac, 0, MANET_ALEN);
	mac[0] = 2;
	put32(mac + 2, neighbour - FIRST_ADDRESS);
	return true;
}

static void on_record(void *edge, const struct manet_record *record)
{
	struct node *n = edge;

	if (n->world->call.record)
		n->world->call.record(n->index, record);
}

static const struct manet_ops ops = {
	.make = on_make, .transmit = on_transmit, .deliver = on_deliver, .drop = on_drop, .resolve = on_resolve,
	.record = on_record,
};

struct world *world_new(u32 count, u32 protocol, u32 preset, u64 seed, const struct callbacks *call)
{
	struct world *w = calloc(1, sizeof(*w));
	u32 i;

	w->count = count;
	w->random = seed;
	w->linked = calloc(count, count);
	w->node = calloc(count, sizeof(*w->node));
	w->call = *call;
	for (i = 0; i < count; i++) {
		struct node *n = &w->node[i];

		*n = (struct node){ .world = w, .index = i, .due = NEVER };
		n->manet = calloc(1, manet_size(protocol));
		manet_init(n->manet, protocol, preset, FIRST_ADDRESS + i, 8, seed, &ops, n);
	}
	return w;
}

struct manet *world_node(struct world *w, u32 i)
{
	return w->node[i].manet;
}

void world_link(struct world *w, u32 from, u32 to, bool up)
{
	w->linked[from * w->count + to] = up;
}

void world_lossy(struct world *w, double loss, bool promiscuous)
{
	w->loss_q32 = loss * 4294967295.0;
	w->promiscuous = promiscuous;
}

void world_unwilling(struct world *w, bool forgetful, u32 refusing)
{
	w->forgetful = forgetful;
	w->refusing = refusing;
}

void world_start(struct world *w, u32 i)
{
	manet_start(w->node[i].manet, w->now);
	arm(&w->node[i]);
}

void world_stop(struct world *w, u32 i)
{
	manet_stop(w->node[i].manet);
	arm(&w->node[i]);
}

static void mac_of(u32 i, u8 *mac)
{
	memset(mac, 0, MANET_ALEN);
	mac[0] = 2;
	put32(mac + 2, i);
}

u32 world_draw(struct world *w)
{
	u64 z = (w->random += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z >> 32;
}

static bool arrives(struct world *w, u32 from, u32 to)
{
	return from != to && w->linked[from * w->count + to] && world_draw(w) >= w->loss_q32;
}

/* What @bytes are, at the receiver: a copy. */
static void give(struct world *w, u32 to, const u8 *bytes, u16 len, const u8 *from_mac)
{
	struct manet_packet *p = make(w, len);

	memcpy(p->data, bytes, len);
	manet_input(w->node[to].manet, p, from_mac, w->now);
	arm(&w->node[to]);
}

static void frame_ends(struct world *w, struct node *n)
{
	struct manet_packet *p = n->in_air;
	u32 to = n->to[0] == 0xff ? ~0U : get32(n->to + 2), i;
	bool group = to == ~0U, lost = false;
	u8 mac[MANET_ALEN], bytes[MANET_MTU + MANET_HEADROOM];
	u16 len;

	if (!p) /* taken away meanwhile */
		return;
	if (w->refusing) {
		n->in_air = NULL;
		manet_sent(n->manet, w->refusing, w->now);
		return arm(n);
	}
	len = p->len;
	memcpy(bytes, p->data, len);
	mac_of(n->index, mac);
	memcpy(w->seen[w->frames % SEEN], bytes, len);
	w->seen_len[w->frames++ % SEEN] = len;
	n->in_air = NULL;
	if (!group)
		lost = to >= w->count || !w->node[to].manet || !arrives(w, n->index, to);
	if (w->call.frame)
		w->call.frame(n->index, to, bytes, len, w->now, lost);
	if (!group && !lost)
		give(w, to, bytes, len, mac);
	for (i = 0; i < w->count; i++) {
		if (i == to || !(group || w->promiscuous) || !arrives(w, n->index, i))
			continue;
		if (group) {
			give(w, i, bytes, len, mac);
		} else {
			manet_overheard(w->node[i].manet, bytes, len, mac, w->now);
			arm(&w->node[i]);
		}
	}
	manet_sent(n->manet, lost ? MANET_LOST : MANET_ACKED, w->now);
	arm(n);
}

void world_run(struct world *w, u64 until)
{
	while (w->events && w->heap[0].at <= until) {
		struct event e = pop(w);
		struct node *n = &w->node[e.node];

		w->now = e.at;
		if (!e.wake) {
			frame_ends(w, n);
		} else if (n->due <= w->now) {
			n->due = NEVER;
			manet_run(n->manet, w->now);
			arm(n);
		}
	}
	w->now = until;
}

/* A UDP packet of @len bytes in all, with this IP identification. */
void world_send(struct world *w, u32 from, u32 to, u16 id, u16 len)
{
	struct manet_packet *p = make(w, len);
	struct manet *m = w->node[from].manet;

	ip_begin(m, p->data, len, IP_UDP, m->address, FIRST_ADDRESS + to, 64);
	put16(p->data + 4, id);
	ip_finish(p->data, len, IP_UDP);
	put16(p->data + IP_HEADER + 2, 9); /* discard */
	put16(p->data + IP_HEADER + 4, len - IP_HEADER);
	manet_output(m, p, w->now);
	arm(&w->node[from]);
}

/* Any bytes, as if this neighbour had sent them to this node. */
void world_inject(struct world *w, u32 from, u32 to, const u8 *bytes, u16 len, bool overheard)
{
	u8 mac[MANET_ALEN];

	mac_of(from, mac);
	if (!overheard)
		return give(w, to, bytes, len, mac);
	manet_overheard(w->node[to].manet, bytes, len, mac, w->now);
	arm(&w->node[to]);
}

/* One of the last frames; NULL: none was sent yet. */
const u8 *world_seen(struct world *w, u16 *len)
{
	u32 which = w->frames ? world_draw(w) % (w->frames < SEEN ? w->frames : SEEN) : 0;

	*len = w->seen_len[which];
	return w->frames ? w->seen[which] : NULL;
}

u64 world_now(const struct world *w) { return w->now; }
u64 world_packets(const struct world *w) { return w->packets; }
u32 world_count(const struct world *w) { return w->count; }
u64 world_frames(const struct world *w) { return w->frames; }

void world_free(struct world *w)
{
	u32 i;

	for (i = 0; i < w->count; i++) {
		manet_stop(w->node[i].manet);
		free(w->node[i].manet);
	}
	assert(!w->packets);
	free(w->node);
	free(w->linked);
	free(w->heap);
	free(w);
}
