#!/bin/sh
# Makes fuzz/corpus/elf/ again: small libraries with every table that elf/elf.c reads. The files
# that are checked in came from gcc 12.2 and binutils 2.40.
# shellcheck disable=SC2086 # $small is several words
set -eu
out=$(cd "$(dirname "$0")/corpus/elf" && pwd)
work=$(mktemp -d)
cd "$work"
small="-shared -fPIC -nostdlib -s -Wl,-z,noseparate-code -Wl,--build-id=none"
cat > tables.c <<'EOF'
__thread int slot;
extern __thread int wanted;
int value = 1;
static int chosen(void) { return 1; }
static int (*choose(void))(void) { return chosen; }
int late(void) __attribute__((ifunc("choose")));
extern int other(void), maybe(void) __attribute__((weak));
int work(void) { return other() + wanted + (maybe ? maybe() : slot); }
__attribute__((section(".nv_fatbin"), used)) static const int fatbin[4] = {(int)0xba55ed50, 0x100001};
EOF
gcc $small -Wl,-soname,libtables.so -Wl,-rpath,/x -o "$out/tables" tables.c
echo 'V_1 { global: first; }; V_2 { global: second; local: *; } V_1;' > map
echo 'int first(void) { return 1; } int second(void) { return 2; }' > versions.c
gcc $small -Wl,-soname,libversions.so -Wl,--version-script,map -o libversions.so versions.c
cp libversions.so "$out/defines_versions"
echo 'extern int first(void), second(void); int both(void) { return first() + second(); }' > user.c
gcc $small -o "$out/needs_versions" user.c libversions.so
gcc $small -Wl,--hash-style=sysv -Wl,-z,execstack -o "$out/old_hash" user.c libversions.so
echo 'int value; int *const at[8] __attribute__((used)) = {&value, &value};' > packed.c
gcc $small -Wl,-Bsymbolic -Wl,-z,pack-relative-relocs -o "$out/packed" packed.c
rm -r "$work"
