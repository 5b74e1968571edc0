/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kio: what is a record, what is refused, what a stage may append, and that a failed
 * run leaves no file.
 */
#include "kio.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "kutil.h"
#include "tap.h"

static bool
parses(const char *line)
{
	struct krec rec;

	if (krec_parse(&rec, line, strlen(line)))
		return false;
	krec_free(&rec);
	return true;
}

static void
test_parse(void)
{
	CHECK(parses("{}"));
	CHECK(parses("{\"a\":1} "));
	CHECK(!parses("[]"));
	CHECK(!parses("1"));
	CHECK(!parses("{\"a\":1,\"a\":2}"));
	CHECK(!parses("{\"a\":1}x"));
	CHECK(!parses("{\"a\":\"\\u0000\"}"));
	CHECK(!parses("{\"a\":\"\xff\"}"));
	CHECK(!parses("{\"a\":1e999}"));
	CHECK(!parses("{\"a\":9223372036854775808}"));
	CHECK(!parses("{\"a\":"));
}

static void
write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		exit(99);
}

static void
read_all(const char *path)
{
	struct kin in;
	struct krec rec;

	kin_open(&in, path);
	while (kin_next(&in, &rec))
		krec_free(&rec);
	kin_close(&in);
}

static void
test_stream(void)
{
	struct kin in;
	struct krec rec;

	write_text(
	    "in", "\n{\"trial\":7,\"branch\":2}\n  \n{\"b\":{\"c\":\"x\",\"n\":2.5,\"t\":true}}\n");
	kin_open(&in, "in");
	CHECK(kin_next(&in, &rec) && rec.lineno == 2);
	CHECK_STR(krec_id(&rec), "007/02");
	krec_free(&rec);
	CHECK(kin_next(&in, &rec) && rec.lineno == 4);
	CHECK_STR(krec_str(&rec, "b.c"), "x");
	CHECK(kjson_num_or(rec.json, "b.n", 0) == 2.5);
	CHECK(kjson_int_or(rec.json, "b.n", 9) == 9);
	CHECK(kjson_bool_or(rec.json, "b.t", false));
	CHECK_STR(kjson_str_or(rec.json, "b.none", "def"), "def");
	CHECK_EXIT(K_USAGE, krec_str(&rec, "b.n"));
	CHECK_EXIT(K_USAGE, krec_str(&rec, "none"));
	krec_free(&rec);
	CHECK(!kin_next(&in, &rec));
	kin_close(&in);
	write_text("torn", "{\"a\":1}\n{\"a\":");
	CHECK_EXIT(K_USAGE, read_all("torn"));
	write_text("bad", "{\"a\":1}\n{a}\n");
	CHECK_EXIT(K_USAGE, read_all("bad"));
	CHECK_EXIT(K_USAGE, read_all("none"));
	CHECK_EXIT(K_IO, read_all("."));
}

static void
stage(const char *in_path, const char *member, bool commit)
{
	struct kin in;
	struct krec rec;
	json_t *value = json_pack("{s:i}", "x", 1);

	kin_open(&in, in_path);
	kout_open("out");
	while (kin_next(&in, &rec)) {
		kout_member(&rec, member, value);
		krec_free(&rec);
	}
	kout_json(value);
	kout_line("{}");
	json_decref(value);
	if (commit)
		kout_commit();
	exit(K_OK);
}

static void
test_output(void)
{
	char *text;

	write_text("one", "{\"b\":0.1, \"a\":\"x\"}\n{}\n");
	CHECK_EXIT(K_OK, stage("one", "eval", false));
	CHECK(access("out", F_OK) < 0);
	CHECK_EXIT(K_OK, stage("one", "eval", true));
	text = kread_file("out", 1000, NULL);
	CHECK_STR(text,
	    "{\"b\":0.1, \"a\":\"x\",\"eval\":{\"x\":1}}\n{\"eval\":{\"x\":1}}\n{\"x\":1}\n{}\n");
	free(text);
	CHECK_EXIT(K_USAGE, stage("one", "a", true));
	CHECK(system("ls out.* >/dev/null 2>&1") != 0);
	CHECK_EXIT(K_IO, kout_open("none/out"));
	CHECK_EXIT(K_IO,
	    (freopen("/dev/full", "w", stdout), kout_open("-"), kout_line("x"), kout_commit()));
}

/* How long text is in a record, and that no record is longer than its reader takes. */
static void
test_limits(void)
{
	static const char mixed[] = "a\"\\\n\x01\xc3\xa4\xff";
	size_t big = KIO_LINE_MAX - 8;
	char *text = kmalloc(big + 2);
	json_t *value, *clean = kjson_text(mixed, strlen(mixed));

	CHECK(kjson_fit(mixed, strlen(mixed), 100) == strlen(mixed));
	CHECK(kjson_fit(mixed, strlen(mixed), kjson_size(clean) - 2) == strlen(mixed));
	CHECK(kjson_fit(mixed, strlen(mixed), kjson_size(clean) - 3) == strlen(mixed) - 1);
	CHECK(kjson_fit("\x01\x01", 2, 11) == 1 && kjson_fit("\xc3\xa4", 2, 1) == 0 &&
	    kjson_fit("", 0, 0) == 0);
	CHECK(kjson_fit("a\0b", 3, 4) == 2);
	json_decref(clean);
	memset(text, 'x', big + 1);
	for (int over = 0; over < 2; over++) {
		value = json_pack("{s:o}", "a", json_stringn_nocheck(text, big - 1 + (size_t)over));
		CHECK_EXIT(over ? K_USAGE : K_OK,
		    (kout_open("long"), kout_json(value), kout_commit(), exit(K_OK)));
		json_decref(value);
	}
	CHECK_EXIT(K_OK, (read_all("long"), exit(K_OK)));
	free(text);
}

/* What is too long is refused before it is in memory. */
static void
test_memory(void)
{
	struct rusage usage;

	write_text("endless", "");
	CHECK(truncate("endless", (off_t)1 << 30) == 0);
	CHECK_EXIT(K_USAGE, read_all("endless"));
	CHECK(getrusage(RUSAGE_CHILDREN, &usage) == 0 && usage.ru_maxrss < 200 << 10);
	unlink("endless");
}

static void
test_text(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *want;
	} rows[] = {
		{ "plain", 5, "plain" },
		{ "a\0b", 3,
		    "a\xef\xbf\xbd"
		    "b" },
		{ "\xff", 1, "\xef\xbf\xbd" },
		{ "\xc3\xa4", 2, "\xc3\xa4" },
		{ "\xc3", 1, "\xef\xbf\xbd" },
		{ "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80" },
		{ "\xc0\x80", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "", 0, "" },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		json_t *s = kjson_text(rows[i].bytes, rows[i].len);

		CHECK_STR(json_string_value(s), rows[i].want);
		json_decref(s);
	}
}

static void
test_load(void)
{
	json_t *o;

	write_text("ok.json", "{\"a\":{\"b\":1}}");
	o = kjson_load("ok.json");
	CHECK(kjson_int_or(o, "a.b", 0) == 1);
	json_decref(o);
	write_text("list.json", "[1]");
	CHECK_EXIT(K_USAGE, kjson_load("list.json"));
	write_text("twice.json", "{\"a\":1,\"a\":1}");
	CHECK_EXIT(K_USAGE, kjson_load("twice.json"));
	write_text("mark.json", "\xef\xbb\xbf{}");
	CHECK_EXIT(K_USAGE, kjson_load("mark.json"));
}

static void
test_records(void)
{
	json_t *v;

	CHECK(!kin_first("nothing.ndjson") && !kin_all("nothing.ndjson"));
	write_text("empty.ndjson", "");
	CHECK(!kin_first("empty.ndjson") && !kin_all("empty.ndjson"));
	write_text("two.ndjson", "{\"a\":1}\n\n{\"a\":2}\n");
	v = kin_first("two.ndjson");
	CHECK(kjson_int_or(v, "a", 0) == 1);
	json_decref(v);
	v = kin_all("two.ndjson");
	CHECK(json_array_size(v) == 2 && kjson_int_or(json_array_get(v, 1), "a", 0) == 2);
	json_decref(v);
	write_text("torn.ndjson", "{\"a\":1}\n{\"a\":");
	v = kin_first("torn.ndjson");
	CHECK(v);
	json_decref(v);
	CHECK_EXIT(K_USAGE, kin_all("torn.ndjson"));
}

static int
by_number(const void *a, const void *b)
{
	return (
	    int)(json_integer_value(*(json_t *const *)a) - json_integer_value(*(json_t *const *)b));
}

static void
test_sort(void)
{
	json_t *list = json_pack("[i,i,i]", 3, 1, 2), *none = json_array();
	char *text;

	kjson_sort(list, by_number);
	text = json_dumps(list, JSON_COMPACT);
	CHECK_STR(text, "[1,2,3]");
	kjson_sort(none, by_number);
	CHECK(!json_array_size(none));
	json_decref(list);
	json_decref(none);
	free(text);
}

int
main(void)
{
	char dir[] = "/tmp/kio-test.XXXXXX";

	kutil_init("kio");
	if (!mkdtemp(dir) || chdir(dir))
		return 99;
	test_memory();
	test_parse();
	test_stream();
	test_output();
	test_text();
	test_limits();
	test_load();
	test_records();
	test_sort();
	return system("rm -rf \"$PWD\"") || tap_done();
}
