/**
 * typed.h - a matrix from options: `PKG==V... --torch V --python V --arch A`
 *
 * Each option may be repeated; its values form an axis, like a list in a matrix, and
 * config/matrix.h parses them. Mistakes are WS_ERR_USAGE.
 */
#ifndef WS_CLI_TYPED_H
#define WS_CLI_TYPED_H

#include "base/user_env.h"
#include "cli/options.h"
#include "model/matrix.h"

/** The axes in the order of help; each option has the name of the matrix's key. */
enum ws_typed_axis {
	WS_TYPED_TORCH,    /**< "2.5.1", "installed" */
	WS_TYPED_PYTHON,   /**< "3.12", a path, a program's name, "host" */
	WS_TYPED_ARCH,     /**< each the set of one wheel: "8.0;9.0+PTX" */
	WS_TYPED_CUDA,     /**< "12.4", "13", "auto" */
	WS_TYPED_PLATFORM, /**< "x86_64", "aarch64" */
	WS_TYPED_CXX11ABI, /**< "0", "1", "auto" */
	WS_TYPED_AXES,
};
extern const char *const ws_typed_keys[WS_TYPED_AXES];

/** Values as typed; an axis without values has the default of a matrix. */
struct ws_typed {
	const struct ws_user_env *env; /**< PATH is searched for Pythons */
	ws_words packages;             /**< "flash-attn==2.8.3" */
	bool here; /**< the torch installed in this host's python3, unless torch is given */
	ws_words axes[WS_TYPED_AXES];
};

/** Fills @a m, which has no doc and no path. */
bool ws_typed_matrix(
	const struct ws_typed *options, struct ws_matrix *m, struct ws_arena *a, struct ws_err *err);

/** "3.12", "host" and paths as they are; a program's name as its path on PATH, where it is
 * there. */
const char *ws_typed_python(const struct ws_user_env *env, const char *text, struct ws_arena *a);

#endif
