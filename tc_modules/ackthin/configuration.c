// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings over netlink. A change applies to later segments; a held ACK then
 * passes at once.
 */
#include "sched.h"

static struct netlink_range_validation any_time = { .max = 10 * USEC_PER_SEC };
static struct netlink_range_validation interval = { .min = USEC_PER_MSEC, .max = 60 * USEC_PER_SEC };
static struct netlink_range_validation positive = { .min = 1, .max = U32_MAX };

static const struct nla_policy attributes[TCA_ACKTHIN_MAX + 1] = {
	[TCA_ACKTHIN_POLICY] = NLA_POLICY_MAX(NLA_U32, ACKTHIN_DYNAMIC),
	[TCA_ACKTHIN_LIMIT] = NLA_POLICY_FULL_RANGE(NLA_U32, &positive),
	[TCA_ACKTHIN_COUNT] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[TCA_ACKTHIN_SKIP] = NLA_POLICY_MAX(NLA_U32, 255),
	[TCA_ACKTHIN_START] = { .type = NLA_U32 },
	[TCA_ACKTHIN_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &any_time),
	[TCA_ACKTHIN_GRANULARITY] = NLA_POLICY_FULL_RANGE(NLA_U32, &any_time),
	[TCA_ACKTHIN_DWIN_MIN] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[TCA_ACKTHIN_DWIN_MAX] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[TCA_ACKTHIN_ALPHA] = NLA_POLICY_MAX(NLA_U32, ACKTHIN_ONE - 1),
	[TCA_ACKTHIN_KAPPA] = NLA_POLICY_MAX(NLA_U32, 10 * ACKTHIN_ONE),
	[TCA_ACKTHIN_MU] = NLA_POLICY_RANGE(NLA_U32, 1, ACKTHIN_ONE),
	[TCA_ACKTHIN_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &interval),
	[TCA_ACKTHIN_STEP] = NLA_POLICY_RANGE(NLA_U32, 1, 10 * ACKTHIN_ONE),
	[TCA_ACKTHIN_SKIP_MAX] = NLA_POLICY_MAX(NLA_U32, 255),
};

const struct ackthin_config ackthin_defaults = {
	.set = {
		[TCA_ACKTHIN_POLICY] = ACKTHIN_DELAYED,
		[TCA_ACKTHIN_LIMIT] = 1000, /* of a device without a length of its own */
		[TCA_ACKTHIN_COUNT] = 2,
		[TCA_ACKTHIN_SKIP] = 1,
		[TCA_ACKTHIN_START] = 50,
		[TCA_ACKTHIN_TIMEOUT] = 100 * USEC_PER_MSEC,
		[TCA_ACKTHIN_DWIN_MIN] = 2,
		[TCA_ACKTHIN_DWIN_MAX] = 4,
		[TCA_ACKTHIN_ALPHA] = 750,
		[TCA_ACKTHIN_KAPPA] = 200,
		[TCA_ACKTHIN_MU] = 300,
		[TCA_ACKTHIN_INTERVAL] = 100 * USEC_PER_MSEC,
		[TCA_ACKTHIN_STEP] = 100,
		[TCA_ACKTHIN_SKIP_MAX] = 3,
	},
};

static int ackthin_validate(const struct ackthin_config *c, const struct net_device *dev,
			    struct netlink_ext_ack *extack)
{
	u32 policy = c->set[TCA_ACKTHIN_POLICY];

	if (c->set[TCA_ACKTHIN_DWIN_MIN] > c->set[TCA_ACKTHIN_DWIN_MAX]) {
		NL_SET_ERR_MSG_MOD(extack, "dwin_min must not be above dwin_max");
		return -EINVAL;
	}
	if ((policy == ACKTHIN_DELAYED || policy == ACKTHIN_DYNAMIC) && !c->set[TCA_ACKTHIN_TIMEOUT]) {
		NL_SET_ERR_MSG_MOD(extack, "delayed and dynamic need a timeout: without one, a flow's last ACK would never leave");
		return -EINVAL;
	}
	if (policy == ACKTHIN_DYNAMIC && !probe_can(dev))
		NL_SET_ERR_MSG_MOD(extack, "this is no wireless device of cfg80211's: nothing is skipped");
	return 0;
}

int ackthin_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_ACKTHIN_MAX + 1] = {};
	struct ackthin_config c = { };
	struct probe *probe = NULL;
	int i, err;

	if (opt) {
		err = nla_parse(tb, TCA_ACKTHIN_MAX, nla_data(opt), nla_len(opt), attributes, extack);
		if (err)
			return err;
	}
	for (i = 1; i <= TCA_ACKTHIN_MAX; i++)
		c.set[i] = tb[i] ? nla_get_u32(tb[i]) : q->config.set[i];
	err = ackthin_validate(&c, qdisc_dev(sch), extack);
	if (err)
		return err;
	if (c.set[TCA_ACKTHIN_POLICY] == ACKTHIN_DYNAMIC && probe_can(qdisc_dev(sch))) {
		probe = probe_start(qdisc_dev(sch), &c);
		if (!probe)
			return -ENOMEM;
	}
	sch_tree_lock(sch);
	q->config = c;
	sch->limit = c.set[TCA_ACKTHIN_LIMIT];
	swap(q->probe, probe);
	if (!list_empty(&q->waiting)) {
		flows_release(sch);
		qdisc_watchdog_schedule_ns(&q->watchdog, ktime_get_ns()); /* which empties the queue */
	}
	sch_tree_unlock(sch);
	probe_stop(probe);
	return 0;
}

int ackthin_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct ackthin_sched *q = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= TCA_ACKTHIN_MAX; i++) {
		if (nla_put_u32(skb, i, q->config.set[i])) {
			nla_nest_cancel(skb, nest);
			return -EMSGSIZE;
		}
	}
	return nla_nest_end(skb, nest);
}

int ackthin_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct ackthin_sched *q = qdisc_priv(sch);
	struct tc_ackthin_xstats stats;
	const struct flow *flow;

	sch_tree_lock(sch);
	stats = q->stats;
	list_for_each_entry(flow, &q->waiting, waiting)
		stats.held++;
	flow = list_first_entry_or_null(&q->flows, struct flow, age);
	if (flow && ackthin_is_daa(&q->config))
		stats.dwin = flow->state.dwin;
	stats.skip = q->config.skip;
	if (q->probe)
		probe_show(q->probe, &stats);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &stats, sizeof(stats));
}
