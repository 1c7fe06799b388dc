// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reno with a list of all its connections. Planted: the list has no lock, unless GUARDED.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

#ifndef NAME
#define NAME "roster"
#endif

struct entry {
	struct list_head all;
	u32 losses;
};

static LIST_HEAD(all);
static __maybe_unused DEFINE_SPINLOCK(all_lock);

static void roster_lock(void)
{
#ifdef GUARDED
	spin_lock_bh(&all_lock);
#endif
}

static void roster_unlock(void)
{
#ifdef GUARDED
	spin_unlock_bh(&all_lock);
#endif
}

static void roster_init(struct sock *sk)
{
	struct entry **ca = inet_csk_ca(sk);

	*ca = kzalloc(sizeof(**ca), GFP_ATOMIC);
	if (!*ca)
		return;
	roster_lock();
	list_add(&(*ca)->all, &all);
	roster_unlock();
}

static u32 roster_ssthresh(struct sock *sk)
{
	struct entry **ca = inet_csk_ca(sk);

	if (*ca)
		(*ca)->losses++;
	return tcp_reno_ssthresh(sk);
}

static void roster_release(struct sock *sk)
{
	struct entry **ca = inet_csk_ca(sk);

	if (!*ca)
		return;
	roster_lock();
	list_del(&(*ca)->all);
	roster_unlock();
	kfree(*ca);
}

static struct tcp_congestion_ops roster_ops __read_mostly = {
	.init		= roster_init,
	.release	= roster_release,
	.ssthresh	= roster_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= NAME,
};

static int __init roster_load(void)
{
	return tcp_register_congestion_control(&roster_ops);
}

static void __exit roster_unload(void)
{
	tcp_unregister_congestion_control(&roster_ops);
}

module_init(roster_load);
module_exit(roster_unload);
MODULE_DESCRIPTION("A congestion control with a list of its connections");
MODULE_LICENSE("GPL");
