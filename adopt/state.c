/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of an adoption and its files. See kadopt.h. */
#include <sys/file.h>

#include "adopt.h"
#include "../tools/model/kseal.h"

enum { TEXT_MAX = 64 << 20 };

struct adoption adoption;

struct work_span
work_begin(const char *name, const char *fmt, ...)
{
	struct work_span w = { name, know_ns() };
	kformatted(text, fmt);

	ksay("%-10s %s\n", name, text);
	return w;
}

void
work_end(struct work_span *w)
{
	ksay("%-10s took %.1f s\n", w->name, kseconds_since(w->since));
	w->name = NULL;
}

/* Is the kernel a __global__ function in the file, a header for any language? It may be several. */
static bool
holds_kernel(void)
{
	auto_free char *text = text_in(adoption.project, adoption.file);
	auto_scan struct kscan k = { 0 };

	kscan_through(text ?: "", &k);
	return kany(kscan_items(x, &k),
	    x->kind == KSCAN_FUNCTION && kscan_declares(x, adoption.kernel) &&
	        kscan_has_word(x, "__global__"));
}

static void
find_language(void)
{
	const char *language = kjson_maybe(rules_language(adoption.file), "language");

	if (!language)
		kdie_usage("--file %s: must be a .c, .cu, .cc, .cpp, .cxx or .C file, or a header "
		           "(.h, .hh, .hpp, .hxx, .cuh)",
		    adoption.file);
	if (holds_kernel())
		language = kjson_str_or(rules_language("kernel.cu"), "language", language);
	kjson_put(adoption.json, "language", language);
}

static void
take_answers(void)
{
	const json_t *row;

	adoption.project = kjson_str(adoption.json, "project");
	adoption.file = kjson_str(adoption.json, "file");
	adoption.entry = adoption.kernel = kjson_str(adoption.json, "kernel");
	adoption.build = kjson_str(adoption.json, "build");
	adoption.run = kjson_str(adoption.json, "run");
	adoption.launcher = kjson_maybe(adoption.json, "launcher");
	adoption.timeout_s = kjson_num_or(adoption.json, "timeout_s", 600);
	if (*adoption.project != '/' || *adoption.file == '/' || strstr(adoption.file, ".."))
		kdie_usage("%s/adopt.json: project must be an absolute path, "
		           "and file a path inside the project",
		    adoption.dir);
	if (!kjson_maybe(adoption.json, "language"))
		find_language();
	adoption.language = kjson_str(adoption.json, "language");
	row = rules_row();
	adoption.suffix = kjson_str_or(row, "suffix", "c");
	adoption.device = kjson_bool(row, "device");
	adoption.cxx = kjson_bool(row, "cxx");
}

/*
 * A symbolic link is replaced by the path of its target: a file written in its place would not be a
 * link.
 */
static void
follow_link(void)
{
	char *path = project_path(adoption.file), full[PATH_MAX], project[PATH_MAX];
	const char *inside;

	if (!realpath(adoption.project, project) || !realpath(path, full))
		return;
	inside = path_in(project, full);
	if (!inside || !*inside)
		kdie_usage("file: %s leads out of the project, to %s; "
		           "adopt it from the project that contains it",
		    path, full);
	kjson_put(adoption.json, "file", inside);
	adoption.file = kjson_str(adoption.json, "file");
}

void
adoption_open(const char *dir, const json_t *answers)
{
	char *path = path_of("%s/adopt.json", dir), full[PATH_MAX];
	bool other = json_object_get(answers, "file") || json_object_get(answers, "kernel");
	json_t *all = kjson_if_there(path)
	    ?: json_pack("{s:s,s:s}", "schema", "adopt/1", "version", kversion_string());

	if (!kjson_is(all, "schema", "adopt/1"))
		kdie_usage("%s: schema: must be \"adopt/1\"", path);
	if (other)
		json_object_del(all, "language");
	json_object_update(all, (json_t *)answers);
	kforeach_text(key, "project", "file", "kernel", "build", "run")
		if (!kjson_maybe(all, key))
			kdie_usage("%s: --%s is missing; give it to kadopt adopt", path, key);
	kmake_folder(dir);
	if (!realpath(dir, full))
		kdie_errno(K_USAGE, "%s", dir);
	adoption.dir = adoption.dir ?: kstrdup(full);
	json_decref(adoption.json);
	adoption.json = all;
	take_answers();
	follow_link();
	if (!other)
		adoption_read_unit();
}

void
adoption_read_unit(void)
{
	json_decref(adoption.unit);
	adoption.unit = kjson_if_there(adopt_path("unit.json"));
	adoption.entry = kjson_str_or(adoption.unit, "entry", adoption.kernel);
}

size_t
first_line(const json_t *part)
{
	return (size_t)json_integer_value(json_array_get(json_object_get(part, "lines"), 0));
}

void
adoption_save(void)
{
	write_json(campaign_path("adopt.json"), adoption.json);
}

bool
adoption_begun(void)
{
	return kis_there(campaign_path("trials/000/00"));
}

int
check_frozen(void)
{
	auto_free char *fault = kseal_adopted(adoption.dir);

	if (fault)
		kwarn("%s", fault);
	return fault ? K_USAGE : K_OK;
}

/* Held until the process ends. */
static int lock = -1;

void
adoption_lock(void)
{
	char *path = adopt_path(".lock");

	make_folder_of(path);
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (lock < 0)
		kdie_io("%s", path);
	/* A child of a killed process dies a moment after it. */
	for (int i = 0; flock(lock, LOCK_EX | LOCK_NB) < 0; i++) {
		if (i == 40)
			kdie(K_AGAIN, "%s: another kadopt is working on this campaign",
			    adoption.dir);
		usleep(50000);
	}
}

void
adoption_unlock(void)
{
	if (lock >= 0)
		close(lock);
	lock = -1;
}

/* Paths are few and short, so they are kept until the process ends. */
char *
path_of(const char *fmt, ...)
{
	static char **list;
	static size_t count;
	va_list ap;

	char **path = kadded(list, count);

	va_start(ap, fmt);
	*path = kvasprintf(fmt, ap);
	va_end(ap);
	return *path;
}

char *
adopt_made(const char *name, const char *step)
{
	char *path = adopt_path("%s", name);

	if (!kis_there(path))
		kdie_usage("%s is missing: run kadopt %s", path, step);
	return path;
}

char *
path_join(const char *folder, const char *name)
{
	return path_of("%s/%s", folder, name);
}

const char *
path_in(const char *folder, const char *path)
{
	size_t n = strlen(folder);

	return !kbegins(path, folder) ? NULL : path[n] == '/' ? path + n + 1 : path[n] ? NULL : "";
}

char *
file_text(const char *path, size_t *len)
{
	size_t n;
	char *text = kread_file(path, TEXT_MAX, &n);

	if (text && len)
		*len = n;
	return text;
}

char *
text_in(const char *folder, const char *name)
{
	return file_text(path_join(folder, name), NULL);
}

char *
file_needed(const char *path, size_t *len)
{
	char *text = file_text(path, len);

	if (!text)
		kdie_io("%s", path);
	return text;
}

const char *
file_sha256(const char *path)
{
	size_t len;
	auto_free char *text = file_text(path, &len);

	return text ? ksha256(text, len) : "";
}

void
make_folder_of(const char *path)
{
	auto_free char *folder = kfolder_of(path);

	kmake_folder(folder);
}

void
write_bytes(const char *path, const char *bytes, size_t len)
{
	make_folder_of(path);
	kwrite_or_die(path, bytes, len);
}

void
write_text(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

void
write_inside(const char *root, const char *path, const char *text, size_t len)
{
	char top[PATH_MAX], real[PATH_MAX];
	auto_free char *folder = kfolder_of(path);

	if (!realpath(root, top) || !realpath(folder, real))
		kdie_io("%s", path);
	if (!path_in(top, real))
		kdie_usage("%s: a link leads to %s, outside of the copies, where kadopt changes "
		           "nothing; "
		           "adopt from the folder that contains both",
		    path, real);
	kwrite_or_die(path, text, len);
}

/* VALUE as text for people: numbers with no more digits than needed. The caller frees. */
static char *
readable(const json_t *value)
{
	char *dump = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	json_auto_t *again = json_loads(dump, 0, NULL);

	if (!json_equal(again, value)) {
		free(dump);
		dump = json_dumps(value, JSON_INDENT(2));
	}
	return dump;
}

void
write_json(const char *path, const json_t *value)
{
	auto_free char *dump = readable(value), *text = kasprintf("%s\n", dump);

	write_text(path, text);
}

json_t *
read_records(const char *path, json_t **header)
{
	json_t *records = kin_all(path);

	*header = json_incref(json_array_get(records, 0));
	json_array_remove(records, 0);
	return records;
}

void
append_record(const char *path, json_t *entry)
{
	json_auto_t *list = kin_all(path) ?: json_array();

	json_array_append_new(list, entry);
	make_folder_of(path);
	kout_open(path);
	kjson_foreach(record, list)
		kout_json(record);
	kout_commit();
}

void
remove_folder(const char *path)
{
	if (kis_there(path))
		free(program_output(NULL, K_IO, "rm", "-rf", "--", path));
}

/*
 * Build folders of CMake and Meson contain the project's path, and so may symbolic links: a build
 * in the copy would happen in the project. The build command must make the folders again; the links
 * are changed to lead into the copy.
 */
static const char clean_script[] =
    "[ ! -L \"$1\" ] && was=$(realpath -- \"$2\") || exit 0\n"
    "find \"$1\" \\( -name CMakeCache.txt -o -name meson-private \\) -prune -print | while IFS= "
    "read -r f; do\n"
    "	d=${f%/*}\n"
    "	if [ -e \"$d/CMakeLists.txt\" ]; then rm -rf \"$f\" \"$d/CMakeFiles\"; else rm -rf \"$d\"; "
    "fi\n"
    "done\n"
    "find \"$1\" -type l -lname '/*' -print | while IFS= read -r f; do\n"
    "	to=$(readlink -- \"$f\")\n"
    "	case $to in \"$was\" | \"$was\"/*) ln -sfn -- \"$1${to#\"$was\"}\" \"$f\" ;; esac\n"
    "done\n";

void
clean_copy(const char *copy, const char *original)
{
	free(script_output(NULL, K_IO, clean_script, copy, original));
}

char *
project_copy(void)
{
	return siblings_copy_path(campaign_path("adopt"));
}

void
copy_project(const char *folder)
{
	remove_folder(folder);
	kmake_folder(folder);
	free(program_output(NULL, K_IO, "cp", "-a", "--", project_path("."), folder));
	clean_copy(folder, adoption.project);
	siblings_copy(folder);
}
