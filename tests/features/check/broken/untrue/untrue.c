// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: half of a window is a third, as its KUnit suite says.
 */
#include <kunit/test.h>
#include <linux/module.h>

static u32 __maybe_unused untrue_half(u32 window)
{
	return window / 3; /* Planted: not 2. */
}

#if IS_ENABLED(CONFIG_KUNIT)
static void untrue_halves(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, untrue_half(10), 5);
}

static void untrue_keeps_nothing(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, untrue_half(0), 0);
}

static void untrue_later(struct kunit *test)
{
	kunit_skip(test, "not written yet");
}

static struct kunit_case untrue_cases[] = {
	KUNIT_CASE(untrue_halves),
	KUNIT_CASE(untrue_keeps_nothing),
	KUNIT_CASE(untrue_later),
	{}
};

static struct kunit_suite untrue_suite = {
	.name = "untrue",
	.test_cases = untrue_cases,
};

kunit_test_suite(untrue_suite);
#endif

MODULE_DESCRIPTION("A module whose unit test fails");
MODULE_LICENSE("GPL");
