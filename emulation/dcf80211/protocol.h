/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the netlink family that controls the air.
 * generate.py writes this file from dcf80211.yaml.
 */
#ifndef DCF80211_PROTOCOL_H
#define DCF80211_PROTOCOL_H

#include <net/netlink.h>

#define DCF80211_FAMILY_NAME "dcf80211"
#define DCF80211_FAMILY_VERSION 2

enum {
	CMD_UNSPEC, CMD_SETUP, CMD_TEARDOWN, CMD_STATION, CMD_LINKS, CMD_ERRORS, CMD_START, CMD_STOP,
	CMD_STATUS, CMD_COUNTERS, CMD_TABLE, CMD_REACH, CMD_WAYPOINTS, CMD_HEARD, CMD_EDCA, CMD_FADING,
	CMD_LOOK, CMD_RADIO,
};

enum {
	A_UNSPEC, A_PAD, A_STATIONS, A_SLOT_NS, A_SIFS_NS, A_CW_MIN, A_CW_MAX, A_SIGNAL_EXTENSION_NS,
	A_BASIC_RATES, A_RECEPTION, A_EIFS, A_NAV_RESET, A_RETRY_BY_STAGES, A_TRACE, A_SNAP,
	A_CAPTURE_RATIO_MILLI, A_RX_THRESHOLD_AW, A_CS_THRESHOLD_AW, A_NOISE_AW, A_SEED, A_STATION,
	A_RADIO, A_FREQ, A_SHORT_RETRY, A_LONG_RETRY, A_QUEUE, A_PROMISCUOUS, A_LINKS, A_CURVE,
	A_FIRST_MDB, A_STEP_MDB, A_LAMBDA_Q40, A_TIME_NS, A_MEASURING, A_LOST_RECORDS, A_REFUSED_FRAMES,
	A_UNKNOWN_RADIOS, A_FRAMES, A_EVENTS, A_TIMERS, A_LATE_NS_MAX, A_TX, A_AIRTIME_NS, A_RX,
	A_ADDRESSED, A_END, A_SHORT_RETRIES, A_LONG_RETRIES, A_BUSY_NS, A_NAV_NS, A_TX_NS, A_LOST_MESSAGES,
	A_RULES, A_SENSING_NS, A_SHORT_PREAMBLE, A_PUNCTUAL, A_OFFSET, A_FIRST_OCTAVE, A_BIN_BITS,
	A_POINTS, A_WAYPOINTS, A_REACH_MM2, A_GAIN_Q63, A_WEAKER_MDB, A_EVALUATIONS, A_EDCA, A_CATEGORY,
	A_AIFSN, A_TXOP_32US, A_SHARES, A_CONTENTION, A_GAIN_Q32, A_LAG_NS_MAX, A_LATE, A_LAG, A_LOOKS,
	A_DETECT_OFDM_MILLI, A_DETECT_DSSS_MILLI, A_HT, A_NAME, A_FORMAT, A_STREAMS, A_WIDTH_MHZ,
	A_GUARD_NS, A_MCS, A_DEPTH, A_TRIES, A_WINDOW, A_MPDUS, A_BYTES, A_PPDU_NS, A_DENSITY, A_AQL,
	A_FAIRNESS, A_HOST_DELAY_NS, A_PROTECTION, A_FIFO, A_PACING_SHIFT, A_COHERENCE_NS, ATTRS
};

static const struct nla_policy policy[ATTRS] __maybe_unused = {
	[A_STATIONS] = { .type = NLA_U16 },
	[A_SLOT_NS] = { .type = NLA_U32 },
	[A_SIFS_NS] = { .type = NLA_U32 },
	[A_CW_MIN] = { .type = NLA_U32 },
	[A_CW_MAX] = { .type = NLA_U32 },
	[A_SIGNAL_EXTENSION_NS] = { .type = NLA_U32 },
	[A_BASIC_RATES] = { .type = NLA_U32 },
	[A_RECEPTION] = { .type = NLA_U8 },
	[A_EIFS] = { .type = NLA_U8 },
	[A_NAV_RESET] = { .type = NLA_U8 },
	[A_RETRY_BY_STAGES] = { .type = NLA_U8 },
	[A_TRACE] = { .type = NLA_U8 },
	[A_SNAP] = { .type = NLA_U16 },
	[A_CAPTURE_RATIO_MILLI] = { .type = NLA_U32 },
	[A_RX_THRESHOLD_AW] = { .type = NLA_U64 },
	[A_CS_THRESHOLD_AW] = { .type = NLA_U64 },
	[A_NOISE_AW] = { .type = NLA_U64 },
	[A_SEED] = { .type = NLA_U64 },
	[A_STATION] = { .type = NLA_U16 },
	[A_RADIO] = NLA_POLICY_EXACT_LEN(6),
	[A_FREQ] = { .type = NLA_U16 },
	[A_SHORT_RETRY] = { .type = NLA_U8 },
	[A_LONG_RETRY] = { .type = NLA_U8 },
	[A_QUEUE] = { .type = NLA_U16 },
	[A_PROMISCUOUS] = { .type = NLA_U8 },
	[A_LINKS] = { .type = NLA_BINARY },
	[A_CURVE] = { .type = NLA_U8 },
	[A_FIRST_MDB] = { .type = NLA_S32 },
	[A_STEP_MDB] = { .type = NLA_U32 },
	[A_LAMBDA_Q40] = { .type = NLA_BINARY, .len = 2048 },
	[A_TIME_NS] = { .type = NLA_U64 },
	[A_RULES] = { .type = NLA_U32 },
	[A_SENSING_NS] = { .type = NLA_U32 },
	[A_SHORT_PREAMBLE] = { .type = NLA_U8 },
	[A_PUNCTUAL] = { .type = NLA_U8 },
	[A_OFFSET] = { .type = NLA_U32 },
	[A_FIRST_OCTAVE] = { .type = NLA_U8 },
	[A_BIN_BITS] = { .type = NLA_U8 },
	[A_POINTS] = { .type = NLA_BINARY },
	[A_WAYPOINTS] = { .type = NLA_BINARY },
	[A_REACH_MM2] = { .type = NLA_U64 },
	[A_GAIN_Q63] = { .type = NLA_U64 },
	[A_WEAKER_MDB] = { .type = NLA_S32 },
	[A_EDCA] = { .type = NLA_U8 },
	[A_CATEGORY] = { .type = NLA_U8 },
	[A_AIFSN] = { .type = NLA_U8 },
	[A_TXOP_32US] = { .type = NLA_U16 },
	[A_GAIN_Q32] = { .type = NLA_BINARY, .len = 8200 },
	[A_DETECT_OFDM_MILLI] = { .type = NLA_U32 },
	[A_DETECT_DSSS_MILLI] = { .type = NLA_U32 },
	[A_HT] = { .type = NLA_U8 },
	[A_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[A_FORMAT] = { .type = NLA_U8 },
	[A_STREAMS] = { .type = NLA_U8 },
	[A_WIDTH_MHZ] = { .type = NLA_U16 },
	[A_GUARD_NS] = { .type = NLA_U16 },
	[A_MCS] = { .type = NLA_U8 },
	[A_DEPTH] = { .type = NLA_U8 },
	[A_TRIES] = { .type = NLA_U8 },
	[A_WINDOW] = { .type = NLA_U16 },
	[A_MPDUS] = { .type = NLA_U16 },
	[A_BYTES] = { .type = NLA_U32 },
	[A_PPDU_NS] = { .type = NLA_U32 },
	[A_DENSITY] = { .type = NLA_U8 },
	[A_AQL] = { .type = NLA_U8 },
	[A_FAIRNESS] = { .type = NLA_U8 },
	[A_HOST_DELAY_NS] = { .type = NLA_U32 },
	[A_PROTECTION] = { .type = NLA_U8 },
	[A_FIFO] = { .type = NLA_U16 },
	[A_PACING_SHIFT] = { .type = NLA_U8 },
	[A_COHERENCE_NS] = { .type = NLA_U32 },
};

/* Attributes that each request must carry. */
static const int setup_needs[] __maybe_unused = {
	A_STATIONS, A_SLOT_NS, A_SIFS_NS, A_CW_MIN, A_CW_MAX, A_SIGNAL_EXTENSION_NS, A_BASIC_RATES,
	A_RECEPTION, A_EIFS, A_NAV_RESET, A_RETRY_BY_STAGES, A_TRACE, A_SNAP, A_CAPTURE_RATIO_MILLI,
	A_RX_THRESHOLD_AW, A_CS_THRESHOLD_AW, A_NOISE_AW, A_SEED, A_RULES, A_SENSING_NS, A_SHORT_PREAMBLE,
	A_PUNCTUAL, A_EDCA, A_DETECT_OFDM_MILLI, A_DETECT_DSSS_MILLI, A_HT, A_HOST_DELAY_NS, 0
};
static const int station_needs[] __maybe_unused = {
	A_STATION, A_RADIO, A_FREQ, A_SHORT_RETRY, A_LONG_RETRY, A_QUEUE, A_PROMISCUOUS, A_RX_THRESHOLD_AW,
	A_CS_THRESHOLD_AW, 0
};
static const int links_needs[] __maybe_unused = {
	A_STATION, A_LINKS, 0
};
static const int errors_needs[] __maybe_unused = {
	A_CURVE, A_FIRST_MDB, A_STEP_MDB, A_LAMBDA_Q40, 0
};
static const int table_needs[] __maybe_unused = {
	A_FIRST_OCTAVE, A_BIN_BITS, A_OFFSET, A_POINTS, 0
};
static const int reach_needs[] __maybe_unused = {
	A_STATION, A_REACH_MM2, A_GAIN_Q63, A_WEAKER_MDB, 0
};
static const int waypoints_needs[] __maybe_unused = {
	A_STATION, A_TIME_NS, A_OFFSET, A_WAYPOINTS, 0
};
static const int heard_needs[] __maybe_unused = {
	A_STATION, 0
};
static const int edca_needs[] __maybe_unused = {
	A_STATION, A_CATEGORY, A_AIFSN, A_CW_MIN, A_CW_MAX, A_TXOP_32US, 0
};
static const int fading_needs[] __maybe_unused = {
	A_GAIN_Q32, A_COHERENCE_NS, 0
};
static const int radio_needs[] __maybe_unused = {
	A_RADIO, A_NAME, A_FORMAT, A_STREAMS, A_WIDTH_MHZ, A_GUARD_NS, A_MCS, A_DEPTH, A_TRIES, A_WINDOW,
	A_MPDUS, A_BYTES, A_PPDU_NS, A_DENSITY, A_AQL, A_FAIRNESS, A_PROTECTION, A_FIFO, A_PACING_SHIFT, 0
};

#endif
