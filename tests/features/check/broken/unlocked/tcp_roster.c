// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: data races. Reno that keeps two lists of all connections and counts them in several ways. One list is changed
 * without its lock, and one counter loses increments.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <net/tcp.h>

struct entry {
	struct list_head sound, broken;
	u64 acked;
};

struct roster {
	struct entry *entry;
};

static LIST_HEAD(sound);
static LIST_HEAD(broken);
static DEFINE_SPINLOCK(lock);

static atomic_t opened = ATOMIC_INIT(0);
static DEFINE_PER_CPU(u32, opened_here);
static u32 opened_locked;
static u32 opened_broken;
static u32 opened_marked;

static void roster_init(struct sock *sk)
{
	struct roster *roster = inet_csk_ca(sk);

	pr_info_once("opened\n");
	atomic_inc(&opened);
	this_cpu_inc(opened_here);
	opened_broken++; /* Planted: on another CPU another connection is opened. */
	WRITE_ONCE(opened_marked, opened_marked + 1); /* Planted: this loses increments, too. */
	roster->entry = kzalloc(sizeof(*roster->entry), GFP_ATOMIC);
	if (!roster->entry)
		return;
	spin_lock_bh(&lock);
	opened_locked++;
	list_add(&roster->entry->sound, &sound);
	list_add(&roster->entry->broken, &broken);
	spin_unlock_bh(&lock);
}

static void roster_release(struct sock *sk)
{
	struct roster *roster = inet_csk_ca(sk);

	if (!roster->entry)
		return;
	spin_lock_bh(&lock);
	list_del(&roster->entry->sound);
	spin_unlock_bh(&lock);
	list_del(&roster->entry->broken); /* Planted: the lock is free again. */
	kfree(roster->entry);
}

static void roster_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct roster *roster = inet_csk_ca(sk);

	if (roster->entry)
		roster->entry->acked += sample->pkts_acked; /* Its own connection's lock is enough. */
}

static struct tcp_congestion_ops roster_ops __read_mostly = {
	.init		= roster_init,
	.release	= roster_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.pkts_acked	= roster_acked,
	.owner		= THIS_MODULE,
	.name		= "roster",
};

static int __init roster_load(void)
{
	BUILD_BUG_ON(sizeof(struct roster) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&roster_ops);
}

static void __exit roster_unload(void)
{
	tcp_unregister_congestion_control(&roster_ops);
	pr_info("roster: %u, %u, %u of %d connections\n", opened_locked, opened_broken, opened_marked, atomic_read(&opened));
}

module_init(roster_load);
module_exit(roster_unload);
MODULE_DESCRIPTION("A congestion control with data races");
MODULE_LICENSE("GPL");
