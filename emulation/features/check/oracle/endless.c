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
#define IN_ALL 64		/* and at which the clock stands still */

void endless_pass(unsigned long pc)
{
	static unsigned int passes, in_call, in_all;
	static u64 last_serial, last_ns;
	unsigned long flags;
	struct call *call;
	u64 serial, ns;

	if (++passes % PASSES)
		return;
	raw_local_irq_save(flags);
	call = call_now();
	serial = call ? call->serial : 0;
	ns = ktime_get_mono_fast_ns();
	in_all = ns == last_ns ? in_all + 1 : 0;
	in_call = in_all && serial == last_serial ? in_call + 1 : 0;
	last_ns = ns;
	last_serial = serial;
	raw_local_irq_restore(flags);
	if (!call || (in_call < IN_CALL && in_all < IN_ALL))
		return;
	if (in_call >= IN_CALL)
		pr_info("dcflab: no return: %pS is in a loop without an end: %u million accesses to memory in one call of %pS, while no time passed\n",
			(void *)pc, in_call * PASSES / 1000000, call->function);
	else
		pr_info("dcflab: no return: %pS is called again and again while no time passes\n", call->function);
	oracle_reported();
	panic("dcflab: a module does not return");
}
