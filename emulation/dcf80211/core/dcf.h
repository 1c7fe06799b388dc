/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dcf80211's core: the distributed coordination function of IEEE 802.11-2016,
 * clause 10.3, for all stations of one air, or EDCA, clause 10.22.2.
 *
 * It is a pure state machine. Frames, times, powers and seeds come in by calls;
 * receptions, ends of frames and trace records go out by struct dcf_ops. It
 * reads no clock, allocates nothing, and knows no decibel formula; of distances
 * it knows squares, of stations that move. All state is in struct dcf, whose
 * memory the caller provides.
 *
 * It is lazy: dcf_run() plays everything up to a time, and dcf_next() says by
 * when it must be called again, which is the earliest time at which anything
 * can happen that the kernel must learn of. Slots, SIFS, NAV and overheard
 * frames in between cost no timer.
 *
 * One file a noun. Of the PHY: mode (in which way a PSDU is sent, and how long
 * that takes), phy (intervals, and in which mode a frame is answered). Of the air:
 * timeline (events in order), medium (carrier sense), reception (what is followed,
 * and spoilt), bits (their errors), band (channels of 20 MHz), mpdus (what became of each of a PPDU), tuning
 * (what a station listens to), neighbours (who hears a transmission), motion (where
 * stations are, and what arrives over a distance), fading (of each signal by
 * itself). Of a station: queue (what waits), ampdu (where MPDUs lie in a PSDU),
 * blockack (windows), aggregate (which MPDUs a PPDU carries), access (IFS, backoff,
 * NAV), edca (who of its four, and for how long), exchange (what it sends next,
 * retries), answer (what it owes others), address (whose it is). Besides: draw
 * (randomness), trace (what is told of all this), look (what a station is doing).
 * Bytes are wire/'s, which knows nothing of this folder: rate (numbers), frame
 * (headers, kinds), message (what hwsim says), record (how the trace is written).
 */
#ifndef DCF_H
#define DCF_H

#include "../wire/frame.h"
#include "../types.h"
#include "blockack.h"
#include "phy.h"

#define DCF_NEVER (~0ULL)
#define DCF_NOBODY 0xffffU
#define DCF_MAX_STATIONS 1024
/* A signal takes less than this, so two transmissions of a station never arrive at once. */
#define DCF_MAX_DELAY_NS (32 * US)
/* One that has passed all is over before the next but one: its place is free for that. */
#define DCF_MIN_SIFS_NS (4 * US)
_Static_assert(2 * DCF_MIN_SIFS_NS + DCF_MIN_AIRTIME_NS >= DCF_MAX_DELAY_NS, "a station has room for two transmissions");
/* Shorter than any frame, so that nothing is heard in between: a station waits for one SIFS at a time. */
#define DCF_MAX_SIFS_NS (DCF_MIN_AIRTIME_NS - 1)
/* Frames of hwsim that wait at a station. */
#define DCF_MAX_QUEUE 150
/* Frames that wait at one where there are modes of HT and later, whose driver holds back itself. */
#define DCF_MAX_BACKLOG 4096
/* 10 W: one signal. All of them together are counted in more than 64 bits. */
#define DCF_MAX_POWER_AW 10000000000000000000ULL
/* 60 dB above all else. */
#define DCF_MAX_DETECT_MILLI 1000000000
/* 100 km from the origin along each axis, and what lies between the farthest two: motion.c says why. */
#define DCF_MAX_MM 100000000
#define DCF_MAX_REACH_MM2 120000000000000000ULL
/* Quantiles of the gain of fading, besides the last; and the largest: 2^6, 18 dB. */
#define DCF_FADES 1024
#define DCF_MAX_GAIN_Q32 (1ULL << 38)

enum dcf_outcome { DCF_OK, DCF_COLLISION, DCF_OWN_TX, DCF_NOISE, DCF_BELOW_THRESHOLD, DCF_OUTCOMES };

enum dcf_reason {
	DCF_ACKED,
	DCF_GROUP,
	DCF_RTS_LIMIT,
	DCF_SHORT_LIMIT,
	DCF_LONG_LIMIT,
	DCF_STAGES_USED,
	DCF_QUEUE_FULL,
	DCF_REFUSED,
	DCF_REASONS
};

/* Who wins where transmissions overlap. docs/medium.md has both rules in full. */
enum dcf_reception {
	DCF_CAPTURE, /* as ns-2: the first signal survives what is capture_ratio below it */
	DCF_SINR, /* interference adds up, bits fail by rate and SINR */
	DCF_RECEPTIONS
};

/* After which event a station waits EIFS (10.3.2.3.7). */
enum dcf_eifs {
	DCF_EIFS_OFF,
	DCF_EIFS_FRAME, /* a frame that began and was not received: the standard */
	DCF_EIFS_ENERGY, /* also a signal too weak to be a frame: as ns-2 */
	DCF_EIFS_DYNAMIC, /* after a frame as by the standard, as long as its own answer takes (dot11DynamicEIFSActivated) */
	DCF_EIFS_RULES
};

/* Where ns-2 does other than the standard, a bit each in dcf_config.rules. docs/medium.md has them in full. */
enum dcf_rule {
	DCF_FORGET_SIGNALS, /* what is not followed is gone: no carrier sense, no interference */
	DCF_FOLLOW_WHILE_SENDING, /* a signal that overlaps a transmission of one's own is followed, and lost */
	DCF_NAV_ON_CAPTURE, /* a signal that was captured away sets the NAV, up to EIFS after its end */
	DCF_EIFS_IS_NAV, /* EIFS sets the NAV: no CTS meanwhile, and DIFS after it */
	DCF_FIXED_TIMEOUTS, /* as long as an answer takes, whatever is received meanwhile */
	DCF_CTS_IF_IDLE, /* of the medium and the NAV, when its SIFS is over */
	DCF_DATA_IF_IDLE, /* likewise after the CTS; else backoff with a larger CW, and the RTS again */
	DCF_AWAIT_DATA, /* after its CTS a station does nothing else until DATA must have come */
	DCF_ALWAYS_BACKOFF, /* DIFS and a backoff before each attempt, also on an idle medium */
	DCF_BELOW_CW, /* backoff from 0..CW-1 */
	DCF_RULES
};

struct dcf_config {
	struct dcf_phy phy;
	u16 stations;
	u8 reception; /* enum dcf_reception */
	u8 eifs; /* enum dcf_eifs */
	bool nav_reset; /* 10.3.2.4: forget the NAV of an RTS that nothing followed */
	bool retry_by_stages; /* the kernel's rate stages instead of the two limits */
	bool trace;
	bool edca; /* four access functions a station, one a category; else one, of the DCF */
	bool punctual; /* what is given up is told at its time, whatever timers that takes */
	u16 snap; /* bytes of a frame that go into the trace */
	u32 rules; /* bits, by enum dcf_rule */
	u32 capture_ratio_milli; /* linear, times 1000 */
	u32 detect_ofdm_milli, detect_dsss_milli; /* likewise: with SINR a preamble is noticed that is so far above all others */
	u64 rx_threshold_aw, cs_threshold_aw, noise_aw;
	u64 seed;
};

/* What is wrong with a configuration. */
enum dcf_refusal {
	DCF_SOUND,
	DCF_BAD_STATIONS,
	DCF_BAD_SLOT,
	DCF_BAD_SIFS,
	DCF_BAD_SENSING,
	DCF_BAD_EXTENSION,
	DCF_BAD_CW,
	DCF_BAD_BASIC_RATES,
	DCF_BAD_RULE,
	DCF_BAD_EDCA,
	DCF_BAD_CARRIER_SENSE,
	DCF_BAD_CAPTURE_RATIO,
	DCF_NO_NOISE,
	DCF_BAD_DETECTION,
	DCF_BAD_SNAP
};

/* How an access function contends (9.4.2.29). */
struct dcf_edca {
	u16 cw_min, cw_max;
	u16 txop_32us; /* the TXOP limit; 0: one frame */
	u8 aifsn; /* from 1 on */
	u8 reserved;
};

/* How one pair of stations hears: attowatts, thousandths of a dBm, nanoseconds. 0 aw: not at all. */
struct dcf_link {
	u64 power_aw;
	s32 power_mdbm;
	u32 delay_ns;
};

/* Where a station is when, in microseconds since a moment; in between it goes straight on, evenly. */
struct dcf_waypoint {
	u64 at_us;
	s32 mm[3]; /* millimetres along each axis */
	u32 reserved;
};

/* What arrives over one distance. */
struct dcf_point {
	u64 power_aw;
	s32 power_mdbm;
	u32 delay_q16; /* 2^-16 ns */
};

/*
 * What arrives over any: 2^@bin_bits points an octave of the squared distance,
 * which is counted in 64ths of a square millimetre, from 2^@first on; linear in
 * between. Nearer it is as there, beyond the last nothing arrives.
 */
struct dcf_table {
	const struct dcf_point *point;
	u32 points;
	u8 first, bin_bits;
};

/* How far a station is heard, exactly, and by how much it is weaker than the table: a factor of 2^-63, and 0.001 dB. */
struct dcf_reach {
	u64 mm2;
	u64 gain_q63;
	s32 weaker_mdb;
};

/* -ln(1 - bit error rate) in units of 2^-40, by SINR in thousandths of a dB. */
#define DCF_LAMBDA_POINTS 256
struct dcf_errors {
	s32 first_mdb;
	u32 step_mdb;
	u32 points;
	u64 lambda_q40[DCF_LAMBDA_POINTS];
};

/* A frame that the kernel handed over. The caller owns the memory; the core holds it until ops->done(). */
struct dcf_frame {
	struct dcf_frame *next;
	u8 *bytes; /* 802.11 header first, no FCS; the core sets Duration and Retry */
	u64 queued_ns;
	u64 last_tx; /* number of its last transmission, 0: none */
	u32 msdu; /* number at its station, from 1 */
	u16 len; /* without FCS */
	u16 freq; /* MHz; 0, which is no channel, is refused */
	bool no_ack;
	bool alone; /* no other is in a PPDU with it, and none that follows in its agreement is sent before it */
	struct dcf_stage stage[DCF_STAGES];
	struct dcf_session *session; /* the block-ACK agreement that it is sent under, which outlives it; NULL: there is none */
	/* The core's. */
	struct dcf_frame *in[2]; /* the next of its PPDU, by which of its station's two transmissions that is */
	bool request; /* a block-ACK request */
	bool planned; /* it is in the PPDU of the exchange that its access function has begun, or has last begun */
	u8 kind; /* enum dcf_kind */
	u8 category; /* enum dcf_category; 0 without EDCA */
	u16 receiver; /* station, or DCF_NOBODY */
	u8 src, lrc; /* short and long retry count (10.3.4.4) */
	u8 rts_tries; /* since the last CTS */
	u8 tries; /* data transmissions */
	u8 at_stage, stage_tries;
	u8 used[DCF_STAGES]; /* attempts in each stage */
	u8 holders; /* the queue, and each of its transmissions that has not passed everyone yet */
	u8 why; /* enum dcf_reason: it has ended, and is done with when nothing holds it */
};

/* What a station does. */
enum dcf_doing {
	DCF_IDLE,
	DCF_DEFER, /* has a frame, and waits: for the end of what it hears, of its NAV, of DIFS or EIFS */
	DCF_BACKOFF, /* its slots pass */
	DCF_SIFS, /* before it answers, or goes on */
	DCF_SEND,
	DCF_WAIT_CTS,
	DCF_WAIT_ACK,
	DCF_RECEIVE, /* a frame, whoever it is for */
	DCF_OFF,
	DCF_DOINGS
};

/* No backoff runs. */
#define DCF_NO_BACKOFF 0xffffU

/* A station as it is now. */
struct dcf_look {
	u64 nav_end_ns; /* 0: it is over */
	u64 until_ns; /* when what it does is over, if nothing comes in between; 0: that is open */
	u16 queued; /* frames */
	u16 cw, backoff; /* of EDCA's functions that whose turn is next; slots that are left */
	u8 doing; /* enum dcf_doing */
	u8 reserved;
};

/* A PPDU of a block-ACK agreement, when its answer has come or has failed to. */
struct dcf_sent {
	struct dcf_session *session;
	u16 mode;
	u16 mpdus, acked;
	u16 fresh; /* MPDUs that had never been sent before */
	u8 category; /* enum dcf_category */
	u32 airtime_ns; /* of the PPDU alone */
};

struct dcf;

struct dcf_ops {
	/* @frame arrived well at station @to, with this power. */
	void (*deliver)(void *edge, u16 to, const struct dcf_frame *frame, u16 mode, s32 power_mdbm);
	/* @station is done with @frame, and no signal of it is on its way any more: it belongs to the caller again. */
	void (*done)(void *edge, u16 station, struct dcf_frame *frame, enum dcf_reason why);
	/* A trace record: @head of @head_len bytes, then @body, then zeros up to a multiple of 8. */
	void (*record)(void *edge, const void *head, u32 head_len, const void *body, u32 body_len);
	/* @station has sent a PPDU; done() of what it ends comes after. NULL: nobody asks. */
	void (*sent)(void *edge, u16 station, const struct dcf_sent *sent);
};

struct dcf_counters {
	u64 tx[DCF_KINDS], airtime_ns[DCF_KINDS];
	u64 rx[DCF_KINDS][DCF_OUTCOMES];
	u64 addressed[DCF_KINDS][DCF_OUTCOMES];
	u64 end[DCF_KINDS][DCF_REASONS];
	u64 short_retries, long_retries;
	u64 busy_ns, nav_ns, tx_ns;
	struct dcf_share {
		u64 tx, airtime_ns; /* of the exchanges that it began; what others answer is not in it */
		u64 acked, group, given_up, dropped; /* frames */
		u64 collisions; /* with a category above it, inside its station */
	} share[DCF_CATEGORIES]; /* with EDCA only */
};

/* Before anything else is asked about a configuration. */
enum dcf_refusal dcf_check(const struct dcf_config *config);
/* The memory that one air needs. */
size_t dcf_size(u16 stations);
/* @dcf: so many bytes, zeroed. @config is sound. */
void dcf_init(struct dcf *dcf, const struct dcf_config *config, const struct dcf_ops *ops, void *edge);

/*
 * Before the first frame, or at any time between two dcf_run()s. The station is on @freq until a frame has it go elsewhere,
 * or it is told another. false: there is no such station or value.
 */
bool dcf_check_station(const struct dcf *dcf, u16 station, u8 short_limit, u8 long_limit, u16 queue);
bool dcf_set_station(struct dcf *dcf, u16 station, u16 freq, u8 short_limit, u8 long_limit, u16 queue, bool promiscuous);
/* Of one category; until then it is the DCF's. Without EDCA that of BE is the station's, and only its window may be another. */
bool dcf_set_edca(struct dcf *dcf, u16 station, enum dcf_category category, const struct dcf_edca *edca);
/* Those of all, in their order. */
bool dcf_get_edca(const struct dcf *dcf, u16 station, struct dcf_edca edca[DCF_CATEGORIES]);
/* The address of the station's own, in place of the one that it had. */
bool dcf_set_address(struct dcf *dcf, u16 station, const u8 *addr);
/* Any other is the station's until it has been taken away as often as added: hwsim does both for each scan. */
bool dcf_add_address(struct dcf *dcf, u16 station, const u8 *addr);
bool dcf_del_address(struct dcf *dcf, u16 station, const u8 *addr);
/* Whose it is; DCF_NOBODY: nobody here has it. */
u16 dcf_find_address(const struct dcf *dcf, const u8 *addr);
static inline bool dcf_check_link(const struct dcf_link *link)
{
	return link->delay_ns < DCF_MAX_DELAY_NS && link->power_aw <= DCF_MAX_POWER_AW;
}

bool dcf_set_link(struct dcf *dcf, u16 from, u16 to, const struct dcf_link *link);
/* Of a legacy rate, in 100 kb/s; and of any curve of a mode. */
bool dcf_set_errors(struct dcf *dcf, u16 rate, const struct dcf_errors *errors);
bool dcf_set_curve(struct dcf *dcf, u8 curve, const struct dcf_errors *errors);
/*
 * Which formats a station decodes, a bit each; at first all. It knows that a frame of another has begun, by its OFDM preamble,
 * but gets no MPDU of it. A station of DSSS alone senses the energy of all else.
 */
bool dcf_set_formats(struct dcf *dcf, u16 station, u8 formats);
/*
 * The modes besides the legacy rates, whose places come after these. They are the caller's, and stay. Before the first
 * frame. false: one of them was never made, or is wider than 20 MHz where ns-2's rules forget signals.
 */
bool dcf_set_modes(struct dcf *dcf, const struct dcf_mode *modes, u16 count);
/* With capture a station receives nothing that it does not sense. */
bool dcf_check_thresholds(const struct dcf *dcf, u64 rx_aw, u64 cs_aw);
/* From which power on this station receives and senses, in place of the configuration's. What arrives there now is gone. */
bool dcf_set_thresholds(struct dcf *dcf, u16 station, u64 rx_aw, u64 cs_aw);
/*
 * By what factor, in 2^-32, a signal arrives stronger than its link says: the
 * quantiles of 0, 1 / DCF_FADES, ... 1, linear in between. NULL: all are as their
 * links say. false: they fall, or one is too large.
 */
bool dcf_set_fading(struct dcf *dcf, const u64 *gain_q32);

/*
 * Motion, at any time, and from the next transmission on. The link of two
 * stations that both have waypoints, one of them more than one, is what the table
 * says of their distance; others keep that of dcf_set_link(). Points and
 * waypoints are the caller's, and stay until others are set. false: times that do
 * not rise; a leg faster than 1000 m/s, or of 2^32 us and more that goes anywhere;
 * a position, reach, power or delay that is too large.
 */
bool dcf_set_table(struct dcf *dcf, const struct dcf_table *table);
bool dcf_set_reach(struct dcf *dcf, u16 station, const struct dcf_reach *reach);
bool dcf_set_waypoints(struct dcf *dcf, u16 station, const struct dcf_waypoint *way, u32 count, u64 since_ns);
/* How @to would hear what @from sent now, on average. */
bool dcf_get_link(struct dcf *dcf, u16 from, u16 to, struct dcf_link *link);
/* Distances worked out so far. */
u64 dcf_evaluations(const struct dcf *dcf);

/* The kernel hands @frame over at @now. The core answers by ops->done(), perhaps at once. */
void dcf_enqueue(struct dcf *dcf, u16 station, struct dcf_frame *frame, u64 now);
/* Play everything up to and including @until. */
void dcf_run(struct dcf *dcf, u64 until);
/*
 * Block ACK. A frame names the originator's half of its agreement, struct dcf_session, of which the caller has filled in
 * limits, window and tries; frames of one come in the order of their sequence numbers. The recipient's half is begun and
 * ended here; it answers for what @from sends with this TID. false: there is no such station or window.
 */
bool dcf_begin_scoreboard(struct dcf *dcf, u16 station, struct dcf_scoreboard *board, u16 from, u8 tid, u16 window, u16 start);
void dcf_end_scoreboard(struct dcf *dcf, u16 station, struct dcf_scoreboard *board);

/* By when dcf_run() must be called again, or DCF_NEVER. */
u64 dcf_next(const struct dcf *dcf);
/* Give back every frame, as REFUSED, and silence the air: the radios go away. */
void dcf_flush(struct dcf *dcf);

/* Counters and trace cover what begins between the two. Times are the event's own. */
void dcf_start(struct dcf *dcf, u64 now);
void dcf_stop(struct dcf *dcf, u64 now, u32 lost_records);
bool dcf_measuring(const struct dcf *dcf);
const struct dcf_counters *dcf_counters(const struct dcf *dcf, u16 station);
/* Events played so far. */
u64 dcf_events(const struct dcf *dcf);
/* What a station is doing, as of the last dcf_run(). */
void dcf_look(const struct dcf *dcf, u16 station, struct dcf_look *look);

static inline u64 dcf_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 dcf_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

#endif
