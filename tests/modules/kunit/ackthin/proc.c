// SPDX-License-Identifier: GPL-2.0-only
/* KUnit's suite of ackthin/proc.c: the lines of /proc/net/ackthin. */
#include <linux/delay.h>

#include "testing.h"

static void proc_shows_each_flow(struct kunit *test)
{
	struct seq_file m = { .size = PAGE_SIZE, .private = &init_net };
	char line[100];

	m.buf = kunit_kzalloc(test, m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m.buf);
	SEND(test, .ack = 1000, .port = 7);
	SEND(test, .ack = 1000, .port = 7, .flags = FLAG_PSH | FLAG_ACK); /* not counted */
	SEND(test, .ack = 2000, .port = 7);
	SEND(test, .ack = 3000, .port = 7);
	SEND(test, .ack = 4000, .port = 7);
	KUNIT_EXPECT_EQ(test, ackthin_show(&m, NULL), 0);
	snprintf(line, sizeof(line), "\n%s 10.0.0.1:7 10.0.0.2:0 4 2 1 1 0 1000 0\n", qdisc_dev(test->priv)->name);
	KUNIT_EXPECT_NOT_NULL(test, strstr(m.buf, line));
	msleep(200);
	EXPECT_RECEIVED(test, 1000);
	m.count = 0;
	KUNIT_EXPECT_EQ(test, ackthin_show(&m, NULL), 0);
	snprintf(line, sizeof(line), "\n%s 10.0.0.1:7 10.0.0.2:0 4 3 1 0 1 1000 0\n", qdisc_dev(test->priv)->name);
	KUNIT_EXPECT_NOT_NULL(test, strstr(m.buf, line));
}

static struct kunit_case proc_cases[] = {
	KUNIT_CASE(proc_shows_each_flow),
	{}
};

static struct kunit_suite proc_suite = {
	.name = "ackthin_proc",
	.init = ackthin_test_init,
	.exit = ackthin_test_exit,
	.test_cases = proc_cases,
};

kunit_test_suite(proc_suite);
