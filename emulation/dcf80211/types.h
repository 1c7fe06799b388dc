/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few names that pure cores share with the kernel. With them the same files
 * also build as a library in user space, where sanitizers and tests use them. The
 * folders of the modules have links to this file.
 */
#ifndef DCFLAB_TYPES_H
#define DCFLAB_TYPES_H

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
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

#define US 1000ULL
#define MS 1000000ULL
#define SECOND 1000000000ULL

#endif
