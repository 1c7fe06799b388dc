// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broken: it does not wait for the end of its timer, which starts itself again. Reno that keeps each connection's round
 * trips of the last seconds. Its state fits into a socket, but not with what lockdep adds to a timer.
 */
#include <linux/module.h>
#include <linux/timer.h>
#include <net/tcp.h>

#define KEPT 12

struct pulse {
	struct timer_list timer;
	struct sock *sk;
	u32 at;
	u32 rtt_us[KEPT];
};

static void pulse_beat(struct timer_list *timer)
{
	struct pulse *pulse = from_timer(pulse, timer, timer);

	pulse->rtt_us[pulse->at++ % KEPT] = READ_ONCE(tcp_sk(pulse->sk)->srtt_us) >> 3;
	mod_timer(timer, jiffies + HZ);
}

static void pulse_init(struct sock *sk)
{
	struct pulse *pulse = inet_csk_ca(sk);

	*pulse = (struct pulse){ .sk = sk };
	timer_setup(&pulse->timer, pulse_beat, 0);
	mod_timer(&pulse->timer, jiffies + HZ);
}

static void pulse_release(struct sock *sk)
{
	struct pulse *pulse = inet_csk_ca(sk);

	if (!pulse->sk)	/* it never connected */
		return;
	/* Planted: this needs timer_shutdown_sync(). */
	timer_delete(&pulse->timer);
}

static struct tcp_congestion_ops pulse_ops __read_mostly = {
	.init		= pulse_init,
	.release	= pulse_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "pulse",
};

static int __init pulse_load(void)
{
	BUILD_BUG_ON(sizeof(struct pulse) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&pulse_ops);
}

static void __exit pulse_unload(void)
{
	tcp_unregister_congestion_control(&pulse_ops);
}

module_init(pulse_load);
module_exit(pulse_unload);
MODULE_DESCRIPTION("A congestion control whose timer outlives its state");
MODULE_LICENSE("GPL");
