// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks that are held at an access, as lockdep knows them, and reports that name them.
 */
#include <linux/lockdep.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <net/sock.h>

#include "oracle.h"
#include "race.h"

#define MOST_REPORTS 16

static struct { unsigned long first, second; } reported[MOST_REPORTS];
static unsigned int most_reports;

/*
 * Return what stands for a lock: its address, inverted, or else kmemleak would find a pointer there. In a task a
 * socket's lock is held by a flag, to lockdep another lock than the spinlock in softirqs.
 */
static unsigned long token_of(const struct held_lock *held, bool *strict)
{
	const struct lockdep_map *map = held->instance;
	unsigned long here = (unsigned long)__builtin_frame_address(0), token = (unsigned long)map;

	*strict = map->wait_type_inner == LD_WAIT_SPIN || map->wait_type_inner == LD_WAIT_CONFIG;
	if (token - here < THREAD_SIZE)		/* a copy: of the function of a timer, or of work */
		token = 2 * held->class_idx;
	else if (!strncmp(map->name, "slock-", 6))
		token = (unsigned long)container_of(map, struct sock, sk_lock.slock.dep_map);
	else if (!strncmp(map->name, "sk_lock-", 8))
		token = (unsigned long)container_of(map, struct sock, sk_lock.dep_map);
	else
		return ~token & ~1UL;
	*strict = true;
	return ~token & ~1UL;
}

bool locks_note(struct access *access, bool memory)
{
	unsigned int context = 2 * !!in_hardirq() + !!in_serving_softirq();
	int i;

	access->context = context;
	for (i = 0; i < current->lockdep_depth; i++) {
		const struct held_lock *held = &current->held_locks[i];
		bool strict;

		if (held->irq_context != context || held->instance == &rcu_lock_map)
			continue;
		if (held->instance == &rcu_callback_map) {
			if (memory)
				return false;
			continue;
		}
		if (!strncmp(held->instance->name, "(wq_completion)", 15))
			continue;
		if (access->count == MOST_LOCKS)
			return false;
		if (access->shown < SHOWN_LOCKS)
			access->names[access->shown++] = held->instance->name;
		access->locks[access->count++] = token_of(held, &strict) | !!held->read;
		access->strict |= strict && !held->read;
	}
	return true;
}

bool locks_shared(const struct access *one, const struct access *other)
{
	int i, j;

	for (i = 0; i < one->count; i++)
		for (j = 0; j < other->count; j++)
			if (!((one->locks[i] ^ other->locks[j]) & ~1UL) && !(one->locks[i] & other->locks[j] & 1))
				return true;
	return false;
}

static const char *context_of(const struct access *access)
{
	return access->context & 2 ? "an interrupt" : access->context ? "a softirq" : "a task";
}

void report_access(const struct access *access)
{
	char locks[3 * 48] = "no lock";
	int i, at = 0;

	for (i = 0; i < access->shown; i++)
		at += scnprintf(locks + at, sizeof(locks) - at, "%s%.40s", i ? ", " : "", access->names[i]);
	pr_info("  %pS %s it in %s, called as %ps, with %s held\n", (void *)access->pc,
		access->frees ? "frees" : access->write ? "writes" : "reads", context_of(access), access->function, locks);
}

void report_accesses(const struct access *one, const struct access *other)
{
	report_access(one);
	report_access(other);
	dump_stack();
	oracle_reported();
}

bool report_is_new(unsigned long first, unsigned long second)
{
	int i;

	for (i = 0; i < most_reports; i++)
		if (reported[i].first == first && reported[i].second == second)
			return false;
	if (most_reports == MOST_REPORTS)
		return false;
	reported[most_reports].first = first;
	reported[most_reports++].second = second;
	return true;
}
