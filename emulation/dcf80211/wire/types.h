/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few names that core and wire share with the kernel, so that the same files
 * also build as a library in user space, where sanitizers and tests drive them.
 */
#ifndef WIRE_TYPES_H
#define WIRE_TYPES_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int32_t s32;
typedef int64_t s64;
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

#define DCF_NEVER (~0ULL)
#define DCF_NOBODY 0xffffU

static inline u64 dcf_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 dcf_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

#endif
