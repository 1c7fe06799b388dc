/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WITNESS_H
#define WITNESS_H

#include <linux/compiler_attributes.h>
#include <linux/types.h>

#define MOST_WATCHED 64

/* Begin a line with the time and this name; add to it; end it. Softirqs are off in between. */
void witness_begin(const char *operation);
void witness_add(const char *format, ...) __printf(1, 2);
void witness_bytes(const void *bytes, unsigned int count);
void witness_end(void);

/* Return a number below this one: the same ones again after the text was cleared. */
u32 witness_draw(u32 below);

/* A table is an array of MOST_WATCHED structures that begin with the operations' address. */
void *witness_find(void *table, size_t size, const void *ops);

#define WRAP(operation, ops) ((ops)->operation = (ops)->operation ? watch_##operation : NULL)
#define UNWRAP(operation, ops, own_ops) ((ops)->operation = (own_ops)->operation)

#endif
