/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The node as a protocol sees it, and the definition of a protocol. Every call of
 * manet.h gets here with m->now set and all timers up to that time run. A packet
 * that a protocol gets belongs to it, until manet_send(), manet_deliver() or
 * manet_drop(); or it waits in a list of the protocol. Packets are sent through
 * the queue, and the node reports their results. In a circle: node.c, queue.c.
 */
#ifndef MANET_NODE_H
#define MANET_NODE_H

#include "manet.h"

/* A list of packets, first in first out. */
struct manet_list {
	struct manet_packet *head, *tail;
	u32 count;
};

/* A timer for one event at a time. It lies in the object that it belongs to, and calls protocol->timer(). */
struct manet_timer {
	struct manet_timer *next, *previous;
	u64 at;
	u16 kind; /* the protocol's, below TIMER_QUEUE_AGAIN */
	bool set;
};

/* Kinds of timers from here on belong to node.c. */
enum { TIMER_QUEUE_AGAIN = 0xff00, TIMER_LATER };
#define MANET_NEIGHBOURS 512

/* The MAC address of a neighbour. */
struct manet_neighbour {
	u32 address; /* MANET_NOBODY: free */
	u8 mac[MANET_ALEN];
	u64 heard;
};

struct manet_queue {
	struct manet_list control, data; /* with one FIFO, all are in data */
	struct manet_packet *in_air;
	bool held; /* a protocol handles the result now */
	struct manet_timer again; /* after a frame that the radio did not accept */
};

struct manet {
	const struct manet_protocol *protocol;
	const struct manet_ops *ops;
	void *edge;
	u64 now, random;
	u32 address, host_bits; /* of the subnet: an address with all of them set is the broadcast */
	u16 ip_id;
	bool running;
	struct manet_timer *timers, *last_timer; /* ordered by time */
	struct manet_queue queue;
	struct manet_list later; /* ordered by since: packets that wait for their jitter, then for the queue */
	struct manet_timer later_due;
	u32 parameter[MANET_MAX_PARAMETERS];
	struct manet_counters counters;
	struct manet_neighbour neighbour[MANET_NEIGHBOURS];
	u64 state[]; /* the protocol's */
};

struct manet_protocol {
	const char *name;
	size_t size; /* size of its state */
	u16 overhead; /* most bytes that it adds to a packet; MANET_HEADROOM at most */
	const struct manet_parameter *parameters; /* those of all protocols first: PARAMETER_QUEUE and so on */
	u32 n_parameters;
	const char *const *states; /* names of manet_entry.state, NULL at the end */
	void (*start)(struct manet *m);
	/* Give back all its packets; timers need not be cancelled. */
	void (*stop)(struct manet *m);
	void (*output)(struct manet *m, struct manet_packet *p);
	void (*input)(struct manet *m, struct manet_packet *p, const u8 *from);
	void (*overheard)(struct manet *m, const u8 *bytes, u16 len, const u8 *from); /* or NULL */
	/* The link layer gave @p up: p->next_hop is not reached. The protocol owns @p again. */
	void (*lost)(struct manet *m, struct manet_packet *p);
	/* The link layer got an acknowledgment for @p, which ends after this call. Or NULL. */
	void (*acked)(struct manet *m, const struct manet_packet *p);
	void (*timer)(struct manet *m, struct manet_timer *t);
	u32 (*hops)(const struct manet *m, u32 to);
	bool (*set_route)(struct manet *m, u32 to, u32 via, u8 hops); /* or NULL */
	bool (*dump)(const struct manet *m, u32 *cursor, struct manet_entry *entry);
};

/* The parameters of all protocols, first in each table, in the order of enum manet_shared. */
#define PARAMETER_QUEUE { "queue", 1, 1000, { 50, 50, 50 }, "packets that wait for the radio; more are dropped" }
#define PARAMETER_ROUTING_FIRST(first) \
	{ "routing_first", 0, 1, { first, first, first }, "control packets before data; 0: one FIFO" }
#define PARAMETER_JITTER(rfc, thesis, cmu) \
	{ "jitter_ms", 0, 1000, { rfc, thesis, cmu }, "uniform from 0, where the protocol has one" }
#define PARAMETER_ORPHAN \
	{ "orphan", 0, 1, { 0, 0, 0 }, "packets leave their socket, so TCP sends its whole window here, as ns-2's does" }
#define PARAMETER_TELL \
	{ "tell", 0, 1, { 0, 0, 0 }, "ICMP tells the source of a packet that has no way, so that TCP waits no longer (RFC 6069)" }

static inline u32 param(const struct manet *m, u32 parameter)
{
	return m->parameter[parameter];
}

static inline u64 param_ns(const struct manet *m, u32 parameter)
{
	return m->parameter[parameter] * MS;
}

/* node.c */
/* Put it into the queue for this neighbour or MANET_EVERYBODY. It may be dropped at once. */
void manet_send(struct manet *m, struct manet_packet *p, u32 next_hop);
/* The same, after this delay. */
void manet_send_later(struct manet *m, struct manet_packet *p, u32 next_hop, u64 delay);
/* The same for a forwarded packet: decrement its TTL. */
void manet_forward(struct manet *m, struct manet_packet *p, u32 next_hop);
void manet_deliver(struct manet *m, struct manet_packet *p);
void manet_drop(struct manet *m, struct manet_packet *p, enum manet_reason why);
/*
 * Record an event. @p may be NULL. The others are destination, next hop, hops, count, extra, as the
 * event defines them.
 */
void manet_tell(struct manet *m, enum manet_event event, const struct manet_packet *p, u32 to, u32 next_hop, u8 hops,
		u8 count, u32 extra);
/* Uniform over 0 .. below - 1, or 0. */
u64 manet_draw(struct manet *m, u64 below);
/* The address is this host's, or a broadcast. */
bool manet_is_ours(const struct manet *m, u32 address);
/* A delay from 0 to jitter_ms. */
u64 manet_jitter(struct manet *m);

/* queue.c */
void queue_put(struct manet *m, struct manet_packet *p);
/* If no frame is with the radio, pass the next one on. */
void queue_next(struct manet *m);
/* The radio reports the result of its frame; pass the frame on once more. */
void queue_sent(struct manet *m, enum manet_sent how);
void queue_again(struct manet *m);
/*
 * Take all packets for this neighbour, or (by IP header) for this destination,
 * also those of manet_send_later(); but not the frame that the radio has.
 */
struct manet_list queue_take_hop(struct manet *m, u32 next_hop);
struct manet_list queue_take_destination(struct manet *m, u32 destination);
void list_add(struct manet_list *list, struct manet_packet *p);
struct manet_packet *list_pop(struct manet_list *list);
/* Take the packets for which @matches is true, in order. */
struct manet_list list_take(struct manet_list *list, bool (*matches)(const struct manet_packet *p, u64 what), u64 what);

/* timers.c: timers of equal time fire in the order in which they were set */
void timer_set(struct manet *m, struct manet_timer *t, u16 kind, u64 at);
void timer_cancel(struct manet *m, struct manet_timer *t);

/* neighbours.c */
void neighbour_heard(struct manet *m, u32 address, const u8 *mac);
const struct manet_neighbour *neighbour_of(const struct manet *m, u32 address);

/* ip.c: IPv4 and UDP headers */
#define IP_HEADER 20
#define UDP_HEADER 8
enum { IP_ICMP = 1, IP_TCP = 6, IP_UDP = 17, IP_DSR = 48 };
u16 get16(const u8 *at);
u32 get32(const u8 *at);
void put16(u8 *at, u16 value);
void put32(u8 *at, u32 value);
u32 ip_source(const u8 *ip);
u32 ip_destination(const u8 *ip);
u8 ip_protocol(const u8 *ip);
u8 ip_ttl(const u8 *ip);
u32 ip_header_len(const u8 *ip);
/* Do @len bytes begin with a valid IPv4 header? The rest may be cut if @cut. */
bool ip_sound(const u8 *ip, u32 len, bool cut);
void ip_set_ttl(u8 *ip, u8 ttl);
void ip_set_destination(u8 *ip, u32 destination);
/* Set length and protocol, and compute the checksum. */
void ip_finish(u8 *ip, u16 len, u8 protocol);
/* false: its TTL is used up. */
bool ip_decrement_ttl(u8 *ip);
/* Write an IPv4 header from this node, for the core's own packets. */
void ip_begin(struct manet *m, u8 *ip, u16 len, u8 protocol, u32 source, u32 destination, u8 ttl);
/*
 * Make a control packet with @payload bytes after its UDP header, with the same port at both ends.
 * NULL: no memory (counted).
 */
struct manet_packet *udp_make(struct manet *m, enum manet_kind kind, u16 port, u32 destination, u8 ttl, u16 payload);
u8 *udp_payload(struct manet_packet *p);
/* The payload is complete: set the checksum. */
void udp_finish(struct manet_packet *p);
/* The payload of a valid UDP packet to this port, and its length; NULL: it is not one. */
u8 *udp_read(const struct manet_packet *p, u16 port, u16 *len);

extern const struct manet_protocol static_protocol, aodv_protocol, dsr_protocol, olsr_protocol, dsdv_protocol;

#endif
