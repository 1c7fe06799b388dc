// SPDX-License-Identifier: GPL-2.0-only
/* KUnit's suite of ackthin/qdisc.c: what passes, what is held, and what is counted. */
#include <linux/delay.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/cfg80211.h>

#include "testing.h"

int ackthin_test_init(struct kunit *test)
{
	struct net_device *dev = alloc_netdev(0, "test", NET_NAME_UNKNOWN, ether_setup);
	struct netdev_queue *queue;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->tx_queue_len = TEST_LIMIT;
	queue = netdev_get_tx_queue(dev, 0);
	queue->dev = dev;
	rcu_assign_pointer(queue->qdisc, &noop_qdisc);
	rcu_assign_pointer(queue->qdisc_sleeping, &noop_qdisc);
	rtnl_lock();
	test->priv = qdisc_create_dflt(queue, &ackthin_ops, TC_H_ROOT, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_NOT_NULL(test, test->priv);
	return 0;
}

void ackthin_test_exit(struct kunit *test)
{
	struct net_device *dev = qdisc_dev(test->priv);

	rtnl_lock();
	qdisc_put(test->priv);
	rtnl_unlock();
	free_netdev(dev);
}

static struct sk_buff *test_skb(struct kunit *test, const struct test_packet *packet)
{
	u32 link = packet->bare ? 0 : ETH_HLEN, len = sizeof(struct iphdr) + sizeof(struct tcphdr) + packet->payload;
	struct sk_buff *skb = alloc_skb(link + len, GFP_KERNEL);
	struct tcphdr *tcp;
	struct iphdr *ip;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, link + len);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, link);
	skb->protocol = htons(packet->other ? ETH_P_ARP : ETH_P_IP);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	ip = ip_hdr(skb);
	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = htons(len);
	ip->protocol = IPPROTO_TCP;
	ip->saddr = htonl(0x0a000001);
	ip->daddr = htonl(0x0a000002);
	tcp = (struct tcphdr *)(ip + 1);
	tcp->source = htons(packet->port);
	tcp->seq = htonl(packet->seq);
	tcp->ack_seq = htonl(packet->ack);
	tcp->window = htons(packet->window ?: TEST_WINDOW);
	tcp->doff = 5;
	((u8 *)tcp)[13] = packet->flags ?: FLAG_ACK;
	return skb;
}

int ackthin_test_send(struct kunit *test, struct test_packet packet)
{
	struct sk_buff *skb = test_skb(test, &packet), *to_free = NULL;
	struct Qdisc *sch = test->priv;
	int result;

	test_lock(sch);
	result = sch->enqueue(skb, sch, &to_free);
	test_unlock(sch);
	kfree_skb_list(to_free);
	return result;
}

u32 ackthin_test_receive(struct kunit *test)
{
	struct Qdisc *sch = test->priv;
	struct sk_buff *skb;
	u32 ack;

	test_lock(sch);
	skb = sch->dequeue(sch);
	test_unlock(sch);
	if (!skb)
		return 0;
	ack = ackthin_be32(skb_network_header(skb) + sizeof(struct iphdr) + 8);
	kfree_skb(skb);
	return ack;
}

int ackthin_test_set(struct kunit *test, int attribute, u32 value)
{
	struct {
		struct nlattr options, one;
		u32 value;
	} set = {
		.options = { .nla_len = sizeof(set), .nla_type = TCA_OPTIONS },
		.one = { .nla_len = nla_attr_size(sizeof(value)), .nla_type = attribute },
		.value = value,
	};
	int result;

	rtnl_lock();
	result = ackthin_change(test->priv, &set.options, NULL);
	rtnl_unlock();
	return result;
}

u32 ackthin_test_get(struct kunit *test, int attribute)
{
	struct Qdisc *sch = test->priv;
	struct ackthin_sched *q = qdisc_priv(sch);
	u32 value;

	test_lock(sch);
	value = q->config.set[attribute];
	test_unlock(sch);
	return value;
}

struct tc_ackthin_xstats ackthin_test_stats(struct kunit *test)
{
	struct tc_ackthin_xstats stats = {};
	struct gnet_dump dump = { .compat_xstats = 1 };

	rtnl_lock();
	KUNIT_EXPECT_EQ(test, ackthin_dump_stats(test->priv, &dump), 0);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, dump.xstats_len, sizeof(stats));
	memcpy(&stats, dump.xstats, sizeof(stats));
	kfree(dump.xstats);
	return stats;
}

static void ackthin_passes_every_second_ack(struct kunit *test)
{
	struct Qdisc *sch = test->priv;
	struct tc_ackthin_xstats stats;

	SEND(test, .ack = 1000);
	EXPECT_RECEIVED(test, 1000);
	SEND(test, .ack = 2000);
	EXPECT_RECEIVED(test, 0);
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 1);
	KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).held, 1);
	SEND(test, .ack = 3000);
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 1);
	EXPECT_RECEIVED(test, 3000);
	EXPECT_RECEIVED(test, 0);
	stats = ackthin_test_stats(test);
	KUNIT_EXPECT_EQ(test, stats.acks, 3);
	KUNIT_EXPECT_EQ(test, stats.thinned, 1);
	KUNIT_EXPECT_EQ(test, stats.held, 0);
	KUNIT_EXPECT_EQ(test, stats.flows, 1);
	KUNIT_EXPECT_EQ(test, stats.passed[ACKTHIN_FIRST], 1);
	KUNIT_EXPECT_EQ(test, stats.passed[ACKTHIN_GROUP], 1);
}

static void ackthin_passes_a_held_ack_in_time(struct kunit *test)
{
	SEND(test, .ack = 1000, .port = 1);
	SEND(test, .ack = 1000, .port = 2);
	EXPECT_RECEIVED(test, 1000);
	EXPECT_RECEIVED(test, 1000);
	SEND(test, .ack = 2000, .port = 1);
	usleep_range(10000, 10000);
	SEND(test, .ack = 3000, .port = 2);
	usleep_range(85000, 85000);
	EXPECT_RECEIVED(test, 0);
	usleep_range(10000, 10000);
	EXPECT_RECEIVED(test, 2000);
	EXPECT_RECEIVED(test, 0);
	usleep_range(10000, 10000);
	EXPECT_RECEIVED(test, 3000);
	KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).passed[ACKTHIN_TIMER], 2);
}

static void ackthin_passes_a_held_ack_before_data(struct kunit *test)
{
	struct tc_ackthin_xstats stats;

	SEND(test, .ack = 1000);
	SEND(test, .ack = 2000);
	SEND(test, .ack = 2500, .payload = 10);
	EXPECT_RECEIVED(test, 1000);
	EXPECT_RECEIVED(test, 2000);
	EXPECT_RECEIVED(test, 2500);
	EXPECT_RECEIVED(test, 0);
	stats = ackthin_test_stats(test);
	KUNIT_EXPECT_EQ(test, stats.acks, 2);
	KUNIT_EXPECT_EQ(test, stats.passed[ACKTHIN_FLUSHED], 1);
	KUNIT_EXPECT_EQ(test, stats.passed[ACKTHIN_DATA], 1);
}

static void ackthin_without_a_timeout_holds_an_ack(struct kunit *test)
{
	SEND(test, .ack = 1000);
	SEND(test, .ack = 2000);
	SEND(test, .ack = 3000);
	EXPECT_RECEIVED(test, 1000);
	EXPECT_RECEIVED(test, 3000);
	KUNIT_EXPECT_EQ(test, ackthin_test_set(test, TCA_ACKTHIN_POLICY, ACKTHIN_SKIP), 0);
	KUNIT_EXPECT_EQ(test, ackthin_test_set(test, TCA_ACKTHIN_START, 0), 0);
	KUNIT_EXPECT_EQ(test, ackthin_test_set(test, TCA_ACKTHIN_TIMEOUT, 0), 0);
	SEND(test, .ack = 4000);
	usleep_range(200000, 200000);
	EXPECT_RECEIVED(test, 0);
	SEND(test, .ack = 5000);
	EXPECT_RECEIVED(test, 5000);
}

static void ackthin_counts_acks_only_as_acks(struct kunit *test)
{
	struct tc_ackthin_xstats stats;

	SEND(test, .ack = 1000, .flags = FLAG_SYN | FLAG_ACK);
	SEND(test, .ack = 2000, .other = true);
	SEND(test, .ack = 3000, .payload = 10);
	stats = ackthin_test_stats(test);
	KUNIT_EXPECT_EQ(test, stats.acks, 0);
	KUNIT_EXPECT_EQ(test, stats.flows, 0);
	KUNIT_EXPECT_EQ(test, stats.passed[ACKTHIN_CONTROL], 1);
	KUNIT_EXPECT_EQ(test, stats.passed[ACKTHIN_OTHER], 1);
	KUNIT_EXPECT_EQ(test, stats.passed[ACKTHIN_DATA], 1);
}

static void ackthin_needs_no_link_layer(struct kunit *test)
{
	SEND(test, .ack = 1000, .bare = true);
	SEND(test, .ack = 2000, .bare = true);
	EXPECT_RECEIVED(test, 1000);
	EXPECT_RECEIVED(test, 0);
}

static void ackthin_limit_is_that_of_the_device(struct kunit *test)
{
	int i;

	for (i = 0; i < TEST_LIMIT; i++)
		KUNIT_EXPECT_EQ(test, SEND(test, .ack = 1, .payload = 1), NET_XMIT_SUCCESS);
	KUNIT_EXPECT_EQ(test, SEND(test, .ack = 1, .payload = 1), NET_XMIT_DROP);
}

/* The policy dynamic on a device that is said to be wireless. No packet has an address, so the counters are not read. */
static void ackthin_skips_as_many_as_fail(struct kunit *test)
{
	static const u32 skips[][2] = { { 0, 0 }, { 99, 0 }, { 100, 1 }, { 399, 3 }, { 1000, 3 } };
	struct Qdisc *sch = test->priv;
	struct ackthin_sched *q = qdisc_priv(sch);
	int i;

	qdisc_dev(sch)->ieee80211_ptr = kunit_kzalloc(test, sizeof(struct wireless_dev), GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, ackthin_test_set(test, TCA_ACKTHIN_POLICY, ACKTHIN_DYNAMIC), 0);
	KUNIT_ASSERT_NOT_NULL(test, q->probe);
	for (i = 0; i < ARRAY_SIZE(skips); i++) {
		ackthin_test_fail(q->probe, skips[i][0]);
		SEND(test, .ack = 1000 + i);
		KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).skip, skips[i][1]);
		KUNIT_EXPECT_EQ(test, ackthin_test_stats(test).failures, skips[i][0]);
	}
	KUNIT_EXPECT_EQ(test, ackthin_test_set(test, TCA_ACKTHIN_POLICY, ACKTHIN_PLAIN), 0);
	KUNIT_EXPECT_NULL(test, q->probe);
}

static struct kunit_case ackthin_cases[] = {
	KUNIT_CASE(ackthin_passes_every_second_ack),
	KUNIT_CASE(ackthin_passes_a_held_ack_in_time),
	KUNIT_CASE(ackthin_passes_a_held_ack_before_data),
	KUNIT_CASE(ackthin_without_a_timeout_holds_an_ack),
	KUNIT_CASE(ackthin_counts_acks_only_as_acks),
	KUNIT_CASE(ackthin_needs_no_link_layer),
	KUNIT_CASE(ackthin_limit_is_that_of_the_device),
	KUNIT_CASE(ackthin_skips_as_many_as_fail),
	{}
};

static struct kunit_suite ackthin_suite = {
	.name = "ackthin",
	.init = ackthin_test_init,
	.exit = ackthin_test_exit,
	.test_cases = ackthin_cases,
};

kunit_test_suite(ackthin_suite);
