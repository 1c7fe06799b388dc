// SPDX-License-Identifier: GPL-2.0-only
/*
 * MAC addresses of neighbours, learned from the frames that they send, so every
 * next hop is known. It is a set-associative table; the neighbour that was heard
 * longest ago is replaced.
 */
#include "node.h"

#define WAYS 8

static u32 first_way(u32 address)
{
	return (address * 0x9e3779b1U >> 20) % (MANET_NEIGHBOURS / WAYS) * WAYS;
}

void neighbour_heard(struct manet *m, u32 address, const u8 *mac)
{
	struct manet_neighbour *set = &m->neighbour[first_way(address)], *place = set;
	u32 i;

	for (i = 0; i < WAYS && place->address != address; i++)
		if (set[i].address == address || set[i].heard < place->heard)
			place = &set[i];
	place->address = address;
	place->heard = m->now;
	memcpy(place->mac, mac, MANET_ALEN);
}

const struct manet_neighbour *neighbour_of(const struct manet *m, u32 address)
{
	const struct manet_neighbour *set = &m->neighbour[first_way(address)];
	u32 i;

	for (i = 0; i < WAYS; i++)
		if (set[i].address == address)
			return &set[i];
	return NULL;
}
