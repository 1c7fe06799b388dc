/* SPDX-License-Identifier: GPL-2.0-only */
/* What of world.c the fuzzer needs. */
#ifndef WORLD_H
#define WORLD_H

#include "../../emulation/manet/core/node.h"

#define FIRST_ADDRESS 0x0a000001U

struct world;

u32 world_draw(struct world *w);
u32 world_count(const struct world *w);
u64 world_now(const struct world *w);
void world_run(struct world *w, u64 until);
/* One of the last frames, MANET_MTU + MANET_HEADROOM bytes to read; NULL: none was sent yet. */
const u8 *world_seen(struct world *w, u16 *len);
/* Any bytes, as if this neighbour had sent them to this node. */
void world_inject(struct world *w, u32 from, u32 to, const u8 *bytes, u16 len, bool overheard);

#endif
