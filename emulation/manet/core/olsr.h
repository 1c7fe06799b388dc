/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OLSR (RFC 3626): what a node knows, and which file does what with it.
 *
 * Every address that is mentioned has a number below OLSR_NODES, its place in the
 * table of nodes; all sets of the RFC are there: what concerns one neighbour (link,
 * neighbour, MPR and MPR selector set) in its node, and who is said to be linked
 * with whom (2-hop neighbour and topology set) in edges, listed by who says so.
 * In a circle: olsr.c, olsr_links.c, olsr_read.c, olsr_tables.c, olsr_write.c.
 */
#ifndef MANET_OLSR_H
#define MANET_OLSR_H

#include "node.h"

#define OLSR_PORT 698
#define OLSR_NODES 512 /* a power of two */
#define OLSR_EDGES 8192
#define OLSR_NONE 0xffff
#define OLSR_SELF 0 /* this node's number */
#define OLSR_ALIASES 64
#define OLSR_DUPLICATES 2048 /* a power of two */
#define OLSR_PACKET_HEADER 4
#define OLSR_MESSAGE_HEADER 12
#define OLSR_LINK_HEADER 4 /* of a group of links in a HELLO */
#define OLSR_ROOM (MANET_MTU - IP_HEADER - UDP_HEADER - OLSR_PACKET_HEADER) /* for messages in one packet */
#define OLSR_QUALITY (1U << 16) /* of a link: 1 */

enum {
	P_HELLO_INTERVAL_MS = P_OWN,
	P_TC_INTERVAL_MS,
	P_NEIGHBOUR_HOLD_MS,
	P_TOPOLOGY_HOLD_MS,
	P_DUPLICATE_HOLD_MS,
	P_WILLINGNESS,
	P_TC_REDUNDANCY,
	P_MPR_COVERAGE,
	P_IMMEDIATE_TC,
	P_TC_MIN_INTERVAL_MS,
	P_FEEDBACK,
	P_HYSTERESIS,
	P_HYSTERESIS_HIGH,
	P_HYSTERESIS_LOW,
	P_HYSTERESIS_SCALING
};

enum { OLSR_HELLO = 1, OLSR_TC, OLSR_MID, OLSR_HNA }; /* message types, 18.4 */
enum { UNSPEC_LINK, ASYM_LINK, SYM_LINK, LOST_LINK }; /* 18.5 */
enum { NOT_NEIGH, SYM_NEIGH, MPR_NEIGH }; /* 18.6 */
enum { WILL_NEVER = 0, WILL_ALWAYS = 7 }; /* 18.8 */

enum { TIMER_HELLO, TIMER_TC, TIMER_PENDING, TIMER_EXPIRE };

struct olsr_edge {
	u64 until;
	u16 from, to;
	u16 next; /* of the same list, or of the free ones */
	bool topology; /* else a 2-hop neighbour */
};

struct olsr_node {
	u32 address; /* MANET_NOBODY: free */
	u16 chain; /* in its hash bucket */
	u16 two_hops, topology; /* edges that it told us of: as a neighbour, in its TCs */
	u16 ansn; /* of these */
	bool mentioned; /* while looking for those that are not */

	/* As a neighbour. */
	bool linked; /* it is in link[] */
	bool symmetric; /* N_status */
	bool mpr;
	bool advertised; /* in our last TC */
	bool pending; /* hysteresis: not good enough yet */
	u8 willingness;
	u16 packet_sequence, missed; /* hysteresis; missed: by silence, since the last packet */
	u32 interface; /* where its packets come from: the next hop */
	u32 quality;
	u64 symmetric_until, heard_until, link_until; /* L_SYM_time, L_ASYM_time, L_time */
	u64 selector_until; /* MS_time; 0: none */
	u64 lost_until; /* L_LOST_LINK_time */
	u64 silent_at, silence; /* when its next HELLO is missed, and how far these are apart */

	/* The route to it. */
	u8 hops, hops_before;
	u16 via, via_before;
};

struct olsr_alias { /* MID: another address of a node */
	u32 address; /* MANET_NOBODY: free */
	u16 node;
	u64 until;
};

struct olsr_duplicate {
	u32 originator;
	u16 sequence;
	u64 until;
};

struct olsr {
	struct manet_timer hello, tc, pending_due, expire;
	u16 packet_sequence, message_sequence, ansn;
	bool routes_old, mprs_old; /* something that they depend on has changed */
	bool advertised_less; /* a neighbour of the last TC is gone */
	u64 last_tc, empty_until; /* until then a TC without neighbours must be sent, too */
	u16 links, used, free_edge, alias_next;
	u16 bucket[OLSR_NODES];
	u16 link[OLSR_NODES]; /* those that have one, in order of coming */
	u16 covers[OLSR_NODES], covered[OLSR_NODES], queue[OLSR_NODES]; /* while MPRs or routes are calculated */
	u16 pending_len;
	u8 pending_kind;
	u8 pending[OLSR_ROOM]; /* messages of the next packet */
	struct olsr_node node[OLSR_NODES];
	struct olsr_edge edge[OLSR_EDGES];
	struct olsr_alias alias[OLSR_ALIASES];
	struct olsr_duplicate duplicate[OLSR_DUPLICATES];
};

static inline struct olsr *olsr(const struct manet *m)
{
	return (struct olsr *)m->state;
}

static inline struct olsr_node *olsr_node(const struct manet *m, u16 number)
{
	return &olsr(m)->node[number];
}

static inline bool olsr_is_selector(const struct manet *m, const struct olsr_node *n)
{
	return n->selector_until > m->now;
}

/* olsr_tables.c */
void olsr_clear(struct manet *m);
/* The number of this address, or of the node whose other address it is; OLSR_NONE: unknown. */
u16 olsr_find(const struct manet *m, u32 address);
/* The same, and known from now on; OLSR_NONE: no room. */
u16 olsr_know(struct manet *m, u32 address);
void olsr_alias(struct manet *m, u32 address, u16 node, u64 until);
/* An edge is there until then. */
void olsr_edge_set(struct manet *m, u16 from, u16 to, bool topology, u64 until);
void olsr_edge_remove(struct manet *m, u16 from, u16 to, bool topology);
/* All of one kind. */
void olsr_edges_clear(struct manet *m, u16 from, bool topology);
bool olsr_is_duplicate(const struct manet *m, u32 originator, u16 sequence);
void olsr_duplicate_set(struct manet *m, u32 originator, u16 sequence);
/* Something ends then. */
void olsr_expire_by(struct manet *m, u64 until);
/* Whatever has ended goes. */
void olsr_expire(struct manet *m);

/* olsr_links.c */
/* The link tuple of this neighbour, made if there is none. */
void olsr_link_make(struct manet *m, u16 number, u32 interface);
/* Its times or its quality have changed: is it a symmetric neighbour still, or now? */
void olsr_link_check(struct manet *m, u16 number, bool by_feedback);
void olsr_link_failed(struct manet *m, u16 number);
/* Hysteresis (14.2, 14.3): a packet with this number came on the link; or one did not. */
void olsr_link_heard(struct manet *m, u16 number, u16 sequence);
/* How the link is advertised; false: not at all. */
bool olsr_link_type(const struct manet *m, const struct olsr_node *n, u8 *type);
void olsr_selector_set(struct manet *m, u16 number, u64 until);
void olsr_link_expire(struct manet *m, u16 number);

/* olsr_read.c */
/* false: malformed. */
bool olsr_read(struct manet *m, struct manet_packet *p, const u8 *bytes, u16 len);

/* olsr_write.c */
u8 olsr_time_code(u32 ms);
u64 olsr_time(u8 code);
/* A message of another node, after a jitter. */
void olsr_relay(struct manet *m, const u8 *message, u16 size);
void olsr_send_hello(struct manet *m);
void olsr_send_tc(struct manet *m);
/* The pending messages, as one packet. */
void olsr_flush(struct manet *m);

/* olsr_routes.c */
void olsr_choose_mprs(struct manet *m);
void olsr_find_routes(struct manet *m);

/* olsr.c */
/* What TCs would say has changed; @by_failure: as a link broke. */
void olsr_advertised_changed(struct manet *m, bool by_failure);

#endif
