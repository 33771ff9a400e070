/**
 * torch_abi.h - the two ABIs that decide whether an extension and a torch fit
 *
 * Which std::string (_GLIBCXX_USE_CXX11_ABI) and which pybind11 internals. Both are read from the
 * files, never derived from a version or a file name, because those lie.
 */
#ifndef WS_ELF_TORCH_ABI_H
#define WS_ELF_TORCH_ABI_H

#include "elf/elf.h"

/** What names say about _GLIBCXX_USE_CXX11_ABI. */
enum ws_cxx11abi {
	WS_CXX11ABI_SILENT, /**< no name of torch's with a string in it */
	WS_CXX11ABI_0,
	WS_CXX11ABI_1,
	WS_CXX11ABI_MIXED, /**< both: parts of it were compiled differently */
};

/** Is it a mangled name in one of torch's namespaces: c10, at, torch, caffe2, c10d? */
bool ws_is_torch_name(const char *name);

/** What one exported name of libc10 says: SILENT unless it is a constructor of c10::Error. */
enum ws_cxx11abi ws_cxx11abi_of_export(const char *name);

/** Of a libc10.so. WS_ERR_FETCH when it exports no constructor of c10::Error. */
bool ws_cxx11abi_of_c10(const struct ws_elf *c10, enum ws_cxx11abi *abi, struct ws_err *err);

/** Of an extension: what the torch symbols say that it wants. */
enum ws_cxx11abi ws_cxx11abi_of_module(const struct ws_elf *module);

/**
 * pybind11's id in libtorch_python.so or in a module, "__pybind11_internals_v4_gcc_...__": types
 * are shared only where it is equal. NULL when there is none.
 */
const char *ws_pybind11_internals(const struct ws_elf *elf, struct ws_arena *a);

#endif
