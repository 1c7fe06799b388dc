// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: division by zero. Reno that grows as fast as several connections would, how many says a parameter.
 */
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int divisor __read_mostly = 1;
module_param(divisor, uint, 0644);
MODULE_PARM_DESC(divisor, "grow as fast as this many connections would");

static void ratio_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	/* Planted: the parameter may be set to 0. */
	tcp_cong_avoid_ai(tp, max(tcp_snd_cwnd(tp) / divisor, 1U), acked);
}

static struct tcp_congestion_ops ratio_ops __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= ratio_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "ratio",
};

static int __init ratio_load(void)
{
	return tcp_register_congestion_control(&ratio_ops);
}

static void __exit ratio_unload(void)
{
	tcp_unregister_congestion_control(&ratio_ops);
}

module_init(ratio_load);
module_exit(ratio_unload);
MODULE_DESCRIPTION("A congestion control that divides by zero");
MODULE_LICENSE("GPL");
