// SPDX-License-Identifier: GPL-2.0-only
/*
 * A source is told that there is no way to where it sends, by ICMP, as of a packet
 * whose next hop does not answer. TCP whose timer has expired in vain takes that
 * for what it is, and waits no longer than before (RFC 6069; net/ipv4/tcp_ipv4.c).
 */
#include <linux/icmp.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/icmp.h>
#include <net/route.h>

#include "device.h"

/* Why a packet is lost, if it is for want of a way. */
#define NO_WAY (BIT(MANET_NO_ROUTE) | BIT(MANET_LINK_BROKEN) | BIT(MANET_PURGED) | BIT(MANET_BUFFER_FULL) | \
		BIT(MANET_BUFFER_TIMEOUT) | BIT(MANET_NO_NEIGHBOUR))

/* To a connection that is being made an error would be the end; and DSR's packets are not what their source sent. */
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
	/* Its own packets have their route yet; those of others get one as if they had just come. */
	if (skb_dst(skb) || !ip_route_input(skb, ip->daddr, ip->saddr, inet_dsfield_to_dscp(ip->tos), d->dev))
		icmp_send(skb, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, 0);
	rcu_read_unlock();
	kfree_skb(skb);
}
