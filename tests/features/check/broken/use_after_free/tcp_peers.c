// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: use after free. Reno whose connections to one destination share what they know of it.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

struct peer {
	struct list_head list;
	__be32 address;
	u64 acked;
};

struct connection {
	struct peer *peer;
};

static LIST_HEAD(peers);
static DEFINE_SPINLOCK(peers_lock);

static struct peer *peer_of(__be32 address)
{
	struct peer *peer;

	list_for_each_entry(peer, &peers, list)
		if (peer->address == address)
			return peer;
	peer = kzalloc(sizeof(*peer), GFP_ATOMIC);
	if (peer) {
		peer->address = address;
		list_add(&peer->list, &peers);
	}
	return peer;
}

static void peers_init(struct sock *sk)
{
	struct connection *connection = inet_csk_ca(sk);

	spin_lock_bh(&peers_lock);
	connection->peer = peer_of(inet_sk(sk)->inet_daddr);
	spin_unlock_bh(&peers_lock);
}

static void peers_release(struct sock *sk)
{
	struct connection *connection = inet_csk_ca(sk);

	if (!connection->peer)
		return;
	/* Planted: other connections may know this peer too; it wants a reference count. */
	spin_lock_bh(&peers_lock);
	list_del(&connection->peer->list);
	kfree(connection->peer);
	spin_unlock_bh(&peers_lock);
}

static void peers_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct connection *connection = inet_csk_ca(sk);

	if (connection->peer)
		connection->peer->acked += acked;
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops peers_ops __read_mostly = {
	.init		= peers_init,
	.release	= peers_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= peers_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "peers",
};

static int __init peers_load(void)
{
	return tcp_register_congestion_control(&peers_ops);
}

static void __exit peers_unload(void)
{
	tcp_unregister_congestion_control(&peers_ops);
}

module_init(peers_load);
module_exit(peers_unload);
MODULE_DESCRIPTION("A congestion control that uses memory after it was freed");
MODULE_LICENSE("GPL");
