// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace: records of docs/interfaces.md, section 3, through one relay channel
 * for all CPUs, in debugfs at dcf80211/trace0. A reader that falls behind loses
 * records, never silently: they are counted, and the count is in the stop mark.
 */
#include <linux/debugfs.h>
#include <linux/relay.h>

#include "air.h"

#define SUBBUF_SIZE (256 * 1024)
#define SUBBUFS 4 /* in virtual time the reader is there at once; elsewhere this is seconds */

static struct dentry *create_buf_file(const char *name, struct dentry *parent, umode_t mode, struct rchan_buf *buf,
				      int *is_global)
{
	*is_global = 1; /* one order of events for all CPUs; air->lock is held for each */
	return debugfs_create_file(name, mode, parent, buf, &relay_file_operations);
}

static int remove_buf_file(struct dentry *dentry)
{
	debugfs_remove(dentry);
	return 0;
}

static int subbuf_start(struct rchan_buf *buf, void *subbuf, void *prev_subbuf, size_t prev_padding)
{
	return !relay_buf_full(buf); /* full: lose the new, not the old */
}

static const struct rchan_callbacks callbacks = {
	.subbuf_start = subbuf_start,
	.create_buf_file = create_buf_file,
	.remove_buf_file = remove_buf_file,
};

int trace_open(struct air *air)
{
	air->debugfs = debugfs_create_dir(DCF80211_NAME, NULL);
	if (IS_ERR(air->debugfs))
		return PTR_ERR(air->debugfs);
	air->trace = relay_open("trace", air->debugfs, SUBBUF_SIZE, SUBBUFS, &callbacks, air);
	if (air->trace)
		return 0;
	debugfs_remove(air->debugfs);
	return -ENOMEM;
}

void trace_close(struct air *air)
{
	if (air->trace)
		relay_close(air->trace);
	air->trace = NULL;
	debugfs_remove(air->debugfs);
	air->debugfs = NULL;
}

void trace_flush(struct air *air)
{
	if (air->trace)
		relay_flush(air->trace);
}

void trace_record(void *edge, const void *head, u32 head_len, const void *body, u32 body_len)
{
	struct air *air = edge;
	u32 size = ALIGN(head_len + body_len, 8);
	u8 *at = relay_reserve(air->trace, size);

	if (!at) {
		air->lost_records++;
		return;
	}
	memcpy(at, head, head_len);
	memcpy(at + head_len, body, body_len);
	memset(at + head_len + body_len, 0, size - head_len - body_len);
}
