/* SPDX-License-Identifier: Apache-2.0 */
/* klandlock: see klandlock.h. */
#include "klandlock.h"

#include <sys/prctl.h>

/* These numbers are the same on every architecture. */
enum {
	CREATE_RULESET = 444,
	ADD_RULE = 445,
	RESTRICT_SELF = 446,
	GET_VERSION = 1,
	PATH_BENEATH = 1
};

enum {
	FS_EXECUTE = 1 << 0,
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_MAKE_CHAR = 1 << 6,
	FS_MAKE_SOCK = 1 << 9,
	FS_MAKE_BLOCK = 1 << 11,
	FS_TRUNCATE = 1 << 14,
	FS_IOCTL_DEV = 1 << 15,
	NET_BIND_TCP = 1 << 0,
	NET_CONNECT_TCP = 1 << 1,
	SCOPE_ABSTRACT_SOCKET = 1 << 0,
	SCOPE_SIGNAL = 1 << 1,
	/* Rights that a rule on a file, not a folder, may name. */
	OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV
};

struct ruleset_attr {
	uint64_t fs, net, scope;
};

struct path_beneath {
	uint64_t access;
	int32_t parent;
} __attribute__((packed));

/* File rights that each version of the interface supports: all bits below this one. */
static const unsigned char fs_bits[] = { 0, 13, 14, 15, 15, 16 };

int
klandlock_abi(void)
{
	long abi = syscall(CREATE_RULESET, NULL, 0, GET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

static uint64_t
known_rights(int abi)
{
	int last = (int)sizeof fs_bits - 1;

	return ((uint64_t)1 << fs_bits[abi < last ? abi : last]) - 1;
}

int
klandlock_new(void)
{
	int abi = klandlock_abi();
	struct ruleset_attr attr = {
		known_rights(abi),
		abi >= 4 ? NET_BIND_TCP | NET_CONNECT_TCP : 0,
		abi >= 6 ? SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL : 0,
	};

	return (int)syscall(CREATE_RULESET, &attr, sizeof attr, 0);
}

static uint64_t
rights(enum klandlock_access access)
{
	static const uint64_t of[] = {
		[KLANDLOCK_READ] = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR,
		[KLANDLOCK_DEVICE] = FS_READ_FILE | FS_WRITE_FILE | FS_IOCTL_DEV,
		[KLANDLOCK_SELF] =
		    FS_EXECUTE | FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE,
		[KLANDLOCK_ALL] =
		    ~(uint64_t)(FS_MAKE_CHAR | FS_MAKE_BLOCK | FS_MAKE_SOCK | FS_IOCTL_DEV),
	};

	return of[access] & known_rights(klandlock_abi());
}

int
klandlock_allow(int ruleset, const char *path, enum klandlock_access access)
{
	auto_close int fd = open(path, O_PATH | O_CLOEXEC);
	struct path_beneath rule = { rights(access), fd };
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.access &= OF_FILES;
	return (int)syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0);
}

int
klandlock_enter(int ruleset, bool writes)
{
	/* The process's own /proc entries; other processes' folders stay closed. */
	if (klandlock_allow(ruleset, "/proc/self", writes ? KLANDLOCK_SELF : KLANDLOCK_READ) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(RESTRICT_SELF, ruleset, 0) < 0)
		return -1;
	return close(ruleset);
}
