// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic receive offload (GRO) of datagrams, for interfaces with the feature
 * rx-udp-gro-forwarding: those of one flow that a radio receives at one time pass
 * the stack as one packet, if they are forwarded or if their socket has UDP_GRO.
 * All other packets pass one by one.
 */
#include <linux/ip.h>
#include <net/ip.h>

#include "driver.h"

int together_open(struct air *air)
{
	air->napi_dev = alloc_netdev_dummy(0);
	return air->napi_dev ? 0 : -ENOMEM;
}

void together_close(struct air *air)
{
	free_netdev(air->napi_dev);
}

/* Nothing schedules it: the radio's tasklet does the work. */
static int together_poll(struct napi_struct *napi, int budget)
{
	return 0;
}

void together_begin(struct driver *d)
{
	set_bit(NAPI_STATE_NO_BUSY_POLL, &d->napi.state);
	netif_napi_add(d->air->napi_dev, &d->napi, together_poll);
	napi_enable(&d->napi);
}

void together_end(struct driver *d)
{
	napi_disable(&d->napi);
	__netif_napi_del(&d->napi); /* nobody else looks for it, by its device or its number */
}

static bool is_datagram(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) && skb_headlen(skb) >= sizeof(struct iphdr) &&
	       ((struct iphdr *)skb->data)->protocol == IPPROTO_UDP;
}

void together_pass(struct driver *d, struct list_head *list)
{
	struct sk_buff *skb, *next;
	bool any = false;

	list_for_each_entry_safe(skb, next, list, list) {
		if (!(skb->dev->features & NETIF_F_GRO_UDP_FWD) || !is_datagram(skb))
			continue;
		if (!any && !napi_schedule_prep(&d->napi))
			break;
		any = true;
		skb_list_del_init(skb);
		napi_gro_receive(&d->napi, skb);
	}
	if (any)
		napi_complete_done(&d->napi, 1);
	netif_receive_skb_list(list);
}
