/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state behind dcf.h, shared by the core's files: stations, their
 * transmissions, and the signals at each station.
 *
 * Two subjects span several files that call each other. A station hears, waits
 * and sends; each of these leads to the others, and all change its one state at
 * one time. In a circle: access.c, address.c, aggregate.c, answer.c, edca.c,
 * exchange.c, medium.c, mpdus.c, queue.c, reception.c, tuning.c. Positions and
 * gains determine which station hears which, and a change discards the previous
 * lists; in a circle: fading.c, motion.c, neighbours.c.
 */
#ifndef DCF_STATE_H
#define DCF_STATE_H

#include "../wire/record.h"
#include "band.h"
#include "dcf.h"

/* The propagation delay that ns-2 assumes for each signal. */
#define NS2_DELAY_NS (2 * US)

/*
 * Events of a station. Their order is the order within one nanosecond. Signals
 * end before others begin, so frames back to back do not overlap. A station whose
 * slot comes sends before it hears a frame that begins at the same time, so equal
 * slots collide.
 */
enum dcf_event {
	EV_GONE_0, /* transmission 0 has passed the next neighbour */
	EV_GONE_1,
	EV_DETECT, /* the preamble of the followed signal has arrived: is it detected? */
	EV_SENT, /* the own transmission ends */
	EV_TIMEOUT, /* no CTS, no ACK */
	EV_NAV_RESET,
	EV_SIFS, /* a SIFS has passed: respond, or continue after the CTS */
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

/* A signal on its way to a station. */
struct arrival {
	bool here, forgotten;
	bool faded; /* it does not reach the station */
	bool missed; /* its start was missed: it is energy only */
	bool spread; /* it is counted in channel_aw, too */
	u8 outcome; /* so far */
	u8 other_kind;
	u16 other; /* the station that corrupted it */
};

/* One of the stations that hear a transmission. */
struct neighbour {
	struct dcf_link link; /* the link for this transmission */
	u64 mean_aw; /* without fading */
	s32 mean_mdbm;
	u16 station;
	struct arrival arrival;
};

/* The position of a station: three coordinates, in eighths of a millimetre. */
struct place {
	s64 at[3];
};

/* The motion of a station. */
struct motion {
	const struct dcf_waypoint *way;
	u32 count; /* 0: no known position; 1: it does not move */
	u32 leg; /* the last waypoint that it has passed */
	u64 since_ns;
	u64 from_us, until_us; /* of this leg */
	s64 from[3], velocity[3];
	u32 top_mm_s; /* its top speed */
};

struct transmission {
	u64 id; /* number of its first MPDU */
	u64 start, end;
	struct dcf_frame *frame; /* the kernel's frame, or the one after an RTS, held; or NULL */
	const u8 *bytes;
	u8 control[DCF_CONTROL_LEN];
	u32 len; /* length of the first MPDU, without FCS */
	u32 psdu_len;
	u16 n; /* MPDUs: frame, and the frames that follow it in its list */
	u16 spacing_ns; /* between their starts */
	struct band band;
	u8 doublings;
	u16 from, receiver; /* DCF_NOBODY: group, or an unknown address */
	u16 mode, freq;
	u8 kind;
	bool short_preamble;
	u16 heard, gone; /* progress in the list of neighbours */
	u64 visible_at; /* when the kernel first gets a report; DCF_NEVER */
};

/* The signal that a station has locked on to. */
struct reception {
	struct transmission *tx; /* NULL: none */
	struct arrival *arrival;
	struct dcf_link link;
	u64 start; /* of the arrival */
	bool is_frame; /* PHY-RXSTART: strong enough to be a frame */
	u16 rivals; /* number of signals as strong that arrived at the same time */
	/* SINR */
	u64 chunk_start, spent_q40, budget_q40;
	u64 worst_aw; /* power of the strongest interferer */
};

/* In a followed PPDU of several MPDUs: the current MPDU, whose budget this is, and the results of the previous ones. */
struct mpdus {
	struct dcf_frame *mpdu; /* NULL: during the preamble, and after all of them */
	struct ampdu place; /* the A-MPDU up to its end */
	u64 from, until;
	u64 lost[AMPDU_MPDUS / 64], hit[AMPDU_MPDUS / 64]; /* hit: the signals of other stations did it */
};

/* An access function and its queue. */
struct access {
	struct dcf_frame *head, *tail;
	u16 queued;
	bool backoff; /* a backoff counts down; with EDCA one always exists, with no slots left when it is over */
	u32 slots, cw;
	u64 invoked; /* when the backoff was drawn */
	u64 not_before; /* counts no slot: the response of another function was due */
	u64 at; /* when it sends, if nothing changes; DCF_NEVER */
	struct ampdu plan; /* the PPDU of its exchange */
	struct dcf_edca edca;
};

/* BURST: the next frame of the TXOP is sent after a SIFS. */
enum dcf_phase { CONTENDING, SENDING_RTS, AWAITING_CTS, CLEARED, SENDING_DATA, AWAITING_ACK, BURST };

/* First what each signal's start and end uses, in few cache lines; then what a transmission uses; then the rest. */
struct dcf_station {
	u16 index, freq;
	u16 set_freq; /* its channel, until a frame needs another one */
	bool off; /* it hears nothing: its interface is down */
	bool promiscuous;

	/* The medium at this station. */
	u8 slot; /* place of the latest transmission in tx */
	bool sending, busy; /* busy: physical carrier sense, with the station's own transmission */
	u8 latest_kind;
	u16 latest_other; /* the sender of the latest signal, to be named in a collision */
	u16 sensed; /* arrivals above the carrier sense threshold */
	u8 phase; /* enum dcf_phase */
	u8 formats; /* formats that it decodes, one bit each */
	u32 eifs_ns; /* how much longer than DIFS the wait is after a frame that was not received; 0: no longer */
	bool owes; /* a CTS or an ACK, at EV_SIFS */
	u64 rx_threshold_aw, cs_threshold_aw; /* thresholds of reception and sensing */
	__uint128_t energy_aw; /* power of all signals in its 20 MHz: for 1024 stations it does not fit 64 bits */
	u64 idle_since, busy_since;
	u64 nav_end;
	u64 awaits_data; /* until then, after its own CTS */
	struct reception rx;

	/* Access. */
	struct access access[DCF_CATEGORIES], *access_end; /* without EDCA only the first one */
	u64 exchange_ns; /* the time from access until the kernel can get a report */

	struct motion motion;

	/* The stations that hear it. */
	struct transmission tx[2];
	struct neighbour *neighbours[2]; /* for each of the two transmissions, nearest first */
	u16 n_neighbours[2];
	bool listed[2]; /* the list is valid if no candidate moves */
	u16 *candidates; /* stations that can hear it, */
	u16 n_candidates;
	bool some_move; /* of them */
	u64 candidates_until; /* until this time no other station can */
	struct dcf_reach reach;

	/* The exchange that this station began, and its responses to others. */
	struct access *holder; /* the access function of the exchange */
	u64 txop_end;
	u64 more_ns; /* the Duration covers this time after it, for the next one of a burst; or 0 */
	bool goes_on; /* the next one is the next fragment of its MSDU */
	bool unasked; /* this one belongs to a burst: it was sent without RTS */
	u8 owed_kind;
	u8 owed_ra[DCF_ALEN], owed_ta[DCF_ALEN];
	u16 owed_duration, owed_mode, owed_to;
	bool owed_short_preamble;
	struct mpdus mpdus; /* of the signal that it follows or has just followed */
	const struct dcf_scoreboard *owed_board; /* it is a block ACK of these; or NULL */
	struct dcf_scoreboard *boards; /* scoreboards: what it has received from others */

	__uint128_t channel_aw[BAND_CHANNELS]; /* power in each channel of its block, where there are wide PPDUs */
	u8 short_limit, long_limit;
	u16 queue_limit; /* of each access function */
	u32 msdus;
	struct dcf_address *own;
	u64 random;
	struct dcf_counters counters;
};

struct dcf_address {
	u8 addr[DCF_ALEN];
	u16 station; /* DCF_NOBODY: free */
	bool used; /* set at any time: an entry with the same hash may lie beyond */
	bool own; /* the station's own address, which is never added or removed */
	u32 uses;
};

struct dcf {
	struct dcf_config config;
	const struct dcf_ops *ops;
	void *edge;
	u64 now, started, events;
	u64 until; /* later events have not been played */
	u64 transmissions, first_counted; /* numbers of MPDUs: of the last, and of the first one in this measurement */
	bool measuring;
	struct timeline timeline;
	struct dcf_station *station;
	struct dcf_link *link; /* [from * stations + to], of stations that do not move */
	struct neighbour *neighbour; /* the lists of all, */
	u16 *candidate; /* and their candidates */
	struct dcf_table table; /* of moving stations */
	u32 fastest_mm_s; /* of all stations */
	u64 evaluations;
	u32 addresses; /* slots of the table below, a power of two */
	struct dcf_address *address; /* open addressing */
	bool fades;
	u32 coherence_ns;
	u64 gain_q32[DCF_FADES + 1];
	struct dcf_errors errors[MODE_CURVES];
	u8 answer[DCF_RATES]; /* mode of the response to each reference rate */
	const struct dcf_mode *modes; /* modes after the legacy ones, in the caller's memory */
	u16 n_modes;
	bool wide; /* some of them are wider than 20 MHz */
	u8 record[RECORD_MOST]; /* of a PPDU of several MPDUs, while it is written */
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

/* A PPDU has equal power in each of its 20 MHz channels. */
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

/* Does the distance of the two stations determine their link? */
static inline bool motion_between(const struct dcf *dcf, const struct dcf_station *a, const struct dcf_station *b)
{
	return a->motion.count && b->motion.count && a->motion.count + b->motion.count > 2 && dcf->table.points;
}

/* timeline.c */
void timeline_set(struct dcf *dcf, u16 station, enum dcf_event kind, u64 time);
/* @event, a number in the heap, is there. */
void timeline_remove(struct dcf *dcf, u32 event);

static inline bool timeline_has(const struct dcf *dcf, u16 station, enum dcf_event kind)
{
	return dcf->timeline.place[station * EVENTS + kind];
}

static inline void timeline_cancel(struct dcf *dcf, u16 station, enum dcf_event kind)
{
	if (timeline_has(dcf, station, kind))
		timeline_remove(dcf, station * EVENTS + kind);
}

u64 timeline_time(const struct dcf *dcf, u16 station, enum dcf_event kind);
/* Remove the first event not after @until; false: there is none. */
bool timeline_pop(struct dcf *dcf, u64 until, u16 *station, enum dcf_event *kind);
/*
 * An event that has come happens again at @time. True: it is the first one again and has come;
 * otherwise it is in the timeline.
 */
bool timeline_go_on(struct dcf *dcf, u16 station, enum dcf_event kind, u64 time);

/* medium.c */
/* The caller has set @tx->kind, mode, len, psdu_len, n, bytes, frame, receiver, short_preamble. */
void medium_send(struct dcf *dcf, struct dcf_station *s, struct transmission *tx);
static inline struct transmission *medium_next_tx(struct dcf_station *s)
{
	return &s->tx[!s->slot];
}

void medium_heard(struct dcf *dcf, struct dcf_station *from, int slot);
void medium_gone(struct dcf *dcf, struct dcf_station *from, int slot);
/* @tx has passed all stations: release its frames. */
void medium_let_go(struct dcf *dcf, struct dcf_station *from, struct transmission *tx);
void medium_sent(struct dcf *dcf, struct dcf_station *s);
void medium_detect(struct dcf *dcf, struct dcf_station *s);
/* Begin to listen; signals that have begun before are not received. */
void medium_listen(struct dcf *dcf, struct dcf_station *s);

/* tuning.c */
void tuning_retune(struct dcf *dcf, struct dcf_station *s, u16 freq);
/* EV_ACCESS, of a frame for another channel. */
void tuning_follow(struct dcf *dcf, struct dcf_station *s, u16 freq);
void tuning_resense(struct dcf *dcf, struct dcf_station *s, u64 rx_threshold_aw, u64 cs_threshold_aw);
void tuning_switch(struct dcf *dcf, struct dcf_station *s, bool on);

/* reception.c */
/* Is it strong enough to be a frame? */
static inline bool reception_is_frame(const struct dcf_station *s, const struct dcf_link *link)
{
	return link->power_aw >= s->rx_threshold_aw;
}

/* The first of several reasons counts. */
void reception_spoil(struct arrival *a, enum dcf_outcome outcome, u16 other, u8 kind);
/* @tx reaches @s, which has added its energy. */
void reception_arrive(struct dcf *dcf, struct dcf_station *s, struct transmission *tx, struct neighbour *nb,
		      struct arrival *arrival);
/* @tx arrives on another primary channel: it is energy to the followed signal. */
void reception_disturb(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, const struct dcf_link *link);
/* EV_DETECT: the followed signal is detected, or not followed any more. */
void reception_detect(struct dcf *dcf, struct dcf_station *s);
/* Does the followed signal survive all others now, by the ratio of powers? @data: in all of its channels. */
bool reception_survives(const struct dcf *dcf, const struct dcf_station *s, bool data);
/* Follow no signal any more. */
void reception_drop(struct dcf *dcf, struct dcf_station *s);
/* The outcome of a signal that was followed to its end. */
enum dcf_outcome reception_outcome(const struct dcf *dcf, const struct dcf_station *s);

/* neighbours.c */
/* Assign @s its part of the shared memory. */
void neighbours_place(struct dcf *dcf, struct dcf_station *s);
/* Make the list of stations that hear the transmission that begins now. */
void neighbours_find(struct dcf *dcf, struct dcf_station *s, int slot);
/* A position has changed: candidates are not valid any more. */
void neighbours_forget(struct dcf *dcf);
/* Does a signal of this power matter to @s? */
bool neighbours_hear(const struct dcf *dcf, const struct dcf_station *s, u64 power_aw);

/* fading.c */
/* The largest power that may arrive of it. */
u64 fading_strongest(const struct dcf *dcf, u64 power_aw);
/* fading_leaves() where links fade. */
bool fading_draws(const struct dcf *dcf, const struct transmission *tx, struct neighbour *nb);

/* Set @nb->link for @tx at this receiver. Does it matter there? */
static inline bool fading_leaves(const struct dcf *dcf, const struct transmission *tx, struct neighbour *nb)
{
	return !dcf->fades || fading_draws(dcf, tx, nb);
}

/* motion.c */
/* The position of @s, which has waypoints. */
struct place motion_place(const struct dcf *dcf, struct dcf_station *s);
/* The current link; @here is the position of @from. */
struct dcf_link motion_link(struct dcf *dcf, struct dcf_station *from, const struct place *here, struct dcf_station *to);
/*
 * Is @to within the range and a quarter of it? Until when can no other station get into range?
 * DCF_NEVER: no station moves.
 */
bool motion_near(struct dcf *dcf, struct dcf_station *from, const struct place *here, struct dcf_station *to);
u64 motion_guard_ns(const struct dcf *dcf, const struct dcf_station *from);

/* bits.c */
u64 bits_besides(const struct dcf_station *s, u64 power_aw, u64 noise_aw);
/*
 * Power of the signals other than @tx, whose power is given, in one 20 MHz channel: its primary, or
 * the one with the most.
 */
u64 bits_beside(const struct dcf_station *s, const struct transmission *tx, u64 power_aw);
u64 bits_most_beside(const struct dcf_station *s, const struct transmission *tx, u64 power_aw);
/* The cost of this many nanoseconds of @tx in that mode. */
u64 bits_cost_q40(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_mode *mode, u64 ns);
/* Call it at each change of the signals, before the change is applied. */
void bits_spend(struct dcf *dcf, struct dcf_station *s);

/* address.c */
/* The station sends, so it is on, even if its address was removed. */
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
/* The same with the next CW, after a failure. */
void access_widen(struct dcf *dcf, struct dcf_station *s, struct access *a);
/* As at the start: nothing waits. */
void access_reset(const struct dcf *dcf, struct access *a);
/* There is a new frame at the head of an empty queue. */
void access_request(struct dcf *dcf, struct dcf_station *s, struct access *a);
/* Up to @known slots have passed for @a, which stops counting. */
void access_freeze(const struct dcf *dcf, const struct dcf_station *s, struct access *a, u64 known);
/* Do its slots count down now? */
bool access_counts(const struct dcf *dcf, const struct dcf_station *s, const struct access *a);
/* The slots that are left of its backoff; DCF_NO_BACKOFF: none counts down. */
u16 access_slots_left(const struct dcf *dcf, const struct dcf_station *s, const struct access *a);
/* AIFS, which for AIFSN = 2 is DIFS (10.3.2.3.6). */
u64 access_aifs_ns(const struct dcf *dcf, const struct access *a);
/*
 * The earliest time, after the medium became idle, at which the kernel can get a report of an
 * exchange of @s; DCF_NEVER: nothing waits.
 */
u64 access_soonest_ns(const struct dcf *dcf, const struct dcf_station *s);
/* A condition of access has changed: compute its time again. */
void access_update(struct dcf *dcf, struct dcf_station *s);
/* @end is later than the NAV's. */
void access_set_nav(struct dcf *dcf, struct dcf_station *s, u64 end);
void access_reset_nav(struct dcf *dcf, struct dcf_station *s);
/* @s received a frame for another station. */
void access_hear_nav(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx);

/* queue.c */
/* A frame from the kernel, at dcf->now. */
void queue_put(struct dcf *dcf, struct dcf_station *s, struct dcf_frame *frame);
/* A holder of @f releases it; the last one gives it back. */
void queue_release(struct dcf *dcf, u16 station, struct dcf_frame *f);
/* @a has finished the frame at its head. */
void queue_end(struct dcf *dcf, struct dcf_station *s, struct access *a, enum dcf_reason why);
/* The same for the frame after @before, or at the head. */
void queue_end_after(struct dcf *dcf, struct dcf_station *s, struct access *a, struct dcf_frame *before, enum dcf_reason why);
/* It is not sent, nor are the remaining frames of its MSDU. */
void queue_give_up(struct dcf *dcf, struct dcf_station *s, struct access *a, enum dcf_reason why);
/* The next fragment of @f's MSDU waits behind it. */
bool queue_goes_on(const struct dcf_frame *f);
/* Give all frames back, as REFUSED; @quietly: without trace. */
void queue_empty(struct dcf *dcf, struct dcf_station *s, bool quietly);

/* edca.c */
void edca_init(struct dcf *dcf, struct dcf_station *s);
/* The function that sends now: EV_ACCESS. */
const struct access *edca_due(const struct dcf *dcf, const struct dcf_station *s);
/* EV_ACCESS: the function that sends becomes the holder; the others have counted their slots, or collided with it. */
void edca_win(struct dcf *dcf, struct dcf_station *s);
/* Handle the functions whose slot was the holder's too, once it has begun to send. */
void edca_collide(struct dcf *dcf, struct dcf_station *s);
/* Will a frame be given up in an internal collision at this time? */
bool edca_gives_up(const struct dcf *dcf, const struct dcf_station *s, u64 at);
/*
 * How much longer the holder has the medium for the next frame after the current
 * one, which takes @exchange_ns: the next fragment, or a frame that fits its
 * TXOP. 0: it does not.
 */
u64 edca_more_ns(const struct dcf *dcf, const struct dcf_station *s, u64 exchange_ns);
/* The holder's exchange has failed: the others wait for AIFS from now on. */
void edca_hold_back(struct dcf *dcf, struct dcf_station *s);

/* exchange.c */
/* The station is off: it gives all frames back and owes no response. */
void exchange_abandon(struct dcf *dcf, struct dcf_station *s);
void exchange_begin(struct dcf *dcf, struct dcf_station *s); /* EV_ACCESS */
/*
 * The duration from the start of the exchange of @ppdu, which begins with @f, to
 * the end of its response, if there is one; @asks: after an RTS, if it has one.
 */
u64 exchange_duration(const struct dcf *dcf, const struct dcf_frame *f, const struct ampdu *ppdu, bool asks);
/* The part of it outside the PPDU. */
u64 exchange_besides(const struct dcf *dcf, const struct dcf_frame *f, u16 mpdus, bool asks);
/* It has failed once more, and takes its next stage if the current one is used up. */
void exchange_count_failure(struct dcf *dcf, struct dcf_station *s, struct dcf_frame *f, bool is_long);
void exchange_next_stage(const struct dcf *dcf, struct dcf_frame *f);
/*
 * Does a failure of @f, as it was sent, count as a long retry, after an RTS? For an agreement it
 * always does, in a burst, too.
 */
bool exchange_is_long(const struct dcf_station *s, const struct dcf_frame *f);
/* How often an RTS, or a frame without one, may fail. */
u8 exchange_short_limit(const struct dcf_station *s, const struct dcf_frame *f);
/* Would one more failure of @f be the last? */
bool exchange_last_try(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_frame *f, bool rts);
void exchange_sifs(struct dcf *dcf, struct dcf_station *s);
void exchange_sent(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx);
void exchange_timeout(struct dcf *dcf, struct dcf_station *s);
/*
 * The signal that @s has locked on to is over. Its outcome is never DCF_OWN_TX, as a station that
 * sends follows no signal.
 */
void exchange_received(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, enum dcf_outcome outcome);
u64 exchange_lookahead(const struct dcf *dcf, const struct dcf_station *s, const struct dcf_frame *f);
u64 exchange_sifs_lookahead(const struct dcf *dcf, const struct dcf_station *s);

/* Send a control frame now, for @f, which may be NULL. */
void exchange_send_control(struct dcf *dcf, struct dcf_station *s, enum dcf_kind kind, const u8 *ra, const u8 *ta,
			   u16 receiver, u16 duration, u16 mode, bool short_preamble, struct dcf_frame *f);
u64 exchange_airtime(const struct dcf *dcf, u16 mode, u32 len, bool short_preamble);
/* The mode of the response to a frame in that mode. */
u16 exchange_response(const struct dcf *dcf, u16 mode);

/* answer.c */
void answer_rts(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx);
/* The correctly received MPDUs of a PPDU: @mine, for this station, or overheard. */
void answer_data(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, bool mine);
/* EV_SIFS; @idle: medium and NAV are idle. */
void answer_send(struct dcf *dcf, struct dcf_station *s, bool idle);
/* The pending response is not sent. */
void answer_forget(struct dcf *dcf, struct dcf_station *s);

/* aggregate.c */
/* Choose the MPDUs of the holder's next PPDU. It lasts at most @most_ns, unless a single frame is longer. */
void aggregate_plan(const struct dcf *dcf, struct dcf_station *s, u64 most_ns);
/* The first frame that is not in it; and the PPDU that this frame begins. */
struct dcf_frame *aggregate_after(const struct access *a);
struct ampdu aggregate_next(const struct dcf *dcf, struct dcf_frame *first, u64 most_ns);
/* A PPDU of this frame alone. */
struct ampdu aggregate_alone(const struct dcf *dcf, const struct dcf_frame *f);
/* @tx carries the planned MPDUs. */
void aggregate_load(struct dcf *dcf, struct dcf_station *s, struct transmission *tx);
/*
 * Apply this block ACK to the MPDUs that were sent; the others are sent again, or
 * given up. NULL: none arrived. Returns whether all that have ended were
 * acknowledged.
 */
bool aggregate_settle(struct dcf *dcf, struct dcf_station *s, const struct transmission *answer);
/* Report this PPDU, also one with a single MPDU, to the edge, before any of it ends. */
void aggregate_tell(struct dcf *dcf, struct dcf_station *s, const struct transmission *answer);

/* mpdus.c */
void mpdus_begin(const struct dcf *dcf, struct dcf_station *s);
/* Call it at each change of the signals, before the change is applied. */
void mpdus_spend(struct dcf *dcf, struct dcf_station *s);
/* The result of one MPDU, by its place; and of all: OK if any has arrived. */
enum dcf_outcome mpdus_outcome(const struct dcf_station *s, u16 place);
enum dcf_outcome mpdus_sum(const struct dcf_station *s, u16 n);

/* In which @f is sent next. Frames that ask for a block ACK keep to their own. */
static inline u16 frame_mode(const struct dcf_frame *f)
{
	return f->session && f->session->mode && !f->request ? f->session->mode : f->stage[f->at_stage].mode;
}

static inline bool frame_wants_ack(const struct dcf_frame *f)
{
	return !f->no_ack && !dcf_is_group(dcf_addr1(f->bytes));
}

/* Does a block ACK acknowledge a PPDU of @n MPDUs, the first of which is @f? */
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
