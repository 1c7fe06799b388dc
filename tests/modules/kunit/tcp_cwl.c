// SPDX-License-Identifier: GPL-2.0-only
/* KUnit's suite of tcp_cwl.c: the limit of each rule, and where it is applied. */
#include <kunit/test.h>

/* A flow in congestion avoidance, limited by its window. */
static struct sock *cwl_test_flow(struct kunit *test, u32 window)
{
	struct tcp_sock *tp = kunit_kzalloc(test, sizeof(*tp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tp);
	sock_net_set((struct sock *)tp, &init_net);
	tp->snd_cwnd = window;
	tp->snd_cwnd_clamp = ~0U;
	tp->snd_ssthresh = 1;
	tp->is_cwnd_limited = true;
	return (struct sock *)tp;
}

static s64 cwl_test_count(int counter)
{
	return atomic64_read(&counters.value[counter]);
}

static void cwl_limits_are_those_of_the_rules(struct kunit *test)
{
	static const u8 table[] = { 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5 };
	u32 count;

	for (count = 1; count <= ARRAY_SIZE(table); count++) {
		KUNIT_EXPECT_EQ(test, limit_by_hops(CHEN, count), table[count - 1]);
		KUNIT_EXPECT_EQ(test, limit_by_hops(FU, count), count < 4 ? 1 : count / 4);
		KUNIT_EXPECT_EQ(test, limit_by_hops(RTHC, count), count < 3 ? 1 : 2 * count / 5);
		KUNIT_EXPECT_EQ(test, limit_by_hops(KAWADIA, count), DIV_ROUND_UP(3 * count, 2));
	}
}

static void cwl_limit_is_that_of_the_parameters(struct kunit *test)
{
	struct sock *sk = cwl_test_flow(test, 10);

	KUNIT_EXPECT_EQ(test, limit_of(sk), U32_MAX); /* a socket of no family has no route */
	WRITE_ONCE(hops, 7);
	KUNIT_EXPECT_EQ(test, limit_of(sk), 3);
	WRITE_ONCE(rule.value, FIXED);
	WRITE_ONCE(limit, 9);
	KUNIT_EXPECT_EQ(test, limit_of(sk), 9);
	WRITE_ONCE(limit, 4);
	WRITE_ONCE(rule.value, CHEN);
	WRITE_ONCE(hops, 0);
}

static void cwl_cuts_larger_windows_only(struct kunit *test)
{
	static const u32 windows[][2] = { { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 3 }, { 100, 3 } };
	s64 cut = cwl_test_count(WINDOWS_CUT);
	int i;

	WRITE_ONCE(hops, 7);
	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		struct sock *sk = cwl_test_flow(test, windows[i][0]);

		cwl_hold(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tcp_sk(sk)), windows[i][1]);
	}
	WRITE_ONCE(hops, 0);
	KUNIT_EXPECT_EQ(test, cwl_test_count(WINDOWS_CUT), cut + 2);
}

static void cwl_window_never_grows_beyond_its_limit(struct kunit *test)
{
	struct sock *sk = cwl_test_flow(test, 2);

	WRITE_ONCE(hops, 7);
	cwl_cong_avoid(sk, 0, 2);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tcp_sk(sk)), 3);
	cwl_cong_avoid(sk, 0, 3);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tcp_sk(sk)), 3);
	WRITE_ONCE(hops, 0);
	cwl_cong_avoid(sk, 0, 3);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tcp_sk(sk)), 4);
}

static void cwl_counts_flows(struct kunit *test)
{
	struct sock *sk = cwl_test_flow(test, 1);
	s64 flows = cwl_test_count(FLOWS), now = cwl_test_count(FLOWS_NOW);

	cwl_init(sk);
	KUNIT_EXPECT_EQ(test, cwl_test_count(FLOWS_NOW), now + 1);
	cwl_release(cwl_test_flow(test, 1));
	KUNIT_EXPECT_EQ(test, cwl_test_count(FLOWS_NOW), now + 1);
	cwl_release(sk);
	KUNIT_EXPECT_EQ(test, cwl_test_count(FLOWS_NOW), now);
	KUNIT_EXPECT_EQ(test, cwl_test_count(FLOWS), flows + 1);
}

static void cwl_shows_its_counters(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, IS_ERR_OR_NULL(folder));
}

static struct kunit_case cwl_cases[] = {
	KUNIT_CASE(cwl_limits_are_those_of_the_rules),
	KUNIT_CASE(cwl_limit_is_that_of_the_parameters),
	KUNIT_CASE(cwl_cuts_larger_windows_only),
	KUNIT_CASE(cwl_window_never_grows_beyond_its_limit),
	KUNIT_CASE(cwl_counts_flows),
	KUNIT_CASE(cwl_shows_its_counters),
	{}
};

static struct kunit_suite cwl_suite = {
	.name = "cwl",
	.test_cases = cwl_cases,
};

kunit_test_suite(cwl_suite);
