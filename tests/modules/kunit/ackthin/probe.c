// SPDX-License-Identifier: GPL-2.0-only
/* KUnit's suite of ackthin/probe.c: what is made of the MAC's counters. */
#include <linux/delay.h>

#include "testing.h"

void ackthin_test_fail(struct probe *p, u32 failures)
{
	WRITE_ONCE(p->failures, failures);
}

static void test_read(struct kunit *test, struct probe *p, u64 next_hop, u32 frames, u32 retries, u32 failed)
{
	struct station_info info = {
		.filled = BIT_ULL(NL80211_STA_INFO_TX_PACKETS) | BIT_ULL(NL80211_STA_INFO_TX_RETRIES),
		.tx_packets = frames,
		.tx_retries = retries,
		.tx_failed = failed,
	};

	probe_read(p, &info, next_hop);
}

static void probe_smooths_failures_for_each_frame(struct kunit *test)
{
	struct probe p = { .alpha = 750 };

	test_read(test, &p, 1, 100, 50, 0);
	KUNIT_EXPECT_EQ(test, p.samples, 0); /* the first counters are those of the past */
	test_read(test, &p, 1, 110, 68, 2);
	KUNIT_EXPECT_EQ(test, p.failures, 500); /* 20 failures for 10 frames, a quarter of it */
	KUNIT_EXPECT_EQ(test, p.samples, 1);
	test_read(test, &p, 1, 110, 69, 2); /* no frame ended */
	KUNIT_EXPECT_EQ(test, p.samples, 1);
	test_read(test, &p, 1, 111, 69, 2);
	KUNIT_EXPECT_EQ(test, p.failures, 625);
	KUNIT_EXPECT_EQ(test, p.samples, 2);
	test_read(test, &p, 2, 5, 5, 5);
	KUNIT_EXPECT_EQ(test, p.samples, 2);
	test_read(test, &p, 2, 10, 5, 5);
	KUNIT_EXPECT_EQ(test, p.failures, 468);
	KUNIT_EXPECT_EQ(test, p.samples, 3);
}

static void probe_needs_both_counters(struct kunit *test)
{
	struct station_info info = { .tx_packets = 10, .filled = BIT_ULL(NL80211_STA_INFO_TX_PACKETS) };
	struct probe p = { .alpha = 750 };

	probe_read(&p, &info, 1);
	info.filled = BIT_ULL(NL80211_STA_INFO_TX_RETRIES);
	probe_read(&p, &info, 1);
	KUNIT_EXPECT_EQ(test, p.asked, 0);
	KUNIT_EXPECT_EQ(test, p.frames, 0);
}

static void probe_goes_on_until_it_is_stopped(struct kunit *test)
{
	struct net_device *dev = qdisc_dev(test->priv);
	int before = netdev_refcnt_read(dev);
	struct probe *p = probe_start(dev, &ackthin_defaults);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(dev), before + 1);
	KUNIT_EXPECT_EQ(test, p->interval_us, 100000);
	KUNIT_EXPECT_EQ(test, p->alpha, 750);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_TRUE(test, delayed_work_pending(&p->work));
		msleep(110);
	}
	probe_stop(p);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(dev), before);
	p = probe_start(dev, &ackthin_defaults);
	KUNIT_ASSERT_NOT_NULL(test, p);
	cancel_delayed_work_sync(&p->work);
	p->stopped = true; /* as it runs */
	probe_work(&p->work.work);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(dev), before);
}

static struct kunit_case probe_cases[] = {
	KUNIT_CASE(probe_smooths_failures_for_each_frame),
	KUNIT_CASE(probe_needs_both_counters),
	KUNIT_CASE(probe_goes_on_until_it_is_stopped),
	{}
};

static struct kunit_suite probe_suite = {
	.name = "ackthin_probe",
	.init = ackthin_test_init,
	.exit = ackthin_test_exit,
	.test_cases = probe_cases,
};

kunit_test_suite(probe_suite);
