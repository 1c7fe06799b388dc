// SPDX-License-Identifier: GPL-2.0-only
/* The list of protocols, and a node with one of them. */
#include "node.h"

static const struct manet_protocol *const protocols[] = {
	&static_protocol, &aodv_protocol, &dsr_protocol, &olsr_protocol, &dsdv_protocol,
};

const char *manet_protocol_name(u32 protocol)
{
	return protocol < ARRAY_SIZE(protocols) ? protocols[protocol]->name : NULL;
}

const struct manet_parameter *manet_parameters(u32 protocol, u32 *count)
{
	*count = protocols[protocol]->n_parameters;
	return protocols[protocol]->parameters;
}

u16 manet_overhead(u32 protocol)
{
	return protocols[protocol]->overhead;
}

size_t manet_size(u32 protocol)
{
	return sizeof(struct manet) + protocols[protocol]->size;
}

void manet_init(struct manet *m, u32 protocol, enum manet_preset preset, u32 address, u8 prefix,
		u64 seed, const struct manet_ops *ops, void *edge)
{
	u32 i;

	m->protocol = protocols[protocol];
	m->ops = ops;
	m->edge = edge;
	m->address = address;
	m->host_bits = prefix < 32 ? ~0U >> prefix : 0;
	m->random = seed ^ (u64)address << 32;
	manet_draw(m, 1); /* seeds that differ in few bits diverge here */
	for (i = 0; i < m->protocol->n_parameters; i++)
		m->parameter[i] = m->protocol->parameters[i].preset[preset];
}
