/* crypto.c - the door to libcrypto. SHA-256: 1.7 GB/s with SHA extensions. */
#include "base/crypto.h"

#include "base/fs.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <errno.h>
#include <fcntl.h>

/* A hasher is a context of libcrypto, a key one of its keys. */
static EVP_MD_CTX *
context_of(struct ws_hasher *h)
{
	return (EVP_MD_CTX *)(void *)h;
}

static struct ws_digest
hex_of(const unsigned char bytes[32])
{
	static const char digits[] = "0123456789abcdef";
	struct ws_digest digest;
	for (size_t i = 0; i < 32; i++) {
		digest.hex[2 * i] = digits[bytes[i] >> 4];
		digest.hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	digest.hex[64] = '\0';
	return digest;
}

struct ws_digest
ws_digest_bytes(const void *bytes, size_t len)
{
	unsigned char raw[32];
	if (EVP_Digest(bytes, len, raw, NULL, EVP_sha256(), NULL) != 1) {
		abort();
	}
	return hex_of(raw);
}

bool
ws_digest_file(const char *path, struct ws_digest *digest, uint64_t *size, struct ws_err *err)
{
	WS_AUTO_FD int fd = ws_fs_open_regular(path, 0, NULL, err);
	if (fd < 0) {
		return false;
	}
	struct ws_hasher *h = ws_hasher_make();
	char chunk[65536];
	uint64_t total = 0;
	ssize_t got;
	while ((got = read(fd, chunk, sizeof(chunk))) > 0) {
		ws_hasher_add(h, chunk, (size_t)got);
		total += (uint64_t)got;
	}
	if (got < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", path);
		ws_hasher_drop(h);
		return false;
	}
	*digest = ws_hasher_finish(h);
	if (size) {
		*size = total;
	}
	return true;
}

bool
ws_digest_is(const struct ws_digest *digest, const char *hex)
{
	return strcmp(digest->hex, hex) == 0;
}

bool
ws_digest_eq(const struct ws_digest *x, const struct ws_digest *y)
{
	return strcmp(x->hex, y->hex) == 0;
}

bool
ws_digest_parse(const char *hex, struct ws_digest *digest)
{
	if (strlen(hex) != 64 || strspn(hex, "0123456789abcdefABCDEF") != 64) {
		return false;
	}
	unsigned char raw[32];
	for (size_t i = 0; i < 32; i++) {
		raw[i] = (unsigned char)(ws_hex_digit(hex[2 * i]) << 4 | ws_hex_digit(hex[2 * i + 1]));
	}
	*digest = hex_of(raw);
	return true;
}

void
ws_digest_base64(const struct ws_digest *digest, char text[WS_DIGEST_BASE64])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned bits = 0;
	unsigned held = 0;
	size_t n = 0;
	for (size_t i = 0; i < 64; i++) {
		bits = bits << 4 | (unsigned)ws_hex_digit(digest->hex[i]);
		held += 4;
		if (held >= 6) {
			held -= 6;
			text[n++] = digits[bits >> held & 63];
		}
	}
	text[n++] = digits[bits << (6 - held) & 63];
	text[n] = '\0';
}

struct ws_hasher *
ws_hasher_make(void)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	if (!context || EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1) {
		abort();
	}
	return (struct ws_hasher *)(void *)context;
}

void
ws_hasher_add(struct ws_hasher *h, const void *bytes, size_t len)
{
	if (EVP_DigestUpdate(context_of(h), bytes, len) != 1) {
		abort();
	}
}

void
ws_hasher_add_field(struct ws_hasher *h, const char *text)
{
	uint64_t len = strlen(text);
	unsigned char prefix[8];
	for (size_t i = 0; i < 8; i++) {
		prefix[i] = (unsigned char)(len >> (8 * i));
	}
	ws_hasher_add(h, prefix, sizeof(prefix));
	ws_hasher_add(h, text, (size_t)len);
}

struct ws_digest
ws_hasher_finish(struct ws_hasher *h)
{
	unsigned char raw[32];
	if (EVP_DigestFinal_ex(context_of(h), raw, NULL) != 1) {
		abort();
	}
	ws_hasher_drop(h);
	return hex_of(raw);
}

struct ws_digest
ws_digest_fields(const char *first, ...)
{
	struct ws_hasher *h = ws_hasher_make();
	va_list fields;
	va_start(fields, first);
	for (const char *field = first; field; field = va_arg(fields, const char *)) {
		ws_hasher_add_field(h, field);
	}
	va_end(fields);
	return ws_hasher_finish(h);
}

void
ws_hasher_drop(struct ws_hasher *h)
{
	EVP_MD_CTX_free(context_of(h));
}

/* ---- signatures ---- */

/* A PEM file of one key has some 120 bytes. */
#define LARGEST_KEY 4096

static EVP_PKEY *
pkey_of(const struct ws_sign_key *key)
{
	return (EVP_PKEY *)(uintptr_t)key;
}

/* A new file alone: a key that is there is never written over. */
static bool
write_new(const char *path, mode_t mode, BIO *bio, struct ws_err *err)
{
	char *text;
	long len = BIO_get_mem_data(bio, &text);
	WS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0 && errno == EEXIST) {
		return ws_err_set(
			err, WS_ERR_IO, "'%s' is there already, and keys are not written over", path);
	}
	if (fd < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", path);
	}
	if (!ws_fs_write_all(fd, text, (size_t)len) || fsync(fd) < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", path);
		unlink(path);
		return false;
	}
	return true;
}

bool
ws_sign_key_make(const char *path, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *public_path = ws_arena_printf(a, "%s.pub", path);
	EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	BIO *private_half = BIO_new(BIO_s_secmem());
	BIO *public_half = BIO_new(BIO_s_mem());
	if (!pkey || !private_half || !public_half
		|| !PEM_write_bio_PKCS8PrivateKey(private_half, pkey, NULL, NULL, 0, NULL, NULL)
		|| !PEM_write_bio_PUBKEY(public_half, pkey)) {
		abort();
	}
	bool made = write_new(path, 0600, private_half, err);
	if (made && !write_new(public_path, 0644, public_half, err)) {
		unlink(path);
		made = false;
	}
	BIO_free(private_half);
	BIO_free(public_half);
	EVP_PKEY_free(pkey);
	return made;
}

static struct ws_sign_key *
keep(EVP_PKEY *pkey, const char *path, const char *what, struct ws_err *err)
{
	if (!pkey || !EVP_PKEY_is_a(pkey, "ED25519")) {
		EVP_PKEY_free(pkey);
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is not %s key of Ed25519 (PEM)", path, what);
		return NULL;
	}
	return (struct ws_sign_key *)(void *)pkey;
}

/* A key with a pass phrase is refused without a prompt. */
static int
no_phrase(char *phrase WS_UNUSED, int size WS_UNUSED, int writes WS_UNUSED, void *self WS_UNUSED)
{
	return -1;
}

struct ws_sign_key *
ws_sign_key_read(const char *path, struct ws_err *err)
{
	char text[LARGEST_KEY];
	struct stat status;
	WS_AUTO_FD int fd = ws_fs_open_regular(path, 0, &status, err);
	if (fd < 0) {
		return NULL;
	}
	if (status.st_mode & 077) {
		ws_err_set(err, WS_ERR_CONFIG, "the private key '%s' may be read by others", path);
		ws_err_cure(err, "chmod 600 %s", path);
		return NULL;
	}
	ssize_t got = read(fd, text, sizeof(text));
	BIO *bio = BIO_new_mem_buf(text, got > 0 ? (int)got : 0);
	EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, no_phrase, NULL);
	BIO_free(bio);
	explicit_bzero(text, sizeof(text));
	return keep(pkey, path, "a private", err);
}

struct ws_sign_key *
ws_sign_key_read_public(const char *path, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_fs_read_at_most(path, LARGEST_KEY, &text, err)) {
		return NULL;
	}
	BIO *bio = BIO_new_mem_buf(ws_buf_text(&text), (int)text.len);
	EVP_PKEY *pkey = PEM_read_bio_PUBKEY(bio, NULL, no_phrase, NULL);
	BIO_free(bio);
	return keep(pkey, path, "a public", err);
}

void
ws_sign_key_drop(struct ws_sign_key *key)
{
	EVP_PKEY_free(pkey_of(key));
}

struct ws_digest
ws_sign_key_id(const struct ws_sign_key *key)
{
	unsigned char raw[32];
	size_t len = sizeof(raw);
	if (EVP_PKEY_get_raw_public_key(pkey_of(key), raw, &len) != 1) {
		abort();
	}
	return ws_digest_bytes(raw, len);
}

void
ws_sign_bytes(const struct ws_sign_key *key, const void *bytes, size_t len,
	unsigned char signature[WS_SIGNATURE_BYTES])
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	size_t signature_len = WS_SIGNATURE_BYTES;
	if (!context || EVP_DigestSignInit(context, NULL, NULL, NULL, pkey_of(key)) != 1
		|| EVP_DigestSign(context, signature, &signature_len, bytes, len) != 1) {
		abort();
	}
	EVP_MD_CTX_free(context);
}

bool
ws_sign_holds(const struct ws_sign_key *key, const void *bytes, size_t len, const void *signature,
	size_t signature_len)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	if (!context) {
		abort();
	}
	bool holds = EVP_DigestVerifyInit(context, NULL, NULL, NULL, pkey_of(key)) == 1
		&& EVP_DigestVerify(context, signature, signature_len, bytes, len) == 1;
	EVP_MD_CTX_free(context);
	return holds;
}
