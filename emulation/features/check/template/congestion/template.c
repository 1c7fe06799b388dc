// SPDX-License-Identifier: GPL-2.0-only
/*
 * template: a TCP congestion control.
 *
 * It is Reno (RFC 5681), ready to be changed: look for CHANGE. The kernel detects and repairs losses itself. It calls
 * a congestion control to grow the window (cong_avoid), for the threshold after a loss (ssthresh), and for the window
 * if there was no loss after all (undo_cwnd). include/net/tcp.h has further callbacks.
 *
 * All run in softirq context, with the socket locked: nothing here may sleep, and allocations need GFP_ATOMIC.
 */

#include <linux/module.h>
#include <net/tcp.h>

#define MOST 1000

static unsigned int slowdown __read_mostly = 1;
module_param(slowdown, uint, 0644);
MODULE_PARM_DESC(slowdown, "how many round trips the window takes to grow by one segment, 1 to 1000 (1: Reno)");

/* State of a connection: at most ICSK_CA_PRIV_SIZE bytes, in the socket. */
struct template_state {
	u32 losses;
};

static void template_init(struct sock *sk)
{
	struct template_state *ca = inet_csk_ca(sk);

	ca->losses = 0;
}

/* CHANGE how far the window falls after a loss. Never below two segments. */
static u32 template_ssthresh(struct sock *sk)
{
	struct template_state *ca = inet_csk_ca(sk);

	ca->losses++;
	return max(tcp_snd_cwnd(tcp_sk(sk)) >> 1U, 2U);
}

/* `acked` segments have been newly acknowledged. */
static void template_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	/* A window that is not used up says nothing about the path. */
	if (!tcp_is_cwnd_limited(sk))
		return;

	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}

	/*
	 * CHANGE how fast the window grows: by one segment per this many acknowledged segments; for Reno, that is the
	 * window itself. A parameter may change at any time: read it once, and clamp it to its range.
	 */
	tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp) * clamp_t(u32, READ_ONCE(slowdown), 1, MOST), acked);
}

/* The owner keeps the module loaded while a connection uses it. */
static struct tcp_congestion_ops template_ops __read_mostly = {
	.init		= template_init,
	.ssthresh	= template_ssthresh,
	.cong_avoid	= template_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "template",
};

static int __init template_register(void)
{
	BUILD_BUG_ON(sizeof(struct template_state) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&template_ops);
}

static void __exit template_unregister(void)
{
	tcp_unregister_congestion_control(&template_ops);
}

module_init(template_register);
module_exit(template_unregister);

MODULE_DESCRIPTION("TCP template: Reno, ready to be changed");
MODULE_LICENSE("GPL");
