// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records the state of TCP senders: one record (docs/records.md, section 8) per
 * event of a sending socket, in any network namespace, in debugfs at
 * tcp_tap/trace0.
 *
 * It only uses tracepoints, so it does not change TCP's behaviour. A sender runs
 * on a segment (tcp_probe) or on its timer (timer_expire_entry). Both are
 * recorded before the kernel acts, so such a record has the state that was valid
 * since the socket's previous record. Records of state changes and
 * retransmissions come in between.
 *
 * Records fill a sub-buffer exactly, so a plain read always gets all of them.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <linux/tracepoint.h>
#include <net/tcp.h>
#include <trace/events/tcp.h>
#include <trace/events/timer.h>

#include "channel.h"
#include "compat.h"

#define NAME "tcp_tap"
#define RECORDS 4096 /* per sub-buffer */
#define SUBBUFS 4

enum event { ACK = 1, STATE, RETRANSMIT, CLOSE, TIMER };

/* Little-endian, like the machines for which it is built. */
struct record {
	u16 size;
	u8 event;
	u8 ca_state;
	u16 sport;
	u16 dport;
	u64 time_ns;
	u64 sent_ns;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 srtt_us;
	u32 rto_us;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 snd_una;
	u32 snd_nxt;
	u32 total_retrans;
	u32 backoff;
	__be32 saddr;
	__be32 daddr;
};

static DEFINE_RAW_SPINLOCK(lock); /* orders all CPUs' records; raw, as tracepoints may not sleep under PREEMPT_RT */
static struct channel *channel;
static void (*write_timer)(struct timer_list *timer); /* TCP's timer function, which no header declares */

static void write_record(const struct sock *sk, enum event what, u8 ca_state)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct inet_sock *inet = inet_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct record r = {
		.size = sizeof(r),
		.event = what,
		.ca_state = ca_state,
		.sport = ntohs(inet->inet_sport),
		.dport = ntohs(inet->inet_dport),
		.sent_ns = tp->tcp_wstamp_ns,
		.snd_cwnd = tcp_snd_cwnd(tp),
		.snd_ssthresh = tp->snd_ssthresh,
		.srtt_us = tp->srtt_us >> 3,
		.rto_us = jiffies_to_usecs(icsk->icsk_rto),
		.packets_out = tp->packets_out,
		.sacked_out = tp->sacked_out,
		.lost_out = tp->lost_out,
		.retrans_out = tp->retrans_out,
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.total_retrans = tp->total_retrans,
		.backoff = icsk->icsk_backoff,
		.saddr = sk->sk_family == AF_INET ? inet->inet_saddr : 0,
		.daddr = sk->sk_family == AF_INET ? inet->inet_daddr : 0,
	};
	unsigned long flags;
	struct record *at;

	raw_spin_lock_irqsave(&lock, flags);
	r.time_ns = ktime_get_ns();
	at = channel_reserve(channel, sizeof(r));
	if (at)
		*at = r;
	raw_spin_unlock_irqrestore(&lock, flags);
}

static void on_segment(void *data, TCP_PROBE_ARGS)
{
	if (tcp_sk(sk)->packets_out)
		write_record(sk, ACK, inet_csk(sk)->icsk_ca_state);
}

/* The kernel sets Loss again at each timeout; other states are recorded only when they change. */
static void on_state(void *data, struct sock *sk, const u8 ca_state)
{
	if (ca_state == TCP_CA_Loss || ca_state != inet_csk(sk)->icsk_ca_state)
		write_record(sk, STATE, ca_state);
}

static void on_retransmit(void *data, TCP_RETRANSMIT_ARGS)
{
	if (!TCP_RETRANSMIT_ERR)
		write_record(sk, RETRANSMIT, inet_csk(sk)->icsk_ca_state);
}

static void on_destroy(void *data, struct sock *sk)
{
	if (tcp_sk(sk)->data_segs_out || tcp_sk(sk)->total_retrans)
		write_record(sk, CLOSE, inet_csk(sk)->icsk_ca_state);
}

/* The socket is not locked, but its timer holds a reference. Skip a timer that was postponed meanwhile. */
static void on_timer(void *data, struct timer_list *timer, unsigned long baseclk)
{
	struct inet_connection_sock *icsk;

	if (timer->function != write_timer)
		return;
	icsk = container_of(timer, struct inet_connection_sock, ICSK_RETRANSMIT_TIMER);
	if (icsk->icsk_pending && !time_after(timer->expires, jiffies))
		write_record(&icsk->icsk_inet.sk, TIMER, icsk->icsk_ca_state);
}

static struct probe {
	const char *name;
	void *function;
	struct tracepoint *point;
} probes[] = {
	{ "tcp_probe", on_segment },
	{ "tcp_cong_state_set", on_state },
	{ "tcp_retransmit_skb", on_retransmit },
	{ "tcp_destroy_sock", on_destroy },
	{ "timer_expire_entry", on_timer },
};

/* Some tracepoints are not exported, so they are found by name. The compiler still checks the probes' types. */
static void find_point(struct tracepoint *point, void *data)
{
	int i;

	check_trace_callback_type_tcp_probe(on_segment);
	check_trace_callback_type_tcp_cong_state_set(on_state);
	check_trace_callback_type_tcp_retransmit_skb(on_retransmit);
	check_trace_callback_type_tcp_destroy_sock(on_destroy);
	check_trace_callback_type_timer_expire_entry(on_timer);
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(point->name, probes[i].name))
			probes[i].point = point;
}

static void remove_probes(int count)
{
	while (count--)
		tracepoint_probe_unregister(probes[count].point, probes[count].function, NULL);
	tracepoint_synchronize_unregister();
}

static int add_probes(void)
{
	int i, err;

	for_each_kernel_tracepoint(find_point, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = -ENOENT;
		if (probes[i].point)
			err = tracepoint_probe_register(probes[i].point, probes[i].function, NULL);
		if (err) {
			pr_err(NAME ": no tracepoint %s: %d\n", probes[i].name, err);
			remove_probes(i);
			return err;
		}
	}
	return 0;
}

static int find_write_timer(void)
{
	struct socket *sock;
	int err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);

	if (err)
		return err;
	write_timer = inet_csk(sock->sk)->ICSK_RETRANSMIT_TIMER.function;
	sock_release(sock);
	return 0;
}

static int __init tcp_tap_init(void)
{
	int err = find_write_timer();

	if (err)
		return err;
	channel = channel_open(NAME, RECORDS * sizeof(struct record), SUBBUFS);
	if (IS_ERR(channel))
		return PTR_ERR(channel);
	err = add_probes();
	if (err)
		channel_close(channel);
	return err;
}

static void __exit tcp_tap_exit(void)
{
	remove_probes(ARRAY_SIZE(probes));
	channel_close(channel);
}

module_init(tcp_tap_init);
module_exit(tcp_tap_exit);
MODULE_DESCRIPTION("Records what TCP senders do: window, threshold, round trip, flight, at each segment and timer");
MODULE_LICENSE("GPL");
#ifdef SOURCE_SHA256 /* from Kbuild */
MODULE_INFO(source_sha256, SOURCE_SHA256);
#endif
