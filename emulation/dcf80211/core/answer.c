// SPDX-License-Identifier: GPL-2.0-only
/*
 * Responses: the CTS, ACK or block ACK that a station sends a SIFS after it has
 * received a frame; and the recipient's half of block-ACK agreements.
 */
#include "state.h"

static void answer_owe(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, enum dcf_kind kind,
		       u16 duration)
{
	s->owes = true;
	s->owed_kind = kind;
	s->owed_board = NULL;
	memcpy(s->owed_ra, tx->bytes + 10, DCF_ALEN); /* its transmitter address */
	memcpy(s->owed_ta, dcf_addr1(tx->bytes), DCF_ALEN);
	s->owed_to = tx->from;
	s->owed_duration = duration;
	s->owed_mode = exchange_response(dcf, tx->mode);
	s->owed_short_preamble = tx->short_preamble;
	/* With fixed timeouts, a station still waits for a response to its own frame. */
	timeline_set(dcf, s->index, EV_SIFS, dcf->config.phy.sifs_ns +
		     (timeline_has(dcf, s->index, EV_TIMEOUT) ? timeline_time(dcf, s->index, EV_TIMEOUT) : dcf->now));
	access_update(dcf, s);
}

/* The part of @tx's Duration that remains when its response is over (9.3.1.3, 9.3.1.4). */
static u16 left_after(const struct dcf *dcf, const struct transmission *tx, u32 answer_len)
{
	u16 mode = exchange_response(dcf, tx->mode), duration = dcf_get_duration(tx->bytes);
	u64 answer = exchange_airtime(dcf, mode, answer_len, tx->short_preamble);
	u16 gone = dcf_duration_us(dcf->config.phy.sifs_ns + answer);

	return duration > gone ? duration - gone : 0;
}

void answer_rts(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx)
{
	if (s->phase != CONTENDING || s->awaits_data > dcf->now)
		return; /* as in ns-2 */
	if (s->nav_end <= dcf->now || dcf_rule(dcf, DCF_CTS_IF_IDLE)) /* otherwise it sends nothing (10.3.2.7) */
		answer_owe(dcf, s, tx, DCF_CTS, left_after(dcf, tx, CTS_LEN));
}

/* The scoreboard of this transmitter's agreement at the station, or NULL. */
static struct dcf_scoreboard *board_of(const struct dcf_station *s, u16 from, const struct dcf_frame *f)
{
	struct dcf_scoreboard *board = s->boards;
	u8 tid;

	if (!board || (!f->request && !dcf_is_qos_data(f->bytes, f->len)))
		return NULL;
	tid = f->request ? dcf_block_tid(f->bytes) : dcf_tid(f->bytes, f->len);
	while (board && (board->from != from || board->tid != tid))
		board = board->next;
	return board;
}

/*
 * Handle the correctly received MPDUs of a PPDU, addressed to this station or overheard; and decide
 * which station responds.
 */
void answer_data(struct dcf *dcf, struct dcf_station *s, const struct transmission *tx, bool mine)
{
	const int slot = tx - dcf->station[tx->from].tx;
	struct dcf_scoreboard *board = NULL;
	const struct dcf_frame *f;
	u16 place = 0;

	for (f = tx->frame; f; f = mpdu_after(tx, f, slot), place++) {
		if (tx->n > 1 && mpdus_outcome(s, place) != DCF_OK)
			continue;
		board = mine ? board_of(s, tx->from, f) : NULL;
		if (board && f->request)
			scoreboard_move(board, dcf_block_start(f->bytes));
		else if (board)
			scoreboard_mark(board, dcf_sequence(f->bytes));
		dcf->ops->deliver(dcf->edge, s->index, f, tx->mode, s->rx.link.power_mdbm);
	}
	if (!mine || !frame_wants_ack(tx->frame))
		return;
	if (!frame_wants_block(tx->frame, tx->n))
		return answer_owe(dcf, s, tx, DCF_ACK, left_after(dcf, tx, ACK_LEN));
	if (!board) /* it has no such agreement, and sends nothing */
		return;
	answer_owe(dcf, s, tx, DCF_ACK, left_after(dcf, tx, block_ack_len(board->window)));
	s->owed_board = board;
}

static void send_block_ack(struct dcf *dcf, struct dcf_station *s)
{
	const struct dcf_scoreboard *board = s->owed_board;
	struct transmission *tx = medium_next_tx(s);
	u8 bitmap[BLOCKACK_WINDOW / 8];
	u32 bytes = scoreboard_bitmap(board, bitmap);

	tx->frame = NULL;
	tx->bytes = tx->control;
	tx->kind = DCF_ACK;
	tx->receiver = s->owed_to;
	tx->mode = s->owed_mode;
	tx->short_preamble = s->owed_short_preamble;
	tx->len = dcf_make_block_ack(tx->control, s->owed_ra, s->owed_ta, s->owed_duration, board->tid, board->start, bitmap,
				     bytes);
	tx->n = 1;
	tx->psdu_len = tx->len + FCS_LEN;
	medium_send(dcf, s, tx);
}

/* The CTS that is about to be sent reserves time for DATA, SIFS and an ACK. */
static void await_data(struct dcf *dcf, struct dcf_station *s)
{
	u64 cts = exchange_airtime(dcf, s->owed_mode, CTS_LEN, s->owed_short_preamble);
	u64 ack = dcf->config.phy.sifs_ns + cts;

	s->awaits_data = dcf->now + cts + dcf_max(s->owed_duration * US, ack) - ack + 2 * NS2_DELAY_NS;
}

void answer_send(struct dcf *dcf, struct dcf_station *s, bool idle)
{
	s->owes = false;
	if (s->owed_board)
		return send_block_ack(dcf, s);
	if (s->owed_kind == DCF_CTS && !idle && dcf_rule(dcf, DCF_CTS_IF_IDLE))
		return access_update(dcf, s);
	if (s->owed_kind == DCF_CTS && dcf_rule(dcf, DCF_AWAIT_DATA))
		await_data(dcf, s);
	exchange_send_control(dcf, s, s->owed_kind, s->owed_ra, NULL, s->owed_to, s->owed_duration, s->owed_mode,
			      s->owed_short_preamble, NULL);
}

void answer_forget(struct dcf *dcf, struct dcf_station *s)
{
	s->owes = false;
	timeline_cancel(dcf, s->index, EV_SIFS);
	access_update(dcf, s);
}
