/* test_elf_demangle.c - names of torch's as people read them. */
#include "test.h"

#include "elf/demangle.h"

WS_TEST(names_are_demangled_and_shortened)
{
	static const struct {
		const char *name, *text;
	} names[] = {
		{"_ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
			"c10::detail::torchCheckFail(char const*, char const*, unsigned int, "
			"std::string const&)"},
		{"_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_"
		 "traitsIcESaIcEEE",
			"c10::detail::torchCheckFail(char const*, char const*, unsigned int, "
			"std::__cxx11::string const&)"},
		{"_ZNSsC1Ev", "std::string::basic_string()"},
		{"_Z1fSt6vectorIS_IlSaIlEESaIS1_EE", "f(std::vector<std::vector<long>>)"},
		{"_Z1fSt3mapISsiSt4lessISsESaISt4pairIKSsiEEE", "f(std::map<std::string, int>)"},
		{"_ZNSt13unordered_mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4hashIS5_"
		 "ESt8equal_toIS5_ESaISt4pairIKS5_iEEE5clearEv",
			"std::unordered_map<std::__cxx11::string, int>::clear()"},
		{"_Z1gSt10unique_ptrIiSt14default_deleteIiEE", "g(std::unique_ptr<int>)"},
		{"_Z1kSt8optionalISt17basic_string_viewIcSt11char_traitsIcEEE",
			"k(std::optional<std::string_view>)"},
		/* A user's template keeps what it was given. */
		{"_Z1hN1a3boxIiSt4lessIiEEE", "h(a::box<int, std::less<int>>)"},
		{"_ZlsIiERSoS0_RKT_", "std::ostream& operator<< <int>(std::ostream&, int const&)"},
		{"_ZN1aptEv", "a::operator->()"},
		{"_ZltRK1aS1_", "operator<(a const&, a const&)"},
	};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		assert_string_equal(ws_demangle_short(names[i].name, a), names[i].text);
	}
}

WS_TEST(a_name_that_is_not_mangled_stays)
{
	static const char *const names[] = {
		"", "cuInit", "_ZN", "_Z", "_ZN3c10", "_Z99999999999999999999f", "_ZTVN", "main<int>"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		assert_string_equal(ws_demangle(names[i], a), names[i]);
		assert_string_equal(ws_demangle_short(names[i], a), names[i]);
	}
}

WS_TEST(hostile_names_end)
{
	/* Deep nesting: the demangler gives up, it does not run out of stack. */
	char deep[8000] = "_Z1f";
	memset(deep + 4, 'P', sizeof(deep) - 6);
	strcpy(deep + sizeof(deep) - 2, "i");
	assert_true(strlen(ws_demangle_short(deep, a)) > 0);
	char longer[20000] = "_Z19000";
	memset(longer + 7, 'x', sizeof(longer) - 8);
	longer[sizeof(longer) - 1] = '\0';
	assert_string_equal(ws_demangle(longer, a), longer);
}
