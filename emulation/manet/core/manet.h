/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ad hoc routing, one node of it: what a kernel (or a test) hands to the core
 * and gets from it.
 *
 * A core is a pure state machine. Packets, times and what became of a frame come
 * in by calls; frames to send, packets to deliver, dropped ones with a reason, and
 * trace records go out by struct manet_ops. It reads no clock, allocates nothing
 * but packets, by ops->make(), and all its state lies in memory of the caller's,
 * in tables of a fixed size. Times are nanoseconds, addresses IPv4 in the host's
 * order.
 *
 * The station's queue is in here (queue.c), as a route that breaks takes what
 * waits for it along: one frame at a time is handed to the radio, and
 * manet_sent() says what became of it before the next is.
 *
 * Protocols see node.h. A protocol is one or few files, and a struct
 * manet_protocol; all else is shared: protocols (which there are), node (this face), queue, timers, neighbours
 * (who has which MAC address), ip (headers).
 */
#ifndef MANET_H
#define MANET_H

#include "types.h"

#define NEVER (~0ULL)

#define MANET_ALEN 6
#define MANET_EVERYBODY 0xffffffffU /* as a next hop: all neighbours */
#define MANET_NOBODY 0U
/* Free bytes before data[0] of any packet that comes in, for what a protocol puts between IP header and payload. */
#define MANET_HEADROOM 96
#define MANET_MAX_PARAMETERS 96
#define MANET_MTU 1500

/* What a packet is, in whatever protocol. */
enum manet_kind {
	MANET_DATA, /* the users' */
	MANET_RREQ,
	MANET_RREP,
	MANET_RERR,
	MANET_ACK, /* of a route reply, or DSR's of a hop */
	MANET_HELLO,
	MANET_TC,
	MANET_UPDATE, /* DSDV's */
	MANET_KINDS
};

/* Why a packet goes back to whom it belongs. */
enum manet_reason {
	MANET_DONE, /* sent, or read: nothing is lost */
	MANET_NO_ROUTE, /* at a node that forwards, or that gave up the search */
	MANET_LINK_BROKEN, /* the link layer gave it up, and there was no other way */
	MANET_PURGED, /* it waited in the queue for a next hop or a destination that is lost */
	MANET_QUEUE_FULL,
	MANET_BUFFER_FULL, /* while a route was looked for */
	MANET_BUFFER_TIMEOUT,
	MANET_TTL_EXPIRED,
	MANET_DUPLICATE,
	MANET_MALFORMED,
	MANET_NOT_OURS, /* nothing for this node to do */
	MANET_RATE_LIMITED,
	MANET_TOO_LONG, /* with its source route */
	MANET_NO_NEIGHBOUR, /* nobody knows the next hop's MAC address */
	MANET_UNSENT, /* the radio did not take it, and not the link's fault */
	MANET_NO_MEMORY,
	MANET_GONE, /* the node is taken away */
	MANET_REASONS
};

/* What the radio says of the frame that it was given. */
enum manet_sent {
	MANET_ACKED, /* or sent, to everybody */
	MANET_LOST, /* never acknowledged */
	MANET_NOT_SENT, /* its queue was full: says nothing of the link */
	MANET_STRANGER /* it does not know the station: not yet or, as it has been silent for long, no more */
};

/* What is told, besides MANET_DROPPED for each packet that is lost. */
enum manet_event {
	MANET_FOUND, /* a route where there was none */
	MANET_CHANGED, /* another next hop or length */
	MANET_LOST_ROUTE,
	MANET_REPAIRED, /* by a node on the way */
	MANET_SALVAGED, /* a packet, by another route */
	MANET_BUFFERED, /* a packet, while a route is looked for */
	MANET_RELEASED,
	MANET_DROPPED,
	MANET_SEARCH, /* one more request: count is its TTL */
	MANET_SEARCH_FAILED,
	MANET_LINK_LOST, /* as the link layer, or silence, says; to: the neighbour */
	MANET_LINK_FOUND,
	MANET_SENT_CONTROL, /* kind, len; counted when it is handed to the radio */
	MANET_GOT_CONTROL,
	MANET_EVENTS
};

/*
 * A packet. The caller owns the memory; the core holds it from manet_output() or
 * manet_input() until ops->deliver() or ops->drop(). In the kernel it lies in an
 * skb's control buffer.
 */
struct manet_packet {
	struct manet_packet *next;
	u8 *data; /* an IPv4 header first, whole and checked by the caller */
	u64 since; /* the core's: when it came to wait, or when it goes */
	u32 next_hop; /* the core's: for whom it waits */
	u16 len;
	u8 kind; /* enum manet_kind */
	u8 tries; /* of handing it to the radio */
	u32 tag[2]; /* the protocol's */
};

struct manet_record {
	u16 size; /* of the record: 48 */
	u8 event; /* enum manet_event */
	u8 kind; /* enum manet_kind of the packet, if it is about one */
	u32 node; /* whose */
	u64 time;
	u32 to; /* the destination, or the neighbour */
	u32 next_hop; /* the new one, where there is one */
	u16 hops; /* of the route; 0: none */
	u8 reason; /* enum manet_reason */
	u8 count; /* see the event */
	u32 source; /* of the packet: IP source, destination is `to` */
	u16 ip_id, len;
	u32 extra; /* the protocol's: a request's number, a sequence number */
	u64 zero;
};

struct manet_ops {
	/* A packet of @len bytes, zeroed, with room before it; NULL: no memory. */
	struct manet_packet *(*make)(void *edge, u16 len);
	/* To the radio, as one frame to this MAC address. It stays the core's; manet_sent() must follow, not from in here. */
	void (*transmit)(void *edge, struct manet_packet *p, const u8 *mac);
	/* It is for this host. */
	void (*deliver)(void *edge, struct manet_packet *p);
	/* It is the caller's again. */
	void (*drop)(void *edge, struct manet_packet *p, enum manet_reason why);
	/* The MAC address of a neighbour of which the core has heard nothing itself; false: nobody knows. */
	bool (*resolve)(void *edge, u32 neighbour, u8 *mac);
	void (*record)(void *edge, const struct manet_record *r);
};

/* What can be set. All are numbers; times are milliseconds, and say so in their names. */
struct manet_parameter {
	const char *name;
	u32 least, most;
	u32 preset[3]; /* by enum manet_preset */
	const char *what; /* and where it is from */
};

/* The parameters that every protocol has come first; P_ORPHAN and P_TELL are the edge's. */
enum manet_shared { P_QUEUE, P_ROUTING_FIRST, P_JITTER_MS, P_ORPHAN, P_TELL, P_OWN };

enum manet_preset { MANET_RFC, MANET_THESIS, MANET_CMU, MANET_PRESETS };

/* One line of what a node knows. */
enum manet_entry_kind { MANET_ROUTE, MANET_SOURCE_ROUTE, MANET_LINK, MANET_NEIGHBOUR, MANET_PENDING, MANET_ENTRY_KINDS };

struct manet_entry {
	u8 kind; /* enum manet_entry_kind */
	u8 hops;
	bool valid;
	u8 state; /* the protocol's own, by its names in struct manet_protocol */
	u32 from, to, via;
	u32 sequence;
	u64 until; /* NEVER: for good */
	u8 mac[MANET_ALEN];
	u16 waiting; /* packets */
	u8 n_path; /* of a source route */
	u32 path[16]; /* without both ends */
};

struct manet_counters {
	u64 sent[MANET_KINDS], sent_bytes[MANET_KINDS]; /* frames handed to the radio */
	u64 got[MANET_KINDS];
	u64 forwarded, delivered, acked, lost; /* data packets; frames as the radio says */
	u64 dropped[MANET_REASONS]; /* data packets */
	u64 dropped_control[MANET_REASONS];
	u64 events[MANET_EVENTS];
};

struct manet;

/* static, aodv, dsr, olsr, dsdv: 0, 1, ...; NULL beyond. */
const char *manet_protocol_name(u32 protocol);
const struct manet_parameter *manet_parameters(u32 protocol, u32 *count);
/* Bytes that it may put into a packet besides the users'. */
u16 manet_overhead(u32 protocol);
/* The memory that a node of this protocol needs. */
size_t manet_size(u32 protocol);
/*
 * @m: so many bytes, zeroed; @prefix: bits of the subnet. Parameters are those of
 * the preset until set; nothing happens before manet_start().
 */
void manet_init(struct manet *m, u32 protocol, enum manet_preset preset, u32 address, u8 prefix, u64 seed,
		const struct manet_ops *ops, void *edge);
/* At any time. false: there is no such parameter or value. */
bool manet_set(struct manet *m, u32 parameter, u32 value);
u32 manet_get(const struct manet *m, u32 parameter);
void manet_start(struct manet *m, u64 now);
/* Give back every packet, as GONE. Nothing may be called after but manet_start(). */
void manet_stop(struct manet *m);

/* The host sends. */
void manet_output(struct manet *m, struct manet_packet *p, u64 now);
/* A frame came, for this station or for everybody, from this MAC address. */
void manet_input(struct manet *m, struct manet_packet *p, const u8 *from, u64 now);
/* A frame for another one did. The bytes are an IPv4 packet, perhaps cut; the caller's, and as they were. */
void manet_overheard(struct manet *m, const u8 *bytes, u16 len, const u8 *from, u64 now);
/* What became of the frame that ops->transmit() was given. */
void manet_sent(struct manet *m, enum manet_sent how, u64 now);
/* All timers up to and including @now. */
void manet_run(struct manet *m, u64 now);
/* When manet_run() must be called, at the latest; NEVER. */
u64 manet_next(const struct manet *m);

/* How many hops a packet for @to would go, or went last; 0: nobody knows. */
u32 manet_hops(const struct manet *m, u32 to);
/* Of protocol `static`: the next hop of a destination; @via MANET_NOBODY: none. false: no room, or another protocol. */
bool manet_set_route(struct manet *m, u32 to, u32 via, u8 hops);
/* The next of the lines, from *@cursor 0 on; false: that was all. */
bool manet_dump(const struct manet *m, u32 *cursor, struct manet_entry *entry);
u32 manet_address(const struct manet *m);
const char *manet_state_name(const struct manet *m, u8 state);
const struct manet_counters *manet_counters(const struct manet *m);

#endif
