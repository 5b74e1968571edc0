#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kbench: kernels of one task, checked and raced.
. "${0%/*}/lib.sh"
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

cp "$KILN_DATA"/tests/bench/races/* .
# Two to three times the work, so that the verdict does not depend on an idle machine; and a wrong one.
sed 's/#define EXTRA 0/#define EXTRA 200/' reference.c >slow.c
sed 's/y\[i\] = turned(x\[i\])/y[i] = 0/' reference.c >wrong.c

ok 'kernels race in turns, and the slower one is called slower' '
	kbench --threads 1 -s long task.json reference.c slow.c >race.ndjson 2>err &&
	jq -e ".overall == [.overall[] | select(.of == \"reference.c\" and .name == \"slow.c\" and .verdict == \"faster\")] and
		(.overall[0] | .low > 1.5 and .high < 6 and .low <= .ratio and .ratio <= .high)" race.ndjson'

ok 'a wrong kernel does not race, and is named' '
	code=0; kbench --threads 1 -s long task.json wrong.c reference.c >race.ndjson 2>err || code=$?
	is 1 $code; jq -e "[.kernels[].status] == [\"wrong_value\", \"correct\"] and .overall == [] and
		.kernels[1].timing[0].median_ns > 0" race.ndjson'

ok 'the table says who is faster' '
	kbench --pretty --threads 1 -s long . reference.c slow.c >table 2>err &&
	grep -q "^reference.c is faster than slow.c: [2-6]\." table && grep -q "^slow.c  *correct " table'

ok 'races are repeated, and verdicts counted' '
	kbench --pretty --repeat 2 --threads 1 -s long . reference.c slow.c >table 2>err && grep -q "^2 races: [12] faster, 0 slower" table'

ok 'the record fits its schema' '
	kbench --threads 1 -s long task.json reference.c slow.c -o race.ndjson 2>err &&
	python3 "$KILN_DATA/tests/schemas.py" "$KILN_DATA/docs/schemas" bench-1 race.ndjson'

ok 'kernels with the same name, the same file twice, and names that look like options' '
	mkdir -p other && cp reference.c other/ && cp reference.c ./-k && cp reference.c a=b.c
	kbench --pretty --threads 1 -s long -k eval.timing_s=0.05 . -- reference.c reference.c other/reference.c -k a=b.c >table 2>err
	for name in reference.c "reference.c #2" other/reference.c -k a-b.c; do grep -q "^$name  *correct" table; done
	is 10 "$(grep -cE " against | faster than | equally fast" table)"
	is 10 "$(grep -E " against | faster than | equally fast" table | sort -u | wc -l)"'

ok 'a kernel that does not compile shows the first error' '
	echo "int lots_of_code = nothing;" >broken.c
	code=0; kbench --pretty --threads 1 -s long . broken.c reference.c >table 2>err || code=$?
	is 1 $code; grep -q "^broken.c  *compile_error" table; grep -q "error: .nothing. undeclared" table'

ok 'a missing task or kernel is named' '
	exits 2 kbench nowhere a.c; grep -q nowhere err
	exits 2 kbench . nowhere.c; grep -q nowhere.c err'

ok 'a knob that does not exist is refused by name' '
	exits 2 kbench -k eval.nothing=1 . reference.c; grep -q "eval.nothing" err'

done_testing
