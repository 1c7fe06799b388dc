// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: it sleeps in atomic context. Reno that notes when each retransmission timeout came, the last few of them. It
 * also takes it for granted that it can be registered, and that a window is used.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

#define KEPT 100

struct entry {
	struct list_head list;
	u32 jiffies;
};

static LIST_HEAD(diary);
static DEFINE_SPINLOCK(diary_lock);
static unsigned int entries;

static struct entry *oldest(void)
{
	struct entry *entry = list_first_entry_or_null(&diary, struct entry, list);

	if (entry) {
		list_del(&entry->list);
		entries--;
	}
	return entry;
}

static void diary_set_state(struct sock *sk, u8 state)
{
	struct entry *entry;

	if (state != TCP_CA_Loss)
		return;
	spin_lock_bh(&diary_lock);
	if (entries == KEPT)
		entry = oldest();
	else
		entry = kmalloc(sizeof(*entry), GFP_KERNEL); /* Planted: GFP_ATOMIC is needed under a lock, and in a timer. */
	if (entry) {
		entry->jiffies = tcp_jiffies32;
		list_add_tail(&entry->list, &diary);
		entries++;
	}
	spin_unlock_bh(&diary_lock);
}

static void diary_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	/* Planted: without tcp_is_cwnd_limited(). */
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

static struct tcp_congestion_ops diary_ops __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= diary_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.set_state	= diary_set_state,
	.owner		= THIS_MODULE,
	.name		= "diary",
};

static int __init diary_load(void)
{
	tcp_register_congestion_control(&diary_ops); /* Planted: what if the name is taken? */
	return 0;
}

static void __exit diary_unload(void)
{
	struct entry *entry;

	tcp_unregister_congestion_control(&diary_ops);
	while ((entry = oldest()))
		kfree(entry);
}

module_init(diary_load);
module_exit(diary_unload);
MODULE_DESCRIPTION("A congestion control that sleeps in atomic context");
MODULE_LICENSE("GPL");
