/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AODV's files: aodv.c (interface to the node, data, broken links), aodv_routes.c
 * (routes), aodv_search.c (searches, repairs, waiting packets), aodv_messages.c
 * (message formats) and aodv_errors.c (route errors). Numbers of sections are
 * those of RFC 3561. In a circle: aodv.c, aodv_errors.c, aodv_messages.c,
 * aodv_routes.c, aodv_search.c.
 */
#ifndef MANET_AODV_H
#define MANET_AODV_H

#include "node.h"

#define AODV_PORT 654
#define AODV_ROUTES 512
#define AODV_BUCKETS 512 /* a power of two */
#define AODV_PRECURSORS 8
#define AODV_SEEN 2048 /* requests, in sets of AODV_SEEN_WAYS */
#define AODV_SEEN_WAYS 4
#define AODV_RATE 64 /* the largest rate limit, per second */
#define AODV_ERRORS 170 /* destinations in one RERR: fits MANET_MTU */

enum {
	P_ACTIVE_MS = P_OWN, P_MY_MS, P_REVERSE_MS, P_DELETE_MS,
	P_RING, P_TTL_START, P_TTL_INCREMENT, P_TTL_THRESHOLD, P_PAST_THRESHOLD, P_NET_DIAMETER,
	P_NODE_TRAVERSAL_MS, P_TIMEOUT_BUFFER, P_RREQ_RETRIES, P_BACKOFF, P_PATH_DISCOVERY_MS, P_FAILED_HOLD_MS,
	P_RREQ_RATE, P_RERR_RATE,
	P_GRATUITOUS, P_DESTINATION_ONLY,
	P_BUFFER, P_BUFFER_MS, P_RELEASE_MS,
	P_FEEDBACK, P_CONTROL_FEEDBACK, P_RESEND,
	P_REPAIR, P_MAX_REPAIR_TTL, P_LOCAL_ADD_TTL, P_REPAIR_NEAR, P_REPAIR_QUEUE, P_REPAIR_RINGS,
	P_ERROR_UNICAST, P_ERROR_PURGE,
	P_NEIGHBOUR_ROUTES, P_HELLO_MS, P_HELLO_LOSS, P_HELLO_JITTER_MS, P_HELLO_SLACK_MS, P_HELLO_ALWAYS, P_HELLO_SKIP,
	P_HELLOS_NEEDED,
	P_REPLY_ACK, P_NEXT_HOP_WAIT_MS, P_BLACKLIST_MS,
	P_REBOOT_HOLD,
	P_AODV_PARAMETERS
};
extern const struct manet_parameter aodv_parameters[P_AODV_PARAMETERS]; /* aodv_parameters.c */

enum { AODV_RREQ = 1, AODV_RREP, AODV_RERR, AODV_RREP_ACK };
#define AODV_ERROR_LEN 4 /* without a destination */

/* P_GRATUITOUS, P_BACKOFF, P_ERROR_PURGE */
enum { GRATUITOUS_TCP = 2 };
enum { BACKOFF_NONE, BACKOFF_DOUBLE, BACKOFF_LINEAR };
enum { PURGE_NONE, PURGE_DESTINATION, PURGE_NEXT_HOP };

enum { TIMER_ROUTE, TIMER_SEARCH, TIMER_BUFFER, TIMER_HELLO };

/* Names of manet_entry.state. */
enum aodv_state { STATE_INVALID, STATE_VALID, STATE_SEARCHED, STATE_REPAIRED, STATE_BLACKLISTED };

/*
 * A destination, kept while anything is known about it. Its timer may fire too
 * early, because use extends @expires without changing the timer.
 */
struct aodv_route {
	u32 to, via, sequence; /* @to is MANET_NOBODY: free */
	u64 expires; /* of a valid route: its lifetime; of another: when it is forgotten, or its repair is */
	u64 silent; /* the link is lost if no HELLO comes by then; NEVER: it has sent none */
	u64 ack_due; /* when a RREP-ACK is due; NEVER: none is expected */
	u64 shunned; /* its requests are ignored until then (6.8) */
	u64 hold; /* no new search before this time */
	struct manet_timer timer, search; /* search is set while a search continues */
	u32 precursor[AODV_PRECURSORS];
	u16 next; /* in its bucket, or in the list of free ones */
	u16 waiting; /* packets in the buffer */
	u8 hops; /* the last known number, if it is not valid */
	u8 precursors;
	u8 ttl, asked; /* of the search: the last TTL (0: there is none), and requests */
	u8 tries, wide; /* repetitions and requests at the largest TTL */
	u8 hellos; /* received in a row */
	bool crowded; /* there are more precursors than places */
	bool valid;
	bool known; /* its sequence number is known */
	bool repairable; /* lost here, and precursors have not been informed */
	bool own; /* a packet of this host waits for it */
	bool gratuitous; /* its search has the G flag */
	bool report; /* goes into the next RERR */
};

struct aodv_seen {
	u32 originator, id;
	u64 until;
};

/* The times of the last messages. */
struct aodv_rate {
	u64 at[AODV_RATE];
	u32 next;
};

struct aodv {
	u32 sequence, id; /* of this node, and of its last request */
	u64 broadcast; /* time of the last broadcast */
	u64 used; /* time of the last data */
	u64 quiet; /* until then it sends no request and no reply: after a reboot (6.13) */
	struct manet_list buffer; /* ordered by age */
	struct manet_timer buffer_due, hello;
	struct aodv_rate requests, errors;
	u16 free; /* 0: none */
	u16 reports; /* routes with @report */
	u16 bucket[AODV_BUCKETS];
	struct aodv_route route[AODV_ROUTES + 1]; /* 0 is not used */
	struct aodv_seen seen[AODV_SEEN];
};

static inline struct aodv *aodv_of(const struct manet *m)
{
	return (struct aodv *)m->state;
}

/* @a is the newer of two sequence numbers, which wrap (6.1). */
static inline bool aodv_newer(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/* aodv_routes.c */
void aodv_routes_init(struct manet *m);
struct aodv_route *aodv_find(const struct manet *m, u32 to);
/* The same; makes one if there is none. NULL: there is no room. */
struct aodv_route *aodv_get(struct manet *m, u32 to);
/*
 * A route to @to via @via with @hops hops was learned; @known: with this sequence
 * number. It is used if it is newer, or as new and shorter, or if the old one is
 * not valid (6.2). Packets that wait for it are sent.
 */
bool aodv_learn(struct manet *m, struct aodv_route *r, u32 via, u8 hops, bool known, u32 sequence, u64 life);
/* Extend its lifetime to at least @life from now. */
void aodv_keep(struct manet *m, struct aodv_route *r, u64 life);
/* Data between these two passes: the routes to both, and the neighbours on them, are in use (6.2). */
void aodv_use(struct manet *m, u32 source, u32 destination);
/* The route is not valid any more, with this sequence number; @repairable: keep it for a repair. */
void aodv_invalidate(struct manet *m, struct aodv_route *r, u32 sequence, bool repairable);
void aodv_forget_precursors(struct aodv_route *r);
void aodv_add_precursor(struct aodv_route *r, u32 neighbour);
/* Set its timer for the earliest of its deadlines. */
void aodv_arm(struct manet *m, struct aodv_route *r);
void aodv_route_due(struct manet *m, struct aodv_route *r);
/* Return whether this request was seen before, and remember it. */
bool aodv_seen(struct manet *m, u32 originator, u32 id);
/* One more message may be sent; false: the limit is reached, until *@again if that is given. */
bool aodv_may(struct manet *m, struct aodv_rate *rate, u32 limit, u64 *again);

/* aodv_search.c */
void aodv_wait(struct manet *m, struct aodv_route *r, struct manet_packet *p);
void aodv_search(struct manet *m, struct aodv_route *r);
void aodv_search_due(struct manet *m, struct aodv_route *r);
void aodv_buffer_due(struct manet *m);
/* A route was found: the search ends, and waiting packets are sent. */
void aodv_found(struct manet *m, struct aodv_route *r, bool repaired, u8 hops_before);
u64 aodv_net_traversal(const struct manet *m);

/* aodv_messages.c */
void aodv_control(struct manet *m, struct manet_packet *p, const u8 *from, u8 *message, u16 len);
void aodv_send_request(struct manet *m, struct aodv_route *r);
void aodv_send_hello(struct manet *m);
/* Record that a message of this kind about this destination was read. */
void aodv_tell_got(struct manet *m, struct manet_packet *p, enum manet_kind kind, u32 to, u8 hops, u32 extra);
/* The sender of a message is a neighbour (6.2). */
void aodv_heard(struct manet *m, u32 neighbour);

/* aodv_errors.c */
void aodv_got_error(struct manet *m, struct manet_packet *p, const u8 *at, u16 len, u32 from);
/* If it has precursors, include it in the next aodv_send_errors(). */
void aodv_report(struct manet *m, struct aodv_route *r);
/* Report all marked routes to their precursors; @keep: with the N flag. */
void aodv_send_errors(struct manet *m, bool keep);
/* Report one destination to one neighbour, or to MANET_EVERYBODY. */
void aodv_send_error(struct manet *m, u32 destination, u32 sequence, u32 to);

/* aodv.c */
/* @neighbour is not reached, or not heard; @p: the packet that was lost, or NULL. */
void aodv_link_lost(struct manet *m, u32 neighbour, struct manet_packet *p);
/* Send a broadcast, which delays a HELLO. */
void aodv_broadcast(struct manet *m, struct manet_packet *p);
void aodv_drop_list(struct manet *m, struct manet_list *list, enum manet_reason why);

#endif
