// SPDX-License-Identifier: GPL-2.0-only
#include "blockack.h"

static void board_set(struct dcf_scoreboard *board, u16 sequence, bool got)
{
	u64 *word = &board->got[sequence % BLOCKACK_WINDOW / 64], bit = 1ULL << sequence % 64;

	*word = got ? *word | bit : *word & ~bit;
}

/* Is it at @start or after it, by less than half of the sequence space? */
static bool is_ahead(u16 start, u16 sequence)
{
	return sequence_from(start, sequence) < SEQUENCE_NUMBERS / 2;
}

void scoreboard_begin(struct dcf_scoreboard *board, u16 window, u16 start)
{
	board->window = window;
	board->start = start;
	memset(board->got, 0, sizeof(board->got));
}

bool scoreboard_has(const struct dcf_scoreboard *board, u16 sequence)
{
	return sequence_from(board->start, sequence) < board->window &&
	       board->got[sequence % BLOCKACK_WINDOW / 64] >> sequence % 64 & 1;
}

/* MPDUs that are new in the window have not been received. */
void scoreboard_move(struct dcf_scoreboard *board, u16 start)
{
	u16 by = sequence_from(board->start, start), i;

	if (!is_ahead(board->start, start))
		return;
	for (i = 0; i < by && i < board->window; i++)
		board_set(board, start + board->window - 1 - i, false);
	board->start = start;
}

bool scoreboard_mark(struct dcf_scoreboard *board, u16 sequence)
{
	if (!is_ahead(board->start, sequence))
		return false;
	if (sequence_from(board->start, sequence) >= board->window)
		scoreboard_move(board, (sequence - board->window + 1) & (SEQUENCE_NUMBERS - 1));
	board_set(board, sequence, true);
	return true;
}

u32 scoreboard_bitmap(const struct dcf_scoreboard *board, u8 *out)
{
	u32 bytes = board->window > 64 ? BLOCKACK_WINDOW / 8 : 8, i;

	memset(out, 0, bytes);
	for (i = 0; i < board->window; i++)
		out[i / 8] |= scoreboard_has(board, board->start + i) << i % 8;
	return bytes;
}
