// SPDX-License-Identifier: GPL-2.0-only
/* IPv4 (RFC 791) and UDP (RFC 768) headers, byte by byte. */
#include "node.h"

u16 get16(const u8 *at)
{
	return at[0] << 8 | at[1];
}

u32 get32(const u8 *at)
{
	return (u32)get16(at) << 16 | get16(at + 2);
}

void put16(u8 *at, u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

void put32(u8 *at, u32 value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

u32 ip_source(const u8 *ip)
{
	return get32(ip + 12);
}

u32 ip_destination(const u8 *ip)
{
	return get32(ip + 16);
}

u8 ip_protocol(const u8 *ip)
{
	return ip[9];
}

u8 ip_ttl(const u8 *ip)
{
	return ip[8];
}

u32 ip_header_len(const u8 *ip)
{
	return (ip[0] & 15) * 4U;
}

/* The Internet checksum (RFC 1071), not yet inverted. */
static u32 ip_sum(const u8 *at, u32 len, u32 so_far)
{
	for (; len > 1; at += 2, len -= 2)
		so_far += get16(at);
	if (len)
		so_far += at[0] << 8;
	return so_far;
}

static u16 ip_fold(u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

bool ip_sound(const u8 *ip, u32 len, bool cut)
{
	u32 header = len >= IP_HEADER ? ip_header_len(ip) : 0;

	return header >= IP_HEADER && ip[0] >> 4 == 4 && header <= len && get16(ip + 2) >= header &&
	       (cut || get16(ip + 2) <= len) && !ip_fold(ip_sum(ip, header, 0));
}

static void set_checksum(u8 *ip)
{
	put16(ip + 10, 0);
	put16(ip + 10, ip_fold(ip_sum(ip, ip_header_len(ip), 0)));
}

void ip_set_ttl(u8 *ip, u8 ttl)
{
	ip[8] = ttl;
	set_checksum(ip);
}

void ip_set_destination(u8 *ip, u32 destination)
{
	put32(ip + 16, destination);
	set_checksum(ip);
}

void ip_finish(u8 *ip, u16 len, u8 protocol)
{
	put16(ip + 2, len);
	ip[9] = protocol;
	set_checksum(ip);
}

bool ip_decrement_ttl(u8 *ip)
{
	if (ip[8] <= 1)
		return false;
	ip_set_ttl(ip, ip[8] - 1);
	return true;
}

void ip_begin(struct manet *m, u8 *ip, u16 len, u8 protocol, u32 source, u32 destination, u8 ttl)
{
	memset(ip, 0, IP_HEADER);
	ip[0] = 0x45;
	put16(ip + 4, ++m->ip_id);
	ip[8] = ttl;
	put32(ip + 12, source);
	put32(ip + 16, destination);
	ip_finish(ip, len, protocol);
}

struct manet_packet *udp_make(struct manet *m, enum manet_kind kind, u16 port, u32 destination, u8 ttl, u16 payload)
{
	u16 len = IP_HEADER + UDP_HEADER + payload;
	struct manet_packet *p = m->ops->make(m->edge, len);
	u8 *udp;

	if (!p) {
		m->counters.dropped_control[MANET_NO_MEMORY]++;
		return NULL;
	}
	p->len = len;
	p->kind = kind;
	ip_begin(m, p->data, len, IP_UDP, m->address, destination, ttl);
	udp = p->data + IP_HEADER;
	put16(udp, port);
	put16(udp + 2, port);
	put16(udp + 4, UDP_HEADER + payload);
	return p;
}

u8 *udp_payload(struct manet_packet *p)
{
	return p->data + IP_HEADER + UDP_HEADER;
}

static u16 udp_checksum(const u8 *ip, const u8 *udp, u16 len)
{
	return ip_fold(ip_sum(udp, len, ip_sum(ip + 12, 8, IP_UDP + len)));
}

void udp_finish(struct manet_packet *p)
{
	u8 *udp = p->data + IP_HEADER;
	u16 checksum;

	put16(udp + 6, 0);
	checksum = udp_checksum(p->data, udp, get16(udp + 4));
	put16(udp + 6, checksum ? checksum : 0xffff);
}

u8 *udp_read(const struct manet_packet *p, u16 port, u16 *len)
{
	u8 *udp = p->data + ip_header_len(p->data);
	u32 room = get16(p->data + 2) - ip_header_len(p->data);

	if (ip_protocol(p->data) != IP_UDP || room < UDP_HEADER || get16(udp + 2) != port || get16(udp + 4) < UDP_HEADER ||
	    get16(udp + 4) > room)
		return NULL;
	if (get16(udp + 6) && udp_checksum(p->data, udp, get16(udp + 4)))
		return NULL;
	*len = get16(udp + 4) - UDP_HEADER;
	return udp + UDP_HEADER;
}
