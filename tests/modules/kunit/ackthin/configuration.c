// SPDX-License-Identifier: GPL-2.0-only
/* KUnit's suite of ackthin/configuration.c: which options are accepted, and what is shown of them. */
#include "testing.h"

static void configuration_keeps_what_is_set(struct kunit *test)
{
	int i;

	for (i = 1; i <= TCA_ACKTHIN_MAX; i++) {
		u32 value = i == TCA_ACKTHIN_POLICY ? ACKTHIN_DAA : i == TCA_ACKTHIN_INTERVAL ? 1000 : 3;

		KUNIT_EXPECT_EQ(test, ackthin_test_set(test, i, value), 0);
		KUNIT_EXPECT_EQ(test, ackthin_test_get(test, i), value);
	}
	KUNIT_EXPECT_EQ(test, ((struct Qdisc *)test->priv)->limit, 3);
}

static void configuration_begins_with_defaults(struct kunit *test)
{
	int i;

	for (i = 1; i <= TCA_ACKTHIN_MAX; i++)
		KUNIT_EXPECT_EQ(test, ackthin_test_get(test, i),
				i == TCA_ACKTHIN_LIMIT ? TEST_LIMIT : ackthin_defaults.set[i]);
}

static void configuration_has_bounds(struct kunit *test)
{
	static const u32 bounds[][3] = { /* the least and the greatest value */
		{ TCA_ACKTHIN_POLICY, 0, ACKTHIN_DYNAMIC },
		{ TCA_ACKTHIN_LIMIT, 1, U32_MAX },
		{ TCA_ACKTHIN_COUNT, 1, 255 },
		{ TCA_ACKTHIN_SKIP, 0, 255 },
		{ TCA_ACKTHIN_TIMEOUT, 1, 10000000 },
		{ TCA_ACKTHIN_GRANULARITY, 0, 10000000 },
		{ TCA_ACKTHIN_DWIN_MIN, 1, 4 },
		{ TCA_ACKTHIN_DWIN_MAX, 2, 255 },
		{ TCA_ACKTHIN_ALPHA, 0, 999 },
		{ TCA_ACKTHIN_KAPPA, 0, 10000 },
		{ TCA_ACKTHIN_MU, 1, 1000 },
		{ TCA_ACKTHIN_INTERVAL, 1000, 60000000 },
		{ TCA_ACKTHIN_STEP, 1, 10000 },
		{ TCA_ACKTHIN_SKIP_MAX, 0, 255 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bounds); i++) {
		u32 attribute = bounds[i][0], before = ackthin_test_get(test, attribute);

		if (bounds[i][1])
			KUNIT_EXPECT_LT(test, ackthin_test_set(test, attribute, bounds[i][1] - 1), 0);
		if (bounds[i][2] != U32_MAX)
			KUNIT_EXPECT_LT(test, ackthin_test_set(test, attribute, bounds[i][2] + 1), 0);
		KUNIT_EXPECT_EQ(test, ackthin_test_get(test, attribute), before);
		KUNIT_EXPECT_EQ(test, ackthin_test_set(test, attribute, bounds[i][1]), 0);
		KUNIT_EXPECT_EQ(test, ackthin_test_set(test, attribute, bounds[i][2]), 0);
		KUNIT_EXPECT_EQ(test, ackthin_test_get(test, attribute), bounds[i][2]);
		KUNIT_EXPECT_EQ(test, ackthin_test_set(test, attribute, before), 0);
	}
}

static void configuration_says_what_is_wrong(struct kunit *test)
{
	static const u32 policies[][3] = { /* policy; with and without a timeout: 1 if there is a message */
		{ ACKTHIN_PLAIN, 0, 0 }, { ACKTHIN_DELAYED, 0, 1 }, { ACKTHIN_SKIP, 0, 0 }, { ACKTHIN_DAA, 0, 0 },
		{ ACKTHIN_DYNAMIC, 1, 1 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		struct netlink_ext_ack with = {}, without = {};
		struct ackthin_config c = ackthin_defaults;

		c.set[TCA_ACKTHIN_POLICY] = policies[i][0];
		KUNIT_EXPECT_EQ(test, ackthin_validate(&c, qdisc_dev(test->priv), &with), 0);
		KUNIT_EXPECT_EQ(test, !!with._msg, policies[i][1]);
		c.set[TCA_ACKTHIN_TIMEOUT] = 0;
		ackthin_validate(&c, qdisc_dev(test->priv), &without);
		KUNIT_EXPECT_EQ(test, !!without._msg, policies[i][2]);
	}
}

static void configuration_that_changes_passes_what_is_held(struct kunit *test)
{
	SEND(test, .ack = 1000);
	SEND(test, .ack = 2000);
	EXPECT_RECEIVED(test, 1000);
	EXPECT_RECEIVED(test, 0);
	KUNIT_EXPECT_EQ(test, ackthin_test_set(test, TCA_ACKTHIN_COUNT, 3), 0);
	EXPECT_RECEIVED(test, 2000);
	EXPECT_RECEIVED(test, 0);
}

static void configuration_is_shown(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(NLMSG_GOODSIZE, GFP_KERNEL), *full = alloc_skb(1, GFP_KERNEL);
	struct nlattr *nest;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_NOT_NULL(test, full);
	KUNIT_EXPECT_GT(test, ackthin_dump(test->priv, skb), 0);
	nest = (struct nlattr *)skb->data;
	for (i = 1; i <= TCA_ACKTHIN_MAX; i++) {
		const struct nlattr *one = nla_find_nested(nest, i);

		KUNIT_EXPECT_NOT_NULL(test, one);
		if (one)
			KUNIT_EXPECT_EQ(test, nla_get_u32(one), ackthin_test_get(test, i));
	}
	skb_put(full, skb_tailroom(full) - 20); /* for the nest and one option */
	i = full->len;
	KUNIT_EXPECT_EQ(test, ackthin_dump(test->priv, full), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, full->len, i);
	kfree_skb(full);
	kfree_skb(skb);
}

static void configuration_shows_the_window_of_daa(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).dwin, 0);
	SEND(test, .ack = 1000);
	KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).dwin, 0);
	KUNIT_EXPECT_EQ(test, ackthin_test_set(test, TCA_ACKTHIN_POLICY, ACKTHIN_DAA), 0);
	KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).dwin, 1000);
	SEND(test, .ack = 2000);
	KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).dwin, 1300);
}

static struct kunit_case configuration_cases[] = {
	KUNIT_CASE(configuration_begins_with_defaults),
	KUNIT_CASE(configuration_keeps_what_is_set),
	KUNIT_CASE(configuration_has_bounds),
	KUNIT_CASE(configuration_says_what_is_wrong),
	KUNIT_CASE(configuration_that_changes_passes_what_is_held),
	KUNIT_CASE(configuration_is_shown),
	KUNIT_CASE(configuration_shows_the_window_of_daa),
	{}
};

static struct kunit_suite configuration_suite = {
	.name = "ackthin_configuration",
	.init = ackthin_test_init,
	.exit = ackthin_test_exit,
	.test_cases = configuration_cases,
};

kunit_test_suite(configuration_suite);
