// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find loops of a module under test that do not end.
 *
 * Computing takes no time in the lane, so no timer interrupts such a loop, and nothing in the kernel notices it. But
 * almost each loop accesses memory. If that happens millions of times while the clock stands still, either one call of
 * the module does not return, or the kernel calls it again and again. Both end the kernel.
 */
#include <linux/irqflags.h>
#include <linux/panic.h>
#include <linux/printk.h>
#include <linux/timekeeping.h>

#include "calls.h"
#include "oracle.h"

#define PASSES (1U << 20)	/* accesses between two looks at the clock */
#define IN_CALL 8		/* looks at which the same call goes on */
#define MANY_CALLS (1U << 20)	/* while the clock stands still */

/* Note one of many accesses: the serial number of its call, and the time. Return whether this must end. */
static bool must_end(u64 serial, u64 ns, unsigned int *in_call, u64 *calls)
{
	static u64 first_serial, last_serial, last_ns;
	static unsigned int again;

	if (ns != last_ns)
		first_serial = serial;
	again = ns == last_ns && serial == last_serial ? again + 1 : 0;
	last_ns = ns;
	last_serial = serial;
	*in_call = again;
	*calls = serial - first_serial;
	return *in_call >= IN_CALL || *calls >= MANY_CALLS;
}

void endless_pass(unsigned long pc)
{
	static unsigned int passes;
	unsigned int in_call;
	unsigned long flags;
	struct call *call;
	u64 calls;
	bool ends;

	if (++passes % PASSES)
		return;
	raw_local_irq_save(flags);
	call = call_now();
	ends = call && must_end(call->serial, ktime_get_mono_fast_ns(), &in_call, &calls);
	raw_local_irq_restore(flags);
	if (!ends)
		return;
	if (in_call >= IN_CALL)
		pr_info("dcflab: no return: %pS is in a loop without an end: %u million accesses to memory in one call of %pS, while no time passed\n",
			(void *)pc, in_call * PASSES / 1000000, call->function);
	else
		pr_info("dcflab: no return: %pS is called again and again: %llu calls of the module while no time passed\n",
			call->function, calls);
	oracle_reported();
	panic("dcflab: a module does not return");
}
