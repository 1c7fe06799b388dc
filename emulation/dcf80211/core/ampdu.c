// SPDX-License-Identifier: GPL-2.0-only
#include "ampdu.h"

static u32 ampdu_pad(u32 len)
{
	return (len + 3) & ~3U;
}

/* Do @bytes take the minimum start spacing at the data rate (10.12.3)? */
static bool takes_spacing(const struct dcf_mode *mode, u32 spacing_ns, u32 bytes)
{
	return 8ULL * bytes * mode->symbol_ns >= (u64)spacing_ns * mode->bits;
}

/* The bytes that do, rounded up to whole delimiters. */
static u32 spacing_bytes(const struct dcf_mode *mode, u32 spacing_ns)
{
	u64 per = 8ULL * mode->symbol_ns;

	return ampdu_pad(((u64)spacing_ns * mode->bits + per - 1) / per);
}

struct ampdu ampdu_with(const struct ampdu *a, const struct dcf_mode *mode, u32 spacing_ns, u32 len)
{
	u32 start = ampdu_pad(a->len);

	if (a->n && !takes_spacing(mode, spacing_ns, start - a->start)) /* delimiters without an MPDU lie between */
		start = a->start + spacing_bytes(mode, spacing_ns);
	return (struct ampdu){ .n = a->n + 1, .start = start, .len = start + AMPDU_DELIMITER + len };
}

u32 ampdu_psdu_len(const struct ampdu *a, const struct dcf_mode *mode)
{
	return a->n == 1 && mode->format < DCF_VHT ? a->len - AMPDU_DELIMITER : a->len;
}

/* Is a PPDU shorter by so much that no rounding of its duration matters? Most are. This takes no division. */
static bool is_far_below(const struct dcf_mode *mode, u32 len, u32 most_ns)
{
	u64 rounding_ns = mode->preamble_ns + 2 * mode->symbol_ns + 20 * US, bits = 64 + 8ULL * len;

	return most_ns > rounding_ns && bits * mode->symbol_ns <= (most_ns - rounding_ns) * mode->bits;
}

bool ampdu_fits(const struct ampdu *a, const struct dcf_mode *mode, const struct dcf_limits *limits, u32 most_ns)
{
	u32 most = limits->ppdu_ns < most_ns ? limits->ppdu_ns : most_ns;

	if (a->n > limits->mpdus || a->n > AMPDU_MPDUS || a->len > limits->bytes)
		return false;
	return is_far_below(mode, a->len, most) || mode_txtime_ns(mode, ampdu_psdu_len(a, mode), false) <= most;
}
