// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sound, and unlike the kernel's own: the window grows by a sixteenth at once, once in a round trip. A timer in the state
 * is a user of its socket, which stays until the timer's function has ended. A number is written with a mark and read
 * without one; its larger value looks like an address of the lab's kernel.
 */
#include <linux/module.h>
#include <linux/timer.h>
#include <net/tcp.h>

struct steps {
	struct timer_list timer;
	struct sock *sk;
	u32 round_end;
};

#define SMALL 5
#define LARGE 0x61000000

static atomic_t beats;
static u64 number = SMALL;

static int other_number(const char *value, const struct kernel_param *param)
{
	WRITE_ONCE(number, number == SMALL ? LARGE : SMALL);
	return 0;
}

static const struct kernel_param_ops number_ops = { .set = other_number };
module_param_cb(number, &number_ops, NULL, 0200);
MODULE_PARM_DESC(number, "Change the number, whatever is written");

static void steps_beat(struct timer_list *timer)
{
	struct steps *steps = from_timer(steps, timer, timer);
	struct sock *sk = steps->sk;

	atomic_inc(&beats);
	sock_put(sk);
}

static void steps_init(struct sock *sk)
{
	struct steps *steps = inet_csk_ca(sk);

	*steps = (struct steps){ .sk = sk, .round_end = tcp_sk(sk)->snd_nxt };
	timer_setup(&steps->timer, steps_beat, 0);
	sock_hold(sk);
	mod_timer(&steps->timer, jiffies + 60 * HZ);
}

static void steps_release(struct sock *sk)
{
	struct steps *steps = inet_csk_ca(sk);

	if (steps->sk && timer_delete(&steps->timer))
		__sock_put(sk);
}

static void steps_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct steps *steps = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window = tcp_snd_cwnd(tp);

	if (!number || !tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		steps->round_end = tp->snd_nxt;
	} else if (after(ack, steps->round_end)) {
		steps->round_end = tp->snd_nxt;
		tcp_snd_cwnd_set(tp, min(window + max(window / 16, 1U), tp->snd_cwnd_clamp));
	}
}

static struct tcp_congestion_ops steps_ops __read_mostly = {
	.init		= steps_init,
	.release	= steps_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= steps_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "steps",
};

static int __init steps_load(void)
{
	BUILD_BUG_ON(sizeof(struct steps) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&steps_ops);
}

static void __exit steps_unload(void)
{
	tcp_unregister_congestion_control(&steps_ops);
}

module_init(steps_load);
module_exit(steps_unload);
MODULE_DESCRIPTION("A congestion control that grows in steps");
MODULE_LICENSE("GPL");
