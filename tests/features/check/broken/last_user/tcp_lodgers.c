// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: a reader takes an object whose last user may have gone, and another is published before it is filled. Reno
 * whose connections share what is known of a peer, in two lists; one is right.
 */
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <net/tcp.h>

struct lodging {
	struct list_head list;
	struct rcu_head rcu;
	refcount_t users;
	__be32 peer;
};

struct rules {
	u32 least, most;
};

struct lodger {
	struct lodging *sound, *broken;
};

static LIST_HEAD(sound);
static LIST_HEAD(broken);
static DEFINE_SPINLOCK(lock);
static struct rules *rules, *sound_rules;

static bool take(struct lodging *lodging, const struct list_head *list)
{
	if (list == &sound)
		return refcount_inc_not_zero(&lodging->users);
	refcount_inc(&lodging->users); /* Planted: refcount_inc_not_zero(). */
	return true;
}

static struct lodging *move_in(struct list_head *list, __be32 peer)
{
	struct lodging *lodging;

	rcu_read_lock();
	list_for_each_entry_rcu(lodging, list, list)
		if (lodging->peer == peer && take(lodging, list)) {
			rcu_read_unlock();
			return lodging;
		}
	rcu_read_unlock();
	lodging = kzalloc(sizeof(*lodging), GFP_ATOMIC);
	if (!lodging)
		return NULL;
	refcount_set(&lodging->users, 1);
	lodging->peer = peer;
	spin_lock_bh(&lock);
	list_add_rcu(&lodging->list, list);
	spin_unlock_bh(&lock);
	return lodging;
}

static void move_out(struct lodging *lodging)
{
	if (!lodging || !refcount_dec_and_test(&lodging->users))
		return;
	spin_lock_bh(&lock);
	list_del_rcu(&lodging->list);
	spin_unlock_bh(&lock);
	kfree_rcu(lodging, rcu);
}

static void agree(struct rules **at, bool late)
{
	struct rules *new = kzalloc(sizeof(*new), GFP_ATOMIC);

	if (!new)
		return;
	if (!late)
		new->least = 2;
	if (cmpxchg(at, NULL, new)) {
		kfree(new);
		return;
	}
	if (late)
		new->least = 2; /* Planted: others have it by now. */
}

static void lodgers_init(struct sock *sk)
{
	struct lodger *lodger = inet_csk_ca(sk);

	lodger->sound = move_in(&sound, sk->sk_daddr);
	lodger->broken = move_in(&broken, sk->sk_daddr);
	if (!READ_ONCE(rules))
		agree(&rules, true);
	if (!READ_ONCE(sound_rules))
		agree(&sound_rules, false);
}

static void lodgers_release(struct sock *sk)
{
	struct lodger *lodger = inet_csk_ca(sk);

	move_out(lodger->sound);
	move_out(lodger->broken);
}

static u32 lodgers_ssthresh(struct sock *sk)
{
	const struct rules *known = READ_ONCE(rules), *right = READ_ONCE(sound_rules);

	return max3(tcp_reno_ssthresh(sk), known ? known->least : 2, right ? right->least : 2);
}

static struct tcp_congestion_ops lodgers_ops __read_mostly = {
	.init		= lodgers_init,
	.release	= lodgers_release,
	.ssthresh	= lodgers_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "lodgers",
};

static int __init lodgers_load(void)
{
	BUILD_BUG_ON(sizeof(struct lodger) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&lodgers_ops);
}

static void __exit lodgers_unload(void)
{
	tcp_unregister_congestion_control(&lodgers_ops);
	kfree(rules);
	kfree(sound_rules);
}

module_init(lodgers_load);
module_exit(lodgers_unload);
MODULE_DESCRIPTION("A congestion control whose connections share what they know");
MODULE_LICENSE("GPL");
