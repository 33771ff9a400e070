/**
 * torch_abi.h - the two ABIs that decide whether an extension fits a torch
 *
 * The std::string ABI (_GLIBCXX_USE_CXX11_ABI) and pybind11's internals. Both are read from the
 * files: versions and file names are often wrong.
 */
#ifndef WS_ELF_TORCH_ABI_H
#define WS_ELF_TORCH_ABI_H

#include "elf/elf.h"

/** The std::string ABI that names show. */
enum ws_cxx11abi {
	WS_CXX11ABI_SILENT, /**< no name of torch has a string in it */
	WS_CXX11ABI_0,
	WS_CXX11ABI_1,
	WS_CXX11ABI_MIXED, /**< both: parts were compiled differently */
};

/** True for a mangled name in a namespace of torch: c10, at, torch, caffe2, c10d. */
bool ws_is_torch_name(const char *name);

/** The ABI of one exported name of libc10: SILENT unless it is a constructor of c10::Error. */
enum ws_cxx11abi ws_cxx11abi_of_export(const char *name);

/** The ABI of a libc10.so. WS_ERR_FETCH when it exports no constructor of c10::Error. */
bool ws_cxx11abi_of_c10(const struct ws_elf *c10, enum ws_cxx11abi *abi, struct ws_err *err);

/** The ABI of an extension, by the torch symbols that it needs. */
enum ws_cxx11abi ws_cxx11abi_of_module(const struct ws_elf *module);

/**
 * pybind11's id in libtorch_python.so or in a module, "__pybind11_internals_v4_gcc_...__": types
 * are shared only where it is equal. NULL when there is none.
 */
const char *ws_pybind11_internals(const struct ws_elf *elf, struct ws_arena *a);

#endif
