/**
 * torch_wheel.h - chooses a wheel of a torch release for its kit
 *
 * An index has a wheel for every Python, and PyTorch's own index several builds of each.
 * Headers and ABI are the same for all Pythons of one build, so the choice is one of convenience
 * but always the same. Opening it is opened_wheel.h's.
 */
#ifndef WS_KIT_TORCH_TORCH_WHEEL_H
#define WS_KIT_TORCH_TORCH_WHEEL_H

#include "fetch/fetch.h"
#include "model/facts.h"
#include "net/index.h"

/** A wheel of CPython on Linux. */
struct ws_torch_wheel {
	const struct ws_index_file *file;
	struct ws_version version; /**< of its file name, with or without a local label */
	struct ws_python_tag python;
};

typedef WS_VEC(struct ws_torch_wheel) ws_torch_wheel_list;

/**
 * The wheels of one build of a release for @a machine, a Python each, oldest Python first. @a
 * version without a local label means the build without one, else that of the facts' CUDA, else the
 * newest CUDA. With one ("2.5.1+cu121") it means that build; where the facts say that it is the
 * standard one, the wheels without a label are it. Without any wheel: WS_ERR_CONFIG with the
 * nearest releases.
 */
bool ws_torch_wheels_find(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const struct ws_version *version, const struct ws_machine *machine, struct ws_arena *a,
	ws_torch_wheel_list *wheels, struct ws_err *err);

/** The wheel for @a python, else that for CPython 3.11, else the newest; free-threaded ones
 * last. */
const struct ws_torch_wheel *ws_torch_wheels_choose(
	const ws_torch_wheel_list *wheels, const struct ws_python_tag *python);

#endif
