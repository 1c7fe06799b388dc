// SPDX-License-Identifier: GPL-2.0-only
/* KUnit's suite of tcp_sca.c: which ACKs count, and what they do to a flow. */
#include <kunit/test.h>

enum { SS, SCA, SSCA };

/* A flow in congestion avoidance, limited by its window, with the parameters at their defaults. */
static struct sock *sca_test_flow(struct kunit *test, int variant)
{
	struct tcp_sock *tp = kunit_kzalloc(test, sizeof(*tp), GFP_KERNEL);
	struct sock *sk = (struct sock *)tp;

	KUNIT_ASSERT_NOT_NULL(test, tp);
	sock_net_set(sk, &init_net);
	inet_csk(sk)->icsk_ca_ops = &variants[variant].ops;
	tp->snd_cwnd = 10;
	tp->snd_cwnd_clamp = ~0U;
	tp->snd_ssthresh = 10;
	tp->is_cwnd_limited = true;
	return sk;
}

static s64 sca_test_count(struct sock *sk, int counter)
{
	return atomic64_read(&variant_of(sk)->counters.value[counter]);
}

static void sca_credit_is_the_first_of_each_group(struct kunit *test)
{
	u16 thresh, count;
	u32 ack;

	for (thresh = 0; thresh < 6; thresh++)
		for (ack = 0, count = 0; ack < 20; ack++)
			KUNIT_EXPECT_EQ(test, sca_credit(&count, thresh, 1), ack % (thresh + 1) == 0);
}

static void sca_credit_of_many_acks_is_that_of_each(struct kunit *test)
{
	u16 thresh, begin;
	u32 acked, i, sum;

	for (thresh = 0; thresh < 5; thresh++) {
		for (begin = 0; begin <= thresh + 1; begin++) {
			for (acked = 0; acked < 12; acked++) {
				u16 one = begin, many = begin;

				for (i = 0, sum = 0; i < acked; i++)
					sum += sca_credit(&one, thresh, 1);
				KUNIT_EXPECT_EQ(test, sca_credit(&many, thresh, acked), sum);
				if (acked)
					KUNIT_EXPECT_EQ(test, many, one);
			}
		}
	}
}

static void sca_acks_until_is_the_least_that_suffices(struct kunit *test)
{
	u16 thresh, begin;
	u32 credits;

	for (thresh = 0; thresh < 5; thresh++) {
		for (begin = 0; begin <= thresh + 1; begin++) {
			for (credits = 1; credits < 5; credits++) {
				u64 acks = acks_until(begin, thresh, credits);
				u16 enough = begin, fewer = begin;

				KUNIT_EXPECT_EQ(test, sca_credit(&enough, thresh, acks), credits);
				KUNIT_EXPECT_EQ(test, sca_credit(&fewer, thresh, acks - 1), credits - 1);
			}
		}
	}
}

static void sca_thresholds_are_those_of_the_variant(struct kunit *test)
{
	static const u16 expected[][2] = { [SS] = { 4, 0 }, [SCA] = { 0, 10 }, [SSCA] = { 4, 10 } };
	u16 slow_start, avoidance;
	int variant;

	for (variant = SS; variant <= SSCA; variant++) {
		sca_thresholds(sca_test_flow(test, variant), &slow_start, &avoidance);
		KUNIT_EXPECT_EQ(test, slow_start, expected[variant][0]);
		KUNIT_EXPECT_EQ(test, avoidance, expected[variant][1]);
	}
}

static void sca_adaptive_thresholds_follow_the_hop_count(struct kunit *test)
{
	struct sock *ss = sca_test_flow(test, SS), *ssca = sca_test_flow(test, SSCA);
	u16 slow_start, avoidance;
	int count;

	WRITE_ONCE(adaptive.value, DSR);
	for (count = 1; count < 20; count++) {
		WRITE_ONCE(hops, count);
		sca_thresholds(ssca, &slow_start, &avoidance);
		KUNIT_EXPECT_EQ(test, slow_start, count < 4 ? 0 : 4);
		KUNIT_EXPECT_EQ(test, avoidance, count < 4 ? 0 : best[DSR][count > 15 ? 11 : count - 4]);
		sca_thresholds(ss, &slow_start, &avoidance);
		KUNIT_EXPECT_EQ(test, slow_start, 4);
		KUNIT_EXPECT_EQ(test, avoidance, 0);
	}
	WRITE_ONCE(hops, 0); /* a socket of no family has no route */
	sca_thresholds(ssca, &slow_start, &avoidance);
	KUNIT_EXPECT_EQ(test, slow_start, 4);
	KUNIT_EXPECT_EQ(test, avoidance, 10);
	WRITE_ONCE(adaptive.value, OFF);
}

static void sca_grows_more_slowly(struct kunit *test)
{
	struct sock *sk = sca_test_flow(test, SCA);
	s64 counted = sca_test_count(sk, COUNTED), held_back = sca_test_count(sk, HELD_BACK);

	sca_cong_avoid(sk, 0, 99); /* nine groups of eleven */
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tcp_sk(sk)), 10);
	sca_cong_avoid(sk, 0, 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tcp_sk(sk)), 11);
	KUNIT_EXPECT_EQ(test, sca_test_count(sk, COUNTED) - counted, 10);
	KUNIT_EXPECT_EQ(test, sca_test_count(sk, HELD_BACK) - held_back, 90);
}

static void sca_slow_start_ends_at_its_threshold(struct kunit *test)
{
	struct sock *sk = sca_test_flow(test, SSCA);
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_cwnd = 2;
	sca_cong_avoid(sk, 0, 6); /* the first and the sixth count */
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 4);
	tp->snd_ssthresh = 5;
	sca_cong_avoid(sk, 0, 5 + 11 * 4 + 1); /* one completes slow start, then five groups begin */
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6);
}

static void sca_keeps_a_window_that_does_not_limit(struct kunit *test)
{
	struct sock *sk = sca_test_flow(test, SS);

	tcp_sk(sk)->is_cwnd_limited = false;
	sca_cong_avoid(sk, 0, 100);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tcp_sk(sk)), 10);
}

static void sca_counts_flows(struct kunit *test)
{
	struct sock *sk = sca_test_flow(test, SCA), *unused = sca_test_flow(test, SCA);
	s64 flows = sca_test_count(sk, FLOWS), now = sca_test_count(sk, FLOWS_NOW);

	sca_init(sk);
	KUNIT_EXPECT_EQ(test, sca_test_count(sk, FLOWS_NOW), now + 1);
	sca_release(unused);
	KUNIT_EXPECT_EQ(test, sca_test_count(sk, FLOWS_NOW), now + 1);
	sca_release(sk);
	KUNIT_EXPECT_EQ(test, sca_test_count(sk, FLOWS_NOW), now);
	KUNIT_EXPECT_EQ(test, sca_test_count(sk, FLOWS), flows + 1);
}

static void sca_shows_its_counters(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, IS_ERR_OR_NULL(folder));
}

static struct kunit_case sca_cases[] = {
	KUNIT_CASE(sca_credit_is_the_first_of_each_group),
	KUNIT_CASE(sca_credit_of_many_acks_is_that_of_each),
	KUNIT_CASE(sca_acks_until_is_the_least_that_suffices),
	KUNIT_CASE(sca_thresholds_are_those_of_the_variant),
	KUNIT_CASE(sca_adaptive_thresholds_follow_the_hop_count),
	KUNIT_CASE(sca_grows_more_slowly),
	KUNIT_CASE(sca_slow_start_ends_at_its_threshold),
	KUNIT_CASE(sca_keeps_a_window_that_does_not_limit),
	KUNIT_CASE(sca_counts_flows),
	KUNIT_CASE(sca_shows_its_counters),
	{}
};

static struct kunit_suite sca_suite = {
	.name = "sca",
	.test_cases = sca_cases,
};

kunit_test_suite(sca_suite);
