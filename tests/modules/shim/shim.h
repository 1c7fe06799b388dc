/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As much of the kernel as a congestion control sees of it, in user space: so the very files that make the modules run
 * under a test that plays TCP. Names and meaning are the kernel's, everything else is ours: one struct is all the
 * socks, the route is what the test says it is, and parameters and debugfs files are kept in lists by name.
 */
#ifndef SHIM_H
#define SHIM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32, __be32;
typedef uint64_t u64;
typedef int64_t s64;
typedef unsigned short ushort;
typedef unsigned char byte;

#define __init
#define __exit
#define KBUILD_MODNAME "shim"
#define THIS_MODULE NULL
#define MODULE_ALIAS(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_LICENSE(text)
#define MODULE_PARM_DESC(name, text)
#define BUILD_BUG_ON(wrong) _Static_assert(!(wrong), #wrong)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define IS_ENABLED(option) 1
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define max(a, b) max_t(__typeof__(a), a, b)
#define clamp_t(type, x, low, high) max_t(type, min_t(type, x, high), low)
#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *rest)
{
	*rest = dividend % divisor;
	return dividend / divisor;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

typedef struct { s64 value; } atomic64_t;
#define atomic64_read(a) ((long long)(a)->value)
#define atomic64_add(n, a) ((a)->value += (n))
#define atomic64_inc(a) atomic64_add(1, a)
#define atomic64_dec(a) atomic64_add(-1, a)

/* linux/module.h, linux/moduleparam.h, linux/sysfs.h */
struct kernel_param;
struct kernel_param_ops {
	int (*set)(const char *text, const struct kernel_param *param);
	int (*get)(char *buffer, const struct kernel_param *param);
};
struct kernel_param {
	const char *name;
	const struct kernel_param_ops *ops;
	void *arg;
	const struct kernel_param *next;
};
extern const struct kernel_param *params;
extern const struct kernel_param_ops param_ops_ushort, param_ops_byte;
int param_get_uint(char *buffer, const struct kernel_param *param);
int param_set_uint_minmax(const char *text, const struct kernel_param *param, unsigned int low, unsigned int high);
int __sysfs_match_string(const char *const *words, size_t count, const char *text);
#define sysfs_emit sprintf
#define module_param_cb(NAME, OPS, ARG, mode)							\
	static struct kernel_param param_##NAME = { .name = #NAME, .ops = OPS, .arg = ARG };	\
	__attribute__((constructor)) static void register_##NAME(void)				\
	{											\
		param_##NAME.next = params;							\
		params = &param_##NAME;								\
	}
#define module_param(NAME, type, mode) module_param_cb(NAME, &param_ops_##type, &NAME, mode)
#define module_init(function) int shim_load(void) { return function(); }
#define module_exit(function) void shim_unload(void) { function(); }

/* linux/debugfs.h, linux/seq_file.h */
struct dentry { int unused; };
struct seq_file { void *private; char *text; };
struct file_operations { int (*show)(struct seq_file *file, void *unused); };
#define DEFINE_SHOW_ATTRIBUTE(name) static const struct file_operations name##_fops = { .show = name##_show }
#define seq_printf(file, ...) ((file)->text += sprintf((file)->text, __VA_ARGS__))
struct dentry *debugfs_create_dir(const char *name, struct dentry *parent);
void debugfs_create_file(const char *name, int mode, struct dentry *parent, void *data, const struct file_operations *fops);
void debugfs_remove_recursive(struct dentry *folder);

/* net/sock.h, net/tcp.h: one struct is all the socks */
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define LOOPBACK_IFINDEX 1
#define TCP_RACK_RECOVERY_THRESH 16
#define ICSK_CA_PRIV_SIZE sizeof(((struct sock *)0)->icsk_ca_priv)
enum { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

struct net {
	struct {
		u8 sysctl_tcp_min_tso_segs;
	} ipv4;
	int rt_genid;
	int route_error; /* the one route there is */
	u32 route_type, route_metric;
	u32 route_gateway_family;
	__be32 route_gateway;
};

struct in6_addr { u32 word[4]; };

struct sock {
	struct net *net;
	const struct tcp_congestion_ops *icsk_ca_ops;
	u64 icsk_ca_priv[13];
	u64 tcp_mstamp;
	u32 sk_family, inet_daddr, inet_saddr, sk_mark, sk_bound_dev_if, sk_uid;
	struct in6_addr sk_v6_daddr;
	u16 inet_dport, inet_sport;
	u32 snd_cwnd, snd_cwnd_cnt, snd_ssthresh, snd_cwnd_clamp, prior_cwnd, cwnd_limited;
	u32 icsk_ca_state, snd_una, sacked_out, reordering, srtt_us, rtt_min;
	struct {
		u8 reo_wnd_steps, reo_wnd_persist;
	} rack;
};
#define inet_sock sock
#define inet_connection_sock sock
#define tcp_sock sock
#define inet_sk(sk) (sk)
#define inet_csk(sk) (sk)
#define tcp_sk(sk) (sk)
#define sock_net(sk) ((sk)->net)
#define inet_csk_ca(sk) ((void *)(sk)->icsk_ca_priv)
#define ip_sock_rt_tos(sk) 0
#define tcp_snd_cwnd(tp) ((tp)->snd_cwnd)
#define tcp_in_slow_start(tp) ((tp)->snd_cwnd < (tp)->snd_ssthresh)
#define tcp_is_cwnd_limited(sk) ((sk)->cwnd_limited)
#define tcp_min_rtt(tp) ((tp)->rtt_min)

struct tcp_congestion_ops {
	char name[16];
	void *owner;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 state);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*min_tso_segs)(struct sock *sk);
	u32 (*ssthresh)(struct sock *sk);
	u32 (*undo_cwnd)(struct sock *sk);
};
int tcp_register_congestion_control(struct tcp_congestion_ops *ops);
void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops);
void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 cwnd);
u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked);
void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
u32 tcp_reno_ssthresh(struct sock *sk);
u32 tcp_reno_undo_cwnd(struct sock *sk);

/* net/ip_fib.h */
#define RTN_UNICAST 1
struct flowi4 {
	u32 flowi4_oif, flowi4_iif, flowi4_mark, flowi4_tos, flowi4_proto, flowi4_uid;
	__be32 daddr, saddr;
	u16 fl4_dport, fl4_sport;
};
#define RT_SCOPE_UNIVERSE 0
static inline void flowi4_init_output(struct flowi4 *flow, int oif, u32 mark, u8 tos, u8 scope, u8 proto, u8 flags,
				      __be32 daddr, __be32 saddr, u16 dport, u16 sport, u32 uid)
{
	*flow = (struct flowi4){ .flowi4_oif = oif, .flowi4_iif = LOOPBACK_IFINDEX, .flowi4_mark = mark,
				 .flowi4_tos = tos, .flowi4_proto = proto, .flowi4_uid = uid, .daddr = daddr,
				 .saddr = saddr, .fl4_dport = dport, .fl4_sport = sport };
}

struct fib_info { u32 fib_priority; };
struct rtnl_link_ops { const char *kind; };
struct net_device { const struct rtnl_link_ops *rtnl_link_ops; u32 hops; };
u32 manet_route_hops(const struct net_device *dev, __be32 to);
#define symbol_get(name) shim_##name()
#define symbol_put(name)
u32 (*shim_manet_route_hops(void))(const struct net_device *dev, __be32 to);
struct fib_nh_common {
	struct net_device *nhc_dev;
	u8 nhc_gw_family;
	struct {
		__be32 ipv4;
	} nhc_gw;
};
struct fib_result {
	u8 type;
	struct fib_info *fi;
	struct fib_nh_common *nhc;
};
int fib_lookup(struct net *net, const struct flowi4 *flow, struct fib_result *found, unsigned int flags);
#define rcu_read_lock()
#define rcu_read_unlock()
#define rt_genid_ipv4(net) ((net)->rt_genid)
#define ipv6_addr_v4mapped(address) (!(address)->word[0] && !(address)->word[1] && (address)->word[2] == 0xffff0000)

#endif
