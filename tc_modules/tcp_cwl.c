// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reno with a limit of the congestion window, for multihop wireless paths. A path
 * of h hops holds only a certain number of segments at a time, and further ones
 * collide with them. The limit follows the hop count of the flow's route, by one
 * of the published rules.
 *
 * The window is limited wherever it grows. The kernel also sets it in many other
 * places (at the start, in recovery and at its end, in an undo). So it is limited
 * once more where the kernel asks for the size of a burst, before each burst of
 * new segments and of retransmissions. So no change of route or parameter lets
 * one segment too many out.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "counters.h"
#include "hops.h"
#include "words.h"

enum { CHEN, FIXED, FU, RTHC, KAWADIA };
static const char *const rules[] = {
	[CHEN] = "chen", [FIXED] = "fixed", [FU] = "h/4", [RTHC] = "rthc/5", [KAWADIA] = "3h/2", NULL
};

static struct word rule = { rules, CHEN };
module_param_cb(rule, &word_ops, &rule, 0644);
MODULE_PARM_DESC(rule, "limit by hop count h: chen (a table), h/4, rthc/5 (2h/5), 3h/2; or fixed (chen)");

static int limit_set(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, U16_MAX);
}

static const struct kernel_param_ops limit_ops = { .set = limit_set, .get = param_get_uint };
static unsigned int limit = 4;
module_param_cb(limit, &limit_ops, &limit, 0644);
MODULE_PARM_DESC(limit, "the limit of rule fixed, in segments, at least 1 (4)");

static unsigned char hops;
module_param(hops, byte, 0644);
MODULE_PARM_DESC(hops, "the hop count of all routes; 0: each route's metric (0)");

enum { FLOWS, FLOWS_NOW, WINDOWS_CUT, ROUTE_LOOKUPS, HOPS_NOT_KNOWN };
static const char *const counter_names[] = {
	"flows", "flows_now", "windows_cut", "route_lookups", "hops_unknown", NULL
};

static struct counters counters = { .names = counter_names };

/* The state of a flow; all zero at the start. */
struct cwl {
	struct hops hops;
	bool initialized; /* sockets are also released without initialization */
};

/* Chen, Xue and Nahrstedt 2003, by simulation: for 1, 2, ... hops. Beyond 15, their last value holds. */
static const u8 chen[] = { 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5 };

/*
 * The window's limit on a route of @hops hops, at least one segment. Bounds are rounded down; 3h/2
 * is not a bound, and is rounded up.
 */
static u32 limit_by_hops(int by, u32 count)
{
	switch (by) {
	case FU: /* Fu, Luo, Zerfos, Lu, Zhang and Gerla 2005: the best throughput */
		return max(count / 4, 1U);
	case RTHC: /* Chen, Xue and Nahrstedt 2003: a fifth of the round-trip hop count fits */
		return max(2 * count / 5, 1U);
	case KAWADIA: /* Kawadia and Kumar 2005: the best in a testbed, without RTS/CTS */
		return (3 * count + 1) / 2;
	default:
		return chen[min_t(u32, count, ARRAY_SIZE(chen)) - 1];
	}
}

static u32 limit_of(struct sock *sk)
{
	atomic64_t *counter = counters.value;
	struct cwl *cwl = inet_csk_ca(sk);
	int by = READ_ONCE(rule.value);
	u8 count;

	if (by == FIXED)
		return READ_ONCE(limit);
	count = READ_ONCE(hops) ?: hops_of(sk, &cwl->hops, &counter[ROUTE_LOOKUPS], &counter[HOPS_NOT_KNOWN]);
	return count == HOPS_UNKNOWN ? U32_MAX : limit_by_hops(by, count);
}

static void cwl_hold(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 most = limit_of(sk);

	if (tcp_snd_cwnd(tp) <= most)
		return;
	tcp_snd_cwnd_set(tp, most);
	atomic64_inc(&counters.value[WINDOWS_CUT]);
}

static void cwl_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
	cwl_hold(sk);
}

/* The last call before a burst; its size is the kernel's default. */
static u32 cwl_min_tso_segs(struct sock *sk)
{
	cwl_hold(sk);
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_tso_segs);
}

static void cwl_init(struct sock *sk)
{
	struct cwl *cwl = inet_csk_ca(sk);

	cwl->initialized = true;
	atomic64_inc(&counters.value[FLOWS]);
	atomic64_inc(&counters.value[FLOWS_NOW]);
	cwl_hold(sk);
}

static void cwl_release(struct sock *sk)
{
	struct cwl *cwl = inet_csk_ca(sk);

	if (cwl->initialized)
		atomic64_dec(&counters.value[FLOWS_NOW]);
}

static struct tcp_congestion_ops ops = {
	.name = "cwl",
	.owner = THIS_MODULE,
	.init = cwl_init,
	.release = cwl_release,
	.cong_avoid = cwl_cong_avoid,
	.min_tso_segs = cwl_min_tso_segs,
	.ssthresh = tcp_reno_ssthresh,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static struct dentry *folder;

static int __init cwl_register(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct cwl) > ICSK_CA_PRIV_SIZE);
	err = tcp_register_congestion_control(&ops);
	if (err)
		return err;
	folder = debugfs_create_dir(KBUILD_MODNAME, NULL);
	counters_file(&counters, "cwl", folder);
	return 0;
}

static void __exit cwl_unregister(void)
{
	debugfs_remove_recursive(folder);
	tcp_unregister_congestion_control(&ops);
}

module_init(cwl_register);
module_exit(cwl_unregister);
MODULE_DESCRIPTION("TCP Reno with a limit of the congestion window by hop count (cwl)");
MODULE_LICENSE("GPL");
#ifdef SOURCE_SHA256 /* from Kbuild */
MODULE_INFO(source_sha256, SOURCE_SHA256);
#endif
