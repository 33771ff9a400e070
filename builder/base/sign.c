/* sign.c - a private key is never copied: libcrypto clears what it holds. */
#include "base/sign.h"

#include "base/buf.h"
#include "base/fs.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A PEM file of one key has some 120 bytes. */
#define LARGEST_KEY 4096

struct ws_sign_key {
	EVP_PKEY *pkey;
};

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
	struct ws_sign_key *key = calloc(1, sizeof(*key));
	if (!key) {
		abort();
	}
	key->pkey = pkey;
	return key;
}

/* A key with a pass phrase is refused: nobody is asked for one. */
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
	if (key) {
		EVP_PKEY_free(key->pkey);
		free(key);
	}
}

struct ws_digest
ws_sign_key_id(const struct ws_sign_key *key)
{
	unsigned char raw[32];
	size_t len = sizeof(raw);
	if (EVP_PKEY_get_raw_public_key(key->pkey, raw, &len) != 1) {
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
	if (!context || EVP_DigestSignInit(context, NULL, NULL, NULL, key->pkey) != 1
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
	bool holds = EVP_DigestVerifyInit(context, NULL, NULL, NULL, key->pkey) == 1
		&& EVP_DigestVerify(context, signature, signature_len, bytes, len) == 1;
	EVP_MD_CTX_free(context);
	return holds;
}
