/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A-MPDUs: where each MPDU lies in its PSDU, and how many fit. IEEE 802.11-2020,
 * 9.7 (delimiters, padding), 10.12 (start spacing, lengths).
 *
 * Offsets are bytes of the PSDU. Lengths of MPDUs include their FCS.
 */
#ifndef DCF_AMPDU_H
#define DCF_AMPDU_H

#include "mode.h"

#define AMPDU_DELIMITER 4
#define AMPDU_MPDUS 256

/* Limits of the receiver, and the policy of the sender. */
struct dcf_limits {
	u32 bytes; /* of the A-MPDU: 65,535 at most in HT, 1,048,575 in VHT, 6,500,631 in HE */
	u32 ppdu_ns; /* of the PPDU with its preamble; at most MODE_MAX_NS */
	u16 mpdus; /* MPDUs in one PPDU */
	u16 spacing_ns; /* between the starts of two MPDUs (Minimum MPDU Start Spacing) */
};

/* A delimiter of HT has 12 bits for the length (table 9-422). In VHT and later it has 14 bits, and every MPDU fits. */
static inline bool ampdu_takes(const struct dcf_mode *mode, u32 len)
{
	return mode->format > DCF_HT || (mode->format == DCF_HT && len <= 4095);
}

/* An A-MPDU under construction. All zero: it is empty. */
struct ampdu {
	u16 n;
	u32 start; /* of the last MPDU's delimiter */
	u32 len; /* without padding after the last */
};

/* The same A-MPDU with one more MPDU. */
struct ampdu ampdu_with(const struct ampdu *a, const struct dcf_mode *mode, u32 spacing_ns, u32 len);
/* The length of its PSDU. A single MPDU has a delimiter in VHT and later only. */
u32 ampdu_psdu_len(const struct ampdu *a, const struct dcf_mode *mode);
/* Is it within all limits, and does its PPDU last at most @most_ns? */
bool ampdu_fits(const struct ampdu *a, const struct dcf_mode *mode, const struct dcf_limits *limits, u32 most_ns);

#endif
