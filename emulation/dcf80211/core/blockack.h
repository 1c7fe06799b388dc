/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block acknowledgment, HT-immediate with a compressed bitmap (IEEE 802.11-2020,
 * 10.25): what the originator may send, and what the recipient remembers. Sequence
 * numbers count modulo 4096; one is before another if it is less than half a turn
 * behind. Both halves of an agreement are the caller's memory.
 */
#ifndef DCF_BLOCKACK_H
#define DCF_BLOCKACK_H

#include "ampdu.h"

#define BLOCKACK_WINDOW 256
#define SEQUENCE_NUMBERS 4096

/* How far @b lies behind @a. */
static inline u16 sequence_from(u16 a, u16 b)
{
	return (b - a) & (SEQUENCE_NUMBERS - 1);
}

/* The originator's half: one for each recipient and TID. */
struct dcf_session {
	struct dcf_limits limits;
	u16 window; /* WinSizeO */
	u16 start; /* WinStartO: the oldest that has not ended */
	u16 next; /* after the newest that has been handed over */
	u8 tries; /* of an MPDU, then it is given up */
};

/* Bytes of a block ACK with its FCS, of so large a window (9.3.1.8). */
static inline u32 block_ack_len(u16 window)
{
	return window > 64 ? 56 : 32;
}

/* 10.25.6.7: nothing outside WinStartO .. WinStartO + WinSizeO - 1 is sent. */
static inline bool session_holds(const struct dcf_session *session, u16 sequence)
{
	return sequence_from(session->start, sequence) < session->window;
}

/* The recipient's half, a full-state scoreboard (10.25.6.3). */
struct dcf_scoreboard {
	struct dcf_scoreboard *next; /* of the same recipient; the core's */
	u16 from; /* who transmits */
	u8 tid;
	u16 window; /* WinSizeR */
	u16 start; /* WinStartR */
	u64 got[BLOCKACK_WINDOW / 64]; /* by sequence number modulo 256 */
};

void scoreboard_begin(struct dcf_scoreboard *board, u16 window, u16 start);
bool scoreboard_has(const struct dcf_scoreboard *board, u16 sequence);
/* An MPDU was received. false: it lies before the window, and changes nothing. */
bool scoreboard_mark(struct dcf_scoreboard *board, u16 sequence);
/* A block-ACK request was. */
void scoreboard_move(struct dcf_scoreboard *board, u16 start);
/* The bitmap of a block ACK that starts at WinStartR: its length, 8 or 32 bytes. */
u32 scoreboard_bitmap(const struct dcf_scoreboard *board, u8 *out);

#endif
