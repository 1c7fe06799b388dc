// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reno with slower growth, for multihop wireless paths. Such a path holds a few segments, and a larger window only
 * causes collisions (S. Papanastasiou, PhD thesis, University of Glasgow 2006, section 4.3):
 *
 *   ss    slow slow-start: of each (ss_increase_thresh + 1) ACKs only the first counts in slow start
 *   sca   slow congestion avoidance: the same with ca_increase_thresh, in congestion avoidance
 *   ssca  both
 *
 * The kernel's own slow start and congestion avoidance get the ACKs that count, so a threshold of 0 is exactly Reno.
 * As everywhere in Linux, an ACK of n segments counts as n ACKs of one. Losses are handled as in Reno.
 *
 * Adaptive SCA takes ca_increase_thresh from the hop count of the flow's route.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "counters.h"
#include "hops.h"
#include "words.h"

#define FIRST_HOPS 4
#define LAST_HOPS 15

/* The best thresholds by hop count, 4 to 15: thesis, table 4.4 for DSR and B.1 for AODV. */
enum { OFF, DSR, AODV };
static const u8 best[][LAST_HOPS - FIRST_HOPS + 1] = {
	[DSR] = { 42, 45, 39, 49, 47, 29, 48, 35, 10, 50, 25, 10 },
	[AODV] = { 48, 46, 50, 48, 46, 48, 48, 31, 37, 30, 39, 39 },
};
static const char *const tables[] = { [OFF] = "off", [DSR] = "dsr", [AODV] = "aodv", NULL };

static unsigned short ca_increase_thresh = 10;
module_param(ca_increase_thresh, ushort, 0644);
MODULE_PARM_DESC(ca_increase_thresh, "ACKs in congestion avoidance that do not count, after each that does; 0: Reno (10)");

static unsigned short ss_increase_thresh = 4;
module_param(ss_increase_thresh, ushort, 0644);
MODULE_PARM_DESC(ss_increase_thresh, "ACKs in slow start that do not count, after each that does; 0: Reno (4)");

static struct word adaptive = { tables, OFF };
module_param_cb(adaptive, &word_ops, &adaptive, 0644);
MODULE_PARM_DESC(adaptive, "ca_increase_thresh by hop count, as found best for a routing protocol: off, dsr or aodv (off)");

static unsigned char min_hops = 4;
module_param(min_hops, byte, 0644);
MODULE_PARM_DESC(min_hops, "if adaptive, sca and ssca are Reno on routes of fewer hops (4)");

static unsigned char hops;
module_param(hops, byte, 0644);
MODULE_PARM_DESC(hops, "if adaptive, the hop count of all routes; 0: each route's metric (0)");

enum { FLOWS, FLOWS_NOW, COUNTED, HELD_BACK, ROUTE_LOOKUPS, HOPS_NOT_KNOWN };
static const char *const counter_names[] = {
	"flows", "flows_now", "segments_counted", "segments_held_back", "route_lookups", "hops_unknown", NULL
};

struct variant {
	struct tcp_congestion_ops ops;
	bool slow_start, avoidance; /* which of the two grows more slowly */
	struct counters counters;
};

/* The state of a flow; all zero at the start. */
struct sca {
	struct hops hops;
	u16 ss_count, ca_count; /* place of the next ACK in its group: the one at 0 counts */
	bool initialized; /* sockets are also released without initialization */
};

static struct variant *variant_of(const struct sock *sk)
{
	return container_of(inet_csk(sk)->icsk_ca_ops, struct variant, ops);
}

/* How many of @acked ACKs count: the first of each group of (thresh + 1). */
static u32 sca_credit(u16 *count, u16 thresh, u32 acked)
{
	u32 begin = *count > thresh ? 0 : *count; /* the threshold was lowered: begin a new group */
	u32 rest;
	u64 groups = div_u64_rem((u64)begin + acked, (u32)thresh + 1, &rest);

	*count = rest;
	return groups + (rest > 0) - (begin > 0);
}

/* How many ACKs it takes until @acked of them, at least one, have counted. */
static u64 acks_until(u16 count, u16 thresh, u32 credits)
{
	u64 group = (u64)thresh + 1;
	u32 held_back = count && count <= thresh ? group - count : 0;

	return held_back + (credits - 1) * group + 1;
}

static void sca_thresholds(struct sock *sk, u16 *slow_start, u16 *avoidance)
{
	struct variant *variant = variant_of(sk);
	atomic64_t *counter = variant->counters.value;
	int table = READ_ONCE(adaptive.value);
	struct sca *sca = inet_csk_ca(sk);
	u8 count;

	*slow_start = variant->slow_start ? READ_ONCE(ss_increase_thresh) : 0;
	*avoidance = variant->avoidance ? READ_ONCE(ca_increase_thresh) : 0;
	if (table == OFF || !variant->avoidance)
		return;
	count = READ_ONCE(hops) ?: hops_of(sk, &sca->hops, &counter[ROUTE_LOOKUPS], &counter[HOPS_NOT_KNOWN]);
	if (count == HOPS_UNKNOWN)
		return;
	*avoidance = best[table][clamp_t(u8, count, FIRST_HOPS, LAST_HOPS) - FIRST_HOPS];
	if (count < READ_ONCE(min_hops))
		*slow_start = *avoidance = 0;
}

/* tcp_reno_cong_avoid(), for the ACKs that count instead of all acknowledged segments. */
static void sca_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct counters *counters = &variant_of(sk)->counters;
	struct sca *sca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool starting = tcp_in_slow_start(tp);
	u32 counted = 0, rest = acked;
	u16 slow_start, avoidance;

	if (!tcp_is_cwnd_limited(sk))
		return;
	sca_thresholds(sk, &slow_start, &avoidance);
	if (starting) { /* the ACKs that complete slow start; the others count in congestion avoidance */
		u32 missing = tp->snd_ssthresh - tcp_snd_cwnd(tp);
		u32 taken = min_t(u64, acked, acks_until(sca->ss_count, slow_start, missing));

		counted = sca_credit(&sca->ss_count, slow_start, taken);
		tcp_slow_start(tp, counted);
		rest -= taken;
	}
	if (rest || !starting) {
		u32 credits = sca_credit(&sca->ca_count, avoidance, rest);

		tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), credits);
		counted += credits;
	}
	atomic64_add(counted, &counters->value[COUNTED]);
	atomic64_add(acked - counted, &counters->value[HELD_BACK]);
}

static void sca_init(struct sock *sk)
{
	struct counters *counters = &variant_of(sk)->counters;
	struct sca *sca = inet_csk_ca(sk);

	sca->initialized = true;
	atomic64_inc(&counters->value[FLOWS]);
	atomic64_inc(&counters->value[FLOWS_NOW]);
}

static void sca_release(struct sock *sk)
{
	struct sca *sca = inet_csk_ca(sk);

	if (sca->initialized)
		atomic64_dec(&variant_of(sk)->counters.value[FLOWS_NOW]);
}

#define OPS(NAME)						\
	{							\
		.name = NAME,					\
		.owner = THIS_MODULE,				\
		.init = sca_init,				\
		.release = sca_release,				\
		.cong_avoid = sca_cong_avoid,			\
		.ssthresh = tcp_reno_ssthresh,			\
		.undo_cwnd = tcp_reno_undo_cwnd,		\
	}

static struct variant variants[] = {
	{ .ops = OPS("ss"), .slow_start = true, .counters.names = counter_names },
	{ .ops = OPS("sca"), .avoidance = true, .counters.names = counter_names },
	{ .ops = OPS("ssca"), .slow_start = true, .avoidance = true, .counters.names = counter_names },
};

static struct dentry *folder;

static int __init sca_register(void)
{
	int i, err;

	BUILD_BUG_ON(sizeof(struct sca) > ICSK_CA_PRIV_SIZE);
	for (i = 0; i < ARRAY_SIZE(variants); i++) {
		err = tcp_register_congestion_control(&variants[i].ops);
		if (err)
			goto out;
	}
	folder = debugfs_create_dir(KBUILD_MODNAME, NULL);
	for (i = 0; i < ARRAY_SIZE(variants); i++)
		counters_file(&variants[i].counters, variants[i].ops.name, folder);
	return 0;
out:
	while (i--)
		tcp_unregister_congestion_control(&variants[i].ops);
	return err;
}

static void __exit sca_unregister(void)
{
	int i;

	debugfs_remove_recursive(folder);
	for (i = 0; i < ARRAY_SIZE(variants); i++)
		tcp_unregister_congestion_control(&variants[i].ops);
}

module_init(sca_register);
module_exit(sca_unregister);
MODULE_ALIAS("tcp_ss"); /* the kernel loads a congestion control by tcp_NAME */
MODULE_ALIAS("tcp_ssca");
MODULE_DESCRIPTION("TCP slow slow-start (ss), slow congestion avoidance (sca) and both (ssca)");
MODULE_LICENSE("GPL");
#ifdef SOURCE_SHA256 /* from Kbuild */
MODULE_INFO(source_sha256, SOURCE_SHA256);
#endif
