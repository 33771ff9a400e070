/* machine.c - the table. */
#include "model/machine.h"

#include "base/str.h"

#include <elf.h>

static const struct ws_machine machines[] = {
	{"x86_64", "x86_64-linux-gnu", "amd64", "ld-linux-x86-64.so.2", EM_X86_64, ""},
	{"aarch64", "aarch64-linux-gnu", "arm64", "ld-linux-aarch64.so.1", EM_AARCH64, "/aarch64"},
};

const struct ws_machine *
ws_machine_named(const char *name)
{
	for (size_t i = 0; i < WS_LEN(machines); i++) {
		if (ws_same(machines[i].name, name)) {
			return &machines[i];
		}
	}
	return NULL;
}

const struct ws_machine *
ws_machine_of_elf(unsigned elf)
{
	for (size_t i = 0; i < WS_LEN(machines); i++) {
		if (machines[i].elf == elf) {
			return &machines[i];
		}
	}
	return NULL;
}

const struct ws_machine *
ws_machine_host(void)
{
#ifdef __aarch64__
	return &machines[1];
#else
	return &machines[0];
#endif
}
