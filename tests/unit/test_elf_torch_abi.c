/* test_elf_torch_abi.c - what names and strings say about the two ABIs. */

#include "compile.h"
#include "elf/torch_abi.h"

static struct ws_elf *
compile(const char *file, const char *source, const char *flag, struct ws_arena *a)
{
	const char *const flags[] = {flag, NULL};
	struct ws_err err = {0};
	struct ws_elf *elf =
		ws_elf_open(ws_test_library(a, ws_test_dir(a), file, source, flags), a, &err);
	assert_ok(elf, err);
	return elf;
}

static enum ws_cxx11abi
abi_of(const char *source, const char *flag, struct ws_arena *a)
{
	WS_AUTO_ELF struct ws_elf *elf = compile("m.cc.so", source, flag, a);
	return ws_cxx11abi_of_module(elf);
}

#define ABI0 "-D_GLIBCXX_USE_CXX11_ABI=0"
#define ABI1 "-D_GLIBCXX_USE_CXX11_ABI=1"

WS_TEST_ERR(libc10_tells_by_one_constructor)
{
	/* std::runtime_error's constructors from both kinds of string are what misleads a count. */
	static const char source[] =
		"#include <string>\n#include <stdexcept>\n"
		"namespace c10 { struct SourceLocation { const char *f; };\n"
		"struct Error { Error(SourceLocation, std::string); };\n"
		"Error::Error(SourceLocation, std::string s) { throw std::runtime_error(s); } }\n";
	enum ws_cxx11abi abi;
	WS_AUTO_ELF struct ws_elf *old = compile("libc10.cc.so", source, ABI0, a);
	assert_ok(ws_cxx11abi_of_c10(old, &abi, &err), err);
	assert_int_equal(abi, WS_CXX11ABI_0);
	WS_AUTO_ELF struct ws_elf *new = compile("libc10.cc.so", source, ABI1, a);
	assert_ok(ws_cxx11abi_of_c10(new, &abi, &err), err);
	assert_int_equal(abi, WS_CXX11ABI_1);
	WS_AUTO_ELF struct ws_elf *other = compile("libc10.so", "int x;", ABI1, a);
	assert_fails(ws_cxx11abi_of_c10(other, &abi, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "is this libc10?");
}

WS_TEST(the_abi_of_a_module_follows_from_its_symbols_of_torch)
{
	static const char source[] = "#include <string>\n#include <iostream>\n"
								 "namespace c10 { void fail(const std::string &); }\n"
								 "void f() { c10::fail(\"\"); std::cout << std::string(\"x\"); }\n";
	assert_int_equal(abi_of(source, ABI0, a), WS_CXX11ABI_0);
	assert_int_equal(abi_of(source, ABI1, a), WS_CXX11ABI_1);
}

WS_TEST(a_module_may_be_silent_or_mixed)
{
	/* Strings that are not torch's, a name with "Ss" in an identifier, torch without strings. */
	static const char silent[] =
		"#include <string>\nnamespace other { void g(const std::string &); }\n"
		"namespace c10 { struct ClaSs { void ClaSsify(long); }; }\n"
		"void f(c10::ClaSs *c) { other::g(\"\"); c->ClaSsify(1); }\n";
	assert_int_equal(abi_of(silent, ABI1, a), WS_CXX11ABI_SILENT);
	static const char mixed[] =
		"#include <string>\nnamespace c10 { void fail(const std::string &);\n"
		"void old(int) __asm__(\"_ZNK2at6Tensor3oldERKSs\"); }\n"
		"void f() { c10::fail(\"\"); c10::old(1); }\n";
	assert_int_equal(abi_of(mixed, ABI1, a), WS_CXX11ABI_MIXED);
}

WS_TEST(names_of_torch)
{
	static const char *const ours[] = {"_ZN3c105ErrorD1Ev", "_ZNK2at10TensorBase8data_ptrIlEEPT_v",
		"_ZTVN3c105ErrorE", "_ZTIN5torch8autograd4NodeE", "_ZNKR6caffe28TypeMeta4nameEv"};
	static const char *const others[] = {"", "_Z", "_ZN", "_ZT", "_ZTV",
		"_ZNSt6vectorIN2at6TensorEE", "_Z1fN3c105ErrorE", "cuInit", "_ZN9flash_fwd3runEv"};
	for (size_t i = 0; i < WS_LEN(ours); i++) {
		assert_true(ws_is_torch_name(ours[i]));
	}
	for (size_t i = 0; i < WS_LEN(others); i++) {
		assert_false(ws_is_torch_name(others[i]));
	}
}

WS_TEST(the_internals_id_of_pybind11)
{
	static const char source[] =
		"const char *f(int i) { return i ? \"__pybind11_module_local_v4_x__\"\n"
		"  : \"__pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__\"; }";
	WS_AUTO_ELF struct ws_elf *with = compile("m.so", source, "-O1", a);
	assert_string_equal(
		ws_pybind11_internals(with, a), "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__");
	WS_AUTO_ELF struct ws_elf *without = compile("m.so", "int x;", "-O1", a);
	assert_null(ws_pybind11_internals(without, a));
}
