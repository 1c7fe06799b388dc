// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check what a congestion control or a qdisc under test does, call by call.
 *
 * The module under test is compiled with the names of the kernel's registering functions defined as those of the
 * functions here. They replace its operations by wrappers, which call the operation and then compare the socket or the
 * qdisc with its state before. Each rule that is broken is reported once, with the module's function; the host reads
 * the lines (emulation/features/check/splats.py). All of the kernel's own modules keep the rules.
 */
#include <linux/module.h>

#include "oracle.h"

bool oracle_policy = true;
module_param_named(policy, oracle_policy, bool, 0644);
MODULE_PARM_DESC(policy, "check windows against what is usual, too; off while parameters have unusual values");

unsigned int oracle_registered;
module_param_named(registered, oracle_registered, uint, 0444);
MODULE_PARM_DESC(registered, "how many operations were registered");

void *oracle_find(void *table, size_t size, const void *ops)
{
	int i;

	for (i = 0; i < MOST_WATCHED; i++) {
		struct watched *watched = table + i * size;

		if (watched->ops == ops)
			return watched;
	}
	return NULL;
}

/* Return a place for operations: the one they had, or an unused one, or one of an unloaded module. */
void *oracle_place(void *table, size_t size, const void *ops)
{
	struct watched *found = oracle_find(table, size, ops) ?: oracle_find(table, size, NULL);
	static unsigned int next;
	int i;

	for (i = 0; !found && i < MOST_WATCHED; i++) {
		struct watched *watched = table + next++ % MOST_WATCHED * size;

		if (!watched->registered)
			found = watched;
	}
	return found;
}

/* A debugger stops here (emulation/features/check/gdb.py). */
noinline void oracle_reported(void)
{
	barrier();
}

/* Return whether a broken rule is to be reported: the first time only. */
bool oracle_tells(struct watched *watched, enum rule rule)
{
	if (test_and_set_bit(rule, &watched->reported))
		return false;
	oracle_reported();
	return true;
}

MODULE_DESCRIPTION("Checks what a module under test does");
MODULE_LICENSE("GPL");
