// SPDX-License-Identifier: GPL-2.0-only
/*
 * ackthin: a queue that thins TCP's acknowledgments at a station's output.
 *
 * On a multihop wireless path an ACK of 40 bytes costs nearly as much air as a
 * segment of data, and collides with the data that comes the other way. As ACKs
 * are cumulative, most can be left out. Which, and what must never be, is
 * decided in ackthin.h; this file reads packets, keeps flows and timers, and is
 * the queue: one FIFO through which everything goes in order. A held ACK stands
 * beside it and enters it when it passes. docs/ack-thinning.md has the policies
 * with their sources.
 */
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <net/cfg80211.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/pkt_sched.h>

#include "ackthin.h"

#define BUCKETS 256
#define MAX_FLOWS 1024 /* more push out those that were not seen for longest */
#define NEVER U64_MAX

struct flow {
	struct ackthin_key key;
	struct ackthin_flow state;
	struct hlist_node bucket;
	struct list_head age, waiting; /* the latter while an ACK is held */
	struct sk_buff *held;
	u64 acks, thinned, timers;
};

/*
 * How the MAC fares towards the station that the ACKs go to. cfg80211 may sleep
 * and takes the wiphy's lock, with which an interface, and so its queue, may be
 * removed: so nobody waits for this work, which has a life of its own.
 */
struct probe {
	struct delayed_work work;
	struct net_device *dev;
	netdevice_tracker tracker;
	spinlock_t lock; /* of stopped, against the work arming itself again */
	bool stopped;
	u32 interval_us, alpha;
	u64 next_hop, asked; /* MAC addresses: of the last ACK, of the counters below */
	u32 frames, failed;
	u32 failures, samples; /* as in tc_ackthin_xstats */
};

struct ackthin_sched {
	struct ackthin_config config;
	struct list_head flows, waiting; /* the flow seen last comes first; the one that waits longest comes first */
	struct hlist_head buckets[BUCKETS];
	u32 perturbation;
	u64 next; /* when the watchdog will look at those that wait */
	struct qdisc_watchdog watchdog;
	struct probe *probe;
	struct tc_ackthin_xstats stats;
	struct list_head same_net;
	struct Qdisc *sch;
};

struct ackthin_net {
	struct list_head queues; /* under RTNL */
};

static unsigned int ackthin_net_id;
static struct workqueue_struct *probes;

/* --- The MAC's counters, for the policy dynamic --- */

#if IS_REACHABLE(CONFIG_CFG80211)
static bool has_mac_counters(const struct net_device *dev)
{
	return dev->ieee80211_ptr;
}

/* Each failed attempt: a frame that is given up fails once more than it is retried. */
static void probe_read(struct probe *p, const struct station_info *info, u64 next_hop)
{
	const u64 needed = BIT_ULL(NL80211_STA_INFO_TX_PACKETS) | BIT_ULL(NL80211_STA_INFO_TX_RETRIES);
	u32 frames, failed, rate;

	if ((info->filled & needed) != needed)
		return;
	frames = info->tx_packets - p->frames;
	failed = info->tx_retries + info->tx_failed - p->failed;
	if (p->asked == next_hop && !frames)
		return;
	p->frames = info->tx_packets;
	p->failed = info->tx_retries + info->tx_failed;
	if (p->asked != next_hop) { /* another station, other counters */
		p->asked = next_hop;
		return;
	}
	rate = div_u64((u64)failed * ACKTHIN_ONE, frames);
	rate = ((u64)p->alpha * p->failures + (u64)(ACKTHIN_ONE - p->alpha) * rate) / ACKTHIN_ONE;
	WRITE_ONCE(p->failures, rate);
	WRITE_ONCE(p->samples, p->samples + 1);
}

static void probe_look(struct probe *p)
{
	struct station_info *info;
	u64 next_hop = READ_ONCE(p->next_hop);
	u8 address[ETH_ALEN];

	info = next_hop ? kzalloc(sizeof(*info), GFP_KERNEL) : NULL;
	if (!info)
		return;
	u64_to_ether_addr(next_hop, address);
	if (!cfg80211_get_station(p->dev, address, info)) {
		probe_read(p, info, next_hop);
		cfg80211_sinfo_release_content(info);
	}
	kfree(info);
}
#else
static bool has_mac_counters(const struct net_device *dev)
{
	return false;
}

static void probe_look(struct probe *p)
{
}
#endif

static void probe_free(struct probe *p)
{
	netdev_put(p->dev, &p->tracker);
	kfree(p);
}

static void probe_work(struct work_struct *work)
{
	struct probe *p = container_of(to_delayed_work(work), struct probe, work);
	bool stopped;

	probe_look(p);
	spin_lock(&p->lock);
	stopped = p->stopped;
	if (!stopped)
		queue_delayed_work(probes, &p->work, usecs_to_jiffies(READ_ONCE(p->interval_us)));
	spin_unlock(&p->lock);
	if (stopped)
		probe_free(p);
}

static struct probe *probe_start(struct net_device *dev, const struct ackthin_config *c)
{
	struct probe *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	spin_lock_init(&p->lock);
	INIT_DELAYED_WORK(&p->work, probe_work);
	p->dev = dev;
	netdev_hold(dev, &p->tracker, GFP_KERNEL);
	p->interval_us = c->set[TCA_ACKTHIN_INTERVAL];
	p->alpha = c->set[TCA_ACKTHIN_ALPHA];
	queue_delayed_work(probes, &p->work, usecs_to_jiffies(p->interval_us));
	return p;
}

static void probe_stop(struct probe *p)
{
	bool idle;

	if (!p)
		return;
	spin_lock(&p->lock);
	p->stopped = true;
	idle = cancel_delayed_work(&p->work);
	spin_unlock(&p->lock);
	if (idle) /* else it runs, and sees that it is stopped */
		probe_free(p);
}

/* --- Flows, and what is held of them --- */

/* Let what is held go, behind all that is in the queue. */
static void release(struct Qdisc *sch, struct flow *flow, enum ackthin_reason why)
{
	struct ackthin_sched *q = qdisc_priv(sch);

	q->stats.passed[why]++;
	sch->q.qlen--; /* it was counted when it came */
	__qdisc_enqueue_tail(flow->held, &sch->q);
	flow->held = NULL;
	list_del_init(&flow->waiting);
}

static void release_all(struct Qdisc *sch)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct flow *flow, *next;

	list_for_each_entry_safe(flow, next, &q->waiting, waiting) {
		flow->state.count = 0;
		release(sch, flow, ACKTHIN_FLUSHED);
	}
	q->next = NEVER;
}

/* Something newer says all that a held ACK did. The queue's length never passes through 0 here: parents would notice. */
static void thin(struct Qdisc *sch, struct flow *flow, struct sk_buff *old)
{
	struct ackthin_sched *q = qdisc_priv(sch);

	flow->thinned++;
	q->stats.thinned++;
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, old);
	qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(old));
	consume_skb(old);
}

static void look_at(struct ackthin_sched *q, u64 when)
{
	q->next = when;
	qdisc_watchdog_schedule_ns(&q->watchdog, when);
}

static int hold(struct Qdisc *sch, struct flow *flow, struct sk_buff *skb)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct sk_buff *old = flow->held;

	flow->held = skb;
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	if (old)
		thin(sch, flow, old);
	else
		list_add_tail(&flow->waiting, &q->waiting);
	if (flow->state.due && flow->state.due < q->next)
		look_at(q, flow->state.due);
	return NET_XMIT_SUCCESS;
}

/* Timers that have run out. Those that were put off, or are no longer needed, made us look too early: that is cheap. */
static void expire(struct Qdisc *sch, u64 now)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct flow *flow, *next;
	u64 soonest = NEVER;

	list_for_each_entry_safe(flow, next, &q->waiting, waiting) {
		if (!flow->state.due)
			continue;
		if (flow->state.due > now) {
			soonest = min(soonest, flow->state.due);
			continue;
		}
		flow->timers++;
		ackthin_expire(&q->config, &flow->state);
		release(sch, flow, ACKTHIN_TIMER);
	}
	q->next = NEVER;
	if (soonest != NEVER)
		look_at(q, soonest);
}

static void forget(struct ackthin_sched *q, struct flow *flow)
{
	hlist_del(&flow->bucket);
	list_del(&flow->age);
	list_del(&flow->waiting);
	kfree_skb(flow->held);
	kfree(flow);
	q->stats.flows--;
}

static struct flow *new_flow(struct Qdisc *sch, const struct ackthin_key *key, struct hlist_head *bucket)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct flow *flow;

	if (q->stats.flows >= MAX_FLOWS) {
		flow = list_last_entry(&q->flows, struct flow, age);
		if (flow->held)
			release(sch, flow, ACKTHIN_FLUSHED);
		forget(q, flow);
		q->stats.evicted++;
	}
	flow = kzalloc(sizeof(*flow), GFP_ATOMIC);
	if (!flow)
		return NULL;
	flow->key = *key;
	hlist_add_head(&flow->bucket, bucket);
	list_add(&flow->age, &q->flows);
	INIT_LIST_HEAD(&flow->waiting);
	q->stats.flows++;
	return flow;
}

/* The flow of a segment; a new one only for an ACK that might be held. */
static struct flow *find_flow(struct Qdisc *sch, const struct ackthin_segment *s)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	u32 hash = jhash(&s->key, sizeof(s->key), q->perturbation);
	struct hlist_head *bucket = &q->buckets[hash % BUCKETS];
	struct flow *flow;

	hlist_for_each_entry(flow, bucket, bucket) {
		if (!memcmp(&flow->key, &s->key, sizeof(s->key))) {
			list_move(&flow->age, &q->flows);
			return flow;
		}
	}
	return s->why == ACKTHIN_HOLD ? new_flow(sch, &s->key, bucket) : NULL;
}

/* --- The queue --- */

static bool read_segment(const struct sk_buff *skb, struct ackthin_segment *s)
{
	int offset = skb_network_offset(skb);
	u32 len, have;
	u8 buffer[ACKTHIN_HEADERS];
	const u8 *ip;

	if (offset < 0 || offset >= skb->len)
		return false;
	if (skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6))
		return false;
	len = skb->len - offset;
	have = min_t(u32, len, sizeof(buffer));
	ip = skb_header_pointer(skb, offset, have, buffer);
	return ip && ackthin_parse(s, ip, have, len);
}

/* The policy dynamic: who the ACKs go to, and how many it makes us skip. */
static void consult_probe(struct ackthin_sched *q, const struct sk_buff *skb)
{
	struct ackthin_config *c = &q->config;

	if (!q->probe)
		return;
	WRITE_ONCE(q->probe->next_hop, ether_addr_to_u64(eth_hdr(skb)->h_dest));
	c->skip = min(READ_ONCE(q->probe->failures) / c->set[TCA_ACKTHIN_STEP], c->set[TCA_ACKTHIN_SKIP_MAX]);
}

static u8 decide(struct Qdisc *sch, struct flow *flow, const struct ackthin_segment *s, const struct sk_buff *skb)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	u8 why = s->why;

	if (s->why > ACKTHIN_CONTROL)
		q->stats.acks++;
	if (!flow)
		return why == ACKTHIN_HOLD ? ACKTHIN_FIRST : why;
	if (s->why > ACKTHIN_CONTROL) {
		flow->acks++;
		consult_probe(q, skb);
	}
	return ackthin_decide(&q->config, &flow->state, s, ktime_get_ns());
}

static int ackthin_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	enum ackthin_reason why = ACKTHIN_OTHER;
	struct ackthin_segment s;
	struct flow *flow = NULL;
	struct sk_buff *old;
	int result;

	if (unlikely(sch->q.qlen >= sch->limit))
		return qdisc_drop(skb, sch, to_free);
	if (read_segment(skb, &s)) {
		flow = find_flow(sch, &s);
		why = decide(sch, flow, &s, skb);
	}
	if (why == ACKTHIN_HOLD)
		return hold(sch, flow, skb);
	q->stats.passed[why]++;
	old = flow ? flow->held : NULL;
	if (old && why != ACKTHIN_GROUP) {
		release(sch, flow, ACKTHIN_FLUSHED);
		old = NULL;
	}
	result = qdisc_enqueue_tail(skb, sch);
	if (old) {
		flow->held = NULL;
		list_del_init(&flow->waiting);
		thin(sch, flow, old);
	}
	return result;
}

static struct sk_buff *ackthin_dequeue(struct Qdisc *sch)
{
	struct ackthin_sched *q = qdisc_priv(sch);

	if (q->next != NEVER) {
		u64 now = ktime_get_ns();

		if (now >= q->next)
			expire(sch, now);
	}
	return qdisc_dequeue_head(sch);
}

static void ackthin_reset(struct Qdisc *sch)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct flow *flow, *next;

	qdisc_watchdog_cancel(&q->watchdog);
	q->next = NEVER;
	list_for_each_entry_safe(flow, next, &q->flows, age)
		forget(q, flow);
	qdisc_reset_queue(sch);
}

/* --- Configuration --- */

static struct netlink_range_validation any_time = { .max = 10 * USEC_PER_SEC };
static struct netlink_range_validation interval = { .min = USEC_PER_MSEC, .max = 60 * USEC_PER_SEC };
static struct netlink_range_validation positive = { .min = 1, .max = U32_MAX };

static const struct nla_policy attributes[TCA_ACKTHIN_MAX + 1] = {
	[TCA_ACKTHIN_POLICY] = NLA_POLICY_MAX(NLA_U32, ACKTHIN_DYNAMIC),
	[TCA_ACKTHIN_LIMIT] = NLA_POLICY_FULL_RANGE(NLA_U32, &positive),
	[TCA_ACKTHIN_COUNT] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[TCA_ACKTHIN_SKIP] = NLA_POLICY_MAX(NLA_U32, 255),
	[TCA_ACKTHIN_START] = { .type = NLA_U32 },
	[TCA_ACKTHIN_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &any_time),
	[TCA_ACKTHIN_GRANULARITY] = NLA_POLICY_FULL_RANGE(NLA_U32, &any_time),
	[TCA_ACKTHIN_DWIN_MIN] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[TCA_ACKTHIN_DWIN_MAX] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[TCA_ACKTHIN_ALPHA] = NLA_POLICY_MAX(NLA_U32, ACKTHIN_ONE - 1),
	[TCA_ACKTHIN_KAPPA] = NLA_POLICY_MAX(NLA_U32, 10 * ACKTHIN_ONE),
	[TCA_ACKTHIN_MU] = NLA_POLICY_RANGE(NLA_U32, 1, ACKTHIN_ONE),
	[TCA_ACKTHIN_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &interval),
	[TCA_ACKTHIN_STEP] = NLA_POLICY_RANGE(NLA_U32, 1, 10 * ACKTHIN_ONE),
	[TCA_ACKTHIN_SKIP_MAX] = NLA_POLICY_MAX(NLA_U32, 255),
};

static const struct ackthin_config defaults = {
	.set = {
		[TCA_ACKTHIN_POLICY] = ACKTHIN_DELAYED,
		[TCA_ACKTHIN_LIMIT] = 1000, /* of a device that has no length of its own */
		[TCA_ACKTHIN_COUNT] = 2,
		[TCA_ACKTHIN_SKIP] = 1,
		[TCA_ACKTHIN_START] = 50,
		[TCA_ACKTHIN_TIMEOUT] = 100 * USEC_PER_MSEC,
		[TCA_ACKTHIN_DWIN_MIN] = 2,
		[TCA_ACKTHIN_DWIN_MAX] = 4,
		[TCA_ACKTHIN_ALPHA] = 750,
		[TCA_ACKTHIN_KAPPA] = 200,
		[TCA_ACKTHIN_MU] = 300,
		[TCA_ACKTHIN_INTERVAL] = 100 * USEC_PER_MSEC,
		[TCA_ACKTHIN_STEP] = 100,
		[TCA_ACKTHIN_SKIP_MAX] = 3,
	},
};

static int validate(const struct ackthin_config *c, const struct net_device *dev, struct netlink_ext_ack *extack)
{
	u32 policy = c->set[TCA_ACKTHIN_POLICY];

	if (c->set[TCA_ACKTHIN_DWIN_MIN] > c->set[TCA_ACKTHIN_DWIN_MAX]) {
		NL_SET_ERR_MSG_MOD(extack, "dwin_min must not be above dwin_max");
		return -EINVAL;
	}
	if ((policy == ACKTHIN_DELAYED || policy == ACKTHIN_DYNAMIC) && !c->set[TCA_ACKTHIN_TIMEOUT]) {
		NL_SET_ERR_MSG_MOD(extack, "delayed and dynamic need a timeout: without one, a flow's last ACK would never leave");
		return -EINVAL;
	}
	if (policy == ACKTHIN_DYNAMIC && !has_mac_counters(dev))
		NL_SET_ERR_MSG_MOD(extack, "this is no wireless device of cfg80211's: nothing is skipped");
	return 0;
}

static int ackthin_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_ACKTHIN_MAX + 1] = {};
	struct ackthin_config c = { };
	struct probe *probe = NULL;
	int i, err;

	if (opt) {
		err = nla_parse(tb, TCA_ACKTHIN_MAX, nla_data(opt), nla_len(opt), attributes, extack);
		if (err)
			return err;
	}
	for (i = 1; i <= TCA_ACKTHIN_MAX; i++)
		c.set[i] = tb[i] ? nla_get_u32(tb[i]) : q->config.set[i];
	err = validate(&c, qdisc_dev(sch), extack);
	if (err)
		return err;
	if (c.set[TCA_ACKTHIN_POLICY] == ACKTHIN_DYNAMIC && has_mac_counters(qdisc_dev(sch))) {
		probe = probe_start(qdisc_dev(sch), &c);
		if (!probe)
			return -ENOMEM;
	}
	sch_tree_lock(sch);
	q->config = c;
	sch->limit = c.set[TCA_ACKTHIN_LIMIT];
	swap(q->probe, probe);
	if (!list_empty(&q->waiting)) {
		release_all(sch);
		qdisc_watchdog_schedule_ns(&q->watchdog, ktime_get_ns()); /* which has the queue emptied */
	}
	sch_tree_unlock(sch);
	probe_stop(probe);
	return 0;
}

static int ackthin_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct net_device *dev = qdisc_dev(sch);
	struct ackthin_net *net = net_generic(dev_net(dev), ackthin_net_id);
	struct ackthin_sched *q = qdisc_priv(sch);

	q->sch = sch;
	q->config = defaults;
	if (dev->tx_queue_len)
		q->config.set[TCA_ACKTHIN_LIMIT] = dev->tx_queue_len;
	q->next = NEVER;
	q->perturbation = get_random_u32();
	INIT_LIST_HEAD(&q->flows);
	INIT_LIST_HEAD(&q->waiting);
	qdisc_watchdog_init(&q->watchdog, sch);
	list_add_tail(&q->same_net, &net->queues);
	return ackthin_change(sch, opt, extack);
}

/* Called after a failed init, too. */
static void ackthin_destroy(struct Qdisc *sch)
{
	struct ackthin_sched *q = qdisc_priv(sch);

	ackthin_reset(sch);
	list_del(&q->same_net);
	probe_stop(q->probe);
}

static int ackthin_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct ackthin_sched *q = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= TCA_ACKTHIN_MAX; i++) {
		if (nla_put_u32(skb, i, q->config.set[i])) {
			nla_nest_cancel(skb, nest);
			return -EMSGSIZE;
		}
	}
	return nla_nest_end(skb, nest);
}

static int ackthin_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct tc_ackthin_xstats stats;
	const struct flow *flow;

	sch_tree_lock(sch);
	stats = q->stats;
	list_for_each_entry(flow, &q->waiting, waiting)
		stats.held++;
	flow = list_first_entry_or_null(&q->flows, struct flow, age);
	if (flow && ackthin_is_daa(&q->config))
		stats.dwin = flow->state.dwin;
	stats.skip = q->config.skip;
	if (q->probe) {
		stats.failures = READ_ONCE(q->probe->failures);
		stats.samples = READ_ONCE(q->probe->samples);
	}
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &stats, sizeof(stats));
}

static struct Qdisc_ops ackthin_ops = {
	.id = "ackthin",
	.priv_size = sizeof(struct ackthin_sched),
	.enqueue = ackthin_enqueue,
	.dequeue = ackthin_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = ackthin_init,
	.reset = ackthin_reset,
	.destroy = ackthin_destroy,
	.change = ackthin_change,
	.dump = ackthin_dump,
	.dump_stats = ackthin_dump_stats,
	.owner = THIS_MODULE,
};

/* --- /proc/net/ackthin: the flows --- */

static void show_end(struct seq_file *m, const struct ackthin_key *key, int end)
{
	u16 port = ackthin_be16(key->ports + 2 * end);

	if (key->version == 4)
		seq_printf(m, " %pI4:%u", key->addresses + 4 * end, port);
	else
		seq_printf(m, " [%pI6c]:%u", key->addresses + 16 * end, port);
}

static void show_flow(struct seq_file *m, const struct flow *flow)
{
	show_end(m, &flow->key, 0);
	show_end(m, &flow->key, 1);
	seq_printf(m, " %llu %llu %llu %u %llu %u %llu\n", flow->acks, flow->acks - flow->thinned - !!flow->held,
		   flow->thinned, !!flow->held, flow->timers, flow->state.dwin, flow->state.mean);
}

static int ackthin_show(struct seq_file *m, void *v)
{
	const struct ackthin_net *net = net_generic(seq_file_single_net(m), ackthin_net_id);
	const struct ackthin_sched *q;
	const struct flow *flow;

	seq_puts(m, "device source destination acks passed thinned held timers dwin_milli interval_ns\n");
	rtnl_lock();
	list_for_each_entry(q, &net->queues, same_net) {
		sch_tree_lock(q->sch);
		list_for_each_entry(flow, &q->flows, age) {
			seq_puts(m, qdisc_dev(q->sch)->name);
			show_flow(m, flow);
		}
		sch_tree_unlock(q->sch);
	}
	rtnl_unlock();
	return 0;
}

static int __net_init ackthin_net_init(struct net *net)
{
	struct ackthin_net *own = net_generic(net, ackthin_net_id);

	INIT_LIST_HEAD(&own->queues);
	return proc_create_net_single("ackthin", 0444, net->proc_net, ackthin_show, NULL) ? 0 : -ENOMEM;
}

static void __net_exit ackthin_net_exit(struct net *net)
{
	remove_proc_entry("ackthin", net->proc_net);
}

static struct pernet_operations ackthin_net_ops = {
	.init = ackthin_net_init,
	.exit = ackthin_net_exit,
	.id = &ackthin_net_id,
	.size = sizeof(struct ackthin_net),
};

static int __init ackthin_module_init(void)
{
	int err;

	probes = alloc_workqueue("ackthin", 0, 0);
	if (!probes)
		return -ENOMEM;
	err = register_pernet_subsys(&ackthin_net_ops);
	if (err)
		goto no_net;
	err = register_qdisc(&ackthin_ops);
	if (err)
		goto no_qdisc;
	return 0;

no_qdisc:
	unregister_pernet_subsys(&ackthin_net_ops);
no_net:
	destroy_workqueue(probes);
	return err;
}

static void __exit ackthin_module_exit(void)
{
	unregister_qdisc(&ackthin_ops);
	unregister_pernet_subsys(&ackthin_net_ops);
	destroy_workqueue(probes); /* waits for what was stopped while it ran */
}

module_init(ackthin_module_init);
module_exit(ackthin_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("ACK thinning: holds pure TCP ACKs and sends the newest (policies plain, delayed, skip, daa, dynamic)");
#ifdef MODULE_ALIAS_NET_SCH
MODULE_ALIAS_NET_SCH("ackthin");
#endif
