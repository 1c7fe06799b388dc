// SPDX-License-Identifier: GPL-2.0-only
/*
 * The edge to hwsim (hwsim.c) under sanitizers, in a kernel whose memory fails
 * at any moment: as much of that kernel as the file sees, a driver that sends
 * frames and gives buffers, and the core. Each frame that is taken is answered
 * once, and each delivery reaches the driver or is counted as lost.
 *
 *	edge [OPERATIONS [SEED]]
 */
#include <assert.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_ether.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../emulation/dcf80211/types.h"

typedef int spinlock_t;
typedef int raw_spinlock_t;
#define raw_spin_lock(lock) ((void)(lock))
#define raw_spin_unlock(lock) ((void)(lock))
struct notifier_block { int unused; };
struct hrtimer { int unused; };
struct completion { int unused; };
struct virtio_device { int unused; };
struct virtqueue;
struct list_head { struct list_head *next, *prev; };

#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define list_for_each_entry_safe(at, after, head, member)					\
	for (at = container_of((head)->next, __typeof__(*at), member);				\
	     after = container_of(at->member.next, __typeof__(*at), member), &at->member != (head); at = after)
#define list_for_each_entry_reverse(at, head, member)						\
	for (at = container_of((head)->prev, __typeof__(*at), member); &at->member != (head);	\
	     at = container_of(at->member.prev, __typeof__(*at), member))
#define list_first_entry_or_null(head, type, member)						\
	((head)->next == (head) ? NULL : container_of((head)->next, type, member))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define pr_err(...) do { } while (0)
#define smp_mb() __sync_synchronize()
#define GFP_ATOMIC 0
#define __rcu
#define nla_data(attr) ((void *)((char *)(attr) + NLA_HDRLEN))
#define nla_padlen(len) (NLA_ALIGN(len) - (len))
#define nlmsg_data(header) NLMSG_DATA(header)

static u64 state;

static u64 draw(u64 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state * 0x2545f4914f6cdd1dULL >> 16) % n;
}

static u64 failing; /* of a thousand allocations */

static void *kmalloc(size_t size, int flags)
{
	(void)flags;
	return draw(1000) < failing ? NULL : malloc(size);
}

static void *kzalloc(size_t size, int flags)
{
	void *made = kmalloc(size, flags);

	return made ? memset(made, 0, size) : NULL;
}

#define kfree free

static void list_add(struct list_head *new, struct list_head *head)
{
	new->prev = head;
	new->next = head->next;
	head->next->prev = new;
	head->next = new;
}

static void list_add_tail(struct list_head *new, struct list_head *head)
{
	list_add(new, head->prev);
}

static void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

static bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static bool ether_addr_equal_unaligned(const u8 *a, const u8 *b)
{
	return !memcmp(a, b, ETH_ALEN);
}

static u64 ktime_get_ns(void)
{
	return 0;
}

#include "../../emulation/dcf80211/hwsim.c"

/* The driver: what it has sent and is not taken yet, the buffers that it has given, and which frames it waits for. */
#define MOST 256
#define STATIONS 3
static struct ring {
	struct buffer { u8 *bytes; u32 size; } entry[MOST];
	u16 in, taken, out;
} ring[QUEUES];
static u8 *answered; /* by cookie: 0 sent, 1 taken, 2 answered */
static u64 cookies, taken, deliveries, given, kicks;

static void put(struct ring *r, u8 *bytes, u32 size)
{
	assert((u16)(r->in - r->out) < MOST);
	r->entry[r->in++ % MOST] = (struct buffer){ bytes, size };
}

static void give_buffer(struct air *air)
{
	u32 size = MESSAGE_ROOM + draw(DCF_MAX_LEN); /* a report always fits, as in hwsim's */

	put(&ring[QUEUE_RX], malloc(size), size);
	kicks += air->backlog.next != &air->backlog; /* as virtio.c's notify does */
}

void *vdev_take(struct air *air, int q, u16 *head, u32 *size)
{
	struct ring *r = &ring[q];

	if (r->taken == r->in) {
		/* Another CPU gives a buffer just after we have seen that there is none: it must see what waits. */
		if (q == QUEUE_RX && !draw(8)) {
			u64 before = kicks;

			give_buffer(air);
			assert(kicks > before);
		}
		return NULL;
	}
	*head = r->taken++ % MOST;
	*size = r->entry[*head].size;
	taken += q == QUEUE_TX;
	return r->entry[*head].bytes;
}

bool vdev_rests(const struct air *air)
{
	return draw(2);
}

void vdev_give(struct air *air, int q, u16 head, u32 len)
{
	struct ring *r = &ring[q];
	struct nlattr *attr;
	u8 *bytes = r->entry[head].bytes;
	u64 cookie;

	(void)air;
	assert(head == r->out++ % MOST && len <= r->entry[head].size);
	if (len) {
		assert(q == QUEUE_RX && len == ((struct nlmsghdr *)bytes)->nlmsg_len);
		if (bytes[MESSAGE_HEADER - 4] == CMD_FRAME) {
			given++;
		} else {
			attr = (void *)(bytes + len - NLA_HDRLEN - sizeof(cookie));
			assert(attr->nla_type == ATTR_COOKIE);
			memcpy(&cookie, nla_data(attr), sizeof(cookie));
			assert(cookie < cookies && !answered[cookie]++);
		}
	}
	free(bytes);
}

u64 air_host_delay(struct air *air, u16 station)
{
	(void)air, (void)station;
	return draw(500 * US);
}

void trace_record(void *edge, const void *head, u32 head_len, const void *body, u32 body_len)
{
	(void)edge, (void)head, (void)head_len, (void)body, (void)body_len;
}

static void count_delivery(void *edge, u16 to, const struct dcf_frame *f, u16 mode, s32 power_mdbm)
{
	deliveries++;
	hwsim_deliver(edge, to, f, mode, power_mdbm);
}

static void address(u8 *addr, u64 station)
{
	memcpy(addr, (u8[]){ 2, 0, 0, 0, 0, station + 1 }, DCF_ALEN);
}

/* A frame to one, to all, or to nobody; of a radio that is not known, at a rate that is not, or too short, at times. */
static void send_frame(void)
{
	u32 len = draw(20) ? DCF_HDR_LEN + draw(1500) : draw(DCF_HDR_LEN), flags = 0, freq = 2412;
	struct tx_rate rates[DCF_STAGES] = { { draw(40) ? 1 : 99, 1 + draw(3) }, { -1, 0 }, { -1, 0 }, { -1, 0 } };
	u8 frame[DCF_MAX_LEN] = { 8 }, from[DCF_ALEN];
	u8 *bytes = calloc(1, MESSAGE_HEADER + 256 + len), *at = bytes + MESSAGE_HEADER;

	address(from, draw(STATIONS + !draw(40)));
	address(frame + 4, draw(STATIONS + 1));
	if (!draw(4))
		memset(frame + 4, 0xff, DCF_ALEN);
	((struct genlmsghdr *)nlmsg_data((struct nlmsghdr *)bytes))->cmd = CMD_FRAME;
	at = put_attr(at, ATTR_TRANSMITTER, from, DCF_ALEN);
	at = put_attr(at, ATTR_FRAME, frame, len);
	at = put_u32(put_u32(at, ATTR_FLAGS, flags), ATTR_FREQ, freq);
	at = put_attr(at, ATTR_TX_INFO, rates, sizeof(rates));
	at = put_attr(at, ATTR_COOKIE, &cookies, sizeof(cookies));
	((struct nlmsghdr *)bytes)->nlmsg_len = at - bytes;
	cookies++;
	put(&ring[QUEUE_TX], bytes, at - bytes);
}

/* What air.c's timer does. */
static void run(struct air *air, u64 now)
{
	dcf_run(air->dcf, now);
	hwsim_arrive(air, now);
	hwsim_give(air);
	hwsim_take(air, now);
	/* Who leaves frames where they are comes back. */
	assert(ring[QUEUE_TX].taken == ring[QUEUE_TX].in || air->starved || air->waiting >= MOST_WAITING);
}

int main(int argc, char **argv)
{
	const struct dcf_ops ops = { .deliver = count_delivery, .done = hwsim_done, .record = trace_record };
	struct dcf_config config = {
		.phy = { 20 * US, 10 * US, 31, 1023, 0, 1 }, .stations = STATIONS, .nav_reset = true, .snap = 128,
		.capture_ratio_milli = 10000, .rx_threshold_aw = 100, .cs_threshold_aw = 10, .noise_aw = 1,
	};
	u64 operations = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000, i, now = 0, refused;
	struct radio radio[STATIONS] = {};
	struct air air = { .stations = STATIONS, .radio = radio };
	u16 a, b;

	state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	answered = calloc(operations + 1, 1);
	air.backlog.next = air.backlog.prev = &air.backlog;
	air.arriving.next = air.arriving.prev = &air.arriving;
	air.dcf = calloc(1, dcf_size(STATIONS));
	assert(dcf_check(&config) == DCF_SOUND);
	dcf_init(air.dcf, &config, &ops, &air);
	for (a = 0; a < STATIONS; a++) {
		address(radio[a].addr, a);
		radio[a].named = true;
		assert(dcf_set_station(air.dcf, a, 2412, 7, 4, 50, false) && dcf_set_address(air.dcf, a, radio[a].addr));
		for (b = 0; b < STATIONS; b++)
			assert(a == b || dcf_set_link(air.dcf, a, b, &(struct dcf_link){ 1000, -60000, 500 }));
	}
	for (i = 0; i < operations; i++) {
		if (!draw(1000))
			failing = draw(2) ? 0 : draw(1001);
		if (draw(3) && (u16)(ring[QUEUE_TX].in - ring[QUEUE_TX].out) < MOST)
			send_frame();
		while (draw(4) && (u16)(ring[QUEUE_RX].in - ring[QUEUE_RX].out) < MOST / 2)
			give_buffer(&air);
		run(&air, now += draw(3) ? draw(2000 * US) : draw(100 * US));
	}
	failing = 0;
	while (now += 1000 * US, ring[QUEUE_TX].taken != ring[QUEUE_TX].in || dcf_next(air.dcf) != DCF_NEVER || air.waiting ||
	       hwsim_next(&air) != DCF_NEVER) {
		while ((u16)(ring[QUEUE_RX].in - ring[QUEUE_RX].out) < MOST / 2)
			give_buffer(&air);
		run(&air, now);
	}
	for (i = 0; i < cookies; i++)
		assert(answered[i]);
	refused = cookies - air.frames - air.unknown_radios - air.refused_frames; /* there was no memory for them */
	assert(deliveries == given + air.lost_messages - refused);
	assert(given > operations / 100 && refused > operations / 1000 && air.lost_messages > refused);
	hwsim_forget(&air);
	for (; ring[QUEUE_RX].taken != ring[QUEUE_RX].in; ring[QUEUE_RX].taken++)
		free(ring[QUEUE_RX].entry[ring[QUEUE_RX].taken % MOST].bytes);
	free(air.dcf);
	free(answered);
	return 0;
}
