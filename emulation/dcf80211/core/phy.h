/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Properties that the stations of one air share: intervals between frames, and
 * the modes of responses. All times are nanoseconds; rates are in units of 100
 * kb/s.
 */
#ifndef DCF_PHY_H
#define DCF_PHY_H

#include "mode.h"

/* Lengths of the control frames with their FCS (9.3.1). */
#define RTS_LEN 20
#define CTS_LEN 14
#define ACK_LEN 14
#define FCS_LEN 4

/* No frame is shorter: an OFDM preamble and one symbol. */
#define DCF_MIN_AIRTIME_NS (24 * US)

/* The properties of a PHY, for all stations of one air. */
struct dcf_phy {
	u32 slot_ns, sifs_ns;
	u32 cw_min, cw_max;
	/* 6 us of silence at the end of each OFDM frame in the 2.4 GHz band (10.3.8, 18.5.3) */
	u32 signal_extension_ns;
	u32 basic_rates; /* bit i: dcf_rates[i] is in the basic rate set */
	/*
	 * The part of a slot that sensing and turnaround take (10.3.7: aCCATime
	 * and aRxTxTurnaroundTime). A signal that has been present for at most
	 * this time does not stop an access. The rest is left for propagation.
	 */
	u32 sensing_ns;
};

static inline bool dcf_is_ofdm(const struct dcf_mode *mode)
{
	return mode->format != DCF_DSSS; /* HT and later are OFDM, too */
}

/* Silence at the end of a frame. */
static inline u32 dcf_silence_ns(const struct dcf_phy *phy, const struct dcf_mode *mode)
{
	return dcf_is_ofdm(mode) ? phy->signal_extension_ns : 0;
}

/* The part of a preamble that a receiver needs to detect a frame: aCCATime (15.3.3, 16.3.3; 17.3.10.6). */
static inline u32 dcf_detect_ns(const struct dcf_mode *mode)
{
	return (dcf_is_ofdm(mode) ? 4 : 15) * US;
}

/* TXTIME of a PSDU of @len bytes. */
static inline u32 dcf_airtime_ns(const struct dcf_phy *phy, const struct dcf_mode *mode, u32 len, bool short_preamble)
{
	return mode_txtime_ns(mode, len, short_preamble) + dcf_silence_ns(phy, mode);
}

/*
 * The legacy rate, by its place, of the RTS, CTS, ACK or block ACK of a frame:
 * the highest basic rate of its modulation not above the frame's, or else a
 * mandatory rate (10.7.6.5.2). A frame of HT and later counts as its reference
 * rate (10.7.11).
 */
u16 dcf_response(const struct dcf_phy *phy, const struct dcf_mode *mode);
/*
 * The rate of a CTS to itself. At 2.4 GHz it protects OFDM from stations that
 * support DSSS only, so it is their highest basic rate not above the frame's, or
 * their lowest (10.26.2). @freq is in MHz.
 */
u16 dcf_protecting(const struct dcf_phy *phy, const struct dcf_mode *mode, u32 freq);

static inline u32 dcf_difs_ns(const struct dcf_phy *phy)
{
	return phy->sifs_ns + 2 * phy->slot_ns; /* 10.3.2.3.5 */
}

/* EIFS = SIFS + an ACK at the lowest mandatory rate of the PHY + DIFS (10.3.2.3.7). @freq is in MHz. */
static inline u32 dcf_eifs_ns(const struct dcf_phy *phy, u32 freq)
{
	return phy->sifs_ns + dcf_airtime_ns(phy, &mode_legacy[rate_lowest(freq)], ACK_LEN, false) + dcf_difs_ns(phy);
}

/* Duration/ID is in whole microseconds (9.2.4.2). */
static inline u16 dcf_duration_us(u64 ns)
{
	u64 us = (ns + US - 1) / US;

	return us > 32767 ? 32767 : us;
}

#endif
