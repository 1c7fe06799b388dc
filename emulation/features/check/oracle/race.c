// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find accesses of a module under test that can collide on two CPUs, though the kernel here has one.
 *
 * The compiler (-fsanitize=thread) calls the functions below at each access of the module; they call KASAN in turn,
 * because gcc cannot do both. As in Eraser, what counts is which locks are held: two accesses to the same bytes, one of
 * them a write, that have no lock in common can collide. lockdep knows the locks. So the order of events does not
 * matter, and the same run finds the same races.
 *
 * Watched are the module's variables, the memory that its own code allocates, and its qdiscs. Sockets and packets are
 * the kernel's, and have its locks. Not reported are
 * - marked accesses (READ_ONCE, WRITE_ONCE, atomics, data_race(), seqlocks) beside each other, except two calls like
 *   WRITE_ONCE(x, x + 1), which lose updates, and those of a counter: what goes up and down by 1, to more than 1;
 * - per-CPU variables, except that a task changes one with softirqs on, and a softirq does so in between;
 * - a marked read beside a plain write, as in KCSAN's default; a plain read beside a marked write, except of pointers;
 * - numbers that a task reads without a spinlock, as dump functions do for statistics, or that it sets to 0 or to the
 *   largest value, as they are reset;
 * - writes that change nothing;
 * - all in the module's init and exit functions; and memory in the call that allocated it, in a qdisc's init, reset
 *   and destroy, and in RCU callbacks; and variables in a qdisc's init before anybody else uses them;
 * - the last access to an object before it is freed: it may have been unlinked.
 *
 * memory.c has the memory that is watched, locks.c the locks, and lifetime.c what is wrong with the time of an access.
 *
 * What is only read is reported at the second time: if it is written next, that says more.
 */
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kcsan-checks.h>
#include <linux/kmemleak.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include <net/sch_generic.h>

#include "oracle.h"
#include "race.h"

#define MOST_WRITES 3		/* that are remembered of each granule */
#define SLOTS 8192
#define PROBED 8
#define MOST_GRANULES 64	/* of an access */

enum step { STEP_UP = 1, STEP_DOWN = 2, STEP_ABOVE_1 = 4, STEP_OTHER = 8, COUNTS = 7 };

/* The writes to 8 bytes. */
struct slot {
	unsigned long address;
	u64 number;			/* the object's; 0: not in use */
	u64 first, last;		/* calls that came first and last; first is 0 when it is shared */
	u64 suspected;			/* the call in which an access collided */
	u8 reported;			/* bytes of which a collision was reported */
	u8 counted;			/* bytes of a number that marked updates changed */
	u8 steps;			/* how they did: enum step */
	struct access writes[MOST_WRITES];
};

static struct slot *slots;

/* Return whether one may interrupt the other on the same CPU, so that an update is lost. */
static bool may_interrupt(const struct access *one, const struct access *other)
{
	return one->updates && other->updates && ((one->open && other->context & 1) || (other->open && one->context & 1));
}

static void tell_race(const struct object *object, unsigned long address, const struct access *earlier,
		      const struct access *later, bool pointer)
{
	const struct access *one = later->strict && !earlier->strict ? earlier : later;
	const struct access *other = one == later ? earlier : later;
	char what[KSYM_SYMBOL_LEN];
	const char *outcome;

	if (!report_is_new(one->pc, other->pc))
		return;
	if (object && object->caller) {
		snprintf(what, sizeof(what), "byte %lu of %lu allocated by %ps", address - object->start, object->size,
			 (void *)object->caller);
	} else if (object) {
		snprintf(what, sizeof(what), "byte %ld of the qdisc's own state",
			 (long)(address - object->start) - (long)sizeof(struct Qdisc));
	} else {
		sprint_symbol_no_offset(what, address);
		what[strcspn(what, ". ")] = 0;	/* without the compiler's number, and the module */
		if (!strcmp(what, "__already_done") || !strcmp(what, "__warned"))
			return;		/* of WARN_ON_ONCE(), pr_info_once() and the like, which may happen twice */
	}
	outcome = pointer ? "; it is a pointer" : one->updates && other->updates ? "; updates may be lost" : "";
	if (!object && memory_is_per_cpu(address))
		pr_info("dcflab: race: %pS changes %s of its CPU with softirqs on, and %pS changes it in a softirq: updates may be lost\n",
			(void *)(one->open ? one : other)->pc, what, (void *)(one->open ? other : one)->pc);
	else if (one->pc == other->pc)
		pr_info("dcflab: race: %pS can run on two CPUs at the same time, and writes %s: no lock prevents it%s\n",
			(void *)one->pc, what, outcome);
	else
		pr_info("dcflab: race: %pS %s %s, and %pS may %s it at the same time on another CPU: no lock prevents it%s\n",
			(void *)one->pc, one->write ? "writes" : "reads", what, (void *)other->pc,
			other->write ? "write" : "read", outcome);
	report_accesses(one, other);
}

static bool is_pointer(u64 value)
{
	return virt_addr_valid((void *)(unsigned long)value) || is_vmalloc_addr((void *)(unsigned long)value) ||
	       memory_module(value);
}

/* Return whether it puts a pointer where another was, or none: a number may look like a pointer. */
static bool puts_pointer(const struct access *write)
{
	const void *before = (void *)(unsigned long)write->before;

	return is_pointer(write->after) &&
	       (!before || before == LIST_POISON1 || before == LIST_POISON2 || is_pointer(write->before));
}

static u64 bytes_of(u8 mask)
{
	u64 bytes = 0;
	int i;

	for (i = 0; i < GRANULE; i++)
		if (mask & BIT(i))
			bytes |= 0xffULL << (8 * i);
	return bytes;
}

/* Return whether it was in a task that held no spinlock and no socket, as when somebody configures or dumps. */
static bool is_lax(const struct access *access)
{
	return !access->context && !access->strict;
}

static bool may_collide(const struct access *write, const struct access *access, bool *pointer)
{
	u64 bytes = bytes_of(write->mask), value = write->after;

	if (!(write->mask & access->mask) || write->serial == access->serial || locks_shared(write, access) ||
	    (write->marked && access->marked && !(write->loses && access->loses)) || !((write->before ^ value) & bytes))
		return false;
	if (write->thread && write->thread == access->thread)
		return false;
	if (write->context & access->context & 2 && write->function == access->function)
		return false;	/* a timer does not run twice at a time */
	*pointer = write->mask == 0xff && access->mask == 0xff && puts_pointer(write);
	if (is_lax(access) && access->write && !is_lax(write))
		return false;	/* later, when its value is known */
	if (is_lax(write) && !*pointer && (!(value & bytes) || (value & bytes) == bytes))
		return false;	/* a statistic is reset */
	if (access->write || *pointer)
		return !access->marked || access->write;
	return !access->marked && !write->marked && !is_lax(access);
}

static struct slot *find_slot(unsigned long address, u64 number, bool write)
{
	unsigned int at = (u32)hash_64(address ^ number << 48, 32) % SLOTS, i;
	struct slot *oldest = &slots[at];

	for (i = 0; i < PROBED; i++) {
		struct slot *slot = &slots[(at + i) % SLOTS];

		if (slot->address == address && slot->number == number)
			return slot;
		if (slot->last < oldest->last)
			oldest = slot;
	}
	if (!write)
		return NULL;
	*oldest = (struct slot){ .address = address, .number = number };
	return oldest;
}

static void remember_write(struct slot *slot, const struct access *access)
{
	static unsigned int next;
	int i;

	for (i = 0; i < MOST_WRITES; i++)
		if (!slot->writes[i].serial || slot->writes[i].pc == access->pc)
			break;
	slot->writes[i < MOST_WRITES ? i : next++ % MOST_WRITES] = *access;
}

/* Note how a marked update changed a number. */
static void note_step(struct slot *slot, const struct access *write)
{
	u64 bytes = bytes_of(write->mask), most = bytes >> 8 * __ffs(write->mask);
	u64 before = (write->before & bytes) >> 8 * __ffs(write->mask);
	u64 after = (write->after & bytes) >> 8 * __ffs(write->mask), change = (after - before) & most;

	if (!write->marked || !write->updates || (slot->counted && slot->counted != write->mask))
		return;
	slot->counted = write->mask;
	slot->steps |= change == 1 ? STEP_UP : change == most ? STEP_DOWN : change ? STEP_OTHER : 0;
	slot->steps |= after > 1 && after < most / 2 ? STEP_ABOVE_1 : 0;
}

static void check_granule(const struct object *object, u64 number, unsigned long address, struct access *access)
{
	struct slot *slot = find_slot(address, number, access->write);
	u64 value = *(u64 *)address;
	bool pointer;
	int i;

	if (!slot || !(access->mask & ~slot->reported))
		return;
	if (!slot->last && access->initial)
		slot->first = access->serial;
	if (slot->first && slot->first != access->serial) {
		memset(slot->writes, 0, sizeof(slot->writes));
		slot->first = 0;
	}
	for (i = 0; i < MOST_WRITES; i++) {
		if (!slot->writes[i].settled) {
			slot->writes[i].after = value;
			slot->writes[i].settled = true;
			if (slot->writes[i].serial)
				note_step(slot, &slot->writes[i]);
		}
		if (slot->steps == COUNTS && slot->counted == access->mask) {
			access->loses |= access->updates;
			slot->writes[i].loses |= slot->writes[i].updates;
		}
		if (!slot->writes[i].serial || !may_collide(&slot->writes[i], access, &pointer))
			continue;
		if (!object && memory_is_per_cpu(address) && !may_interrupt(&slot->writes[i], access))
			continue;
		if ((!object && access->write) || (slot->suspected && slot->suspected != access->serial)) {
			slot->reported |= access->mask;
			tell_race(object, address + __ffs(slot->writes[i].mask & access->mask), &slot->writes[i], access,
				  pointer);
			break;
		}
		slot->suspected = access->serial;
	}
	slot->last = access->serial;
	access->before = value;
	if (access->write)
		remember_write(slot, access);
}

static void note_locks_at_write(struct call *call, const struct access *access)
{
	int i, j;

	for (i = 0; i < access->count; i++)
		for (j = 0; j < MOST_LOCKS && call->locks_at_writes[j] != access->locks[i]; j++) {
			if (call->locks_at_writes[j])
				continue;
			call->locks_at_writes[j] = access->locks[i];
			break;
		}
}

enum alone race_alone(struct call *call, unsigned long pc)
{
	const struct known_module *by = call->alone ? NULL : memory_module(pc);

	if (call->alone)
		return call->alone;
	if (!by || call->function == by->module->init || call->function == by->module->exit)
		call->alone = ALONE;
	else
		call->alone = oracle_is_alone(call->function) ? ALONE_WITH_MEMORY : NOT_ALONE;
	return call->alone;
}

/* Return whether RCU would wait for this call, were it on another CPU. */
static bool in_rcu(unsigned long flags)
{
	return lock_is_held(&rcu_lock_map) || preempt_count() || raw_irqs_disabled_flags(flags);
}

static void see_access(unsigned long address, size_t size, bool write, bool marked, unsigned long pc)
{
	static unsigned long last_read;
	static u64 last_serial;
	static bool last_marked;
	static bool busy;
	const struct known_module *module = NULL;
	struct object *object, *used;
	struct access access = {};
	unsigned long flags, at;
	struct call *call;

	endless_pass(pc);
	raw_local_irq_save(flags);
	lifetime_settle();
	object = memory_find(address);
	used = object ?: memory_find_large(address);
	if (!object)
		module = memory_module(address);
	call = used || module ? call_now() : NULL;
	if (call && used)
		lifetime_uses(used, call);
	if (!object && !module)
		goto out;
	if (!call || busy || !debug_locks || !size || call->forgiven || (object && object->serial == call->serial))
		goto out;
	if (race_alone(call, pc) == ALONE || (object && race_alone(call, pc) == ALONE_WITH_MEMORY))
		goto out;
	access = (struct access){ .pc = pc, .function = call->function, .serial = call->serial, .write = write,
				  .marked = marked || call->retried, .initial = call->alone == ALONE_WITH_MEMORY };
	if (!write) {
		last_read = ~address;
		last_serial = call->serial;
		last_marked = access.marked;
	} else if (last_read == ~address && last_serial == call->serial) {
		access.updates = true;
		access.loses = !last_marked;	/* as does WRITE_ONCE(x, x + 1) */
	}
	if (in_task() && current->flags & PF_KTHREAD)
		access.thread = current;
	access.inside = object;
	access.open = in_task() && !softirq_count() && !raw_irqs_disabled_flags(flags);
	if (!locks_note(&access, object))
		goto out;
	if (write)
		note_locks_at_write(call, &access);
	if (write && size == sizeof(void *))
		lifetime_publishes(address, call);
	busy = true;
	if (object)
		lifetime_check(object, &access, in_rcu(flags));
	if (object && write && !marked && size == sizeof(void *))
		lifetime_unlinks(object, (u64 *)address, &access);
	if (marked && !write && size == sizeof(void *))
		lifetime_finds(&access, *(unsigned long *)address);
	for (at = round_down(address, GRANULE); at < address + min(size, MOST_GRANULES * GRANULE); at += GRANULE) {
		unsigned int from = at < address ? address - at : 0, to = min(address + size - at, GRANULE);

		access.mask = GENMASK(to - 1, from);
		check_granule(object, object ? object->number : module->number, at, &access);
	}
	busy = false;
out:
	raw_local_irq_restore(flags);
}

/* What watched.h and the compiler call. */

void race_forgive(int more);
void race_retried(int accesses);
void race_checked(const volatile void *variable, unsigned long size, int type);

void race_forgive(int more)
{
	struct call *call;
	unsigned long flags;

	raw_local_irq_save(flags);
	call = call_now();
	if (call)
		call->forgiven += more;
	raw_local_irq_restore(flags);
}
EXPORT_SYMBOL(race_forgive);

void race_retried(int accesses)
{
	struct call *call;
	unsigned long flags;

	raw_local_irq_save(flags);
	call = call_now();
	if (call)
		call->retried = accesses;
	raw_local_irq_restore(flags);
}
EXPORT_SYMBOL(race_retried);

void race_checked(const volatile void *variable, unsigned long size, int type)
{
	if (!(type & KCSAN_ACCESS_ASSERT))
		see_access((unsigned long)variable, size, type & KCSAN_ACCESS_WRITE, type & KCSAN_ACCESS_ATOMIC,
			   _RET_IP_);
}
EXPORT_SYMBOL(race_checked);

#define ACCESS(name, asan, size, write, marked)					\
void asan(void *at);								\
void name(void *at);								\
void name(void *at)								\
{										\
	see_access((unsigned long)at, size, write, marked, _RET_IP_);		\
	asan(at);	/* The last call, without a frame of this function: KASAN names the module's. */	\
}										\
EXPORT_SYMBOL(name)

#define ACCESSES(how, size)									\
	ACCESS(__tsan_##how##read##size, __asan_load##size##_noabort, size, false, false);	\
	ACCESS(__tsan_##how##write##size, __asan_store##size##_noabort, size, true, false);	\
	ACCESS(__tsan_##how##volatile_read##size, __asan_load##size##_noabort, size, false, true); \
	ACCESS(__tsan_##how##volatile_write##size, __asan_store##size##_noabort, size, true, true)

ACCESSES(, 1);
ACCESSES(, 2);
ACCESSES(, 4);
ACCESSES(, 8);
ACCESSES(, 16);
ACCESSES(unaligned_, 2);
ACCESSES(unaligned_, 4);
ACCESSES(unaligned_, 8);
ACCESSES(unaligned_, 16);

#define RANGE(name, asan, write)					\
void asan(void *at, ssize_t size);					\
void name(void *at, size_t size);					\
void name(void *at, size_t size)					\
{									\
	see_access((unsigned long)at, size, write, false, _RET_IP_);	\
	asan(at, size);							\
}									\
EXPORT_SYMBOL(name)

RANGE(__tsan_read_range, __asan_loadN_noabort, false);
RANGE(__tsan_write_range, __asan_storeN_noabort, true);

void __tsan_init(void);

void __tsan_init(void)
{
}
EXPORT_SYMBOL(__tsan_init);

/* gcov's counters, with -fprofile-update=atomic. */
u64 __tsan_atomic64_fetch_add(u64 *at, u64 more, int order);

u64 __tsan_atomic64_fetch_add(u64 *at, u64 more, int order)
{
	return __atomic_fetch_add(at, more, __ATOMIC_RELAXED);
}
EXPORT_SYMBOL(__tsan_atomic64_fetch_add);

static int __init race_start(void)
{
	slots = vcalloc(SLOTS, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	kmemleak_no_scan(slots);	/* An address there is no pointer that anybody follows. */
	return memory_start() ?: lifetime_start();
}
module_init(race_start);
