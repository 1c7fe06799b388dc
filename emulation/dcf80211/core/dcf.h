/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dcf80211's core: the distributed coordination function of IEEE 802.11-2016,
 * clause 10.3, for all stations of one air, or EDCA, clause 10.22.2.
 *
 * It is a pure state machine. Frames, times, powers and seeds come in by calls.
 * Receptions, ends of frames and trace records go out by struct dcf_ops. The core
 * reads no clock, allocates nothing, and has no decibel formula; for moving
 * stations it computes squared distances. All state is in struct dcf, whose
 * memory the caller provides.
 *
 * It is lazy: dcf_run() plays everything up to a time. dcf_next() returns the
 * time of the next call, which is the earliest time at which the kernel may need
 * a report. Slots, SIFS, NAV and overheard frames in between need no timer.
 *
 * Each file has one subject.
 * PHY: mode (modes and their durations), phy (intervals, and the modes of
 * responses).
 * Air: timeline (events in order), medium (carrier sense), reception (which
 * signal is received, and interference), bits (bit errors), band (channels of 20
 * MHz), mpdus (the result of each MPDU of a PPDU), tuning (a station's channel
 * and thresholds), neighbours (which stations hear a transmission), motion
 * (positions, and power by distance), fading (of each signal).
 * Station: queue (waiting frames), ampdu (places of MPDUs in a PSDU), blockack
 * (windows), aggregate (MPDUs of a PPDU), access (IFS, backoff, NAV), edca
 * (access functions and TXOPs), exchange (sequences of frames, retries), answer
 * (responses), address (addresses of stations).
 * Others: draw (random numbers), trace (records), look (the current state of a
 * station).
 * Bytes are in wire/, which does not use this folder: rate (numbers), frame
 * (headers, kinds), message (hwsim's messages), record (layout of the trace).
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
/* The propagation delay is smaller, so two transmissions of a station never arrive at once. */
#define DCF_MAX_DELAY_NS (32 * US)
/* A transmission has passed all stations before its station's next but one begins, so two places are enough. */
#define DCF_MIN_SIFS_NS (4 * US)
_Static_assert(2 * DCF_MIN_SIFS_NS + DCF_MIN_AIRTIME_NS >= DCF_MAX_DELAY_NS, "a station has room for two transmissions");
/* Shorter than any frame, so no frame is received in between: a station waits for one SIFS at a time. */
#define DCF_MAX_SIFS_NS (DCF_MIN_AIRTIME_NS - 1)
/* Frames of hwsim in a station's queue. */
#define DCF_MAX_QUEUE 150
/* Frames in a station's queue where there are modes of HT and later; their driver limits them itself. */
#define DCF_MAX_BACKLOG 4096
/* 10 W: the largest power of one signal. Sums have more than 64 bits. */
#define DCF_MAX_POWER_AW 10000000000000000000ULL
/* 60 dB above all other power. */
#define DCF_MAX_DETECT_MILLI 1000000000
/* 100 km from the origin along each axis, and the largest distance between two points. motion.c explains the limit. */
#define DCF_MAX_MM 100000000
#define DCF_MAX_REACH_MM2 120000000000000000ULL
/* Quantiles of the fading gain, without the last one; and the largest gain: 2^6, 18 dB. */
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

/* Which frame is received where transmissions overlap. docs/reception.md has both rules. */
enum dcf_reception {
	DCF_CAPTURE, /* as in ns-2: the first signal survives signals that are weaker by capture_ratio */
	DCF_SINR, /* interference adds up; bits fail by rate and SINR */
	DCF_RECEPTIONS
};

/* The event after which a station waits for EIFS (10.3.2.3.7). */
enum dcf_eifs {
	DCF_EIFS_OFF,
	DCF_EIFS_FRAME, /* a frame that began and was not received, as in the standard */
	DCF_EIFS_ENERGY, /* also a signal too weak to be a frame, as in ns-2 */
	DCF_EIFS_RULES
};

/* Rules of ns-2 that differ from the standard, one bit each in dcf_config.rules. docs/like-ns2.md has all of them. */
enum dcf_rule {
	DCF_FORGET_SIGNALS, /* a signal that is not received has no effect: no carrier sense, no interference */
	DCF_FOLLOW_WHILE_SENDING, /* a signal that overlaps the station's own transmission is received, and lost */
	DCF_NAV_ON_CAPTURE, /* a signal that lost to a stronger one sets the NAV, up to EIFS after its end */
	DCF_EIFS_IS_NAV, /* EIFS sets the NAV: no CTS in that time, and DIFS after it */
	DCF_FIXED_TIMEOUTS, /* timeouts last as long as a response takes, whatever is received */
	DCF_CTS_IF_IDLE, /* a CTS is sent only if the medium and the NAV are idle after its SIFS */
	DCF_DATA_IF_IDLE, /* DATA likewise; otherwise backoff with a larger CW, and the RTS again */
	DCF_AWAIT_DATA, /* after its CTS a station does nothing else until DATA must have arrived */
	DCF_ALWAYS_BACKOFF, /* DIFS and a backoff before each attempt, on an idle medium, too */
	DCF_BELOW_CW, /* backoff from 0..CW-1 */
	DCF_RULES
};

struct dcf_config {
	struct dcf_phy phy;
	u16 stations;
	u8 reception; /* enum dcf_reception */
	u8 eifs; /* enum dcf_eifs */
	bool nav_reset; /* 10.3.2.4: reset the NAV of an RTS that no frame followed */
	bool retry_by_stages; /* the kernel's rate stages in place of the two limits */
	bool trace;
	bool edca; /* each station has four access functions, one a category; otherwise one, of the DCF */
	bool punctual; /* report frames that are given up at their time, at the cost of timers */
	u16 snap; /* bytes of a frame that go into the trace */
	u32 rules; /* bits, by enum dcf_rule */
	u32 capture_ratio_milli; /* linear, times 1000 */
	u32 detect_ofdm_milli, detect_dsss_milli; /* with SINR: how far a preamble is above other signals */
	u64 rx_threshold_aw, cs_threshold_aw, noise_aw;
	u64 seed;
};

/* Why a configuration is invalid. */
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

/* How one station of a pair hears the other: attowatts, thousandths of a dBm, nanoseconds. 0 aw: it does not. */
struct dcf_link {
	u64 power_aw;
	s32 power_mdbm;
	u32 delay_ns;
};

/*
 * A position at a time, in microseconds since a start. The station moves in a straight line at
 * constant speed in between.
 */
struct dcf_waypoint {
	u64 at_us;
	s32 mm[3]; /* millimetres along each axis */
	u32 reserved;
};

/* A signal after one distance. */
struct dcf_point {
	u64 power_aw;
	s32 power_mdbm;
	u32 delay_q16; /* 2^-16 ns */
};

/*
 * A signal after any distance. The table has 2^@bin_bits points per octave of the
 * squared distance, in 64ths of a square millimetre, from 2^@first on, and is
 * linear in between. Below the first point its value holds; beyond the last one
 * nothing arrives.
 */
struct dcf_table {
	const struct dcf_point *point;
	u32 points;
	u8 first, bin_bits;
};

/* The exact range of a station, and how much weaker it is than the table: a factor in 2^-63, and 0.001 dB. */
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

/* A frame from the kernel. The caller owns the memory; the core holds it until ops->done(). */
struct dcf_frame {
	struct dcf_frame *next;
	u8 *bytes; /* 802.11 header first, no FCS; the core sets Duration and Retry */
	u64 queued_ns;
	u64 last_tx; /* number of the last PPDU that it was sent in, 0: none */
	u32 msdu; /* number at its station, from 1 */
	u16 len; /* without FCS */
	u16 freq; /* MHz; 0 is no channel and is refused */
	bool no_ack;
	bool alone; /* its PPDU has no other frame, and no later frame of its agreement is sent before it */
	struct dcf_stage stage[DCF_STAGES];
	struct dcf_session *session; /* its block-ACK agreement, which exists longer than the frame; or NULL */
	/* The core's. */
	struct dcf_frame *in[2]; /* the next frame of its PPDU, by which of its station's two transmissions that is */
	bool request; /* a block-ACK request */
	bool planned; /* it is in the PPDU of the last exchange of its access function */
	u8 kind; /* enum dcf_kind */
	u8 category; /* enum dcf_category; 0 without EDCA */
	u16 receiver; /* station, or DCF_NOBODY */
	u16 last_place; /* among the MPDUs of its last PPDU */
	u8 src, lrc; /* short and long retry count (10.3.4.4) */
	u8 rts_tries; /* since the last CTS */
	u8 tries; /* data transmissions */
	u8 at_stage, stage_tries;
	u8 used[DCF_STAGES]; /* attempts in each rate stage */
	u8 holders; /* holders: the queue, and each of its transmissions that has not passed all stations yet */
	u8 why; /* enum dcf_reason: it has ended; ops->done() follows when nothing holds it */
};

/* What a station is doing. */
enum dcf_doing {
	DCF_IDLE,
	DCF_DEFER, /* has a frame, and waits for the end of a signal, of its NAV, of DIFS or EIFS */
	DCF_BACKOFF, /* counts down slots */
	DCF_SIFS, /* waits for a SIFS before a response or the next frame */
	DCF_SEND,
	DCF_WAIT_CTS,
	DCF_WAIT_ACK,
	DCF_RECEIVE, /* receives a frame for any station */
	DCF_OFF,
	DCF_DOINGS
};

/* No backoff counts down. */
#define DCF_NO_BACKOFF 0xffffU

/* The current state of a station. */
struct dcf_look {
	u64 nav_end_ns; /* the end of its NAV; 0: it is over */
	u64 until_ns; /* the end of its current action, if nothing interrupts it; 0: not known */
	u16 queued; /* frames */
	u16 cw, backoff; /* of the access function of EDCA that is next; slots that are left */
	u8 doing; /* enum dcf_doing */
	u8 reserved;
};

/* A PPDU of a block-ACK agreement, after its response or the timeout. */
struct dcf_sent {
	struct dcf_session *session;
	u16 mode;
	u16 mpdus, acked;
	u16 fresh; /* MPDUs that were sent for the first time */
	u8 category; /* enum dcf_category */
	u32 airtime_ns; /* duration of the PPDU without the response */
};

struct dcf;

struct dcf_ops {
	/* @frame arrived correctly at station @to, with this power. */
	void (*deliver)(void *edge, u16 to, const struct dcf_frame *frame, u16 mode, s32 power_mdbm);
	/* @station has finished @frame, and no signal of it is on its way: the caller owns it again. */
	void (*done)(void *edge, u16 station, struct dcf_frame *frame, enum dcf_reason why);
	/* A trace record: @head of @head_len bytes, then @body, then zeros up to a multiple of 8. */
	void (*record)(void *edge, const void *head, u32 head_len, const void *body, u32 body_len);
	/* @station has sent a PPDU; calls of done() for its frames come after it. NULL: no such reports. */
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
		u64 tx, airtime_ns; /* airtime of exchanges that it began, without the responses of others */
		u64 acked, group, given_up, dropped; /* frames */
		u64 collisions; /* lost to a higher category of the same station */
	} share[DCF_CATEGORIES]; /* with EDCA only */
};

/* Call it before any other function that takes a configuration. */
enum dcf_refusal dcf_check(const struct dcf_config *config);
/* The size of the memory of one air. */
size_t dcf_size(u16 stations);
/* @dcf: memory of this size, zeroed. @config is valid. */
void dcf_init(struct dcf *dcf, const struct dcf_config *config, const struct dcf_ops *ops, void *edge);

/*
 * Before the first frame, or between two calls of dcf_run(). The station stays on
 * @freq until a frame needs another channel, or this sets another one. false:
 * there is no such station or value.
 */
bool dcf_check_station(const struct dcf *dcf, u16 station, u8 short_limit, u8 long_limit, u16 queue);
bool dcf_set_station(struct dcf *dcf, u16 station, u16 freq, u8 short_limit, u8 long_limit, u16 queue, bool promiscuous);
/* Listen on this channel, until a frame needs another one. */
void dcf_tune(struct dcf *dcf, u16 station, u16 freq);
/* Hear nothing, until it is switched on or sends; frames that it has are refused. */
void dcf_switch(struct dcf *dcf, u16 station, bool on);
/*
 * The parameters of one category, in place of the DCF's. Without EDCA, those of BE apply to the
 * station, and only the window may differ.
 */
bool dcf_set_edca(struct dcf *dcf, u16 station, enum dcf_category category, const struct dcf_edca *edca);
/* The parameters of all categories, in order. */
bool dcf_get_edca(const struct dcf *dcf, u16 station, struct dcf_edca edca[DCF_CATEGORIES]);
/* Set the station's own address, in place of the previous one. */
bool dcf_set_address(struct dcf *dcf, u16 station, const u8 *addr);
/*
 * Any other address belongs to the station until it is removed as often as it was added: hwsim does
 * both for each scan.
 */
bool dcf_add_address(struct dcf *dcf, u16 station, const u8 *addr);
bool dcf_del_address(struct dcf *dcf, u16 station, const u8 *addr);
/* The station with this address, or DCF_NOBODY. */
u16 dcf_find_address(const struct dcf *dcf, const u8 *addr);
static inline bool dcf_check_link(const struct dcf_link *link)
{
	return link->delay_ns < DCF_MAX_DELAY_NS && link->power_aw <= DCF_MAX_POWER_AW;
}

bool dcf_set_link(struct dcf *dcf, u16 from, u16 to, const struct dcf_link *link);
/* Error curves, of a legacy rate in 100 kb/s, and of modes. */
bool dcf_set_errors(struct dcf *dcf, u16 rate, const struct dcf_errors *errors);
bool dcf_set_curve(struct dcf *dcf, u8 curve, const struct dcf_errors *errors);
/*
 * The formats that a station decodes, one bit each; at first all. An OFDM station
 * detects the preamble of a frame in another OFDM format, but gets no MPDU of it.
 * A station with DSSS alone senses only the energy of other formats.
 */
bool dcf_set_formats(struct dcf *dcf, u16 station, u8 formats);
/*
 * The modes after the legacy rates. The caller owns the memory, which must stay.
 * Call it before the first frame. false: a mode was never made, or is wider than
 * 20 MHz under ns-2's rules that forget signals.
 */
bool dcf_set_modes(struct dcf *dcf, const struct dcf_mode *modes, u16 count);
/* With capture, a station receives no signal that it does not sense. */
bool dcf_check_thresholds(const struct dcf *dcf, u64 rx_aw, u64 cs_aw);
/*
 * The powers from which on this station receives and senses, in place of the configuration's.
 * Current signals at the station are lost.
 */
bool dcf_set_thresholds(struct dcf *dcf, u16 station, u64 rx_aw, u64 cs_aw);
/*
 * The fading gains, in units of 2^-32: quantiles of 0, 1 / DCF_FADES, ... 1,
 * linear in between. NULL: no fading. How long a pair of stations keeps a gain;
 * 0: for one signal. false: the gains decrease, or one is too large.
 */
bool dcf_set_fading(struct dcf *dcf, const u64 *gain_q32, u32 coherence_ns);

/*
 * Motion, at any time, from the next transmission on. If two stations have
 * waypoints, and one of them more than one, the table gives the link for their
 * distance; other pairs keep that of dcf_set_link(). The caller owns points and
 * waypoints, which must stay until others are set. false: times that do not
 * increase; a leg that is faster than 1000 m/s, or moves and lasts 2^32 us or
 * more; a position, range, power or delay that is too large.
 */
bool dcf_set_table(struct dcf *dcf, const struct dcf_table *table);
bool dcf_set_reach(struct dcf *dcf, u16 station, const struct dcf_reach *reach);
bool dcf_set_waypoints(struct dcf *dcf, u16 station, const struct dcf_waypoint *way, u32 count, u64 since_ns);
/* The mean link from @from to @to, for a transmission that begins now. */
bool dcf_get_link(struct dcf *dcf, u16 from, u16 to, struct dcf_link *link);
/* Number of distances computed so far. */
u64 dcf_evaluations(const struct dcf *dcf);

/* The kernel passes @frame on at @now. The core calls ops->done() for it, perhaps at once. */
void dcf_enqueue(struct dcf *dcf, u16 station, struct dcf_frame *frame, u64 now);
/* Play all events up to and including @until. */
void dcf_run(struct dcf *dcf, u64 until);
/*
 * Block ACK. A frame names the originator's half of its agreement, struct
 * dcf_session, in which the caller has set limits, window and tries. Frames of an
 * agreement arrive in order of their sequence numbers. These two functions begin
 * and end the recipient's half, for frames from @from with this TID. false: there
 * is no such station or window.
 */
bool dcf_begin_scoreboard(struct dcf *dcf, u16 station, struct dcf_scoreboard *board, u16 from, u8 tid, u16 window, u16 start);
void dcf_end_scoreboard(struct dcf *dcf, u16 station, struct dcf_scoreboard *board);

/* When dcf_run() must be called again, or DCF_NEVER. */
u64 dcf_next(const struct dcf *dcf);
/* Give back all frames, as REFUSED, and silence the air, because the radios are removed. */
void dcf_flush(struct dcf *dcf);

/* Counters and trace cover what begins between these two calls. */
void dcf_start(struct dcf *dcf, u64 now);
void dcf_stop(struct dcf *dcf, u64 now, u32 lost_records);
bool dcf_measuring(const struct dcf *dcf);
const struct dcf_counters *dcf_counters(const struct dcf *dcf, u16 station);
/* Number of events played so far. */
u64 dcf_events(const struct dcf *dcf);
/* Draw from an exponential distribution with this mean, at most 1 << 20, and cut off at 16 times the mean. */
u32 dcf_draw_exponential(u64 *state, u32 mean);
/* The state of a station as of the last dcf_run(). */
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
