// SPDX-License-Identifier: GPL-2.0-only
/* KUnit's suite of tcp_dcr.c: how long duplicate ACKs do not count, and what is restored afterwards. */
#include <kunit/test.h>

#define DCR_TEST_NOW 1000000
#define DCR_TEST_RTT 80000

/* A flow at DCR_TEST_NOW, with round-trip times of 80 ms and at least 40 ms, so that steps of RACK's window take 10 ms. */
static struct sock *dcr_test_flow(struct kunit *test)
{
	struct tcp_sock *tp = kunit_kzalloc(test, sizeof(*tp), GFP_KERNEL);
	struct sock *sk = (struct sock *)tp;

	KUNIT_ASSERT_NOT_NULL(test, tp);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Open;
	tp->snd_cwnd = 10;
	tp->snd_cwnd_clamp = ~0U;
	tp->snd_ssthresh = 10;
	tp->is_cwnd_limited = true;
	tp->tcp_mstamp = DCR_TEST_NOW;
	tp->srtt_us = DCR_TEST_RTT << 3;
	tp->rtt_min.s[0].v = DCR_TEST_RTT / 2;
	tp->reordering = 3;
	tp->rack.reo_wnd_steps = 1;
	tp->rack.reo_wnd_persist = 2;
	tp->snd_una = 100;
	return sk;
}

static s64 dcr_test_count(int counter)
{
	return atomic64_read(&counters.value[counter]);
}

static void dcr_expect_raised(struct kunit *test, struct sock *sk)
{
	struct dcr *dcr = inet_csk_ca(sk);

	KUNIT_EXPECT_EQ(test, dcr->phase, WAITING);
	KUNIT_EXPECT_EQ(test, tcp_sk(sk)->reordering, OUT_OF_REACH);
	KUNIT_EXPECT_EQ(test, (int)tcp_sk(sk)->rack.reo_wnd_persist, TCP_RACK_RECOVERY_THRESH);
}

static void dcr_expect_restored(struct kunit *test, struct sock *sk, enum phase phase)
{
	struct dcr *dcr = inet_csk_ca(sk);

	KUNIT_EXPECT_EQ(test, dcr->phase, phase);
	KUNIT_EXPECT_EQ(test, tcp_sk(sk)->reordering, 3);
	KUNIT_EXPECT_EQ(test, (int)tcp_sk(sk)->rack.reo_wnd_steps, 1);
	KUNIT_EXPECT_EQ(test, (int)tcp_sk(sk)->rack.reo_wnd_persist, 2);
}

static void dcr_waits_one_round_trip_time(struct kunit *test)
{
	struct sock *sk = dcr_test_flow(test);
	struct tcp_sock *tp = tcp_sk(sk);
	struct dcr *dcr = inet_csk_ca(sk);

	tp->sacked_out = 1;
	dcr_in_ack_event(sk, 0);
	dcr_expect_raised(test, sk);
	KUNIT_EXPECT_EQ(test, dcr->until_us, DCR_TEST_NOW + DCR_TEST_RTT);
	KUNIT_EXPECT_EQ(test, (int)tp->rack.reo_wnd_steps, 8);
	tp->tcp_mstamp += DCR_TEST_RTT - 1;
	dcr_in_ack_event(sk, 0);
	dcr_expect_raised(test, sk);
	tp->tcp_mstamp += 1;
	dcr_in_ack_event(sk, 0);
	dcr_expect_restored(test, sk, WAITED);
}

static void dcr_waits_as_long_as_the_parameter_says(struct kunit *test)
{
	struct sock *sk = dcr_test_flow(test);
	struct tcp_sock *tp = tcp_sk(sk);
	struct dcr *dcr = inet_csk_ca(sk);

	WRITE_ONCE(delay_percent, 51);
	dcr_wait(tp, dcr);
	KUNIT_EXPECT_EQ(test, dcr->until_us, DCR_TEST_NOW + 40800);
	KUNIT_EXPECT_EQ(test, (int)tp->rack.reo_wnd_steps, 5);
	WRITE_ONCE(delay_percent, 10000);
	dcr_wait(tp, dcr);
	KUNIT_EXPECT_EQ(test, (int)tp->rack.reo_wnd_steps, U8_MAX);
	tp->rtt_min.s[0].v = 0;
	dcr_wait(tp, dcr);
	KUNIT_EXPECT_EQ(test, (int)tp->rack.reo_wnd_steps, U8_MAX);
	WRITE_ONCE(delay_percent, 100);
	dcr_stop(tp, dcr, IDLE);
	dcr_expect_restored(test, sk, IDLE);
}

static void dcr_next_hole_waits_anew(struct kunit *test)
{
	struct sock *sk = dcr_test_flow(test);
	struct tcp_sock *tp = tcp_sk(sk);
	struct dcr *dcr = inet_csk_ca(sk);
	s64 delayed = dcr_test_count(DELAYED);

	tp->sacked_out = 1;
	dcr_in_ack_event(sk, 0);
	tp->tcp_mstamp += DCR_TEST_RTT;
	tp->snd_una += 1000;
	dcr_in_ack_event(sk, 0);
	dcr_expect_raised(test, sk);
	KUNIT_EXPECT_EQ(test, dcr->until_us, DCR_TEST_NOW + 2 * DCR_TEST_RTT);
	KUNIT_EXPECT_EQ(test, dcr_test_count(DELAYED), delayed + 1);
	dcr_stop(tp, dcr, IDLE);
	dcr_expect_restored(test, sk, IDLE);
}

static void dcr_keeps_what_the_kernel_learns(struct kunit *test)
{
	struct sock *sk = dcr_test_flow(test);
	struct tcp_sock *tp = tcp_sk(sk);
	struct dcr *dcr = inet_csk_ca(sk);

	dcr_wait(tp, dcr);
	tp->reordering = 7;
	dcr_stop(tp, dcr, WAITED);
	KUNIT_EXPECT_EQ(test, tp->reordering, 7);
	tp->reordering = 9;
	dcr_stop(tp, dcr, IDLE);
	KUNIT_EXPECT_EQ(test, tp->reordering, 9);
}

static void dcr_waits_for_duplicates_only(struct kunit *test)
{
	struct sock *sk = dcr_test_flow(test);
	struct tcp_sock *tp = tcp_sk(sk);
	u8 state;

	dcr_in_ack_event(sk, 0);
	dcr_set_state(sk, TCP_CA_Disorder);
	dcr_expect_restored(test, sk, IDLE);
	tp->sacked_out = 1;
	for (state = TCP_CA_Recovery; state <= TCP_CA_Loss; state++) {
		inet_csk(sk)->icsk_ca_state = state;
		dcr_in_ack_event(sk, 0);
		dcr_expect_restored(test, sk, IDLE);
	}
}

static void dcr_counts_how_a_wait_ends(struct kunit *test)
{
	static const u8 ends[][2] = {
		{ TCP_CA_Open, FILLED }, { TCP_CA_Recovery, RETRANSMITTED }, { TCP_CA_Loss, TIMED_OUT }
	};
	struct sock *sk = dcr_test_flow(test);
	struct tcp_sock *tp = tcp_sk(sk);
	int i;

	tp->sacked_out = 1;
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		s64 delayed = dcr_test_count(DELAYED), ended = dcr_test_count(ends[i][1]);

		dcr_set_state(sk, TCP_CA_Disorder);
		tp->tcp_mstamp++;
		dcr_set_state(sk, TCP_CA_CWR);
		dcr_set_state(sk, TCP_CA_Disorder);
		dcr_expect_raised(test, sk);
		KUNIT_EXPECT_EQ(test, dcr_test_count(DELAYED), delayed + 1);
		dcr_set_state(sk, ends[i][0]);
		dcr_expect_restored(test, sk, IDLE);
		dcr_set_state(sk, ends[i][0]);
		KUNIT_EXPECT_EQ(test, dcr_test_count(ends[i][1]), ended + 1);
	}
}

static void dcr_keeps_the_window_while_it_waits(struct kunit *test)
{
	struct sock *sk = dcr_test_flow(test);
	struct tcp_sock *tp = tcp_sk(sk);

	dcr_wait(tp, inet_csk_ca(sk));
	dcr_cong_avoid(sk, 0, 10);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 10);
	dcr_stop(tp, inet_csk_ca(sk), WAITED);
	dcr_cong_avoid(sk, 0, 10);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 11);
}

static void dcr_counts_flows_and_restores_at_their_end(struct kunit *test)
{
	s64 flows = dcr_test_count(FLOWS), now = dcr_test_count(FLOWS_NOW);
	struct sock *sk = dcr_test_flow(test);

	dcr_init(sk);
	KUNIT_EXPECT_EQ(test, dcr_test_count(FLOWS_NOW), now + 1);
	dcr_release(dcr_test_flow(test));
	KUNIT_EXPECT_EQ(test, dcr_test_count(FLOWS_NOW), now + 1);
	dcr_wait(tcp_sk(sk), inet_csk_ca(sk));
	dcr_release(sk);
	dcr_expect_restored(test, sk, IDLE);
	KUNIT_EXPECT_EQ(test, dcr_test_count(FLOWS_NOW), now);
	KUNIT_EXPECT_EQ(test, dcr_test_count(FLOWS), flows + 1);
}

static void dcr_shows_its_counters(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, IS_ERR_OR_NULL(folder));
}

static struct kunit_case dcr_cases[] = {
	KUNIT_CASE(dcr_waits_one_round_trip_time),
	KUNIT_CASE(dcr_waits_as_long_as_the_parameter_says),
	KUNIT_CASE(dcr_next_hole_waits_anew),
	KUNIT_CASE(dcr_keeps_what_the_kernel_learns),
	KUNIT_CASE(dcr_waits_for_duplicates_only),
	KUNIT_CASE(dcr_counts_how_a_wait_ends),
	KUNIT_CASE(dcr_keeps_the_window_while_it_waits),
	KUNIT_CASE(dcr_counts_flows_and_restores_at_their_end),
	KUNIT_CASE(dcr_shows_its_counters),
	{}
};

static struct kunit_suite dcr_suite = {
	.name = "dcr",
	.test_cases = dcr_cases,
};

kunit_test_suite(dcr_suite);
