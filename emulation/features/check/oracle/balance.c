// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find functions of a module under test that return with a lock held.
 *
 * The kernel notices a missing unlock only later, in unrelated code. So the compiler (-finstrument-functions) calls the
 * two functions below at the start and end of each function of the module. When the outermost one returns to the
 * kernel, the locks that lockdep counts, including RCU's read-side critical sections, are compared with those at its
 * call. The log names each function once. Some functions differ on purpose, such as the start and stop of a seq_file,
 * so it is a finding only together with a report of the kernel (emulation/features/check/splats.py).
 */
#include <linux/export.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "calls.h"

#define MOST_CALLS 64
#define MOST_NAMED 16

static struct call calls[MOST_CALLS];
static void *named[MOST_NAMED];

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static struct call *find_call(void *begins)
{
	unsigned int context = preempt_count() & (SOFTIRQ_OFFSET | HARDIRQ_MASK);
	static struct call *last = calls;
	struct call *free = NULL;
	static u64 serial;
	int i;

	if (last->depth && last->task == current && last->context == context)
		return last;
	for (i = 0; i < MOST_CALLS; i++) {
		struct call *call = &calls[i];

		if (!call->depth)
			free = call;
		else if (call->task == current && call->context == context)
			return last = call;
	}
	if (!begins || !free)
		return NULL;
	*free = (struct call){ .task = current, .context = context, .function = begins, .serial = ++serial,
			       .locks = current->lockdep_depth, .preempt = preempt_count(),
			       .grace = get_state_synchronize_rcu() };
	return last = free;
}

struct call *call_now(void)
{
	return find_call(NULL);
}

static bool is_new(void *function)
{
	int i;

	for (i = 0; i < MOST_NAMED && named[i] != function; i++) {
		if (named[i])
			continue;
		named[i] = function;
		return true;
	}
	return false;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	unsigned long flags;
	struct call *call;

	raw_local_irq_save(flags);
	call = find_call(function);
	if (call)
		call->depth++;
	raw_local_irq_restore(flags);
}
EXPORT_SYMBOL(__cyg_profile_func_enter);

void __cyg_profile_func_exit(void *function, void *caller)
{
	int locks = 0, preempt = 0;
	unsigned long flags;
	struct call *call;

	raw_local_irq_save(flags);
	call = find_call(NULL);
	if (call && !--call->depth && debug_locks) {
		locks = current->lockdep_depth - call->locks;
		preempt = preempt_count() - call->preempt;
		if ((locks || preempt) && !is_new(function))
			locks = preempt = 0;
	}
	raw_local_irq_restore(flags);
	if (locks > 0) {
		struct held_lock *last = &current->held_locks[current->lockdep_depth - 1];

		pr_info("dcflab: left: %ps returned with %s held, taken at %pS\n",
			function, last->instance->name, (void *)last->acquire_ip);
	} else if (locks < 0 || preempt < 0) {
		pr_info("dcflab: left: %ps returned without a lock that its caller held\n", function);
	} else if (preempt) {
		pr_info("dcflab: left: %ps returned with preemption or bottom halves off\n", function);
	}
}
EXPORT_SYMBOL(__cyg_profile_func_exit);
