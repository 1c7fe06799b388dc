/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CALLS_H
#define CALLS_H

#include <linux/types.h>

#define MOST_LOCKS 8

struct task_struct;

/*
 * An outermost call of the module under test, in a task, or in an interrupt or softirq that interrupted it. The kernel
 * has one CPU.
 */
struct call {
	struct task_struct *task;
	unsigned int context;	/* bits of preempt_count(): softirq, interrupt */
	unsigned int depth;	/* 0: not in use */
	int locks;
	int preempt;
	void *function;
	u64 serial;
	/* Of race.c: */
	unsigned long grace;	/* RCU's state at its start */
	unsigned long locks_at_writes[MOST_LOCKS];
	int forgiven;		/* inside data_race() */
	bool retried;		/* inside a reader's part of a seqlock */
	char alone;		/* enum alone, or 0 if that is not known yet */
};

/* Return the call that is in progress, or NULL. Interrupts must be off. */
struct call *call_now(void);

#endif
