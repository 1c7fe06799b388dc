// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control by generic netlink: family "dcf80211". dcf80211.yaml specifies it for
 * any YNL tool.
 *
 * SETUP makes the air and attaches it to hwsim. TEARDOWN removes it, and so does
 * closing the socket that made it, however its program ends. Between them,
 * settings.c can change the air at any time. Invalid requests are refused with a
 * message that says why.
 */
#include "control.h"
#include "protocol.h"

static struct genl_family family;
/* The air, and the socket that owns it; the genl mutex guards both. */
static struct air *the_air;
static struct {
	const struct net *net;
	u32 portid;
} owner;

static bool control_have(struct genl_info *info, const int *attrs)
{
	for (; attrs && *attrs; attrs++)
		if (!info->attrs[*attrs]) {
			NL_SET_ERR_MSG(info->extack, "an attribute that this command needs is missing");
			return false;
		}
	return true;
}

struct air *control_air(struct genl_info *info, const int *needs)
{
	if (!the_air) {
		NL_SET_ERR_MSG(info->extack, "there is no air: set one up first");
		return ERR_PTR(-ENODEV);
	}
	return control_have(info, needs) ? the_air : ERR_PTR(-EINVAL);
}

u64 control_begin(struct air *air, unsigned long *flags)
	__acquires(&air->lock)
{
	u64 now;

	spin_lock_irqsave(&air->lock, *flags);
	now = air_now();
	air->hushed = false;
	dcf_run(air->dcf, now);
	return now;
}

void control_end(struct air *air, unsigned long flags)
	__releases(&air->lock)
{
	hwsim_give(air);
	vdev_interrupt(air);
	air_arm(air);
	spin_unlock_irqrestore(&air->lock, flags);
}

static int do_setup(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct dcf_config config;
	struct air *air;
	enum dcf_refusal why;

	if (the_air) {
		NL_SET_ERR_MSG(info->extack, "there is an air already: one a kernel");
		return -EBUSY;
	}
	if (!control_have(info, setup_needs))
		return -EINVAL;
	config = (struct dcf_config){
		.phy = {
			.slot_ns = nla_get_u32(a[A_SLOT_NS]),
			.sifs_ns = nla_get_u32(a[A_SIFS_NS]),
			.cw_min = nla_get_u32(a[A_CW_MIN]),
			.cw_max = nla_get_u32(a[A_CW_MAX]),
			.signal_extension_ns = nla_get_u32(a[A_SIGNAL_EXTENSION_NS]),
			.basic_rates = nla_get_u32(a[A_BASIC_RATES]),
			.sensing_ns = nla_get_u32(a[A_SENSING_NS]),
		},
		.stations = nla_get_u16(a[A_STATIONS]),
		.reception = nla_get_u8(a[A_RECEPTION]),
		.eifs = nla_get_u8(a[A_EIFS]),
		.nav_reset = nla_get_u8(a[A_NAV_RESET]),
		.retry_by_stages = nla_get_u8(a[A_RETRY_BY_STAGES]),
		.trace = nla_get_u8(a[A_TRACE]),
		.punctual = nla_get_u8(a[A_PUNCTUAL]),
		.edca = nla_get_u8(a[A_EDCA]),
		.snap = nla_get_u16(a[A_SNAP]),
		.capture_ratio_milli = nla_get_u32(a[A_CAPTURE_RATIO_MILLI]),
		.detect_ofdm_milli = nla_get_u32(a[A_DETECT_OFDM_MILLI]),
		.detect_dsss_milli = nla_get_u32(a[A_DETECT_DSSS_MILLI]),
		.rx_threshold_aw = nla_get_u64(a[A_RX_THRESHOLD_AW]),
		.cs_threshold_aw = nla_get_u64(a[A_CS_THRESHOLD_AW]),
		.noise_aw = nla_get_u64(a[A_NOISE_AW]),
		.seed = nla_get_u64(a[A_SEED]),
		.rules = nla_get_u32(a[A_RULES]),
	};
	why = dcf_check(&config);
	if (why != DCF_SOUND) {
		refusal_say(info->extack, why);
		return -EINVAL;
	}
	air = air_create(&config, nla_get_u8(a[A_HT]));
	if (IS_ERR(air)) {
		if (PTR_ERR(air) == -EOPNOTSUPP)
			NL_SET_ERR_MSG(info->extack, "radios of 802.11n and later need Linux 6.12");
		if (PTR_ERR(air) == -ENOENT)
			NL_SET_ERR_MSG(info->extack, "EDCA needs mac80211's tracepoint drv_conf_tx, which this kernel does not have");
		if (PTR_ERR(air) == -ENODEV)
			NL_SET_ERR_MSG(info->extack, "mac80211_hwsim is not loaded, or has another medium");
		return PTR_ERR(air);
	}
	air->short_preamble = nla_get_u8(a[A_SHORT_PREAMBLE]);
	air->host_delay_ns = min_t(u32, nla_get_u32(a[A_HOST_DELAY_NS]), NSEC_PER_MSEC);
	owner.net = genl_info_net(info);
	owner.portid = info->snd_portid;
	the_air = air;
	return 0;
}

static int do_teardown(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, NULL);

	if (IS_ERR(air))
		return PTR_ERR(air);
	the_air = NULL;
	air_destroy(air);
	return 0;
}

struct sk_buff *control_answer(struct genl_info *info, size_t room, void **head)
{
	struct sk_buff *skb = genlmsg_new(room, GFP_KERNEL);

	if (!skb)
		return NULL;
	*head = genlmsg_put_reply(skb, info, &family, 0, info->genlhdr->cmd);
	if (*head)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

static int do_start_stop(struct sk_buff *request, struct genl_info *info)
{
	int cmd = info->genlhdr->cmd;
	struct air *air = control_air(info, NULL);
	unsigned long flags;
	struct sk_buff *skb;
	void *head;
	u64 now;

	if (IS_ERR(air))
		return PTR_ERR(air);
	skb = control_answer(info, NLMSG_DEFAULT_SIZE, &head);
	if (!skb)
		return -ENOMEM;
	now = control_begin(air, &flags);
	if (cmd == CMD_START) {
		trace_begin(air);
		memset(&air->late, 0, sizeof(air->late));
		memset(&air->lag, 0, sizeof(air->lag));
		dcf_start(air->dcf, now);
	} else {
		dcf_stop(air->dcf, now, trace_lost(air));
	}
	control_end(air, flags);
	if (cmd == CMD_STOP)
		trace_flush(air);
	if (nla_put_u64_64bit(skb, A_TIME_NS, now, A_PAD)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

static int do_status(struct sk_buff *request, struct genl_info *info)
{
	struct air *air = control_air(info, NULL);
	struct sk_buff *skb;
	unsigned long flags;
	int err;
	void *head;
	u64 now;

	if (IS_ERR(air))
		return PTR_ERR(air);
	skb = control_answer(info, NLMSG_DEFAULT_SIZE, &head);
	if (!skb)
		return -ENOMEM;
	now = control_begin(air, &flags);
	err = nla_put_u64_64bit(skb, A_TIME_NS, now, A_PAD) ?:
	      nla_put_u16(skb, A_STATIONS, air->stations) ?:
	      nla_put_u8(skb, A_MEASURING, dcf_measuring(air->dcf)) ?:
	      nla_put_u32(skb, A_LOST_RECORDS, trace_lost(air)) ?:
	      nla_put_u64_64bit(skb, A_REFUSED_FRAMES, air->refused_frames, A_PAD) ?:
	      nla_put_u64_64bit(skb, A_UNKNOWN_RADIOS, air->unknown_radios, A_PAD) ?:
	      nla_put_u64_64bit(skb, A_FRAMES, air->frames, A_PAD) ?:
	      nla_put_u64_64bit(skb, A_EVENTS, dcf_events(air->dcf), A_PAD) ?:
	      nla_put_u64_64bit(skb, A_TIMERS, air->timers, A_PAD) ?:
	      nla_put_u64_64bit(skb, A_LATE_NS_MAX, air->late.max_ns, A_PAD) ?:
	      nla_put_u64_64bit(skb, A_LAG_NS_MAX, air->lag.max_ns, A_PAD) ?:
	      nla_put(skb, A_LATE, sizeof(air->late.count), air->late.count) ?:
	      nla_put(skb, A_LAG, sizeof(air->lag.count), air->lag.count) ?:
	      nla_put_u64_64bit(skb, A_LOST_MESSAGES, air->lost_messages, A_PAD) ?:
	      nla_put_u64_64bit(skb, A_EVALUATIONS, dcf_evaluations(air->dcf), A_PAD);
	control_end(air, flags);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

static int put_counters(struct sk_buff *skb, struct air *air, u16 station)
{
	const struct dcf_counters *c = dcf_counters(air->dcf, station);
	struct dcf_edca edca[DCF_CATEGORIES];

	if (dcf_get_edca(air->dcf, station, edca) &&
	    (nla_put(skb, A_SHARES, sizeof(c->share), c->share) || nla_put(skb, A_CONTENTION, sizeof(edca), edca)))
		return -EMSGSIZE;
	return nla_put_u16(skb, A_STATION, station) ?:
	       nla_put(skb, A_TX, sizeof(c->tx), c->tx) ?:
	       nla_put(skb, A_AIRTIME_NS, sizeof(c->airtime_ns), c->airtime_ns) ?:
	       nla_put(skb, A_RX, sizeof(c->rx), c->rx) ?:
	       nla_put(skb, A_ADDRESSED, sizeof(c->addressed), c->addressed) ?:
	       nla_put(skb, A_END, sizeof(c->end), c->end) ?:
	       nla_put_u64_64bit(skb, A_SHORT_RETRIES, c->short_retries, A_PAD) ?:
	       nla_put_u64_64bit(skb, A_LONG_RETRIES, c->long_retries, A_PAD) ?:
	       nla_put_u64_64bit(skb, A_BUSY_NS, c->busy_ns, A_PAD) ?:
	       nla_put_u64_64bit(skb, A_NAV_NS, c->nav_ns, A_PAD) ?:
	       nla_put_u64_64bit(skb, A_TX_NS, c->tx_ns, A_PAD);
}

/* One message per station. */
static int dump_counters(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct air *air = the_air;
	unsigned long flags;
	void *head;
	int err = 0;

	for (; air && cb->args[0] < air->stations; cb->args[0]++) {
		head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &family, NLM_F_MULTI, CMD_COUNTERS);
		if (!head)
			break;
		control_begin(air, &flags);
		err = put_counters(skb, air, cb->args[0]);
		control_end(air, flags);
		if (err) {
			genlmsg_cancel(skb, head);
			break;
		}
		genlmsg_end(skb, head);
	}
	return skb->len ?: err;
}

/*
 * Update the core, but neither notify hwsim nor set the timer. Messages for hwsim
 * that need no timer of their own arrive at the same time as without this
 * command.
 */
static int do_look(struct sk_buff *request, struct genl_info *info)
{
	struct air *air = control_air(info, NULL);
	struct nlattr *looks;
	struct sk_buff *skb;
	unsigned long flags;
	u16 station;
	void *head;
	u64 now;

	if (IS_ERR(air))
		return PTR_ERR(air);
	skb = control_answer(info, nla_total_size(air->stations * sizeof(struct dcf_look)) + nla_total_size_64bit(sizeof(now)),
			     &head);
	if (!skb)
		return -ENOMEM;
	looks = nla_reserve(skb, A_LOOKS, air->stations * sizeof(struct dcf_look));
	if (!looks) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	spin_lock_irqsave(&air->lock, flags);
	now = air_now();
	air->hushed = true;
	dcf_run(air->dcf, now);
	for (station = 0; station < air->stations; station++) {
		struct dcf_look look; /* the attribute is only aligned to 4 */

		dcf_look(air->dcf, station, &look);
		memcpy(nla_data(looks) + station * sizeof(look), &look, sizeof(look));
	}
	spin_unlock_irqrestore(&air->lock, flags);
	if (nla_put_u64_64bit(skb, A_TIME_NS, now, A_PAD)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

#define ADMIN .flags = GENL_ADMIN_PERM
static const struct genl_ops ops[] = {
	{ .cmd = CMD_SETUP, .doit = do_setup, ADMIN },
	{ .cmd = CMD_TEARDOWN, .doit = do_teardown, ADMIN },
	{ .cmd = CMD_STATION, .doit = do_station, ADMIN },
	{ .cmd = CMD_LINKS, .doit = do_links, ADMIN },
	{ .cmd = CMD_ERRORS, .doit = do_errors, ADMIN },
	{ .cmd = CMD_START, .doit = do_start_stop, ADMIN },
	{ .cmd = CMD_STOP, .doit = do_start_stop, ADMIN },
	{ .cmd = CMD_STATUS, .doit = do_status },
	{ .cmd = CMD_COUNTERS, .dumpit = dump_counters },
	{ .cmd = CMD_TABLE, .doit = do_table, ADMIN },
	{ .cmd = CMD_REACH, .doit = do_reach, ADMIN },
	{ .cmd = CMD_WAYPOINTS, .doit = do_waypoints, ADMIN },
	{ .cmd = CMD_HEARD, .doit = do_heard },
	{ .cmd = CMD_EDCA, .doit = do_edca, ADMIN },
	{ .cmd = CMD_FADING, .doit = do_fading, ADMIN },
	{ .cmd = CMD_LOOK, .doit = do_look },
	{ .cmd = CMD_RADIO, .doit = do_radio, ADMIN },
};

static struct genl_family family __ro_after_init = {
	.name = DCF80211_FAMILY_NAME,
	.version = DCF80211_FAMILY_VERSION,
	.maxattr = ATTRS - 1,
	.policy = policy,
	.module = THIS_MODULE,
	.netnsok = true, /* a lane may have its own network namespace */
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.resv_start_op = CMD_COUNTERS + 1,
};

/* Remove the air when the netlink socket that owns it is closed. */
static int on_release(struct notifier_block *block, unsigned long event, void *data)
{
	const struct netlink_notify *socket = data;

	if (event != NETLINK_URELEASE || socket->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	genl_lock();
	if (the_air && socket->portid == owner.portid && net_eq(socket->net, owner.net)) {
		air_destroy(the_air);
		the_air = NULL;
	}
	if (the_air)
		driver_release(the_air, socket->net, socket->portid);
	genl_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block sockets = { .notifier_call = on_release };

int control_register(void)
{
	int err = genl_register_family(&family);

	if (err)
		return err;
	err = netlink_register_notifier(&sockets);
	if (err)
		genl_unregister_family(&family);
	return err;
}

void control_unregister(void)
{
	netlink_unregister_notifier(&sockets);
	genl_unregister_family(&family);
	if (the_air)
		air_destroy(the_air);
	the_air = NULL;
}
