"""Shared libraries that differ in one thing from a sound one, to be loaded and to be judged.

CASES is {name: change}; change(Elf) edits a library made by `base`. The expected result is that of dlopen
(loader_truth.py)."""
import struct
import subprocess

PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE, PT_TLS, PT_GNU_STACK = 1, 2, 3, 4, 7, 0x6474e551
DT_NULL, DT_NEEDED, DT_PLTRELSZ, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_RELAENT = 0, 1, 2, 4, 5, 6, 7, 8, 9
DT_STRSZ, DT_SYMENT, DT_INIT, DT_SONAME, DT_PLTREL, DT_TEXTREL, DT_JMPREL = 10, 11, 12, 14, 20, 22, 23
DT_FLAGS, DT_RELRSZ, DT_RELR, DT_RELRENT = 30, 35, 36, 37
DT_GNU_HASH, DT_VERSYM, DT_RELACOUNT, DT_FLAGS_1 = 0x6ffffef5, 0x6ffffff0, 0x6ffffff9, 0x6ffffffb
DT_VERDEF, DT_VERNEED, DT_AUXILIARY, DT_FILTER = 0x6ffffffc, 0x6ffffffe, 0x7ffffffd, 0x7fffffff
SOURCE = """
#include <stdio.h>
#include <math.h>
char spare[16384] = {1};
__thread int slot;
int version_less(void);
int work(const char *s, double x) { puts(s); return (int)pow(x, x) + slot; }
void *PyInit_base(void) { return spare; }
"""


def base(target, *flags):
    """The sound library: its array "spare" has room for other tables, its dynamic section for more entries."""
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", target, "-lm", "-Wl,--spare-dynamic-tags=20",
                    "-Wl,--hash-style=gnu", "-Wl,-z,norelro", "-Wl,-z,lazy", *flags], input=SOURCE, text=True, check=True)
    return target


def gnu_hash(name):
    h = 5381
    for c in name.encode():
        h = (h * 33 + c) & 0xffffffff
    return h


def elf_hash(name):
    h = 0
    for c in name.encode():
        h = (h << 4) + c
        g = h & 0xf0000000
        h = (h ^ (g >> 24)) & ~g & 0xffffffff
    return h


class Elf:
    def __init__(self, path):
        self.data = bytearray(open(path, "rb").read())
        self.spared = 16  # bytes of "spare" that are in use; the first ones stay 1

    def get(self, offset, width):
        return int.from_bytes(self.data[offset:offset + width], "little")

    def put(self, offset, value, width):
        self.data[offset:offset + width] = (value & (1 << 8 * width) - 1).to_bytes(width, "little")

    # ---- program headers: [type, flags, offset, vaddr, paddr, filesz, memsz, align]

    def headers(self):
        at, count = self.get(32, 8), self.get(56, 2)
        return [(at + 56 * i, list(struct.unpack_from("<IIQQQQQQ", self.data, at + 56 * i))) for i in range(count)]

    def set_header(self, kind, nth=0, **fields):
        names = ["type", "flags", "offset", "vaddr", "paddr", "filesz", "memsz", "align"]
        at, header = [h for h in self.headers() if h[1][0] == kind][nth]
        for name, value in fields.items():
            header[names.index(name)] = value(header[names.index(name)]) if callable(value) else value
        struct.pack_into("<IIQQQQQQ", self.data, at, *header)

    def offset(self, address):
        for _, (kind, _, offset, vaddr, _, filesz, _, _) in self.headers():
            if kind == PT_LOAD and vaddr <= address < vaddr + filesz:
                return offset + address - vaddr
        raise ValueError(hex(address))

    # ---- the dynamic section

    def entries(self):
        at = next(h[2] for _, h in self.headers() if h[0] == PT_DYNAMIC)
        while True:
            tag, value = struct.unpack_from("<QQ", self.data, at)
            yield at, tag, value
            if tag == DT_NULL:
                return
            at += 16

    def dynamic(self, tag):
        return next((value for _, t, value in self.entries() if t == tag), None)

    def set_dynamic(self, tag, value):
        for at, found, old in self.entries():
            if found == tag:
                self.put(at + 8, value(old) if callable(value) else value, 8)
                return
        self.add_dynamic(tag, value)

    def add_dynamic(self, tag, value):
        at = next(at for at, found, _ in self.entries() if found == DT_NULL)
        struct.pack_into("<QQQQ", self.data, at, tag, value, DT_NULL, 0)

    def drop_dynamic(self, tag):
        """DT_DEBUG in its place, which means nothing to a library."""
        for at, found, _ in self.entries():
            if found == tag:
                self.put(at, 21, 8)

    # ---- room

    def spare(self, blob, align=8):
        """Puts @blob into "spare"; its address."""
        self.spared = (self.spared + align - 1) // align * align
        address = self.symbol("spare")[1] + self.spared
        self.data[self.offset(address):self.offset(address) + len(blob)] = blob
        self.spared += len(blob)
        return address

    def spare_string(self, text):
        """Offset of @text in the string table: that begins before "spare"."""
        return self.spare(text.encode() + b"\0", 1) - self.dynamic(DT_STRTAB)

    # ---- symbols

    def name(self, offset):
        at = self.offset(self.dynamic(DT_STRTAB)) + offset
        return self.data[at:self.data.index(0, at)].decode()

    def symbol(self, name):
        """(offset of its entry, value, number)."""
        table, number = self.offset(self.dynamic(DT_SYMTAB)), 0
        while True:
            if self.name(self.get(table + 24 * number, 4)) == name:
                return table + 24 * number, self.get(table + 24 * number + 8, 8), number
            number += 1

    def relocation(self, table, nth):
        return self.offset(self.dynamic(table)) + 24 * nth

    def of_symbol(self, name):
        """The relocation of a symbol."""
        number = self.symbol(name)[2]
        for table, size in ((DT_JMPREL, DT_PLTRELSZ), (DT_RELA, DT_RELASZ)):
            for i in range((self.dynamic(size) or 0) // 24):
                if self.get(self.relocation(table, i) + 12, 4) == number:
                    return self.relocation(table, i)

    # ---- section headers

    def sections(self):
        at, count = self.get(40, 8), self.get(60, 2)
        return [at + 64 * i for i in range(count)]

    def decoy(self, kind):
        """The first section of a type becomes a copy behind the file, which the loader never reads; its offset."""
        at = next(s for s in self.sections() if self.get(s + 4, 4) == kind)
        offset, size = self.get(at + 24, 8), self.get(at + 32, 8)
        self.put(at + 24, len(self.data), 8)
        self.data += self.data[offset:offset + size]
        return len(self.data) - size


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def of_bytes(name, offset, value, width):
    CASES[name] = lambda elf: elf.put(offset, value, width)


def of_header(name, kind, nth=0, **fields):
    CASES[name] = lambda elf: elf.set_header(kind, nth, **fields)


def of_dynamic(name, tag, value):
    CASES[name] = lambda elf: elf.set_dynamic(tag, value)


# ---- the file header

of_bytes("sound", 8, 0, 1)
of_bytes("ident_version", 6, 2, 1)
of_bytes("ident_osabi_freebsd", 7, 9, 1)
of_bytes("ident_osabi_gnu", 7, 3, 1)
of_bytes("ident_abiversion", 8, 5, 1)
of_bytes("ident_padding", 12, 1, 1)
of_bytes("header_version", 20, 2, 4)
of_bytes("header_phentsize", 54, 57, 2)
of_bytes("header_phnum_0", 56, 0, 2)
of_bytes("header_phoff_far", 32, 1 << 40, 8)
of_bytes("header_ehsize", 52, 7, 2)
of_bytes("type_exec", 16, 2, 2)
of_bytes("type_rel", 16, 1, 2)
of_bytes("type_core", 16, 4, 2)


# ---- sections, which the loader does not read

@case
def no_section_headers(elf):
    elf.put(40, 0, 8)
    elf.put(58, 0, 2)
    elf.put(60, 0, 2)
    elf.put(62, 0, 2)


of_bytes("section_headers_far", 40, 1 << 40, 8)


@case
def section_dynamic_is_a_decoy(elf):
    """The sections show a library that needs nothing; the loader sees another."""
    copy = elf.decoy(6)
    elf.add_dynamic(DT_NEEDED, elf.spare_string("libnowhere.so.3"))
    elf.put(copy, DT_NULL, 8)


@case
def section_dynamic_needs_more(elf):
    """The other way round."""
    elf.put(elf.decoy(6) + 8, 3, 8)


@case
def section_dynsym_is_a_decoy(elf):
    elf.decoy(11)
    at = elf.symbol("puts")[0]
    elf.put(at, elf.spare_string("nobody_has_this"), 4)


@case
def section_dynstr_is_a_decoy(elf):
    elf.decoy(3)
    at = elf.offset(elf.dynamic(DT_STRTAB))
    elf.data[at:at + elf.dynamic(DT_STRSZ)] = elf.data[at:at + elf.dynamic(DT_STRSZ)].replace(b"\0puts\0", b"\0putz\0")


@case
def section_verneed_is_a_decoy(elf):
    elf.decoy(0x6ffffffe)
    at = elf.offset(elf.dynamic(DT_VERNEED))
    aux = at + elf.get(at + 8, 4)
    elf.put(aux, elf_hash("GLIBC_2.99"), 4)
    elf.put(aux + 8, elf.spare_string("GLIBC_2.99"), 4)


# ---- segments

of_header("load_align_3", PT_LOAD, align=3)
of_header("load_align_small", PT_LOAD, align=8)
of_header("load_offset_askew", PT_LOAD, 1, offset=lambda v: v + 8)
of_header("load_filesz_past_the_end", PT_LOAD, 3, filesz=lambda v: v + (1 << 24), memsz=lambda v: v + (1 << 24))
of_header("load_memsz_large", PT_LOAD, 3, memsz=lambda v: v + (1 << 20))
of_header("load_memory_overlaps", PT_LOAD, memsz=1 << 32)
of_header("load_twice", PT_NOTE, type=PT_LOAD)
of_header("no_dynamic", PT_DYNAMIC, type=0)
of_header("dynamic_filesz_0", PT_DYNAMIC, filesz=0)
of_header("dynamic_elsewhere", PT_DYNAMIC, vaddr=lambda v: v + (1 << 32))
of_header("stack_executable", PT_GNU_STACK, flags=7)
of_header("stack_unsaid", PT_GNU_STACK, type=0)
of_header("interpreter", PT_GNU_STACK, type=PT_INTERP)
of_header("text_not_executable", PT_LOAD, 1, flags=4)
of_header("data_not_writable", PT_LOAD, 3, flags=4)
of_header("tls_large", PT_TLS, memsz=1 << 20)
of_header("tls_align_odd", PT_TLS, align=3)


@case
def no_segments(elf):
    for _ in range(4):
        elf.set_header(PT_LOAD, type=0)


@case
def cut_in_the_data(elf):
    del elf.data[elf.offset(elf.symbol("spare")[1]):]


@case
def cut_behind_the_data(elf):
    del elf.data[elf.get(40, 8):]


# ---- the dynamic section

of_dynamic("relaent", DT_RELAENT, 23)
of_dynamic("syment", DT_SYMENT, 23)
of_dynamic("strsz_0", DT_STRSZ, 0)
of_dynamic("pltrel_rel", DT_PLTREL, 17)
of_dynamic("strtab_nowhere", DT_STRTAB, 1 << 40)
of_dynamic("symtab_nowhere", DT_SYMTAB, 1 << 40)
of_dynamic("rela_nowhere", DT_RELA, 1 << 40)
of_dynamic("relasz_large", DT_RELASZ, lambda v: v + 24 * 100000)
of_dynamic("jmprel_nowhere", DT_JMPREL, 1 << 40)
of_dynamic("relacount_1000", DT_RELACOUNT, 1000)
of_dynamic("relacount_less", DT_RELACOUNT, 1)
of_dynamic("gnu_hash_nowhere", DT_GNU_HASH, 1 << 40)
of_dynamic("versym_nowhere", DT_VERSYM, 1 << 40)
of_dynamic("verneed_nowhere", DT_VERNEED, 1 << 40)
of_dynamic("init_nowhere", DT_INIT, 1 << 40)
of_dynamic("init_in_data", DT_INIT, lambda _: 8)
of_dynamic("textrel", DT_TEXTREL, 0)
of_dynamic("flags_nodlopen", DT_FLAGS_1, 0x40)
of_dynamic("flags_pie", DT_FLAGS_1, 0x08000000)
of_dynamic("flags_initfirst_nodelete", DT_FLAGS_1, 0x28)
of_dynamic("flags_static_tls", DT_FLAGS, 0x10)
of_dynamic("flags_symbolic_textrel", DT_FLAGS, 0x6)


@case
def flags_static_tls_large(elf):
    """The flag alone: no relocation asks for static room."""
    elf.set_dynamic(DT_FLAGS, 0x10)
    elf.set_header(PT_TLS, memsz=1 << 16)


@case
def strtab_missing(elf):
    elf.drop_dynamic(DT_STRTAB)


@case
def symtab_missing(elf):
    elf.drop_dynamic(DT_SYMTAB)


def without(name, tag):
    CASES[name] = lambda elf: elf.drop_dynamic(tag)


without("relasz_missing", DT_RELASZ)
without("relaent_missing", DT_RELAENT)
without("pltrelsz_missing", DT_PLTRELSZ)
without("jmprel_missing", DT_JMPREL)
without("init_arraysz_missing", 27)
of_dynamic("init_array_askew", 25, lambda v: v + 1)
of_dynamic("init_array_elsewhere", 25, lambda v: v + 0x100)


@case
def init_array_leads_to_data(elf):
    """The first relocation is its: by the linker's order."""
    elf.put(elf.relocation(DT_RELA, 0) + 16, 8, 8)


@case
def versym_missing(elf):
    elf.drop_dynamic(DT_VERSYM)


@case
def versym_and_verneed_missing(elf):
    elf.drop_dynamic(DT_VERSYM)
    elf.drop_dynamic(DT_VERNEED)


@case
def hash_missing(elf):
    elf.drop_dynamic(DT_GNU_HASH)


@case
def dynamic_ends_at_once(elf):
    elf.put(next(elf.entries())[0], DT_NULL, 8)


@case
def dynamic_has_soname_twice(elf):
    elf.add_dynamic(DT_SONAME, elf.spare_string("one"))
    elf.add_dynamic(DT_SONAME, elf.spare_string("two"))


@case
def strtab_twice(elf):
    """The last one counts."""
    elf.add_dynamic(DT_STRTAB, elf.spare(b"\0" * 4096))


@case
def needs_nothing_by_name(elf):
    elf.add_dynamic(DT_NEEDED, elf.spare_string(""))


@case
def needs_a_name_far_away(elf):
    elf.add_dynamic(DT_NEEDED, 1 << 40)


@case
def needs_the_unknown(elf):
    elf.add_dynamic(DT_NEEDED, elf.spare_string("libnowhere.so.3"))


@case
def needs_a_path(elf):
    elf.add_dynamic(DT_NEEDED, elf.spare_string("/nowhere/libm.so.6"))


@case
def needs_libmvec(elf):
    elf.add_dynamic(DT_NEEDED, elf.spare_string("libmvec.so.1"))


@case
def filter_missing(elf):
    elf.add_dynamic(DT_FILTER, elf.spare_string("libnowhere.so.3"))


@case
def auxiliary_missing(elf):
    elf.add_dynamic(DT_AUXILIARY, elf.spare_string("libnowhere.so.3"))


# ---- names

@case
def name_nobody_has(elf):
    elf.put(elf.symbol("puts")[0], elf.spare_string("nobody_has_this"), 4)


@case
def name_nobody_has_weak(elf):
    at = elf.symbol("puts")[0]
    elf.put(at, elf.spare_string("nobody_has_this"), 4)
    elf.put(at + 4, 0x22, 1)


@case
def name_nobody_has_hidden(elf):
    """Undefined and hidden: the loader does not look for it."""
    at = elf.symbol("puts")[0]
    elf.put(at, elf.spare_string("nobody_has_this"), 4)
    elf.put(at + 5, 2, 1)


@case
def name_without_relocation(elf):
    """As `.globl` alone makes it."""
    at = elf.symbol("puts")[0]
    elf.put(elf.of_symbol("puts") + 12, elf.symbol("pow")[2], 4)
    elf.put(at, elf.spare_string("nobody_has_this"), 4)


@case
def name_outside_of_strings(elf):
    elf.put(elf.symbol("puts")[0], 0xffffff00, 4)


@case
def name_empty(elf):
    elf.put(elf.symbol("puts")[0], 0, 4)


@case
def name_of_unknown_binding(elf):
    """Not weak, so it must be found."""
    at = elf.symbol("puts")[0]
    elf.put(at, elf.spare_string("nobody_has_this"), 4)
    elf.put(at + 4, 0xe2, 1)


@case
def own_name_is_looked_for(elf):
    """Defined, and of a relocation, but in no chain of the hash table."""
    elf.put(elf.of_symbol("puts") + 12, elf.symbol("work")[2], 4)


# ---- hash tables

@case
def gnu_hash_bloom_empty(elf):
    at = elf.offset(elf.dynamic(DT_GNU_HASH))
    elf.data[at + 16:at + 16 + 8 * elf.get(at + 8, 4)] = bytes(8 * elf.get(at + 8, 4))


@case
def gnu_hash_bloom_size_3(elf):
    elf.put(elf.offset(elf.dynamic(DT_GNU_HASH)) + 8, 3, 4)


@case
def gnu_hash_no_buckets(elf):
    elf.put(elf.offset(elf.dynamic(DT_GNU_HASH)), 0, 4)


@case
def gnu_hash_no_buckets_own_name(elf):
    elf.put(elf.offset(elf.dynamic(DT_GNU_HASH)), 0, 4)
    elf.put(elf.of_symbol("puts") + 12, elf.symbol("work")[2], 4)


@case
def gnu_hash_empty_buckets_own_name(elf):
    at = elf.offset(elf.dynamic(DT_GNU_HASH))
    buckets = at + 16 + 8 * elf.get(at + 8, 4)
    elf.data[buckets:buckets + 4 * elf.get(at, 4)] = bytes(4 * elf.get(at, 4))
    elf.put(elf.of_symbol("puts") + 12, elf.symbol("work")[2], 4)


# ---- relocations

def of_relocation(name, symbol, offset, value, width):
    CASES[name] = lambda elf: elf.put(elf.of_symbol(symbol) + offset, value, width)


of_relocation("relocation_unknown", "puts", 8, 200, 4)
of_relocation("relocation_none", "puts", 8, 0, 4)
of_relocation("relocation_outside", "puts", 0, 1 << 40, 8)
of_relocation("relocation_in_text", "puts", 0, 0x10, 8)
of_relocation("relocation_symbol_far", "puts", 12, 0x00ffffff, 4)


@case
def relocation_in_text_told(elf):
    elf.put(elf.of_symbol("puts"), 0x10, 8)
    elf.add_dynamic(DT_TEXTREL, 0)


@case
def relocation_static_tls(elf):
    """Access to its own thread-local variable by the offset from the thread pointer."""
    at = elf.of_symbol("__cxa_finalize")
    elf.put(at + 8, 18, 4)
    elf.put(at + 12, 0, 4)


@case
def relocation_static_tls_large(elf):
    relocation_static_tls(elf)
    elf.set_header(PT_TLS, memsz=1 << 16)


# ---- relative relocations, packed

def relr(elf, *words):
    elf.add_dynamic(DT_RELR, elf.spare(struct.pack(f"<{len(words)}Q", *words)))
    elf.add_dynamic(DT_RELRSZ, 8 * len(words))
    elf.add_dynamic(DT_RELRENT, 8)


@case
def relr_unversioned(elf):
    """It needs libc and does not say that it needs one with DT_RELR."""
    relr(elf, elf.spare(bytes(64)))


@case
def relr_outside(elf):
    elf.drop_dynamic(DT_NEEDED)
    elf.drop_dynamic(DT_VERNEED)
    elf.drop_dynamic(DT_VERSYM)
    relr(elf, 1 << 40)


# ---- versions

def verneed(elf):
    """(entry, first auxiliary) of the last library."""
    at = elf.offset(elf.dynamic(DT_VERNEED))
    return at, at + elf.get(at + 8, 4)


@case
def verneed_version_2(elf):
    elf.put(verneed(elf)[0], 2, 2)


@case
def verneed_count_0(elf):
    elf.put(verneed(elf)[0] + 2, 0, 2)


@case
def verneed_hash_wrong(elf):
    elf.put(verneed(elf)[1], 1, 4)


@case
def verneed_unknown_version(elf):
    aux = verneed(elf)[1]
    elf.put(aux, elf_hash("GLIBC_2.99"), 4)
    elf.put(aux + 8, elf.spare_string("GLIBC_2.99"), 4)


@case
def verneed_unknown_version_weak(elf):
    verneed_unknown_version(elf)
    aux = verneed(elf)[1]
    elf.put(aux + 4, 2, 2)
    name = elf.get(aux + 6, 2)
    table = elf.offset(elf.dynamic(DT_VERSYM))
    number = 1
    while elf.get(table + 2 * number, 2) not in (1, 0) or number < 12:
        if elf.get(table + 2 * number, 2) == name:
            elf.put(table + 2 * number, 1, 2)
        number += 1
        if number > 40:
            break


@case
def versym_far(elf):
    elf.put(elf.offset(elf.dynamic(DT_VERSYM)) + 2 * elf.symbol("puts")[2], 0x7000, 2)


@case
def versym_global(elf):
    """A name without a version finds the oldest or the only one."""
    elf.put(elf.offset(elf.dynamic(DT_VERSYM)) + 2 * elf.symbol("puts")[2], 1, 2)


def make(name, source, target):
    """Writes the case @name, made of the sound library @source."""
    elf = Elf(source)
    CASES[name](elf)
    open(target, "wb").write(elf.data)
