/**
 * torch.h - headers and ABI of a torch release, from its wheel or from an installed torch
 *
 * Headers are taken out of the release's wheel by range requests and checked against its RECORD;
 * two small libraries answer what the headers do not say: the C++ ABI and pybind11's ids. All
 * Pythons share one kit. A torch installed in an interpreter serves as well. torch_wheel.h lists
 * the releases.
 *
 * The tree: include/ as in the wheel, version.py, kit.json (the measured values).
 */
#ifndef WS_KIT_TORCH_TORCH_H
#define WS_KIT_TORCH_TORCH_H

#include "kit/python/python.h"
#include "model/facts.h"
#include "model/lock.h"

struct ws_fetch;

struct ws_torch_kit {
	const char *name;          /**< "torch-2.5.1" */
	struct ws_version version; /**< as version.py says: 2.5.1+cu124 */
	const char *cuda;          /**< toolkit it was built with: "12.4" */
	int cxx11abi;              /**< measured on libc10.so */
	/** "_gcc", "_libstdcpp", "_cxxabi1011"; NULL where the ids of pybind11 have another form. */
	const char *pybind_compiler, *pybind_stdlib, *pybind_build_abi;
	struct ws_torch_release
		release;                /**< facts, or, for an unknown release, the nearest one's rules */
	bool known;                 /**< the facts list this release */
	const char *path;           /**< folder that holds include/ */
	const struct ws_tree *tree; /**< NULL: an installed torch, whose files may change */
	const char *wheel;          /**< file name it was taken from; NULL: installed */
	const char *wheel_sha256;   /**< of the index; "": unknown */
	/** Digest of RECORD, of the wheel or of the installation; "": no RECORD. */
	const char *record_sha256;
	const char *library_path; /**< installed: torch/lib; else NULL */
};

/** The requested torch. */
struct ws_torch_wish {
	struct ws_version version;        /**< 2.5.1 or 2.5.1+cu121 */
	const struct ws_machine *machine; /**< NULL: this host's */
	struct ws_python_tag python;      /**< preferred wheel; any other will do */
	/** The lock's: the wheel that is taken, and the RECORD that it must have. A kit in the store
	 * with the pinned digest is opened without a network. NULL: none. */
	const struct ws_pin_torch *pin;
};

/**
 * Takes the kit out of a wheel, or finds it in the store. WS_ERR_CONFIG when no index has such a
 * release or it is not a CUDA build; what goes wrong on the way is WS_ERR_FETCH.
 */
bool ws_torch_open(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const struct ws_torch_wish *wish, struct ws_arena *a, struct ws_torch_kit *kit,
	struct ws_err *err);

/**
 * The torch installed where @a python would import it; it is not imported. @a ledger caches its
 * path; NULL: the interpreter is asked.
 */
bool ws_torch_open_installed(const struct ws_facts *facts, const struct ws_python_kit *python,
	struct ws_ledger *ledger, struct ws_arena *a, struct ws_torch_kit *kit, struct ws_err *err);

/* ---- what a torch's own files contain ----
 * version.py has the version and its CUDA, libc10.so the C++ ABI in its mangled names,
 * libtorch_python.so pybind11's ids. A kit keeps them in kit.json, so it needs no libraries.
 * TorchConfig.cmake would not do: from 2.8 on it has no line about the ABI. */

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

/** Takes pybind11's ids from "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__"; NULL is fine. */
void ws_torch_measured_set_pybind(
	struct ws_torch_measured *m, const char *internals, struct ws_arena *a);

/** Reads a kit.json. */
bool ws_torch_measured_read(
	const char *path, struct ws_arena *a, struct ws_torch_measured *m, struct ws_err *err);

#endif
