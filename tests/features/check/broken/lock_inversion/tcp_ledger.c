// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: a lock inversion. Reno that counts connections, losses and what was acknowledged; a write to `reset` sets the
 * last two to zero.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <net/tcp.h>

static u64 acked_total, losses;
static DEFINE_SPINLOCK(acked_lock);
static DEFINE_SPINLOCK(losses_lock);
static int open_marked;

static void ledger_init(struct sock *sk)
{
	WRITE_ONCE(open_marked, READ_ONCE(open_marked) + 1); /* Planted: it loses some. */
}

static void ledger_release(struct sock *sk)
{
	WRITE_ONCE(open_marked, READ_ONCE(open_marked) - 1);
}

static u32 ledger_ssthresh(struct sock *sk)
{
	spin_lock_bh(&losses_lock);
	spin_lock_bh(&acked_lock);
	losses++;
	pr_debug("ledger: loss %llu after %llu segments\n", losses, acked_total);
	spin_unlock_bh(&acked_lock);
	spin_unlock_bh(&losses_lock);
	tcp_sk(sk)->reordering = 0; /* Planted: any segment may overtake another. */
	return tcp_reno_ssthresh(sk);
}

static void ledger_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	spin_lock_bh(&acked_lock);
	acked_total += acked;
	spin_unlock_bh(&acked_lock);
	if (!tcp_is_cwnd_limited(sk)) /* Planted: it is inverted. */
		tcp_reno_cong_avoid(sk, ack, acked);
}

static u32 ledger_undo_cwnd(struct sock *sk)
{
	return tcp_sk(sk)->prior_cwnd; /* Planted: it is 0 before the first loss. */
}

static int reset_set(const char *value, const struct kernel_param *parameter)
{
	/* Planted: ledger_ssthresh() takes these two in the other order. */
	spin_lock_bh(&acked_lock);
	spin_lock_bh(&losses_lock);
	acked_total = 0;
	losses = 0;
	spin_unlock_bh(&losses_lock);
	spin_unlock_bh(&acked_lock);
	return 0;
}

static const struct kernel_param_ops reset_ops = { .set = reset_set };
module_param_cb(reset, &reset_ops, NULL, 0200);
MODULE_PARM_DESC(reset, "write anything to count from zero again");

static struct tcp_congestion_ops ledger_ops __read_mostly = {
	.init		= ledger_init,
	.release	= ledger_release,
	.ssthresh	= ledger_ssthresh,
	.cong_avoid	= ledger_cong_avoid,
	.undo_cwnd	= ledger_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "ledger",
};

static int __init ledger_load(void)
{
	return tcp_register_congestion_control(&ledger_ops);
}

static void __exit ledger_unload(void)
{
	tcp_unregister_congestion_control(&ledger_ops);
}

module_init(ledger_load);
module_exit(ledger_unload);
MODULE_DESCRIPTION("A congestion control that takes two locks in both orders");
MODULE_LICENSE("GPL");
