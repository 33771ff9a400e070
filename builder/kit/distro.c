/* distro.c - os-release(5): ID names the distribution, ID_LIKE those it descends from. */
#include "kit/distro.h"

#include "base/text.h"
#include "sys/host.h"

static const struct {
	const char *id;
	enum ws_distro distro;
} known[] = {
	{"debian", WS_DISTRO_DEBIAN},
	{"ubuntu", WS_DISTRO_DEBIAN},
	{"rhel", WS_DISTRO_RHEL},
	{"centos", WS_DISTRO_RHEL},
	{"rocky", WS_DISTRO_RHEL},
	{"almalinux", WS_DISTRO_RHEL},
	{"ol", WS_DISTRO_RHEL},
	{"fedora", WS_DISTRO_FEDORA},
	{"amzn", WS_DISTRO_FEDORA},
	{"suse", WS_DISTRO_SUSE},
	{"opensuse", WS_DISTRO_SUSE},
	{"sles", WS_DISTRO_SUSE},
	{"arch", WS_DISTRO_ARCH},
	{"alpine", WS_DISTRO_ALPINE},
};

static enum ws_distro
find(struct ws_str id)
{
	for (size_t i = 0; i < WS_LEN(known); i++) {
		if (ws_str_is(id, known[i].id)) {
			return known[i].distro;
		}
	}
	return WS_DISTRO_UNKNOWN;
}

enum ws_distro
ws_distro_of(const struct ws_host *host)
{
	enum ws_distro distro = find(ws_str_of(host->distribution));
	struct ws_str rest = ws_str_of(host->distribution_like);
	while (rest.s && distro == WS_DISTRO_UNKNOWN) {
		distro = find(ws_str_cut(&rest, ' '));
	}
	return distro;
}
