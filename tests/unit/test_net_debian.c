/* test_net_debian.c - apt's lists as they are found on hosts, in images and in clouds. */
#include "test.h"

#include "base/fs.h"
#include "net/debian.h"

static void
put(const char *root, const char *path, const char *text, struct ws_arena *a)
{
	struct ws_err err;
	const char *full = ws_arena_printf(a, "%s%s", root, path);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, full), &err), err);
	assert_ok(ws_fs_write(full, text, strlen(text), 0644, &err), err);
}

/* The mirror that one list leads to; NULL: none. */
static const char *
found(const char *path, const char *text, struct ws_arena *a)
{
	const char *root = ws_test_dir(a);
	put(root, path, text, a);
	struct ws_debian_mirror mirror;
	if (!ws_debian_mirror_find(root, a, &mirror)) {
		return NULL;
	}
	assert_string_equal(mirror.file, path);
	return mirror.url;
}

WS_TEST(one_line_lists)
{
	static const char path[] = "/etc/apt/sources.list";
	assert_string_equal(found(path,
							"# deb http://commented/debian bookworm main\n"
							"deb http://security.mirror/debian-security bookworm-security main\n"
							"deb-src http://src/debian bookworm main\n"
							"deb http://mirror/debian/ bookworm main contrib # here\n",
							a),
		"http://mirror/debian");
	assert_string_equal(
		found(path,
			"deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
			"https://mirror/pub/debian bookworm main\n",
			a),
		"https://mirror/pub/debian");
	assert_null(found(path, "deb cdrom:[Debian 12]/ bookworm main\n", a));
	assert_null(found(path, "", a));
	assert_null(found(path, "deb\ndeb [\ndeb []\ndeb http://\ndeb http://x\ndeb [a=b", a));
}

WS_TEST(third_parties_are_distinguished)
{
	static const char path[] = "/etc/apt/sources.list.d/x.list";
	assert_null(found(path,
		"deb [signed-by=/etc/apt/keyrings/docker.gpg] https://download/linux/debian bookworm "
		"stable\n"
		"deb [signed-by=/etc/apt/keyrings/lab.gpg] https://packages/runner/debian bookworm main\n"
		"deb https://download/linux/debian bookworm stable\n"
		"deb https://node/node_20.x nodistro main\n",
		a));
	/* Without a keyring the shorter path is the more likely one. */
	assert_string_equal(found(path,
							"deb https://packages/runner/debian/ bookworm main\n"
							"deb http://mirror/debian bookworm main\n",
							a),
		"http://mirror/debian");
}

WS_TEST(deb822_lists)
{
	static const char path[] = "/etc/apt/sources.list.d/debian.sources";
	assert_string_equal(found(path,
							"Types: deb\n"
							"# http://snapshot/archive/debian/20250520T000000Z\n"
							"URIs: http://security/debian-security\n"
							"Suites: bookworm-security\n"
							"Components: main\n"
							"Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
							"\n"
							"Types: deb deb-src\n"
							"URIs: http://mirror/debian\n"
							"Suites: bookworm\n"
							" bookworm-updates\n"
							"components: main\n"
							"Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
							a),
		"http://mirror/debian");
	assert_null(found(path,
		"Enabled: no\nTypes: deb\nURIs: http://mirror/debian\nSuites: x\nComponents: main\n", a));
	assert_null(found(path,
		"Types: deb\nURIs: http://mirror/debian\nSuites: x\nComponents: main\n"
		"Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDMEY\n",
		a));
	assert_string_equal(
		found(path,
			"Types: deb\nURIs: http://snapshot/archive/debian/20250520T000000Z/\nSuites: x\n"
			"Components: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.pgp\n",
			a),
		"http://snapshot/archive/debian/20250520T000000Z");
}

WS_TEST(mirror_lists_are_followed)
{
	const char *root = ws_test_dir(a);
	put(root, "/etc/apt/mirrors/debian.list", "# ours\nhttps://cloud/debian\tpriority:1\n", a);
	put(root, "/etc/apt/sources.list.d/debian.sources",
		"Types: deb\nURIs: mirror+file:///etc/apt/mirrors/debian.list\nSuites: x\nComponents: "
		"main\n",
		a);
	struct ws_debian_mirror mirror;
	assert_true(ws_debian_mirror_find(root, a, &mirror));
	assert_string_equal(mirror.url, "https://cloud/debian");
	assert_string_equal(mirror.file, "/etc/apt/sources.list.d/debian.sources");
}

/* Its archive has other files, and is more certain than a third party's for Debian. */
WS_TEST(ubuntus_archive_is_not_used)
{
	assert_null(found("/etc/apt/sources.list.d/ubuntu.sources",
		"Types: deb\nURIs: http://archive/ubuntu/\nSuites: noble noble-updates\n"
		"Components: main universe\nSigned-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg\n"
		"\nTypes: deb\nURIs: http://third/debian\nSuites: x\nComponents: main\n",
		a));
}

WS_TEST(the_most_certain_list_wins)
{
	const char *root = ws_test_dir(a);
	put(root, "/etc/apt/sources.list", "deb http://unsigned/debian bookworm main\n", a);
	put(root, "/etc/apt/sources.list.d/b.sources",
		"Types: deb\nURIs: http://first/debian http://second/debian\nSuites: x\nComponents: main\n"
		"Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
		a);
	put(root, "/etc/apt/sources.list.d/c.list.disabled", "deb http://disabled/debian x main\n", a);
	struct ws_debian_mirror mirror;
	assert_true(ws_debian_mirror_find(root, a, &mirror));
	assert_string_equal(mirror.url, "http://first/debian");
	assert_false(ws_debian_mirror_find(ws_test_dir(a), a, &mirror));
}
