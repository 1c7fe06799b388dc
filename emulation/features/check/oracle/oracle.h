/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ORACLE_H
#define ORACLE_H

#include <linux/printk.h>
#include <linux/types.h>

struct module;
struct Qdisc;

/* A module's operations: where they are, and which of them are wrapped. The files add the operations themselves. */
struct watched {
	const void *ops;
	unsigned long reported;	/* rules whose violation was reported: bits of enum rule */
	bool registered;
};

enum rule {
	RULE_WINDOW, RULE_CLAMP, RULE_GROWTH, RULE_THRESHOLD_0, RULE_THRESHOLD, RULE_UNDO, RULE_FIELD, RULE_REORDERING,
	RULE_NO_GROWTH, RULE_NO_UNDO, RULE_UNUSED, RULE_INITIAL, RULE_ROUND, RULE_AVOIDANCE, RULE_DEEP, RULE_KEPT,
	RULE_UNSPENT,
	RULE_QLEN, RULE_PARENT, RULE_BACKLOG, RULE_EMPTY, RULE_STATISTICS, RULE_SENT, RULE_BYTES, RULE_LIMIT, RULE_PEEK,
	RULE_CHILDREN,
};

#define MOST_WATCHED 64	/* the operations of unloaded modules stay until their place is needed: they may be called */

/* A table is an array of MOST_WATCHED structures that begin with a struct watched. */
void *oracle_find(void *table, size_t size, const void *ops);
void *oracle_place(void *table, size_t size, const void *ops);
bool oracle_tells(struct watched *watched, enum rule rule);
void oracle_reported(void);

/* Replace an operation by its wrapper, if it is there; and put the module's own one back. */
#define WRAP(operation, ops) ((ops)->operation = (ops)->operation ? watch_##operation : NULL)
#define UNWRAP(operation, ops, own_ops) ((ops)->operation = (own_ops)->operation)

/* Return whether a function is one of a qdisc in which nobody else has its memory. */
bool oracle_is_alone(const void *function);

/* Report timers and work that were stopped without waiting for them, in memory that goes now. */
void late_in_memory(unsigned long start, unsigned long size);
void late_in_state(unsigned long start, unsigned long size);
void late_in_module(const struct module *module);
void late_forget(unsigned long start, unsigned long size);

/* The module accesses memory, perhaps in a loop. */
void endless_pass(unsigned long pc);

void memory_own_qdisc(struct Qdisc *sch, size_t size);
void memory_allow(const void *start, size_t size);

/* The call in progress stops a timer or work with this function. */
void lifetime_stops(const void *function, unsigned long by);

extern bool oracle_policy;
extern unsigned int oracle_registered;

#endif
