/**
 * matrix_options.h - a matrix from options: `PKG==V... --here`, `--torch V --python V --arch A`
 *
 * Each option may be repeated; its values form an axis, like a list in a matrix, and
 * config/matrix.h parses them. Mistakes are WS_ERR_USAGE.
 */
#ifndef WS_CLI_MATRIX_OPTIONS_H
#define WS_CLI_MATRIX_OPTIONS_H

#include "base/user_env.h"
#include "cli/options.h"
#include "model/matrix.h"

/** The axes in the order of help; each option has the name of the matrix's key. */
enum ws_axis {
	WS_AXIS_TORCH,    /**< "2.5.1", "installed" */
	WS_AXIS_PYTHON,   /**< "3.12", a path, a program's name, "host" */
	WS_AXIS_ARCH,     /**< each the set of one wheel: "8.0;9.0+PTX" */
	WS_AXIS_CUDA,     /**< "12.4", "13", "auto" */
	WS_AXIS_PLATFORM, /**< "x86_64", "aarch64" */
	WS_AXIS_CXX11ABI, /**< "0", "1", "auto" */
	WS_AXES,
};
extern const char *const ws_axis_keys[WS_AXES];

/** Values as typed; an axis without values has the default of a matrix. */
struct ws_matrix_options {
	const struct ws_user_env *env; /**< PATH is searched for Pythons */
	ws_words packages;             /**< "flash-attn==2.8.3" */
	/** --here: without --torch the torch installed in this host's python3. Each axis without values
	 * then has the default of a matrix: python3 itself, the GPUs of this host. */
	bool here;
	ws_words axes[WS_AXES];
};

/** Fills @a m, which has no doc and no path. */
bool ws_matrix_options_read(const struct ws_matrix_options *options, struct ws_matrix *m,
	struct ws_arena *a, struct ws_err *err);

/** "3.12", "host" and paths as they are; a program's name as its path on PATH, where it is
 * there. */
const char *ws_matrix_options_python(
	const struct ws_user_env *env, const char *text, struct ws_arena *a);

#endif
