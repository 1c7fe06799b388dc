// SPDX-License-Identifier: BSD-3-Clause
/*
 * Debian's ns-2 (2.35, x86-64) without this or that, as an experiment on a cause: a library that it is preloaded with
 * puts a jump at the beginning of functions that the program exports. $NS2_WITHOUT names what goes:
 *
 * arp        every neighbour's MAC address is known, and is its number: no request, nothing waits for one, or is lost
 * measuring  AODV takes NODE_TRAVERSAL_TIME for a hop, and not the mean of its last searches
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BITS = 40, RECEIVER = 4, PAGE = 4096 }; /* in a Packet, where its headers are; in that of 802.11, the receiver */

static const int *mac_header; /* where it is among them */

/* ARPTable::arpresolve(): 0, as the address is in the header. */
static int know_address(void *table, int to, char *packet, void *link)
{
	uint32_t address = __builtin_bswap32((uint32_t)to);

	(void)table;
	(void)link;
	memcpy(*(char **)(packet + BITS) + *mac_header + RECEIVER, &address, sizeof(address));
	return 0;
}

/* The fields of a route of AODV that are read here. */
struct route {
	void *before[2];
	struct route *next, **previous;
	int to, between[11];
	double latency[3]; /* of a hop, in the last searches; 0: there was none */
};

/* Replaces aodv_rtable::rt_lookup(), which is called before the mean is taken: it finds no latency. */
static struct route *look_up(struct route **table, int to)
{
	struct route *r;

	for (r = *table; r && r->to != to; r = r->next)
		;
	if (r)
		memset(r->latency, 0, sizeof(r->latency));
	return r;
}

static const void *find_symbol(const char *symbol)
{
	const void *found = dlsym(RTLD_DEFAULT, symbol);

	if (found)
		return found;
	fprintf(stderr, "this ns-2 has no %s\n", symbol);
	exit(2);
}

static void put_jump(const char *symbol, uintptr_t by)
{
	uint8_t jump[12] = { 0x48, 0xb8, [10] = 0xff, 0xe0 }; /* mov by, %rax; jmp *%rax */
	uint8_t *at = (uint8_t *)find_symbol(symbol);

	memcpy(jump + 2, &by, sizeof(by));
	if (mprotect(at - (uintptr_t)at % PAGE, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		perror("mprotect");
		exit(2);
	}
	memcpy(at, jump, sizeof(jump));
}

__attribute__((constructor)) static void begin(void)
{
	const char *without = getenv("NS2_WITHOUT");

	mac_header = find_symbol("_ZN7hdr_mac7offset_E");
	if (without && strstr(without, "arp"))
		put_jump("_ZN8ARPTable10arpresolveEiP6PacketP2LL", (uintptr_t)know_address);
	if (without && strstr(without, "measuring"))
		put_jump("_ZN11aodv_rtable9rt_lookupEi", (uintptr_t)look_up);
}
