// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: the window stays at one segment after a timeout. Reno that does not grow while there are losses.
 */
#include <linux/module.h>
#include <net/tcp.h>

struct meek {
	bool losing;
};

static void meek_init(struct sock *sk)
{
	struct meek *meek = inet_csk_ca(sk);

	meek->losing = false;
}

static void meek_set_state(struct sock *sk, u8 state)
{
	struct meek *meek = inet_csk_ca(sk);

	if (state == TCP_CA_Loss)
		meek->losing = true;
	/* Planted: TCP_CA_Open comes next, and Recovery only after another loss. */
	else if (state == TCP_CA_Recovery)
		meek->losing = false;
}

static void meek_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct meek *meek = inet_csk_ca(sk);

	if (!meek->losing)
		tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops meek_ops __read_mostly = {
	.init		= meek_init,
	.set_state	= meek_set_state,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= meek_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "meek",
};

static int __init meek_load(void)
{
	return tcp_register_congestion_control(&meek_ops);
}

static void __exit meek_unload(void)
{
	tcp_unregister_congestion_control(&meek_ops);
}

module_init(meek_load);
module_exit(meek_unload);
MODULE_DESCRIPTION("A congestion control that does not grow after a timeout");
MODULE_LICENSE("GPL");
