// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write down what a congestion control or a qdisc answers, call by call, as text.
 *
 * The module under test is linked with the registering functions here in place of the kernel's. They replace its
 * operations by wrappers, which call the operation and then add a line: the time, the operation, whose it is, its
 * arguments, its result, and what it may have changed. Two modules that behave alike leave the same text. What follows
 * a | in a line is the module's own state, which says where a difference came from, and is none.
 */
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "witness.h"

#define MOST_TEXT (96 << 20)
#define LONGEST 8192	/* bytes of a line */

static char *text;
static size_t length;
static struct dentry *file;
static u32 drawn;

void *witness_find(void *table, size_t size, const void *ops)
{
	int i;

	for (i = 0; i < MOST_WATCHED; i++) {
		void *watched = table + i * size;

		if (*(const void **)watched == ops)
			return watched;
	}
	return NULL;
}

static size_t room_left(void)
{
	return MOST_TEXT - length;
}

void witness_begin(const char *operation)
{
	local_bh_disable();
	if (room_left() > LONGEST)
		length += scnprintf(text + length, room_left(), "%llu %s", ktime_get_ns(), operation);
}

void witness_add(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	length += vscnprintf(text + length, room_left(), format, arguments);
	va_end(arguments);
}

void witness_bytes(const void *bytes, unsigned int count)
{
	count = min3(count, LONGEST / 4U, (unsigned int)room_left() / 2);
	bin2hex(text + length, bytes, count);
	length += 2 * count;
}

void witness_end(void)
{
	witness_add("\n");
	local_bh_enable();
}

u32 witness_draw(u32 below)
{
	drawn = drawn * 1664525 + 1013904223;
	return (drawn >> 8) % below;
}

static ssize_t read_text(struct file *opened, char __user *to, size_t count, loff_t *at)
{
	return simple_read_from_buffer(to, count, at, text, length);
}

/* Whatever is written clears the text. */
static ssize_t clear_text(struct file *opened, const char __user *from, size_t count, loff_t *at)
{
	length = 0;
	drawn = 0;
	return count;
}

static const struct file_operations operations = { .owner = THIS_MODULE, .read = read_text, .write = clear_text };

static int __init witness_init(void)
{
	text = vmalloc(MOST_TEXT);
	if (!text)
		return -ENOMEM;
	file = debugfs_create_file("witness", 0600, NULL, NULL, &operations);
	return 0;
}

static void __exit witness_exit(void)
{
	debugfs_remove(file);
	vfree(text);
}

module_init(witness_init);
module_exit(witness_exit);
MODULE_DESCRIPTION("Writes down what a module under test answers");
MODULE_LICENSE("GPL");
