/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module parameter with a few allowed words. Its value is the word's place in
 * the list; other words are refused.
 */
#ifndef TC_MODULES_WORDS_H
#define TC_MODULES_WORDS_H

#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

struct word {
	const char *const *words; /* ends with NULL */
	int value;
};

static int word_set(const char *text, const struct kernel_param *param)
{
	struct word *word = param->arg;
	int value = __sysfs_match_string(word->words, -1, text);

	if (value < 0)
		return value;
	WRITE_ONCE(word->value, value);
	return 0;
}

static int word_get(char *buffer, const struct kernel_param *param)
{
	const struct word *word = param->arg;

	return sysfs_emit(buffer, "%s\n", word->words[READ_ONCE(word->value)]);
}

static const struct kernel_param_ops word_ops = { .set = word_set, .get = word_get };

#endif
