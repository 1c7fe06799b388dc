// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports to a source that there is no route to its destination, by ICMP, as for
 * a packet whose next hop does not answer. TCP uses the report after its
 * retransmission timer has expired, and does not increase the timeout (RFC 6069;
 * net/ipv4/tcp_ipv4.c).
 */
#include <linux/icmp.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/icmp.h>
#include <net/route.h>

#include "device.h"

/* The reasons of a loss for lack of a route. */
#define NO_WAY (BIT(MANET_NO_ROUTE) | BIT(MANET_LINK_BROKEN) | BIT(MANET_PURGED) | BIT(MANET_BUFFER_FULL) | \
		BIT(MANET_BUFFER_TIMEOUT) | BIT(MANET_NO_NEIGHBOUR))

/* An error would end a connection that is being set up; and DSR's packets differ from what their source sent. */
bool told_of(const struct sk_buff *skb, enum manet_reason why)
{
	const struct iphdr *ip = (const void *)skb->data;
	const struct tcphdr *tcp = (const void *)skb->data + ip->ihl * 4;

	return NO_WAY & BIT(why) && ip->protocol == IPPROTO_TCP && skb->len >= ip->ihl * 4 + sizeof(*tcp) && !tcp->syn;
}

void told(struct manet_device *d, struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	skb->dev = d->dev;
	rcu_read_lock();
	/* This host's packets still have their route. Others get one, as if they had just arrived. */
	if (skb_dst(skb) || !ip_route_input(skb, ip->daddr, ip->saddr, inet_dsfield_to_dscp(ip->tos), d->dev))
		icmp_send(skb, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, 0);
	rcu_read_unlock();
	kfree_skb(skb);
}
