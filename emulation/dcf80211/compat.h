/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that the modules build for, 6.1 to 7.3. The
 * sources mention no versions: each name here works in all of them. The folders
 * of the modules have links to this file.
 */
#ifndef DCFLAB_COMPAT_H
#define DCFLAB_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

/* virtio_config_ops.find_vqs: 6.11 puts the properties of a queue into a struct. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define FIND_VQS_ARGS vq_callback_t *callbacks[], const char *const names[], const bool *ctx
#define FIND_VQS_CALLBACK(i) callbacks[i]
#define FIND_VQS_NAME(i) names[i]
#else
#define FIND_VQS_ARGS struct virtqueue_info info[]
#define FIND_VQS_CALLBACK(i) info[i].callback
#define FIND_VQS_NAME(i) info[i].name
#endif

/* Since 6.13; without it, 6.15 and later cannot set up a timer. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* rtnl_link_ops.newlink: 6.15 puts the network namespace and the attributes into a struct. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define NEWLINK_ARGS struct net *link_net, struct net_device *dev, struct nlattr *attrs[], struct nlattr *info[]
#define NEWLINK_NET link_net
#define NEWLINK_TB attrs
#define NEWLINK_DATA info
#else
#define NEWLINK_ARGS struct net_device *dev, struct rtnl_newlink_params *params
#define NEWLINK_NET rtnl_newlink_link_net(params)
#define NEWLINK_TB (params->tb)
#define NEWLINK_DATA (params->data)
#endif

/* netdev_lockdep_set_classes() has moved there. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#include <net/netdev_lock.h>
#endif

/* The tracepoint tcp_probe: since 6.16 the segment is const. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define TCP_PROBE_ARGS struct sock *sk, struct sk_buff *skb
#else
#define TCP_PROBE_ARGS struct sock *sk, const struct sk_buff *skb
#endif

/* The tracepoint tcp_retransmit_skb: 6.17 reports failures, too. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define TCP_RETRANSMIT_ARGS const struct sock *sk, const struct sk_buff *skb
#define TCP_RETRANSMIT_ERR 0
#else
#define TCP_RETRANSMIT_ARGS const struct sock *sk, const struct sk_buff *skb, int err
#define TCP_RETRANSMIT_ERR err
#endif

/* rchan_callbacks.subbuf_start: 6.17 has no argument for padding. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define SUBBUF_START_ARGS struct rchan_buf *buf, void *subbuf, void *prev_subbuf, size_t prev_padding
#else
#define SUBBUF_START_ARGS struct rchan_buf *buf, void *subbuf, void *prev_subbuf
#endif

/* In struct inet_connection_sock: 6.19 moved it to the socket. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define ICSK_RETRANSMIT_TIMER icsk_retransmit_timer
#else
#define ICSK_RETRANSMIT_TIMER icsk_inet.sk.tcp_retransmit_timer
#endif

#endif
