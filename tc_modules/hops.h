/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many hops a flow's route has. Routing daemons know it, and tell the kernel: they set the metric of a route
 * (RTA_PRIORITY) to its hop count. So the routes are asked, once a flow and again whenever any route has changed.
 */
#ifndef TC_MODULES_HOPS_H
#define TC_MODULES_HOPS_H

#include <linux/atomic.h>
#include <net/ip_fib.h>
#include <net/route.h>
#include <net/tcp.h>

#define HOPS_UNKNOWN 0
#define HOPS_MAX 64 /* A greater metric ranks routes and counts no hops: NetworkManager's start at 100. */

/* What a socket remembers of its route; all zero at first. */
struct hops {
	int generation; /* of the routes, when asked */
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

/* A neighbour is one hop away whatever the metric: it is the destination itself that the route hands packets to. */
static inline bool hops_is_neighbour(const struct fib_nh_common *next, __be32 destination)
{
	return !next->nhc_gw_family || (next->nhc_gw_family == AF_INET && next->nhc_gw.ipv4 == destination);
}

static inline u8 hops_ask(const struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct flowi4 flow = {
		.flowi4_oif = sk->sk_bound_dev_if,
		.flowi4_iif = LOOPBACK_IFINDEX,
		.flowi4_mark = READ_ONCE(sk->sk_mark),
		.flowi4_tos = ip_sock_rt_tos(sk),
		.flowi4_proto = IPPROTO_TCP,
		.flowi4_uid = sk->sk_uid,
		.daddr = inet->inet_daddr,
		.saddr = inet->inet_saddr,
		.fl4_dport = inet->inet_dport,
		.fl4_sport = inet->inet_sport,
	};
	struct fib_result found;
	u8 count = HOPS_UNKNOWN;

	if (!hops_speaks_ipv4(sk))
		return HOPS_UNKNOWN;
	rcu_read_lock();
	if (!fib_lookup(sock_net(sk), &flow, &found, 0) && found.type == RTN_UNICAST) {
		if (found.fi->fib_priority && found.fi->fib_priority <= HOPS_MAX)
			count = found.fi->fib_priority;
		else if (hops_is_neighbour(found.nhc, flow.daddr))
			count = 1;
	}
	rcu_read_unlock();
	return count;
}

/* The hop count of the socket's route, or HOPS_UNKNOWN; each time the routes are asked is counted. */
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
