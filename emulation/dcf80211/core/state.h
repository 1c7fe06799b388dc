/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state behind dcf.h, shared by the core's files: stations, what each
 * transmits, and what arrives where.
 *
 * Two nouns are in several files that call each other. A station hears, waits
 * and sends, and each of these leads to the others; in a circle: access.c,
 * address.c, aggregate.c, answer.c, edca.c, exchange.c, medium.c, mpdus.c, queue.c, reception.c, trace.c, tuning.c. Who
 * hears whom follows from places and gains, and what it was is forgotten as they
 * change; in a circle: fading.c, motion.c, neighbours.c.
 */
#ifndef DCF_STATE_H
#define DCF_STATE_H

#include "band.h"
#include "dcf.h"

/* What ns-2 allows for a signal's way, whatever it is. */
#define NS2_DELAY_NS (2 * US)

/*
 * Events of a station. Their order is the order within one nanosecond: what
 * ends, ends before anything begins, so that frames back to back do not
 * overlap; and a station whose slot comes sends before it hears what begins in
 * the same instant, so that equal slots collide.
 */
enum dcf_event {
	EV_GONE_0, /* transmission 0 has passed the next neighbour */
	EV_GONE_1,
	EV_DETECT, /* the preamble of what is followed has been heard: is it noticed? */
	EV_SENT, /* the own transmission ends */
	EV_TIMEOUT, /* no CTS, no ACK */
	EV_NAV_RESET,
	EV_SIFS, /* a SIFS has passed: respond, or go on after the CTS */
	EV_ACCESS, /* the backoff is over */
	EV_HEARD_0, /* transmission 0 reaches the next neighbour */
	EV_HEARD_1,
	EVENTS
};

struct timeline {
	u32 count;
	u32 *heap; /* event numbers: station * EVENTS + kind */
	u32 *place; /* where in the heap, + 1; 0: not there */
	u64 *time;
};

/* One signal on its way into one station. */
struct arrival {
	bool here, forgotten;
	bool faded; /* it is nothing here */
	bool missed; /* its beginning: it is energy only */
	bool spread; /* it is in channel_aw, too */
	u8 outcome; /* so far */
	u8 other_kind;
	u16 other; /* who spoilt it */
};

/* One of those who hear a transmission. */
struct neighbour {
	struct dcf_link link; /* as it is for this transmission */
	u64 mean_aw; /* without fading */
	s32 mean_mdbm;
	u16 station;
	struct arrival arrival;
};

/* Where a station is: three coordinates, in eighths of a millimetre. */
struct place {
	s64 at[3];
};

/* How a station moves. */
struct motion {
	const struct dcf_waypoint *way;
	u32 count; /* 0: nobody knows where it is; 1: it stands */
	u32 leg; /* the waypoint that it has passed last */
	u64 since_ns;
	u64 from_us, until_us; /* of this leg */
	s64 from[3], velocity[3];
	u32 top_mm_s; /* never is it faster */
};

struct transmission {
	u64 id, start, end;
	struct dcf_frame *frame; /* the kernel's frame, or that an RTS asks for, held; else NULL */
	const u8 *bytes;
	u8 control[DCF_CONTROL_LEN];
	u32 len; /* of the first MPDU, without FCS */
	u32 psdu_len;
	u16 n; /* MPDUs: frame, and those that follow it in its list */
	u16 spacing_ns; /* between their starts */
	struct band band;
	u8 doublings;
	u16 from, receiver; /* DCF_NOBODY: group, or an address nobody here has */
	u16 mode, freq;
	u8 kind;
	bool short_preamble;
	u16 heard, gone; /* how far in the list of neighbours */
	u64 visible_at; /* when the kernel first learns of it; DCF_NEVER */
};

/* The signal that a station has locked on to. */
struct reception {
	struct transmission *tx; /* NULL: none */
	struct arrival *arrival;
	struct dcf_link link;
	u64 start; /* of the arrival */
	bool is_frame; /* PHY-RXSTART: strong enough to be seen as a frame */
	u16 rivals; /* as strong ones that came in the same instant */
	/* SINR */
	u64 chunk_start, spent_q40, budget_q40;
	u64 worst_aw; /* of the interferers */
};

/* Of a PPDU of several MPDUs that is followed: the one that passes now, whose budget that is, and what became of those before. */
struct mpdus {
	struct dcf_frame *mpdu; /* NULL: the preamble passes, or all have */
	struct ampdu place; /* up to its end */
	u64 from, until;
	u64 lost[AMPDU_MPDUS / 64], hit[AMPDU_MPDUS / 64]; /* hit: others did it */
};

/* An access function, and what waits for it. */
struct access {
	struct dcf_frame *head, *tail;
	u16 queued;
	bool backoff; /* one is drawn and not over; with EDCA there always is one, of no slots when it is over */
	u32 slots, cw;
	u64 invoked; /* when it was drawn */
	u64 not_before; /* counts no slot: another function's answer was due */
	u64 at; /* when it sends, if nothing changes; DCF_NEVER */
	struct ampdu plan; /* the PPDU of its exchange */
	struct dcf_edca edca;
};

/* BURST: after a SIFS the next frame of the TXOP is sent. */
enum dcf_phase { CONTENDING, SENDING_RTS, AWAITING_CTS, CLEARED, SENDING_DATA, AWAITING_ACK, BURST };

/* First what each signal that comes or goes touches, in few lines of the cache; then what a transmission does; then the rest. */
struct dcf_station {
	u16 index, freq;
	u16 told_freq; /* where to be until a frame wants to be elsewhere */
	bool off; /* it hears nothing: its interface is down */
	bool promiscuous;

	/* The medium as heard here. */
	u8 slot; /* of the latest transmission */
	bool sending, busy; /* busy: physical carrier sense, own transmission included */
	u8 latest_kind;
	u16 latest_other; /* whose signal came last: names the culprit of a collision */
	u16 sensed; /* arrivals above the carrier sense threshold */
	u8 phase; /* enum dcf_phase */
	u8 formats; /* that it decodes, a bit each */
	u32 eifs_ns; /* so much longer than DIFS is the wait after what was not received; 0: no longer */
	bool owes; /* a CTS or an ACK, at EV_SIFS */
	u64 rx_threshold_aw, cs_threshold_aw; /* of what it receives, and senses */
	__uint128_t energy_aw; /* of all that arrives in its 20 MHz: that of 1024 stations does not fit 64 bits */
	u64 idle_since, busy_since;
	u64 nav_end;
	u64 awaits_data; /* until then, after a CTS of its own */
	struct reception rx;

	/* Access. */
	struct access access[DCF_CATEGORIES], *access_end; /* without EDCA the first only */
	u64 exchange_ns; /* from access until the kernel can learn of anything */

	struct motion motion;

	/* Who hears it. */
	struct transmission tx[2];
	struct neighbour *neighbours[2]; /* of each of the two transmissions, nearest first */
	u16 n_neighbours[2];
	bool listed[2]; /* the list holds, if none of the candidates moves */
	u16 *candidates; /* who can hear it, */
	u16 n_candidates;
	bool some_move; /* of them */
	u64 candidates_until; /* this time: nobody else before */
	struct dcf_reach reach;

	/* The exchange that this station began, and what it owes others. */
	struct access *holder; /* whose exchange it is */
	u64 txop_end;
	u64 more_ns; /* the Duration covers so much after this exchange: the next one of a burst; 0: there is none */
	bool goes_on; /* that is the next fragment of its MSDU */
	bool unasked; /* this one is of a burst: it was sent without RTS */
	u8 owed_kind;
	u8 owed_ra[DCF_ALEN], owed_ta[DCF_ALEN];
	u16 owed_duration, owed_mode, owed_to;
	bool owed_short_preamble;
	struct mpdus mpdus; /* of what it follows, or has just followed */
	const struct dcf_scoreboard *owed_board; /* it is a block ACK of these; else NULL */
	struct dcf_scoreboard *boards; /* what it has received of others */

	__uint128_t channel_aw[BAND_CHANNELS]; /* in each channel of its block, where there are wide PPDUs */
	u8 short_limit, long_limit;
	u16 queue_limit; /* of each access function's */
	u32 msdus;
	struct dcf_address *own;
	u64 random;
	struct dcf_counters counters;
};

struct dcf_address {
	u8 addr[DCF_ALEN];
	u16 station; /* DCF_NOBODY: free */
	bool used; /* at any time: what has the same hash may lie beyond */
	bool own; /* the station's own, which nobody adds or takes away */
	u32 uses;
};

struct dcf {
	struct dcf_config config;
	const struct dcf_ops *ops;
	void *edge;
	u64 now, started, events;
	u64 until; /* what comes later is not played yet */
	u64 transmissions, first_counted; /* numbers: of the last, and of the first in this measurement */
	bool measuring;
	struct timeline timeline;
	struct dcf_station *station;
	struct dcf_link *link; /* [from * stations + to], of those that stand */
	struct neighbour *neighbour; /* the lists of all, */
	u16 *candidate; /* and their candidates */
	struct dcf_table table; /* of those that move */
	u32 fastest_mm_s; /* of all stations */
	u64 evaluations;
	u32 addresses; /* slots of the table below, a power of two */
	struct dcf_address *address; /* open addressing */
	bool fades;
	u64 gain_q32[DCF_FADES + 1];
	struct dcf_errors errors[MODE_CURVES];
	u8 answer[DCF_RATES]; /* in which mode each reference rate is answered */
	const struct dcf_mode *modes; /* beside the legacy ones: the caller's */
	u16 n_modes;
	bool wide; /* some of them are wider than 20 MHz */
};

static inline bool mode_there(const struct dcf *dcf, u16 mode)
{
	return mode < DCF_RATES + dcf->n_modes;
}

static inline const struct dcf_mode *mode_of(const struct dcf *dcf, u16 mode)
{
	return mode < DCF_RATES ? &mode_legacy[mode] : &dcf->modes[mode - DCF_RATES];
}

static inline bool dcf_rule(const struct dcf *dcf, enum dcf_rule rule)
{
	return dcf->config.rules >> rule & 1;
}

/* A PPDU has the same power in each of its 20 MHz channels. */
static inline u64 share_aw(const struct transmission *tx, u64 power_aw)
{
	return power_aw >> tx->doublings;
}

/* A station's access functions, in their order. */
#define for_each_access(s, a) for ((a) = (s)->access; (a) < (s)->access_end; (a)++)

static inline struct dcf_frame *held_frame(const struct dcf_station *s)
{
	return s->holder->head;
}

/* Does the distance of the two make their link? */
static inline bool motion_between(const struct dcf *dcf, const struct dcf_station *a, const struct dcf_station *b)
{
	return a->motion.count && b->motion.count && a->motion.count + b->motion.count > 2 && dcf->table.points;
}

/* timeline.c */
void timeline_set(struct dcf *dcf, u16 station, enum dcf_event kind, u64 time);
void timeline_cancel(struct dcf *dcf, u16 station, enum dcf_event kind);
bool timeline_has(const struct dcf *dcf, u16 station, enum dcf_event kind);
u64 timeline_time(const struct dcf *dcf, u16 station, enum dcf_event kind);
/* The first event not after @until, taken out; false: there is none. */
bool timeline_pop(struct dcf *dcf, u64 until, u16 *station, enum dcf_event *kind);
/* An event that has come recurs at @time. True: it is the first again, and has come again; else it is in the timeline. */
bool timeline_go_on(struct dcf *dcf, u16 station, enum dcf_event kind, u64 time);

/* medium.c */
/* @tx->kind, mode, len, psdu_len, n, bytes, frame, receiver, short_preamble are filled in. */
void medium_send(struct dcf *dcf, struct dcf_station *s, struct transmission *tx);
static inline struct transmission *medium_next_tx(struct dcf_station *s)
{
	return &s->tx[!s->slot];
}

void medium_heard(struct dcf *dcf, struct dcf_station *from, int slot);
void medium_gone(struct dcf *dcf, struct dcf_station *from, int slot);
/* It has passed all: its frames are its no longer. */
void medium_let_go(struct dcf *dcf, struct dcf_station *from, struct transmission *tx);
void medium_sent(struct dcf *dcf, struct dcf_station *s);
void medium_detect(struct dcf *dcf, struct dcf_station *s);
/* Begin to listen: to nothing that has begun before. */
void medium_listen(struct dcf *dcf, struct dcf_station *s);

/* tuning.c */
void tuning_retune(struct dcf *dcf, struct dcf_station *s, u16 freq);
/* EV_ACCESS, of a frame of that channel, which is another. */
void tuning_follow(struct dcf *dcf, struct dcf_station *s, u16 freq);
void tuning_resense(struct dcf *dcf, struct dcf_station *s, u64 rx_threshold_aw, u64 cs_threshold_aw);
void tuning_switch(struct dcf *dcf, struct dcf_station *s, bool on);

/* reception.c */
/* Is it strong enough for a frame? */
bool reception_is_frame(const struct dcf_station *s, const struct dcf_link *link);
/* Of several reasons the first stays. */
void reception_spoil(struct arrival *a, enum dcf_outcome outcome, u16 other, u8 kind);
/* @tx reaches @s, which has taken in its energy. */
void reception_arrive(struct dcf *dcf, struct dcf_station *s, struct transmission *tx, struct neighbour *nb,
		      struct arrival *arrival);
/* @tx arrives, which is on another primary channel: it is energy to what is followed. */
void reception_disturb(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, const struct dcf_link *link);
/* EV_DETECT: what is followed is noticed, or no longer followed. */
void reception_detect(struct dcf *dcf, struct dcf_station *s);
/* Does what is followed survive all else that arrives now, by the ratio of powers? @data: in all of its channels. */
bool reception_survives(const struct dcf *dcf, const struct dcf_station *s, bool data);
/* Nothing is followed any more. */
void reception_drop(struct dcf *dcf, struct dcf_station *s);
/* Of what was followed to its end. */
enum dcf_outcome reception_outcome(const struct dcf *dcf, const struct dcf_station *s);

/* neighbours.c */
/* Give @s its part of the memory for all. */
void neighbours_place(struct dcf *dcf, struct dcf_station *s);
/* Have the list of who hears the transmission that begins now. */
void neighbours_find(struct dcf *dcf, struct dcf_station *s, int slot);
/* Somebody is elsewhere: candidates hold no longer. */
void neighbours_forget(struct dcf *dcf);
/* Is a signal of so much power anything to @s? */
bool neighbours_hear(const struct dcf *dcf, const struct dcf_station *s, u64 power_aw);

/* fading.c */
/* The most that may arrive of it. */
u64 fading_strongest(const struct dcf *dcf, u64 power_aw);
/* @nb->link, as @tx arrives there. Is that anything to it? */
bool fading_leaves(const struct dcf *dcf, const struct transmission *tx, struct neighbour *nb);

/* motion.c */
/* Where @s is, which has waypoints. */
struct place motion_place(const struct dcf *dcf, struct dcf_station *s);
/* That link, now; @here is where @from is. */
struct dcf_link motion_link(struct dcf *dcf, struct dcf_station *from, const struct place *here, struct dcf_station *to);
/* Is @to within reach and a quarter of it? And how long does nobody else get within reach? DCF_NEVER: nobody moves. */
bool motion_near(struct dcf *dcf, struct dcf_station *from, const struct place *here, struct dcf_station *to);
u64 motion_guard_ns(const struct dcf *dcf, const struct dcf_station *from);

/* bits.c */
u64 bits_besides(const struct dcf_station *s, u64 power_aw, u64 noise_aw);
/* What arrives besides @tx, of which that is the power, in one 20 MHz channel: its own primary, or where that is most. */
u64 bits_beside(const struct dcf_station *s, const struct transmission *tx, u64 power_aw);
u64 bits_most_beside(const struct dcf_station *s, const struct transmission *tx, u64 power_aw);
/* What so many nanoseconds of it cost in that mode. */
u64 bits_cost_q40(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_mode *mode, u64 ns);
/* At each change of what arrives, before it is taken in. */
void bits_spend(struct dcf *dcf, struct dcf_station *s);

/* address.c */
/* The station sends, so it is on, whatever was said of its address. */
void address_sends(struct dcf *dcf, struct dcf_station *s);

/* draw.c: randomness and logarithms, in integers */
u64 dcf_random(u64 *state);
u32 dcf_draw_backoff(u64 *state, u32 cw);
u64 dcf_draw_budget_q40(u64 *state); /* exponential, mean 1 */
s32 dcf_ratio_mdb(u64 a, u64 b); /* 10000 log10(a / b) */
u64 dcf_lambda_q40(const struct dcf_errors *errors, s32 sinr_mdb);

/* access.c */
void access_medium_busy(struct dcf *dcf, struct dcf_station *s);
void access_medium_idle(struct dcf *dcf, struct dcf_station *s);
/* Draw a backoff that begins now. */
void access_backoff(struct dcf *dcf, struct dcf_station *s, struct access *a);
/* The same with the next CW: it has failed. */
void access_widen(struct dcf *dcf, struct dcf_station *s, struct access *a);
/* As at first: nothing waits. */
void access_reset(const struct dcf *dcf, struct access *a);
/* There is a new frame at the head of its empty queue. */
void access_request(struct dcf *dcf, struct dcf_station *s, struct access *a);
/* Up to @known slots have passed for @a, which counts no more. */
void access_freeze(const struct dcf *dcf, const struct dcf_station *s, struct access *a, u64 known);
/* Do its slots pass now? */
bool access_counts(const struct dcf *dcf, const struct dcf_station *s, const struct access *a);
/* So many are left of its backoff; DCF_NO_BACKOFF: none runs. */
u16 access_slots_left(const struct dcf *dcf, const struct dcf_station *s, const struct access *a);
/* AIFS, which for AIFSN = 2 is DIFS (10.3.2.3.6). */
u64 access_aifs_ns(const struct dcf *dcf, const struct access *a);
/* When, after the medium turned idle, the kernel could learn of anything that @s begins, at the soonest; DCF_NEVER: nothing waits. */
u64 access_soonest_ns(const struct dcf *dcf, const struct dcf_station *s);
/* Anything that access depends on has changed: compute its time again. */
void access_update(struct dcf *dcf, struct dcf_station *s);
/* @end is after the NAV's. */
void access_set_nav(struct dcf *dcf, struct dcf_station *s, u64 end);
void access_reset_nav(struct dcf *dcf, struct dcf_station *s);
/* @s received a frame for others. */
void access_hear_nav(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx);

/* queue.c */
/* A frame of the kernel's, as of dcf->now. */
void queue_put(struct dcf *dcf, struct dcf_station *s, struct dcf_frame *frame);
/* One of those that hold @f lets go of it: the last gives it back. */
void queue_release(struct dcf *dcf, u16 station, struct dcf_frame *f);
/* @a is done with the frame at its head. */
void queue_end(struct dcf *dcf, struct dcf_station *s, struct access *a, enum dcf_reason why);
/* The same of the one after @before, or at the head. */
void queue_end_after(struct dcf *dcf, struct dcf_station *s, struct access *a, struct dcf_frame *before, enum dcf_reason why);
/* It is not sent, nor is what there is of its MSDU after it. */
void queue_give_up(struct dcf *dcf, struct dcf_station *s, struct access *a, enum dcf_reason why);
/* The next fragment of @f's MSDU waits behind it. */
bool queue_goes_on(const struct dcf_frame *f);
/* Give all frames back, as REFUSED; @quietly: no trace of it. */
void queue_empty(struct dcf *dcf, struct dcf_station *s, bool quietly);

/* edca.c */
void edca_init(struct dcf *dcf, struct dcf_station *s);
/* The function that sends now: EV_ACCESS. */
const struct access *edca_due(const struct dcf *dcf, const struct dcf_station *s);
/* EV_ACCESS: the function that sends, as the holder; the others have counted their slots, or collided with it. */
void edca_win(struct dcf *dcf, struct dcf_station *s);
/* Those whose slot was the holder's too: once it has begun to send. */
void edca_collide(struct dcf *dcf, struct dcf_station *s);
/* Will a frame be given up in a collision inside the station at this time? */
bool edca_gives_up(const struct dcf *dcf, const struct dcf_station *s, u64 at);
/*
 * How much longer the holder has the medium for the frame after the one that it sends now, which takes @exchange_ns: the
 * next fragment, or what fits its TXOP. 0: it has not.
 */
u64 edca_more_ns(const struct dcf *dcf, const struct dcf_station *s, u64 exchange_ns);
/* The holder's exchange has failed: the others wait AIFS from here on. */
void edca_hold_back(struct dcf *dcf, struct dcf_station *s);

/* exchange.c */
/* The station is off: it gives all frames back, and owes nothing. */
void exchange_abandon(struct dcf *dcf, struct dcf_station *s);
void exchange_begin(struct dcf *dcf, struct dcf_station *s); /* EV_ACCESS */
/*
 * From the start of the exchange of @ppdu, which @f begins, to the end of its answer, if there is one; @asks: after an RTS,
 * if it has one.
 */
u64 exchange_duration(const struct dcf *dcf, const struct dcf_frame *f, const struct ampdu *ppdu, bool asks);
/* So much of that is not the PPDU itself. */
u64 exchange_besides(const struct dcf *dcf, const struct dcf_frame *f, u16 mpdus, bool asks);
/* It has failed once more; and goes to its next stage, if that was enough for this one. */
void exchange_count_failure(struct dcf *dcf, struct dcf_station *s, struct dcf_frame *f, bool is_long);
void exchange_next_stage(const struct dcf *dcf, struct dcf_frame *f);
/* Does a failure of @f, as it was sent, count as a long retry: after an RTS? Of an agreement all do, in a burst, too. */
bool exchange_is_long(const struct dcf_station *s, const struct dcf_frame *f);
/* How often it may fail so, or else. */
u8 exchange_tries(const struct dcf_station *s, const struct dcf_frame *f, bool is_long);
/* Would one more failure of @f be the last? */
bool exchange_last_try(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_frame *f, bool rts);
void exchange_sifs(struct dcf *dcf, struct dcf_station *s);
void exchange_sent(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx);
void exchange_timeout(struct dcf *dcf, struct dcf_station *s);
/* What @s locked on to is over; never DCF_OWN_TX, as who sends lets go, and locks on to nothing meanwhile. */
void exchange_received(struct dcf *dcf, struct dcf_station *s, const struct reception *rx, enum dcf_outcome outcome);
u64 exchange_lookahead(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_frame *f);
u64 exchange_sifs_lookahead(const struct dcf *dcf, const struct dcf_station *s);

/* A control frame, now; @f: for which it is, and may be NULL. */
void exchange_send_control(struct dcf *dcf, struct dcf_station *s, enum dcf_kind kind, const u8 *ra, const u8 *ta,
			   u16 receiver, u16 duration, u16 mode, bool short_preamble, struct dcf_frame *f);
u64 exchange_airtime(const struct dcf *dcf, u16 mode, u32 len, bool short_preamble);
/* In which mode a frame in that mode is answered. */
u16 exchange_response(const struct dcf *dcf, u16 mode);

/* answer.c */
void answer_rts(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx);
/* What came well of a PPDU: @mine, for this station, or overheard. */
void answer_data(struct dcf *dcf, struct dcf_station *s, const struct reception *rx, bool mine);
/* EV_SIFS; @idle: medium and NAV are. */
void answer_send(struct dcf *dcf, struct dcf_station *s, bool idle);
/* It is not sent. */
void answer_forget(struct dcf *dcf, struct dcf_station *s);

/* aggregate.c */
/* Choose the MPDUs of the holder's next PPDU: it takes no longer than @most_ns, if one alone does not. */
void aggregate_plan(const struct dcf *dcf, struct dcf_station *s, u64 most_ns);
/* The first frame that is not in it; and the PPDU that it begins. */
struct dcf_frame *aggregate_after(const struct access *a);
struct ampdu aggregate_next(const struct dcf *dcf, struct dcf_frame *first, u64 most_ns);
/* A PPDU of this frame alone. */
struct ampdu aggregate_alone(const struct dcf *dcf, const struct dcf_frame *f);
/* @tx carries what was planned. */
void aggregate_load(struct dcf *dcf, struct dcf_station *s, struct transmission *tx);
/*
 * What this block ACK says of what was sent: the rest is sent again, or given up. NULL: none came. Were all that have ended
 * acknowledged?
 */
bool aggregate_settle(struct dcf *dcf, struct dcf_station *s, const struct transmission *answer);
/* The same PPDU, also of one MPDU, to the edge; before any of it ends. */
void aggregate_tell(struct dcf *dcf, struct dcf_station *s, const struct transmission *answer);

/* mpdus.c */
void mpdus_begin(const struct dcf *dcf, struct dcf_station *s);
/* At each change of what arrives, before it is taken in. */
void mpdus_spend(struct dcf *dcf, struct dcf_station *s);
/* Of one, by its place; of all: OK if any has come. */
enum dcf_outcome mpdus_outcome(const struct dcf_station *s, u16 place);
enum dcf_outcome mpdus_sum(const struct dcf_station *s, u16 n);

static inline bool frame_wants_ack(const struct dcf_frame *f)
{
	return !f->no_ack && !dcf_is_group(dcf_addr1(f->bytes));
}

/* Is a PPDU of so many, the first of which is @f, acknowledged in a block? */
static inline bool frame_wants_block(const struct dcf_frame *f, u16 mpdus)
{
	return mpdus > 1 || f->request;
}

static inline struct dcf_frame *mpdu_after(const struct transmission *tx, const struct dcf_frame *f, int slot)
{
	return tx->n > 1 ? f->in[slot] : NULL;
}

/* trace.c */
void trace_tx(struct dcf *dcf, const struct transmission *tx, u32 duration_ns);
void trace_rx(struct dcf *dcf, const struct dcf_station *s, const struct transmission *tx, const struct arrival *arrival,
	      const struct dcf_link *link, bool followed, enum dcf_outcome outcome);
void trace_end(struct dcf *dcf, struct dcf_station *s, const struct dcf_frame *f, enum dcf_reason why);
void trace_mark(struct dcf *dcf, bool stop, u32 lost);

#endif
