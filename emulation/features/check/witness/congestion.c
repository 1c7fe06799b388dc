// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of a congestion control: arguments, result, and the fields of the socket that it may change. Its own state
 * in the socket comes last.
 *
 * Few flows have large windows or long round-trip times. So some acknowledgements are followed by calls that the kernel
 * did not make, with other windows (tried=1). Afterwards the socket is as it was before.
 */
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "witness.h"

struct control {
	const void *ops;
	struct tcp_congestion_ops own;
};

static struct control controls[MOST_WATCHED];
static bool trying;

static struct control *control_of(const struct sock *sk)
{
	return witness_find(controls, sizeof(*controls), inet_csk(sk)->icsk_ca_ops);
}

static void begin_control(const struct control *control, const char *operation, const struct sock *sk, u32 window,
			  u32 threshold)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	witness_begin(operation);
	witness_add(" %zu:%u>%u state=%u out=%u before=%u/%u", control - controls, inet_sk(sk)->inet_num,
		    ntohs(inet_sk(sk)->inet_dport), inet_csk(sk)->icsk_ca_state, tp->packets_out, window, threshold);
	if (trying)
		witness_add(" tried=1 srtt_us=%u", tp->srtt_us >> 3);
}

static void end_control(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	witness_add(" snd_cwnd=%u snd_cwnd_cnt=%u snd_ssthresh=%u snd_cwnd_clamp=%u sk_pacing_rate=%lu sk_pacing_status=%u prior_cwnd=%u reordering=%u ecn_flags=%u app_limited=%u |",
		    tcp_snd_cwnd(tp), tp->snd_cwnd_cnt, tp->snd_ssthresh, tp->snd_cwnd_clamp,
		    READ_ONCE(sk->sk_pacing_rate), READ_ONCE(sk->sk_pacing_status), tp->prior_cwnd, tp->reordering,
		    tp->ecn_flags, tp->app_limited);
	witness_bytes(inet_csk(sk)->icsk_ca_priv, sizeof(inet_csk(sk)->icsk_ca_priv));
	witness_end();
}

/* The wrapper of an operation that returns nothing: its parameters, how it passes them on, and how they are shown. */
#define WATCHER(operation, parameters, arguments, ...)				\
static void watch_##operation parameters					\
{										\
	struct control *control = control_of(sk);				\
	u32 window = tcp_snd_cwnd(tcp_sk(sk)), threshold = tcp_sk(sk)->snd_ssthresh; \
										\
	control->own.operation arguments;					\
	begin_control(control, #operation, sk, window, threshold);		\
	witness_add(__VA_ARGS__);						\
	end_control(sk);							\
}

WATCHER(init, (struct sock *sk), (sk), " ")
WATCHER(release, (struct sock *sk), (sk), " ")
WATCHER(set_state, (struct sock *sk, u8 state), (sk, state), " new_state=%u", state)
WATCHER(cwnd_event, (struct sock *sk, enum tcp_ca_event event), (sk, event), " event=%u", event)
WATCHER(in_ack_event, (struct sock *sk, u32 flags), (sk, flags), " flags=%u", flags)
WATCHER(pkts_acked, (struct sock *sk, const struct ack_sample *sample), (sk, sample),
	" acked=%u rtt_us=%d in_flight=%u", sample->pkts_acked, sample->rtt_us, sample->in_flight)
WATCHER(cong_control, (struct sock *sk, u32 ack, int flag, const struct rate_sample *sample), (sk, ack, flag, sample),
	" flag=%d delivered=%d acked=%u losses=%d", flag, sample->delivered, sample->acked_sacked, sample->losses)

#define ANSWERER(operation)							\
static u32 watch_##operation(struct sock *sk)					\
{										\
	struct control *control = control_of(sk);				\
	u32 window = tcp_snd_cwnd(tcp_sk(sk)), threshold = tcp_sk(sk)->snd_ssthresh; \
	u32 result = control->own.operation(sk);				\
										\
	begin_control(control, #operation, sk, window, threshold);		\
	witness_add(" returned=%u", result);					\
	end_control(sk);							\
	return result;								\
}

ANSWERER(ssthresh)
ANSWERER(undo_cwnd)
ANSWERER(min_tso_segs)
ANSWERER(sndbuf_expand)

static const u32 windows[] = { 1, 2, 3, 5, 10, 30, 100, 1000, 5000, 40000, 90000, 1 << 20 };
static const u32 times_us[] = { 1, 1000, 20000, 100000, 1000000, 5000000 };
static const u32 counts[] = { 1, 1, 2, 3, 10, 100 };

#define ONE_OF(numbers) ((numbers)[witness_draw(ARRAY_SIZE(numbers))])
#define TRIES 16
#define TRIED_AFTER 3	/* one in this many acknowledgements */

static void try_window(struct tcp_sock *tp)
{
	u32 window = ONE_OF(windows);
	u32 thresholds[] = { 2, max(window / 2, 2U), max(window, 2U), window + 1, window * 2 + 2, TCP_INFINITE_SSTHRESH };

	tcp_snd_cwnd_set(tp, window);
	tp->snd_ssthresh = ONE_OF(thresholds);
	tp->prior_cwnd = ONE_OF(windows);
	tp->snd_cwnd_cnt = witness_draw(3) * window / 2;
	tp->max_packets_out = witness_draw(2) ? window : window / 3;
	tp->is_cwnd_limited = witness_draw(4) > 0;
	tp->srtt_us = ONE_OF(times_us) << 3;
}

/* Make some calls more, each in a state that the one before has left, or with another window. */
static void try_more(struct sock *sk)
{
	const struct tcp_congestion_ops *ops = inet_csk(sk)->icsk_ca_ops;
	struct inet_connection_sock *icsk = inet_csk(sk);
	u8 own[sizeof(icsk->icsk_ca_priv)], state = icsk->icsk_ca_state;
	static struct tcp_sock before;	/* too large for the stack */
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned long rate = sk->sk_pacing_rate;
	struct ack_sample sample;
	int i;

	if (trying || sk->sk_state != TCP_ESTABLISHED || witness_draw(TRIED_AFTER))
		return;
	trying = true;
	before = *tp;
	memcpy(own, icsk->icsk_ca_priv, sizeof(own));
	for (i = 0; i < TRIES; i++) {
		if (i % 4 == 0)
			try_window(tp);
		switch (witness_draw(8)) {
		case 0:
		case 1:
			sample = (struct ack_sample){ .pkts_acked = ONE_OF(counts), .rtt_us = ONE_OF(times_us),
						      .in_flight = ONE_OF(windows) };
			if (ops->pkts_acked)
				ops->pkts_acked(sk, &sample);
			break;
		case 2:
			ops->ssthresh(sk);
			break;
		case 3:
			ops->undo_cwnd(sk);
			break;
		case 4:
			if (ops->set_state)
				ops->set_state(sk, witness_draw(TCP_CA_Loss + 1));
			break;
		default:
			ops->cong_avoid(sk, witness_draw(2) ? tp->snd_una : tp->snd_nxt + 1, ONE_OF(counts));
		}
	}
	tcp_snd_cwnd_set(tp, tcp_snd_cwnd(&before));
	tp->snd_ssthresh = before.snd_ssthresh;
	tp->prior_cwnd = before.prior_cwnd;
	tp->snd_cwnd_cnt = before.snd_cwnd_cnt;
	tp->snd_cwnd_stamp = before.snd_cwnd_stamp;
	tp->max_packets_out = before.max_packets_out;
	tp->is_cwnd_limited = before.is_cwnd_limited;
	tp->srtt_us = before.srtt_us;
	tp->reordering = before.reordering;
	tp->ecn_flags = before.ecn_flags;
	sk->sk_pacing_rate = rate;
	icsk->icsk_ca_state = state;
	memcpy(icsk->icsk_ca_priv, own, sizeof(own));
	trying = false;
}

static void watch_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct control *control = control_of(sk);
	u32 window = tcp_snd_cwnd(tcp_sk(sk)), threshold = tcp_sk(sk)->snd_ssthresh;

	control->own.cong_avoid(sk, ack, acked);
	begin_control(control, "cong_avoid", sk, window, threshold);
	witness_add(" acked=%u", acked);
	end_control(sk);
	try_more(sk);
}

static size_t watch_get_info(struct sock *sk, u32 ext, int *attribute, union tcp_cc_info *info)
{
	struct control *control = control_of(sk);
	u32 window = tcp_snd_cwnd(tcp_sk(sk)), threshold = tcp_sk(sk)->snd_ssthresh;
	size_t size = control->own.get_info(sk, ext, attribute, info);

	begin_control(control, "get_info", sk, window, threshold);
	witness_add(" returned=%zu shown=", size);
	witness_bytes(info, min(size, sizeof(*info)));
	end_control(sk);
	return size;
}

#define OPERATIONS(each, ...) do {		\
	each(ssthresh, __VA_ARGS__);		\
	each(cong_avoid, __VA_ARGS__);		\
	each(set_state, __VA_ARGS__);		\
	each(cwnd_event, __VA_ARGS__);		\
	each(in_ack_event, __VA_ARGS__);	\
	each(pkts_acked, __VA_ARGS__);		\
	each(min_tso_segs, __VA_ARGS__);	\
	each(cong_control, __VA_ARGS__);	\
	each(undo_cwnd, __VA_ARGS__);		\
	each(sndbuf_expand, __VA_ARGS__);	\
	each(get_info, __VA_ARGS__);		\
	each(init, __VA_ARGS__);		\
	each(release, __VA_ARGS__);		\
} while (0)

int witness_tcp_register_congestion_control(struct tcp_congestion_ops *ops);

#define TELL(operation, ops) witness_add("%s", (ops)->operation ? " " #operation : "")

int witness_tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	struct control *control = witness_find(controls, sizeof(*controls), NULL);
	int error;

	if (!control)
		return tcp_register_congestion_control(ops);
	*control = (struct control){ .ops = ops, .own = *ops };
	OPERATIONS(WRAP, ops);
	witness_begin("register");
	witness_add(" %zu flags=%u has", control - controls, ops->flags);
	OPERATIONS(TELL, ops);
	witness_end();
	error = tcp_register_congestion_control(ops);
	if (error) {
		OPERATIONS(UNWRAP, ops, &control->own);
		control->ops = NULL;
	}
	return error;
}
EXPORT_SYMBOL_GPL(witness_tcp_register_congestion_control);
