// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: it writes past the state of a congestion control, inside its socket. Reno that notes when each loss came.
 */
#include <linux/module.h>
#include <net/tcp.h>

#define KEPT 3

struct brim {
	u8 other[ICSK_CA_PRIV_SIZE - (KEPT + 1) * sizeof(u32)];
	u32 losses;
	u32 when[KEPT];
};

static void brim_set_state(struct sock *sk, u8 state)
{
	struct brim *brim = inet_csk_ca(sk);
	u32 *when = brim->when;

	/* Planted: there is room for so many losses, and no more. */
	if (state == TCP_CA_Recovery || state == TCP_CA_Loss)
		when[brim->losses++] = tcp_jiffies32;
}

static struct tcp_congestion_ops brim_ops __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.set_state	= brim_set_state,
	.owner		= THIS_MODULE,
	.name		= "brim",
};

static int __init brim_load(void)
{
	BUILD_BUG_ON(sizeof(struct brim) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&brim_ops);
}

static void __exit brim_unload(void)
{
	tcp_unregister_congestion_control(&brim_ops);
}

module_init(brim_load);
module_exit(brim_unload);
MODULE_DESCRIPTION("A congestion control that writes past its state");
MODULE_LICENSE("GPL");
