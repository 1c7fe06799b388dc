/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OLSR (RFC 3626): the state of a node, and the files that use it.
 *
 * Every known address has a number below OLSR_NODES, its place in the table of
 * nodes. All sets of the RFC exist. Sets about one neighbour (link, neighbour,
 * MPR and MPR selector set) are in its node. Sets about links between other nodes
 * (2-hop neighbour and topology set) are edges, listed by the node that announced
 * them. In a circle: olsr.c, olsr_links.c, olsr_read.c, olsr_tables.c,
 * olsr_write.c.
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
	u16 next; /* in the same list, or in the list of free edges */
	bool topology; /* otherwise a 2-hop neighbour */
};

struct olsr_node {
	u32 address; /* MANET_NOBODY: free */
	u16 chain; /* in its hash bucket */
	u16 two_hops, topology; /* edges that it announced: as a neighbour, and in its TCs */
	u16 ansn; /* of its TCs */
	bool mentioned; /* used by the search for nodes to remove */

	/* As a neighbour. */
	bool linked; /* it is in link[] */
	bool symmetric; /* N_status */
	bool mpr;
	bool advertised; /* in our last TC */
	bool pending; /* hysteresis: its quality is too low so far */
	u8 willingness;
	u16 packet_sequence, missed; /* hysteresis; missed: noticed by silence since the last packet */
	u32 interface; /* the source address of its packets: the next hop */
	u32 quality;
	u64 symmetric_until, heard_until, link_until; /* L_SYM_time, L_ASYM_time, L_time */
	u64 selector_until; /* MS_time; 0: none */
	u64 lost_until; /* L_LOST_LINK_time */
	u64 silent_at, silence; /* when its next HELLO is overdue, and the time between two HELLOs */

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
	bool routes_old, mprs_old; /* their input has changed */
	bool advertised_less; /* a neighbour in the last TC is lost */
	u64 last_tc, empty_until; /* until then, empty TCs must be sent */
	u16 links, used, free_edge, alias_next;
	u16 bucket[OLSR_NODES];
	u16 link[OLSR_NODES]; /* neighbours with a link, in order of arrival */
	u16 covers[OLSR_NODES], covered[OLSR_NODES], queue[OLSR_NODES]; /* used to compute MPRs or routes */
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
/* The number of this address, or of the node that has it as another address; OLSR_NONE: unknown. */
u16 olsr_find(const struct manet *m, u32 address);
/* The same, and add it if it is unknown; OLSR_NONE: there is no room. */
u16 olsr_know(struct manet *m, u32 address);
void olsr_alias(struct manet *m, u32 address, u16 node, u64 until);
/* An edge exists until this time. */
void olsr_edge_set(struct manet *m, u16 from, u16 to, bool topology, u64 until);
void olsr_edge_remove(struct manet *m, u16 from, u16 to, bool topology);
/* Remove all edges of one kind. */
void olsr_edges_clear(struct manet *m, u16 from, bool topology);
bool olsr_is_duplicate(const struct manet *m, u32 originator, u16 sequence);
void olsr_duplicate_set(struct manet *m, u32 originator, u16 sequence);
/* Something expires at this time. */
void olsr_expire_by(struct manet *m, u64 until);
/* Remove everything that has expired. */
void olsr_expire(struct manet *m);

/* olsr_links.c */
/* The link tuple of this neighbour; makes one if there is none. */
void olsr_link_make(struct manet *m, u16 number, u32 interface);
/* Its times or its quality have changed: check whether it is a symmetric neighbour. */
void olsr_link_check(struct manet *m, u16 number, bool by_feedback);
void olsr_link_failed(struct manet *m, u16 number);
/* Hysteresis (14.2, 14.3): a packet with this number came on the link, or one was missed. */
void olsr_link_heard(struct manet *m, u16 number, u16 sequence);
/* How HELLOs announce the link; false: they do not. */
bool olsr_link_type(const struct manet *m, const struct olsr_node *n, u8 *type);
void olsr_selector_set(struct manet *m, u16 number, u64 until);
void olsr_link_expire(struct manet *m, u16 number);

/* olsr_read.c */
/* false: malformed. */
bool olsr_read(struct manet *m, struct manet_packet *p, const u8 *bytes, u16 len);

/* olsr_write.c */
u8 olsr_time_code(u32 ms);
u64 olsr_time(u8 code);
/* Relay a message of another node after a jitter. */
void olsr_relay(struct manet *m, const u8 *message, u16 size);
void olsr_send_hello(struct manet *m);
void olsr_send_tc(struct manet *m);
/* Send the pending messages as one packet. */
void olsr_flush(struct manet *m);

/* olsr_routes.c */
void olsr_choose_mprs(struct manet *m);
void olsr_find_routes(struct manet *m);

/* olsr.c */
/* The content of TCs has changed; @by_failure: because a link broke. */
void olsr_advertised_changed(struct manet *m, bool by_failure);

#endif
