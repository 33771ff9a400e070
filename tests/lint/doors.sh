#!/bin/sh
# One door per library: its header is included by exactly one .c, and by no header. libarchive has two doors:
# reading and writing.
set -eu
bad=0
check() { # name, pattern, most
	files=$(grep -rlE "^#[[:space:]]*include[[:space:]]*<($2)" builder --include='*.[ch]' || true)
	for header in $(echo "$files" | grep '\.h$' || true); do
		echo "$header: includes $1, which only a .c may"
		bad=1
	done
	count=$(echo "$files" | grep -c '\.c$' || true)
	if [ "$count" -gt "$3" ]; then
		# shellcheck disable=SC2086 # one line for all of them
		echo "$1 has $count doors, $3 allowed:" $files
		bad=1
	fi
}
check libgit2 'git2' 1
check libcurl 'curl/' 1
check libarchive 'archive' 2
check libzip 'zip\.h' 1
check libelf 'libelf|gelf' 0
check SQLite 'sqlite3' 1
check popt 'popt' 1
check libcrypto 'openssl/(evp|pem|x509|bio|core|rand|sha)' 1
check libssl 'openssl/ssl' 1
check nghttp2 'nghttp2' 1
check protobuf-c 'protobuf-c' 0
check libxml2 'libxml/' 1
check zlib 'zlib' 1
check zstd 'zstd' 1
# A function that is declared by hand goes around the door.
hand=$(grep -nrE '^(extern )?[a-z][a-z_ ]*[ *](zlibVersion|(inflate|deflate|crc32|compress)[A-Z_a-z0-9]*|(ZSTD|sqlite3|curl|git|zip|EVP|xml|elf|gelf)_?[A-Z_a-z0-9]*)\(.*\);' \
	builder --include='*.c' | grep -v 'static' || true)
if [ -n "$hand" ]; then
	echo "declared by hand:" "$hand"
	bad=1
fi
exit $bad
