#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt on members of C++ classes whose data are plain: what a task gets of the object, and the way back into the class.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

mkdir -p bank/src
cat >bank/src/filter.hpp <<'E'
#pragma once
#include <cstdio>

namespace dsp {

class Filter {
public:
	Filter(float gain, int taps, const float *from);
	Filter(const Filter &) = delete;
	~Filter();
	/* What the filter makes of x, a sample for each. */
	void run(const float *x, int n, float *y) const;
	float level(const float *x, int n, float floor = 0);
	static float peak(const float *x, int n);
	bool has(int taps) const { return this->taps >= taps; }

private:
	float scaled(float x) const { return x * gain; }
	float weight(int i) const;
	std::FILE *log = nullptr;
	float gain, last[4] = { 0, 0, 0, 0 };
	int taps, calls = 0;
	float *weights;
};

/* Only numbers. */
struct Mixer {
	float left, right, rest[6];
	Mixer(float left);
	void mix(const float *x, float *y, int n);
	void run(const float *x, int n);
};

class Stage {
public:
	virtual ~Stage() {}
	void run(float *x, int n);

private:
	float by = 2;
};

float rough(const float *x, int n);
}
E
cat >bank/src/filter.cpp <<'E'
#include "filter.hpp"
#include <cmath>

namespace dsp {

static const float bias = 0.125f;

Filter::Filter(float gain, int taps, const float *from) : gain(gain), taps(taps)
{
	weights = new float[taps];
	for (int i = 0; i < taps; i++)
		weights[i] = from[i];
}
Filter::~Filter()
{
	if (log)
		std::fprintf(log, "done\n");
	delete[] weights;
}

float Filter::weight(int i) const
{
	return std::pow(weights[i] + bias, 1.5f);
}

/* The sum of the weighted samples. */
void Filter::run(const float *x, int n, float *y) const
{
	for (int i = 0; i < n; i++) {
		y[i] = 0;
		for (int k = 0; k < taps && k <= i; k++)
			y[i] += scaled(weight(k) * x[i - k]);
	}
}

float Filter::level(const float *x, int n, float floor)
{
	float sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i] * x[i] * gain;
	last[calls++ % 4] = sum;
	return sum > floor ? std::sqrt(sum) : floor;
}

float Filter::peak(const float *x, int n)
{
	float most = 0;

	for (int i = 0; i < n; i++)
		most = std::fmax(most, std::fabs(x[i]));
	return most;
}

Mixer::Mixer(float left) : left(left), right(1 - left), rest{ 1, 2, 3, 4, 5, 6 } {}
void Mixer::mix(const float *x, float *y, int n)
{
	for (int i = 0; i < n; i++)
		y[i] = left * x[i] + right * y[i] + rest[i % 6];
	rest[0] += 1;
}

void Mixer::run(const float *x, int n)
{
	for (int i = 0; i < n; i++)
		rest[i % 6] += x[i] / n;
}

void Stage::run(float *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] *= by;
}

} // namespace dsp

float dsp::rough(const float *x, int n)
{
	float sum = 0;

	for (int i = 1; i < n; i++)
		sum += std::fabs(x[i] - x[i - 1]);
	return sum;
}
E
cat >bank/src/gate.hpp <<'E'
#pragma once
#include <cmath>
#define SLOW 0.9f
class Gate {
	float power(float x) const
	{
		float sum = 0;

		for (int i = 0; i < 12; i++)
			sum += std::pow(std::fabs(x), 1.5f) / 12;
		return sum;
	}

public:
	explicit Gate(float floor) : floor(floor) {}
	/* Passes what is loud. */
	void run(const float *x, float *y, int n)
	{
		for (int i = 0; i < n; i++) {
			open = SLOW * open + (1 - SLOW) * power(x[i]);
			y[i] = x[i] * open / (open + floor);
		}
	}
	int told() const { return count; }

private:
	float floor, open = 0;
	int count = 0;
};
E
cat >bank/src/main.cpp <<'E'
#include "filter.hpp"
#include "gate.hpp"
#include <vector>

int main()
{
	const float from[] = { 0.5f, 0.25f, 0.125f, 1, 2, 0.5f, 0.25f, 0.125f, 1, 2, 0.75f, 3 };
	dsp::Filter filter(0.75f, 12, from);
	dsp::Mixer mixer(0.25f);
	dsp::Stage stage;
	Gate gate(0.2f);

	for (int r = 0; r < 12; r++) {
		std::vector<float> x(8000 + 4000 * (r % 2)), y(x.size());

		for (std::size_t i = 0; i < x.size(); i++)
			x[i] = (float)((i * 37 + r) % 101) / 50 - 1;
		filter.run(x.data(), (int)x.size(), y.data());
		mixer.mix(x.data(), y.data(), (int)x.size());
		mixer.run(x.data(), (int)x.size());
		gate.run(x.data(), y.data(), (int)x.size());
		stage.run(x.data(), (int)x.size());
		std::printf("%.5f %.5f %.5f", y[77], filter.level(y.data(), (int)y.size()), dsp::Filter::peak(x.data(), 99));
		std::printf(" %.4f %.5f %d\n", dsp::rough(x.data(), (int)x.size()), mixer.rest[0], filter.has(3));
	}
}
E
cat >helpers.sh <<'E'
member() { # FOLDER NAME [FILE]
	kadopt adopt -o "$1" -p bank --file "src/${3:-filter.cpp}" --kernel "$2" --build "g++ -O1 -Wall -Wextra -Isrc -o bank src/main.cpp src/filter.cpp" --run "./bank >out.txt" --outputs out.txt --threads 1 --runs 2 --proxy 0.0001,10000
}
E

ok 'members are listed by their whole names; those of a class with virtual functions cannot be taken' '
	kadopt list -p bank >out; cat out
	for f in Filter::run Filter::level Filter::peak Mixer::mix dsp::rough; do grep -q "^yes src/filter.cpp:[0-9]*: $f, in a wrapper" out; done
	grep -A 1 "^no .*: Stage::run" out | grep -q "the members of Stage are not known, or it has virtual functions or a base"
	. ./helpers.sh
	exits 2 member c-half peak; grep -q "its whole name is Filter::peak" err'

ok 'a member that changes nothing: the fields that it uses, also through other members; private ones, without the constructor' '
	. ./helpers.sh
	exits 0 member c-run Filter::run; cat out err
	jq -e ".entry.name == \"run_entry\" and .entry.arguments == [\"this_gain\", {axis: \"this_taps\", dtype: \"int32\"}, \"this_weights\", \"x\", \"n\", \"y\"] or .entry.arguments == [\"this_gain\", \"this_taps\", \"this_weights\", \"x\", \"n\", \"y\"]" c-run/task.json
	jq -e ".inputs.this_weights.shape == [\"this_taps\"] and .outputs.y.shape == [\"n\"]" c-run/task.json
	grep -q "(&this_)->run(x, n, y);" c-run/reference.c; not grep -q "fprintf\|new float" c-run/reference.c
	jq -r .description c-run/task.json >about; grep -q "dsp::Filter\|Filter and everything else in it must stay as it is" about; grep -q "The sum of the weighted samples" about
	exits 0 kcampaign baseline -c c-run; jq -e ".eval.status == \"correct\"" c-run/trials/000/00/eval.ndjson'

ok 'a member that changes its object, and returns a number' '
	. ./helpers.sh
	exits 0 member c-level Filter::level; cat out err
	jq -e ".outputs | has(\"this_calls\") and has(\"this_last\") and has(\"result\")" c-level/task.json
	jq -e ".inputs.this_gain.dtype == \"float32\"" c-level/task.json'

ok 'a member without an object, a function of a namespace, an object of numbers alone' '
	. ./helpers.sh
	exits 0 member c-peak Filter::peak; grep -q "\*result = Filter::peak(x, n);" c-peak/reference.c
	exits 0 member c-rough dsp::rough; grep -q "\*result = dsp::rough(x, n);" c-rough/reference.c
	exits 0 member c-mix Mixer::mix; cat out err
	jq -e ".outputs.this_ == {shape: [8], dtype: \"float32\", align: 16, inout: true} or .outputs.this_.shape == [8]" c-mix/task.json
	grep -q "((Mixer \*)this_)->mix(x, y, n);" c-mix/reference.c; not grep -q "Mixer::run" c-mix/reference.c'

# won FOLDER: a round whose reply is winner.cpp.
cat >>helpers.sh <<'E'
won() {
	brisk "$1" ".eval.profile = \"off\" | .memory = {enabled: \"off\"} | .model = {provider: \"exec:sh $tests_dir/data/adopt/model.sh $T/winner.cpp\", name: \"m\"}"
	exits 0 kcampaign run -c "$1" -n 1; cat out err
}
E
ok 'the winner of a member comes into its place' '
	. ./helpers.sh
	sed "/^void Filter::run/,/^}/{
		s/^	for (int i = 0.*/	float w[1024];\n\n	for (int k = 0; k < taps; k++)\n		w[k] = weight(k) * gain;\n&/
		s/scaled(weight(k) \* x\[i - k\])/w[k] * x[i - k]/
	}" c-run/reference.c >winner.cpp
	won c-run
	exits 0 kadopt integrate -c c-run --pairs 15; cat out err; grep -q "^ACCEPTED" out
	grep -A 5 "^void Filter::run(const float \*x, int n, float \*y) const$" bank/src/filter.cpp | grep -q "float w\[1024\];"
	is 1 "$(grep -c "float w\[1024\]" bank/src/filter.cpp)"; not grep -q "this_\|entry" bank/src/filter.cpp
	(cd bank && g++ -O1 -Wall -Wextra -Werror -Isrc -o bank src/main.cpp src/filter.cpp)'

ok 'also in a header, between the braces of its class, with a helper of its own' '
	. ./helpers.sh
	exits 0 member c-gate Gate::run gate.hpp; cat out err
	jq -e ".inputs | has(\"this_floor\") and (has(\"this_count\") | not)" c-gate/task.json; jq -e ".outputs | has(\"this_open\") and has(\"y\")" c-gate/task.json
	sed "s/^class Gate {/static inline float loud(float x)\n{\n	float v = std::fabs(x);\n\n	return v * std::sqrt(v);\n}\n&/; s/power(x\[i\]);/loud(x[i]);/" c-gate/reference.c >winner.cpp
	cp -rp bank was; cp -r c-gate c-other; won c-gate
	exits 0 kadopt integrate -c c-gate --pairs 15; cat out err; grep -q "^ACCEPTED" out
	cat bank/src/gate.hpp; grep -q "^			open = SLOW \* open + (1 - SLOW) \* loud(x\[i\]);" bank/src/gate.hpp
	is 1 "$(grep -c "^	/. Passes what is loud. ./" bank/src/gate.hpp)"; is 1 "$(grep -c "^static inline float loud" bank/src/gate.hpp)"; not grep -q "this_\|entry" bank/src/gate.hpp
	(cd bank && g++ -O1 -Wall -Wextra -Werror -Isrc -o bank src/main.cpp src/filter.cpp)'

ok 'a winner that changes its class is not put in, and that is said' '
	. ./helpers.sh
	rm -rf bank; mv was bank; cp bank/src/gate.hpp gate.hpp
	sed -i "s/int count = 0;/int count = 0, more = 0;/" winner.cpp
	won c-other
	exits 1 kadopt integrate -c c-other --pairs 5; cat out err; grep -q "the winner changes Gate; only Gate::run may change" out err
	cmp bank/src/gate.hpp gate.hpp'
done_testing
