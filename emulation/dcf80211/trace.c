// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace: records of docs/records.md, section 3, in debugfs at
 * dcf80211/trace0. The stop mark has the number of lost records, too.
 */
#include "air.h"
#include "channel.h"

#define SUBBUF_SIZE (256 * 1024)
#define SUBBUFS 4 /* in virtual time the reader reads at once; in real time this holds seconds */

int trace_open(struct air *air)
{
	struct channel *channel = channel_open(DCF80211_NAME, SUBBUF_SIZE, SUBBUFS);

	if (IS_ERR(channel))
		return PTR_ERR(channel);
	air->trace = channel;
	return 0;
}

void trace_close(struct air *air)
{
	if (air->trace)
		channel_close(air->trace);
	air->trace = NULL;
}

void trace_begin(struct air *air)
{
	if (air->trace)
		air->trace->lost = 0;
}

u32 trace_lost(const struct air *air)
{
	return air->trace ? air->trace->lost : 0;
}

void trace_flush(struct air *air)
{
	if (air->trace)
		relay_flush(air->trace->relay);
}

void trace_record(void *edge, const void *head, u32 head_len, const void *body, u32 body_len)
{
	struct air *air = edge;
	u32 size = ALIGN(head_len + body_len, 8);
	u8 *at = channel_reserve(air->trace, size);

	if (!at)
		return;
	memcpy(at, head, head_len);
	memcpy(at + head_len, body, body_len);
	memset(at + head_len + body_len, 0, size - head_len - body_len);
}
