/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages that mac80211_hwsim sends to its medium: netlink messages in host
 * byte order. The kernel's drivers/net/wireless/virtual/mac80211_hwsim.h defines
 * hwsim's protocol, version 1; it exports no header. Every access is
 * bounds-checked: an incomplete attribute counts as missing.
 */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include "frame.h"
#include "rate.h"

/* struct nlmsghdr and struct genlmsghdr */
#define MESSAGE_HEADER 20

enum { CMD_FRAME = 2, CMD_TX_INFO = 3, CMD_ADD_ADDR = 7, CMD_DEL_ADDR = 8 };
enum {
	ATTR_RECEIVER = 1,
	ATTR_TRANSMITTER,
	ATTR_FRAME,
	ATTR_FLAGS,
	ATTR_RX_RATE,
	ATTR_SIGNAL,
	ATTR_TX_INFO,
	ATTR_COOKIE,
	ATTR_FREQ = 19,
	ATTR_TX_INFO_FLAGS = 21,
	ATTR_MAX = ATTR_TX_INFO_FLAGS
};
enum { FLAG_NO_ACK = 2, FLAG_ACKED = 4 };

struct tx_rate {
	s8 idx;
	u8 count;
};

enum message_kind { MESSAGE_OTHER, MESSAGE_BROKEN, MESSAGE_FRAME, MESSAGE_ADD_ADDR, MESSAGE_DEL_ADDR };

struct message {
	const u8 *transmitter; /* DCF_ALEN bytes */
	const u8 *receiver; /* DCF_ALEN bytes: the address to add or delete */
	/* For a frame. */
	const u8 *frame;
	u32 len, flags, freq;
	u64 cookie;
	struct tx_rate rates[DCF_STAGES]; /* as received */
	struct dcf_stage stage[DCF_STAGES]; /* stage[0].count 0: a rate that is not modelled */
};

/* Parse @bytes; pointers in @m point into them. MESSAGE_BROKEN: a known message that is incomplete. */
enum message_kind message_read(struct message *m, const u8 *bytes, u32 size);

/* Convert thousandths of a dBm to hwsim's whole dBm: the nearest, halves up, limited to its range. */
s32 message_dbm(s32 mdbm);

#endif
