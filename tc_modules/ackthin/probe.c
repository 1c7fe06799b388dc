// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of the MAC towards the station that the ACKs go to: the more attempts
 * fail, the more ACKs the policy dynamic skips. cfg80211 may sleep and takes the
 * wiphy's lock, under which an interface, and so its queue, may be removed. So
 * the work that reads the counters exists independently, and no other code waits
 * for it.
 */
#include <linux/etherdevice.h>
#include <net/cfg80211.h>

#include "sched.h"

struct probe {
	struct delayed_work work;
	struct net_device *dev;
	netdevice_tracker tracker;
	spinlock_t lock; /* guards stopped, against the work that arms itself again */
	bool stopped;
	u32 interval_us, alpha;
	u64 next_hop, asked; /* MAC addresses: of the last ACK, of the counters below */
	u32 frames, failed;
	u32 failures, samples; /* as in tc_ackthin_xstats */
};

static struct workqueue_struct *probes;

#if IS_REACHABLE(CONFIG_CFG80211)
bool probe_can(const struct net_device *dev)
{
	return dev->ieee80211_ptr;
}

/* The failed attempts: a frame that is given up fails once more than it is retried. */
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
	if (p->asked != next_hop) { /* another station has other counters */
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
bool probe_can(const struct net_device *dev)
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

struct probe *probe_start(struct net_device *dev, const struct ackthin_config *c)
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

void probe_stop(struct probe *p)
{
	bool idle;

	if (!p)
		return;
	spin_lock(&p->lock);
	p->stopped = true;
	idle = cancel_delayed_work(&p->work);
	spin_unlock(&p->lock);
	if (idle) /* otherwise it runs, and sees that it is stopped */
		probe_free(p);
}

u32 probe_failures(struct probe *p, u64 next_hop)
{
	WRITE_ONCE(p->next_hop, next_hop);
	return READ_ONCE(p->failures);
}

void probe_show(const struct probe *p, struct tc_ackthin_xstats *stats)
{
	stats->failures = READ_ONCE(p->failures);
	stats->samples = READ_ONCE(p->samples);
}

int probes_init(void)
{
	probes = alloc_workqueue("ackthin", 0, 0);
	return probes ? 0 : -ENOMEM;
}

void probes_exit(void)
{
	destroy_workqueue(probes); /* wait for work that was stopped while it ran */
}
