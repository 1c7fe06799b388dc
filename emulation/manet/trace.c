// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace: struct manet_record of all interfaces, through one relay channel for
 * all CPUs, in debugfs at manet/trace0. Records fill a sub-buffer exactly, so a
 * plain read always gets all there is. A reader that falls behind loses records:
 * they are counted in manet/lost.
 */
#include <linux/debugfs.h>
#include <linux/relay.h>

#include "device.h"

#define RECORDS 4096 /* in a sub-buffer */
#define SUBBUFS 16

static DEFINE_SPINLOCK(lock); /* one order of records for all CPUs */
static struct rchan *channel;
static struct dentry *folder;
static u64 lost;

static struct dentry *create_buf_file(const char *name, struct dentry *parent, umode_t mode, struct rchan_buf *buf,
				      int *is_global)
{
	*is_global = 1;
	return debugfs_create_file(name, mode, parent, buf, &relay_file_operations);
}

static int remove_buf_file(struct dentry *dentry)
{
	debugfs_remove(dentry);
	return 0;
}

static int subbuf_start(struct rchan_buf *buf, void *subbuf, void *prev_subbuf, size_t prev_padding)
{
	bool full = relay_buf_full(buf);

	lost += full;
	return !full;
}

static const struct rchan_callbacks callbacks = {
	.subbuf_start = subbuf_start,
	.create_buf_file = create_buf_file,
	.remove_buf_file = remove_buf_file,
};

int trace_open(void)
{
	folder = debugfs_create_dir(MANET_NAME, NULL);
	if (IS_ERR(folder))
		return PTR_ERR(folder);
	debugfs_create_u64("lost", 0444, folder, &lost);
	channel = relay_open("trace", folder, RECORDS * sizeof(struct manet_record), SUBBUFS, &callbacks, NULL);
	if (channel)
		return 0;
	debugfs_remove(folder);
	return -ENOMEM;
}

void trace_close(void)
{
	relay_close(channel);
	debugfs_remove(folder);
}

void trace_record(const struct manet_record *r)
{
	unsigned long flags;

	BUILD_BUG_ON(sizeof(*r) != 48);
	spin_lock_irqsave(&lock, flags);
	__relay_write(channel, r, sizeof(*r));
	spin_unlock_irqrestore(&lock, flags);
}
