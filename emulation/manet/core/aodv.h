/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AODV among its own files: aodv.c (face, data, broken links), aodv_routes.c
 * (what is known), aodv_search.c (finding, repairing, waiting packets),
 * aodv_messages.c (the wire) and aodv_errors.c (route errors). Numbers of sections are those of RFC 3561.
 * In a circle: aodv.c, aodv_errors.c, aodv_messages.c, aodv_routes.c, aodv_search.c.
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
#define AODV_RATE 64 /* the largest limit of a rate, a second */
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

/* Words of manet_entry.state. */
enum aodv_state { STATE_INVALID, STATE_VALID, STATE_SEARCHED, STATE_REPAIRED, STATE_BLACKLISTED };

/*
 * A destination, as long as anything of it is known. Its timer may go off early:
 * use puts @expires off without touching it.
 */
struct aodv_route {
	u32 to, via, sequence; /* to MANET_NOBODY: free */
	u64 expires; /* valid: its lifetime; else: when it is forgotten, or a repair is */
	u64 silent; /* no HELLO by then: the link is lost; NEVER: has sent none */
	u64 ack_due; /* of a RREP-ACK; NEVER: none awaited */
	u64 shunned; /* until then its requests are ignored (6.8) */
	u64 hold; /* no new search before */
	struct manet_timer timer, search; /* search is set as long as one goes on */
	u32 precursor[AODV_PRECURSORS];
	u16 next; /* in its bucket, or of the free ones */
	u16 waiting; /* packets in the buffer */
	u8 hops; /* the last, if it is not valid */
	u8 precursors;
	u8 ttl, asked; /* of the search: the last TTL (0: none goes on), requests */
	u8 tries, wide; /* repetitions and requests at the largest TTL */
	u8 hellos; /* heard in a row */
	bool crowded; /* there are more precursors than there is room for */
	bool valid;
	bool known; /* its sequence number is */
	bool repairable; /* lost here, and precursors do not know */
	bool own; /* something of this host waits for it */
	bool gratuitous; /* its search says so */
	bool report; /* goes into the next RERR */
};

struct aodv_seen {
	u32 originator, id;
	u64 until;
};

/* When the last so many went out. */
struct aodv_rate {
	u64 at[AODV_RATE];
	u32 next;
};

struct aodv {
	u32 sequence, id; /* this node's sequence number, and of its last request */
	u64 broadcast; /* when the last went out */
	u64 used; /* when data last went through */
	u64 quiet; /* till then no request and no reply: after a reboot (6.13) */
	struct manet_list buffer; /* by age */
	struct manet_timer buffer_due, hello;
	struct aodv_rate requests, errors;
	u16 free; /* 0: none */
	u16 reports; /* routes with @report */
	u16 bucket[AODV_BUCKETS];
	struct aodv_route route[AODV_ROUTES + 1]; /* 0 is none */
	struct aodv_seen seen[AODV_SEEN];
};

static inline struct aodv *aodv_of(const struct manet *m)
{
	return (struct aodv *)m->state;
}

/* @a is the newer of two sequence numbers, which go round (6.1). */
static inline bool aodv_newer(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/* aodv_routes.c */
void aodv_routes_init(struct manet *m);
struct aodv_route *aodv_find(const struct manet *m, u32 to);
/* The same, made if there is none; NULL: no room. */
struct aodv_route *aodv_get(struct manet *m, u32 to);
/*
 * Learned: @to by @via, so many hops; @known: with this sequence number. It is
 * taken if it is newer, or as new and shorter, or what there was is not valid
 * (6.2). Whoever waits for it is let go.
 */
bool aodv_learn(struct manet *m, struct aodv_route *r, u32 via, u8 hops, bool known, u32 sequence, u64 life);
/* It lives so long from now at the least. */
void aodv_keep(struct manet *m, struct aodv_route *r, u64 life);
/* Data between these two goes through: both ways, and neighbours on them, are in use (6.2). */
void aodv_use(struct manet *m, u32 source, u32 destination);
/* No longer valid, with this sequence number; @repairable: kept for that. */
void aodv_invalidate(struct manet *m, struct aodv_route *r, u32 sequence, bool repairable);
void aodv_forget_precursors(struct aodv_route *r);
void aodv_add_precursor(struct aodv_route *r, u32 neighbour);
/* Its timer goes off in time for all that is due of it. */
void aodv_arm(struct manet *m, struct aodv_route *r);
void aodv_route_due(struct manet *m, struct aodv_route *r);
/* Whether this request was seen before; now it was. */
bool aodv_seen(struct manet *m, u32 originator, u32 id);
/* One more may go out; false: the limit is reached, until *@again if that is given. */
bool aodv_may(struct manet *m, struct aodv_rate *rate, u32 limit, u64 *again);

/* aodv_search.c */
void aodv_wait(struct manet *m, struct aodv_route *r, struct manet_packet *p);
void aodv_search(struct manet *m, struct aodv_route *r);
void aodv_search_due(struct manet *m, struct aodv_route *r);
void aodv_buffer_due(struct manet *m);
/* There is a route: the search ends, what waited goes. */
void aodv_found(struct manet *m, struct aodv_route *r, bool repaired, u8 hops_before);
u64 aodv_net_traversal(const struct manet *m);

/* aodv_messages.c */
void aodv_control(struct manet *m, struct manet_packet *p, const u8 *from, u8 *message, u16 len);
void aodv_send_request(struct manet *m, struct aodv_route *r);
void aodv_send_hello(struct manet *m);
/* A message was read, of this kind, about this destination. */
void aodv_tell_got(struct manet *m, struct manet_packet *p, enum manet_kind kind, u32 to, u8 hops, u32 extra);
/* Who sends a message is a neighbour (6.2). */
void aodv_heard(struct manet *m, u32 neighbour);

/* aodv_errors.c */
void aodv_got_error(struct manet *m, struct manet_packet *p, const u8 *at, u16 len, u32 from);
/* If it has precursors, it goes into what aodv_send_errors() sends next. */
void aodv_report(struct manet *m, struct aodv_route *r);
/* All routes so marked, to their precursors; @keep: with the N flag. */
void aodv_send_errors(struct manet *m, bool keep);
/* One destination to one neighbour, or to MANET_EVERYBODY. */
void aodv_send_error(struct manet *m, u32 destination, u32 sequence, u32 to);

/* aodv.c */
/* @neighbour is not reached, or not heard; @p: the packet that did not get there, or NULL. */
void aodv_link_lost(struct manet *m, u32 neighbour, struct manet_packet *p);
/* A broadcast goes out, and puts off a HELLO. */
void aodv_broadcast(struct manet *m, struct manet_packet *p);
void aodv_drop_list(struct manet *m, struct manet_list *list, enum manet_reason why);

#endif
