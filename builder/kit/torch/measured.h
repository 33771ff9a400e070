/**
 * measured.h - what a torch's own files say about it
 *
 * version.py names the version and the CUDA it was built with, libc10.so has the C++ ABI in its
 * mangled names, libtorch_python.so pybind11's ids. In a kit the answers stand in kit.json, so that
 * the libraries need not be kept. What a release asks of a compiler is the facts'.
 *
 * TorchConfig.cmake would not do: from 2.8 on it has no line about the ABI.
 */
#ifndef WS_KIT_TORCH_MEASURED_H
#define WS_KIT_TORCH_MEASURED_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

struct ws_torch_measured {
	const char *version; /**< "2.5.1+cu124" */
	const char *cuda;    /**< "12.4"; NULL: no CUDA build */
	const char *hip;     /**< ROCm's version; NULL: no ROCm build */
	int cxx11abi;        /**< 0 or 1 */
	/** "_gcc", "_libstdcpp", "_cxxabi1011": pybind11's ids as torch before 2.9 passes them on; all
	 * three NULL when pybind11 has another id (3.0 and newer). */
	const char *pybind_compiler, *pybind_stdlib, *pybind_build_abi;
};

/** Reads the text of version.py: fills version, cuda and hip. @a name is for messages. */
bool ws_torch_measured_parse(struct ws_str version_py, const char *name, struct ws_arena *a,
	struct ws_torch_measured *m, struct ws_err *err);

/** Reads the two libraries: fills cxx11abi and the ids. */
bool ws_torch_measured_look(const char *c10, const char *torch_python, struct ws_arena *a,
	struct ws_torch_measured *m, struct ws_err *err);

/** Takes pybind11's ids from "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__"; NULL is fine. */
void ws_torch_measured_set_pybind(
	struct ws_torch_measured *m, const char *internals, struct ws_arena *a);

/** WS_ERR_CONFIG unless it was built with CUDA. @a name is for messages. */
bool ws_torch_measured_check(
	const struct ws_torch_measured *m, const char *name, struct ws_err *err);

/** Appends kit.json's text. */
void ws_torch_measured_write(const struct ws_torch_measured *m, struct ws_buf *text);

/** Reads a kit.json. */
bool ws_torch_measured_read(
	const char *path, struct ws_arena *a, struct ws_torch_measured *m, struct ws_err *err);

#endif
