// SPDX-License-Identifier: GPL-2.0-only
/*
 * What holds after each call of a congestion control: the window is within its bounds; a threshold is at least 2, or
 * all of a smaller window, and not above the window (unless the module controls the window itself, as BBR); taking
 * back a reduction gives at least the present window, and at most that or the one before the reduction; and one ACK
 * adds no more than hybla would. TCP's own fields keep their values, and the reordering that TCP expects is at least
 * 1, and not above its bound once the module is released. Some ACK raises the window, of all that come while it limits
 * a flow; and some reduction is taken back, of all that were in vain. The window does not grow while less than half of
 * it is used (RFC 7661), unless ACKs also lower it, as delays do in Vegas. Most losses leave at least 3/8 of a window
 * that is in use, and some lower it. Above the threshold the window grows by no more than what is acknowledged, or
 * hybla's growth, or once in a round trip by up to a window, and not by half in each round trip; it grows at all where
 * Reno's would have grown by 100 segments; and what snd_cwnd_cnt counted towards a raise is taken off. A connection
 * begins with no more than 10 segments, or hybla's.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "oracle.h"

#define FASTEST_SHIFT 17	/* hybla: 2^16 a segment, times less than 2 */
#define FASTEST_RTT_US 25000	/* and one doubling for each of these */

#define LEAST_CLAMP 2U		/* many set the window to at least this */
#define MANY_CALLS 1000		/* of cong_avoid */
#define SOME_UNDOS 3
#define SOME_UNUSED 20		/* calls of cong_avoid */
#define SOME_LOSSES 10
#define LEAST_WINDOW 8U		/* in use, where the threshold after a loss is compared with it */
#define SOME_GROWTH 100		/* segments */
#define MOST_INITIAL 10U	/* segments, of RFC 6928 */
#define FAST_ROUNDS 3		/* in a row */
#define SOCKETS_SHIFT 6

/* A round trip of a socket, while it stays above its threshold; and when the window grew last. */
struct round {
	const struct sock *sk;
	u32 end;		/* the first byte that is acknowledged after it */
	u32 window;		/* at its beginning */
	u32 last;		/* window after the last call */
	u32 fast;		/* rounds in a row that grew by half */
	u64 grown_us;
};

/* Of a congestion control, with what is behind it in a socket. */
#define STATE_SIZE(icsk) (sizeof((icsk)->icsk_ca_priv) + sizeof((icsk)->icsk_ca_redzone))

struct control {
	struct watched watched;
	struct tcp_congestion_ops own;
	u32 limited, raised;	/* calls of cong_avoid while the window limits the flow, and those that raised it */
	u32 unused, lowered;	/* calls that raised a window of which less than half was used, and that lowered any */
	u32 reduced, restored;	/* calls of undo_cwnd at a reduced window, and those that gave all of it back */
	u32 losses, deep, kept;	/* calls of ssthresh in earnest; with less than 3/8; with all of the window */
	u64 due;		/* by how much Reno would have raised windows above the threshold, in 1/1024 segments */
	u32 avoided;		/* how often such a window was raised */
	u32 unspent;		/* how often that left all in snd_cwnd_cnt that was counted towards it */
	bool larger;		/* its state also has what is behind it in a socket: see watched.h */
};

/* A socket before a call: fields that are not a congestion control's. */
struct before {
	u32 window, una, next, out, sacked, lost, again, srtt, mss, received;
};

static struct control controls[MOST_WATCHED];
static struct round rounds[1 << SOCKETS_SHIFT];	/* of the sockets that came last */

static struct control *control_of(const struct sock *sk)
{
	return oracle_find(controls, sizeof(*controls), inet_csk(sk)->icsk_ca_ops);
}

#define tell(control, rule, function, sk, format, ...) do {							\
	if (oracle_tells(&(control)->watched, rule))								\
		pr_info("dcflab: wrong window: %pS " format " (%s, %pI4:%u to %pI4:%u)\n", function,		\
			##__VA_ARGS__, (control)->own.name, &inet_sk(sk)->inet_saddr, inet_sk(sk)->inet_num,	\
			&inet_sk(sk)->inet_daddr, ntohs(inet_sk(sk)->inet_dport));				\
} while (0)

static struct before look_at_socket(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return (struct before){ .window = tcp_snd_cwnd(tp), .una = tp->snd_una, .next = tp->snd_nxt,
				.out = tp->packets_out, .sacked = tp->sacked_out, .lost = tp->lost_out,
				.again = tp->retrans_out, .srtt = tp->srtt_us, .mss = tp->mss_cache,
				.received = tp->rcv_nxt };
}

static const char *changed_field(const struct before *one, const struct before *other)
{
	return one->una != other->una ? "snd_una" : one->next != other->next ? "snd_nxt" :
	       one->out != other->out ? "packets_out" : one->sacked != other->sacked ? "sacked_out" :
	       one->lost != other->lost ? "lost_out" : one->again != other->again ? "retrans_out" :
	       one->srtt != other->srtt ? "srtt_us" : one->mss != other->mss ? "mss_cache" :
	       one->received != other->received ? "rcv_nxt" : NULL;
}

static void check_socket(struct control *control, const void *function, struct sock *sk, const struct before *past)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 window = tcp_snd_cwnd(tp), before = past->window, clamp = max(tp->snd_cwnd_clamp, LEAST_CLAMP);
	struct before now = look_at_socket(sk);
	const char *field = changed_field(past, &now);

	if ((s32)window <= 0 && (s32)before > 0)
		tell(control, RULE_WINDOW, function, sk, "left a congestion window of %d, before %u; 1 is the least",
		     window, before);
	else if (window > clamp && before <= clamp)
		tell(control, RULE_CLAMP, function, sk, "left a congestion window of %u, above its clamp of %u",
		     window, clamp);
	if (field)
		tell(control, RULE_FIELD, function, sk, "changed %s of the socket, which is TCP's own", field);
	if (!tp->reordering)
		tell(control, RULE_REORDERING, function, sk, "left tp->reordering 0; the kernel's least is %d",
		     READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering));
}

/* Call an operation that returns nothing, and check the socket. */
#define WATCH(found, operation, sk, ...) do {					\
	struct control *control_ = found;					\
	struct before before_ = look_at_socket(sk);				\
										\
	control_->own.operation(sk, ##__VA_ARGS__);				\
	check_socket(control_, control_->own.operation, sk, &before_);		\
} while (0)

/* The wrapper of such an operation, with its parameters and how it passes them on. */
#define WATCHER(operation, parameters, ...)					\
static void watch_##operation parameters					\
{										\
	WATCH(control_of(sk), operation, sk, ##__VA_ARGS__);			\
}

WATCHER(set_state, (struct sock *sk, u8 state), state)
WATCHER(cwnd_event, (struct sock *sk, enum tcp_ca_event event), event)
WATCHER(in_ack_event, (struct sock *sk, u32 flags), flags)
WATCHER(pkts_acked, (struct sock *sk, const struct ack_sample *sample), sample)
WATCHER(cong_control, (struct sock *sk, u32 ack, int flag, const struct rate_sample *sample), ack, flag, sample)

/* Return the segments by which hybla grows in a round trip, or with which it begins, if it is `squared` or not. */
static u64 hybla_growth(const struct tcp_sock *tp, bool squared)
{
	u64 rho = 1 + (tp->srtt_us >> 3) / FASTEST_RTT_US;

	return squared ? rho * rho : rho;
}

static void watch_init(struct sock *sk)
{
	struct control *control = control_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 before = tcp_snd_cwnd(tp), window, undone;

	if (control->larger)
		memory_allow(inet_csk(sk)->icsk_ca_redzone, sizeof(inet_csk(sk)->icsk_ca_redzone));
	if (control->own.init)
		WATCH(control, init, sk);
	window = tcp_snd_cwnd(tp);
	if (oracle_policy && window > max(before, MOST_INITIAL) + hybla_growth(tp, false))
		tell(control, RULE_INITIAL, control->own.init, sk,
		     "began with a congestion window of %u segments, before %u, at a round-trip time of %u us", window,
		     before, tp->srtt_us >> 3);
	/* As if the congestion control changed in recovery, and the loss turned out to be none. */
	if (!control->own.undo_cwnd || sk->sk_state != TCP_ESTABLISHED || control_of(sk) != control)
		return;
	undone = control->own.undo_cwnd(sk);
	if (undone < window)
		tell(control, RULE_UNDO, control->own.undo_cwnd, sk,
		     "returned %u to undo a reduction that an earlier congestion control made; the congestion window is %u",
		     undone, window);
}

/* Check how fast the window grows above the threshold, round trip by round trip. */
static void check_round(struct control *control, struct sock *sk, u32 ack, u32 past)
{
	struct round *round = &rounds[hash_ptr(sk, SOCKETS_SHIFT)];
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window = tcp_snd_cwnd(tp), from = round->window;
	bool begins = round->sk != sk || round->last != past || past < tp->snd_ssthresh;

	round->last = window;
	if (window > past)
		round->grown_us = tp->tcp_mstamp;
	if (!begins && before(ack, round->end))
		return;
	if (!begins && window > from + from / 2 + 4 + hybla_growth(tp, true))
		round->fast++;
	else
		round->fast = 0;
	if (oracle_policy && round->fast >= FAST_ROUNDS)
		tell(control, RULE_ROUND, control->own.cong_avoid, sk,
		     "raised the congestion window by half or more in each of %u round trips above the threshold of %u, in the last from %u to %u",
		     round->fast, tp->snd_ssthresh, from, window);
	*round = (struct round){ .sk = sk, .end = tp->snd_nxt, .window = window, .last = window, .fast = round->fast,
				 .grown_us = round->grown_us };
}

/* Return by how much the window may grow above the threshold: by what is acknowledged, or at once in a round trip. */
static u32 due_above(const struct sock *sk, u32 acked)
{
	const struct round *round = &rounds[hash_ptr(sk, SOCKETS_SHIFT)];
	const struct tcp_sock *tp = tcp_sk(sk);
	bool once = round->sk == sk && tp->tcp_mstamp - round->grown_us >= tcp_min_rtt(tp);

	return once ? max(acked, tcp_snd_cwnd(tp)) : acked;
}

static void watch_release(struct sock *sk)
{
	struct control *control = control_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 most = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_max_reordering);
	unsigned long state = (unsigned long)inet_csk_ca(sk), size = STATE_SIZE(inet_csk(sk));
	unsigned int users = refcount_read(&sk->sk_refcnt);

	WATCH(control, release, sk);
	if (refcount_read(&sk->sk_refcnt) == users)
		late_in_state(state, size);
	else	/* a timer that was due was a user of the socket */
		late_forget(state, size);
	if (tp->reordering > most)
		tell(control, RULE_REORDERING, control->own.release, sk,
		     "left tp->reordering %u, above tcp_max_reordering, to the next congestion control", tp->reordering);
}

static void watch_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct control *control = control_of(sk);
	bool limited = acked && tcp_is_cwnd_limited(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 before_count = tp->snd_cwnd_cnt;
	u32 before = tcp_snd_cwnd(tp), shift = min(FASTEST_SHIFT, 1 + (tp->srtt_us >> 3) / FASTEST_RTT_US);
	bool above = before >= tp->snd_ssthresh, avoids = limited && above && before < tp->snd_cwnd_clamp;
	u64 most = before + (above ? due_above(sk, acked) + 1 + hybla_growth(tp, true) / max(before, 1U) :
				     (u64)max(acked, 1U) << shift);
	bool unused = oracle_policy && !tp->is_cwnd_limited && before / 2 > tp->max_packets_out;

	WATCH(control, cong_avoid, sk, ack, acked);
	control->unused += unused && tcp_snd_cwnd(tp) > before;
	control->lowered += tcp_snd_cwnd(tp) < before;
	control->limited += limited;
	control->raised += limited && (tcp_snd_cwnd(tp) > before || tp->snd_cwnd_cnt > before_count);
	control->due += avoids ? ((u64)acked << 10) / max(before, 1U) : 0;
	control->avoided += avoids && tcp_snd_cwnd(tp) > before;
	control->unspent += above && tcp_snd_cwnd(tp) > before && acked && tp->snd_cwnd_cnt >= before_count + acked;
	check_round(control, sk, ack, before);
	if (control->unspent >= SOME_UNUSED)
		tell(control, RULE_UNSPENT, control->own.cong_avoid, sk,
		     "raised the congestion window %u times and let snd_cwnd_cnt grow, now to %u: acknowledged segments count again",
		     control->unspent, tp->snd_cwnd_cnt);
	if (oracle_policy && tcp_snd_cwnd(tp) > most)
		tell(control, RULE_GROWTH, control->own.cong_avoid, sk,
		     "raised the congestion window from %u to %u for %u acknowledged segments, %s the threshold", before,
		     tcp_snd_cwnd(tp), acked, above ? "above" : "below");
}

static u32 watch_ssthresh(struct sock *sk)
{
	struct control *control = control_of(sk);
	struct before before = look_at_socket(sk);
	u32 window = before.window, threshold = control->own.ssthresh(sk), used = min(window, before.out);

	check_socket(control, control->own.ssthresh, sk, &before);
	if (threshold < min(window, 2U))
		tell(control, RULE_THRESHOLD_0, control->own.ssthresh, sk,
		     "returned %u at a congestion window of %u segments; 2 is the least threshold", threshold, window);
	else if (oracle_policy && !control->own.cong_control && threshold > max(window, 2U))
		tell(control, RULE_THRESHOLD, control->own.ssthresh, sk,
		     "returned %u as the threshold after a loss, above the congestion window of %u segments",
		     threshold, window);
	if (oracle_policy && used >= LEAST_WINDOW) {
		control->losses++;
		control->deep += threshold < used * 3 / 8;
		control->kept += threshold >= window;
	}
	return threshold;
}

static u32 watch_undo_cwnd(struct sock *sk)
{
	struct control *control = control_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct before before = look_at_socket(sk);
	u32 window = before.window, most = max(window, tp->prior_cwnd), undone = control->own.undo_cwnd(sk);

	check_socket(control, control->own.undo_cwnd, sk, &before);
	control->reduced += window < tp->prior_cwnd;
	control->restored += window < tp->prior_cwnd && undone >= tp->prior_cwnd;
	if (undone < window || undone > most)
		tell(control, RULE_UNDO, control->own.undo_cwnd, sk,
		     "returned %u to undo a reduction from %u segments; the congestion window is %u", undone,
		     tp->prior_cwnd, window);
	return undone;
}

int oracle_tcp_register_congestion_control(struct tcp_congestion_ops *ops);
int oracle_register_larger(struct tcp_congestion_ops *ops);
void oracle_tcp_unregister_congestion_control(struct tcp_congestion_ops *ops);

#define OPERATIONS(each, ...) do {						\
	each(ssthresh, __VA_ARGS__);						\
	each(cong_avoid, __VA_ARGS__);						\
	each(set_state, __VA_ARGS__);						\
	each(cwnd_event, __VA_ARGS__);						\
	each(in_ack_event, __VA_ARGS__);					\
	each(pkts_acked, __VA_ARGS__);						\
	each(cong_control, __VA_ARGS__);					\
	each(undo_cwnd, __VA_ARGS__);						\
	each(init, __VA_ARGS__);						\
	each(release, __VA_ARGS__);						\
} while (0)

static void unwrap_control(struct tcp_congestion_ops *ops, struct control *control)
{
	OPERATIONS(UNWRAP, ops, &control->own);
	control->watched.registered = false;
}

static int watch_control(struct tcp_congestion_ops *ops, bool larger)
{
	struct control *control = oracle_place(controls, sizeof(*controls), ops);
	int error;

	if (!control || control->watched.registered)
		return tcp_register_congestion_control(ops);
	*control = (struct control){ .watched = { .ops = ops, .registered = true }, .own = *ops, .larger = larger };
	OPERATIONS(WRAP, ops);
	ops->init = watch_init;	/* also of one without */
	error = tcp_register_congestion_control(ops);
	if (error)
		unwrap_control(ops, control);
	else
		oracle_registered++;
	return error;
}

int oracle_tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	return watch_control(ops, false);
}
EXPORT_SYMBOL_GPL(oracle_tcp_register_congestion_control);

int oracle_register_larger(struct tcp_congestion_ops *ops)
{
	return watch_control(ops, true);
}
EXPORT_SYMBOL_GPL(oracle_register_larger);

void oracle_tcp_unregister_congestion_control(struct tcp_congestion_ops *ops)
{
	struct control *control = oracle_find(controls, sizeof(*controls), ops);

	tcp_unregister_congestion_control(ops);
	if (!control || !control->watched.registered)
		return;
	unwrap_control(ops, control);
	if (control->limited >= MANY_CALLS && !control->raised && oracle_tells(&control->watched, RULE_NO_GROWTH))
		pr_info("dcflab: wrong window: %pS raised the window in none of the %u calls in which it limited the flow (%s)\n",
			control->own.cong_avoid, control->limited, control->own.name);
	if (control->unused >= SOME_UNUSED && !control->lowered && oracle_tells(&control->watched, RULE_UNUSED))
		pr_info("dcflab: wrong window: %pS raised the window in %u calls in which the flow used less than half of it: is tcp_is_cwnd_limited() asked? (%s)\n",
			control->own.cong_avoid, control->unused, control->own.name);
	if (control->due >> 10 >= SOME_GROWTH && !control->avoided && oracle_tells(&control->watched, RULE_AVOIDANCE))
		pr_info("dcflab: wrong window: %pS never raised the window above the threshold, where Reno would have added %llu segments (%s)\n",
			control->own.cong_avoid, control->due >> 10, control->own.name);
	if (control->losses >= SOME_LOSSES && control->deep * 2 > control->losses && !control->own.cong_control &&
	    oracle_tells(&control->watched, RULE_DEEP))
		pr_info("dcflab: wrong window: %pS returned less than 3/8 of the window in use as the threshold after %u of %u losses; Reno returns half of it (%s)\n",
			control->own.ssthresh, control->deep, control->losses, control->own.name);
	if (control->losses >= SOME_LOSSES && control->kept == control->losses && !control->own.cong_control &&
	    oracle_tells(&control->watched, RULE_KEPT))
		pr_info("dcflab: wrong window: %pS returned no less than the window as the threshold after all of %u losses (%s)\n",
			control->own.ssthresh, control->losses, control->own.name);
	if (control->reduced >= SOME_UNDOS && !control->restored && !control->own.cong_control &&
	    oracle_tells(&control->watched, RULE_NO_UNDO))
		pr_info("dcflab: wrong window: %pS restored the earlier window in none of the %u calls in which a loss turned out to be none (%s)\n",
			control->own.undo_cwnd, control->reduced, control->own.name);
}
EXPORT_SYMBOL_GPL(oracle_tcp_unregister_congestion_control);
