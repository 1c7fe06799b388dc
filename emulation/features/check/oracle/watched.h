/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compiler reads this before each file of a module under test. It tells race.c which accesses are in assembly, such
 * as atomics, or in the kernel's functions for memory, and which are meant to be without a lock. Linux has these calls
 * for KCSAN, but in KCSAN's kernel only.
 */
#include <linux/kcsan-checks.h>

void race_forgive(int more);
void race_retried(int accesses);
void race_checked(const volatile void *variable, unsigned long size, int type);
void memory_per_cpu(const volatile void *variable, unsigned long size);
void lifetime_taken(const void *count);
void lifetime_last(const void *count);

#define kcsan_disable_current() race_forgive(1)		/* data_race() */
#define kcsan_enable_current_nowarn() race_forgive(-1)
#define kcsan_atomic_next(accesses) race_retried(accesses)	/* readers of a seqlock */
#define __kcsan_check_access(variable, size, type) race_checked(variable, size, type)

/* Other headers come after these definitions: they have functions that use them. */
#include <linux/percpu-defs.h>
#undef __verify_pcpu_ptr
#define __verify_pcpu_ptr(ptr) do {					\
	const void __percpu *__vpp_verify = (typeof((ptr) + 0))NULL;	\
									\
	(void)__vpp_verify;						\
	memory_per_cpu((const volatile void *)(ptr), sizeof(*(ptr)));	\
} while (0)

#include <linux/string.h>
#define RACE_COPY(function, to, from, size) ({					\
	void *to_ = (to);							\
	const void *from_ = (from);						\
	size_t size_ = (size);							\
										\
	race_checked(to_, size_, KCSAN_ACCESS_WRITE);				\
	race_checked(from_, size_, 0);						\
	function(to_, from_, size_);						\
})
#define memcpy(to, from, size) RACE_COPY(memcpy, to, from, size)
#define memmove(to, from, size) RACE_COPY(memmove, to, from, size)
#define memset(to, value, size) ({						\
	void *to_ = (to);							\
	size_t size_ = (size);							\
										\
	race_checked(to_, size_, KCSAN_ACCESS_WRITE);				\
	memset(to_, value, size_);						\
})

#ifdef LARGER_STATE	/* a congestion control's, which also has what is behind it in a socket */
#include <net/inet_connection_sock.h>
#undef ICSK_CA_PRIV_SIZE
#define ICSK_CA_PRIV_SIZE (sizeof_field(struct inet_connection_sock, icsk_ca_priv) +	\
			   sizeof_field(struct inet_connection_sock, icsk_ca_redzone))
int oracle_register_larger(struct tcp_congestion_ops *ops);
#define oracle_tcp_register_congestion_control(ops) oracle_register_larger(ops)
#endif

#include <linux/refcount.h>
#define refcount_inc(count) ({							\
	refcount_t *count_ = (count);						\
										\
	lifetime_taken(count_);							\
	refcount_inc(count_);							\
})
#define refcount_dec_and_test(count) ({						\
	refcount_t *count_ = (count);						\
	bool last_ = refcount_dec_and_test(count_);				\
										\
	if (last_)								\
		lifetime_last(count_);						\
	last_;									\
})
