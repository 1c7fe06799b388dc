// SPDX-License-Identifier: BSD-3-Clause
/*
 * The kernel's side of shim.h, and what a test calls: shim_*. Growth and loss reaction of Reno are written from
 * RFC 5681 and what the kernel documents of them: an ACK of n segments counts as n ACKs, slow start stops at ssthresh
 * and leaves the rest to congestion avoidance, which adds one segment for each `w` that were acknowledged.
 */
#include <stdlib.h>

#include "shim.h"

const struct kernel_param *params;
static struct tcp_congestion_ops *controls[8];
static struct { const char *name; void *data; const struct file_operations *fops; } files[8];
static struct dentry root;
static int warnings;

static int parse(const char *text, unsigned long high, unsigned long *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	*value = strtoul(text, &end, 0);
	if (*end && strcmp(end, "\n"))
		return -EINVAL;
	return *value > high ? -ERANGE : 0;
}

#define PARAM(type, high)								\
	static int set_##type(const char *text, const struct kernel_param *param)	\
	{										\
		unsigned long value;							\
		int err = parse(text, high, &value);					\
											\
		if (!err)								\
			*(type *)param->arg = value;					\
		return err;								\
	}										\
	static int get_##type(char *buffer, const struct kernel_param *param)		\
	{										\
		return sprintf(buffer, "%u\n", *(type *)param->arg);			\
	}										\
	const struct kernel_param_ops param_ops_##type = { set_##type, get_##type }
PARAM(ushort, 65535);
PARAM(byte, 255);

int param_get_uint(char *buffer, const struct kernel_param *param)
{
	return sprintf(buffer, "%u\n", *(unsigned int *)param->arg);
}

int param_set_uint_minmax(const char *text, const struct kernel_param *param, unsigned int low, unsigned int high)
{
	unsigned long value;

	if (parse(text, UINT32_MAX, &value) || value < low || value > high)
		return -EINVAL;
	*(unsigned int *)param->arg = value;
	return 0;
}

int __sysfs_match_string(const char *const *words, size_t count, const char *text)
{
	for (size_t i = 0; i < count && words[i]; i++) {
		size_t length = strlen(words[i]);

		if (!strncmp(words[i], text, length) && (!text[length] || !strcmp(text + length, "\n")))
			return i;
	}
	return -EINVAL;
}

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent)
{
	return name && !parent ? &root : NULL;
}

void debugfs_create_file(const char *name, int mode, struct dentry *parent, void *data, const struct file_operations *fops)
{
	int i = 0;

	if (mode != 0444 || parent != &root)
		abort();
	while (files[i].name)
		i++;
	files[i].name = name;
	files[i].data = data;
	files[i].fops = fops;
}

void debugfs_remove_recursive(struct dentry *folder)
{
	if (folder == &root)
		memset(files, 0, sizeof(files));
}

int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	int i = 0;

	while (controls[i])
		i++;
	controls[i] = ops;
	return 0;
}

void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops)
{
	for (size_t i = 0; i < ARRAY_SIZE(controls); i++)
		if (controls[i] == ops)
			controls[i] = NULL;
}

void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 cwnd)
{
	warnings += (int)cwnd <= 0;
	tp->snd_cwnd = cwnd;
}

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 room = tp->snd_ssthresh - tp->snd_cwnd;
	u32 used = acked < room ? acked : room;

	tcp_snd_cwnd_set(tp, min_t(u32, tp->snd_cwnd + used, tp->snd_cwnd_clamp));
	return acked - used;
}

void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked)
{
	u32 more = 0;

	if (tp->snd_cwnd_cnt >= w) { /* counted at a larger w: one segment, and start again */
		tp->snd_cwnd_cnt = 0;
		more = 1;
	}
	tp->snd_cwnd_cnt += acked;
	more += tp->snd_cwnd_cnt / w;
	tp->snd_cwnd_cnt %= w;
	tcp_snd_cwnd_set(tp, min_t(u32, tp->snd_cwnd + more, tp->snd_cwnd_clamp));
}

void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(sk)) {
		acked = tcp_slow_start(sk, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(sk, sk->snd_cwnd, acked);
}

u32 tcp_reno_ssthresh(struct sock *sk)
{
	return max_t(u32, sk->snd_cwnd / 2, 2);
}

u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	return max_t(u32, sk->snd_cwnd, sk->prior_cwnd);
}

/* A routing interface that reports this many hops; and whether its module is there. */
static const struct rtnl_link_ops manet_ops = { .kind = "manet" }, other_ops = { .kind = "dummy" };

static u32 say_hops(const struct net_device *dev, __be32 to)
{
	return to ? dev->hops : 0;
}

static bool manet_is_there;

u32 (*shim_manet_route_hops(void))(const struct net_device *dev, __be32 to)
{
	return manet_is_there ? say_hops : NULL;
}

static struct net_device device;

void shim_interface(bool manet, bool there, u32 hops)
{
	device.rtnl_link_ops = manet ? &manet_ops : &other_ops;
	device.hops = hops;
	manet_is_there = there;
}

int fib_lookup(struct net *net, const struct flowi4 *flow, struct fib_result *found, unsigned int flags)
{
	static struct fib_info info;
	static struct fib_nh_common next;

	if (!flow->daddr || flow->flowi4_proto != IPPROTO_TCP || flags)
		abort();
	info.fib_priority = net->route_metric;
	next.nhc_dev = &device;
	next.nhc_gw_family = net->route_gateway_family;
	next.nhc_gw.ipv4 = net->route_gateway;
	*found = (struct fib_result){ .type = net->route_type, .fi = &info, .nhc = &next };
	return net->route_error;
}

const struct tcp_congestion_ops *shim_control(const char *name)
{
	static const struct tcp_congestion_ops reno = {
		.name = "reno",
		.cong_avoid = tcp_reno_cong_avoid,
		.ssthresh = tcp_reno_ssthresh,
		.undo_cwnd = tcp_reno_undo_cwnd,
	};

	for (size_t i = 0; i < ARRAY_SIZE(controls); i++)
		if (controls[i] && !strcmp(controls[i]->name, name))
			return controls[i];
	return strcmp(name, "reno") ? NULL : &reno;
}

int shim_set(const char *name, const char *text)
{
	for (const struct kernel_param *param = params; param; param = param->next)
		if (!strcmp(param->name, name))
			return param->ops->set(text, param);
	return -ENOENT;
}

int shim_get(const char *name, char *buffer)
{
	for (const struct kernel_param *param = params; param; param = param->next)
		if (!strcmp(param->name, name))
			return param->ops->get(buffer, param);
	return -ENOENT;
}

int shim_read(const char *name, char *buffer)
{
	for (size_t i = 0; i < ARRAY_SIZE(files) && files[i].name; i++)
		if (!strcmp(files[i].name, name))
			return files[i].fops->show(&(struct seq_file){ files[i].data, buffer }, NULL);
	return -ENOENT;
}

int shim_warnings(void)
{
	return warnings;
}

void shim_init(struct sock *sk)
{
	if (sk->icsk_ca_ops->init)
		sk->icsk_ca_ops->init(sk);
}

void shim_release(struct sock *sk)
{
	if (sk->icsk_ca_ops->release)
		sk->icsk_ca_ops->release(sk);
	memset(sk->icsk_ca_priv, 0, sizeof(sk->icsk_ca_priv));
}

void shim_set_state(struct sock *sk, u32 state)
{
	if (sk->icsk_ca_ops->set_state)
		sk->icsk_ca_ops->set_state(sk, state);
	sk->icsk_ca_state = state;
}

void shim_in_ack_event(struct sock *sk)
{
	if (sk->icsk_ca_ops->in_ack_event)
		sk->icsk_ca_ops->in_ack_event(sk, 0);
}

void shim_cong_avoid(struct sock *sk, u32 acked)
{
	sk->icsk_ca_ops->cong_avoid(sk, 0, acked);
}

u32 shim_min_tso_segs(struct sock *sk)
{
	return sk->icsk_ca_ops->min_tso_segs ? sk->icsk_ca_ops->min_tso_segs(sk) : sk->net->ipv4.sysctl_tcp_min_tso_segs;
}

u32 shim_ssthresh(struct sock *sk)
{
	return sk->icsk_ca_ops->ssthresh(sk);
}

u32 shim_undo_cwnd(struct sock *sk)
{
	return sk->icsk_ca_ops->undo_cwnd(sk);
}
