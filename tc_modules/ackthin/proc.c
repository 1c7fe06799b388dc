// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/net/ackthin: the flows of all queues of a network namespace, one a line.
 */
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "sched.h"

struct ackthin_net {
	struct list_head queues; /* under RTNL */
};

static unsigned int ackthin_net_id;

static void show_end(struct seq_file *m, const struct ackthin_key *key, int end)
{
	u16 port = ackthin_be16(key->ports + 2 * end);

	if (key->version == 4)
		seq_printf(m, " %pI4:%u", key->addresses + 4 * end, port);
	else
		seq_printf(m, " [%pI6c]:%u", key->addresses + 16 * end, port);
}

static void show_flow(struct seq_file *m, const struct flow *flow)
{
	show_end(m, &flow->key, 0);
	show_end(m, &flow->key, 1);
	seq_printf(m, " %llu %llu %llu %u %llu %u %llu\n", flow->acks, flow->acks - flow->thinned - !!flow->held,
		   flow->thinned, !!flow->held, flow->timers, flow->state.dwin, flow->state.mean);
}

static int ackthin_show(struct seq_file *m, void *v)
{
	const struct ackthin_net *net = net_generic(seq_file_single_net(m), ackthin_net_id);
	const struct ackthin_sched *q;
	const struct flow *flow;

	seq_puts(m, "device source destination acks passed thinned held timers dwin_milli interval_ns\n");
	rtnl_lock();
	list_for_each_entry(q, &net->queues, same_net) {
		sch_tree_lock(q->sch);
		list_for_each_entry(flow, &q->flows, age) {
			seq_puts(m, qdisc_dev(q->sch)->name);
			show_flow(m, flow);
		}
		sch_tree_unlock(q->sch);
	}
	rtnl_unlock();
	return 0;
}

static int __net_init ackthin_net_init(struct net *net)
{
	struct ackthin_net *own = net_generic(net, ackthin_net_id);

	INIT_LIST_HEAD(&own->queues);
	return proc_create_net_single("ackthin", 0444, net->proc_net, ackthin_show, NULL) ? 0 : -ENOMEM;
}

static void __net_exit ackthin_net_exit(struct net *net)
{
	remove_proc_entry("ackthin", net->proc_net);
}

static struct pernet_operations ackthin_net_ops = {
	.init = ackthin_net_init,
	.exit = ackthin_net_exit,
	.id = &ackthin_net_id,
	.size = sizeof(struct ackthin_net),
};

void proc_add(struct ackthin_sched *q)
{
	struct ackthin_net *net = net_generic(dev_net(qdisc_dev(q->sch)), ackthin_net_id);

	list_add_tail(&q->same_net, &net->queues);
}

int proc_init(void)
{
	return register_pernet_subsys(&ackthin_net_ops);
}

void proc_exit(void)
{
	unregister_pernet_subsys(&ackthin_net_ops);
}
