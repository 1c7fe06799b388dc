// SPDX-License-Identifier: GPL-2.0-only
/*
 * Know the memory that is watched: what a module's own code allocates, its qdiscs, its variables, and those per CPU.
 */
#include <linux/kasan.h>
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <net/sch_generic.h>
#include <trace/events/kmem.h>

#include "calls.h"
#include "oracle.h"
#include "race.h"

#define MOST_MODULES 8
#define MOST_RANGES 64
#define MOST_OBJECTS 4096
#define OBJECT_BUCKETS 2048
#define MOST_PAGES 16		/* of an object */
#define MOST_LARGE 8		/* objects with more pages, of which only the users matter */

static struct object *objects, *free_objects, *buckets[OBJECT_BUCKETS];
static struct object large[MOST_LARGE];
static struct known_module modules[MOST_MODULES];
static struct { unsigned long start, end; } ranges[MOST_RANGES];
static unsigned int most_pages = 1, most_large, most_ranges;
static u64 numbers;

#define bucket_of(address) (&buckets[((address) >> PAGE_SHIFT) % OBJECT_BUCKETS])

struct object *memory_find(unsigned long address)
{
	unsigned int page;

	for (page = 0; page < most_pages; page++) {
		struct object *object = *bucket_of(address - page * PAGE_SIZE);

		for (; object; object = object->next)
			if (address - object->start < object->size)
				return object;
	}
	return NULL;
}

/* Let a module use what KASAN forbids: whole words. */
void memory_allow(const void *start, size_t size)
{
	u8 *shadow = kasan_mem_to_shadow(start), *end = kasan_mem_to_shadow(start + size);

	while (shadow < end)
		WRITE_ONCE(*shadow++, 0);
}

void memory_forget(unsigned long start)
{
	struct object **at, *found;
	unsigned long flags;
	unsigned int i;

	raw_local_irq_save(flags);
	for (i = 0; i < most_large; i++)
		if (large[i].start == start)
			large[i].size = 0;
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

struct object *memory_find_large(unsigned long address)
{
	unsigned int i;

	for (i = 0; i < most_large; i++)
		if (address - large[i].start < large[i].size)
			return &large[i];
	return NULL;
}

static void own_large(unsigned long start, unsigned long size)
{
	struct object *object = memory_find_large(start);
	unsigned int i;

	for (i = 0; !object && i < MOST_LARGE; i++)
		if (!large[i].size)
			object = &large[i];
	if (!object)
		return;
	*object = (struct object){ .start = start, .size = size };
	most_large = max_t(unsigned int, most_large, object - large + 1);
}

static void own_memory(unsigned long start, unsigned long size, unsigned long caller)
{
	unsigned long flags, pages = (offset_in_page(start) + size + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct object *object;
	struct call *call;

	if (start && pages > MOST_PAGES)
		own_large(start, size);
	if (!start || pages > MOST_PAGES)
		return;
	memory_forget(start);
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

void memory_own_qdisc(struct Qdisc *sch, size_t size)
{
	own_memory((unsigned long)sch, size, 0);
}

const struct known_module *memory_module(unsigned long address)
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

	own_memory((unsigned long)start, size, _RET_IP_);
	return start;
}
EXPORT_SYMBOL(oracle___kvmalloc_node_noprof);

static void heard_kmalloc(void *unused, unsigned long caller, const void *start, size_t wanted, size_t size,
			  gfp_t flags, int node)
{
	if (memory_module(caller))
		own_memory((unsigned long)start, wanted, caller);
}

static void heard_cache_alloc(void *unused, unsigned long caller, const void *start, struct kmem_cache *cache,
			      gfp_t flags, int node)
{
	if (memory_module(caller))
		own_memory((unsigned long)start, kmem_cache_size(cache), caller);
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
		lifetime_settle();
		modules[i].module = NULL;
		most_ranges = 0;
	}
	raw_local_irq_restore(flags);
	if (state == MODULE_STATE_GOING)
		late_in_module(module);
	return NOTIFY_OK;
}

bool memory_is_per_cpu(unsigned long address)
{
	int i;

	for (i = 0; i < most_ranges; i++)
		if (address + GRANULE > ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

void memory_per_cpu(const volatile void *variable, unsigned long size);

void memory_per_cpu(const volatile void *variable, unsigned long size)
{
	unsigned long start = (unsigned long)variable;
	int i;

	for (i = 0; i < most_ranges; i++)
		if (start >= ranges[i].start && start + size <= ranges[i].end)
			return;
	if (most_ranges < MOST_RANGES && memory_module(start)) {
		ranges[most_ranges].start = start;
		ranges[most_ranges++].end = start + size;
	}
}
EXPORT_SYMBOL(memory_per_cpu);

static struct notifier_block modules_come_and_go = { .notifier_call = heard_module };

int __init memory_start(void)
{
	int i;

	objects = vcalloc(MOST_OBJECTS, sizeof(*objects));
	if (!objects)
		return -ENOMEM;
	kmemleak_no_scan(objects);	/* An address there is no pointer that anybody follows. */
	for (i = 0; i < MOST_OBJECTS; i++) {
		objects[i].next = free_objects;
		free_objects = &objects[i];
	}
	return register_trace_kmalloc(heard_kmalloc, NULL) ?:
	       register_trace_kmem_cache_alloc(heard_cache_alloc, NULL) ?:
	       register_module_notifier(&modules_come_and_go);
}
