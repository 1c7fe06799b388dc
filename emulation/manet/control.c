// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control by generic netlink: family "manet", described by manet.yaml for any YNL
 * tool. Each request names an interface of its network namespace. Invalid
 * requests are refused with a message that says why.
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "device.h"
#include "protocol.h"

static struct genl_family family;

/*
 * Return the interface of a request, with the rtnl lock held. If there is none, return NULL without
 * the lock, with a message.
 */
static struct manet_device *control_find(struct net *net, struct nlattr **attrs, const int *needs,
					 struct netlink_ext_ack *extack)
{
	struct net_device *dev;

	for (; *needs; needs++)
		if (!attrs[*needs]) {
			NL_SET_ERR_MSG(extack, "an attribute that this command needs is missing");
			return NULL;
		}
	rtnl_lock();
	dev = __dev_get_by_index(net, nla_get_u32(attrs[A_IFINDEX]));
	if (dev && device_of(dev))
		return device_of(dev);
	rtnl_unlock();
	NL_SET_ERR_MSG(extack, "no such interface, or not of type manet");
	return NULL;
}

static int put_interface(struct sk_buff *skb, const struct manet_device *d)
{
	const struct manet_counters *c = manet_counters(d->core);

	return nla_put_u32(skb, A_IFINDEX, d->dev->ifindex) ?:
	       nla_put_string(skb, A_PROTOCOL, manet_protocol_name(d->protocol)) ?:
	       nla_put_be32(skb, A_ADDRESS, htonl(manet_address(d->core))) ?:
	       nla_put_u8(skb, A_RUNNING, d->running) ?:
	       nla_put(skb, A_SENT, sizeof(c->sent), c->sent) ?:
	       nla_put(skb, A_SENT_BYTES, sizeof(c->sent_bytes), c->sent_bytes) ?:
	       nla_put(skb, A_GOT, sizeof(c->got), c->got) ?:
	       nla_put_u64_64bit(skb, A_FORWARDED, c->forwarded, A_PAD) ?:
	       nla_put_u64_64bit(skb, A_DELIVERED, c->delivered, A_PAD) ?:
	       nla_put_u64_64bit(skb, A_ACKED, c->acked, A_PAD) ?:
	       nla_put_u64_64bit(skb, A_LOST, c->lost, A_PAD) ?:
	       nla_put(skb, A_DROPPED, sizeof(c->dropped), c->dropped) ?:
	       nla_put(skb, A_DROPPED_CONTROL, sizeof(c->dropped_control), c->dropped_control) ?:
	       nla_put(skb, A_EVENTS, sizeof(c->events), c->events);
}

static int do_device(struct sk_buff *request, struct genl_info *info)
{
	struct manet_device *d = control_find(genl_info_net(info), info->attrs, device_needs, info->extack);
	struct sk_buff *skb;
	int err = -EMSGSIZE;
	void *head;

	if (!d)
		return -EINVAL;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	head = skb ? genlmsg_put_reply(skb, info, &family, 0, CMD_DEVICE) : NULL;
	if (head) {
		spin_lock_bh(&d->lock);
		err = put_interface(skb, d);
		spin_unlock_bh(&d->lock);
	}
	rtnl_unlock();
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

static int do_set(struct sk_buff *request, struct genl_info *info)
{
	struct manet_device *d = control_find(genl_info_net(info), info->attrs, set_needs, info->extack);
	const struct manet_parameter *parameters;
	u32 count, i, value;
	bool ok;

	if (!d)
		return -EINVAL;
	parameters = manet_parameters(d->protocol, &count);
	for (i = 0; i < count && nla_strcmp(info->attrs[A_PARAMETER], parameters[i].name); i++)
		;
	value = nla_get_u32(info->attrs[A_VALUE]);
	spin_lock_bh(&d->lock);
	ok = i < count && manet_set(d->core, i, value);
	if (ok)
		d->value[i] = value;
	device_settle(d);
	rtnl_unlock();
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "the protocol has no such parameter, or it may not be that");
	return ok ? 0 : -EINVAL;
}

static int do_route(struct sk_buff *request, struct genl_info *info)
{
	struct manet_device *d = control_find(genl_info_net(info), info->attrs, route_needs, info->extack);
	bool ok;

	if (!d)
		return -EINVAL;
	spin_lock_bh(&d->lock);
	ok = d->running && manet_set_route(d->core, ntohl(nla_get_be32(info->attrs[A_TO])),
					   ntohl(nla_get_be32(info->attrs[A_VIA])), nla_get_u8(info->attrs[A_HOPS]));
	device_settle(d);
	rtnl_unlock();
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "it is not up with an address, has all the routes it can, or finds its own");
	return ok ? 0 : -EINVAL;
}

static int put_parameter(struct sk_buff *skb, struct manet_device *d, long *cursor)
{
	const struct manet_parameter *p;
	u32 count;

	p = manet_parameters(d->protocol, &count) + *cursor;
	if (*cursor == count)
		return -ENODATA;
	++*cursor;
	return nla_put_string(skb, A_PARAMETER, p->name) ?:
	       nla_put_u32(skb, A_VALUE, d->value[*cursor - 1]) ?:
	       nla_put_u32(skb, A_LEAST, p->least) ?:
	       nla_put_u32(skb, A_MOST, p->most) ?:
	       nla_put_string(skb, A_WHAT, p->what);
}

static int put_entry(struct sk_buff *skb, struct manet_device *d, long *cursor)
{
	struct manet_entry e;
	u32 at = *cursor;
	bool more;
	int i;

	spin_lock_bh(&d->lock);
	more = d->running && manet_dump(d->core, &at, &e);
	spin_unlock_bh(&d->lock);
	*cursor = at;
	if (!more)
		return -ENODATA;
	for (i = 0; i < e.n_path; i++)
		e.path[i] = (__force u32)htonl(e.path[i]);
	return nla_put_u8(skb, A_ENTRY_KIND, e.kind) ?:
	       nla_put_be32(skb, A_TO, htonl(e.to)) ?:
	       nla_put_be32(skb, A_VIA, htonl(e.via)) ?:
	       nla_put_be32(skb, A_FROM, htonl(e.from)) ?:
	       nla_put_u8(skb, A_HOPS, e.hops) ?:
	       nla_put_u8(skb, A_VALID, e.valid) ?:
	       nla_put_string(skb, A_STATE, manet_state_name(d->core, e.state)) ?:
	       nla_put_u32(skb, A_SEQUENCE, e.sequence) ?:
	       nla_put_u64_64bit(skb, A_UNTIL_NS, e.until, A_PAD) ?:
	       nla_put(skb, A_MAC, sizeof(e.mac), e.mac) ?:
	       nla_put_u16(skb, A_WAITING, e.waiting) ?:
	       (e.n_path ? nla_put(skb, A_PATH, 4 * e.n_path, e.path) : 0);
}

/* One message for each item of @put, from the cursor on; -ENODATA: there are no more. */
static int control_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, const int *needs,
			int (*put)(struct sk_buff *skb, struct manet_device *d, long *cursor))
{
	struct nlattr *attrs[ATTRS];
	struct manet_device *d;
	long before;
	void *head;
	int err;

	err = genlmsg_parse(cb->nlh, &family, attrs, ATTRS - 1, policy, cb->extack);
	if (err)
		return err;
	d = control_find(sock_net(cb->skb->sk), attrs, needs, cb->extack);
	if (!d)
		return -EINVAL;
	do {
		before = cb->args[0];
		head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &family, NLM_F_MULTI, cmd);
		err = head ? put(skb, d, &cb->args[0]) : -EMSGSIZE;
		if (!err) {
			genlmsg_end(skb, head);
		} else if (head) {
			genlmsg_cancel(skb, head);
			cb->args[0] = before;
		}
	} while (!err);
	rtnl_unlock();
	return skb->len || err == -ENODATA ? skb->len : err;
}

static int dump_parameters(struct sk_buff *skb, struct netlink_callback *cb)
{
	return control_dump(skb, cb, CMD_PARAMETERS, parameters_needs, put_parameter);
}

static int dump_entries(struct sk_buff *skb, struct netlink_callback *cb)
{
	return control_dump(skb, cb, CMD_ENTRIES, entries_needs, put_entry);
}

#define ADMIN .flags = GENL_UNS_ADMIN_PERM
static const struct genl_ops ops[] = {
	{ .cmd = CMD_DEVICE, .doit = do_device },
	{ .cmd = CMD_SET, .doit = do_set, ADMIN },
	{ .cmd = CMD_ROUTE, .doit = do_route, ADMIN },
	{ .cmd = CMD_PARAMETERS, .dumpit = dump_parameters },
	{ .cmd = CMD_ENTRIES, .dumpit = dump_entries },
};

static struct genl_family family __ro_after_init = {
	.name = MANET_FAMILY_NAME,
	.version = MANET_FAMILY_VERSION,
	.maxattr = ATTRS - 1,
	.policy = policy,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.resv_start_op = CMD_ENTRIES + 1,
};

int control_register(void)
{
	return genl_register_family(&family);
}

void control_unregister(void)
{
	genl_unregister_family(&family);
}
