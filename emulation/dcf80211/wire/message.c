// SPDX-License-Identifier: GPL-2.0-only
/* Parse hwsim's messages. */
#include "message.h"

#define ATTR_HEADER 4
#define TYPE_MASK 0x3fff /* the higher bits are netlink's flags */

enum {
	RC_RTS_CTS = 1 << 0,
	RC_CTS_PROTECT = 1 << 1,
	RC_SHORT_PREAMBLE = 1 << 2,
	/* MCS, greenfield, 40 MHz, duplicate, short GI, VHT, 80 and 160 MHz: not modelled */
	RC_HT_VHT = 0x7f8
};
#define RATE_FLAGS_SIZE 3 /* s8 index, le16 flags */

struct attr {
	const u8 *data;
	u32 len;
};

static u16 read_u16(const u8 *at)
{
	u16 value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static u32 read_u32(const u8 *at)
{
	u32 value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void read_attrs(struct attr attr[ATTR_MAX + 1], const u8 *at, u32 rest)
{
	while (rest >= ATTR_HEADER) {
		u32 len = read_u16(at), type = read_u16(at + 2) & TYPE_MASK, step = (len + 3) & ~3U;

		if (len < ATTR_HEADER || len > rest)
			return;
		if (type <= ATTR_MAX)
			attr[type] = (struct attr){ at + ATTR_HEADER, len - ATTR_HEADER };
		if (step >= rest)
			return;
		at += step;
		rest -= step;
	}
}

/* Return the attribute's data, or NULL if it is shorter or missing. */
static const u8 *attr_data(const struct attr *attr, u32 len)
{
	return attr->len >= len ? attr->data : NULL;
}

static void read_stages(struct message *m, const u8 *rate_flags)
{
	int i;

	for (i = 0; i < DCF_STAGES && m->rates[i].idx >= 0; i++) {
		const u8 *at = rate_flags ? rate_flags + RATE_FLAGS_SIZE * i : NULL;
		u16 flags = at ? at[1] | at[2] << 8 : 0;
		int place = flags & RC_HT_VHT ? -1 : rate_from_hwsim(m->rates[i].idx, m->freq);

		m->stage[i] = (struct dcf_stage){
			.mode = place < 0 ? 0 : place,
			.count = m->rates[i].count ? m->rates[i].count : 1,
			.rts = flags & RC_RTS_CTS,
			.cts_to_self = flags & RC_CTS_PROTECT,
			.short_preamble = flags & RC_SHORT_PREAMBLE,
		};
		if (place < 0)
			m->stage[0].count = 0;
	}
}

static enum message_kind read_frame(struct message *m, const struct attr *attr)
{
	const u8 *flags = attr_data(&attr[ATTR_FLAGS], 4), *freq = attr_data(&attr[ATTR_FREQ], 4);
	const u8 *cookie = attr_data(&attr[ATTR_COOKIE], sizeof(m->cookie));
	const u8 *rates = attr_data(&attr[ATTR_TX_INFO], sizeof(m->rates));
	const u8 *rate_flags = attr_data(&attr[ATTR_TX_INFO_FLAGS], RATE_FLAGS_SIZE * DCF_STAGES);

	if (!m->transmitter || !attr[ATTR_FRAME].data || !flags || !freq || !cookie || !rates ||
	    (attr[ATTR_TX_INFO_FLAGS].data && !rate_flags))
		return MESSAGE_BROKEN;
	m->frame = attr[ATTR_FRAME].data;
	m->len = attr[ATTR_FRAME].len;
	m->flags = read_u32(flags);
	m->freq = read_u32(freq);
	memcpy(&m->cookie, cookie, sizeof(m->cookie));
	memcpy(m->rates, rates, sizeof(m->rates));
	read_stages(m, rate_flags);
	return MESSAGE_FRAME;
}

enum message_kind message_read(struct message *m, const u8 *bytes, u32 size)
{
	struct attr attr[ATTR_MAX + 1] = {};
	u32 len = size < MESSAGE_HEADER ? 0 : read_u32(bytes);
	u8 cmd;

	memset(m, 0, sizeof(*m));
	if (len < MESSAGE_HEADER || len > size)
		return MESSAGE_OTHER;
	cmd = bytes[MESSAGE_HEADER - 4]; /* cmd in struct genlmsghdr */
	read_attrs(attr, bytes + MESSAGE_HEADER, len - MESSAGE_HEADER);
	m->transmitter = attr_data(&attr[ATTR_TRANSMITTER], DCF_ALEN);
	m->receiver = attr_data(&attr[ATTR_RECEIVER], DCF_ALEN);
	if (cmd == CMD_FRAME)
		return read_frame(m, attr);
	if (cmd != CMD_ADD_ADDR && cmd != CMD_DEL_ADDR)
		return MESSAGE_OTHER;
	if (!m->transmitter || !m->receiver)
		return MESSAGE_BROKEN;
	return cmd == CMD_ADD_ADDR ? MESSAGE_ADD_ADDR : MESSAGE_DEL_ADDR;
}

s32 message_dbm(s32 mdbm)
{
	s32 up = mdbm + 500, whole = up / 1000 - (up % 1000 < 0);

	return whole < -128 ? -128 : whole > 127 ? 127 : whole;
}
