/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block acknowledgment, HT-immediate with a compressed bitmap (IEEE 802.11-2020,
 * 10.25): what the originator may send, and what the recipient remembers.
 *
 * Sequence numbers count modulo 4096. One is before another if it is less than
 * half of the sequence space behind it. The caller owns the memory of both halves
 * of an agreement.
 */
#ifndef DCF_BLOCKACK_H
#define DCF_BLOCKACK_H

#include "ampdu.h"

#define BLOCKACK_WINDOW 256
#define SEQUENCE_NUMBERS 4096

/* The distance from @b back to @a. */
static inline u16 sequence_from(u16 a, u16 b)
{
	return (b - a) & (SEQUENCE_NUMBERS - 1);
}

struct dcf_frame;

/* The originator's half: one for each recipient and TID. */
struct dcf_session {
	struct dcf_limits limits;
	u16 window; /* WinSizeO */
	u16 start; /* WinStartO: the oldest MPDU that has not ended */
	u16 next; /* the number after that of the newest MPDU from the caller */
	u8 tries; /* transmissions of an MPDU before it is given up */
	u16 mode; /* of all PPDUs, whenever they are sent; 0: each frame has its own */
	struct dcf_frame *oldest; /* the core's: the oldest MPDU that waits, or NULL */
};

/* Bytes of a block ACK for a window of this size, with its FCS (9.3.1.8). */
static inline u32 block_ack_len(u16 window)
{
	return window > 64 ? 56 : 32;
}

/* 10.25.6.7: only WinStartO .. WinStartO + WinSizeO - 1 may be sent. */
static inline bool session_holds(const struct dcf_session *session, u16 sequence)
{
	return sequence_from(session->start, sequence) < session->window;
}

/* The recipient's half, a full-state scoreboard (10.25.6.3). */
struct dcf_scoreboard {
	struct dcf_scoreboard *next; /* of the same recipient; the core's */
	u16 from; /* the transmitter */
	u8 tid;
	u16 window; /* WinSizeR */
	u16 start; /* WinStartR */
	u64 got[BLOCKACK_WINDOW / 64]; /* by sequence number modulo 256 */
};

void scoreboard_begin(struct dcf_scoreboard *board, u16 window, u16 start);
bool scoreboard_has(const struct dcf_scoreboard *board, u16 sequence);
/* An MPDU was received. false: it lies before the window and changes nothing. */
bool scoreboard_mark(struct dcf_scoreboard *board, u16 sequence);
/* A block-ACK request was received. */
void scoreboard_move(struct dcf_scoreboard *board, u16 start);
/* The bitmap of a block ACK that starts at WinStartR. Returns its length, 8 or 32 bytes. */
u32 scoreboard_bitmap(const struct dcf_scoreboard *board, u8 *out);

#endif
