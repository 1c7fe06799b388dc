// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: what it handed to call_rcu() may come after it was unloaded. Reno that counts each connection's losses.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

struct heir {
	struct rcu_head rcu;
	u32 losses;
};

static atomic_long_t losses;

static void heir_bury(struct rcu_head *head)
{
	struct heir *heir = container_of(head, struct heir, rcu);

	atomic_long_add(heir->losses, &losses);
	kfree(heir);
}

static void heir_init(struct sock *sk)
{
	struct heir **heir = inet_csk_ca(sk);

	*heir = kzalloc(sizeof(**heir), GFP_ATOMIC);
}

static u32 heir_ssthresh(struct sock *sk)
{
	struct heir **heir = inet_csk_ca(sk);

	if (*heir)
		(*heir)->losses++;
	return tcp_reno_ssthresh(sk);
}

static void heir_release(struct sock *sk)
{
	struct heir **heir = inet_csk_ca(sk);

	if (*heir)
		call_rcu(&(*heir)->rcu, heir_bury);
}

static struct tcp_congestion_ops heir_ops __read_mostly = {
	.init		= heir_init,
	.release	= heir_release,
	.ssthresh	= heir_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "heir",
};

static int __init heir_load(void)
{
	return tcp_register_congestion_control(&heir_ops);
}

static void __exit heir_unload(void)
{
	/* Planted: an rcu_barrier() is needed after this. */
	tcp_unregister_congestion_control(&heir_ops);
}

module_init(heir_load);
module_exit(heir_unload);
MODULE_DESCRIPTION("A congestion control whose callbacks outlive it");
MODULE_LICENSE("GPL");
