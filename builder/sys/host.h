/**
 * host.h - what this machine may use: cores and memory, control groups included
 *
 * Reads /proc and /sys below a root, so that a test can show it another machine. Control
 * groups of version 1 and 2, the limits of every group above ours.
 */
#ifndef WS_SYS_HOST_H
#define WS_SYS_HOST_H

#include "base/arena.h"

/** One file of a tool of a host, such as a compiler's. */
struct ws_host_file {
	const char *path;   /**< absolute */
	const char *digest; /**< 64 digits */
};

struct ws_host {
	const char *root;              /**< "" for the real one */
	unsigned cores;                /**< at least 1: affinity mask and CPU quota */
	uint64_t memory_bytes;         /**< physical, or the tightest group's limit */
	const char *memory_group;      /**< folder of the group that sets it; NULL: the machine */
	bool group_is_v2;              /**< how to read memory_group */
	const char *distribution;      /**< ID of /etc/os-release: "debian"; "" unknown */
	const char *distribution_like; /**< ID_LIKE; "" unknown */
	const char *pretty_name;       /**< PRETTY_NAME; "" unknown */
};

/** @a root is "" or the folder under which proc/, sys/ and etc/ are. Never fails. */
struct ws_host ws_host_read(const char *root, struct ws_arena *a);

/** Free bytes: MemAvailable, and what the control group has left. */
uint64_t ws_host_available_bytes(const struct ws_host *host);

/** Distributions by the names of their packages. */
enum ws_distro {
	WS_DISTRO_UNKNOWN,
	WS_DISTRO_DEBIAN, /**< apt-get: Debian, Ubuntu and theirs */
	WS_DISTRO_RHEL,   /**< dnf: RHEL, CentOS, Rocky, Alma; newer gcc comes as gcc-toolset-N */
	WS_DISTRO_FEDORA, /**< dnf: Fedora, Amazon Linux 2023 */
	WS_DISTRO_SUSE,   /**< zypper */
	WS_DISTRO_ARCH,   /**< pacman */
	WS_DISTRO_ALPINE, /**< apk */
};

/** From ID, else ID_LIKE of os-release(5), its nearest word first. */
enum ws_distro ws_distro_of(const struct ws_host *host);

#endif
