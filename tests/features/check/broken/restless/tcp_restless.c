// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: work that never rests. It queues itself again after a time that is 0.
 */
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/tcp.h>

static unsigned int interval_ms; /* Planted: nobody sets it. */
static u32 age;

static void restless_tick(struct work_struct *work)
{
	WRITE_ONCE(age, age + 1);
	schedule_delayed_work(to_delayed_work(work), msecs_to_jiffies(interval_ms));
}

static DECLARE_DELAYED_WORK(restless_aging, restless_tick);

static void restless_init(struct sock *sk)
{
	schedule_delayed_work(&restless_aging, 1);
}

static struct tcp_congestion_ops restless __read_mostly = {
	.name		= "restless",
	.owner		= THIS_MODULE,
	.init		= restless_init,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init restless_load(void)
{
	return tcp_register_congestion_control(&restless);
}

static void __exit restless_unload(void)
{
	tcp_unregister_congestion_control(&restless);
	cancel_delayed_work_sync(&restless_aging);
}

module_init(restless_load);
module_exit(restless_unload);
MODULE_DESCRIPTION("A congestion control that is always at work");
MODULE_LICENSE("GPL");
