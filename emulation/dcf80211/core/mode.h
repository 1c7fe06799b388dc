/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Modes: how a PSDU is sent, and how long that takes. A mode is made once, from a
 * TXVECTOR. It has all numbers that durations need, so no other file depends on
 * the format.
 *
 * IEEE 802.11-2020: 16.3.4 (DSSS, HR/DSSS), 17.4.3 (OFDM), 19.4.3 (HT), 21.4.3
 * (VHT); 802.11ax-2021: 27.4.3 (HE). HT is HT-mixed, HE is HE SU. Greenfield,
 * STBC, DCM and Doppler are not supported.
 */
#ifndef DCF_MODE_H
#define DCF_MODE_H

#include "../wire/rate.h"

/* No PPDU of HT and later is longer (aPPDUMaxTime). */
#define MODE_MAX_NS (5484 * US)
#define MODE_STREAMS 4
#define MODE_MCS 12
/* Error tables: of the legacy rates, of BCC by MCS up to 9, of LDPC by MCS. */
#define MODE_BCC DCF_RATES
#define MODE_LDPC (MODE_BCC + 10)
#define MODE_CURVES (MODE_LDPC + MODE_MCS)

enum dcf_format { DCF_DSSS, DCF_OFDM, DCF_HT, DCF_VHT, DCF_HE, DCF_FORMATS };

/* The request: the part of a TXVECTOR (19.2.2, 21.2.2, 27.2.2) that determines durations. */
struct dcf_txvector {
	u8 format; /* enum dcf_format; modes of the two older ones exist already: mode_legacy */
	u8 mcs; /* HT 0-7 for each number of streams, VHT 0-9, HE 0-11 */
	u8 streams;
	u8 ltf; /* HE: the size of an HE-LTF symbol, 1, 2 or 4 times 3.2 us; else 0 */
	u16 width_mhz;
	u16 guard_ns;
	bool ldpc;
	u8 padding_us; /* HE: the nominal packet padding that the receiver needs */
};

/* Why a mode does not exist. */
enum mode_refusal {
	MODE_SOUND,
	MODE_BAD_FORMAT,
	MODE_BAD_MCS,
	MODE_BAD_STREAMS,
	MODE_BAD_WIDTH,
	MODE_BAD_GUARD,
	MODE_BAD_LTF,
	MODE_BAD_CODING, /* HE: BCC is for 20 MHz and MCS 0 to 9 */
	MODE_BAD_PADDING,
	MODE_EXCLUDED /* VHT: the encoders cannot share the bits of a symbol (21.5) */
};

/*
 * The longest MPDU of a format with its FCS. OFDM has 12 bits for the length of a
 * PSDU (17.3.4.3). HT has an A-MSDU of 7935 bytes, with a header of 36, security
 * of 16, and the FCS. Later formats define the length (tables 9-25, 9-26).
 */
static inline u32 mode_max_mpdu(u8 format)
{
	return format < DCF_HT ? 4095 : format == DCF_HT ? 7991 : 11454;
}

struct dcf_mode {
	u8 format;
	u8 curve; /* its place in the error tables */
	u8 reference; /* the legacy rate that determines the rate of its responses (10.6.11): place in dcf_rates */
	u8 encoders; /* N_ES; LDPC: 0, as it has no tail */
	u8 numerator, denominator; /* of the code rate */
	u8 padding_us;
	u8 doublings; /* of 20 MHz: its width */
	u16 rate; /* 100 kb/s, rounded */
	u16 code; /* its TXVECTOR without the padding, for the trace: docs/records.md; 0: a legacy rate */
	u32 preamble_ns; /* everything before the data; DSSS: the long preamble */
	u32 symbol_ns; /* DSSS: a time with a whole number of bits */
	u32 bits, coded; /* N_DBPS, N_CBPS: data bits and coded bits of a symbol */
	u32 bits_short, coded_short; /* HE: of a quarter of a symbol, in which a_init counts */
};

/* The modes that always exist, in the order of dcf_rates. */
extern const struct dcf_mode mode_legacy[DCF_RATES];

enum mode_refusal mode_make(struct dcf_mode *mode, const struct dcf_txvector *v);
/* DSSS may have a short preamble, except at 1 Mb/s (16.2.2.3). */
u32 mode_preamble_ns(const struct dcf_mode *mode, bool short_preamble);
/* TXTIME of a PSDU of @len bytes, without signal extension. A PSDU that does not fit counts as the longest one. */
u32 mode_txtime_ns(const struct dcf_mode *mode, u32 len, bool short_preamble);
/* Time from the start of the data field until @bits of the PSDU have been sent. */
u32 mode_at_ns(const struct dcf_mode *mode, u64 bits);

#endif
