// SPDX-License-Identifier: GPL-2.0-only
/*
 * plain_reno: Reno as ns-2's Agent/TCP/Reno has it, for a sender without SACK.
 *
 * Reno leaves fast recovery with the first new ACK (RFC 2581). NewReno stays in
 * it until all that was outstanding is acknowledged, and so does Linux. Here a
 * partial ACK moves the end of the recovery to just before itself. So the
 * kernel ends the recovery with this ACK: the window is the threshold. A
 * second loss of the same window needs three more duplicate ACKs, or the timer.
 *
 * Windows are Reno's, and all else is the kernel's (docs/like-ns2.md).
 */

#include <linux/module.h>
#include <net/tcp.h>

/* The kernel calls this after it has advanced snd_una, and before it looks at its state. */
static void plain_reno_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery && sample->pkts_acked > 0 &&
	    before(tp->snd_una, tp->high_seq))
		tp->high_seq = tp->snd_una - 1; /* at snd_una a flow without SACK would wait for one more ACK */
}

static struct tcp_congestion_ops plain_reno_ops __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.pkts_acked	= plain_reno_pkts_acked,
	.owner		= THIS_MODULE,
	.name		= "plain_reno",
};

static int __init plain_reno_register(void)
{
	return tcp_register_congestion_control(&plain_reno_ops);
}

static void __exit plain_reno_unregister(void)
{
	tcp_unregister_congestion_control(&plain_reno_ops);
}

module_init(plain_reno_register);
module_exit(plain_reno_unregister);

MODULE_DESCRIPTION("TCP plain_reno: recovery ends with the first new ACK");
MODULE_LICENSE("GPL");
