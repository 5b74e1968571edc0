#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt observe and configs: what is observed of an application's calls, when that is valid, and which few calls
# represent all.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"

apps=$tests_dir/apps
export apps
cp -r "$apps/heat" heat
cat >do.sh <<'EOF'
heat() { kadopt observe -c "$T/c" -p "$T/heat" --file src/diffuse.c --kernel heat_diffuse --build make --run "./heat -n 8 plates.conf heat.out" --runs 1 "$@"; }
# app NAME [OPTION…]: observe f in NAME/f.c, a program of one file.
cflags=
app() { n=$1; shift; kadopt observe -c "$T/c-$n" -p "$T/$n" --file f.c --kernel f --build "cc -O2 $cflags -o app f.c" --run ./app --runs 0 "$@"; }
klog() { kadopt observe -c "$T/cl" -p "$T/row" --file f.cu --kernel row_mix --build true --run true --log "$@"; }
# cuda KERNEL LIBRARY [OPTION…]
cuda() { k=$1 lib=$2; shift 2; kadopt observe -c "$T/cc" -p "$T/cu" --file f.cu --kernel "$k" --runs 1 \
	--build "c++ -D__CUDACC__ -x c++ f.cu -x none '$lib' -o app" --run ./app "$@"; }
calls() { sed 1d "$1/adopt/observed.ndjson"; }
EOF
t() { ok "$1" '. "$T/do.sh"; '"$2"; }
(cd heat && find . -type f -exec sha256sum {} + | sort) >before

t 'usage, version, what is missing' '
	exits 0 kadopt --help; grep -q "kadopt observe" out; exits 0 kadopt observe --help; grep -q "^usage: kadopt observe" out
	exits 0 kadopt observe --version; grep -q "^kadopt " out; exits 0 kadopt configs --help; exits 2 kadopt configs x
	exits 2 kadopt observe -c none; grep -q "none/adopt.json: --project is missing" err
	exits 2 heat --kernel nothing; grep -q "src/diffuse.c: nothing: it is not defined there" err
	exits 3 heat --build false; grep -q "false. exited with status 1 in" err
	exits 3 heat --build true --run "echo torn; exit 9"; grep -q "exited with status 9" err; grep -q torn err
	exits 3 heat --build true --run "exit 9"; grep -q "it printed nothing" err
	exits 3 heat --build true --run "echo torn 2>&1 >said.txt; exit 9"; grep -A1 "it wrote to said.txt:" err | grep -qx torn
	exits 3 heat --build true --run "sleep 9" --timeout 1; grep -q "did not end within 1 s" err
	[ ! -e c/adopt/observed.ndjson ]
	exits 2 kadopt configs -c c; grep -q "observed.ndjson does not exist: run kadopt observe" err'

t 'the application runs, every call is seen, the project stays as it was' '
	heat
	is 24 "$(calls c | wc -l)"; is 24 "$(sed 1d c/adopt/timing.ndjson | wc -l)"
	calls c | jq -es "all(.args.rows * .args.cols * 4 == .pointers.field.bytes and .pointers.next.room == .pointers.field.bytes and .ns > 0 and .clock == \"host\")"
	calls c | jq -es "all(.pointers.field.written != true and .pointers.conduct.const and .pointers.field.read)"
	calls c | jq -es "map(.pointers.next | select(has(\"written\"))) | length > 3 and all(.written and (has(\"read\") | not))"
	calls c | jq -es ".[9].args == {cols: 640, radius: 4, rows: 192, spread: 2.5, step: 0.25}"
	head -1 c/adopt/observed.ndjson | jq -e ".schema == \"observed/1\" and .kernel == \"heat_diffuse\" and .how == \"calls\"
		and ([.signature_sha256, .wrapper_sha256, .command_sha256, .binary_sha256, .sources_sha256] | all(length == 64))"
	(cd heat && find . -type f -exec sha256sum {} + | sort) >after
	same before after'

t 'a kadopt that is stopped, however, leaves no process of the application behind' '
	for signal in TERM INT HUP KILL; do
		rm -rf stopped slept
		env --default-signal=INT,HUP setsid kadopt observe -c stopped -p heat --file src/diffuse.c --kernel heat_diffuse --build true \
			--run "setsid sleep 321 & echo \$! >$T/slept; wait" >/dev/null 2>&1 &
		until [ -s slept ]; do sleep 0.05; done
		read -r slept <slept; kill -0 "$slept"; kill -"$signal" "$!"
		for i in $(seq 100); do alive "$slept" || break; sleep 0.05; done
		if alive "$slept"; then echo "$signal: it runs on"; kill "$slept"; exit 1; fi
	done'

t 'a program that has allocated nothing when the first call is measured' '
	mkdir still; cat >still/f.c <<-E
		void f(unsigned char *x) { for (int i = 0; i < 16; i++) x[i]++; }
		int main(void) { static unsigned char all[65536]; for (int i = 0; i < 9; i++) f(all + 16 * i); return all[0] != 1; }
	E
	exits 0 kadopt observe -c cs -p still --file f.c --kernel f --build "cc -o app f.c" --run ./app --runs 1
	is 9 "$(calls cs | wc -l)"'

t 'threads that allocate all the time do not wait for each other' '
	mkdir threads; cat >threads/f.c <<-E
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/resource.h>
		void f(float *x, int n) { x[0] = n; }
		static void *run(void *p) { for (int i = 0; i < 2000000; i++) { void *volatile q = malloc(500 + i % 9); free(q); } return p; }
		int main(void) {
			pthread_t t[4]; float x; struct rusage u;
			f(&x, 1);
			for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, run, 0);
			for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
			getrusage(RUSAGE_SELF, &u); fprintf(stderr, "%ld\n", u.ru_nvcsw); return u.ru_nvcsw > 1000;
		}
	E
	app threads'

t 'pages that a call is the first to touch are counted, and stand with its configuration' '
	mkdir fresh; cat >fresh/f.c <<-E
		#include <stdlib.h>
		static void f(float *x, int n) { for (int i = 0; i < n; i++) x[i] = i; }
		int main(void) { float *x = malloc(4 << 20); f(x, 1 << 20); f(x, 1 << 19); return x[7] != 7; }
	E
	exits 0 app fresh --runs 1
	sed 1d c-fresh/adopt/timing.ndjson | jq -es ".[0].faults > 0 and .[0].faults > 10 * (.[1].faults // 0)"
	kadopt configs -c c-fresh; jq -e ".configs | map(.faults) | max > 0" c-fresh/adopt/configs.json'

t 'checksums of calls with ever new numbers end after a few seconds' '
	mkdir ever; cat >ever/f.c <<-E
		#include <stdlib.h>
		static void f(char *x, int n, int i) { x[i] = n; }
		int main(void) { enum { N = 1 << 25 }; char *x = calloc(N, 1); for (int i = 0; i < 2000; i++) f(x, N, i); return x[7] != 0; }
	E
	exits 0 app ever
	calls c-ever | jq -es "length == 2000 and (map(select(.pointers.x | has(\"written\"))) | length > 10 and length < 1900)"'
t 'the time of a call is not that of others on the processor' '
	mkdir idle; cat >idle/f.c <<-E
		#include <unistd.h>
		static void f(char *x) { usleep(200000); *x = 1; }
		int main(void) { char x; f(&x); return x != 1; }
	E
	exits 0 app idle; calls c-idle | jq -e ".ns < 100000000"'

mkdir own
cat >own/f.c <<'EOF'
#include <stdio.h>
long f(const int *x, int n) { return n < 2 ? n * x[0] : f(x, n / 2) + f(x + n / 2, n - n / 2); }
int main(void)
{
	int x[100];
	long sum = 0;
	for (int i = 0; i < 100; i++) x[i] = i;
	for (int i = 1; i <= 3; i++) sum += f(x, 30 * i);
	return printf("%ld\n", sum) < 0;
}
EOF
t 'the calls that a function makes of itself are a part of the first' '
	app own; is "30 60 90" "$(calls c-own | jq .args.n | paste -sd " ")"'

t 'configurations: fast and slow calls of one geometry apart, most of the time covered' '
	kadopt configs -c c
	jq -e ".key == [\"cols\", \"rows\"] and .aligned and .coverage > 0.8 and .calls == 24" c/adopt/configs.json
	jq -e "[.configs[] | select(.key.cols == 512)] | length == 2 and (map(.name | sub(\".*_\"; \"\")) | sort == [\"fast\", \"slow\"])" c/adopt/configs.json
	jq -e "[.configs[] | select(.name | endswith(\"slow\")) | .scalars.radius] | length > 1 and all(. == 4)" c/adopt/configs.json
	jq -e "[.configs[] | select(.name | endswith(\"fast\")) | .scalars.radius] | length > 1 and all(. == 1)" c/adopt/configs.json
	jq -e ".configs[0] | .share > 0.15 and .pointers.next.bytes == 4 * .scalars.rows * .scalars.cols" c/adopt/configs.json
	kadopt configs -c c -o one.json; kadopt configs -c c -o two.json; same one.json two.json
	exits 0 kadopt configs -c c --top 1; grep -q "the 1 configurations cover .* less than 80 %" err
	kadopt configs -c c --key radius --top 9; jq -e ".key == [\"radius\"]" c/adopt/configs.json
	exits 2 kadopt configs -c c --key spread; grep -q "spread. is not an integer argument" err
	kadopt configs -c c'

t 'what was observed is taken again, until something changes; then it is said what' '
	heat --check
	stat -c %y c/adopt/observed.ndjson >one; heat; stat -c %y c/adopt/observed.ndjson >two; same one two
	exits 1 heat --check --run "./heat -n 4 plates.conf heat.out"; grep -q "observed.ndjson: it belongs to other commands (command_sha256)" err
	cp -r heat changed; other() { heat -p "$T/changed" --check; }
	sed -i "s/int radius,/short radius,/" changed/src/diffuse.c; sed -i "s/int radius$/short radius/" changed/src/diffuse.c
	exits 1 other; grep -q "other parameters (signature_sha256)" err || grep -q "another version of the function" err
	cp heat/src/diffuse.c changed/src; sed -i "s/sum = 0/sum = 1/" changed/src/diffuse.c; exits 1 other; grep -q "another version of the function (wrapper_sha256)" err
	cp heat/src/diffuse.c changed/src; other; echo "# more" >>changed/Makefile; exits 1 other; grep -q "other sources (sources_sha256)" err
	cp heat/Makefile changed; other; echo more >>c/adopt/watch/copy/heat; exits 1 other; grep -q "another program (binary_sha256)" err
	sed "1s/\"wrapper_sha256\":\"./&x/" c/adopt/timing.ndjson >x; cp -r c cx; cp x cx/adopt/timing.ndjson
	exits 2 kadopt configs -c cx; grep -q "belongs to another program than the observed one (wrapper_sha256 differs)" err; rm -r cx'

mkdir shapes
cat >shapes/f.c <<'EOF'
static float arena[1 << 16];
static void f(int ido, int l1, const float *cc, float *ch)
{
	for (int i = 0; i < ido * l1; i++)
		ch[i] = cc[i] * 0.5f;
}
int main(void)
{
	for (int r = 0; r < 20; r++)
		for (int k = 0; k < 7; k++)
			f(3 << k, 640 >> k, arena + 5, arena + 20011);
	return arena[7] != 0;
}
EOF
t 'shapes whose names say nothing, in one piece of memory, are as many keys' '
	app shapes --runs 1
	kadopt configs -c c-shapes --top 9
	jq -e "(.key == [\"ido\", \"l1\"]) and .groups == 7 and ([.configs[].scalars] | unique | length == 7)" c-shapes/adopt/configs.json'

mkdir mixed
cat >mixed/f.c <<'EOF'
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum kind { LOW = -3, HIGH = 7 };
struct pair { int a, b; };
typedef const float *row;
static double table[10];
static double f(const float *a, float *b, row c, double *t, void *none, char *local, enum kind k, bool yes, uint64_t big,
    signed char small, float x, struct pair p, int n)
{
	for (int i = 0; i < n; i++)
		b[i] = a[i] + c[i] + x;
	t[1] += k + small + (yes ? p.a : p.b) + (double)big + (none != 0) + local[0];
	return t[1];
}
int
main(void)
{
	float *block = calloc(300, 4);
	char local[8] = { 0 };
	double sum = 0;

	for (int i = 0; i < 3; i++)
		sum += f(block, block + 100, block + 200, table, 0, local, LOW, i != 1, UINT64_MAX - 1, -5, 0.1f, (struct pair){ 1, 2 }, 100);
	if (!fork())
		return f(block, block, block, table, 0, local, HIGH, true, 1, 1, 1e30f * 1e30f, (struct pair){ 0, 0 }, 10) == 0;
	return wait(0) < 0 || sum == 0;
}
EOF
t 'a static function of the same file, types of many kinds, memory of many kinds, a child process' '
	app mixed
	is 4 "$(calls c-mixed | wc -l)"
	calls c-mixed | head -1 | jq -e ".args == {big: \"18446744073709551614\", k: -3, n: 100, small: -5, x: 0.1, yes: true}"
	calls c-mixed | head -1 | jq -e "(.pointers.a | del(.align)) == {bytes: 1200, offset: 0, room: 400, reach: 400, device: false, const: true, read: true, written: false}"
	calls c-mixed | head -1 | jq -e ".pointers | .b.offset == 400 and .b.written and .c.offset == 800 and .c.room == 400 and .t.bytes == 80 and .t.written"
	calls c-mixed | head -1 | jq -e ".pointers | .none.null and .local.bytes == 1"
	calls c-mixed | tail -1 | jq -e ".args.x == \"inf\" and .args.k == 7 and .args.big == 1"'

mkdir above
cat >above/k.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { BYTES = 1 << 20, PAGE = 1 << 16 };
void fill(int n, int *result, const char *label)
{
	*result += n + (label != NULL);
}
static void *run(void *label)
{
	int result = 0;

	fill(1, &result, label);
	return result == 2 ? label : NULL;
}
int main(void)
{
	char *at = mmap(NULL, BYTES + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t a;
	pthread_t one;
	void *label;

	if (at == MAP_FAILED || mprotect(at, BYTES, PROT_READ | PROT_WRITE) || pthread_attr_init(&a) || pthread_attr_setstack(&a, at, BYTES))
		return 1;
	if (pthread_create(&one, &a, run, at + BYTES + 64) || pthread_join(one, &label))
		return 1;
	return label != at + BYTES + 64;
}
EOF
t 'a pointer above the stack of a thread is not followed' '
	exits 0 kadopt observe -c ca -p above --file k.c --kernel fill --build "cc -pthread -o k k.c" --run ./k --runs 0
	calls ca | jq -e "(.pointers.result |= del(.align)) | .pointers == {label: {const: true, read: true}, result:
		{bytes: 4, const: false, device: false, offset: 0, room: 4, written: true}}"'
mkdir shared installed
echo 'float f(float x, int n) { return x + n; }' >shared/f.c
echo 'float f(float x, int n); int main(void) { return f(1, 2) > 5; }' >shared/main.c
cc -shared -fPIC -Wl,-soname,libkf.so.1 -o installed/libkf.so.1 shared/f.c
t 'a library that the build makes, and another one of its name that the program loads' '
	exits 3 kadopt observe -c cs -p shared --file f.c --kernel f --build "cc -shared -fPIC -Wl,-soname,libkf.so.1 -o libkf.so.1 f.c && cc -o app main.c ./libkf.so.1 -Wl,-rpath,$T/installed" --run ./app --runs 1
	grep -q "the program loads libkf.so.1 => $T/installed/libkf.so.1, not the library that the build makes" err
	exits 0 kadopt observe -c cs2 -p shared --file f.c --kernel f --build "cc -shared -fPIC -Wl,-soname,libkf.so.1 -o libkf.so.1 f.c && cc -o app main.c ./libkf.so.1 -Wl,-rpath,$T/installed" --run "LD_LIBRARY_PATH=. ./app" --runs 1'
t 'no call, a static program, a function that is there twice' '
	cp -r mixed never; sed -i "s/^main(void)/main(void) { return 0; } int other(void)/" never/f.c
	exits 3 app never; grep -q "no call of f was seen in ../app" err
	cp -r mixed linked; cflags=-static; exits 3 app linked; grep -q "was not loaded into app; programs that are linked statically" err
	cp -r mixed twice; sed -n "/^static double f/,/^}/p" mixed/f.c >>twice/f.c
	cflags=; exits 2 app twice; grep -q "f: it is defined in line 10 and again in line 31" err'

printf 'noise\n[KKLOG_CPP] kernel=other rows=1 grid_x=1 block_x=1\n' >log
for i in 1 2 3 4; do
	echo "app: [KKLOG_CPP] kernel=row_mix rows=4096, cols=$((i % 2 * 114 + 13)) gain=0.5 mode=fast flag=true mask=0x10 grid_x=16 grid_y=1 block_x=256 block_y=1"
	echo "[KKLOG_RUST] kernel=row_mix depth=$i"
done >>log
mkdir row
printf 'void row_mix(float *x, int rows) { (void)x; (void)rows; }\n' >row/f.cu
t 'a log of calls: numbers, names, another tag; a torn one is refused' '
	klog log
	is 4 "$(calls cl | wc -l)"
	calls cl | head -1 | jq -e ".args == {cols: 127, depth: 1, flag: true, gain: 0.5, mask: 16, mode: \"fast\", rows: 4096}"
	calls cl | head -1 | jq -e ".grid == [16, 1, 1] and .block == [256, 1, 1]"
	sed "s/ cols.*//" log >half; exits 3 klog half --force; grep -q "half: 4 of 8 lines are unreadable or incomplete" err
	grep -v "depth=4" log >fewer; exits 0 klog fewer --force; grep -q "3 lines with other tags do not match the 4 calls" err
	calls cl | head -1 | jq -e ".args | has(\"depth\") | not"
	{ for i in $(seq 60); do cat log; done; echo "[KKLOG_CPP] kernel=row_mix rows=40[KKLOG_CPP] kernel=row_mix rows=4096"; } | grep -v RUST >long
	klog long --force; is 240 "$(calls cl | wc -l)"
	sed "1,/mode=fast/s/mode=fast/mode=4\\x000/" log >nul; klog nul --force
	calls cl | head -1 | jq -e ".args.mode | startswith(\"4\") and endswith(\"0\") and length == 3"
	echo nothing >empty; exits 3 klog empty --force; grep -q "no line .\[KKLOG_CPP\] kernel=row_mix" err'

cat >ncu.csv <<'EOF'
==PROF== Connected to process 4242
"ID","Process ID","Kernel Name","Block Size","Grid Size","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum","smsp__thread_inst_executed.sum"
"","","","","","byte","byte","ns",""
"0","1","row_mix<float, 4>(const float *, float *, int)","(256, 1, 1)","(16, 1, 1)","1,024,000","1,024,000","400000","409600"
"1","1","other(int)","(256, 1, 1)","(16, 1, 1)","1","1","999","1"
"2","1","row_mix<float, 4>(const float *, float *, int)","(256, 1, 1)","(16, 1, 1)","4096","n/a","100352","409600"
"3","1","row_mix<float, 4>(const float *, float *, int)","(256, 1, 1)","(16, 1, 1)","1024000","1024000","420000","409600"
"4","1","row_mix<float, 4>(const float *, float *, int)","(256, 1, 1)","(16, 1, 1)","1024000","1024000","100000","409600"
EOF
t 'times and counters from ncu: the work of a thread' '
	klog log --force
	exits 2 kadopt configs -c cl; grep -q "times of launches with --ncu FILE" err
	kadopt configs -c cl --ncu ncu.csv
	is "top1_slow 410 127 top2_fast 100.176 13" "$(jq -r ".configs[] | \"\(.name) \(.target_us) \(.scalars.cols)\"" cl/adopt/configs.json | xargs)"
	jq -e ".key == [\"grid_x\", \"block_x\"] and .aligned and .configs[0].budget == {inst_per_thread: 100, bytes_per_thread: 500}" cl/adopt/configs.json
	jq -e ".configs[1].budget == {inst_per_thread: 100}" cl/adopt/configs.json
	sed "s/row_mix/nobody/" ncu.csv >none.csv; exits 2 kadopt configs -c cl --ncu none.csv; grep -q "no launch of row_mix" err
	sed "s/gpu__time/x/" ncu.csv >bad.csv; exits 2 kadopt configs -c cl --ncu bad.csv; grep -q "columns are missing" err'

# A stand-in for a model that follows its instructions, for one file.
cat >model <<'EOF'
#!/bin/sh
cat >question
echo 'Here is the file.'
echo '```c'
sed 's/^{$/{\n	fprintf(stderr, "[KKLOG_CPP] kernel=f n=%d\\n", n);/; 1i #include <stdio.h>' "$T/plain/f.c"
echo '```'
EOF
chmod +x model
mkdir plain
printf 'void f(int n)\n{\n	(void)n;\n}\nint\nmain(void) {\n	for (int i = 0; i < 5; i++)\n		f(i);\n	return 0;\n}\n' >plain/f.c
t 'log lines that a model adds, in the copy alone' '
	mkdir ci; jq -n --arg t "$T" "{schema: \"adopt/1\", project: (\$t + \"/plain\"), file: \"f.c\", kernel: \"f\", language: \"c\", build: \"cc -o app f.c\", run: \"./app\", model: {provider: (\"exec:\" + \$t + \"/model\")}}" >ci/adopt.json
	sha256sum plain/* >one; kadopt observe -c ci --instrument; sha256sum plain/* >two; same one two
	is "0 1 2 3 4" "$(calls ci | jq .args.n | xargs)"
	head -1 ci/adopt/observed.ndjson | jq -e ".how == \"instrument\""
	exits 2 kadopt observe -c ci --kernel g; grep -q "adopt.json already exists; remove the duplicate options" err
	sed "s/KKLOG_CPP/KKLOG/" model >other; cp other model; cp -r ci cj; rm -r cj/adopt
	exits 3 kadopt observe -c cj --instrument; grep -q "contains no file with the requested lines" err; rm -r cj'

# CUDA functions, called in the way that nvcc compiles calls; they do nothing.
mkdir cu
cat >cu/f.cu <<'EOF'
#include <cstring>
struct dim3 { unsigned x, y, z; };
typedef void *cudaStream_t;
extern "C" {
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int __cudaGetKernel(void **, const void *);
int __cudaLaunchKernel(void *, dim3, dim3, void **, size_t, void *);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, void *);
}
#define __global__
__global__ void mix(const float *from, float *to, int rows, double gain) { (void)from, (void)to, (void)rows, (void)gain; }
void
row_mix(const float *x, float *y, int rows, cudaStream_t stream)
{
	double gain = 1.5;
	void *args[] = { &x, &y, &rows, &gain }, *handle;
	dim3 grid = { (unsigned)rows / 32, 2, 1 }, block = { 32, 8, 1 };

	if (rows > 64) {
		__cudaGetKernel(&handle, (const void *)mix);
		__cudaLaunchKernel(handle, grid, block, args, 48, stream);
	} else {
		cudaLaunchKernel((const void *)mix, grid, block, args, 0, stream);
	}
}
int
main()
{
	float *a, *b;
	char device[] = "mix";

	__cudaRegisterFunction(nullptr, (const char *)mix, device, "_Z3mixPKfPfid", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
	cudaMalloc((void **)&a, 4096);
	cudaMalloc((void **)&b, 4096);
	for (int i = 1; i <= 4; i++)
		row_mix(a, b, i * 32, nullptr);
	cudaFree(a);
	cudaFree(b);
}
EOF
cc -shared -fPIC -o libcudart.so "$apps/cudart-stub.c"
cc -c -o stub.o "$apps/cudart-stub.c"
t 'launches within calls of the host function: geometry, memory of the device, time on its clock' '
	cuda row_mix "$T/libcudart.so"
	is "1,2,3,4" "$(calls cc | jq -r ".grid[0]" | paste -sd,)"
	calls cc | jq -es "all(.clock == \"device\" and .ns == 500000 and .block == [32, 8, 1] and (.launches | length) == 1)"
	calls cc | tail -1 | jq -e ".args == {rows: 128} and .grid == [4, 2, 1] and .shared == 48 and .launches[0].symbol == \"_Z3mixPKfPfid\""
	calls cc | tail -1 | jq -e ".launches[0].args | .rows == 128 and .gain == 1.5 and .to == {bytes: 4096, offset: 0}"
	calls cc | head -1 | jq -e ".pointers | .x.device and .x.read and .x.written == false and .y.written and .y.bytes == 4096"
	kadopt configs -c cc; jq -e ".key == [\"grid_x\", \"block_x\"] and .aligned and (.configs | length) == 4 and .configs[0].block == [32, 8, 1]" cc/adopt/configs.json'
t 'blocks of the reference are compared as triples: 256 threads in another form are another launch' '
	mkdir -p cc/adopt/task; jq -n --arg t "$T" "{schema: \"adopt/1\", project: (\$t + \"/cu\"), file: \"f.cu\", kernel: \"row_mix\", language: \"cuda\", build: \"true\", run: \"./app\"}" >cc/adopt.json
	jq -n "{schema: \"unit/1\", entry: \"row_mix\", parameters: [{name: \"x\", type: \"float\", pointer: true, constant: true},
		{name: \"y\", type: \"float\", pointer: true}, {name: \"rows\", type: \"int\"}, {name: \"stream\", type: \"cudaStream_t\"}]}" >cc/adopt/unit.json
	launched() {
		printf "%s\n" "__global__ void mix(const float *from, float *to, int rows, double gain) {}" "void row_mix(const float *x, float *y, int rows, cudaStream_t stream)" "{" \
			"	mix<<<dim3(rows / 32, 2), $1, 0, stream>>>(x, y, rows, 1.5);" "}" >cc/adopt/task/reference.cu
	}
	for b in "dim3(256, 1)=256,1,1" 256=256,1,1 "dim3(8, 32)=8,32,1"; do
		launched "${b%=*}"; exits 1 kadopt task -c cc
		grep -q "top1: the application launches blocks of \\[32,8,1\\], but the reference launches blocks of \\[\\[${b#*=}\\]\\]" err
	done
	launched "dim3(32, 8)"; exits 2 kadopt task -c cc; if grep "launches blocks" err; then exit 1; fi; rm cc/adopt.json cc/adopt/unit.json'
t 'times of short launches by activity records, where CUPTI is next to the run-time library' '
	mkdir records; cp libcudart.so records; cc -shared -fPIC -o records/libcupti.so "$apps/cupti-stub.c"
	cuda row_mix "$T/records/libcudart.so"
	calls cc | jq -es "length == 4 and all(.clock == \"records\" and .ns == 7000)"
	jq -es ".[1:] | all(.ns == 7000)" cc/adopt/timing.ndjson
	STUB_RUNS=1 cuda row_mix "$T/records/libcudart.so" 2>err; if grep "timed by events" err; then exit 1; fi
	STUB_RUNS=1 cuda row_mix "$T/libcudart.so" 2>err; grep -q "timed by events.*libcupti" err
	KWATCH_EVENTS=1 cuda row_mix "$T/records/libcudart.so"; calls cc | jq -es "all(.clock == \"device\" and .ns == 500000)"'
t 'the static run-time library: a copy is linked with the shared one beside it, however it is asked for; the project is not' '
	mkdir both; ar rc both/libcudart_static.a stub.o; cp libcudart.so both
	echo "-L$T/both -lcudart_static" >cu/words
	link() { exits 0 kadopt observe -c cl2 -p cu --file f.cu --kernel row_mix --runs 0 --force --build "$(command -v c++) -D__CUDACC__ -x c++ f.cu -x none -o app $1" --run ./app; is 4 "$(calls cl2 | wc -l)"; }
	for how in "-L$T/both -lcudart_static" "-L$T/both -Wl,-Bstatic -lcudart_static -Wl,-Bdynamic" "-L$T/both -l:libcudart_static.a" "$T/both/libcudart_static.a" @words; do
		link "$how"; readelf -d cl2/adopt/watch/copy/app >dynamic; grep -q "NEEDED.*libcudart.so\|NEEDED.*$T/both" dynamic; grep -q "R.*PATH.*$T/both" dynamic
	done
	rm cu/words; is f.cu "$(ls cu)"; is "ld ld.bfd ld.gold ld.lld ld.mold" "$(ls cl2/adopt/watch/linkers | xargs)"
	mkdir llvm; cp "$(command -v timeout)" llvm; printf "#!/bin/sh\necho beside the compiler\n" >llvm/ld.mold; chmod +x llvm/ld.mold
	is "beside the compiler" "$(COMPILER_PATH=$T/cl2/adopt/watch/linkers llvm/timeout 60 cl2/adopt/watch/linkers/ld.mold -o app)"
	rm both/libcudart.so
	exits 3 kadopt observe -c cl2 -p cu --file f.cu --kernel row_mix --runs 0 --force --build "c++ -D__CUDACC__ -x c++ f.cu -x none -o app -L$T/both -lcudart_static" --run ./app
	grep -q "kadopt saw no launch, because the CUDA run-time library is linked statically" err'
t 'a run-time library within the program: no launch is seen, and it is said' '
	exits 3 cuda row_mix "$T/stub.o" --force; grep -q "kadopt saw no launch, because the CUDA run-time library is linked statically; relink with -cudart shared, or use --instrument" err'

# What else an application does with streams, devices and errors; the watch must not change the results.
mkdir more
cat >more/f.cu <<'END'
#include <cstring>
#include <thread>
struct dim3 { unsigned x, y, z; };
typedef void *cudaStream_t;
extern "C" {
int cudaMalloc(void **, size_t);
int cudaSetDevice(int);
int cudaGetLastError(void);
int cudaStreamCreate(void **);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, void *);
}
#define __global__
__global__ void mix(const float *from, float *to, int rows, double gain) { (void)from, (void)to, (void)rows, (void)gain; }
__global__ void mix_one(const float *from, float *to) { (void)from, (void)to; }
__global__ void wide(float *a00, float *a01, float *a02, float *a03, float *a04, float *a05, float *a06, float *a07, float *a08, float *a09, float *a10,
    float *a11, float *a12, float *a13, float *a14, float *a15, float *a16, float *a17, float *a18, float *a19, float *a20, float *a21) {}
#define FAILED(x) if (x) return __LINE__
void
row_mix(const float *x, float *y, int rows, int times, cudaStream_t stream = nullptr)
{
	void *args[] = { &x, &y }, *all[22];
	dim3 grid = { (unsigned)rows, 1, 1 }, block = { 32, 1, 1 };

	for (int i = 0; i < 22; i++)
		all[i] = &y;
	for (int i = 0; i < times; i++)
		cudaLaunchKernel(times > 1 ? (const void *)wide : (const void *)mix_one, grid, block, times > 1 ? all : args, 0, stream);
}
static void
each(float *a, float *b)
{
	for (int i = 0; i < 50; i++)
		row_mix(a, b, 77, 1);
}
int
main()
{
	float *a, *b, *c, *d;
	char device[] = "mix";
	void *near, *far, *graph;

	__cudaRegisterFunction(nullptr, (const char *)mix, device, "_Z3mixPKfPfid", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
	__cudaRegisterFunction(nullptr, (const char *)mix_one, device, "_ZN4mix_7mix_oneEPKfPf", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
	__cudaRegisterFunction(nullptr, (const char *)wide, device, "_Z4widePfS_", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
	cudaMalloc((void **)&a, 4096);
	cudaMalloc((void **)&b, 4096);
	cudaMalloc((void **)&c, 1 << 22);
	cudaMalloc((void **)&d, 1 << 22);
	cudaStreamCreate(&near);
	cudaSetDevice(1);
	cudaStreamCreate(&far);
	row_mix(a, b, 1, 1, far);
	cudaSetDevice(0);
	row_mix(a, b, 2, 1, far);
	FAILED(cudaGetLastError());
	cudaStreamBeginCapture(near, 0);
	row_mix(a + 8, b, 3, 1, near);
	row_mix(a, b, 4, 1);
	row_mix(a, b, 5, 1, far);
	FAILED(cudaStreamEndCapture(near, &graph));
	FAILED(cudaGetLastError());
	row_mix(a, b, 0, 1);
	FAILED(cudaGetLastError() != 9);
	row_mix(a, b, 0, 1);
	row_mix(a, b, 6, 1, near);
	FAILED(cudaGetLastError() != 9);
	row_mix(a, b, 7, 20, near);
	std::thread one(each, a, b), two(each, c, d);
	one.join();
	two.join();
	return 0;
}
END
t 'captures, other devices and errors are as without a watch; what cannot be timed on the device is timed on the host' '
	exits 0 kadopt observe -c cmore -p more --file f.cu --kernel row_mix --build "c++ -D__CUDACC__ -x c++ f.cu -x none $T/libcudart.so -o app -pthread" --run ./app --runs 1
	is 109 "$(calls cmore | wc -l)"
	of() { calls cmore | jq -c "select(.args.rows == $1) | $2"; }; holds() { of "$@" | grep -qx true; }
	is "[\"device\",500000]" "$(of 1 "[.clock, .ns]")"; is "\"host\"" "$(of 2 .clock)"; holds 2 ".ns > 0"
	is "\"host\" \"host\" \"host\"" "$(for i in 3 4 5; do of $i .clock; done | paste -sd" ")"
	holds 3 "(.pointers.x | del(.align)) == {bytes: 4096, const: true, device: true, offset: 32, read: true, room: 4064}"
	holds 3 ".launches[0].symbol | endswith(\"mix_oneEPKfPf\")"; holds 3 ".launches[0].args | keys == [\"from\", \"to\"]"
	of 0 "(has(\"launches\") or has(\"grid\")) | not" >zero; is 2 "$(wc -l <zero)"
	holds 7 ".launches | length > 8 and all(.args | length > 20)"
	calls cmore | jq -es "map(select(.args.rows == 77)) | length == 100 and all(.pointers | .x.written != true and .y.written != false)"'

if command -v nvcc >/dev/null; then
	t 'an application of nvcc: its calls and launches, linked with the static library, with a stand-in for the run-time library' '
		mkdir stub
		echo "libcudart.so.13 { *; };" >map
		cc -shared -fPIC -Wl,-soname,libcudart.so.13 -Wl,--version-script=map -o stub/libcudart.so.13 "$apps/cudart-stub.c"
		for v in 11.0 12; do cp stub/libcudart.so.13 stub/libcudart.so.$v; done
		cp -r "$apps/mosaic" m; rm -r m/replies; sed -i "s/ -cudart shared//; s|NVCC ?= nvcc|NVCC ?= $(command -v nvcc)|" m/Makefile
		kadopt observe -c cm -p m --file src/soften.cu --kernel mosaic_soften --build "make -s -j2 ARCH=sm_75 NVCCFLAGS=-O1" --run "LD_LIBRARY_PATH=$T/stub ./mosaic -n 4 mosaic.out" --runs 1
		is 12 "$(calls cm | wc -l)"
		calls cm | jq -es "all(.block == [32, 8, 1] and (.launches | length) == 1 and .pointers.dst.written != false and .pointers.src.bytes == 4 * .args.width * .args.height)"
		calls cm | jq -r ".launches[0].symbol" | sort -u >names; grep -q soften_kernelIfLi1E names; grep -q soften_kernelIfLi5E names
		kadopt configs -c cm; jq -e ".coverage > 0.99 and .configs[0].scalars.contrast == 0.25" cm/adopt/configs.json
		readelf -d cm/adopt/watch/copy/mosaic | grep -q "NEEDED.*libcudart.so"; is "Makefile README include src" "$(ls m | xargs)"'
	if command -v cmake >/dev/null; then
		t 'the same, built by CMake' '
			rm m/Makefile
			printf "cmake_minimum_required(VERSION 3.18)\nproject(mosaic LANGUAGES CXX CUDA)\nset(CMAKE_CUDA_STANDARD 17)\ninclude_directories(include)\nadd_library(img STATIC src/scene.cu src/soften.cu src/tone.cu)\nadd_executable(mosaic src/main.cu)\ntarget_link_libraries(mosaic img)\n" >m/CMakeLists.txt
			kadopt observe -c cm2 -p m --file src/soften.cu --kernel mosaic_soften --build "cmake -B build -DCMAKE_CUDA_ARCHITECTURES=75 >/dev/null && cmake --build build -j2" --run "LD_LIBRARY_PATH=$T/stub build/mosaic -n 4 mosaic.out" --runs 0
			is 12 "$(calls cm2 | wc -l)"; is "CMakeLists.txt README include src" "$(ls m | xargs)"'
	else
		skip 'the same, built by CMake' 'cmake is not installed'
	fi
else
	skip 'an application of nvcc' 'nvcc is not installed'
fi

if /usr/bin/python3 -W ignore -c 'import jsonschema' 2>/dev/null; then
	t 'what is written is as the schemas say' '
		valid() { /usr/bin/python3 -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" "$@"; }
		valid observed-1 c*/adopt/observed.ndjson c*/adopt/timing.ndjson; valid configs-1 c*/adopt/configs.json'
else
	skip 'what is written is as the schemas say' 'python3-jsonschema is not installed'
fi
done_testing
