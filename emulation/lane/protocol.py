# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the netlink family that controls the air. generate.py writes this file from
emulation/dcf80211/dcf80211.yaml."""

FAMILY = "dcf80211"

RECEPTIONS = ("capture", "sinr")
EIFS = ("off", "frame", "energy", "dynamic")
FORMATS = ("dsss", "ofdm", "ht", "vht", "he")
RULES = (
    "forget_signals",
    "follow_while_sending",
    "nav_on_capture",
    "eifs_is_nav",
    "fixed_timeouts",
    "cts_if_idle",
    "data_if_idle",
    "await_data",
    "always_backoff",
    "below_cw",
)
KINDS = ("rts", "cts", "ack", "tcp_data", "tcp_ack", "routing", "management", "other", "encrypted", "udp")
OUTCOMES = ("OK", "COLLISION", "OWN_TX", "NOISE", "BELOW_THRESHOLD")
REASONS = ("ACKED", "GROUP", "RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT", "STAGES", "QUEUE_FULL", "REFUSED")
CATEGORIES = ("VO", "VI", "BE", "BK")
DOINGS = ("idle", "defer", "backoff", "sifs", "send", "wait_cts", "wait_ack", "receive", "off")


class Command:
    """Numbers of commands."""

    SETUP = 1
    TEARDOWN = 2
    STATION = 3
    LINKS = 4
    ERRORS = 5
    START = 6
    STOP = 7
    STATUS = 8
    COUNTERS = 9
    TABLE = 10
    REACH = 11
    WAYPOINTS = 12
    HEARD = 13
    EDCA = 14
    FADING = 15
    LOOK = 16
    RADIO = 17


class Attribute:
    """Numbers of attributes."""

    PAD = 1
    STATIONS = 2
    SLOT_NS = 3
    SIFS_NS = 4
    CW_MIN = 5
    CW_MAX = 6
    SIGNAL_EXTENSION_NS = 7
    BASIC_RATES = 8
    RECEPTION = 9
    EIFS = 10
    NAV_RESET = 11
    RETRY_BY_STAGES = 12
    TRACE = 13
    SNAP = 14
    CAPTURE_RATIO_MILLI = 15
    RX_THRESHOLD_AW = 16
    CS_THRESHOLD_AW = 17
    NOISE_AW = 18
    SEED = 19
    STATION = 20
    RADIO = 21
    FREQ = 22
    SHORT_RETRY = 23
    LONG_RETRY = 24
    QUEUE = 25
    PROMISCUOUS = 26
    LINKS = 27
    CURVE = 28
    FIRST_MDB = 29
    STEP_MDB = 30
    LAMBDA_Q40 = 31
    TIME_NS = 32
    MEASURING = 33
    LOST_RECORDS = 34
    REFUSED_FRAMES = 35
    UNKNOWN_RADIOS = 36
    FRAMES = 37
    EVENTS = 38
    TIMERS = 39
    LATE_NS_MAX = 40
    TX = 41
    AIRTIME_NS = 42
    RX = 43
    ADDRESSED = 44
    END = 45
    SHORT_RETRIES = 46
    LONG_RETRIES = 47
    BUSY_NS = 48
    NAV_NS = 49
    TX_NS = 50
    LOST_MESSAGES = 51
    RULES = 52
    SENSING_NS = 53
    SHORT_PREAMBLE = 54
    PUNCTUAL = 55
    OFFSET = 56
    FIRST_OCTAVE = 57
    BIN_BITS = 58
    POINTS = 59
    WAYPOINTS = 60
    REACH_MM2 = 61
    GAIN_Q63 = 62
    WEAKER_MDB = 63
    EVALUATIONS = 64
    EDCA = 65
    CATEGORY = 66
    AIFSN = 67
    TXOP_32US = 68
    SHARES = 69
    CONTENTION = 70
    GAIN_Q32 = 71
    LAG_NS_MAX = 72
    LATE = 73
    LAG = 74
    LOOKS = 75
    DETECT_OFDM_MILLI = 76
    DETECT_DSSS_MILLI = 77
    HT = 78
    NAME = 79
    FORMAT = 80
    STREAMS = 81
    WIDTH_MHZ = 82
    GUARD_NS = 83
    MCS = 84
    DEPTH = 85
    TRIES = 86
    WINDOW = 87
    MPDUS = 88
    BYTES = 89
    PPDU_NS = 90
    DENSITY = 91
    AQL = 92
    FAIRNESS = 93
    HOST_DELAY_NS = 94
    PROTECTION = 95
    FIFO = 96
    PACING_SHIFT = 97
