/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of karch: cells, ids, the elite rule, hints. */
#include "karch.h"

#include <math.h>
#include <stdlib.h>

#include "kio.h"
#include "kutil.h"
#include "tap.h"

static void
test_cells(void)
{
	bool round = true, near = true;

	for (int c = 0; c < KARCH_CELLS; c++) {
		json_t *coords = karch_coords(c);
		const char *text = karch_cell_text(c);

		round &= karch_cell(text) == c && karch_cell_json(coords) == c;
		for (int d = 0; d < KARCH_DIMS; d++) {
			round &= karch_level(c, d) == text[d] - '0' &&
			    karch_with(c, d, karch_level(c, d)) == c;
			near &= karch_distance(c, karch_with(c, d, 0)) == karch_level(c, d);
		}
		json_decref(coords);
	}
	CHECK(round);
	CHECK(near);
	CHECK(karch_cell("2103") == 0x93 && karch_with(0, 2, 3) == karch_cell("0030"));
	CHECK(karch_distance(karch_cell("0000"), karch_cell("3333")) == 12);
	CHECK(karch_cell("210") < 0 && karch_cell("21034") < 0 && karch_cell("2104") < 0 &&
	    karch_cell("") < 0);
	CHECK(karch_cell_json(NULL) < 0);
}

static void
check_coords(const char *text, int want)
{
	json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);

	CHECK(karch_cell_json(v) == want);
	json_decref(v);
}

static void
test_ids(void)
{
	long trial, branch;

	CHECK(karch_id("007/02", &trial, &branch) && trial == 7 && branch == 2);
	CHECK(karch_id("1234/100", &trial, &branch) && trial == 1234 && branch == 100);
	CHECK(!karch_id("", &trial, &branch) && !karch_id("7", &trial, &branch) &&
	    !karch_id("7/", &trial, &branch));
	CHECK(!karch_id("../02", &trial, &branch) && !karch_id("7/2/1", &trial, &branch));
	CHECK(!karch_id("7/2 ", &trial, &branch));
	CHECK(!karch_id("9999999999/1", &trial, &branch));
	check_coords("[0,0,0,0]", 0);
	check_coords("[3,2,1,0]", karch_cell("3210"));
	check_coords("[3,2,1]", -1);
	check_coords("[3,2,1,4]", -1);
	check_coords("[3,2,1,-1]", -1);
	check_coords("[3,2,1,1.0]", -1);
	check_coords("{}", -1);
}

static bool
takes(const struct karch_row *elite, const char *status, double score)
{
	struct karch_row row = { .score = score, .status = status_named(status) };

	return karch_takes(elite, &row);
}

static struct karch_row
timed(double speedup, double low, double high)
{
	struct karch_row row = { .score = 5 + 3 * speedup, .status = STATUS_CORRECT };

	karch_set_speedup(&row, &(struct kgain_ratio){ speedup, low, high, 1 }, false);
	return row;
}

/* Of two that are timed the newer one has to be faster beyond the noise of both. */
static void
test_noise(void)
{
	struct karch_row elite = timed(10, 9.5, 10.5), tie = timed(10.6, 10.1, 11.2),
	                 faster = timed(10.8, 10.3, 11.3),
	                 untimed = { .score = 5, .status = STATUS_CORRECT };

	CHECK(!karch_takes(&elite, &tie) && karch_takes(&elite, &faster));
	CHECK(!karch_takes(&elite, &elite));
	CHECK(!karch_takes(&elite, &untimed) && karch_takes(&untimed, &elite));
	tie.speedup_high = elite.speedup_high = 0;
	CHECK(karch_takes(&elite, &tie));
}

static void
test_rule(void)
{
	struct karch_row elite = { .score = 9, .status = STATUS_CORRECT },
	                 broken = { .score = 4, .status = STATUS_PARTIAL };

	CHECK(takes(NULL, "correct", 0) && takes(NULL, "compile_error", 1));
	CHECK(takes(&elite, "correct", 9.01) && !takes(&elite, "correct", 9));
	CHECK(takes(&broken, "correct", 5) && !takes(&broken, "wrong_value", 3) &&
	    !takes(&elite, "partial", 4));
	CHECK(!takes(NULL, "quarantined", 100) && !takes(NULL, "rejected", 100));
	CHECK(!takes(NULL, "no_code", 100));
	CHECK(!takes(NULL, "unheard_of", 100));
}

static void
test_islands(void)
{
	int current = 0;
	long filled = 0;

	for (int i = 0; i < 31; i++)
		karch_step(3, &current, &filled);
	CHECK(current == 0 && filled == 1);
	for (int i = 0; i < 19; i++)
		karch_step(1, &current, &filled);
	CHECK(current == 0 && filled == 0);
}

static void
test_real(void)
{
	struct krng rng;
	bool same = true;

	CHECK_STR(karch_real(0.1), "0.1");
	CHECK_STR(karch_real(5), "5");
	CHECK_STR(karch_real(1e300), "1e+300");
	krng_init(&rng, 1, 0, 0, "real");
	for (int i = 0; i < 10000; i++) {
		double v = (krng_double(&rng) - 0.5) * pow(10, (double)krng_below(&rng, 40) - 20);

		same &= strtod(karch_real(v), NULL) == v;
	}
	CHECK(same);
}

static void
test_hints(void)
{
	json_t *d = json_loads(
	    "[{\"direction\":[1,0,0,0],\"samples\":2,\"successes\":1,\"deltas\":[0.1,0.2]},"
	    "{\"direction\":[0,1,0,0],\"samples\":2,\"successes\":2,\"deltas\":[0.1,0.2]},"
	    "{\"direction\":[0,0,1,0],\"samples\":4,\"successes\":4,\"deltas\":[0.3,0.1,0,0.1]},"
	    "{\"direction\":[0,0,0,1],\"samples\":3,\"successes\":2,\"deltas\":[-0.3,-0.1,0.1,0.1]}"
	    ","
	    "{\"direction\":[0,0,0,0],\"samples\":9,\"successes\":9,\"deltas\":[0.1]}]",
	    0, NULL);
	json_t *hints = karch_hints(d);

	CHECK(json_array_size(hints) == 2);
	CHECK(kjson_int_or(json_array_get(hints, 0), "samples", 0) == 4);
	CHECK(fabs(kjson_num_or(json_array_get(hints, 0), "gain", 0) - expm1(0.1)) < 1e-12);
	CHECK(kjson_int_or(json_array_get(hints, 1), "successes", 0) == 2);
	json_decref(hints);
	hints = karch_hints(NULL);
	CHECK(json_array_size(hints) == 0);
	json_decref(hints);
	json_decref(d);
}

static void
test_load(void)
{
	const struct karch_row *list[KARCH_CELLS];

	karch_load(NULL);
	CHECK(!karch.header && karch.trial == -1 && karch_ranked(list) == 0);
	CHECK(karch_median() == 0);
	karch.elite[1] = kcalloc(1, sizeof **karch.elite);
	karch.elite[1]->score = 4;
	CHECK(karch_median() == 4);
	karch.elite[9] = kcalloc(1, sizeof **karch.elite);
	karch.elite[9]->score = 8;
	CHECK(karch_median() == 6 && karch_ranked(list) == 2 && list[0] == karch.elite[9]);
	karch.elite[2] = kcalloc(1, sizeof **karch.elite);
	karch.elite[2]->score = 8;
	karch.elite[2]->trial = 1;
	CHECK(karch_ranked(list) == 3 && list[0] == karch.elite[9] && list[1] == karch.elite[2]);
	karch_free();
	karch_row_free(NULL);
	CHECK_EXIT(K_USAGE, karch_load("/nowhere/archive.ndjson"));
	CHECK_EXIT(K_USAGE, karch_program("001/01", true));
}

/* The archive of these ROWS. */
static void
load_rows(const char *rows)
{
	static const char header[] = "{\"schema\":\"archive/1\",\"trial\":3}\n";
	char path[] = "/tmp/kiln-unit.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || kwrite_all(fd, header, strlen(header)) < 0 ||
	    kwrite_all(fd, rows, strlen(rows)) < 0)
		kdie_errno(K_IO, "%s", path);
	karch_load(path);
	close(fd);
	unlink(path);
}

static void
test_rows(void)
{
	static const char rows[] =
	    "{\"kind\":\"elite\",\"id\":\"001/02\",\"cell\":\"0123\",\"score\":-1.5e-3,\"status\":"
	    "\"correct\",\"speedup\":2,\"speedup_low\":1.5,\"speedup_high\":2.5,\"provisional\":"
	    "true,\"runtime_ms\":0.25,\"tokens\":\"00ff\",\"object\":\"11ee\",\"islands\":[0,63],"
	    "\"parent\":\"000/00\",\"strategy\":\"mutate\"}\n"
	    "{\"kind\":\"program\",\"id\":\"002/01\",\"cell\":\"3210\",\"score\":4,\"status\":"
	    "\"partial\",\"islands\":[]}\n";
	const struct karch_row *e, *p;

	load_rows(rows);
	e = karch.elite[karch_cell("0123")];
	p = karch.programs ? karch.program[0] : NULL;
	CHECK(e && e->trial == 1 && e->branch == 2 && e->score == -1.5e-3);
	CHECK(e && e->status == STATUS_CORRECT && e->speedup == 2 && e->speedup_low == 1.5);
	CHECK(e && e->speedup_high == 2.5 && e->provisional && e->runtime_ms == 0.25);
	CHECK(e && e->islands == (UINT64_C(1) << 63 | 1) && e->elite);
	CHECK_STR(e ? e->tokens : "", "00ff");
	CHECK_STR(e ? e->object : "", "11ee");
	CHECK_STR(e ? e->parent : "", "000/00");
	CHECK_STR(e ? e->strategy : "", "mutate");
	CHECK(p && !p->elite && p->cell == karch_cell("3210") && p->score == 4);
	CHECK(p && p->status == STATUS_PARTIAL && !p->islands && !p->provisional && !*p->tokens);
	karch_free();
}

int
main(void)
{
	kutil_init("karch");
	test_cells();
	test_ids();
	test_rule();
	test_noise();
	test_islands();
	test_real();
	test_hints();
	test_load();
	test_rows();
	return tap_done();
}
