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
 * In the same way an object that a reader found by a marked pointer, and so in RCU's way, may not be freed in the call
 * that unlinks it, unless that took a lock that the reader had, or waited for a grace period, or a qdisc goes with it.
 * Nor may its own pointer to the next one go, as with list_del(), from which the reader goes on.
 *
 * Nor may a call access it any more after the end of the section of RCU in which it found it. Not reported are accesses
 * in another such section, or with RTNL; and those of an object of which the call changed an atomic variable in the
 * section, such as a reference count.
 *
 * An object is not shared until its address is written to what others can see; from then on the call that allocated it
 * is like any other. If what says that an object is used is a reference count, a reader that has no lock may not just
 * increase it: refcount_inc_not_zero() does so only if nobody takes it to 0 at that time. And what a timer's function
 * accesses is freed after the timer is stopped, or work's.
 *
 * What is only read is reported at the second time: if it is written next, that says more.
 */
#include <linux/kallsyms.h>
#include <linux/kcsan-checks.h>
#include <linux/kmemleak.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <net/sch_generic.h>
#include <net/sock.h>
#include <trace/events/kmem.h>

#include "calls.h"
#include "oracle.h"

#define MOST_MODULES 8
#define SHOWN_LOCKS 3
#define MOST_WRITES 3		/* that are remembered of each granule */
#define MOST_RANGES 64
#define MOST_REPORTS 16
#define MOST_OBJECTS 4096
#define OBJECT_BUCKETS 2048
#define MOST_PAGES 16		/* of an object */
#define SLOTS 8192
#define PROBED 8
#define GRANULE 8
#define MOST_GRANULES 64	/* of an access */
#define MOST_USERS 4		/* functions that were called and accessed an object */
#define MOST_LARGE 8		/* objects with more pages, of which only the users matter */
#define MOST_GONE 8		/* users of objects that the call freed */

enum step { STEP_UP = 1, STEP_DOWN = 2, STEP_ABOVE_1 = 4, STEP_OTHER = 8, COUNTS = 7 };
enum alone { NOT_ALONE = 1, ALONE_WITH_MEMORY, ALONE };

struct known_module {
	const struct module *module;
	u64 number;
};

struct access {
	unsigned long pc;
	void *function;			/* by which the kernel called the module */
	const struct task_struct *thread;	/* a kernel thread, in which nothing else runs; or NULL */
	u64 serial;			/* the call */
	u64 before, after;		/* the granule's value before a write, and at the next access */
	unsigned long locks[MOST_LOCKS];	/* the last bit is set if it is shared */
	const char *names[SHOWN_LOCKS];
	u8 count, shown, context, mask;
	bool write, marked, updates, loses, strict, initial, frees, settled;
	bool open;			/* a softirq may come in between */
	bool inside;			/* it is of allocated memory, or of a qdisc's */
};

/* Memory that is watched. Its number is never used again. */
struct object {
	unsigned long start, size, caller;	/* caller: 0 for a qdisc */
	u64 number, serial;			/* serial: the call that allocated it */
	struct object *next;
	struct access readers[2];		/* the last ones that found it by a marked pointer, with other locks */
	u64 borrowed;				/* the call that found it last under rcu_read_lock() */
	struct access taken;			/* by refcount_inc() under rcu_read_lock() only */
	void *users[MOST_USERS];
};

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

static struct object *objects, *free_objects, *buckets[OBJECT_BUCKETS];
static struct known_module modules[MOST_MODULES];
static struct { unsigned long start, end; } ranges[MOST_RANGES];
static struct { unsigned long first, second; } reported[MOST_REPORTS];
static struct slot *slots;
static unsigned int most_pages = 1, most_ranges, most_reports;
static u64 numbers;
static struct object large[MOST_LARGE];
static unsigned int most_large;

/* The last address that a call wrote to what others see, perhaps of an object of its own. */
static struct {
	u64 serial;
	unsigned long at;
} publishing;

/* The functions that used what a call freed. */
static struct {
	u64 serial;
	unsigned long by;
	void *users[MOST_GONE];
	unsigned int count;
} gone;

/* A write to an object that readers without its locks may have; what it wrote is there at the next access. */
static struct {
	const struct object *object;	/* NULL: none */
	u64 number, *at;
	struct access write, reader;
} unlinking;

#define bucket_of(address) (&buckets[((address) >> PAGE_SHIFT) % OBJECT_BUCKETS])

/* Memory. */

static struct object **find_object(unsigned long address)
{
	unsigned int page;

	for (page = 0; page < most_pages; page++) {
		struct object **at = bucket_of(address - page * PAGE_SIZE);

		for (; *at; at = &(*at)->next)
			if (address - (*at)->start < (*at)->size)
				return at;
	}
	return NULL;
}

static void forget(unsigned long start)
{
	struct object **at, *found;
	unsigned long flags;

	raw_local_irq_save(flags);
	for (at = bucket_of(start); *at; at = &(*at)->next) {
		found = *at;
		if (found->start != start)
			continue;
		late_forget(found->start, found->size);
		*at = found->next;
		found->next = free_objects;
		free_objects = found;
		break;
	}
	raw_local_irq_restore(flags);
}

static struct object *large_object(unsigned long address)
{
	unsigned int i;

	for (i = 0; i < most_large; i++)
		if (address - large[i].start < large[i].size)
			return &large[i];
	return NULL;
}

static void own_large(unsigned long start, unsigned long size)
{
	struct object *object = large_object(start);
	unsigned int i;

	for (i = 0; !object && i < MOST_LARGE; i++)
		if (!large[i].size)
			object = &large[i];
	if (!object)
		return;
	*object = (struct object){ .start = start, .size = size };
	most_large = max_t(unsigned int, most_large, object - large + 1);
}

static void own(unsigned long start, unsigned long size, unsigned long caller)
{
	unsigned long flags, pages = (offset_in_page(start) + size + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct object *object;
	struct call *call;

	if (start && pages > MOST_PAGES)
		own_large(start, size);
	if (!start || pages > MOST_PAGES)
		return;
	forget(start);
	raw_local_irq_save(flags);
	late_forget(start, size);
	call = call_now();
	object = free_objects;
	if (object) {
		free_objects = object->next;
		*object = (struct object){ .start = start, .size = size, .caller = caller, .number = ++numbers,
					   .serial = call ? call->serial : 0, .next = *bucket_of(start) };
		*bucket_of(start) = object;
		most_pages = max_t(unsigned int, most_pages, pages);
	}
	raw_local_irq_restore(flags);
}

void race_own_qdisc(struct Qdisc *sch, size_t size)
{
	own((unsigned long)sch, size, 0);
}

static const struct known_module *module_of(unsigned long address)
{
	int i;

	for (i = 0; i < MOST_MODULES; i++)
		if (modules[i].module && within_module(address, modules[i].module))
			return &modules[i];
	return NULL;
}

void *oracle___kvmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t flags, int node);

void *oracle___kvmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t flags, int node)
{
	void *start = __kvmalloc_node_noprof(PASS_BUCKET_PARAMS(size, b), flags, node);

	own((unsigned long)start, size, _RET_IP_);
	return start;
}
EXPORT_SYMBOL(oracle___kvmalloc_node_noprof);

static void heard_kmalloc(void *unused, unsigned long caller, const void *start, size_t wanted, size_t size,
			  gfp_t flags, int node)
{
	if (module_of(caller))
		own((unsigned long)start, wanted, caller);
}

static void heard_cache_alloc(void *unused, unsigned long caller, const void *start, struct kmem_cache *cache,
			      gfp_t flags, int node)
{
	if (module_of(caller))
		own((unsigned long)start, kmem_cache_size(cache), caller);
}

static int heard_module(struct notifier_block *block, unsigned long state, void *data)
{
	const struct module *module = data;
	unsigned long flags;
	int i;

	raw_local_irq_save(flags);
	for (i = 0; i < MOST_MODULES; i++)
		if (modules[i].module == (state == MODULE_STATE_COMING ? NULL : module))
			break;
	if (i < MOST_MODULES && state == MODULE_STATE_COMING) {
		modules[i] = (struct known_module){ module, ++numbers };
	} else if (i < MOST_MODULES && state == MODULE_STATE_GOING) {
		modules[i].module = NULL;
		most_ranges = 0;
	}
	raw_local_irq_restore(flags);
	if (state == MODULE_STATE_GOING)
		late_in_module(module);
	return NOTIFY_OK;
}

/* Locks. */

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

/* Note the locks. Return false if there are too many, or if only this call can have the memory. */
static bool note_locks(struct access *access, bool memory)
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

static bool share_lock(const struct access *one, const struct access *other)
{
	int i, j;

	for (i = 0; i < one->count; i++)
		for (j = 0; j < other->count; j++)
			if (!((one->locks[i] ^ other->locks[j]) & ~1UL) && !(one->locks[i] & other->locks[j] & 1))
				return true;
	return false;
}

/* Reports. */

static const char *context_of(const struct access *access)
{
	return access->context & 2 ? "an interrupt" : access->context ? "a softirq" : "a task";
}

static void tell_access(const struct access *access)
{
	char locks[3 * 48] = "no lock";
	int i, at = 0;

	for (i = 0; i < access->shown; i++)
		at += scnprintf(locks + at, sizeof(locks) - at, "%s%.40s", i ? ", " : "", access->names[i]);
	pr_info("  %pS %s it in %s, called as %ps, with %s held\n", (void *)access->pc,
		access->frees ? "frees" : access->write ? "writes" : "reads", context_of(access), access->function, locks);
}

static void tell_accesses(const struct access *one, const struct access *other)
{
	tell_access(one);
	tell_access(other);
	dump_stack();
	oracle_reported();
}

/* Return whether this was not reported yet. */
static bool is_new(unsigned long first, unsigned long second)
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

static bool is_per_cpu(unsigned long address)
{
	int i;

	for (i = 0; i < most_ranges; i++)
		if (address + GRANULE > ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

/* Return whether one may interrupt the other on the same CPU, so that an update is lost. */
static bool interrupts(const struct access *one, const struct access *other)
{
	return one->updates && other->updates && ((one->open && other->context & 1) || (other->open && one->context & 1));
}

static void tell(const struct object *object, unsigned long address, const struct access *earlier,
		 const struct access *later, bool pointer)
{
	const struct access *one = later->strict && !earlier->strict ? earlier : later;
	const struct access *other = one == later ? earlier : later;
	char what[KSYM_SYMBOL_LEN];
	const char *outcome;

	if (!is_new(one->pc, other->pc))
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
	if (!object && is_per_cpu(address))
		pr_info("dcflab: race: %pS changes %s of its CPU with softirqs on, and %pS changes it in a softirq: updates may be lost\n",
			(void *)(one->open ? one : other)->pc, what, (void *)(one->open ? other : one)->pc);
	else if (one->pc == other->pc)
		pr_info("dcflab: race: %pS can run on two CPUs at the same time, and writes %s: no lock prevents it%s\n",
			(void *)one->pc, what, outcome);
	else
		pr_info("dcflab: race: %pS %s %s, and %pS may %s it at the same time on another CPU: no lock prevents it%s\n",
			(void *)one->pc, one->write ? "writes" : "reads", what, (void *)other->pc,
			other->write ? "write" : "read", outcome);
	tell_accesses(one, other);
}

/* Accesses. */

static bool is_pointer(u64 value)
{
	return virt_addr_valid((void *)(unsigned long)value) || is_vmalloc_addr((void *)(unsigned long)value) ||
	       module_of(value);
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

static bool collides(const struct access *write, const struct access *access, bool *pointer)
{
	u64 bytes = bytes_of(write->mask), value = write->after;

	if (!(write->mask & access->mask) || write->serial == access->serial || share_lock(write, access) ||
	    (write->marked && access->marked && !(write->loses && access->loses)) || !((write->before ^ value) & bytes))
		return false;
	if (write->thread && write->thread == access->thread)
		return false;
	if (write->context & access->context & 2 && write->function == access->function)
		return false;	/* a timer does not run twice at a time */
	*pointer = write->mask == 0xff && access->mask == 0xff && is_pointer(value);
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

static void remember(struct slot *slot, const struct access *access)
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

static void check(const struct object *object, u64 number, unsigned long address, struct access *access)
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
		if (!slot->writes[i].serial || !collides(&slot->writes[i], access, &pointer))
			continue;
		if (!object && is_per_cpu(address) && !interrupts(&slot->writes[i], access))
			continue;
		if ((!object && access->write) || (slot->suspected && slot->suspected != access->serial)) {
			slot->reported |= access->mask;
			tell(object, address + __ffs(slot->writes[i].mask & access->mask), &slot->writes[i], access,
			     pointer);
			break;
		}
		slot->suspected = access->serial;
	}
	slot->last = access->serial;
	access->before = value;
	if (access->write)
		remember(slot, access);
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

static enum alone alone(struct call *call, unsigned long pc)
{
	const struct known_module *by = call->alone ? NULL : module_of(pc);

	if (call->alone)
		return call->alone;
	if (!by || call->function == by->module->init || call->function == by->module->exit)
		call->alone = ALONE;
	else
		call->alone = oracle_is_alone(call->function) ? ALONE_WITH_MEMORY : NOT_ALONE;
	return call->alone;
}

/* Note that a call found an object by a pointer that was read like RCU's. */
static void find_by_pointer(const struct access *access, unsigned long value)
{
	struct object **found = find_object(value);

	struct access *readers = found ? (*found)->readers : NULL;

	if (!found || (*found)->serial == access->serial)
		return;
	if (lock_is_held(&rcu_lock_map))
		(*found)->borrowed = access->serial;
	if (readers[0].serial && !share_lock(&readers[0], access))
		readers[1] = readers[0];
	readers[0] = *access;
}

/* Return whether RCU would wait for this call, were it on another CPU. */
static bool in_rcu(unsigned long flags)
{
	return lock_is_held(&rcu_lock_map) || preempt_count() || raw_irqs_disabled_flags(flags);
}

/* Check that an object is not used any more that a call found under rcu_read_lock(). */
static void check_borrowed(struct object *object, const struct access *access, bool in_section)
{
	if (object->borrowed != access->serial || lockdep_rtnl_is_held())
		return;
	if (in_section && access->write && access->marked)
		object->borrowed = 0;	/* It may have taken a reference. */
	if (in_section || !object->borrowed)
		return;
	object->borrowed = 0;
	if (!is_new(access->pc, access->pc))
		return;
	pr_info("dcflab: early unlock: %pS %s what was found under rcu_read_lock(), after rcu_read_unlock(): it may be freed by then (allocated by %ps)\n",
		(void *)access->pc, access->write ? "writes" : "reads", (void *)object->caller);
	tell_access(access);
	dump_stack();
	oracle_reported();
}

/* Return a reader of an object that may run at the same time, or NULL. */
static const struct access *reader_beside(const struct object *object, const struct access *access)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(object->readers); i++) {
		const struct access *reader = &object->readers[i];

		if (reader->serial && reader->serial != access->serial && !share_lock(access, reader))
			return reader;
	}
	return NULL;
}

static void note_unlinking(const struct object *object, u64 *at, const struct access *write)
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
	    !is_new(unlinking.write.pc, unlinking.reader.pc))
		return;
	pr_info("dcflab: early end: %pS takes the pointer to the next one from what %pS may still read on another CPU: list_del_rcu() leaves it (allocated by %ps)\n",
		(void *)unlinking.write.pc, (void *)unlinking.reader.pc, (void *)object->caller);
	tell_accesses(&unlinking.write, &unlinking.reader);
}

static void note_user(struct object *object, void *function)
{
	int i;

	for (i = 0; i < MOST_USERS && object->users[i] != function; i++) {
		if (object->users[i])
			continue;
		object->users[i] = function;
		return;
	}
}

/* The object is freed: remember who used it. */
static void note_gone(const struct object *object, const struct call *call, unsigned long by)
{
	int i;

	if (gone.serial != call->serial)
		gone.count = 0;
	gone.serial = call->serial;
	gone.by = by;
	for (i = 0; i < MOST_USERS && object->users[i]; i++)
		if (object->users[i] != call->function && gone.count < MOST_GONE)
			gone.users[gone.count++] = object->users[i];
}

/* A call stops a timer or work, with this function. */
void race_stops(const void *function, unsigned long by)
{
	const struct call *call;
	unsigned long flags;
	unsigned int i;

	raw_local_irq_save(flags);
	call = call_now();
	for (i = 0; call && gone.serial == call->serial && i < gone.count; i++) {
		if (gone.users[i] != function || !is_new(gone.by, by))
			continue;
		pr_info("dcflab: late function: %pS frees what %ps uses, and %pS stops that function only later\n",
			(void *)gone.by, function, (void *)by);
		dump_stack();
		oracle_reported();
		break;
	}
	raw_local_irq_restore(flags);
}

/* See whether the address is of an object of the call that wrote it. */
static void check_publishing(void)
{
	struct object **found = find_object(*(unsigned long *)publishing.at);

	if (found && (*found)->serial == publishing.serial)
		(*found)->serial = 0;
	publishing.serial = 0;
}

static void seen(unsigned long address, size_t size, bool write, bool marked, unsigned long pc)
{
	static unsigned long last_read;
	static u64 last_serial;
	static bool last_marked;
	static bool busy;
	const struct known_module *module = NULL;
	struct object **found, *object = NULL;
	struct access access = {};
	unsigned long flags, at;
	struct call *call;

	endless_pass(pc);
	raw_local_irq_save(flags);
	if (unlinking.object)
		check_unlinking();
	if (publishing.serial)
		check_publishing();
	found = find_object(address);
	if (found)
		object = *found;
	else
		module = module_of(address);
	call = object || module || most_large ? call_now() : NULL;
	if (call && (found || most_large)) {
		struct object *used = found ? object : large_object(address);

		if (used)
			note_user(used, call->function);
	}
	if (!object && !module)
		goto out;
	if (!call || busy || !debug_locks || !size || call->forgiven || (object && object->serial == call->serial))
		goto out;
	if (alone(call, pc) == ALONE || (object && alone(call, pc) == ALONE_WITH_MEMORY))
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
	if (!note_locks(&access, object))
		goto out;
	if (write)
		note_locks_at_write(call, &access);
	if (write && size == sizeof(void *)) {
		publishing.serial = call->serial;
		publishing.at = address;
	}
	busy = true;
	if (object)
		check_borrowed(object, &access, in_rcu(flags));
	if (object && write && !marked && size == sizeof(void *))
		note_unlinking(object, (u64 *)address, &access);
	if (marked && !write && size == sizeof(void *))
		find_by_pointer(&access, *(unsigned long *)address);
	for (at = round_down(address, GRANULE); at < address + min(size, MOST_GRANULES * GRANULE); at += GRANULE) {
		unsigned int from = at < address ? address - at : 0, to = min(address + size - at, GRANULE);

		access.mask = GENMASK(to - 1, from);
		check(object, object ? object->number : module->number, at, &access);
	}
	busy = false;
out:
	raw_local_irq_restore(flags);
}

static void check_free(const struct object *object, unsigned long caller)
{
	struct access access = { .pc = caller, .write = true, .frees = true };
	struct call *call = call_now();
	int i;

	if (!call || !debug_locks || get_state_synchronize_rcu() != call->grace || alone(call, caller) == ALONE ||
	    !note_locks(&access, true))
		return;
	access.function = call->function;
	for (i = 0; i < MOST_LOCKS && access.count < MOST_LOCKS; i++)	/* It was unlinked under one of these. */
		if (call->locks_at_writes[i])
			access.locks[access.count++] = call->locks_at_writes[i];
	for (i = 0; i < ARRAY_SIZE(object->readers); i++) {
		const struct access *reader = &object->readers[i];

		if (!reader->serial || reader->serial == call->serial || share_lock(&access, reader))
			continue;
		if (call->alone == ALONE_WITH_MEMORY && reader->inside)
			continue;	/* it was in the memory of a qdisc that goes */
		if (!is_new(caller, reader->pc))
			continue;
		pr_info("dcflab: early free: %pS frees what %pS may still read on another CPU: free it after a grace period, as kfree_rcu() does (allocated by %ps)\n",
			(void *)caller, (void *)reader->pc, (void *)object->caller);
		tell_accesses(&access, reader);
		return;
	}
}

static void heard_kfree(void *unused, unsigned long caller, const void *start)
{
	struct object **found;
	unsigned long flags;

	raw_local_irq_save(flags);
	found = find_object((unsigned long)start);
	if (found && module_of(caller)) {
		const struct call *call = call_now();

		check_free(*found, caller);
		if (call)
			note_gone(*found, call, caller);
	}
	raw_local_irq_restore(flags);
	forget((unsigned long)start);
}

void oracle_kvfree(const void *start);

void oracle_kvfree(const void *start)
{
	struct object **found, *object;
	const struct call *call;
	unsigned long flags;

	raw_local_irq_save(flags);
	found = find_object((unsigned long)start);
	object = found ? *found : large_object((unsigned long)start);
	call = object ? call_now() : NULL;
	if (call)
		note_gone(object, call, _RET_IP_);
	if (object && !found)
		object->size = 0;
	raw_local_irq_restore(flags);
	kvfree(start);
}
EXPORT_SYMBOL(oracle_kvfree);

static void heard_cache_free(void *unused, unsigned long caller, const void *start, const struct kmem_cache *cache)
{
	forget((unsigned long)start);
}

/* What watched.h and the compiler call. */

void race_forgive(int more);
void race_retried(int accesses);
void race_checked(const volatile void *variable, unsigned long size, int type);
void race_per_cpu(const volatile void *variable, unsigned long size);
void race_taken(const void *count);
void race_last(const void *count);

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
		seen((unsigned long)variable, size, type & KCSAN_ACCESS_WRITE, type & KCSAN_ACCESS_ATOMIC, _RET_IP_);
}
EXPORT_SYMBOL(race_checked);

void race_per_cpu(const volatile void *variable, unsigned long size)
{
	unsigned long start = (unsigned long)variable;
	int i;

	for (i = 0; i < most_ranges; i++)
		if (start >= ranges[i].start && start + size <= ranges[i].end)
			return;
	if (most_ranges < MOST_RANGES && module_of(start)) {
		ranges[most_ranges].start = start;
		ranges[most_ranges++].end = start + size;
	}
}
EXPORT_SYMBOL(race_per_cpu);

/* Return the object with this count, and the access to it by the call in progress. */
static struct object *counted(const void *count, unsigned long pc, struct access *access)
{
	struct object **found = find_object((unsigned long)count);
	const struct call *call = found ? call_now() : NULL;

	if (!call || !debug_locks)
		return NULL;
	*access = (struct access){ .pc = pc, .function = call->function, .serial = call->serial, .write = true };
	return note_locks(access, false) ? *found : NULL;
}

/* refcount_inc() */
void race_taken(const void *count)
{
	struct access access;
	struct object *object;
	unsigned long flags;
	int held;

	raw_local_irq_save(flags);
	object = counted(count, _RET_IP_, &access);
	if (object && object->borrowed == access.serial && lock_is_held(&rcu_lock_map)) {
		held = current->lockdep_depth - call_now()->locks;
		if (held == 1)	/* the call took no lock but RCU's */
			object->taken = access;
	}
	raw_local_irq_restore(flags);
}
EXPORT_SYMBOL(race_taken);

/* refcount_dec_and_test() took it to 0 */
void race_last(const void *count)
{
	struct access access;
	struct object *object;
	unsigned long flags;

	raw_local_irq_save(flags);
	object = counted(count, _RET_IP_, &access);
	if (object && object->taken.serial && !share_lock(&object->taken, &access) &&
	    is_new(object->taken.pc, access.pc)) {
		pr_info("dcflab: race: %pS takes a reference of what it found under rcu_read_lock(), and %pS may give the last one back at that time on another CPU: use refcount_inc_not_zero() (allocated by %ps)\n",
			(void *)object->taken.pc, (void *)access.pc, (void *)object->caller);
		tell_accesses(&object->taken, &access);
	}
	raw_local_irq_restore(flags);
}
EXPORT_SYMBOL(race_last);

#define ACCESS(name, asan, size, write, marked)					\
void asan(void *at);								\
void name(void *at);								\
void name(void *at)								\
{										\
	seen((unsigned long)at, size, write, marked, _RET_IP_);			\
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

#define RANGE(name, asan, write)				\
void asan(void *at, ssize_t size);				\
void name(void *at, size_t size);				\
void name(void *at, size_t size)				\
{								\
	seen((unsigned long)at, size, write, false, _RET_IP_);	\
	asan(at, size);						\
}								\
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

static struct notifier_block modules_come_and_go = { .notifier_call = heard_module };

static int __init race_start(void)
{
	int i;

	objects = vcalloc(MOST_OBJECTS, sizeof(*objects));
	slots = vcalloc(SLOTS, sizeof(*slots));
	if (!objects || !slots)
		return -ENOMEM;
	kmemleak_no_scan(objects);	/* An address there is no pointer that anybody follows. */
	kmemleak_no_scan(slots);
	for (i = 0; i < MOST_OBJECTS; i++) {
		objects[i].next = free_objects;
		free_objects = &objects[i];
	}
	return register_trace_kmalloc(heard_kmalloc, NULL) ?:
	       register_trace_kmem_cache_alloc(heard_cache_alloc, NULL) ?:
	       register_trace_kfree(heard_kfree, NULL) ?:
	       register_trace_kmem_cache_free(heard_cache_free, NULL) ?:
	       register_module_notifier(&modules_come_and_go);
}
module_init(race_start);
