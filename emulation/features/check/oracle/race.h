/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files share that watch a module's accesses. Memory has a life: a qdisc or the module gets it, accesses give
 * it users, and what was stopped or read in it matters until it goes. In a circle: late.c, lifetime.c, memory.c,
 * qdisc.c, race.c.
 */
#ifndef RACE_H
#define RACE_H

#include <linux/types.h>

#include "calls.h"

#define SHOWN_LOCKS 3
#define GRANULE 8
#define MOST_USERS 4		/* functions that were called and accessed an object */

enum alone { NOT_ALONE = 1, ALONE_WITH_MEMORY, ALONE };

struct known_module {
	const struct module *module;
	u64 number;
};

struct access {
	unsigned long pc;
	void *function;			/* by which the kernel called the module */
	const struct task_struct *thread;	/* a kernel thread, in which nothing else runs; or NULL */
	u64 serial;			/* the call */
	u64 before, after;		/* the granule's value before a write, and at the next access */
	unsigned long locks[MOST_LOCKS];	/* the last bit is set if it is shared */
	const char *names[SHOWN_LOCKS];
	u8 count, shown, context, mask;
	bool write, marked, updates, loses, strict, initial, frees, settled;
	bool open;			/* a softirq may come in between */
	bool inside;			/* it is of allocated memory, or of a qdisc's */
};

/* Memory that is watched. Its number is never used again. */
struct object {
	unsigned long start, size, caller;	/* caller: 0 for a qdisc */
	u64 number, serial;			/* serial: the call that allocated it */
	struct object *next;
	struct access readers[2];		/* the last ones that found it by a marked pointer, with other locks */
	u64 borrowed;				/* the call that found it last under rcu_read_lock() */
	struct access taken;			/* by refcount_inc() under rcu_read_lock() only */
	void *users[MOST_USERS];
};

/* memory.c. Return NULL if the address is in no such object, or in no watched module. */
struct object *memory_find(unsigned long address);
struct object *memory_find_large(unsigned long address);
const struct known_module *memory_module(unsigned long address);
bool memory_is_per_cpu(unsigned long address);
void memory_forget(unsigned long start);
int memory_start(void);

/* locks.c. Note the locks; return false if there are too many, or if only this call can have the memory. */
bool locks_note(struct access *access, bool memory);
bool locks_shared(const struct access *one, const struct access *other);
/* Return whether this pair of places was not reported yet. */
bool report_is_new(unsigned long first, unsigned long second);
void report_access(const struct access *access);
void report_accesses(const struct access *one, const struct access *other);

/* lifetime.c. Interrupts are off. */
void lifetime_settle(void);
void lifetime_uses(struct object *object, const struct call *call);
void lifetime_publishes(unsigned long address, const struct call *call);
void lifetime_finds(const struct access *access, unsigned long value);
void lifetime_check(struct object *object, const struct access *access, bool in_section);
void lifetime_unlinks(const struct object *object, u64 *at, const struct access *write);
int lifetime_start(void);

/* race.c. Return whether only this call can have memory, or everything. */
enum alone race_alone(struct call *call, unsigned long pc);

#endif
