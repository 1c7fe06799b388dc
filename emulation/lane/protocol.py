# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the netlink family that controls the air. generate.py writes this file from
emulation/dcf80211/dcf80211.yaml."""

FAMILY = "dcf80211"

RECEPTIONS = ("capture", "sinr")
EIFS = ("off", "frame", "energy")
FORMATS = ("dsss", "ofdm", "ht", "vht", "he")
RULES = (
    "forget_signals", "follow_while_sending", "nav_on_capture", "eifs_is_nav", "fixed_timeouts", "cts_if_idle",
    "data_if_idle", "await_data", "always_backoff", "below_cw",
)  # fmt: skip
KINDS = ("rts", "cts", "ack", "tcp_data", "tcp_ack", "routing", "management", "other", "encrypted", "udp")
OUTCOMES = ("OK", "COLLISION", "OWN_TX", "NOISE", "BELOW_THRESHOLD")
REASONS = ("ACKED", "GROUP", "RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT", "STAGES", "QUEUE_FULL", "REFUSED")
CATEGORIES = ("VO", "VI", "BE", "BK")
DOINGS = ("idle", "defer", "backoff", "sifs", "send", "wait_cts", "wait_ack", "receive", "off")


class Command:
    """Numbers of commands."""

    (
        SETUP, TEARDOWN, STATION, LINKS, ERRORS, START, STOP, STATUS, COUNTERS, TABLE, REACH, WAYPOINTS, HEARD, EDCA,
        FADING, LOOK, RADIO,
    ) = range(1, 18)  # fmt: skip


class Attribute:
    """Numbers of attributes."""

    (
        PAD, STATIONS, SLOT_NS, SIFS_NS, CW_MIN, CW_MAX, SIGNAL_EXTENSION_NS, BASIC_RATES, RECEPTION, EIFS, NAV_RESET,
        RETRY_BY_STAGES, TRACE, SNAP, CAPTURE_RATIO_MILLI, RX_THRESHOLD_AW, CS_THRESHOLD_AW, NOISE_AW, SEED, STATION,
        RADIO, FREQ, SHORT_RETRY, LONG_RETRY, QUEUE, PROMISCUOUS, LINKS, CURVE, FIRST_MDB, STEP_MDB, LAMBDA_Q40,
        TIME_NS, MEASURING, LOST_RECORDS, REFUSED_FRAMES, UNKNOWN_RADIOS, FRAMES, EVENTS, TIMERS, LATE_NS_MAX, TX,
        AIRTIME_NS, RX, ADDRESSED, END, SHORT_RETRIES, LONG_RETRIES, BUSY_NS, NAV_NS, TX_NS, LOST_MESSAGES, RULES,
        SENSING_NS, SHORT_PREAMBLE, PUNCTUAL, OFFSET, FIRST_OCTAVE, BIN_BITS, POINTS, WAYPOINTS, REACH_MM2, GAIN_Q63,
        WEAKER_MDB, EVALUATIONS, EDCA, CATEGORY, AIFSN, TXOP_32US, SHARES, CONTENTION, GAIN_Q32, LAG_NS_MAX, LATE, LAG,
        LOOKS, DETECT_OFDM_MILLI, DETECT_DSSS_MILLI, HT, NAME, FORMAT, STREAMS, WIDTH_MHZ, GUARD_NS, MCS, DEPTH, TRIES,
        WINDOW, MPDUS, BYTES, PPDU_NS, DENSITY, AQL, FAIRNESS, HOST_DELAY_NS, PROTECTION, FIFO, PACING_SHIFT,
        COHERENCE_NS,
    ) = range(1, 99)  # fmt: skip
