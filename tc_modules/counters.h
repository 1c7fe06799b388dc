/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters for developers: a file in debugfs, one "name value" per line. */
#ifndef TC_MODULES_COUNTERS_H
#define TC_MODULES_COUNTERS_H

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#define COUNTERS_MAX 8

struct counters {
	const char *const *names; /* ends with NULL */
	atomic64_t value[COUNTERS_MAX];
};

static int counters_show(struct seq_file *file, void *unused)
{
	struct counters *counters = file->private;
	int i;

	for (i = 0; counters->names[i]; i++)
		seq_printf(file, "%s %lld\n", counters->names[i], atomic64_read(&counters->value[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static inline void counters_file(struct counters *counters, const char *name, struct dentry *folder)
{
	debugfs_create_file(name, 0444, folder, counters, &counters_fops);
}

#endif
