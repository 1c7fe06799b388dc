// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find timers and work that a module stops without waiting for their functions, in memory that goes next. On another
 * CPU such a function may run at that time, and may start itself again.
 *
 * The memory is a qdisc's, which goes after its destroy operation, a module's variable, after its exit function, or a
 * congestion control's state, which the next one gets after its release operation.
 * The module under test is compiled with the names of the kernel's functions defined as those of the functions here.
 */
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "oracle.h"

#define MOST_STOPPED 64

/* Stopped without waiting; the address is inverted, or else kmemleak would find a pointer there. */
static struct stopped {
	unsigned long what, by;
	bool work, was_due;
} stopped[MOST_STOPPED];

static void note_stop(const void *what, unsigned long by, bool work, bool waits, bool was_due)
{
	unsigned long token = ~(unsigned long)what, flags;
	struct stopped *free = NULL;
	int i;

	raw_local_irq_save(flags);
	for (i = 0; i < MOST_STOPPED; i++) {
		if (stopped[i].what == token)
			break;
		if (!stopped[i].what)
			free = &stopped[i];
	}
	if (i < MOST_STOPPED)
		free = &stopped[i];
	if (waits && i < MOST_STOPPED)
		free->what = 0;
	else if (!waits && free)
		*free = (struct stopped){ token, by, work, was_due };
	raw_local_irq_restore(flags);
}

/* What was stopped there has gone with its memory, which is freed now, or another's. */
void late_forget(unsigned long start, unsigned long size)
{
	int i;

	for (i = 0; i < MOST_STOPPED; i++)
		if (stopped[i].what && ~stopped[i].what - start < size)
			stopped[i].what = 0;
}

/* All work of a queue was waited for; of which one is not known. */
static void forget_work(void)
{
	unsigned long flags;
	int i;

	raw_local_irq_save(flags);
	for (i = 0; i < MOST_STOPPED; i++)
		if (stopped[i].work)
			stopped[i].what = 0;
	raw_local_irq_restore(flags);
}

static void tell_late(struct stopped *one, const char *where)
{
	static unsigned long told;

	one->what = 0;
	if (told == one->by)
		return;
	told = one->by;
	pr_info("dcflab: late function: %pS stops %s in the memory of %s, and does not wait until its function has ended on another CPU, as %s does\n",
		(void *)one->by, one->work ? "work" : "a timer", where,
		one->work ? "cancel_work_sync()" : "timer_shutdown_sync()");
	oracle_reported();
}

void late_in_memory(unsigned long start, unsigned long size)
{
	int i;

	for (i = 0; i < MOST_STOPPED; i++)
		if (stopped[i].what && ~stopped[i].what - start < size)
			tell_late(&stopped[i], "the qdisc that it destroys");
}

/* One that was not due may run on another CPU as a user of the socket, which stays until it has ended. */
void late_in_state(unsigned long start, unsigned long size)
{
	int i;

	for (i = 0; i < MOST_STOPPED; i++)
		if (stopped[i].what && ~stopped[i].what - start < size && stopped[i].was_due)
			tell_late(&stopped[i], "a socket that goes on without it");
	late_forget(start, size);
}

void late_in_module(const struct module *module)
{
	int i;

	for (i = 0; i < MOST_STOPPED; i++)
		if (stopped[i].what && within_module(~stopped[i].what, module))
			tell_late(&stopped[i], "the module, which is unloaded");
}

#define STOPS(result, function, type, part, called, is_due, work, waits)	\
result oracle_##function(type *what);				\
result oracle_##function(type *what)				\
{								\
	lifetime_stops((part)->called, _RET_IP_);			\
	note_stop(part, _RET_IP_, work, waits, is_due(part));	\
	return function(what);					\
}								\
EXPORT_SYMBOL(oracle_##function)

STOPS(int, timer_delete, struct timer_list, what, function, timer_pending, false, false);
STOPS(int, timer_delete_sync, struct timer_list, what, function, timer_pending, false, true);
STOPS(int, timer_shutdown_sync, struct timer_list, what, function, timer_pending, false, true);
STOPS(bool, cancel_work, struct work_struct, what, func, work_pending, true, false);
STOPS(bool, cancel_work_sync, struct work_struct, what, func, work_pending, true, true);
STOPS(bool, flush_work, struct work_struct, what, func, work_pending, true, true);
STOPS(bool, cancel_delayed_work, struct delayed_work, &what->work, func, work_pending, true, false);
STOPS(bool, cancel_delayed_work_sync, struct delayed_work, &what->work, func, work_pending, true, true);
STOPS(bool, flush_delayed_work, struct delayed_work, &what->work, func, work_pending, true, true);

#define WAITS(function)						\
void oracle_##function(struct workqueue_struct *queue);		\
void oracle_##function(struct workqueue_struct *queue)		\
{								\
	function(queue);					\
	forget_work();						\
}								\
EXPORT_SYMBOL(oracle_##function)

WAITS(__flush_workqueue);
WAITS(drain_workqueue);
WAITS(destroy_workqueue);
