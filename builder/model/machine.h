/**
 * machine.h - the machines that wheels are made for
 *
 * A machine is one word in tags ("x86_64"), another in Debian's folders ("x86_64-linux-gnu"), a
 * number in ELF. One table has them all.
 */
#ifndef WS_MODEL_MACHINE_H
#define WS_MODEL_MACHINE_H

#include <stddef.h>

struct ws_machine {
	const char *name;      /**< in tags: "x86_64" */
	const char *multiarch; /**< "x86_64-linux-gnu" */
	const char *debian;    /**< architecture of packages: "amd64" */
	const char *loader;    /**< "ld-linux-x86-64.so.2" */
	unsigned elf;          /**< e_machine */
	const char *mark;      /**< behind names that mean x86-64 where it is missing: "/aarch64"; "" */
};

/** "x86_64", "aarch64"; NULL: no wheels are made for it. NULL-safe. */
const struct ws_machine *ws_machine_named(const char *name);

/** By ELF's number; NULL as above. */
const struct ws_machine *ws_machine_of_elf(unsigned elf);

/** All of them, for messages: "x86_64 or aarch64". */
#define WS_MACHINES "x86_64 or aarch64"

/** The one that this program was compiled for. */
const struct ws_machine *ws_machine_host(void);

#endif
