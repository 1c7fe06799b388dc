// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps addresses to stations: a hash table with open addressing. The stations'
 * own addresses fill at most an eighth of it, so most look-ups end at once. hwsim
 * adds a radio's own address when its interface goes up, and removes it when the
 * interface goes down; then the station is off.
 */
#include "state.h"

static u32 address_hash(const struct dcf *dcf, const u8 *addr)
{
	u32 i, h = 2166136261U;

	for (i = 0; i < DCF_ALEN; i++)
		h = (h ^ addr[i]) * 16777619U;
	return (h ^ h >> 16) & (dcf->addresses - 1);
}

/*
 * The entry of this address. Otherwise, a free entry if @free is set, or else NULL. Entries are
 * few, so the worst case is a pass over the whole table.
 */
static struct dcf_address *find_entry(const struct dcf *dcf, const u8 *addr, bool free)
{
	u32 i, at = address_hash(dcf, addr);
	struct dcf_address *entry, *empty = NULL;

	for (i = 0; i < dcf->addresses; i++, at = (at + 1) & (dcf->addresses - 1)) {
		entry = &dcf->address[at];
		if (dcf_same_addr(entry->addr, addr) && entry->station != DCF_NOBODY)
			return entry;
		if (!empty && entry->station == DCF_NOBODY)
			empty = entry;
		if (!entry->used)
			break; /* nothing lies beyond a free entry */
	}
	return free ? empty : NULL;
}

u16 dcf_find_address(const struct dcf *dcf, const u8 *addr)
{
	const struct dcf_address *entry = find_entry(dcf, addr, false);

	return entry ? entry->station : DCF_NOBODY;
}

/* The entry if it belongs to @station or may belong to it; otherwise NULL. */
static struct dcf_address *address_claim(struct dcf *dcf, u16 station, const u8 *addr)
{
	struct dcf_address *entry;

	if (station >= dcf->config.stations || dcf_is_group(addr))
		return NULL;
	entry = find_entry(dcf, addr, true);
	if (!entry || (entry->station != DCF_NOBODY && entry->station != station))
		return NULL;
	memcpy(entry->addr, addr, DCF_ALEN);
	entry->station = station;
	entry->used = true;
	return entry;
}

static void free_if_unused(struct dcf_address *entry)
{
	if (!entry->own && !entry->uses)
		entry->station = DCF_NOBODY;
}

bool dcf_set_address(struct dcf *dcf, u16 station, const u8 *addr)
{
	struct dcf_address *entry = address_claim(dcf, station, addr), *other;

	if (!entry)
		return false;
	entry->own = true;
	dcf->station[station].own = entry;
	for (other = dcf->address; other < dcf->address + dcf->addresses; other++)
		if (other != entry && other->own && other->station == station) {
			other->own = false;
			free_if_unused(other);
		}
	return true;
}

bool dcf_add_address(struct dcf *dcf, u16 station, const u8 *addr)
{
	struct dcf_address *entry = address_claim(dcf, station, addr);

	if (!entry)
		return false;
	entry->uses++;
	if (entry->own)
		tuning_switch(dcf, &dcf->station[station], true);
	return true;
}

bool dcf_del_address(struct dcf *dcf, u16 station, const u8 *addr)
{
	struct dcf_address *entry = find_entry(dcf, addr, false);

	if (!entry || entry->station != station || !entry->uses)
		return false;
	entry->uses--;
	free_if_unused(entry);
	if (entry->own && !entry->uses)
		tuning_switch(dcf, &dcf->station[station], false);
	return true;
}

void address_sends(struct dcf *dcf, struct dcf_station *s)
{
	if (s->own && !s->own->uses)
		s->own->uses = 1; /* the interface was up before the air existed */
	tuning_switch(dcf, s, true);
}
