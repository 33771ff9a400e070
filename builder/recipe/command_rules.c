#include "recipe/command_rules.h"

#include "base/text.h"

bool
ws_name_is_plain(const char *name)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-./";
	return name[0] != '-' && name[strspn(name, letters)] == '\0';
}

bool
ws_path_suits_nvcc(const char *path)
{
	return !strpbrk(path, ",\"$`\\");
}

/* The tools of a rule. HANDED_ON: words that nvcc passes to the compiler. */
enum {
	CXX = 1 << WS_FLAG_CXX,
	NVCC = 1 << WS_FLAG_NVCC,
	LINK = 1 << WS_FLAG_LINK,
	HANDED_ON = 1 << 3,
	TO_X86_64 = 1 << 4, /* the target machine */
	TO_AARCH64 = 1 << 5,
	COMPILER = CXX | HANDED_ON,
	DRIVER = CXX | LINK | HANDED_ON,
	ALL = CXX | NVCC | LINK | HANDED_ON,
};

static const char no_file[] =
	"write its words into the recipe: a change of the file would not be noticed";
static const char replaces[] =
	"leave it out: it replaces parts of the compiler, which are not keyed";
static const char writes[] = "leave it out: what it writes is thrown away";
static const char depends[] = "leave it out: the build writes its own dependency file";
static const char linker[] = "leave it out: the compiler's own linker is the one that is keyed";
static const char profile[] = "leave it out: a change of the profile would not be noticed";
static const char modules[] = "leave it out: modules and precompiled headers are not supported";
static const char itself[] = "write the option itself";
static const char stages[] = "leave it out: what is made of a source, and where, is the build's";
static const char quiet[] =
	"name what to be quiet about (-Wno-...): it would hide that __DATE__ is used";
static const char own_cpu[] = "leave it out, or name a CPU that all of your hosts have "
							  "(-march=x86-64-v3): it compiles for the CPU of "
							  "whoever builds";
static const char device_debug[] =
	"leave it out: kernels are not optimised with it, and their debug info names the folder where "
	"they were compiled, so the bytes would differ from host to host";
static const char device_link[] =
	"leave it out: relocatable device code needs a device link, which is not supported";
static const char rdc_apart[] = "write -rdc=false as one word; relocatable device code needs a "
								"device link, which is not supported";
static const char folder[] = "write the folder into 'include'";
static const char of_x86_64[] = "leave it out: only compilers for x86-64 have it";
static const char of_aarch64[] = "leave it out: only compilers for aarch64 have it";

/* The beginning of a word; with a blank at the end the whole of it. GCC 14 "Invoking GCC", nvcc
 * 13.0 --help, ld 2.40. */
struct refusal {
	const char *start;
	unsigned tools;
	const char *cure;
};

static const struct refusal refused[] = {
	{"@", ALL, no_file},
	{"-optf", NVCC, no_file},
	{"--options-file", NVCC, no_file},
	{"-specs", DRIVER, replaces},
	{"--specs", DRIVER, replaces},
	{"-B", DRIVER, replaces},
	{"--prefix", DRIVER, replaces},
	{"-wrapper", DRIVER, replaces},
	{"-fplugin", DRIVER, replaces},
	{"-fuse-ld", DRIVER, linker},
	{"--ld-path", DRIVER, linker},
	{"--sysroot", ALL, replaces},
	{"-isysroot", COMPILER, replaces},
	{"--config", DRIVER, replaces},
	{"-Xclang ", DRIVER, "write the driver's own option"},
	{"-ldir", NVCC, replaces},
	{"--libdevice-directory", NVCC, replaces},
	{"-target-dir", NVCC, replaces},
	{"--target-directory", NVCC, replaces},
	{"-M ", ALL, depends},
	{"-MM ", ALL, depends},
	{"-MF", ALL, depends},
	{"-MG", ALL, depends},
	{"-MJ", ALL, depends},
	{"-MQ", ALL, depends},
	{"-MT", ALL, depends},
	{"--dependencies", COMPILER, depends},
	{"--user-dependencies", COMPILER, depends},
	{"--write-", COMPILER, depends},
	{"--dependency-", NVCC, depends},
	{"--generate-dependencies ", NVCC, depends},
	{"--generate-nonsystem-dependencies ", NVCC, depends},
	{"-save-temps", DRIVER, writes},
	{"--save-temps", DRIVER, writes},
	{"-keep", NVCC, writes},
	{"--keep", NVCC, writes},
	{"-time=", CXX | NVCC | HANDED_ON, writes},
	{"--time", NVCC, writes},
	{"-aux-info", COMPILER, writes},
	{"-dump", COMPILER, writes},
	{"--dump", COMPILER, writes},
	{"-fdump", COMPILER, writes},
	{"-fcallgraph-info", COMPILER, writes},
	{"-gsplit-dwarf", COMPILER, writes},
	{"-fprofile-use", DRIVER, profile},
	{"-fauto-profile", DRIVER, profile},
	{"-fbranch-probabilities", COMPILER, profile},
	{"-fmodule", COMPILER, modules},
	{"-fprebuilt-module", COMPILER, modules},
	{"-fimplicit-module", COMPILER, modules},
	{"-include-pch", COMPILER, modules},
	{"-fpch-", COMPILER, modules},
	{"-ivfsoverlay", COMPILER, no_file},
	{"-iprefix", COMPILER, folder},
	{"-iwithprefix", COMPILER, folder},
	{"-imultilib", COMPILER, folder},
	{"-iframework", COMPILER, folder},
	{"--include", CXX | NVCC | HANDED_ON, "write -include, or the folder into 'include'"},
	{"--system-include", NVCC, folder},
	{"--pre-include", NVCC, "write -include"},
	{"--imacros", COMPILER, "write -imacros"},
	{"-I", HANDED_ON, folder},
	{"-i", HANDED_ON, "write it for nvcc, without -Xcompiler"},
	{"-finput-charset", COMPILER, "leave it out: sources are read as UTF-8"},
	{"-w ", CXX | NVCC | HANDED_ON, quiet},
	{"--disable-warnings", NVCC, quiet},
	{"--no-warnings", COMPILER, quiet},
	{"-o", DRIVER, stages},
	{"--output", ALL, stages},
	{"-o ", NVCC, stages},
	{"-odir", NVCC, stages},
	{"-c ", ALL, stages},
	{"-S ", ALL, stages},
	{"-E ", ALL, stages},
	{"-cubin ", NVCC, stages},
	{"--cubin ", NVCC, stages},
	{"-fatbin ", NVCC, stages},
	{"--fatbin ", NVCC, stages},
	{"-ptx ", NVCC, stages},
	{"--ptx ", NVCC, stages},
	{"-lib ", NVCC, stages},
	{"--lib ", NVCC, stages},
	{"-run ", NVCC, stages},
	{"--run ", NVCC, stages},
	{"-Wp,", DRIVER, itself},
	{"-Xpreprocessor ", DRIVER, itself},
	{"--for-", DRIVER, itself},
	{"-L", CXX | NVCC | HANDED_ON, "write it into 'link_flags'"},
	{"-march=native ", DRIVER, own_cpu},
	{"-mcpu=native ", DRIVER, own_cpu},
	{"-mtune=native ", DRIVER, own_cpu},
	{"-xHost ", DRIVER, own_cpu},
	{"-G ", NVCC, device_debug},
	{"--device-debug ", NVCC, device_debug},
	{"-rdc=true ", NVCC, device_link},
	{"-rdc ", NVCC, rdc_apart},
	{"--relocatable-device-code=true ", NVCC, device_link},
	{"--relocatable-device-code ", NVCC, rdc_apart},
	{"-dc ", NVCC, device_link},
	{"--device-c ", NVCC, device_link},
	{"-dw ", NVCC, device_link},
	{"--device-w ", NVCC, device_link},
	{"-dlto", NVCC, device_link},
	{"-lto ", NVCC, device_link},
	{"--lto", NVCC, device_link},
	{"--dlink-time-opt", NVCC, device_link},
	{"-dlink", NVCC, device_link},
	{"--device-link", NVCC, device_link},
	{"-ewp", NVCC, device_link},
	{"--extensible-whole-program", NVCC, device_link},
	{"--library", ALL, "write -l, or -L, into 'link_flags'"},
	{"-march=arm", TO_X86_64, of_aarch64},
	{"-mcpu=", TO_X86_64, of_aarch64},
	{"-moutline-atomics ", TO_X86_64, of_aarch64},
	{"-mno-outline-atomics ", TO_X86_64, of_aarch64},
	{"-mbranch-protection=", TO_X86_64, of_aarch64},
	{"-msve-vector-bits=", TO_X86_64, of_aarch64},
	{"-march=x86-64", TO_AARCH64, of_x86_64},
	{"-march=core", TO_AARCH64, of_x86_64},
	{"-march=haswell ", TO_AARCH64, of_x86_64},
	{"-march=skylake", TO_AARCH64, of_x86_64},
	{"-march=icelake", TO_AARCH64, of_x86_64},
	{"-march=sapphirerapids ", TO_AARCH64, of_x86_64},
	{"-march=znver", TO_AARCH64, of_x86_64},
	{"-mavx", TO_AARCH64, of_x86_64},
	{"-msse", TO_AARCH64, of_x86_64},
	{"-mssse", TO_AARCH64, of_x86_64},
	{"-mfma ", TO_AARCH64, of_x86_64},
	{"-mf16c ", TO_AARCH64, of_x86_64},
	{"-mbmi", TO_AARCH64, of_x86_64},
	{"-mpopcnt ", TO_AARCH64, of_x86_64},
	{"-m64 ", TO_AARCH64, of_x86_64},
};

/* In the parts of -Wa, and -Wl, and in the words behind -Xassembler and -Xlinker. */
static const struct refusal refused_parts[] = {
	{"@", ALL, no_file},
	{"-I", CXX | HANDED_ON, folder},
	{"-a", CXX | HANDED_ON, writes},
	{"-o", ALL, stages},
	{"--MD", CXX | HANDED_ON, depends},
	{"-M", LINK, writes},
	{"--print-map", LINK, writes},
	{"--Map", LINK, writes},
	{"--cref", LINK, writes},
	{"--dependency-file", LINK, depends},
	{"-dependency-file", LINK, depends},
	{"--output", LINK, stages},
	{"--out-implib", LINK, writes},
	{"--plugin", LINK, replaces},
	{"-plugin", LINK, replaces},
	{"--sysroot", LINK, replaces},
	{"-L", LINK, "write -L itself"},
	{"--library", LINK, "write -L and -l themselves"},
	{"-l", LINK, "write -l itself"},
};

static bool
begins(const char *word, size_t len, const char *start)
{
	size_t wanted = strlen(start);
	if (start[wanted - 1] == ' ') {
		return len == wanted - 1 && memcmp(word, start, len) == 0;
	}
	return len >= wanted && memcmp(word, start, wanted) == 0;
}

static const char *
find_cure(const struct refusal *list, size_t count, const char *word, size_t len, unsigned tools)
{
	for (size_t i = 0; i < count; i++) {
		if ((list[i].tools & tools) && begins(word, len, list[i].start)) {
			return list[i].cure;
		}
	}
	return NULL;
}

static const char *
part_problem(const char *part, size_t len, unsigned tools)
{
	return find_cure(refused_parts, WS_LEN(refused_parts), part, len, tools);
}

/* Checks one option of a tool. */
static const char *
option_problem(const char *word, size_t len, unsigned tools)
{
	const char *problem = find_cure(refused, WS_LEN(refused), word, len, tools);
	bool to_part = begins(word, len, "-Wa,") || begins(word, len, "-Wl,");
	for (size_t at = 4; to_part && !problem && at < len;) {
		const char *comma = memchr(word + at, ',', len - at);
		size_t end = comma ? (size_t)(comma - word) : len;
		unsigned whose = word[2] == 'l' ? LINK : (tools & ~(unsigned)LINK) | CXX;
		problem = part_problem(word + at, end - at, whose);
		at = end + 1;
	}
	return problem;
}

/* nvcc splits what it hands on at commas. */
static const char *
handed_on_problem(const char *words, unsigned tools)
{
	const char *problem = NULL;
	for (const char *at = words; *at && !problem;) {
		size_t len = strcspn(at, ",");
		problem = option_problem(at, len, tools);
		at += len + (at[len] == ',');
	}
	return problem;
}

/* "-Xcompiler=-fPIC", "-Xcompiler -fPIC". */
static const char *
joined_value(const char *word, const char *const *options)
{
	for (; *options; options++) {
		size_t len = strlen(*options);
		if (strncmp(word, *options, len) == 0 && word[len] == '=') {
			return word + len + 1;
		}
	}
	return NULL;
}

static const char *const handing_on[] = {"-Xcompiler", "--compiler-options", NULL};

const char *
ws_flag_problem(const char *const *words, size_t index, enum ws_flag_tool tool)
{
	static const char *const parts[] = {"-Xassembler", "-Xlinker", "--linker-options"};
	static const char *const values[] = {"-D", "-U", "-Xptxas", "--ptxas-options", "-Xcudafe",
		"-Xfatbin", "--fatbin-options", "-l", "-u", "-z", "--param"};
	const char *word = words[index], *before = index > 0 ? words[index - 1] : "";
	bool nvcc = tool == WS_FLAG_NVCC;
	/* "{work}", "{cxx}": what engine/work.c replaces. "{1, 2}" is not one. */
	for (const char *open = strchr(word, '{'); open; open = strchr(open + 1, '{')) {
		size_t len = strspn(open + 1, "abcdefghijklmnopqrstuvwxyz");
		if (len > 0 && open[1 + len] == '}') {
			return "words in braces are replaced by folders of the run";
		}
	}
	if (nvcc && strpbrk(word, "$`")) {
		return "nvcc gives its words to a shell, which replaces $ and `";
	}
	if (ws_is_among(before, values, WS_LEN(values))) {
		return strchr(word, '@') == word ? no_file : NULL;
	}
	if (ws_is_among(before, parts, WS_LEN(parts))) {
		return part_problem(word, strlen(word), tool == WS_FLAG_LINK ? LINK : CXX);
	}
	if (nvcc && ws_is_among(before, handing_on, WS_LEN(handing_on))) {
		return handed_on_problem(word, HANDED_ON);
	}
	const char *value = nvcc ? joined_value(word, handing_on) : NULL;
	return value ? handed_on_problem(value, HANDED_ON)
				 : option_problem(word, strlen(word), 1u << tool);
}

const char *
ws_flag_foreign(const char *const *words, size_t index, enum ws_flag_tool tool,
	const struct ws_machine *machine)
{
	const char *word = words[index], *before = index > 0 ? words[index - 1] : "";
	unsigned to = machine->mark[0] ? TO_AARCH64 : TO_X86_64;
	bool nvcc = tool == WS_FLAG_NVCC;
	const char *value = nvcc ? joined_value(word, handing_on) : NULL;
	value = nvcc && ws_is_among(before, handing_on, WS_LEN(handing_on)) ? word : value;
	return value ? handed_on_problem(value, to) : option_problem(word, strlen(word), to);
}

bool
ws_flag_takes_value(const char *flag)
{
	/* GCC 14 "Invoking GCC" and nvcc 13.0 --help; a library or a folder may stand apart as well. */
	static const char *const flags[] = {"-D", "-I", "-L", "-T", "-U", "-Xarchive", "-Xassembler",
		"-Xcompiler", "-Xcudafe", "-Xfatbin", "-Xlinker", "-Xnvlink", "-Xpreprocessor", "-Xptxas",
		"-arch", "-ccbin", "-code", "-default-stream", "-diag-error", "-diag-suppress",
		"-diag-warn", "-gencode", "-idirafter", "-imacros", "-include", "-iquote", "-isystem", "-l",
		"-maxrregcount", "-std", "-u", "-x", "-z", "--archive-options", "--compiler-bindir",
		"--compiler-options", "--default-stream", "--diag-error", "--diag-suppress", "--diag-warn",
		"--fatbin-options", "--generate-code", "--gpu-architecture", "--gpu-code",
		"--linker-options", "--maxrregcount", "--nvlink-options", "--optimize", "--param",
		"--pre-include", "--ptxas-options", "--std", "--threads", "-t", "-framework", "-Werror",
		"-Xclang", "-fmad", "-ftz", "-mllvm", "-prec-div", "-prec-sqrt", "-rdc", "-split-compile",
		"--fmad", "--ftz", "--prec-div", "--prec-sqrt", "--relocatable-device-code",
		"--split-compile"};
	return ws_is_among(flag, flags, WS_LEN(flags));
}
