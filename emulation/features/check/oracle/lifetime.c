// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find what uses an object too early or too late: before it is filled, after others freed it, or while it is freed.
 *
 * An object that a reader found by a marked pointer, and so in RCU's way, may not be freed in the call that unlinks it,
 * unless that took a lock that the reader had, or waited for a grace period, or a qdisc goes with it. Nor may its own
 * pointer to the next one go, as with list_del(), from which the reader goes on.
 *
 * Nor may a call access it any more after the end of the section of RCU in which it found it. Not reported are accesses
 * in another such section, or with RTNL; and those of an object of which the call changed an atomic variable in the
 * section, such as a reference count.
 *
 * An object is not shared until its address is written to what others can see; from then on the call that allocated it
 * is like any other. If what says that an object is used is a reference count, a reader that has no lock may not just
 * increase it: refcount_inc_not_zero() does so only if nobody takes it to 0 at that time. And what a timer's function
 * accesses is freed after the timer is stopped, or work's.
 */
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <trace/events/kmem.h>

#include "oracle.h"
#include "race.h"

#define MOST_GONE 8		/* users of objects that the call freed, or functions that it stopped before */

/* The last address that a call wrote to what others see, perhaps of an object of its own. */
static struct {
	u64 serial;
	unsigned long at;
} publishing;

/* The functions that a call stopped, and the other ones that used what it freed. */
static struct {
	u64 serial;
	unsigned long by;
	const void *stopped[MOST_GONE], *users[MOST_GONE];
	unsigned int most_stopped, count;
} gone;

/* A write to an object that readers without its locks may have; what it wrote is there at the next access. */
static struct {
	const struct object *object;	/* NULL: none */
	u64 number, *at;
	struct access write, reader;
} unlinking;

/* Note that a call found an object by a pointer that was read like RCU's. */
void lifetime_finds(const struct access *access, unsigned long value)
{
	struct object *object = memory_find(value);
	struct access *readers = object ? object->readers : NULL;

	if (!object || object->serial == access->serial)
		return;
	if (lock_is_held(&rcu_lock_map))
		object->borrowed = access->serial;
	if (readers[0].serial && !locks_shared(&readers[0], access))
		readers[1] = readers[0];
	readers[0] = *access;
}

/* Check that an object is not used any more that a call found under rcu_read_lock(). */
void lifetime_check(struct object *object, const struct access *access, bool in_section)
{
	if (object->borrowed != access->serial || lockdep_rtnl_is_held())
		return;
	if (in_section && access->write && access->marked)
		object->borrowed = 0;	/* It may have taken a reference. */
	if (in_section || !object->borrowed)
		return;
	object->borrowed = 0;
	if (!report_is_new(access->pc, access->pc))
		return;
	pr_info("dcflab: early unlock: %pS %s what was found under rcu_read_lock(), after rcu_read_unlock(): it may be freed by then (allocated by %ps)\n",
		(void *)access->pc, access->write ? "writes" : "reads", (void *)object->caller);
	report_access(access);
	dump_stack();
	oracle_reported();
}

/* Return a reader of an object that may run at the same time, or NULL. */
static const struct access *reader_beside(const struct object *object, const struct access *access)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(object->readers); i++) {
		const struct access *reader = &object->readers[i];

		if (reader->serial && reader->serial != access->serial && !locks_shared(access, reader))
			return reader;
	}
	return NULL;
}

void lifetime_unlinks(const struct object *object, u64 *at, const struct access *write)
{
	const struct access *reader = reader_beside(object, write);

	if (!reader)
		return;
	unlinking.object = object;
	unlinking.number = object->number;
	unlinking.at = at;
	unlinking.write = *write;
	unlinking.reader = *reader;
}

/* Check what the last such write wrote. */
static void check_unlinking(void)
{
	const struct object *object = unlinking.object;

	unlinking.object = NULL;
	if (object->number != unlinking.number || *unlinking.at != (unsigned long)LIST_POISON1 ||
	    !report_is_new(unlinking.write.pc, unlinking.reader.pc))
		return;
	pr_info("dcflab: early end: %pS takes the pointer to the next one from what %pS may still read on another CPU: list_del_rcu() leaves it (allocated by %ps)\n",
		(void *)unlinking.write.pc, (void *)unlinking.reader.pc, (void *)object->caller);
	report_accesses(&unlinking.write, &unlinking.reader);
}

/* See whether the address is of an object of the call that wrote it. */
static void check_publishing(void)
{
	struct object *object = memory_find(*(unsigned long *)publishing.at);

	if (object && object->serial == publishing.serial)
		object->serial = 0;
	publishing.serial = 0;
}

/* See what the last writes wrote, before their memory goes. */
void lifetime_settle(void)
{
	if (unlinking.object)
		check_unlinking();
	if (publishing.serial)
		check_publishing();
}

/* The call wrote a pointer, perhaps to an object of its own, to what others see. */
void lifetime_publishes(unsigned long address, const struct call *call)
{
	publishing.serial = call->serial;
	publishing.at = address;
}

void lifetime_uses(struct object *object, const struct call *call)
{
	int i;

	for (i = 0; i < MOST_USERS && object->users[i] != call->function; i++) {
		if (object->users[i])
			continue;
		object->users[i] = call->function;
		return;
	}
}

static void begin_gone(const struct call *call)
{
	if (gone.serial != call->serial)
		gone.most_stopped = gone.count = 0;
	gone.serial = call->serial;
}

static bool was_stopped(const void *function)
{
	unsigned int i;

	for (i = 0; i < gone.most_stopped; i++)
		if (gone.stopped[i] == function)
			return true;
	return false;
}

/* The object is freed: remember who used it. What was stopped before may be another timer or work of many. */
static void note_gone(const struct object *object, const struct call *call, unsigned long by)
{
	int i;

	begin_gone(call);
	gone.by = by;
	for (i = 0; i < MOST_USERS && object->users[i]; i++)
		if (object->users[i] != call->function && !was_stopped(object->users[i]) && gone.count < MOST_GONE)
			gone.users[gone.count++] = object->users[i];
}

/* A call stops a timer or work, with this function. */
void lifetime_stops(const void *function, unsigned long by)
{
	const struct call *call;
	unsigned long flags;
	unsigned int i;

	raw_local_irq_save(flags);
	call = call_now();
	if (call)
		begin_gone(call);
	for (i = 0; call && i < gone.count; i++) {
		if (gone.users[i] != function || !report_is_new(gone.by, by))
			continue;
		pr_info("dcflab: late function: %pS frees what %ps uses, and %pS stops that function only later\n",
			(void *)gone.by, function, (void *)by);
		dump_stack();
		oracle_reported();
		break;
	}
	if (call && !was_stopped(function) && gone.most_stopped < MOST_GONE)
		gone.stopped[gone.most_stopped++] = function;
	raw_local_irq_restore(flags);
}

static void check_free(const struct object *object, unsigned long caller)
{
	struct access access = { .pc = caller, .write = true, .frees = true };
	struct call *call = call_now();
	int i;

	if (!call || !debug_locks || get_state_synchronize_rcu() != call->grace || race_alone(call, caller) == ALONE ||
	    !locks_note(&access, true))
		return;
	access.function = call->function;
	for (i = 0; i < MOST_LOCKS && access.count < MOST_LOCKS; i++)	/* It was unlinked under one of these. */
		if (call->locks_at_writes[i])
			access.locks[access.count++] = call->locks_at_writes[i];
	for (i = 0; i < ARRAY_SIZE(object->readers); i++) {
		const struct access *reader = &object->readers[i];

		if (!reader->serial || reader->serial == call->serial || locks_shared(&access, reader))
			continue;
		if (call->alone == ALONE_WITH_MEMORY && reader->inside)
			continue;	/* it was in the memory of a qdisc that goes */
		if (!report_is_new(caller, reader->pc))
			continue;
		pr_info("dcflab: early free: %pS frees what %pS may still read on another CPU: free it after a grace period, as kfree_rcu() does (allocated by %ps)\n",
			(void *)caller, (void *)reader->pc, (void *)object->caller);
		report_accesses(&access, reader);
		return;
	}
}

static void heard_kfree(void *unused, unsigned long caller, const void *start)
{
	struct object *object;
	unsigned long flags;

	raw_local_irq_save(flags);
	lifetime_settle();
	object = memory_find((unsigned long)start);
	if (object && memory_module(caller)) {
		const struct call *call = call_now();

		check_free(object, caller);
		if (call)
			note_gone(object, call, caller);
	}
	raw_local_irq_restore(flags);
	memory_forget((unsigned long)start);
}

void oracle_kvfree(const void *start);

void oracle_kvfree(const void *start)
{
	const struct object *object;
	const struct call *call;
	unsigned long flags;

	raw_local_irq_save(flags);
	lifetime_settle();
	object = memory_find((unsigned long)start) ?: memory_find_large((unsigned long)start);
	call = object ? call_now() : NULL;
	if (call)
		note_gone(object, call, _RET_IP_);
	raw_local_irq_restore(flags);
	if (is_vmalloc_addr(start))	/* else heard_kfree() does this */
		memory_forget((unsigned long)start);
	kvfree(start);
}
EXPORT_SYMBOL(oracle_kvfree);

static void heard_cache_free(void *unused, unsigned long caller, const void *start, const struct kmem_cache *cache)
{
	memory_forget((unsigned long)start);
}

void lifetime_taken(const void *count);
void lifetime_last(const void *count);

/* Return the object with this count, and the access to it by the call in progress. */
static struct object *counted_object(const void *count, unsigned long pc, struct access *access)
{
	struct object *object = memory_find((unsigned long)count);
	const struct call *call = object ? call_now() : NULL;

	if (!call || !debug_locks)
		return NULL;
	*access = (struct access){ .pc = pc, .function = call->function, .serial = call->serial, .write = true };
	return locks_note(access, false) ? object : NULL;
}

/* refcount_inc() */
void lifetime_taken(const void *count)
{
	struct access access;
	struct object *object;
	unsigned long flags;
	int held;

	raw_local_irq_save(flags);
	object = counted_object(count, _RET_IP_, &access);
	if (object && object->borrowed == access.serial && lock_is_held(&rcu_lock_map)) {
		held = current->lockdep_depth - call_now()->locks;
		if (held == 1)	/* the call took no lock but RCU's */
			object->taken = access;
	}
	raw_local_irq_restore(flags);
}
EXPORT_SYMBOL(lifetime_taken);

/* refcount_dec_and_test() took it to 0 */
void lifetime_last(const void *count)
{
	struct access access;
	struct object *object;
	unsigned long flags;

	raw_local_irq_save(flags);
	object = counted_object(count, _RET_IP_, &access);
	if (object && object->taken.serial && !locks_shared(&object->taken, &access) &&
	    report_is_new(object->taken.pc, access.pc)) {
		pr_info("dcflab: race: %pS takes a reference of what it found under rcu_read_lock(), and %pS may give the last one back at that time on another CPU: use refcount_inc_not_zero() (allocated by %ps)\n",
			(void *)object->taken.pc, (void *)access.pc, (void *)object->caller);
		report_accesses(&object->taken, &access);
	}
	raw_local_irq_restore(flags);
}
EXPORT_SYMBOL(lifetime_last);

int __init lifetime_start(void)
{
	return register_trace_kfree(heard_kfree, NULL) ?: register_trace_kmem_cache_free(heard_cache_free, NULL);
}
