// SPDX-License-Identifier: GPL-2.0-only
/*
 * mine: a TCP congestion control of your own. As it stands it is Reno (RFC 5681): look for CHANGE.
 *
 * The kernel finds and repairs losses by itself. It calls a congestion control to grow the window (cong_avoid),
 * for the threshold after a loss (ssthresh), and for the window if there was no loss after all (undo_cwnd).
 * include/net/tcp.h has further callbacks: pkts_acked is called for each measured round trip.
 *
 * Useful: tcp_snd_cwnd(tp) and tcp_snd_cwnd_set(tp, n), the window in segments; tp->snd_cwnd_clamp, which it never
 * exceeds; tp->srtt_us >> 3, the smoothed round trip in us; tcp_min_rtt(tp), the shortest one seen, in us.
 *
 * All callbacks run with the socket locked: they must not sleep.
 */

#include <linux/module.h>
#include <net/tcp.h>

/* A connection begins. CHANGE its first window: by default 10 segments, without a limit. */
static void mine_init(struct sock *sk)
{
}

/* CHANGE how far the window falls after a loss. Never below two segments. */
static u32 mine_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) >> 1U, 2U);
}

/* `acked` segments have been newly acknowledged. CHANGE how the window grows, and where it stops. */
static void mine_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;

	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

static struct tcp_congestion_ops mine_ops __read_mostly = {
	.init		= mine_init,
	.ssthresh	= mine_ssthresh,
	.cong_avoid	= mine_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "mine",
};

static int __init mine_register(void)
{
	return tcp_register_congestion_control(&mine_ops);
}

static void __exit mine_unregister(void)
{
	tcp_unregister_congestion_control(&mine_ops);
}

module_init(mine_register);
module_exit(mine_unregister);

MODULE_DESCRIPTION("TCP mine: Reno, to be changed");
MODULE_LICENSE("GPL");
