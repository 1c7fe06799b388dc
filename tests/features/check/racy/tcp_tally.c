// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reno that counts its connections. Planted: the counter is not atomic. The kernel does not notice a lost increment.
 */
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int open;
module_param(open, uint, 0444);
MODULE_PARM_DESC(open, "connections");

static void tally_init(struct sock *sk)
{
	open++;
}

static void tally_release(struct sock *sk)
{
	open--;
}

static struct tcp_congestion_ops tally_ops __read_mostly = {
	.init		= tally_init,
	.release	= tally_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "tally",
};

static int __init tally_load(void)
{
	return tcp_register_congestion_control(&tally_ops);
}

static void __exit tally_unload(void)
{
	tcp_unregister_congestion_control(&tally_ops);
}

module_init(tally_load);
module_exit(tally_unload);
MODULE_DESCRIPTION("A congestion control with a plain counter");
MODULE_LICENSE("GPL");
