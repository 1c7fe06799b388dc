// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: a threshold that underflows. Reno that takes ten segments off the window after a loss, not half of it.
 */
#include <linux/module.h>
#include <net/tcp.h>

#define STEP 10

static u32 abrupt_ssthresh(struct sock *sk)
{
	/* Planted: a window below STEP gives a number near 2^32, which max() does not notice. */
	return max(tcp_snd_cwnd(tcp_sk(sk)) - STEP, 2U);
}

static struct tcp_congestion_ops abrupt_ops __read_mostly = {
	.ssthresh	= abrupt_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "abrupt",
};

static int __init abrupt_load(void)
{
	return tcp_register_congestion_control(&abrupt_ops);
}

static void __exit abrupt_unload(void)
{
	tcp_unregister_congestion_control(&abrupt_ops);
}

module_init(abrupt_load);
module_exit(abrupt_unload);
MODULE_DESCRIPTION("A congestion control whose threshold underflows");
MODULE_LICENSE("GPL");
