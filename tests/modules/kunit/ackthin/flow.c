// SPDX-License-Identifier: GPL-2.0-only
/* KUnit's suite of ackthin/flow.c: the table of flows. */
#include "testing.h"

static void flows_replace_the_one_not_seen_for_longest(struct kunit *test)
{
	struct tc_ackthin_xstats stats;
	int i;

	for (i = 0; i < MAX_FLOWS; i++) {
		SEND(test, .ack = 1000, .port = i);
		EXPECT_RECEIVED(test, 1000);
	}
	SEND(test, .ack = 2000, .port = 1);
	SEND(test, .ack = 2000, .port = 0); /* so the flow of port 2 is the oldest one */
	KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).evicted, 0);
	SEND(test, .ack = 3000, .port = MAX_FLOWS);
	EXPECT_RECEIVED(test, 3000);
	EXPECT_RECEIVED(test, 0);
	SEND(test, .ack = 2000, .port = 2);
	EXPECT_RECEIVED(test, 2000);
	stats = ackthin_test_stats(test);
	KUNIT_EXPECT_EQ(test, stats.flows, MAX_FLOWS);
	KUNIT_EXPECT_EQ(test, stats.evicted, 2);
	KUNIT_EXPECT_EQ(test, stats.held, 2);
	KUNIT_EXPECT_EQ(test, stats.thinned, 0);
}

static void flow_that_is_replaced_passes_its_ack(struct kunit *test)
{
	int i;

	SEND(test, .ack = 1000, .port = 0);
	SEND(test, .ack = 2000, .port = 0);
	EXPECT_RECEIVED(test, 1000);
	for (i = 1; i < MAX_FLOWS; i++) {
		SEND(test, .ack = 1000, .port = i);
		EXPECT_RECEIVED(test, 1000);
	}
	SEND(test, .ack = 3000, .port = MAX_FLOWS);
	EXPECT_RECEIVED(test, 2000);
	EXPECT_RECEIVED(test, 3000);
	KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).passed[ACKTHIN_FLUSHED], 1);
}

static void flows_are_forgotten_by_a_reset(struct kunit *test)
{
	struct Qdisc *sch = test->priv;

	SEND(test, .ack = 1000);
	SEND(test, .ack = 2000);
	test_lock(sch);
	qdisc_reset(sch);
	test_unlock(sch);
	KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).flows, 0);
	EXPECT_RECEIVED(test, 0);
	SEND(test, .ack = 3000);
	EXPECT_RECEIVED(test, 3000);
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(flows_replace_the_one_not_seen_for_longest),
	KUNIT_CASE(flow_that_is_replaced_passes_its_ack),
	KUNIT_CASE(flows_are_forgotten_by_a_reset),
	{}
};

static struct kunit_suite flow_suite = {
	.name = "ackthin_flow",
	.init = ackthin_test_init,
	.exit = ackthin_test_exit,
	.test_cases = flow_cases,
};

kunit_test_suite(flow_suite);
