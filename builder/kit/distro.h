/**
 * distro.h - whose packages this host installs
 *
 * For messages that end in a command a person can type. Decides nothing else.
 */
#ifndef WS_KIT_DISTRO_H
#define WS_KIT_DISTRO_H

struct ws_host;

/** Families by what their packages are called, which matters more than the tool. */
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
