/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dynamic Source Routing (RFC 4728), in these files:
 *
 *	dsr.c              interface to the node: packets, timers, dump
 *	dsr_parameters.c   parameters
 *	dsr_wire.c         format of headers and options
 *	dsr_cache.c        what a node has learned, and the cache of paths
 *	dsr_links.c        the cache of links
 *	dsr_search.c       packets that wait for a route, and requests
 *	dsr_reply.c        received requests, and replies
 *	dsr_maintain.c     lost links: errors, salvage, acknowledgments
 *	dsr_dump.c         the state of a node as entries
 *
 * In a circle: dsr.c, dsr_dump.c, dsr_maintain.c, dsr_reply.c, dsr_search.c.
 */
#ifndef MANET_DSR_H
#define MANET_DSR_H

#include "node.h"

#define DSR_HOPS 16 /* of a route, at most: fifteen addresses between both ends, sixteen in a salvaged packet */
#define DSR_NODES (DSR_HOPS + 1)
#define DSR_FIXED 4 /* bytes of the options header before its options */
#define DSR_NONE 0xffff

enum { OPT_PADN, OPT_REQUEST, OPT_REPLY, OPT_ERROR, OPT_ACK = 32, OPT_ROUTE = 96, OPT_ACK_REQUEST = 160, OPT_PAD1 = 224 };
enum { NO_NEXT_HEADER = 59, NODE_UNREACHABLE = 1 };

enum {
	P_FEEDBACK = P_OWN, P_CACHE_PATHS, P_CACHE_LINKS, P_CACHE_REPLACE, P_CACHE_PRIMARY, P_CACHE_SECONDARY,
	P_CACHE_TIMEOUT_MS, P_MAX_LIFE, P_STABILITY_MS, P_USE_EXTENDS_MS, P_CACHE_REVERSE, P_BREAK_BOTH, P_BUFFER, P_BUFFER_TIMEOUT_MS, P_RELEASE_ALL, P_RELEASE_GAP_MS,
	P_TTL_FIRST, P_TTL_FACTOR, P_TTL_MOST, P_FIRST_TIMEOUT_MS, P_PERIOD_MS, P_BACKOFF, P_PERIOD_MOST_MS, P_RETRIES,
	P_RING_AGAIN, P_SEARCH_EMPTY, P_FORWARD_JITTER, P_REQUEST_TABLE, P_REQUEST_IDS, P_REQUEST_NEWEST, P_REPLY_ALL,
	P_CACHED_REPLIES, P_REPLY_HOLDOFF_MS, P_LEARN_REQUESTS, P_LEARN_REPLIES, P_LEARN_ROUTES, P_HEAR_ERRORS,
	P_GRATUITOUS, P_GRATUITOUS_HOLDOFF_MS, P_SALVAGE, P_SALVAGE_MOST, P_SALVAGE_KEEPS_PATH, P_SALVAGE_REPLIES,
	P_OWN_BACK, P_FORWARDER_BUFFERS, P_PURGE, P_ERROR_EACH, P_ERROR_ROUTE, P_SPREAD_ERROR_MS, P_PASSIVE_ACKS,
	P_MAINT_HOLDOFF_MS, P_MAINT_RETRIES, P_MAINT_BUFFER, P_MAINT_RTO_MS, P_HEADER_ONE_HOP, P_OTHER_JITTER, P_HOPS_MOST, P_LONGEST,
	DSR_PARAMETERS
};

enum { TIMER_LINKS, TIMER_BUFFER, TIMER_SEARCH, TIMER_HELD_OFF, TIMER_NEIGHBOUR };

/* With both ends. */
struct dsr_route {
	u8 count;
	u32 node[DSR_NODES];
};

/* Offsets of the options of a packet, from its first byte; 0: there is none. */
struct dsr_options {
	u16 header, end; /* the options header, and what follows */
	u16 route, request, reply, error, ack, ack_request; /* the first option of each type */
	u8 next_header, kind; /* enum manet_kind */
};

/* ---- the link cache ---- */
#define DSR_LINKS 2048
#define DSR_MEMBERS 512 /* nodes at an end of a link */

struct dsr_link {
	u16 from, to; /* members; @from is DSR_NONE: free */
	u16 next_out, next_hash; /* of the same member, and of the same hash */
	u64 until, used; /* last use by this node's packets, or its arrival */
};

struct dsr_member {
	u32 address;
	u16 links; /* that begin or end here; 0: free */
	u16 first_out, last_out, next_hash;
	u16 parent; /* on the shortest path to it, if tree_valid; DSR_NONE: there is none */
	u8 depth;
	u64 life; /* of the link on that path that expires first */
};

/* How stable a node's links are, by observation (appendix A). */
#define DSR_STABLE 512
#define DSR_WAYS 8

struct dsr_stable {
	u32 address;
	u64 life, changed;
};

struct dsr_links {
	struct dsr_link link[DSR_LINKS];
	struct dsr_member member[DSR_MEMBERS];
	struct dsr_stable stable[DSR_STABLE];
	u16 link_hash[DSR_LINKS], member_hash[DSR_MEMBERS];
	u16 free_links, free_members; /* lists, by next_hash */
	u16 queue[DSR_MEMBERS]; /* of the breadth-first search */
	u16 hand; /* the last entry that was replaced */
	u32 count;
	bool tree_valid;
	struct manet_timer expiry;
};

/* ---- the path cache ---- */
#define DSR_PATHS 128 /* of each kind */

struct dsr_path {
	struct dsr_route route; /* from this node; count 0: free */
	u64 until;
};

struct dsr_paths {
	struct dsr_path path[DSR_PATHS];
	u32 victim;
};

/* ---- what routes are in use ---- */
#define DSR_USED 512

struct dsr_used {
	u32 to, via;
	u8 hops;
	bool valid;
};

/* ---- searches ---- */
#define DSR_WAITING 256 /* packets */
#define DSR_SEARCHES 256

struct dsr_search {
	struct manet_timer timer; /* first */
	u32 target; /* of the pending request */
	u64 timeout; /* of the request that is out */
	u64 used;
	u16 tries;
	u8 ttl; /* of the last request */
	bool on;
};

/* ---- requests that came ---- */
#define DSR_REQUESTERS 512
#define DSR_IDS 16

struct dsr_seen {
	u32 target;
	u16 id;
};

struct dsr_requester {
	u32 address;
	u64 used;
	u16 next_hash;
	u8 count, oldest;
	struct dsr_seen seen[DSR_IDS];
};

/* ---- gratuitous replies that were sent ---- */
#define DSR_GRATUITOUS 64

struct dsr_gratuitous {
	u32 source, heard;
	u64 until;
};

/* ---- neighbours, without feedback ---- */
#define DSR_NEIGHBOURS 128

struct dsr_neighbour {
	struct manet_timer timer; /* first */
	u32 address;
	bool waiting; /* for an acknowledgment */
	u8 tries;
	u16 id;
	u64 asked, first_asked; /* times of the last request for an acknowledgment, and of the first with this id */
	u64 rto, mean, deviation;
	u64 used;
};

struct dsr {
	struct dsr_links links;
	struct dsr_paths primary, secondary;
	struct dsr_used used[DSR_USED];
	u32 in_use; /* of these valid */
	struct manet_list buffer; /* ordered by since: packets without a route */
	struct manet_timer buffer_due;
	struct dsr_search search[DSR_SEARCHES];
	u32 searches; /* entries in use, all of them at the start */
	u16 request_id;
	struct dsr_requester requester[DSR_REQUESTERS];
	u16 requester_hash[DSR_REQUESTERS];
	u32 requesters;
	struct dsr_gratuitous gratuitous[DSR_GRATUITOUS];
	u32 oldest_gratuitous;
	struct manet_list held_off; /* ordered by since: replies */
	struct manet_timer held_off_due;
	struct dsr_neighbour neighbour[DSR_NEIGHBOURS];
	struct manet_list unconfirmed; /* copies; tag: the neighbour's address, the id */
	u32 error_from, error_to; /* the last received error, to be repeated in a request */
	u64 error_at;
	bool news; /* the cache has new routes */
};

static inline struct dsr *dsr_of(const struct manet *m)
{
	return (struct dsr *)m->state;
}

static inline u32 dsr_hash(u32 key)
{
	return key * 0x9e3779b1U >> 16;
}

extern const struct manet_parameter dsr_parameters[DSR_PARAMETERS];

/* dsr_wire.c */
/* false: the options header is invalid. @cut: there may be fewer bytes than the IP header says. */
bool dsr_parse(const u8 *ip, u32 len, bool cut, struct dsr_options *o);
/* The next option with the type of the one at @at; 0: there is none. */
u16 dsr_next(const u8 *ip, const struct dsr_options *o, u16 at);
/* No node occurs twice, and all addresses are those of hosts. */
bool dsr_sound(const struct manet *m, const struct dsr_route *r);
/* The place of a node; count: it is not on the route. */
u8 dsr_place(const struct dsr_route *r, u32 node);
void dsr_reverse(struct dsr_route *r);
/*
 * Replace the part of @r after its place @last by the part of @tail after that node. false: it is
 * too long, or has a loop.
 */
bool dsr_join(const struct manet *m, struct dsr_route *r, u8 last, const struct dsr_route *tail);
/* The route in an option, and the place of its next node; 0: unknown. */
bool dsr_route_in(const struct manet *m, const u8 *ip, const struct dsr_options *o, struct dsr_route *r, u8 *next);
bool dsr_request_in(const struct manet *m, const u8 *ip, const struct dsr_options *o, struct dsr_route *r);
bool dsr_reply_in(const struct manet *m, const u8 *ip, u16 at, struct dsr_route *r);
u8 dsr_salvaged(const u8 *ip, const struct dsr_options *o);
/* Replace @size bytes at @at by @now bytes, with zeros if there are more; the bytes before them move. */
void dsr_splice(struct manet_packet *p, const struct dsr_options *o, u16 at, u16 size, u16 now);
/* Add the options header with a source route to a data packet (with @r's first node if it is salvaged); remove it. */
void dsr_put_header(struct manet_packet *p, const struct dsr_route *r, bool with_first, u8 salvaged);
void dsr_take_header(struct manet_packet *p, const struct dsr_options *o);
/* Set the source route of a packet to @r, of which @done segments have been travelled. */
void dsr_set_route(struct manet_packet *p, struct dsr_options *o, const struct dsr_route *r, bool with_first, u8 done,
		   u8 salvaged);
void dsr_set_left(struct manet_packet *p, const struct dsr_options *o, u8 left);
u8 dsr_left(const u8 *ip, const struct dsr_options *o);
void dsr_ask_ack(struct manet_packet *p, struct dsr_options *o, u16 id);
/* Control packets. A route begins here and ends at the packet's destination. NULL: no memory (counted). */
struct manet_packet *dsr_make_request(struct manet *m, u32 target, u16 id, u8 ttl, u32 error_from, u32 error_to);
struct manet_packet *dsr_make_reply(struct manet *m, const struct dsr_route *way, const struct dsr_route *reply);
struct manet_packet *dsr_make_error(struct manet *m, const struct dsr_route *way, u32 unreachable, u8 salvaged);
struct manet_packet *dsr_make_ack(struct manet *m, u32 to, u16 id);
struct manet_packet *dsr_make_ack_request(struct manet *m, u32 to, u16 id);

/* dsr_cache.c */
/* A route was learned; @asked: from a reply to this node. @sender: the neighbour that sent it, or 0. */
void dsr_learn(struct manet *m, const struct dsr_route *r, bool asked, u32 sender);
/* The shortest route to @to; @use: packets will take it. */
bool dsr_find(struct manet *m, u32 to, struct dsr_route *r, bool use);
/* The MAC address is known. */
bool dsr_known(struct manet *m, u32 neighbour);
/* A link is lost. */
void dsr_forget(struct manet *m, u32 from, u32 to);
/* Record the route that a packet takes; report destinations in use that have lost all routes. */
void dsr_uses(struct manet *m, const struct manet_packet *p, const struct dsr_route *r);
void dsr_uses_links(struct manet *m, const struct dsr_route *r);
void dsr_tell_lost(struct manet *m);
const struct dsr_used *dsr_used_for(const struct manet *m, u32 to);

/* dsr_links.c */
void links_start(struct manet *m);
void links_add(struct manet *m, u32 from, u32 to);
/* false: there was no such link. */
bool links_forget(struct manet *m, u32 from, u32 to);
/* A link of @from and @to failed; a packet of this node takes this route. */
void links_blame(struct manet *m, u32 from, u32 to);
void links_use(struct manet *m, const struct dsr_route *r);
bool links_find(struct manet *m, u32 to, struct dsr_route *r);
void links_expire(struct manet *m);

/* dsr_search.c */
/* Wait for a route, for a packet without options header, of this node or of one that it forwards for. */
void dsr_wait(struct manet *m, struct manet_packet *p);
void dsr_search_timer(struct manet *m, struct dsr_search *s);
void dsr_buffer_timer(struct manet *m);
/* A reply with a route to @target came. */
void dsr_found(struct manet *m, u32 target);
/* Send the packets that have a route now. @to: only to this destination; 0: all. @answered: after a reply. */
void dsr_release(struct manet *m, u32 to, bool answered);
u32 dsr_waiting_for(const struct manet *m, u32 to);

/* dsr_reply.c */
/* @so_far: the path from the originator to this node. */
void dsr_requested(struct manet *m, struct manet_packet *p, struct dsr_options *o, const struct dsr_route *so_far);
/* A packet was overheard that would reach this node later, so a shorter route exists. @heard: place of the sender. */
void dsr_shorten(struct manet *m, const struct dsr_route *r, u8 heard, u8 here);
/* @source uses a route of @hops hops to @target. */
void dsr_heard_use(struct manet *m, u32 source, u32 target, u8 hops);
void dsr_held_off_timer(struct manet *m);

/* dsr_maintain.c */
/* Send to the next hop of its route, with acknowledgments if there is no feedback. */
void dsr_unicast(struct manet *m, struct manet_packet *p, u32 next_hop, u64 delay);
/* The link to p->next_hop failed with this packet. */
void dsr_failed(struct manet *m, struct manet_packet *p);
void dsr_error_came(struct manet *m, const u8 *ip, u16 at);
void dsr_ack_came(struct manet *m, u32 from, u16 id);
/* @from has forwarded a packet of this node. */
void dsr_passed_on(struct manet *m, u32 from, const u8 *ip, const struct dsr_options *o);
void dsr_neighbour_timer(struct manet *m, struct dsr_neighbour *n);
/* Without feedback the loss is not reported, but a copy may exist. */
void dsr_lost_unconfirmed(struct manet *m, struct manet_packet *p);

/* dsr_dump.c */
extern const char *const dsr_states[];
bool dsr_dump(const struct manet *m, u32 *cursor, struct manet_entry *entry);

/* dsr.c */
/* Send a data packet of this node, without options header, on this route. */
void dsr_originate(struct manet *m, struct manet_packet *p, const struct dsr_route *r, u64 delay);

#endif
