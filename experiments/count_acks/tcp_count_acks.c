// SPDX-License-Identifier: GPL-2.0-only
/*
 * count_acks: NewReno whose window grows by ACKs, as in ns-2 and RFC 2581, and not by the segments that they
 * acknowledge. Linux counts segments (RFC 3465), so a receiver that delays its ACKs does not slow its window.
 *
 * Each ACK of new data counts as one of one segment: in slow start it adds a segment to the window, and in congestion
 * avoidance 1/window. All else is the kernel's (docs/like-ns2.md).
 */

#include <linux/module.h>
#include <net/tcp.h>

static void count_acks_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, min(acked, 1U));
}

static struct tcp_congestion_ops count_acks_ops __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= count_acks_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "count_acks",
};

static int __init count_acks_register(void)
{
	return tcp_register_congestion_control(&count_acks_ops);
}

static void __exit count_acks_unregister(void)
{
	tcp_unregister_congestion_control(&count_acks_ops);
}

module_init(count_acks_register);
module_exit(count_acks_unregister);

MODULE_DESCRIPTION("TCP count_acks: the window grows by ACKs, not by segments");
MODULE_LICENSE("GPL");
