// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that is after the host: User-Mode Linux is a process, so a module
 * can make the host's system calls. It tries what it is told, and the kernel's
 * log has what the host says to it: 0, or an error.
 */
#include <linux/module.h>

static char *outside = "";
module_param(outside, charp, 0444);
MODULE_PARM_DESC(outside, "folder on the host that anybody may write to");

static char *own = "";
module_param(own, charp, 0444);
MODULE_PARM_DESC(own, "file on the host that the user owns");

static int stranger;
module_param(stranger, int, 0444);
MODULE_PARM_DESC(stranger, "process on the host");

static long host(long number, long a, long b, long c, long d)
{
	register long fourth asm("r10") = d;
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
		     : "rcx", "r11", "memory");
	return result;
}

static void tried(const char *what, long result)
{
	pr_err("escape: %s %ld\n", what, min(result, 0L));
}

static int __init escape_init(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/made", outside);
	tried("make", host(2, (long)path, 0101, 0644, 0));
	tried("make executable by all as its owner", host(2, (long)path, 0101, 04755, 0));
	tried("open for writing", host(2, (long)own, 1, 0, 0));
	tried("truncate", host(76, (long)own, 0, 0, 0));
	tried("change the mode", host(90, (long)own, 0777, 0, 0));
	tried("remount", host(165, (long)"none", (long)"/", 0, 32));
	tried("become root", host(105, 0, 0, 0, 0));
	tried("read the passwords", host(2, (long)"/etc/shadow", 0, 0, 0));
	tried("signal", host(62, stranger, 0, 0, 0));
	/* a user namespace of its own, and in it all capabilities */
	if (!host(272, 0x10020000, 0, 0, 0)) {
		tried("remount as root of another namespace", host(165, (long)"none", (long)"/", 0, 32 | 4096));
		tried("uncover", host(166, (long)outside, 2, 0, 0));
		tried("make in another namespace", host(2, (long)path, 0101, 0644, 0));
	}
	return 0;
}

static void __exit escape_exit(void)
{
}

module_init(escape_init);
module_exit(escape_exit);
MODULE_DESCRIPTION("Tries to reach the host");
MODULE_LICENSE("GPL");
