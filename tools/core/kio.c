/* SPDX-License-Identifier: Apache-2.0 */
/* kio: see kio.h. */
#include "kio.h"

#define LOAD_FLAGS (JSON_REJECT_DUPLICATES)

const char *
krec_parse(struct krec *rec, const char *line, size_t len)
{
	json_error_t e;
	json_t *json = json_loadb(line, len, LOAD_FLAGS, &e);

	if (json && !json_is_object(json)) {
		json_decref(json);
		json = NULL;
		snprintf(e.text, sizeof e.text, "not an object");
		e.column = 1;
	}
	if (!json)
		return kshown("column %d: %s", e.column, e.text);
	/* The member that a stage appends goes before the closing brace. */
	while (len && strchr(" \t\r", line[len - 1]))
		len--;
	rec->json = json;
	rec->line = kmemdup(line, len);
	rec->len = len;
	rec->file = "<memory>";
	rec->lineno = 1;
	return NULL;
}

void
krec_free(struct krec *rec)
{
	json_decref(rec->json);
	free(rec->line);
	rec->json = NULL;
	rec->line = NULL;
}

void
kin_open(struct kin *in, const char *path)
{
	*in = (struct kin){ 0 };
	if (!path || !strcmp(path, "-")) {
		in->f = stdin;
		in->file = "<stdin>";
		return;
	}
	in->file = path;
	in->f = fopen(path, "re");
	if (!in->f)
		kdie_errno(errno == ENOENT ? K_USAGE : K_IO, "%s", path);
}

/*
 * Reads a line with its newline into the buffer; returns its bytes, 0 at the end. Of a line that is
 * too long, only the beginning is read.
 */
static size_t
read_line(struct kin *in)
{
	size_t n = 0;
	int c;

	while (n <= KIO_LINE_MAX && (c = getc_unlocked(in->f)) != EOF) {
		if (n + 1 >= in->cap) {
			in->cap = in->cap ? in->cap * 2 : 4096;
			in->buf = krealloc(in->buf, in->cap);
		}
		in->buf[n++] = (char)c;
		if (c == '\n')
			break;
	}
	if (ferror(in->f))
		kdie_io("%s", in->file);
	return n;
}

const char *
kin_line(struct kin *in, size_t *len, char **fault)
{
	*fault = NULL;
	for (;;) {
		size_t n = read_line(in);

		in->too_long = n > KIO_LINE_MAX;
		if (!n || (in->too_long && in->lenient))
			return NULL;
		in->lineno++;
		if (in->too_long)
			*fault = kasprintf("%s:%ld: line longer than %zu bytes", in->file,
			    in->lineno, KIO_LINE_MAX);
		else if (in->buf[n - 1] != '\n')
			*fault = kasprintf("%s:%ld: truncated record (no newline at the end)",
			    in->file, in->lineno);
		if (*fault)
			return NULL;
		in->buf[--n] = '\0';
		if (strspn(in->buf, " \t\r") == n)
			continue;
		in->count++;
		*len = n;
		return in->buf;
	}
}

bool
kin_try(struct kin *in, struct krec *rec, char **fault)
{
	size_t len;
	const char *line = kin_line(in, &len, fault), *why;

	if (!line)
		return false;
	if ((why = krec_parse(rec, line, len))) {
		*fault = kasprintf("%s:%ld: %s", in->file, in->lineno, why);
		return false;
	}
	rec->file = in->file;
	rec->lineno = in->lineno;
	return true;
}

bool
kin_next(struct kin *in, struct krec *rec)
{
	char *fault;
	bool there = kin_try(in, rec, &fault);

	if (fault)
		kdie_usage("%s", fault);
	return there;
}

void
kin_close(struct kin *in)
{
	if (in->f && in->f != stdin)
		fclose(in->f);
	free(in->buf);
	*in = (struct kin){ 0 };
}

void
kin_end(struct kin *in)
{
	if (!in->count && in->f != stdin)
		kdie_usage("%s: contains no record", in->file);
	kin_close(in);
}

static json_t *
read_records(const char *path, size_t most)
{
	json_auto_t *list = json_array();
	struct krec rec;
	struct kin in;

	if (!kis_there(path))
		return NULL;
	kin_open(&in, path);
	while (json_array_size(list) < most && kin_next(&in, &rec)) {
		json_array_append(list, rec.json);
		krec_free(&rec);
	}
	kin_close(&in);
	return json_array_size(list) ? json_incref(list) : NULL;
}

json_t *
kin_first(const char *path)
{
	json_auto_t *list = read_records(path, 1);

	return json_incref(json_array_get(list, 0));
}

json_t *
kin_all(const char *path)
{
	return read_records(path, SIZE_MAX);
}

/* The only output file of a run. */
static FILE *out_file;
static char *out_path;
static char *out_tmp;
static bool out_terminal;
static pid_t out_owner;
static size_t out_record; /* bytes of the record so far */

static void
remove_temporary(void)
{
	/* A forked child that exits must not remove its parent's file. */
	if (out_tmp && out_owner == getpid())
		unlink(out_tmp);
}

static void
on_signal(int sig)
{
	remove_temporary();
	signal(sig, SIG_DFL);
	raise(sig);
}

void
kout_open(const char *path)
{
	struct stat st;
	int fd;

	if (!path || !strcmp(path, "-")) {
		out_file = stdout;
		out_terminal = isatty(STDOUT_FILENO);
		return;
	}
	/* Write to the target of a link such as /dev/stdout, and do not replace the link. */
	out_path = kfind_link(path, &st) && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
	if (!out_path)
		out_path = kstrdup(path);
	/* A device or a pipe: a regular file cannot replace it. */
	if (kfind(path, &st) && !S_ISREG(st.st_mode)) {
		out_file = fopen(path, "we");
		if (!out_file)
			kdie_io("%s", path);
		return;
	}
	fd = ktemporary(out_path, &out_tmp);
	if (fd < 0) {
		free(out_tmp);
		out_tmp = NULL;
		kdie_io("%s", path);
	}
	out_owner = getpid();
	atexit(remove_temporary);
	kcatch(on_signal);
	out_file = fdopen(fd, "w");
	if (!out_file)
		kdie_io("%s", path);
}

static void
put_bytes(const char *s, size_t len)
{
	if (len && fwrite(s, 1, len, out_file) != len)
		kdie_io("%s", out_path ?: "<stdout>");
	out_record += len;
}

/*
 * Ends a record with its newline. Somebody has to read it: better no record than one that the
 * reader refuses.
 */
static void
end_record(void)
{
	put_bytes("\n", 1);
	if (out_record > KIO_LINE_MAX)
		kdie_usage("%s: nothing was written: "
		           "the record would have %zu bytes, and the limit is %zu",
		    out_path ?: "<stdout>", out_record, KIO_LINE_MAX);
	out_record = 0;
}

static void
put_masked(const char *s, size_t len)
{
	auto_buf struct kbuf copy = { 0 };

	kbuf_add(&copy, s, len);
	kmask_bytes(copy.data, len);
	put_bytes(copy.data, len);
}

static void
put(const char *s, size_t len)
{
	if (out_terminal)
		put_masked(s, len);
	else
		put_bytes(s, len);
}

static int
put_chunk(const char *s, size_t len, void *arg)
{
	(void)arg;
	put(s, len);
	return 0;
}

static void
put_json(const json_t *value)
{
	if (json_dump_callback(value, put_chunk, NULL, KIO_DUMP | JSON_ENCODE_ANY) < 0)
		kdie(K_IO, "a value could not be written as JSON");
}

void
kout_member(const struct krec *rec, const char *name, const json_t *value)
{
	if (json_object_get(rec->json, name))
		kdie_usage(
		    "%s:%ld: the record already has a member '%s'", rec->file, rec->lineno, name);
	put(rec->line, rec->len - 1);
	if (json_object_size(rec->json))
		put(",", 1);
	put("\"", 1);
	put(name, strlen(name));
	put("\":", 2);
	put_json(value);
	put("}", 1);
	end_record();
}

void
kout_json(const json_t *value)
{
	put_json(value);
	end_record();
}

void
kout_line(const char *fmt, ...)
{
	kformatted(text, fmt);
	size_t len = strlen(text);

	put_masked(text, len);
	put_bytes("\n", !len || text[len - 1] != '\n');
	out_record = 0;
}

void
kout_raw(const char *line, size_t len)
{
	put(line, len);
	put_bytes("\n", 1);
	out_record = 0;
}

void
kout_commit(void)
{
	const char *name = out_path ?: "<stdout>";

	if (fflush(out_file) || ferror(out_file))
		kdie_io("%s", name);
	if (out_tmp && fsync(fileno(out_file)) < 0)
		kdie_io("%s", name);
	if (fclose(out_file))
		kdie_io("%s", name);
	if (out_tmp && (rename(out_tmp, out_path) < 0 || ksync_folder(out_path) < 0))
		kdie_io("%s", name);
	free(out_tmp);
	out_tmp = NULL;
	free(out_path);
	out_path = NULL;
}

void
kout_only(const char *path, const json_t *value)
{
	kout_open(path);
	kout_json(value);
	kout_commit();
}

/* Length of the character at S if a JSON string can contain it unchanged; else 0. */
static size_t
utf8_len(const char *s, size_t left)
{
	uint32_t c;

	return *s ? kutf8(s, left, &c) : 0;
}

json_t *
kjson_text(const char *bytes, size_t len)
{
	auto_buf struct kbuf b = kbuf_empty();
	json_t *text;

	for (size_t i = 0; i < len;) {
		size_t start = i, n;

		while (i < len && (n = utf8_len(bytes + i, len - i)))
			i += n;
		kbuf_slice(&b, bytes, start, i);
		if (i < len) {
			kbuf_puts(&b, "\xef\xbf\xbd");
			i++;
		}
	}
	text = json_stringn(b.data, b.len);
	if (!text)
		kdie(K_IO, "out of memory");
	return text;
}

json_t *
kjson_string(const char *text)
{
	return kjson_text(text, strlen(text));
}

size_t
kjson_fit(const char *bytes, size_t len, size_t max)
{
	size_t i = 0, out = 0;

	while (i < len) {
		unsigned char c = (unsigned char)bytes[i];
		size_t n = utf8_len(bytes + i, len - i), more = n ?: strlen("\xef\xbf\xbd");

		if (c == '"' || c == '\\' || (c && c < 0x20 && strchr("\b\f\n\r\t", c)))
			more = strlen("\\n");
		else if (c && c < 0x20)
			more = strlen("\\u0001");
		if (out + more > max)
			break;
		out += more;
		i += n ?: 1;
	}
	return i;
}

void
kjson_set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		kdie(K_IO, "'%s' cannot be stored: it is not valid JSON, or memory ran out", key);
}

char *
kjson_difference(const json_t *ought, const json_t *is, const char *at)
{
	json_auto_t *keys = NULL;

	if (json_equal(ought, is))
		return NULL;
	if (!json_is_object(ought) || !json_is_object(is))
		return kstrdup(at);
	keys = json_copy((json_t *)ought);
	json_object_update(keys, (json_t *)is);
	kjson_foreach_member(key, v, keys) {
		auto_free char *path = *at ? kasprintf("%s.%s", at, key) : kstrdup(key);
		char *found =
		    kjson_difference(json_object_get(ought, key), json_object_get(is, key), path);

		if (found)
			return found;
	}
	return NULL;
}

char *
kjson_told(const json_t *object, const char *path)
{
	const json_t *v = kjson_path(object, path);
	char *text = v ? json_dumps(v, KIO_DUMP | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))
	               : kstrdup("nothing");

	if (strlen(text) > 80)
		strcpy(text + 77, "...");
	return text;
}

json_t *
kjson_ensure(json_t *object, const char *key, json_t *value)
{
	json_t *own = json_object_get(object, key);

	if (own)
		json_decref(value);
	else
		json_object_set_new(object, key, value);
	return own ?: json_object_get(object, key);
}

void
kjson_count(json_t *object, const char *key, json_int_t n)
{
	kjson_set(object, key, json_integer(kjson_int_or(object, key, 0) + n));
}

size_t
kjson_size(const json_t *value)
{
	return json_dumpb(value, NULL, 0, KIO_DUMP | JSON_ENCODE_ANY);
}

const json_t *
kjson_path(const json_t *obj, const char *path)
{
	while (obj && *path) {
		size_t n = strcspn(path, ".");

		obj = json_object_getn(obj, path, n);
		path += n + (path[n] == '.');
	}
	return obj;
}

const char *
krec_str(const struct krec *rec, const char *path)
{
	const json_t *v = kjson_path(rec->json, path);

	if (!json_is_string(v))
		kdie_usage("%s:%ld: the record has no %s'%s'", rec->file, rec->lineno,
		    v ? "string " : "", path);
	return json_string_value(v);
}

const char *
kjson_str_or(const json_t *obj, const char *path, const char *def)
{
	const json_t *v = kjson_path(obj, path);

	return json_is_string(v) ? json_string_value(v) : def;
}

double
kjson_num_or(const json_t *obj, const char *path, double def)
{
	const json_t *v = kjson_path(obj, path);

	return json_is_number(v) ? json_number_value(v) : def;
}

long
kjson_int_or(const json_t *obj, const char *path, long def)
{
	const json_t *v = kjson_path(obj, path);

	return json_is_integer(v) ? (long)json_integer_value(v) : def;
}

bool
kjson_bool_or(const json_t *obj, const char *path, bool def)
{
	const json_t *v = kjson_path(obj, path);

	return json_is_boolean(v) ? json_is_true(v) : def;
}

const char *
kjson_str(const json_t *obj, const char *path)
{
	return kjson_str_or(obj, path, "");
}

double
kjson_num(const json_t *obj, const char *path)
{
	return kjson_num_or(obj, path, 0);
}

long
kjson_int(const json_t *obj, const char *path)
{
	return kjson_int_or(obj, path, 0);
}

bool
kjson_bool(const json_t *obj, const char *path)
{
	return kjson_bool_or(obj, path, false);
}

bool
kjson_is(const json_t *obj, const char *path, const char *text)
{
	return !strcmp(kjson_str(obj, path), text);
}

bool
kjson_has(const json_t *list, const char *text)
{
	return kany(kjson_foreach(item, list),
	    json_is_string(item) && !strcmp(json_string_value(item), text));
}

const char *
kjson_item(const json_t *list, size_t i)
{
	return json_string_value(json_array_get(list, i));
}

double *
kjson_numbers(const json_t *list, size_t *n)
{
	double *x = kcalloc(json_array_size(list), sizeof *x);

	*n = 0;
	kjson_foreach(number, list)
		x[(*n)++] = json_number_value(number);
	return x;
}

void
kjson_add(json_t *list, const char *text)
{
	json_array_append_new(list, json_string(text));
}

bool
kjson_enter(json_t *set, const char *key)
{
	bool fresh = !json_object_get(set, key);

	json_object_set_new(set, key, json_true());
	return fresh;
}

json_t *
kjson_find(const json_t *list, const char *key, const char *text)
{
	kjson_foreach(item, list)
		if (kjson_is(item, key, text))
			return item;
	return NULL;
}

void
kjson_sort(json_t *list, int (*order)(const void *, const void *))
{
	size_t n = json_array_size(list);
	auto_free json_t **item = kcalloc(n + 1, sizeof *item);

	kjson_foreach(v, list)
		item[kjson_at(v)] = json_incref(v);
	qsort(item, n, sizeof *item, order);
	json_array_clear(list);
	kforeach_of(one, item, n)
		json_array_append_new(list, *one);
}

/* What by_keys sorts by. */
static const char *const *sort_keys;

static int
by_keys(const void *a, const void *b)
{
	int order = 0;

	for (const char *const *key = sort_keys; *key && !order; key++) {
		bool down = **key == '-';
		const json_t *x = json_object_get(*(json_t *const *)a, *key + down),
		             *y = json_object_get(*(json_t *const *)b, *key + down);
		double p = json_number_value(x), q = json_number_value(y);

		order = json_is_string(x) && json_is_string(y)
		    ? strcmp(json_string_value(x), json_string_value(y))
		    : (p > q) - (p < q);
		order = down ? -order : order;
	}
	return order;
}

void
kjson_sort_keys(json_t *list, const char *const *keys)
{
	sort_keys = keys;
	kjson_sort(list, by_keys);
}

void
kjson_share(json_t *to, const json_t *from, const char *const *keys)
{
	for (; *keys; keys++) {
		json_t *v = json_object_get(from, *keys);

		if (v && (!json_is_array(v) || json_array_size(v)))
			kjson_set(to, *keys, json_incref(v));
	}
}

json_t *
kjson_load(const char *path)
{
	size_t len;
	auto_free char *text = kread_file_or_die(path, KIO_LINE_MAX, &len);
	json_error_t e;
	json_t *json = json_loadb(text, len, LOAD_FLAGS, &e);

	if (len >= 2 && ((unsigned char)*text >= 0xfe || !memcmp(text, "\xef\xbb", 2)))
		kdie_usage(
		    "%s:1:1: begins with a byte order mark; save it as UTF-8 without one", path);
	if (!json)
		kdie_usage("%s:%d:%d: %s", path, e.line, e.column, e.text);
	if (!json_is_object(json))
		kdie_usage("%s: not a JSON object", path);
	return json;
}

json_t *
kjson_if_there(const char *path)
{
	return kis_there(path) ? kjson_load(path) : NULL;
}

json_t *
kjson_data(const char *name, const char *schema)
{
	auto_free char *path = kdata_path(name);
	json_t *json = kjson_load(path);

	if (!kjson_is(json, "schema", schema))
		kdie_usage("%s: schema is not %s", path, schema);
	return json;
}

const char *
krec_id(const struct krec *rec)
{
	return kshown("%03d/%02d", (int)kjson_int_or(rec->json, "trial", 0),
	    (int)kjson_int_or(rec->json, "branch", 0));
}
