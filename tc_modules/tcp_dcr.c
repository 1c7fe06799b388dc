// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reno with a delayed fast retransmit, TCP-DCR (Bhandarkar, Sadry, Reddy and
 * Vaidya 2005; Hamadani and Rakocevic use it on multihop Wi-Fi). Duplicate ACKs
 * may come from a frame that the link layer is still sending again. So they count
 * only when one smoothed round-trip time has passed after the first of them.
 * Meanwhile each lets a new segment out, as usual.
 *
 * The kernel starts recovery after tp->reordering duplicate ACKs. At the first
 * one this threshold is raised out of reach. When the time is over, it is
 * restored, so the next duplicate ACK starts recovery. With SACK and RACK the
 * kernel itself goes by time: meanwhile its reordering window has this length,
 * too, but at most one round-trip time.
 *
 * A module cannot start recovery in another way. If no more ACKs arrive, RACK's
 * timer or the retransmission timer decides.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "counters.h"

#define OUT_OF_REACH 16384 /* duplicate ACKs; times a segment's size it fits the sequence space */

static unsigned short delay_percent = 100;
module_param(delay_percent, ushort, 0644);
MODULE_PARM_DESC(delay_percent, "how long fast retransmit waits, in percent of one smoothed round-trip time; 0: Reno (100)");

enum { FLOWS, FLOWS_NOW, DELAYED, FILLED, RETRANSMITTED, TIMED_OUT };
static const char *const counter_names[] = {
	"flows", "flows_now", "holes_delayed", "holes_filled", "holes_retransmitted", "holes_timed_out", NULL
};

static struct counters counters = { .names = counter_names };

enum phase { IDLE, WAITING, WAITED };

/* The state of a flow; all zero at the start. */
struct dcr {
	u64 until_us;		/* the end of the wait, on tcp_mstamp's clock */
	u32 hole;		/* its start */
	u32 reordering;		/* the kernel's own threshold while waiting, */
	u8 steps, persist;	/* and steps of RACK's window */
	u8 phase;
	bool initialized;	/* sockets are also released without initialization */
};

static void dcr_wait(struct tcp_sock *tp, struct dcr *dcr)
{
	u64 delay = div_u64((u64)(tp->srtt_us >> 3) * READ_ONCE(delay_percent), 100);
	u32 step = max(tcp_min_rtt(tp) >> 2, 1U);

	if (tp->reordering != OUT_OF_REACH)
		dcr->reordering = tp->reordering;
	if (dcr->phase != WAITING) {
		dcr->steps = tp->rack.reo_wnd_steps;
		dcr->persist = tp->rack.reo_wnd_persist;
	}
	dcr->phase = WAITING;
	dcr->hole = tp->snd_una;
	dcr->until_us = tp->tcp_mstamp + delay;
	tp->reordering = OUT_OF_REACH;
	/* RACK's window in steps of a quarter of the shortest round-trip time; without persistence, one step. */
	tp->rack.reo_wnd_steps = min_t(u64, div_u64(delay + step - 1, step), U8_MAX);
	tp->rack.reo_wnd_persist = TCP_RACK_RECOVERY_THRESH;
}

static void dcr_stop(struct tcp_sock *tp, struct dcr *dcr, enum phase phase)
{
	if (dcr->phase == WAITING) {
		tp->rack.reo_wnd_steps = dcr->steps;
		tp->rack.reo_wnd_persist = dcr->persist;
		if (tp->reordering == OUT_OF_REACH) /* otherwise the kernel has learned another value */
			tp->reordering = dcr->reordering;
	}
	dcr->phase = phase;
}

/*
 * Called before each ACK is processed. SACK blocks have been read. A duplicate ACK without them
 * reaches dcr_set_state() first.
 */
static void dcr_in_ack_event(struct sock *sk, u32 flags)
{
	struct dcr *dcr = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		return;
	if (dcr->phase == IDLE && tp->sacked_out) {
		atomic64_inc(&counters.value[DELAYED]);
		dcr_wait(tp, dcr);
	} else if (dcr->phase != IDLE && dcr->hole != tp->snd_una) {
		dcr_wait(tp, dcr); /* that hole is filled; if there is another one, its wait begins */
	}
	if (dcr->phase == WAITING && tp->tcp_mstamp >= dcr->until_us)
		dcr_stop(tp, dcr, WAITED);
}

static void dcr_set_state(struct sock *sk, u8 state)
{
	static const u8 outcome[] = {
		[TCP_CA_Open] = FILLED, [TCP_CA_Recovery] = RETRANSMITTED, [TCP_CA_Loss] = TIMED_OUT
	};
	struct dcr *dcr = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (state == TCP_CA_CWR)
		return; /* as in Disorder, duplicate ACKs continue to be counted */
	if (state == TCP_CA_Disorder) {
		if (dcr->phase != IDLE || !tp->sacked_out)
			return;
		atomic64_inc(&counters.value[DELAYED]);
		dcr_wait(tp, dcr);
	} else if (dcr->phase != IDLE) {
		atomic64_inc(&counters.value[outcome[state]]);
		dcr_stop(tp, dcr, IDLE);
	}
}

/*
 * With the raised threshold the kernel also calls this for data that is only SACKed; meanwhile the
 * window stays the same.
 */
static void dcr_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct dcr *dcr = inet_csk_ca(sk);

	if (dcr->phase != WAITING)
		tcp_reno_cong_avoid(sk, ack, acked);
}

static void dcr_init(struct sock *sk)
{
	struct dcr *dcr = inet_csk_ca(sk);

	dcr->initialized = true;
	atomic64_inc(&counters.value[FLOWS]);
	atomic64_inc(&counters.value[FLOWS_NOW]);
}

static void dcr_release(struct sock *sk)
{
	struct dcr *dcr = inet_csk_ca(sk);

	dcr_stop(tcp_sk(sk), dcr, IDLE);
	if (dcr->initialized)
		atomic64_dec(&counters.value[FLOWS_NOW]);
}

static struct tcp_congestion_ops ops = {
	.name = "dcr",
	.owner = THIS_MODULE,
	.init = dcr_init,
	.release = dcr_release,
	.set_state = dcr_set_state,
	.in_ack_event = dcr_in_ack_event,
	.cong_avoid = dcr_cong_avoid,
	.ssthresh = tcp_reno_ssthresh,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static struct dentry *folder;

static int __init dcr_register(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct dcr) > ICSK_CA_PRIV_SIZE);
	err = tcp_register_congestion_control(&ops);
	if (err)
		return err;
	folder = debugfs_create_dir(KBUILD_MODNAME, NULL);
	counters_file(&counters, "dcr", folder);
	return 0;
}

static void __exit dcr_unregister(void)
{
	debugfs_remove_recursive(folder);
	tcp_unregister_congestion_control(&ops);
}

module_init(dcr_register);
module_exit(dcr_unregister);
MODULE_DESCRIPTION("TCP Reno whose fast retransmit is delayed by one round-trip time (dcr)");
MODULE_LICENSE("GPL");
#ifdef SOURCE_SHA256 /* from Kbuild */
MODULE_INFO(source_sha256, SOURCE_SHA256);
#endif
