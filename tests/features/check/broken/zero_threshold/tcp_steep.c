// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: a threshold of 0. Reno that gives up, after a loss, what it has in queues (as Westwood, but by RTTs).
 * And pages that are leaked each time it is loaded, which kmemleak does not see.
 */
#include <linux/gfp.h>
#include <linux/module.h>
#include <net/tcp.h>

static u32 steep_ssthresh(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = max(tp->srtt_us >> 3, 1U);

	/* Planted: this ratio is 0; the product comes first, and 2 is the least (RFC 5681, section 3.1). */
	return tcp_min_rtt(tp) / rtt_us * tcp_snd_cwnd(tp);
}

static struct tcp_congestion_ops steep_ops __read_mostly = {
	.ssthresh	= steep_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "steep",
};

static unsigned long table; /* of ratios, to come */

static int __init steep_load(void)
{
	table = __get_free_pages(GFP_KERNEL, 2); /* Planted: they are not freed. */
	return tcp_register_congestion_control(&steep_ops);
}

static void __exit steep_unload(void)
{
	tcp_unregister_congestion_control(&steep_ops);
}

module_init(steep_load);
module_exit(steep_unload);
MODULE_DESCRIPTION("A congestion control with a threshold of 0");
MODULE_LICENSE("GPL");
