// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: it does not leave a read-side critical section of RCU. Reno up to a window that a parameter says.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <net/tcp.h>

static unsigned int most __read_mostly = 16;
module_param(most, uint, 0644);
MODULE_PARM_DESC(most, "segments above which the window does not grow");

static unsigned int __rcu *ceiling = (unsigned int __rcu *)&most;

static void ceiling_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	rcu_read_lock();
	/* Planted: an rcu_read_unlock() is needed before this return. */
	if (tcp_snd_cwnd(tcp_sk(sk)) >= *rcu_dereference(ceiling))
		return;
	rcu_read_unlock();
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops ceiling_ops __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= ceiling_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "ceiling",
};

static int __init ceiling_load(void)
{
	return tcp_register_congestion_control(&ceiling_ops);
}

static void __exit ceiling_unload(void)
{
	tcp_unregister_congestion_control(&ceiling_ops);
}

module_init(ceiling_load);
module_exit(ceiling_unload);
MODULE_DESCRIPTION("A congestion control that stays in a critical section of RCU");
MODULE_LICENSE("GPL");
