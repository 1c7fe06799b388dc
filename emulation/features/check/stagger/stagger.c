// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make races of a module under test more frequent, and name those of its own accesses.
 *
 * The compiler (-fsanitize=thread) calls the functions below before each access of the module to memory. Some accesses
 * wait there for a moment, so that what takes some instructions takes long enough for another CPU to come in between.
 * Each place in the code has its own turns, so rare code waits nearly each time: there are most races that tests miss.
 * While a plain access waits, its bytes are watched, as in KCSAN. An access of another CPU to them, one of both a write,
 * is a data race that has really happened. If its bytes are those of freed memory afterwards (slub_debug), somebody has
 * freed what this CPU still uses; the kernel says who did.
 *
 * Marked accesses (READ_ONCE, WRITE_ONCE) wait, but are not reported. Two writes are a race; a read beside a write is
 * reported as a note, as many modules read their statistics so.
 */
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/poison.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>
#include <linux/spinlock.h>

#define WATCHES 16
#define MOST_REPORTS 64
#define PLACES_BITS 10
#define PERIOD_NS 20000000	/* between two waits at one place: at most */
#define RARE_NS 200000000	/* after this time a place waits even if its CPU has waited enough */
#define WAIT_US 200		/* at most */
#define SHARE 4			/* a CPU waits at most one in this many nanoseconds, or so */
#define BETWEEN 8		/* accesses of a CPU without a wait after each: a busy host gives it few in that time */

enum { UNUSED, IN_USE, SET, MET };

struct watch {
	atomic_t state;
	unsigned long address, size, other;
	bool write, other_writes;
};

struct turn {
	u32 random;
	u32 passed;
	u64 not_before;
};

struct place {
	unsigned long pc;
	u64 not_before;
};

static struct watch watches[WATCHES];
static struct place places[1 << PLACES_BITS];
static DEFINE_PER_CPU(struct turn, turns);
static struct { unsigned long one, other; } reported[MOST_REPORTS];
static unsigned int most_reports;
static DEFINE_RAW_SPINLOCK(reported_lock);

static bool is_new(unsigned long one, unsigned long other)
{
	unsigned long flags;
	unsigned int at;
	bool new;

	raw_spin_lock_irqsave(&reported_lock, flags);
	for (at = 0; at < most_reports; at++)
		if ((reported[at].one == one && reported[at].other == other) ||
		    (reported[at].one == other && reported[at].other == one))
			break;
	new = at == most_reports && at < MOST_REPORTS;
	if (new) {
		reported[at].one = one;
		reported[at].other = other;
		most_reports++;
	}
	raw_spin_unlock_irqrestore(&reported_lock, flags);
	return new;
}

static void tell_race(unsigned long pc, bool write, unsigned long other, bool other_writes, unsigned long size)
{
	if (!is_new(pc, other))
		return;
	pr_warn("dcflab: %s: %pS %s %lu bytes while %pS %s them\n", write && other_writes ? "race" : "note",
		(void *)pc, write ? "writes" : "reads", size, (void *)other, other_writes ? "writes" : "reads");
}

/* A report that ends with a bar; in between, the kernel says who allocated and freed it. */
static void tell_freed(unsigned long pc, bool write, unsigned long address, unsigned long size)
{
	if (!is_new(pc, 0))
		return;
	pr_warn("BUG: freed meanwhile: %pS %s %lu bytes\n", (void *)pc, write ? "writes" : "reads", size);
	mem_dump_obj((void *)address);
	pr_warn("==================================================================\n");
}

/* Return whether this is what slub_debug writes to freed memory; the last byte of an object is another one. */
static bool is_freed(const u8 *bytes, unsigned long size)
{
	unsigned long at;

	if (size < 4)
		return false;
	for (at = 0; at < size - 1; at++)
		if (READ_ONCE(bytes[at]) != POISON_FREE)
			return false;
	return READ_ONCE(bytes[at]) == POISON_FREE || READ_ONCE(bytes[at]) == POISON_END;
}

static bool is_watched(const struct watch *watch, unsigned long address, unsigned long size, bool write)
{
	return (write || READ_ONCE(watch->write)) && address < READ_ONCE(watch->address) + READ_ONCE(watch->size) &&
	       READ_ONCE(watch->address) < address + size;
}

/* Tell those who wait at these bytes. A write counts more than a read before it, as both may be one update. */
static void meet_watches(unsigned long address, unsigned long size, bool write, unsigned long pc)
{
	struct watch *watch;
	unsigned long flags;

	for (watch = watches; watch < watches + WATCHES; watch++) {
		int state = atomic_read(&watch->state);

		if ((state != SET && (state != MET || !write)) || !is_watched(watch, address, size, write))
			continue;
		raw_local_irq_save(flags);
		if (atomic_cmpxchg(&watch->state, state, IN_USE) == state) {
			bool met = is_watched(watch, address, size, write);	/* it may be another's by now */

			if (met) {
				watch->other = pc;
				watch->other_writes = write;
			}
			atomic_set_release(&watch->state, met ? MET : state);
		}
		raw_local_irq_restore(flags);
	}
}

/* Wait, and watch the bytes meanwhile. */
static void watch_while_waiting(unsigned long address, unsigned long size, bool write, unsigned long pc,
				unsigned int wait_us)
{
	struct watch *watch = watches;
	bool other_writes, freed_before = is_freed((u8 *)address, size);
	unsigned long other;
	int state;

	while (watch < watches + WATCHES && atomic_cmpxchg(&watch->state, UNUSED, IN_USE) != UNUSED)
		watch++;
	if (watch == watches + WATCHES)
		return;
	WRITE_ONCE(watch->address, address);
	WRITE_ONCE(watch->size, size);
	WRITE_ONCE(watch->write, write);
	atomic_set_release(&watch->state, SET);
	udelay(wait_us);
	do {
		state = atomic_read(&watch->state);
		cpu_relax();
	} while (state == IN_USE || atomic_cmpxchg(&watch->state, state, IN_USE) != state);
	other = watch->other;
	other_writes = watch->other_writes;
	atomic_set_release(&watch->state, UNUSED);
	if (state == MET)
		tell_race(pc, write, other, other_writes, size);
	else if (!freed_before && is_freed((u8 *)address, size))
		tell_freed(pc, write, address, size);
}

/* Return whether it is this place's turn to wait. */
static bool is_due(struct turn *turn, unsigned long pc)
{
	struct place *place = places + hash_long(pc, PLACES_BITS);
	u64 now;

	if (++turn->passed <= BETWEEN)
		return false;
	now = local_clock();
	if (place->pc != pc) {
		place->pc = pc;
		place->not_before = 0;
	}
	if (now < place->not_before || (now < turn->not_before && now < place->not_before + RARE_NS))
		return false;
	turn->random = 1664525 * turn->random + 1013904223 + (u32)now;
	turn->passed = 0;
	place->not_before = now + turn->random % PERIOD_NS;
	return true;
}

static void pass_access(unsigned long address, unsigned long size, bool write, bool marked, unsigned long pc)
{
	struct turn *turn = raw_cpu_ptr(&turns);
	unsigned int wait_us;

	if (in_nmi() || object_is_on_stack((void *)address))
		return;
	if (!marked)
		meet_watches(address, size, write, pc);
	if (!is_due(turn, pc))
		return;
	wait_us = 1 + (turn->random >> 8) % WAIT_US;
	turn->not_before = local_clock() + SHARE * 1000ULL * wait_us;
	if (marked)
		udelay(wait_us);
	else
		watch_while_waiting(address, size, write, pc, wait_us);
}

/* What the compiler calls (gcc/tsan.def). */
#define ACCESS(name, size, write, marked)						\
	void __tsan_##name##size(void *address);					\
	void __tsan_##name##size(void *address)						\
	{										\
		pass_access((unsigned long)address, size, write, marked, _RET_IP_);	\
	}										\
	EXPORT_SYMBOL(__tsan_##name##size)

#define ACCESSES(size)									\
	ACCESS(read, size, false, false);						\
	ACCESS(write, size, true, false);						\
	ACCESS(volatile_read, size, false, true);					\
	ACCESS(volatile_write, size, true, true);					\
	ACCESS(unaligned_read, size, false, false);					\
	ACCESS(unaligned_write, size, true, false);					\
	ACCESS(unaligned_volatile_read, size, false, true);				\
	ACCESS(unaligned_volatile_write, size, true, true)

#define RANGE(name, write)								\
	void __tsan_##name##_range(void *address, unsigned long size);			\
	void __tsan_##name##_range(void *address, unsigned long size)			\
	{										\
		pass_access((unsigned long)address, size, write, false, _RET_IP_);	\
	}										\
	EXPORT_SYMBOL(__tsan_##name##_range)

ACCESSES(1);
ACCESSES(2);
ACCESSES(4);
ACCESSES(8);
ACCESSES(16);
RANGE(read, false);
RANGE(write, true);

void __tsan_init(void);
void __tsan_init(void)
{
}
EXPORT_SYMBOL(__tsan_init);

MODULE_DESCRIPTION("Waits at accesses of a module under test, and names its data races");
MODULE_LICENSE("GPL");
