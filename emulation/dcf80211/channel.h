/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace that a module writes and a program reads: one relay channel for all
 * CPUs, in debugfs at NAME/trace0. The writer makes sure that only one CPU writes
 * at a time, so that there is one order. A reader that falls behind loses the new
 * records, not the old ones, and NAME/lost counts them.
 *
 * The folders of the modules have links to this file.
 */
#ifndef DCFLAB_CHANNEL_H
#define DCFLAB_CHANNEL_H

#include <linux/debugfs.h>
#include <linux/relay.h>
#include <linux/slab.h>

#include "compat.h"

struct channel {
	struct rchan *relay;
	struct dentry *folder;
	u64 lost;
};

static struct dentry *channel_create_file(const char *name, struct dentry *parent, umode_t mode, struct rchan_buf *buf,
					  int *is_global)
{
	*is_global = 1;
	return debugfs_create_file(name, mode, parent, buf, &relay_file_operations);
}

static int channel_remove_file(struct dentry *dentry)
{
	debugfs_remove(dentry);
	return 0;
}

static int channel_may_go_on(SUBBUF_START_ARGS)
{
	return !relay_buf_full(buf);
}

static const struct rchan_callbacks channel_callbacks = {
	.subbuf_start = channel_may_go_on,
	.create_buf_file = channel_create_file,
	.remove_buf_file = channel_remove_file,
};

/* Open a channel with @count buffers of @size bytes each. Return it, or an error. */
static struct channel *channel_open(const char *name, size_t size, size_t count)
{
	struct channel *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int err = -ENOMEM;

	if (!c)
		return ERR_PTR(err);
	c->folder = debugfs_create_dir(name, NULL);
	if (IS_ERR(c->folder)) {
		err = PTR_ERR(c->folder);
		goto free;
	}
	debugfs_create_u64("lost", 0444, c->folder, &c->lost);
	c->relay = relay_open("trace", c->folder, size, count, &channel_callbacks, NULL);
	if (c->relay)
		return c;
	debugfs_remove(c->folder);
free:
	kfree(c);
	return ERR_PTR(err);
}

static void channel_close(struct channel *c)
{
	relay_close(c->relay);
	debugfs_remove(c->folder);
	kfree(c);
}

/* Return the place for a record. If there is none, return NULL and count the record as lost. */
static void *channel_reserve(struct channel *c, size_t size)
{
	void *at = relay_reserve(c->relay, size);

	c->lost += !at;
	return at;
}

#endif
