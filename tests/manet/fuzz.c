// SPDX-License-Identifier: GPL-2.0-only
/* Frames that were sent, changed, come again: whatever a neighbour may send, a node must stand. */
#include "world.h"

/* Lengths and checksums of these bytes are made true, so that what is in them gets read. */
static void make_sound(u8 *ip, u16 len)
{
	struct manet_packet p = { .data = ip, .len = len };

	ip[0] = 0x45;
	ip_finish(ip, len, ip_protocol(ip));
	if (ip_protocol(ip) != IP_UDP || len < IP_HEADER + UDP_HEADER)
		return;
	put16(ip + IP_HEADER + 4, len - IP_HEADER);
	udp_finish(&p);
}

/*
 * @count times: one of the last frames, with some bytes changed, cut, or from another
 * one, comes to a node from any other, or is overheard; and most of the time time goes on.
 */
void world_fuzz(struct world *w, u32 count)
{
	u8 bytes[MANET_MTU + MANET_HEADROOM];

	while (count--) {
		u16 len, other_len, at, changes = world_draw(w) % 8;
		const u8 *one = world_seen(w, &len), *other = world_seen(w, &other_len);

		if (!one)
			return;
		memcpy(bytes, one, sizeof(bytes));
		if (world_draw(w) % 4 == 0) {
			at = world_draw(w) % (len + 1);
			memcpy(bytes + at, other + at, sizeof(bytes) - at);
			len = at < other_len ? other_len : at;
		}
		if (world_draw(w) % 4 == 0)
			len = world_draw(w) % (len + 1);
		for (; changes && len; changes--)
			bytes[world_draw(w) % len] = world_draw(w) % 2 ? (u8)world_draw(w) : (u8)(world_draw(w) % 4 * 85);
		if (world_draw(w) % 16 && len >= IP_HEADER)
			make_sound(bytes, len);
		if (world_draw(w) % 16 && len >= IP_HEADER) { /* from somebody who is there */
			put32(bytes + 12, FIRST_ADDRESS + world_draw(w) % world_count(w));
			make_sound(bytes, len);
		}
		if (world_draw(w) % 4)
			world_run(w, world_now(w) + world_draw(w) % (10 * MS));
		if (len >= IP_HEADER) /* the edge sees to that */
			world_inject(w, world_draw(w) % world_count(w), world_draw(w) % world_count(w), bytes, len, world_draw(w) % 4 == 0);
	}
}
