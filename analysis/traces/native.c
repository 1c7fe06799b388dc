// SPDX-License-Identifier: BSD-3-Clause
/*
 * The loops of `analysis` over every frame of a trace, for which numpy would
 * need large tables: following the chain of records, taking MPDUs from records
 * of PPDUs, reading a field of all frames, and writing packets. trace.py and
 * pcapng.py define what these mean, and check the arguments. Nothing is decided
 * or allocated here.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	PACKET = 6, /* an Enhanced Packet Block */
	OPT_COMMENT = 1,
	OPT_FLAGS = 2,
	OPT_PACKETID = 5,
	FLAG_INBOUND = 1,
	FLAG_FCS_LENGTH = 4 << 5,
	FLAG_CRC_ERROR = 1 << 24,
	RADIOTAP_LEN = 28, /* at a legacy rate */
	RADIOTAP_MOST = 52, /* HE, in an A-MPDU */
	RT_SHORT_PREAMBLE = 0x02, /* its Flags field */
	RT_FCS = 0x10,
	RT_BAD_FCS = 0x40,
	RT_ALL = 1 << 1 | 1 << 3 | 1 << 22, /* Flags, Channel, timestamp */
	RT_RATE = 1 << 2,
	RT_SIGNAL = 1 << 5, /* on stations */
	RT_MCS = 1 << 19,
	RT_AMPDU = 1 << 20,
	RT_VHT = 1 << 21,
	RT_HE = 1 << 23,
	AMPDU_LAST_KNOWN = 0x04,
	AMPDU_LAST = 0x08,
	RT_NS_AT_START = 0x12, /* nanoseconds; taken at the start of the PPDU */
	CHANNEL_CCK = 0x20,
	CHANNEL_OFDM = 0x40,
	CHANNEL_2GHZ = 0x80,
	CHANNEL_5GHZ = 0x100,
};

/* A record TX of docs/records.md, section 3. */
struct tx {
	uint16_t size;
	uint8_t type, kind;
	uint16_t station, receiver;
	uint64_t id, start_ns;
	uint32_t duration_ns;
	uint16_t rate, freq;
	uint64_t queued_ns;
	uint16_t length;
	uint8_t attempt, flags;
	uint32_t msdu;
	uint8_t category, place;
	uint16_t more, caplen, mode;
} __attribute__((packed));

/* What it has of each MPDU after the first, MPDU there. */
struct mpdu {
	uint64_t queued_ns;
	uint32_t msdu, offset;
	uint16_t length, caplen;
	uint8_t kind, attempt;
	uint16_t zero;
} __attribute__((packed));

/* A packet to write: which transmission, on which interface, when. */
struct packet {
	int64_t tx, time_ns;
	int64_t text, waited_ns; /* its comment: the number of a text, and a waiting time; or -1 */
	int32_t signal_mdbm;
	uint16_t interface;
	uint8_t bad, zero;
};

/*
 * Write the byte offsets of the whole records in `size` bytes; return their
 * number. *end is the end of the last one. It is less than `size` if the next
 * record is incomplete or has an impossible size.
 */
long follow(const uint8_t *data, long size, int64_t *offsets, int64_t *end)
{
	long count = 0, at = 0;

	while (at + 2 <= size) {
		long step = data[at] | data[at + 1] << 8;

		if (!step || step & 7 || step > size - at)
			break;
		offsets[count++] = at;
		at += step;
	}
	*end = at;
	return count;
}

/*
 * Write a row for each MPDU of the records TX at these offsets, and where its
 * bytes begin; there is room for them. Return the number of the first record
 * whose size is not that of its MPDUs, or -1.
 */
long expand_mpdus(const uint8_t *data, const int64_t *offsets, long count, struct tx *rows, int64_t *frames)
{
	for (long i = 0; i < count; i++) {
		struct tx tx;
		long at = offsets[i] + sizeof(tx), end;
		long more;

		memcpy(&tx, data + offsets[i], sizeof(tx));
		end = offsets[i] + tx.size;
		for (more = tx.more;; more--) {
			struct mpdu m;

			tx.more = more;
			*rows++ = tx;
			*frames++ = at;
			at += (tx.caplen + 7) & ~7;
			if (!more || at + (long)sizeof(m) > end)
				break;
			memcpy(&m, data + at, sizeof(m));
			at += sizeof(m);
			tx.id++;
			tx.place++;
			tx.queued_ns = m.queued_ns;
			tx.msdu = m.msdu;
			tx.length = m.length;
			tx.caplen = m.caplen;
			tx.kind = m.kind;
			tx.attempt = m.attempt;
		}
		if (more || at != end)
			return i;
	}
	return -1;
}

/*
 * Read the number in `size` bytes, big-endian, at this offset of each frame;
 * 0 where the frame is too short. A frame is `at` an offset of `data`, and has
 * `length` bytes.
 */
void fields(const uint8_t *data, const int64_t *at, const int64_t *length, const int64_t *offset, long count, long size,
	    int64_t *numbers)
{
	for (long i = 0; i < count; i++) {
		int64_t number = 0;

		for (long byte = 0; byte < size && offset[i] + size <= length[i]; byte++)
			number = number << 8 | data[at[i] + offset[i] + byte];
		numbers[i] = number;
	}
}

static uint32_t crc_table[8][256]; /* [n]: for a byte that n more follow */

__attribute__((constructor)) static void make_crc_table(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
		crc_table[0][byte] = crc;
	}
	for (int more = 1; more < 8; more++)
		for (int byte = 0; byte < 256; byte++)
			crc_table[more][byte] =
				crc_table[0][crc_table[more - 1][byte] & 0xFF] ^ crc_table[more - 1][byte] >> 8;
}

/* The FCS (IEEE 802.11-2016, 9.2.4.8), eight bytes at a time. */
static uint32_t fcs_of(const uint8_t *frame, long length)
{
	uint32_t crc = 0xFFFFFFFF;

	for (; length >= 8; length -= 8, frame += 8) {
		uint64_t eight;

		memcpy(&eight, frame, 8);
		eight ^= crc;
		crc = 0;
		for (int byte = 0; byte < 8; byte++)
			crc ^= crc_table[7 - byte][eight >> 8 * byte & 0xFF];
	}
	while (length--)
		crc = crc_table[0][(crc ^ *frame++) & 0xFF] ^ crc >> 8;
	return ~crc;
}

static bool is_ofdm(uint16_t rate)
{
	return rate != 10 && rate != 20 && rate != 55 && rate != 110;
}

/* Of a mode's code, docs/records.md. */
enum { HT = 2, VHT, HE };

static unsigned part_of(const struct tx *tx, int bit, int bits)
{
	return tx->mode >> bit & ((1 << bits) - 1);
}

static void put16(uint8_t *to, unsigned value)
{
	to[0] = value;
	to[1] = value >> 8;
}

/* Fields have their natural alignment. */
static long align_up(long at, long to)
{
	return (at + to - 1) / to * to;
}

/* The radiotap fields MCS, VHT and HE; where they begin, and how long they are. */
static long put_mcs(uint8_t *to, const struct tx *tx)
{
	to[0] = 0x7f; /* known: bandwidth, MCS, guard interval, format, FEC, no STBC, no extension streams */
	to[1] = part_of(tx, 9, 2) | !part_of(tx, 11, 2) << 2 | part_of(tx, 13, 1) << 4;
	to[2] = part_of(tx, 3, 4) + 8 * part_of(tx, 7, 2);
	return 3;
}

static long put_vht(uint8_t *to, const struct tx *tx)
{
	static const uint8_t bandwidth[] = { 0, 1, 4, 11 };

	memset(to, 0, 12);
	put16(to, 0x45); /* known: no STBC, guard interval, bandwidth */
	to[2] = !part_of(tx, 11, 2) << 2;
	to[3] = bandwidth[part_of(tx, 9, 2)];
	to[4] = part_of(tx, 3, 4) << 4 | (part_of(tx, 7, 2) + 1);
	to[8] = part_of(tx, 13, 1);
	return 12;
}

static long put_he(uint8_t *to, const struct tx *tx)
{
	static const uint8_t training[] = { 0, 1, 2, 2 }; /* HE-LTF symbols, by streams, as radiotap numbers them */

	memset(to, 0, 12);
	put16(to, 0x42a0); /* SU; known: MCS, coding, no STBC, bandwidth */
	put16(to + 2, 0x06); /* known: guard interval, number of HE-LTF symbols */
	put16(to + 4, part_of(tx, 3, 4) << 8 | part_of(tx, 13, 1) << 13);
	put16(to + 8, part_of(tx, 9, 2) | (part_of(tx, 11, 2) - 1) << 4 | part_of(tx, 14, 2) << 6 |
	      training[part_of(tx, 7, 2)] << 8);
	put16(to + 10, part_of(tx, 7, 2) + 1);
	return 12;
}

static int8_t dbm_of(int32_t mdbm)
{
	int32_t up = mdbm + 500, whole = up / 1000 - (up % 1000 < 0); /* to the nearest, halves up */

	return whole < -128 ? -128 : whole > 127 ? 127 : whole;
}

/*
 * Write how long a frame had waited, "queued 1.234567 ms before"; if `more`,
 * after "; ", because other text comes before. Return the length.
 */
static long put_queued(char *to, bool more, int64_t ns)
{
	static const char before[] = "; queued ", after[] = " ms before";
	const char *from = before + (more ? 0 : 2);
	long length = before + sizeof(before) - 1 - from, digits = 7;

	memcpy(to, from, length);
	for (int64_t ms = ns / 10000000; ms; ms /= 10)
		digits++;
	length += digits + 1; /* and a point */
	for (long at = length; digits--; ns /= 10) {
		if (length - at == 6)
			to[--at] = '.';
		to[--at] = '0' + ns % 10;
	}
	memcpy(to + length, after, sizeof(after) - 1);
	return length + sizeof(after) - 1;
}

/* Write the radiotap header of a packet, and return its length, a multiple of 4. */
static long put_radiotap(uint8_t *to, const struct packet *p, const struct tx *tx, bool whole)
{
	unsigned format = part_of(tx, 0, 3);
	bool several = tx->place || tx->more;
	uint32_t present = RT_ALL | (tx->mode ? 0 : RT_RATE) | (p->interface ? RT_SIGNAL : 0) |
			   (format == HT ? RT_MCS : format == VHT ? RT_VHT : format == HE ? RT_HE : 0) |
			   (several ? RT_AMPDU : 0);
	uint32_t first = tx->id - tx->place; /* the A-MPDU's reference number */
	long at = 14 + !!p->interface;

	memset(to, 0, RADIOTAP_MOST);
	memcpy(to + 4, &present, 4);
	to[8] = (tx->flags & 1 ? RT_SHORT_PREAMBLE : 0) | (p->bad ? RT_BAD_FCS : 0) | (whole ? RT_FCS : 0);
	if (!tx->mode)
		to[9] = tx->rate / 5;
	put16(to + 10, tx->freq);
	put16(to + 12, (tx->mode || is_ofdm(tx->rate) ? CHANNEL_OFDM : CHANNEL_CCK) |
		       (tx->freq < 3000 ? CHANNEL_2GHZ : CHANNEL_5GHZ));
	if (p->interface)
		to[14] = dbm_of(p->signal_mdbm);
	if (format == HT)
		at += put_mcs(to + at, tx);
	if (several) {
		at = align_up(at, 4);
		memcpy(to + at, &first, 4);
		put16(to + at + 4, AMPDU_LAST_KNOWN | (tx->more ? 0 : AMPDU_LAST));
		at += 8;
	}
	if (format == VHT)
		at = align_up(at, 2) + put_vht(to + align_up(at, 2), tx);
	at = align_up(at, 8);
	memcpy(to + at, &p->time_ns, 8);
	to[at + 10] = RT_NS_AT_START;
	at += 12;
	if (format == HE)
		at += put_he(to + at, tx);
	put16(to + 2, at);
	return at;
}

/*
 * Write packets as Enhanced Packet Blocks to `out`, which has room for them.
 * Return their size in bytes. `text_at` has one entry more than there are
 * texts.
 */
long write_packets(uint32_t *out, const struct packet *packets, long count, const struct tx *txs, const uint8_t *data,
		   const int64_t *frames, const uint8_t *texts, const int64_t *text_at)
{
	int64_t summed = -1; /* the transmission with the FCS `good` */
	uint32_t good = 0;
	long words = 0;

	for (const struct packet *p = packets; p < packets + count; p++) {
		const struct tx *tx = &txs[p->tx];
		bool whole = tx->caplen + 4 == tx->length; /* then the FCS is added */
		long captured = tx->caplen + 4 * whole, in_words = (captured + 3) / 4;
		long text = p->text < 0 ? 0 : text_at[p->text + 1] - text_at[p->text];
		char waited[48];
		long more = p->waited_ns < 0 ? 0 : put_queued(waited, text, p->waited_ns);
		long comment = text + more ? 1 + (text + more + 3) / 4 : 0; /* words */
		bool at_station = p->interface > 0;
		uint32_t *head = out + words;
		long radiotap = put_radiotap((uint8_t *)(head + 7), p, tx, whole);
		long before = 7 + radiotap / 4, total = before + in_words + 5 + comment + 2;
		uint32_t *tail = head + before + in_words;
		uint8_t *frame;

		words += total;
		head[0] = PACKET;
		head[1] = 4 * total;
		head[2] = p->interface;
		head[3] = p->time_ns >> 32;
		head[4] = p->time_ns;
		head[5] = radiotap + captured;
		head[6] = radiotap + tx->length;
		tail[-1] = 0;
		frame = memcpy(head + before, data + frames[p->tx], tx->caplen);
		if (whole) {
			uint32_t sum;

			if (p->tx != summed) /* stations receive it one after the other */
				good = fcs_of(frame, tx->caplen);
			summed = p->tx;
			sum = p->bad ? ~good : good;
			memcpy(frame + tx->caplen, &sum, 4);
		}
		tail[0] = OPT_FLAGS | 4 << 16;
		tail[1] = (at_station ? FLAG_INBOUND : 0) | (p->bad ? FLAG_CRC_ERROR : 0) | (whole ? FLAG_FCS_LENGTH : 0);
		tail[2] = OPT_PACKETID | 8 << 16;
		tail[3] = tx->id;
		tail[4] = tx->id >> 32;
		if (comment) {
			tail[5] = OPT_COMMENT | (text + more) << 16;
			tail[4 + comment] = 0; /* pad the last word */
			memcpy((char *)(tail + 6) + text, waited, more);
			memcpy(tail + 6, texts + (text ? text_at[p->text] : 0), text);
		}
		tail[5 + comment] = 0; /* the end of options */
		tail[6 + comment] = 4 * total;
	}
	return 4 * words;
}
