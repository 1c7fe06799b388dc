// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: a leak. Reno with a histogram of each connection's round-trip times, which outlives the connection. It
 * also takes it for granted that there is memory when it is loaded.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/tcp.h>

#define BUCKETS 16

struct hoard {
	u32 *histogram;
};

static atomic_t *connections;
static struct dentry *shown;

static int shown_show(struct seq_file *file, void *unused)
{
	seq_printf(file, "connections %d\n", atomic_read(file->private));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(shown);

static void hoard_init(struct sock *sk)
{
	struct hoard *hoard = inet_csk_ca(sk);

	atomic_inc(connections);
	hoard->histogram = kcalloc(BUCKETS, sizeof(u32), GFP_ATOMIC);
}

static void hoard_release(struct sock *sk)
{
	struct hoard *hoard = inet_csk_ca(sk);

	atomic_dec(connections); /* Planted: sockets are also released without initialization. */
	/* Planted: kfree(hoard->histogram) is missing. */
	hoard->histogram = NULL;
}

/* Planted: what it finds may be freed after rcu_read_unlock(). */
static void hoard_event(struct sock *sk, enum tcp_ca_event event)
{
	const atomic_t *found;

	rcu_read_lock();
	found = READ_ONCE(connections);
	rcu_read_unlock();
	if (event == CA_EVENT_TX_START && atomic_read(found) > 1000)
		pr_info_once("hoard: many connections\n");
}

static void hoard_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct hoard *hoard = inet_csk_ca(sk);

	if (hoard->histogram && sample->rtt_us > 0)
		hoard->histogram[min(ilog2(sample->rtt_us) / 2, BUCKETS - 1)]++;
}

static struct tcp_congestion_ops hoard_ops __read_mostly = {
	.init		= hoard_init,
	.release	= hoard_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.cwnd_event	= hoard_event,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.pkts_acked	= hoard_acked,
	.owner		= THIS_MODULE,
	.name		= "hoard",
};

static int __init hoard_load(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct hoard) > ICSK_CA_PRIV_SIZE);
	connections = kmalloc(sizeof(*connections), GFP_KERNEL);
	atomic_set(connections, 0); /* Planted: what if it is NULL? */
	err = tcp_register_congestion_control(&hoard_ops);
	if (err)
		kfree(connections);
	else
		shown = debugfs_create_file("hoard", 0444, NULL, connections, &shown_fops);
	return err;
}

static void __exit hoard_unload(void)
{
	tcp_unregister_congestion_control(&hoard_ops);
	debugfs_remove(shown);
	kfree(connections);
}

module_init(hoard_load);
module_exit(hoard_unload);
MODULE_DESCRIPTION("A congestion control that leaks memory");
MODULE_LICENSE("GPL");
