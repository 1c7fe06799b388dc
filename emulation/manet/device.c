// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interface. rtnetlink makes it over a radio (`ip link add manet0 link wlan0
 * type manet protocol aodv`). It is a node of its network while it is up and has
 * an IPv4 address. It carries IPv4 without Ethernet: the kernel sends all packets
 * for its subnet to it.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/rtnetlink.h>

#include "compat.h"
#include "device.h"
#include "link.h"

static struct rtnl_link_ops link_ops;

struct manet_device *device_of(struct net_device *dev)
{
	return dev->rtnl_link_ops == &link_ops ? netdev_priv(dev) : NULL;
}

/*
 * The number of hops, for other modules (tc_modules/hops.h). Whenever it may have changed, the
 * routes have changed, too.
 */
u32 manet_route_hops(const struct net_device *dev, __be32 to);
u32 manet_route_hops(const struct net_device *dev, __be32 to)
{
	struct manet_device *d = device_of((struct net_device *)dev);
	u32 hops = 0;

	if (!d)
		return 0;
	spin_lock_bh(&d->lock);
	if (d->running)
		hops = manet_hops(d->core, ntohl(to));
	spin_unlock_bh(&d->lock);
	return hops;
}
EXPORT_SYMBOL_GPL(manet_route_hops);

u32 device_protocol(const char *name)
{
	u32 i;

	for (i = 0; manet_protocol_name(i) && strcmp(manet_protocol_name(i), name); i++)
		;
	return i;
}

/* Set it before the core starts, and again when the address has changed. */
static void device_leave(struct manet_device *d)
{
	spin_lock_bh(&d->lock);
	if (d->running)
		manet_stop(d->core);
	d->running = false;
	kfree_skb(d->outgoing);
	d->outgoing = NULL;
	spin_lock_irq(&d->answers); /* later reports of the radio do not concern frames of the next core */
	d->frame = NULL;
	d->answered = false;
	spin_unlock_irq(&d->answers);
	device_settle(d);
}

static void device_begin(struct manet_device *d)
{
	const struct in_device *in = __in_dev_get_rtnl(d->dev);
	const struct in_ifaddr *ifa = in ? rtnl_dereference(in->ifa_list) : NULL;
	u32 i;

	if (!ifa || !netif_running(d->dev) || d->running)
		return;
	spin_lock_bh(&d->lock);
	memset(d->core, 0, manet_size(d->protocol));
	manet_init(d->core, d->protocol, MANET_RFC, ntohl(ifa->ifa_local), ifa->ifa_prefixlen, d->seed, &radio_ops, d);
	for (i = 0; i < MANET_MAX_PARAMETERS; i++)
		manet_set(d->core, i, d->value[i]);
	d->running = true;
	d->armed = 0;
	manet_start(d->core, ktime_get_ns());
	device_settle(d);
}

static int address_changed(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct in_ifaddr *ifa = data;
	struct manet_device *d = device_of(ifa->ifa_dev->dev);

	if (d && event == NETDEV_DOWN)
		device_leave(d);
	if (d)
		device_begin(d);
	return NOTIFY_DONE;
}

static struct notifier_block address_notifier = { .notifier_call = address_changed };

static int device_open(struct net_device *dev)
{
	struct manet_device *d = netdev_priv(dev);

	if (!(d->lower->flags & IFF_UP))
		return -ENETDOWN;
	device_begin(d);
	return 0;
}

static int device_stop(struct net_device *dev)
{
	struct manet_device *d = netdev_priv(dev);

	device_leave(d);
	hrtimer_cancel(&d->timer);
	return 0;
}

static int device_init(struct net_device *dev)
{
	struct manet_device *d = netdev_priv(dev);

	netdev_lockdep_set_classes(dev);
	d->core = kvzalloc(manet_size(d->protocol), GFP_KERNEL);
	if (!d->core)
		return -ENOMEM;
	manet_init(d->core, d->protocol, MANET_RFC, 0, 0, 0, &radio_ops, d); /* it may be read before the start */
	dev_hold(d->lower);
	return 0;
}

/* It overhears no more frames. */
static void ignore_monitor(struct manet_device *d)
{
	if (!d->monitor)
		return;
	netdev_rx_handler_unregister(d->monitor);
	dev_put(d->monitor);
	d->monitor = NULL;
}

/* Also for an interface that was set up only in part. */
static void device_uninit(struct net_device *dev)
{
	struct manet_device *d = netdev_priv(dev);

	ignore_monitor(d);
	if (d->tied) {
		netdev_rx_handler_unregister(d->lower);
		netdev_upper_dev_unlink(d->lower, dev);
	}
	/* No frame reaches it any more: netdev_rx_handler_unregister() has waited for those that did. */
	hrtimer_cancel(&d->timer);
	kvfree(d->core);
	dev_put(d->lower);
}

static int device_iflink(const struct net_device *dev)
{
	return ((struct manet_device *)netdev_priv(dev))->lower_index;
}

static const struct net_device_ops device_ops = {
	.ndo_init = device_init,
	.ndo_uninit = device_uninit,
	.ndo_open = device_open,
	.ndo_stop = device_stop,
	.ndo_start_xmit = radio_start_xmit,
	.ndo_get_iflink = device_iflink,
};

static void device_setup(struct net_device *dev)
{
	dev->netdev_ops = &device_ops;
	dev->needs_free_netdev = true;
	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP | IFF_MULTICAST;
	dev->priv_flags |= IFF_NO_QUEUE;
	netif_keep_dst(dev); /* an error is reported by a packet's route */
	dev->addr_len = 0;
	dev->min_mtu = 576;
	dev->max_mtu = MANET_MTU;
	dev->mtu = MANET_MTU;
}

static const struct nla_policy policy[MANET_LINK_ATTRS] = {
	[MANET_LINK_PROTOCOL] = { .type = NLA_NUL_STRING, .len = 15 },
	[MANET_LINK_PRESET] = { .type = NLA_NUL_STRING, .len = 15 },
	[MANET_LINK_SEED] = { .type = NLA_U64 },
	[MANET_LINK_MONITOR] = { .type = NLA_U32 },
};

static int device_validate(struct nlattr *tb[], struct nlattr *data[], struct netlink_ext_ack *extack)
{
	if (!data || !data[MANET_LINK_PROTOCOL]) {
		NL_SET_ERR_MSG(extack, "a protocol is needed: static, aodv, dsr, olsr or dsdv");
		return -EINVAL;
	}
	if (!manet_protocol_name(device_protocol(nla_data(data[MANET_LINK_PROTOCOL])))) {
		NL_SET_ERR_MSG(extack, "no such protocol");
		return -EINVAL;
	}
	return 0;
}

static int preset_of(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	static const char *const names[MANET_PRESETS] = { "rfc", "thesis", "cmu" };
	int i = attr ? match_string(names, MANET_PRESETS, nla_data(attr)) : MANET_RFC;

	if (i < 0)
		NL_SET_ERR_MSG(extack, "no such preset: rfc, thesis or cmu");
	return i;
}

static struct net_device *device_other(struct net *net, const struct nlattr *index)
{
	return index ? __dev_get_by_index(net, nla_get_u32(index)) : NULL;
}

static int device_listen(struct manet_device *d, struct net_device *monitor, struct netlink_ext_ack *extack)
{
	int err;

	if (!monitor || monitor->type != ARPHRD_IEEE80211_RADIOTAP) {
		NL_SET_ERR_MSG(extack, "the monitor is no monitor interface of this network namespace");
		return -EINVAL;
	}
	err = netdev_rx_handler_register(monitor, radio_overhear, d);
	if (err)
		return err;
	dev_hold(monitor);
	d->monitor = monitor;
	return 0;
}

static int device_tie(struct manet_device *d, struct nlattr *monitor, struct net *net, struct netlink_ext_ack *extack)
{
	int err = netdev_rx_handler_register(d->lower, radio_receive, d);

	if (err) {
		NL_SET_ERR_MSG(extack, "the radio is another interface's already");
		return err;
	}
	err = netdev_upper_dev_link(d->lower, d->dev, extack);
	if (err) {
		netdev_rx_handler_unregister(d->lower);
		return err;
	}
	d->tied = true;
	return monitor ? device_listen(d, device_other(net, monitor), extack) : 0;
}

static int device_newlink(NEWLINK_ARGS, struct netlink_ext_ack *extack)
{
	struct nlattr **tb = NEWLINK_TB, **data = NEWLINK_DATA;
	struct manet_device *d = netdev_priv(dev);
	int preset = preset_of(data[MANET_LINK_PRESET], extack), err;
	const struct manet_parameter *parameters;
	u32 count, i;

	if (preset < 0)
		return preset;
	d->dev = dev;
	d->lower = device_other(NEWLINK_NET, tb[IFLA_LINK]);
	if (!d->lower || d->lower->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "a radio is needed, in this network namespace: link wlan0");
		return -EINVAL;
	}
	d->lower_index = d->lower->ifindex;
	d->feedback = d->lower->ieee80211_ptr;
	d->protocol = device_protocol(nla_data(data[MANET_LINK_PROTOCOL]));
	d->seed = data[MANET_LINK_SEED] ? nla_get_u64(data[MANET_LINK_SEED]) : get_random_u64();
	parameters = manet_parameters(d->protocol, &count);
	for (i = 0; i < count; i++)
		d->value[i] = parameters[i].preset[preset];
	spin_lock_init(&d->lock);
	spin_lock_init(&d->answers);
	__skb_queue_head_init(&d->lost);
	hrtimer_setup(&d->timer, radio_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	if (!tb[IFLA_MTU])
		dev->mtu = min_t(u32, MANET_MTU, d->lower->mtu - manet_overhead(d->protocol));
	err = register_netdevice(dev);
	if (err)
		return err;
	err = device_tie(d, data[MANET_LINK_MONITOR], NEWLINK_NET, extack);
	if (err)
		unregister_netdevice(dev);
	return err;
}

static void device_dellink(struct net_device *dev, struct list_head *head)
{
	unregister_netdevice_queue(dev, head);
}

static size_t link_size(const struct net_device *dev)
{
	return nla_total_size(16) + nla_total_size_64bit(sizeof(u64)) + nla_total_size(sizeof(u32));
}

static int fill_link(struct sk_buff *skb, const struct net_device *dev)
{
	const struct manet_device *d = netdev_priv(dev);

	return nla_put_string(skb, MANET_LINK_PROTOCOL, manet_protocol_name(d->protocol)) ?:
	       nla_put_u64_64bit(skb, MANET_LINK_SEED, d->seed, MANET_LINK_PAD) ?:
	       (d->monitor ? nla_put_u32(skb, MANET_LINK_MONITOR, d->monitor->ifindex) : 0);
}

static struct rtnl_link_ops link_ops = {
	.kind = MANET_NAME,
	.priv_size = sizeof(struct manet_device),
	.maxtype = MANET_LINK_ATTRS - 1,
	.policy = policy,
	.setup = device_setup,
	.validate = device_validate,
	.newlink = device_newlink,
	.dellink = device_dellink,
	.get_size = link_size,
	.fill_info = fill_link,
};

/* When a radio is removed, so is its interface. When a monitor is removed, the interface stops listening to it. */
static int device_changed(struct notifier_block *nb, unsigned long event, void *data)
{
	struct net_device *dev = netdev_notifier_info_to_dev(data);
	rx_handler_func_t *handler = rtnl_dereference(dev->rx_handler);
	struct manet_device *d = rtnl_dereference(dev->rx_handler_data);
	LIST_HEAD(gone);

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	if (handler == radio_receive) {
		device_dellink(d->dev, &gone);
		unregister_netdevice_many(&gone);
	} else if (handler == radio_overhear) {
		ignore_monitor(d);
	}
	return NOTIFY_DONE;
}

static struct notifier_block device_notifier = { .notifier_call = device_changed };

int devices_register(void)
{
	int err = register_netdevice_notifier(&device_notifier);

	if (err)
		return err;
	err = register_inetaddr_notifier(&address_notifier);
	if (err)
		goto unregister_device;
	err = rtnl_link_register(&link_ops);
	if (!err)
		return 0;
	unregister_inetaddr_notifier(&address_notifier);
unregister_device:
	unregister_netdevice_notifier(&device_notifier);
	return err;
}

void devices_unregister(void)
{
	rtnl_link_unregister(&link_ops);
	unregister_inetaddr_notifier(&address_notifier);
	unregister_netdevice_notifier(&device_notifier);
}
