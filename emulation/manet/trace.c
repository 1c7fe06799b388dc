// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace: struct manet_record of all interfaces, in debugfs at manet/trace0.
 * Records fill a sub-buffer exactly, so a plain read always gets all of them.
 */
#include "channel.h"
#include "device.h"

#define RECORDS 4096 /* in a sub-buffer */
#define SUBBUFS 16

static DEFINE_SPINLOCK(lock); /* one order of records for all CPUs */
static struct channel *channel;

int trace_open(void)
{
	channel = channel_open(MANET_NAME, RECORDS * sizeof(struct manet_record), SUBBUFS);
	return PTR_ERR_OR_ZERO(channel);
}

void trace_close(void)
{
	channel_close(channel);
}

void trace_record(const struct manet_record *r)
{
	struct manet_record *at;
	unsigned long flags;

	BUILD_BUG_ON(sizeof(*r) != 48);
	spin_lock_irqsave(&lock, flags);
	at = channel_reserve(channel, sizeof(*r));
	if (at)
		*at = *r;
	spin_unlock_irqrestore(&lock, flags);
}
