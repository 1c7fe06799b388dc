/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What KUnit's suites of ackthin share: a queue on a device that is not registered, and packets for it. qdisc.c has the
 * functions. The queue is in test->priv.
 */
#ifndef ACKTHIN_TESTING_H
#define ACKTHIN_TESTING_H

#include <kunit/test.h>
#include <linux/rtnetlink.h>

#define TEST_LIMIT 50 /* the length of the device's queue */
#define TEST_WINDOW 500

struct test_packet {
	u32 ack;	/* not 0 */
	u32 seq;
	u16 port, window;
	u8 flags;	/* 0: an ACK */
	u16 payload;
	bool bare;	/* without a header of the link layer */
	bool other;	/* neither IPv4 nor IPv6 */
};

static inline void test_lock(struct Qdisc *sch)
{
	rtnl_lock();
	sch_tree_lock(sch);
}

static inline void test_unlock(struct Qdisc *sch)
{
	sch_tree_unlock(sch);
	rtnl_unlock();
}

int ackthin_test_init(struct kunit *test);
void ackthin_test_exit(struct kunit *test);
/* Send a packet with these fields; return what enqueue does. */
int ackthin_test_send(struct kunit *test, struct test_packet packet);
/* Take a packet out of the queue; return its acknowledgment number, or 0 if there is none. */
u32 ackthin_test_receive(struct kunit *test);
/* Set an option; return what change does. */
int ackthin_test_set(struct kunit *test, int attribute, u32 value);
u32 ackthin_test_get(struct kunit *test, int attribute);
struct tc_ackthin_xstats ackthin_test_stats(struct kunit *test);
/* Let a probe report this many failures; in probe.c. */
void ackthin_test_fail(struct probe *p, u32 failures);

#define SEND(test, ...) ackthin_test_send(test, (struct test_packet){ __VA_ARGS__ })
#define EXPECT_RECEIVED(test, number) KUNIT_EXPECT_EQ(test, ackthin_test_receive(test), number)

#endif
