/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the netlink family that controls routing interfaces.
 * generate.py writes this file from manet.yaml.
 */
#ifndef MANET_PROTOCOL_H
#define MANET_PROTOCOL_H

#include <net/netlink.h>

#define MANET_FAMILY_NAME "manet"
#define MANET_FAMILY_VERSION 1

enum {
	CMD_UNSPEC, CMD_DEVICE, CMD_SET, CMD_ROUTE, CMD_PARAMETERS, CMD_ENTRIES,
};

enum {
	A_UNSPEC, A_PAD, A_IFINDEX, A_PROTOCOL, A_ADDRESS, A_RUNNING, A_PARAMETER, A_VALUE, A_LEAST,
	A_MOST, A_WHAT, A_SENT, A_SENT_BYTES, A_GOT, A_FORWARDED, A_DELIVERED, A_ACKED, A_LOST, A_DROPPED,
	A_DROPPED_CONTROL, A_EVENTS, A_ENTRY_KIND, A_TO, A_VIA, A_FROM, A_HOPS, A_VALID, A_STATE,
	A_SEQUENCE, A_UNTIL_NS, A_MAC, A_WAITING, A_PATH, ATTRS
};

static const struct nla_policy policy[ATTRS] __maybe_unused = {
	[A_IFINDEX] = { .type = NLA_U32 },
	[A_PARAMETER] = { .type = NLA_NUL_STRING, .len = 63 },
	[A_VALUE] = { .type = NLA_U32 },
	[A_TO] = { .type = NLA_U32 },
	[A_VIA] = { .type = NLA_U32 },
	[A_HOPS] = { .type = NLA_U8 },
};

/* Attributes that each request must carry. */
static const int device_needs[] __maybe_unused = {
	A_IFINDEX, 0
};
static const int set_needs[] __maybe_unused = {
	A_IFINDEX, A_PARAMETER, A_VALUE, 0
};
static const int route_needs[] __maybe_unused = {
	A_IFINDEX, A_TO, A_VIA, A_HOPS, 0
};
static const int parameters_needs[] __maybe_unused = {
	A_IFINDEX, 0
};
static const int entries_needs[] __maybe_unused = {
	A_IFINDEX, 0
};

#endif
