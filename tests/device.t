#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The judge's kernels for GPUs, run on the CPU and compared with the judge's code for the host (device/device.cc). And
# everything about the GPU backends that can be tested without a device.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

: "${KILN_BUILD:=$KILN_DATA/build}"
export KILN_BUILD

ok 'kernels of the judge and code for the host reach the same verdict' '
	"${CXX:-g++}" -std=c++17 -O1 -g -D_GNU_SOURCE -I"$KILN_DATA/tools/core" -I"$KILN_DATA/tools/model" -I"$KILN_DATA/tools/kharness" -o device \
		"$tests_dir/device/device.cc" "$KILN_BUILD"/tools/kharness/host.o "$KILN_BUILD"/tools/kharness/values.o \
		"$KILN_BUILD/libkiln.a" ${LDFLAGS-} -ljansson -lmd -lseccomp -lpcre2-8 -lffi -lm -pthread
	./device >out || { grep -v "^ok" out; exit 1; }
	is 134 "$(grep -c "^ok" out)"'

ok 'without a driver or a device: a message about what is missing, and no result' '
	command -v nvidia-smi >/dev/null && exit 0
	cp "$tests_dir"/tasks/cuda_saxpy/* .
	code=0; kharness --backend cuda -t task.json --phase timing -o none ./reference.cu 2>err || code=$?
	is 3 "$code"
	grep -q "no cuda device" err
	test ! -e none
	code=0; kharness --backend hip -t task.json --phase timing ./reference.cu 2>err || code=$?
	is 3 "$code"; grep -q "no hip device" err
	cc -shared -fPIC -o oracle.so -x c /dev/null; exits 2 kharness --lint task.json --oracle oracle.so; grep -q "give --backend cuda or hip" err'

ok 'judge and runner of a GPU, with a driver whose device is the CPU' '
	mkdir fake
	"${CXX:-g++}" -std=c++17 -O1 -w -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -I"$KILN_DATA/tools/core" -I"$KILN_DATA/tools/model" \
		-I"$KILN_DATA/tools/kharness" -o fake/libcuda.so.1 "$tests_dir/device/driver.cc" "$KILN_BUILD/libkiln.a"
	for l in nvrtc cudart; do ln -s libcuda.so.1 fake/lib$l.so.13; done
	cp "$KILN_BUILD/kharness" fake
	"${CC:-cc}" ${LDFLAGS-} -o fake/krun-gpu "$KILN_BUILD"/tools/helpers/krun-gpu.o "$KILN_BUILD"/tools/helpers/krunner.o "$KILN_BUILD/libkiln.a" \
		-Wl,-rpath,"$PWD/fake" -Wl,--export-dynamic-symbol=cudaMalloc -Wl,--export-dynamic-symbol=cudaFree -ljansson -lmd -lseccomp -lpcre2-8 -lffi -lm
	jq "(.workloads[] | select(.name == \"prime\" or .name == \"main\").axes.count) |= 30001" "$tests_dir/tasks/cuda_saxpy/task.json" >fake/task.json
	chmod 755 . fake
	# kernel NAME BEFORE AFTER: saxpy, with statements before and after it. Sizes of 1 come in checks only.
	kernel() {
		echo "void saxpy(const REAL *x, const REAL *z, REAL *y, long n, REAL f, void *stream)
			{ static int calls, checked; calls++; checked |= n == 1; ${2-}; for (long i = 0; i < n; i++) y[i] = f * x[i] + z[i]; ${3-}; }" >k.c
		cc -O1 -w -fPIC -shared -DREAL="${REAL:-float}" -o "fake/$1.so" k.c
	}
	REAL=double kernel oracle
	kernel right
	kernel writes "" "if (calls > 3 && !checked) ((float *)x)[3] = 1"
	kernel past "" "if (calls > 3 && !checked) y[n] = 1"
	kernel wrong "" "if (calls > 3) y[n / 2] += 1"
	kernel quits "" "if (calls > 3) exit(0)"
	judged() { # [OPTION...] FILE: status and reason
		LD_LIBRARY_PATH=$PWD/fake KILN_LOCK_DIR=$PWD/fake fake/kharness --backend cuda -t fake/task.json -s quick --timing-s 0.05 --warmup-s 0.01 \
			--memory-mb 512 --busy-s 8 --sandbox none --oracle fake/oracle.so --against other=fake/right.so "$@" >judged.json
		jq -r ".candidates[0] | \"\(.status) \(.reasons[0].check)\"" judged.json
	}
	is "correct null" "$(judged fake/right.so)"
	jq -e ".candidates[0].correctness | .total > 20 and .passed == .total" judged.json
	is "run_error crash" "$(judged fake/writes.so)"
	jq -r ".candidates[0].log" judged.json | tee writes.log
	grep -q "byte 12 of x, among the inputs" writes.log
	is "run_error out_of_bounds_write" "$(judged fake/past.so)"
	is "partial wrong_result" "$(judged fake/wrong.so)"
	is "run_error exit" "$(judged fake/quits.so)"
	# Slow where nobody has checked it, as an anchor: the candidate is timed like that, too.
	kernel knows "
		for (int k = 0; !checked && k < 20; k++) for (long i = 0; i < n; i++) ((volatile float *)y)[i] = k"
	is "correct null" "$(judged fake/knows.so)"
	jq -e "(.machine.busy and .pairs == []) or .pairs[0].ratio < 0.5" judged.json
	# It begins before the candidate is there, and says when its answer is complete.
	: >fake/early.so; mkfifo fake/go
	(exec 3>fake/go; sleep 1; cat fake/right.so >fake/early.so; printf "\\1\\0\\0\\0\\0\\0\\0\\0" >&3) &
	is "correct null" "$(judged --await fake/early.so <fake/go)"
'

ok 'contents that a workload fixes: checked by name' '
	jq ".inputs.k={shape:[3],dtype:\"int32\"} | .entry.arguments+=[\"k\"] | .workloads[0].values={k:[1,2,3]}" "$tests_dir/tasks/cuda_saxpy/task.json" >a.json
	kharness --lint a.json 2>err || { cat err; exit 1; }
	jq ".workloads[0].values={k:[1,2]}" a.json >b.json
	not kharness --lint b.json 2>err; grep -q "k must be a list of 3 integers" err
	jq ".workloads[0].values={x:[1,2]}" a.json >b.json
	not kharness --lint b.json 2>err; grep -q "x. must be an input of an integer type" err'

if command -v g++ >/dev/null && bwrap --dev-bind / / true 2>/dev/null; then
	ok 'kharness gets ready for a device while the candidate is built' '
		mkdir bin early; cp "$KILN_BUILD/keval" bin
		for f in "$KILN_BUILD"/*; do [ "${f##*/}" = keval ] || ln -s "$f" bin; done
		rm bin/kharness
		cat >bin/kharness <<-\END
			#!/bin/sh
			case $* in *--lint*) exit 0 ;; *--await*) ;; *) exit 9 ;; esac
			for so; do :; done
			[ -e "$so" ] && [ ! -s "$so" ] || exit 8
			[ "$(head -c 8 | wc -c)" = 8 ] || exit 7
			grep -q saxpy "$so" || exit 6
			echo "{\"schema\":\"harness/1\",\"spent_s\":{},\"candidates\":[{\"name\":\"candidate\",\"status\":\"wrong_value\",\"tier\":2}]}"
			# Nobody waits until it has given back what it had of the device.
			exec sleep 60 <&-
		END
		chmod 755 bin/kharness
		jq ".build = {compiler: \"g++\", flags: [\"-x\", \"c++\", \"-O2\", \"-w\"]}" "$tests_dir/tasks/cuda_saxpy/task.json" >early/task.json
		printf "{\"schema\":\"campaign/1\",\"name\":\"x\",\"backend\":\"cuda\",\"language\":\"cuda\"}" >early/campaign.json
		for f in oracle reference; do echo "extern \"C\" int $f(int n) { return n; }" >early/$f.cu; done
		mkdir -p early/trials/000/00
		echo "{\"schema\":\"candidate/1\",\"id\":\"000/00\",\"eval\":{}}" >early/trials/000/00/eval.ndjson
		echo "extern \"C\" int saxpy(int n) { return n; }" >good.cu
		echo "extern \"C\" int saxpy(int n) { return x; }" >bad.cu
		timeout 40 bin/keval -c early --code good.cu -o good
		is wrong_value "$(jq -r .eval.status good)"
		bin/keval -c early --code bad.cu -o bad
		is compile_error "$(jq -r .eval.status bad)"'
fi
if command -v g++ >/dev/null; then
	ok 'host code may use containers of the C++ library, but nothing that starts, waits, opens or hooks' '
		mkdir x; cp "$tests_dir"/tasks/cuda_saxpy/* x
		printf "{\"schema\":\"campaign/1\",\"name\":\"x\",\"backend\":\"cuda\",\"language\":\"cuda\"}" >x/campaign.json
		jq ".build = {compiler: \"g++\", flags: [\"-x\", \"c++\", \"-O2\", \"-std=c++17\", \"-w\"]}" \
			"$tests_dir/tasks/cuda_saxpy/task.json" >x/task.json
		judged() { # HEADER BODY: the status, and what the first reason names
			{ for h in $1; do echo "#include <$h>"; done; echo "extern \"C\" int saxpy(int n) { $2 }"; } >try.cu
			# If it is allowed, the next step is the oracle, which an ordinary compiler cannot build.
			rm -f out
			if keval -c x --code try.cu -o out 2>err; then
				jq -r "\"\(.eval.status) \(.eval.reasons[0].check)\"" out
			else
				grep -o "build as the oracle" err
			fi
		}
		while IFS="|" read -r headers body; do
			is "$body: rejected forbidden_symbol" "$body: $(judged "$headers" "$body")"
		done <<-\END
			thread|std::thread([] {}).detach(); return 0;
			future|std::async(std::launch::async, [] {}); return 0;
			thread chrono|std::this_thread::sleep_for(std::chrono::seconds(1)); return 0;
			chrono|return (int)std::chrono::high_resolution_clock::now().time_since_epoch().count();
			condition_variable|std::condition_variable c; c.notify_one(); return 0;
			random|return (int)std::random_device()();
			fstream|std::ifstream("x").get(); return 0;
			filesystem|return std::filesystem::exists("x");
			locale|std::locale l("x"); return 0;
			iostream|std::cout << n; return 0;
			sstream|std::ostringstream s; s << n; return 0;
			exception|std::set_terminate([] {}); return 0;
			new|std::set_new_handler([] {}); return 0;
			cstddef|int __cudaGetProcAddress(void); return __cudaGetProcAddress();
			cstddef|extern int getpid(void) __attribute__((weak)); return getpid ? 1 : 0;
		END
		is "build as the oracle" "$(judged "algorithm array functional map set unordered_map vector" "
			std::vector<std::pair<int, int>> v; std::map<int, int> m; std::set<int> s; std::unordered_map<int, int> u;
			std::array<int, 3> a = { n, n, n }; static std::function<int(int)> f = [](int k) { return k; };
			v.push_back({ n, n }); v.reserve(n); m[n] = s.insert(n).second; u[n]++; s.erase(n);
			for (auto &e : m) n += e.first; for (auto &e : u) n += e.second;
			std::sort(v.begin(), v.end()); return std::max(f(n), a.at(n)) + u.at(n) + m.at(n) + v.at(n).first;")"'
fi
if command -v nvcc >/dev/null; then
	ok 'a CUDA candidate that does not compile needs no device' '
		mkdir c; cp "$tests_dir"/tasks/cuda_saxpy/* c
		printf "{\"schema\":\"campaign/1\",\"name\":\"c\",\"backend\":\"cuda\",\"language\":\"cuda\",\"eval\":{\"memory_mb\":16384}}" >c/campaign.json
		echo "extern \"C\" void saxpy() { nonsense; }" >bad.cu
		keval -c c --code bad.cu -o out 2>err || { cat err; exit 1; }
		is compile_error "$(jq -r .eval.status out)"
		jq -e ".eval.log | test(\"nonsense\")" out >/dev/null'
	ok 'what CUDA host code may not do is refused before it runs' '
		while IFS="|" read -r check code; do
			{ echo "#include <cuda_runtime.h>"; echo "$code"; cat c/reference.cu; } >try.cu
			keval -c c --code try.cu -o out 2>err || { cat err; exit 1; }
			is "rejected $check" "$(jq -r "\"\(.eval.status) \(.eval.reasons[0].check)\"" out)"
		done <<-END
			stream|static void s(void) { cudaStream_t t; cudaStreamCreate(&t); }
			device_settings|static void s(void) { cudaDeviceSetLimit(cudaLimitStackSize, 1); }
			l2_persistence|static int s = cudaLimitPersistingL2CacheSize;
			forbidden_symbol|extern "C" int puts(const char *); extern "C" void s(void) { puts("x"); }
			loader|extern "C" void *dlsym(void *, const char *);
		END'
	ok 'code that no call of the kernel reaches may import anything, if the linker drops it' '
		mkdir l; cp c/* l; jq ".build.flags += [\"-Xcompiler\", \"-ffunction-sections\", \"-Xlinker\", \"--gc-sections\"]" c/task.json >l/task.json
		unused="extern \"C\" int puts(const char *); extern \"C\" void s(void) { puts(\"x\"); }"
		{ echo "#include <cuda_runtime.h>"; echo "$unused"; cat c/reference.cu; } >unused.cu
		{ echo "#include <cuda_runtime.h>"; echo "$unused static int at_start = (s(), 1);"; cat c/reference.cu; } >used.cu
		# Without a device it ends there.
		keval -c l --code unused.cu -o out 2>err || grep -q "no cuda device" err
		! grep -q forbidden_symbol out err || { cat out err; exit 1; }
		keval -c l --code used.cu -o out 2>err || { cat err; exit 1; }
		is "rejected forbidden_symbol" "$(jq -r "\"\(.eval.status) \(.eval.reasons[0].check)\"" out)"'
fi

ok 'a profile of a kernel in C, by callgrind' '
	command -v valgrind >/dev/null || exit 0
	# Programs with sanitizers do not run under valgrind.
	! nm -D "$KILN_BUILD/kharness" | grep -q asan || exit 0
	mkdir p; cp "$tests_dir"/tasks/affine/* p
	printf "{\"schema\":\"campaign/1\",\"name\":\"p\",\"backend\":\"c\",\"language\":\"c\",\"eval\":{\"timing_s\":0.05,\"profile\":\"all\"}}" >p/campaign.json
	keval -c p --code p/reference.c -o out 2>err || { cat err; exit 1; }
	is "correct 4 profile/1" "$(jq -r "\"\(.eval.status) \(.eval.tier) \(.eval.profile.schema)\"" out)"
	jq -e ".eval.profile.metrics | length > 0" out >/dev/null
	# The profile covers only the call: drawing its inputs takes twenty times as many instructions.
	! [ -f /usr/include/valgrind/callgrind.h ] || jq -e ".eval.profile.metrics.instruction.instructions.value < 2e6" out'

ok 'a profile of a CUDA kernel, by ncu' '
	command -v ncu >/dev/null && nvidia-smi >/dev/null 2>&1 && command -v nvcc >/dev/null || exit 0
	mkdir n; cp "$tests_dir"/tasks/cuda_saxpy/* n
	printf "{\"schema\":\"campaign/1\",\"name\":\"n\",\"backend\":\"cuda\",\"language\":\"cuda\",\"eval\":{\"memory_mb\":16384,\"timing_s\":0.05,\"profile\":\"all\"}}" >n/campaign.json
	keval -c n --code n/reference.cu -o out 2>err || { cat err; exit 1; }
	# Counters may be forbidden on this machine.
	jq -e ".eval | .status == \"correct\" and (if .profile then .profile.source == \"ncu\" and .profile.launch.duration_ns > 0 and (.profile.kernel | startswith(\"elements\"))
		else .profile_missing | test(\"permission|ERR_NVGPUCTRPERM|not installed\") end)" out'

ok 'a busy host does not make a GPU kernel faster' '
	nvidia-smi >/dev/null 2>&1 && command -v nvcc >/dev/null || exit 0
	mkdir b; cp "$tests_dir"/tasks/cuda_saxpy/* b
	printf "{\"schema\":\"campaign/1\",\"name\":\"b\",\"backend\":\"cuda\",\"language\":\"cuda\",\"eval\":{\"memory_mb\":16384,\"timing_s\":0.05,\"profile\":\"off\"}}" >b/campaign.json
	keval -c b --code b/reference.cu -o idle 2>err || { cat err; exit 1; }
	loops=
	for i in $(seq $((2 * $(nproc)))); do while :; do :; done & loops="$loops $!"; done
	trap "kill \$loops" EXIT
	keval -c b --code b/reference.cu -o busy 2>err || { cat err; exit 1; }
	# It may end without times.
	jq -es "(.[0].eval.timing[0].median_ns) as \$ns | .[1].eval | (.timing // []) | all(.[]; .median_ns > 0.95 * \$ns)" idle busy'

done_testing
