// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: memory is freed, and a list ends, while readers may have it. Reno with three lists of all connections that are read under RCU.
 */
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <net/tcp.h>

struct guest {
	struct list_head list;
	struct rcu_head rcu;
	u32 window;
};

struct connection {
	struct guest *sound, *broken, *ended;
};

static LIST_HEAD(sound);
static LIST_HEAD(broken);
static LIST_HEAD(ended);
static DEFINE_SPINLOCK(lock);

static struct guest *arrive(struct list_head *list)
{
	struct guest *guest = kzalloc(sizeof(*guest), GFP_ATOMIC);

	if (!guest)
		return NULL;
	spin_lock_bh(&lock);
	list_add_rcu(&guest->list, list);
	spin_unlock_bh(&lock);
	return guest;
}

static void leave(struct guest *guest)
{
	spin_lock_bh(&lock);
	list_del_rcu(&guest->list);
	spin_unlock_bh(&lock);
}

static noinline void part(struct guest *guest)
{
	spin_lock_bh(&lock);
	list_del(&guest->list); /* Planted: list_del_rcu(). */
	spin_unlock_bh(&lock);
}

static u32 largest(struct list_head *list)
{
	struct guest *guest;
	u32 window = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(guest, list, list)
		window = max(window, READ_ONCE(guest->window));
	rcu_read_unlock();
	return window;
}

static void guests_init(struct sock *sk)
{
	struct connection *connection = inet_csk_ca(sk);

	connection->sound = arrive(&sound);
	connection->broken = arrive(&broken);
	connection->ended = arrive(&ended);
}

static void guests_release(struct sock *sk)
{
	struct connection *connection = inet_csk_ca(sk);

	if (connection->sound) {
		leave(connection->sound);
		kfree_rcu(connection->sound, rcu);
	}
	if (connection->broken) {
		leave(connection->broken);
		kfree(connection->broken); /* Planted: kfree_rcu(). */
	}
	if (connection->ended) {
		part(connection->ended);
		kfree_rcu(connection->ended, rcu);
	}
}

static void guests_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct connection *connection = inet_csk_ca(sk);
	u32 window = max3(largest(&sound), largest(&broken), largest(&ended));

	if (connection->sound)
		WRITE_ONCE(connection->sound->window, min(window + 1, tcp_snd_cwnd(tcp_sk(sk))));
}

static struct tcp_congestion_ops guests_ops __read_mostly = {
	.init		= guests_init,
	.release	= guests_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.pkts_acked	= guests_acked,
	.owner		= THIS_MODULE,
	.name		= "guests",
};

static int __init guests_load(void)
{
	BUILD_BUG_ON(sizeof(struct connection) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&guests_ops);
}

static void __exit guests_unload(void)
{
	tcp_unregister_congestion_control(&guests_ops);
}

module_init(guests_load);
module_exit(guests_unload);
MODULE_DESCRIPTION("A congestion control that frees memory without a grace period");
MODULE_LICENSE("GPL");
