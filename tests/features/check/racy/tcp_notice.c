// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reno with a notice that all connections read and that each loss replaces. Planted: the old one is freed without a
 * grace period, unless GUARDED.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/tcp.h>

#ifndef NAME
#define NAME "notice"
#endif

struct notice {
	struct rcu_head rcu;
	const char *author;
	u32 seen;
};

static struct notice __rcu *notice;

static u32 notice_ssthresh(struct sock *sk)
{
	struct notice *new = kzalloc(sizeof(*new), GFP_ATOMIC), *old;

	if (new) {
		new->author = NAME;
		old = unrcu_pointer(xchg(&notice, RCU_INITIALIZER(new)));
#ifdef GUARDED
		if (old)
			kfree_rcu(old, rcu);
#else
		kfree(old);
#endif
	}
	return tcp_reno_ssthresh(sk);
}

static void notice_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct notice *now;

	rcu_read_lock();
	now = rcu_dereference(notice);
	if (now && *READ_ONCE(now->author) == NAME[0])
		WRITE_ONCE(now->seen, READ_ONCE(now->seen) + 1);
	rcu_read_unlock();
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops notice_ops __read_mostly = {
	.ssthresh	= notice_ssthresh,
	.cong_avoid	= notice_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= NAME,
};

static int __init notice_load(void)
{
	return tcp_register_congestion_control(&notice_ops);
}

static void __exit notice_unload(void)
{
	tcp_unregister_congestion_control(&notice_ops);
	kfree(unrcu_pointer(xchg(&notice, NULL)));
}

module_init(notice_load);
module_exit(notice_unload);
MODULE_DESCRIPTION("A congestion control with a shared notice");
MODULE_LICENSE("GPL");
