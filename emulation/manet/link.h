/* SPDX-License-Identifier: GPL-2.0-only */
/* The attributes of `ip link add … type manet`, in IFLA_INFO_DATA. */
#ifndef MANET_LINK_H
#define MANET_LINK_H

enum {
	MANET_LINK_UNSPEC,
	MANET_LINK_PAD,
	MANET_LINK_PROTOCOL, /* string */
	MANET_LINK_PRESET, /* string; default: rfc */
	MANET_LINK_SEED, /* u64, of its jitters; default: random */
	MANET_LINK_MONITOR, /* u32: the monitor interface, of the same radio, where it overhears */
	MANET_LINK_ATTRS
};

#endif
