/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ad hoc routing for one node: the interface between a kernel (or a test) and the
 * core.
 *
 * A core is a pure state machine. Packets, times and the results of frames come
 * in by calls. Frames to send, packets to deliver, dropped packets with a reason,
 * and trace records go out by struct manet_ops. The core reads no clock and
 * allocates only packets, by ops->make(). All its state is in the caller's
 * memory, in tables of a fixed size. Times are nanoseconds; addresses are IPv4 in
 * the host's byte order.
 *
 * The station's queue is part of the core (queue.c), because a broken route takes
 * back the packets that wait for it. One frame at a time is passed to the radio,
 * and manet_sent() reports its result before the next one.
 *
 * node.h is the interface of protocols. A protocol is one or a few files and a
 * struct manet_protocol. All protocols share the rest: protocols (the list), node
 * (this interface), queue, timers, neighbours (MAC addresses), ip (headers).
 */
#ifndef MANET_H
#define MANET_H

#include "types.h"

#define NEVER (~0ULL)

#define MANET_ALEN 6
#define MANET_EVERYBODY 0xffffffffU /* as a next hop: all neighbours */
#define MANET_NOBODY 0U
/* Free bytes before data[0] of a received packet, for what a protocol puts between IP header and payload. */
#define MANET_HEADROOM 96
#define MANET_MAX_PARAMETERS 96
#define MANET_MTU 1500

/* The kind of a packet, in any protocol. */
enum manet_kind {
	MANET_DATA, /* user data */
	MANET_RREQ,
	MANET_RREP,
	MANET_RERR,
	MANET_ACK, /* for a route reply, or DSR's for a hop */
	MANET_HELLO,
	MANET_TC,
	MANET_UPDATE, /* DSDV's */
	MANET_KINDS
};

/* Why a packet goes back to its owner. */
enum manet_reason {
	MANET_DONE, /* sent, or read: no loss */
	MANET_NO_ROUTE, /* at a forwarding node, or after a failed search */
	MANET_LINK_BROKEN, /* the link layer gave it up, and there was no other route */
	MANET_PURGED, /* it waited for a lost next hop or destination */
	MANET_QUEUE_FULL,
	MANET_BUFFER_FULL, /* during a search for a route */
	MANET_BUFFER_TIMEOUT,
	MANET_TTL_EXPIRED,
	MANET_DUPLICATE,
	MANET_MALFORMED,
	MANET_NOT_OURS, /* this node has nothing to do with it */
	MANET_RATE_LIMITED,
	MANET_TOO_LONG, /* with its source route */
	MANET_NO_NEIGHBOUR, /* the next hop's MAC address is not known */
	MANET_UNSENT, /* the radio did not accept it, not because of the link */
	MANET_NO_MEMORY,
	MANET_GONE, /* the node is removed */
	MANET_REASONS
};

/* The radio's report of a frame. */
enum manet_sent {
	MANET_ACKED, /* or sent, as a broadcast */
	MANET_LOST, /* never acknowledged */
	MANET_NOT_SENT, /* its queue was full: no information on the link */
	MANET_STRANGER /* it does not know the station: not yet, or not any more after a long silence */
};

/* Events in the trace, besides MANET_DROPPED for each lost packet. */
enum manet_event {
	MANET_FOUND, /* a route where there was none */
	MANET_CHANGED, /* another next hop or length */
	MANET_LOST_ROUTE,
	MANET_REPAIRED, /* by a forwarding node */
	MANET_SALVAGED, /* a packet, by another route */
	MANET_BUFFERED, /* a packet, during a search for a route */
	MANET_RELEASED,
	MANET_DROPPED,
	MANET_SEARCH, /* one more request: count is its TTL */
	MANET_SEARCH_FAILED,
	MANET_LINK_LOST, /* as the link layer, or silence, shows; to: the neighbour */
	MANET_LINK_FOUND,
	MANET_SENT_CONTROL, /* kind, len; counted when it is passed to the radio */
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
	u8 *data; /* a complete IPv4 header first, checked by the caller */
	u64 since; /* the core's: when it began to wait, or when it is due */
	u32 next_hop; /* the core's: the hop that it waits for */
	u16 len;
	u8 kind; /* enum manet_kind */
	u8 tries; /* attempts to pass it to the radio */
	u32 tag[2]; /* the protocol's */
};

struct manet_record {
	u16 size; /* of the record: 48 */
	u8 event; /* enum manet_event */
	u8 kind; /* enum manet_kind of the packet, if it is about one */
	u32 node; /* of this node */
	u64 time;
	u32 to; /* the destination, or the neighbour */
	u32 next_hop; /* the new next hop, if there is one */
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
	/*
	 * Pass it to the radio, as one frame to this MAC address. The core keeps it; manet_sent()
	 * must follow, but not from inside this call.
	 */
	void (*transmit)(void *edge, struct manet_packet *p, const u8 *mac);
	/* The packet is for this host. */
	void (*deliver)(void *edge, struct manet_packet *p);
	/* The caller owns it again. */
	void (*drop)(void *edge, struct manet_packet *p, enum manet_reason why);
	/* The MAC address of a neighbour that the core has not heard itself; false: it is unknown. */
	bool (*resolve)(void *edge, u32 neighbour, u8 *mac);
	void (*record)(void *edge, const struct manet_record *r);
};

/* A parameter. All are numbers; names of times end in _ms. */
struct manet_parameter {
	const char *name;
	u32 least, most;
	u32 preset[3]; /* by enum manet_preset */
	const char *what; /* a short note with its source */
};

/* The parameters of all protocols come first; P_ORPHAN and P_TELL are the edge's. */
enum manet_shared { P_QUEUE, P_ROUTING_FIRST, P_JITTER_MS, P_ORPHAN, P_TELL, P_OWN };

enum manet_preset { MANET_RFC, MANET_THESIS, MANET_CMU, MANET_PRESETS };

/* One entry of a node's state. */
enum manet_entry_kind { MANET_ROUTE, MANET_SOURCE_ROUTE, MANET_LINK, MANET_NEIGHBOUR, MANET_PENDING, MANET_ENTRY_KINDS };

struct manet_entry {
	u8 kind; /* enum manet_entry_kind */
	u8 hops;
	bool valid;
	u8 state; /* the protocol's own; struct manet_protocol has the names */
	u32 from, to, via;
	u32 sequence;
	u64 until; /* NEVER: it does not expire */
	u8 mac[MANET_ALEN];
	u16 waiting; /* packets */
	u8 n_path; /* of a source route */
	u32 path[16]; /* without both ends */
};

struct manet_counters {
	u64 sent[MANET_KINDS], sent_bytes[MANET_KINDS]; /* frames passed to the radio */
	u64 got[MANET_KINDS];
	u64 forwarded, delivered, acked, lost; /* data packets; frames as the radio reports */
	u64 dropped[MANET_REASONS]; /* data packets */
	u64 dropped_control[MANET_REASONS];
	u64 events[MANET_EVENTS];
};

struct manet;

/* static, aodv, dsr, olsr, dsdv: 0, 1, ...; NULL beyond. */
const char *manet_protocol_name(u32 protocol);
const struct manet_parameter *manet_parameters(u32 protocol, u32 *count);
/* The most bytes that it adds to a packet. */
u16 manet_overhead(u32 protocol);
/* The size of a node of this protocol. */
size_t manet_size(u32 protocol);
/*
 * @m: memory of this size, zeroed; @prefix: bits of the subnet. Parameters have
 * the values of the preset until they are set. Nothing happens before
 * manet_start().
 */
void manet_init(struct manet *m, u32 protocol, enum manet_preset preset, u32 address, u8 prefix, u64 seed,
		const struct manet_ops *ops, void *edge);
/* At any time. false: there is no such parameter or value. */
bool manet_set(struct manet *m, u32 parameter, u32 value);
u32 manet_get(const struct manet *m, u32 parameter);
void manet_start(struct manet *m, u64 now);
/* Give back every packet, as GONE. Only manet_start() may be called afterwards. */
void manet_stop(struct manet *m);

/* The host sends a packet. */
void manet_output(struct manet *m, struct manet_packet *p, u64 now);
/* A frame for this station, or a broadcast, came from this MAC address. */
void manet_input(struct manet *m, struct manet_packet *p, const u8 *from, u64 now);
/*
 * A frame for another station came. The bytes are an IPv4 packet, perhaps cut; the caller owns
 * them, and they do not change.
 */
void manet_overheard(struct manet *m, const u8 *bytes, u16 len, const u8 *from, u64 now);
/* The result of the frame from ops->transmit(). */
void manet_sent(struct manet *m, enum manet_sent how, u64 now);
/* Run all timers up to and including @now. */
void manet_run(struct manet *m, u64 now);
/* The latest time of the next call of manet_run(); or NEVER. */
u64 manet_next(const struct manet *m);

/* The number of hops that a packet for @to would take, or took last; 0: unknown. */
u32 manet_hops(const struct manet *m, u32 to);
/*
 * For the protocol `static`: the next hop of a destination; @via MANET_NOBODY: none. false: no
 * room, or another protocol.
 */
bool manet_set_route(struct manet *m, u32 to, u32 via, u8 hops);
/* The next entry, from *@cursor 0 on; false: there are no more. */
bool manet_dump(const struct manet *m, u32 *cursor, struct manet_entry *entry);
u32 manet_address(const struct manet *m);
const char *manet_state_name(const struct manet *m, u8 state);
const struct manet_counters *manet_counters(const struct manet *m);

#endif
