/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hop count of a flow's route. Routing daemons put it into the kernel's
 * routes, as their metric (RTA_PRIORITY). The routes are looked up once per flow,
 * and again when any route has changed. A routing interface (manet.ko) finds
 * routes itself. Then it is asked, and the same mechanism reports its changes.
 */
#ifndef TC_MODULES_HOPS_H
#define TC_MODULES_HOPS_H

#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/ip_fib.h>
#include <net/route.h>
#include <net/rtnetlink.h>
#include <net/tcp.h>

#define HOPS_UNKNOWN 0
#define HOPS_MAX 64 /* Greater metrics rank routes and are not hop counts: NetworkManager's start at 100. */

/* What a socket remembers of its route; all zero at the start. */
struct hops {
	int generation; /* generation of the routes at the last look-up */
	bool asked;
	u8 count;
};

static inline bool hops_speaks_ipv4(const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		return ipv6_addr_v4mapped(&sk->sk_v6_daddr);
#endif
	return sk->sk_family == AF_INET;
}

/* A neighbour is one hop away whatever the metric: the route's next hop is the destination itself. */
static inline bool hops_is_neighbour(const struct fib_nh_common *next, __be32 destination)
{
	return !next->nhc_gw_family || (next->nhc_gw_family == AF_INET && next->nhc_gw.ipv4 == destination);
}

u32 manet_route_hops(const struct net_device *dev, __be32 to); /* manet.ko's; 0: unknown */

static inline bool hops_finds_its_way(const struct net_device *dev)
{
	return dev && dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, "manet");
}

static inline u8 hops_by_interface(const struct net_device *dev, __be32 to)
{
	typeof(manet_route_hops) *ask = symbol_get(manet_route_hops);
	u32 count = 0;

	if (ask) {
		count = ask(dev, to);
		symbol_put(manet_route_hops);
	}
	return count <= HOPS_MAX ? count : HOPS_UNKNOWN;
}

static inline u8 hops_ask(const struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct fib_result found;
	u8 count = HOPS_UNKNOWN;
	struct flowi4 flow;

	if (!hops_speaks_ipv4(sk))
		return HOPS_UNKNOWN;
	flowi4_init_output(&flow, sk->sk_bound_dev_if, READ_ONCE(sk->sk_mark), ip_sock_rt_tos(sk), RT_SCOPE_UNIVERSE,
			   IPPROTO_TCP, 0, inet->inet_daddr, inet->inet_saddr, inet->inet_dport, inet->inet_sport,
			   sk->sk_uid);
	rcu_read_lock();
	if (!fib_lookup(sock_net(sk), &flow, &found, 0) && found.type == RTN_UNICAST) {
		if (hops_finds_its_way(found.nhc->nhc_dev))
			count = hops_by_interface(found.nhc->nhc_dev, flow.daddr);
		else if (found.fi->fib_priority && found.fi->fib_priority <= HOPS_MAX)
			count = found.fi->fib_priority;
		else if (hops_is_neighbour(found.nhc, flow.daddr))
			count = 1;
	}
	rcu_read_unlock();
	return count;
}

/* The hop count of the socket's route, or HOPS_UNKNOWN. Each look-up of the routes is counted. */
static inline u8 hops_of(const struct sock *sk, struct hops *hops, atomic64_t *lookups, atomic64_t *unknown)
{
	int generation = rt_genid_ipv4(sock_net(sk));

	if (hops->asked && hops->generation == generation)
		return hops->count;
	*hops = (struct hops){ .generation = generation, .asked = true, .count = hops_ask(sk) };
	atomic64_inc(lookups);
	if (hops->count == HOPS_UNKNOWN)
		atomic64_inc(unknown);
	return hops->count;
}

#endif
