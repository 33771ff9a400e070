/* torch_abi.c - names and strings as found in the wheels of torch 2.3 to 2.15. */
#include "elf/torch_abi.h"

#include "elf/demangle.h"

bool
ws_is_torch_name(const char *name)
{
	if (!ws_starts_with(name, "_Z")) {
		return false;
	}
	name += strlen("_Z");
	if (name[0] == 'T' && name[1]) { /* vtable, typeinfo, its name */
		name += 2;
	}
	if (*name++ != 'N') {
		return false;
	}
	name += strspn(name, "rVKRO"); /* of a member function: const and the like */
	static const char *const spaces[] = {"3c10", "2at", "5torch", "6caffe2", "4c10d"};
	for (size_t i = 0; i < WS_LEN(spaces); i++) {
		if (ws_starts_with(name, spaces[i])) {
			return true;
		}
	}
	return false;
}

enum ws_cxx11abi
ws_cxx11abi_of_export(const char *name)
{
	/* c10::Error(SourceLocation, std::string). Counting "__cxx11" does not work: libc10 of ABI 0
	 * exports more of those (213) than that of ABI 1 (183). */
	static const char constructor[] = "_ZN3c105ErrorC1ENS_14SourceLocationE";
	if (!ws_starts_with(name, constructor)) {
		return WS_CXX11ABI_SILENT;
	}
	const char *string = name + strlen(constructor);
	if (ws_same(string, "Ss")) {
		return WS_CXX11ABI_0;
	}
	return ws_starts_with(string, "NSt7__cxx1112basic_string") ? WS_CXX11ABI_1 : WS_CXX11ABI_SILENT;
}

bool
ws_cxx11abi_of_c10(const struct ws_elf *c10, enum ws_cxx11abi *abi, struct ws_err *err)
{
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(c10, &at, &symbol);) {
		*abi = symbol.defined ? ws_cxx11abi_of_export(symbol.name) : WS_CXX11ABI_SILENT;
		if (*abi != WS_CXX11ABI_SILENT) {
			return true;
		}
	}
	return ws_err_set(
		err, WS_ERR_FETCH, "'%s' exports no constructor of c10::Error; is this libc10?", c10->path);
}

enum ws_cxx11abi
ws_cxx11abi_of_module(const struct ws_elf *module)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	bool old = false, new = false;
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(module, &at, &symbol);) {
		if (symbol.defined || !ws_is_torch_name(symbol.name)) {
			continue;
		}
		struct ws_arena_mark mark = ws_arena_mark(a);
		new |= strstr(symbol.name, "7__cxx11") || strstr(symbol.name, "B5cxx11");
		if (strstr(symbol.name, "Ss")) { /* also within an identifier: the demangler knows */
			const char *text = ws_demangle(symbol.name, a);
			old |= strstr(text, "std::string") || strstr(text, "std::basic_string<");
		}
		ws_arena_rewind(a, mark);
	}
	if (old && new) {
		return WS_CXX11ABI_MIXED;
	}
	return new ? WS_CXX11ABI_1 : old ? WS_CXX11ABI_0 : WS_CXX11ABI_SILENT;
}

const char *
ws_pybind11_internals(const struct ws_elf *elf, struct ws_arena *a)
{
	static const char start[] = "__pybind11_internals_v";
	static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	struct ws_str data = ws_elf_section(elf, ".rodata");
	const char *found = data.n ? memmem(data.s, data.n, start, strlen(start)) : NULL;
	if (!found) {
		return NULL;
	}
	size_t most = data.n - (size_t)(found - data.s);
	size_t len = 0;
	while (len < most && len < 200 && found[len] && strchr(word, found[len])) {
		len++;
	}
	return ws_arena_copy(a, found, len);
}
