/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ackthin over netlink: the attributes of TCA_OPTIONS, all of them u32, and
 * what TCA_STATS_APP holds. docs/ack-thinning.md says what they mean;
 * emulation/lane/ackthin.py has them as a table.
 */
#ifndef PKT_ACKTHIN_H
#define PKT_ACKTHIN_H

#include <linux/types.h>

enum {
	TCA_ACKTHIN_UNSPEC,
	TCA_ACKTHIN_POLICY,		/* enum ackthin_policy */
	TCA_ACKTHIN_LIMIT,		/* packets, held ACKs included */
	TCA_ACKTHIN_COUNT,		/* delayed: ACKs per ACK that passes */
	TCA_ACKTHIN_SKIP,		/* skip: ACKs thinned before each that passes */
	TCA_ACKTHIN_START,		/* skip: from this ACK of a flow on */
	TCA_ACKTHIN_TIMEOUT,		/* us; 0: none (skip, daa) */
	TCA_ACKTHIN_GRANULARITY,	/* us; timers fire at multiples of it; 0: exact */
	TCA_ACKTHIN_DWIN_MIN,		/* daa: after a loss */
	TCA_ACKTHIN_DWIN_MAX,		/* daa */
	TCA_ACKTHIN_ALPHA,		/* daa, dynamic: weight of the past, thousandths */
	TCA_ACKTHIN_KAPPA,		/* daa: the timeout is 2 + kappa intervals, thousandths */
	TCA_ACKTHIN_MU,			/* daa: growth of dwin at start-up, thousandths */
	TCA_ACKTHIN_INTERVAL,		/* dynamic: us between readings of the MAC's counters */
	TCA_ACKTHIN_STEP,		/* dynamic: failures per frame for one more skipped ACK, thousandths */
	TCA_ACKTHIN_SKIP_MAX,		/* dynamic */
	__TCA_ACKTHIN_MAX
};
#define TCA_ACKTHIN_MAX (__TCA_ACKTHIN_MAX - 1)

enum ackthin_policy {
	ACKTHIN_PLAIN,
	ACKTHIN_DELAYED,
	ACKTHIN_SKIP,
	ACKTHIN_DAA,
	ACKTHIN_DYNAMIC,
};

/* Why a packet passed. After ACKTHIN_CONTROL: segments that only acknowledge. */
enum ackthin_reason {
	ACKTHIN_OTHER,		/* not TCP, or not readable: fragments, extension headers, invalid packets */
	ACKTHIN_DATA,
	ACKTHIN_CONTROL,	/* SYN, FIN, RST, PSH, URG, reserved bits, or no ACK flag */
	ACKTHIN_ECN,		/* ECE, CWR, AE, or a congestion mark on the packet itself */
	ACKTHIN_SACK,		/* with selective acknowledgments, duplicate ones too */
	ACKTHIN_OPTION,		/* with an option other than timestamps */
	ACKTHIN_FIRST,		/* the flow was unknown */
	ACKTHIN_PROBE,		/* not the next sequence number: a keep-alive, a window probe */
	ACKTHIN_OLD,		/* overtaken by a newer one */
	ACKTHIN_DUPLICATE,
	ACKTHIN_WINDOW,		/* a window update; the window closes, or opens again */
	ACKTHIN_RECOVERY,	/* after duplicates: a hole was filled */
	ACKTHIN_GROUP,		/* by the policy: the last of its group */
	ACKTHIN_TIMER,		/* it was held until its timer fired */
	ACKTHIN_FLUSHED,	/* it was held and had to pass, because another segment of its flow did */
	ACKTHIN_REASONS
};

/* acks = passed[ACKTHIN_ECN ... ACKTHIN_FLUSHED] + thinned + held */
struct tc_ackthin_xstats {
	__u64 passed[ACKTHIN_REASONS];
	__u64 acks;		/* segments that only acknowledge */
	__u64 thinned;
	__u64 evicted;		/* flows forgotten because there were too many */
	__u32 flows;
	__u32 held;
	__u32 dwin;		/* daa: of the flow seen last, thousandths */
	__u32 skip;		/* dynamic: current value */
	__u32 failures;		/* dynamic: failed attempts per frame, smoothed, thousandths */
	__u32 samples;		/* dynamic: readings of the MAC's counters that had new frames */
};

#endif
