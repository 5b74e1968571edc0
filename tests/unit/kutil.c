/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of kutil: numbers, digests, random streams, files. */
#include "kutil.h"

#include <errno.h>
#include <stdlib.h>

#include "tap.h"

static void
test_numbers(void)
{
	CHECK(knum_long("42", 0, 100, "n") == 42);
	CHECK(knum_double("-1.5e3", -1e9, 1e9, "x") == -1500);
	CHECK_EXIT(K_USAGE, knum_long("101", 0, 100, "n"));
	CHECK_EXIT(K_USAGE, knum_long("4x", 0, 100, "n"));
	CHECK_EXIT(K_USAGE, knum_long("", 0, 100, "n"));
	CHECK_EXIT(K_USAGE, knum_double("nan", 0, 1, "x"));
	CHECK_EXIT(K_USAGE, knum_double("1e400", 0, 1e308, "x"));
}

static void
test_digest(void)
{
	char hex[65];

	ksha256_hex("abc", 3, hex);
	CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	ksha256_hex("", 0, hex);
	CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void
test_streams(void)
{
	struct krng a, b;
	int histogram[5] = { 0 };
	double weight[3] = { 0, 3, 1 }, none[2] = { 0, 0 };
	int heavy = 0;

	krng_init(&a, 42, 7, 2, "sample");
	krng_init(&b, 42, 7, 2, "sample");
	CHECK(krng_u64(&a) == krng_u64(&b));
	krng_init(&b, 42, 7, 2, "tips");
	CHECK(krng_u64(&a) != krng_u64(&b));
	for (int i = 0; i < 10000; i++)
		histogram[krng_below(&a, 5)]++;
	for (int i = 0; i < 5; i++)
		CHECK(histogram[i] > 1800 && histogram[i] < 2200);
	for (int i = 0; i < 4000; i++) {
		size_t k = krng_weighted(&a, weight, 3);

		if (k == 0)
			heavy = -100000;
		heavy += k == 1;
	}
	CHECK(heavy > 2850 && heavy < 3150);
	CHECK(krng_weighted(&a, none, 2) < 2);
	CHECK(krng_double(&a) < 1);
}

static void
test_buffers(void)
{
	struct kbuf b = { 0 };
	/* NUL, a lone 0x9b, then letters of UTF-8 that hold such bytes, and U+009B. */
	char text[] = "a\033[31mb\tc\n\177";
	char high[] = "a\0\x9b\x07\x62 \xc3\x9b \xe2\x82\xac \xc2\x9b\x33\x31m \x85";

	kbuf_puts(&b, "x");
	kbuf_printf(&b, "%d-%s", 7, "y");
	CHECK_STR(b.data, "x7-y");
	CHECK(b.len == 4);
	kbuf_free(&b);
	CHECK(!b.data && !b.len);
	kmask_controls(text);
	CHECK_STR(text, "a?[31mb\tc\n?");
	kmask_bytes(high, sizeof high - 1);
	CHECK(!memcmp(high, "a???b \xc3\x9b \xe2\x82\xac ??31m ?", sizeof high));
	CHECK(kbom("\xef\xbb\xbf", 3) == 3 && kbom("\xef\xbb\xbfx", 4) == 3);
	CHECK(!kbom("\xef\xbb\xbf", 2) && !kbom("x\xef\xbb\xbf", 4) && !kbom(NULL, 0));
}

/* A link to itself, which is neither there nor not there; a dangling one is not there. */
static void
test_presence(const char *path)
{
	struct stat st;
	char *below = kasprintf("%s/f", path);

	CHECK(!kis_there(path) && !kis_there(below));
	CHECK(!symlink(path, path));
	CHECK_EXIT(K_IO, kis_there(path));
	CHECK_EXIT(K_IO, kis_folder(path));
	CHECK_EXIT(K_IO, kfind(path, &st));
	CHECK(kfind_link(path, &st) && S_ISLNK(st.st_mode));
	unlink(path);
	CHECK(!symlink(below, path));
	unlink(below);
	unlink(path);
	CHECK(!symlink("/nonexistent/f", path) && !kis_there(path));
	unlink(path);
	free(below);
}

static void
test_files(void)
{
	char dir[] = "/tmp/kutil-test.XXXXXX", *path, *text;
	size_t len;

	CHECK(mkdtemp(dir) != NULL);
	path = kasprintf("%s/f", dir);
	CHECK(kwrite_file(path, "hello", 5) == 0);
	text = kread_file(path, 100, &len);
	CHECK_STR(text, "hello");
	CHECK(len == 5);
	free(text);
	CHECK(!kread_file(path, 4, &len) && errno == EFBIG);
	CHECK(kwrite_file("/nonexistent/f", "x", 1) < 0);
	CHECK_EXIT(K_USAGE, kread_file_or_die("/nonexistent", 10, NULL));
	CHECK(kwrite_file(path, "a\nb\0c", 5) == 0);
	text = kread_file(path, 100, &len);
	CHECK(len == 5 && !memcmp(text, "a\nb\0c", 6));
	free(text);
	text = kmemdup("b\0c", 3);
	CHECK(!memcmp(text, "b\0c", 4));
	free(text);
	CHECK_EXIT(K_USAGE, kread_text_or_die(path, 100));
	CHECK(
	    kis_there(path) && !kis_folder(path) && kis_folder(dir) && !kis_folder("/nonexistent"));
	unlink(path);
	test_presence(path);
	rmdir(dir);
	free(path);
	setenv("KILN_NOW", "2026-01-01T00:00:00Z", 1);
	CHECK_STR(know_text(), "2026-01-01T00:00:00Z");
	unsetenv("KILN_NOW");
	CHECK(strlen(know_text()) == 20);
	CHECK_EXIT(K_MISSING, khelper_path("no_such_helper"));
	CHECK_STR(ktool_path("no_such_tool"), "no_such_tool");
	CHECK(kis_word('_') && kis_word('9') && kis_word('z') && !kis_word('-') &&
	    !kis_word('\xc3') && !kis_word('\0'));
	CHECK_EXIT(K_MISSING, kdata_path("no/such/data"));
}

static void
test_parts(void)
{
	char text[] = ",a,,bc;d,", found[16] = "";

	kpart_foreach(part, text, ",;")
		strcat(strcat(found, part), "|");
	CHECK_STR(found, "a|bc|d|");
	kpart_foreach(part, NULL, ",")
		CHECK(!part);
}

static void
test_secrets(void)
{
	static const char *const secret[] = { "HF_TOKEN=x", "GITHUB_TOKEN=", "AWS_PROFILE=x",
		"AWS_ACCESS_KEY_ID=x", "MY_API_KEY=x", "PGPASSWORD=x", "SSH_AUTH_SOCK=/x",
		"GH_PAT=x", "MYSQL_PWD=x", "DATABASE_URL=postgres://me:pass@host/db",
		"https_proxy=http://me:pass@proxy:3128", "GOOGLE_APPLICATION_CREDENTIALS=/x",
		"azure_x=1" };
	static const char *const plain[] = { "PATH=/bin", "LD_LIBRARY_PATH=/x", "PWD=/", "OLDPWD=/",
		"CUDA_VISIBLE_DEVICES=0", "http_proxy=http://proxy:3128", "KILN_LOCK_DIR=/tmp",
		"CPATH=/x", "GIT_SSH_COMMAND=ssh me@host", "OMP_NUM_THREADS=4" };
	char *value;

	for (size_t i = 0; i < LEN(secret); i++)
		CHECK(kutil_is_secret(secret[i]));
	for (size_t i = 0; i < LEN(plain); i++)
		CHECK(!kutil_is_secret(plain[i]));
	setenv("HF_TOKEN", "hidden", 1);
	value = getenv("HF_TOKEN");
	setenv("NOT_ONE", "seen", 1);
	kutil_init("kllm");
	CHECK_STR(getenv("HF_TOKEN"), "hidden");
	kutil_init("keval");
	CHECK(!getenv("HF_TOKEN") && !strcmp(value, "") && getenv("NOT_ONE"));
}

int
main(void)
{
	kutil_init("kutil");
	test_numbers();
	test_digest();
	test_streams();
	test_buffers();
	test_files();
	test_parts();
	test_secrets();
	return tap_done();
}
