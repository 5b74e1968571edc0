#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# OpenCL: programs that consist of device code only, built, judged and timed on the available device (PoCL without a
# GPU).
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

KILN_LOCK_DIR=$T
mkdir "$T/tmp"
chmod 755 "$T"
chmod 1777 "$T/tmp"
TMPDIR=$T/tmp
export KILN_LOCK_DIR TMPDIR
if ! krun-opencl --facts >facts.json 2>why; then
	skip 'OpenCL' "$(head -n 1 why) (package pocl-opencl-icd)"
	done_testing
fi
printf '# device: %s\n' "$(jq -r '.platform + " / " + .device' facts.json)"

saxpy=$tests_dir/tasks/opencl_saxpy
softmax=$KILN_DATA/campaigns/softmax_opencl
export saxpy softmax
mkdir saxpy softmax
cp "$saxpy"/* saxpy
cp -r "$softmax"/*.* softmax
echo '{"name":"saxpy","backend":"opencl","eval":{"timing_s":0.05,"seeds":1,"run_timeout_s":3}}' \
	>saxpy/campaign.json

# evaluate FILE: the campaign's verdict on a program; try SCRIPT: on the reference, changed by sed.
mkdir bin
cat >bin/evaluate <<'E2'
#!/bin/sh -eu
keval -c "${campaign:-saxpy}" --code "$1" >eval.ndjson
jq -c .eval eval.ndjson >eval.json
jq -c '[.status, .reasons, .log, .build.log]' eval.json
E2
cat >bin/try <<'E2'
#!/bin/sh -eu
sed "$1" "${campaign:-saxpy}/reference.cl" >changed.cl
if cmp -s changed.cl "${campaign:-saxpy}/reference.cl"; then exit 1; fi
evaluate changed.cl
E2
chmod +x bin/evaluate bin/try
PATH=$T/bin:$PATH

ok 'the device is reported' '
	jq -e ".platform and .device and .driver and (.cpu | type == \"boolean\") and .alignment > 0" facts.json
	exits 3 env KILN_OPENCL_DEVICE="no such device" krun-opencl --facts
	grep -q "no device called no such device" err
	exits 3 env KILN_OPENCL=libnothing.so krun-opencl --facts
	exits 2 krun-opencl
	KILN_OPENCL_DEVICE=$(jq -r ".device | ascii_upcase" facts.json) krun-opencl --facts | jq -e .device'
ok 'a reference is evaluated from end to end' '
	keval -c saxpy --reference >out
	jq -e ".eval | .status == \"correct\" and .tier == 3 and .correctness.passed == .correctness.total and
		.correctness.total >= 6 and (.timing | length == 1) and (.build.command | startswith(\"krun-opencl\"))" out
	jq -e ".eval.environment.opencl | .device and .driver" out
	mkdir -p saxpy/trials/000 && cp out saxpy/trials/000/eval.ndjson'
ok 'wrong values' '
	try "s/a \* x/2 * x/"
	jq -e ".status == \"wrong_value\" and (.log | contains(\"wrong: workload\"))" eval.json'
ok 'a part only' '
	try "s/grid=ceildiv(n,64)/grid=1/"
	jq -e ".status == \"wrong_value\" or .status == \"partial\"" eval.json'
ok 'outputs that are not written' '
	try "s/y\[i\] +=.*/;/"
	jq -e ".status == \"wrong_value\"" eval.json'
ok 'a write out of bounds' '
	try "s/if (i < (size_t)n)/if (i == 0) y[n] = 1; &/"
	jq -e ".status == \"run_error\" and .reasons[0].check == \"out_of_bounds_write\"" eval.json'
ok 'a write to the inputs' '
	try "s/y\[i\] +=.*/((__global float *)x)[i] = a;/"
	jq -e ".status == \"run_error\"" eval.json'
ok 'no end' '
	try "s/if (i < (size_t)n)/while (((volatile __global float *)y)[0] < 1e30f) y[i] = 0; &/"
	jq -e ".status == \"run_error\" and .reasons[0].check == \"timeout\"" eval.json'
ok 'syntax' '
	try "s/float a)/float a/"
	jq -e ".status == \"compile_error\" and .tier == 1 and (.build.log | contains(\"candidate.cl:\"))" eval.json'
ok 'no launch line' '
	try "/kiln:/d"
	jq -e ".status == \"compile_error\" and (.log | contains(\"no line says how to launch it: // kiln: launch kernel=\"))" eval.json'
ok 'launch lines with faults' '
	try "s/block=64/blocks=64/"
	jq -e ".status == \"compile_error\" and (.log | contains(\"line 3: '"'"'blocks=64'"'"' must be one of\"))" eval.json
	try "s/grid=ceildiv(n,64)/grid=m/"
	jq -e ".status == \"compile_error\" and .reasons[0].check == \"launch\" and (.log | contains(\"no such axis: m\"))" eval.json
	try "s/kernel=saxpy/kernel=nothing/"
	jq -e ".status == \"compile_error\" and (.log | contains(\"the program has no kernel nothing\"))" eval.json'
ok 'parameters that differ from those of the task' '
	try "s/, float a)/)/; s/a \* x/x/"
	jq -e ".status == \"run_error\" and (.log | contains(\"takes 3 arguments, but the task has 4\"))" eval.json'
ok 'local memory and shared= come together' '
	try "s/block=64/block=64 shared=256/"
	jq -e ".status == \"run_error\" and (.log | contains(\"kernel saxpy: shared= asks for local memory, but\"))" eval.json
	try "s/float a)/float a, __local float *t)/"
	jq -e ".status == \"run_error\" and (.log | contains(\"kernel saxpy: it has one parameter more than the task\"))" eval.json'
ok 'two launches, local memory' '
	cat >two.cl <<"E2"
// kiln: launch kernel=first grid=ceildiv(n,32) block=32 shared=32*4
// kiln: launch kernel=second grid=ceildiv(n, 8 * 4),1,1 block=8,4
__kernel void first(__global const float *x, __global float *y, int n, float a, __local float *kept)
{
	size_t i = get_global_id(0);
	kept[31 - get_local_id(0)] = i < n ? x[i] : 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (i < n)
		y[i] += kept[31 - get_local_id(0)];
}
__kernel void second(__global const float *x, __global float *y, int n, float a)
{
	size_t i = get_group_id(0) * 32 + get_local_id(1) * 8 + get_local_id(0);
	if (i < n)
		y[i] += (a - 1) * x[i];
}
E2
	evaluate two.cl
	jq -e ".status == \"correct\"" eval.json'
ok 'a bundle' '
	mkdir bundle
	sed "s/a \* x/FACTOR * x/; 1i #include \"more.h\"" saxpy/reference.cl >bundle/candidate.cl
	echo "#define FACTOR a" >bundle/more.h
	cd bundle && krun-opencl --build candidate.cl candidate.obj'
ok 'what the source may not contain' '
	try "s/if (i </__asm__ volatile(\"nop\"); &/"
	jq -e ".status == \"rejected\" and .reasons[0].check == \"inline_assembly\"" eval.json
	try "s/if (i </printf(\"x\"); &/"
	jq -e ".status == \"rejected\"" eval.json'
ok 'words made by pasting are caught as well' '
	jq -e .cpu facts.json || exit 0
	try "1i #define J(a, b) a##b
		s/if (i </J(__as, m__) volatile(\"nop\"); &/"
	jq -e ".status == \"compile_error\" and (.log | contains(\"no_inline_assembly_in_OpenCL_C\"))" eval.json
	cat >hook.cl <<"E2"
#define J(a, b) a##b
__attribute__((noinline, J(construc, tor))) void hook(void);
void hook(void) { for (volatile int i = 1; i;) ; }
E2
	sed "s/if (i </if (n < 0) hook(); &/" saxpy/reference.cl >>hook.cl
	evaluate hook.cl
	jq -e ".status == \"correct\" and (.build.log | contains(\"no_constructor\"))" eval.json
	try "1i #undef __constructor__"
	jq -e ".status == \"rejected\" and .reasons[0].check == \"load_hook\"" eval.json'
ok 'functions of the host are out of reach' '
	jq -e ".platform == \"Portable Computing Language\"" facts.json || exit 0
	try "s/^__kernel/int getpid(void);\n&/; s/a \* x/(getpid() ? a : 0) * x/"
	jq -e ".status == \"compile_error\"" eval.json'
ok 'a better kernel gains' '
	cat >better.cl <<"E2"
// kiln: launch kernel=softmax grid=rows block=1
__kernel void softmax(__global const float *x, __global float *y, int rows, int cols)
{
	__global const float *in = x + get_global_id(0) * cols;
	__global float *out = y + get_global_id(0) * cols;
	int whole = cols / 8;
	float8 top = (float8)(in[0]), sums = (float8)(0);
	float max, sum = 0;

	for (int j = 0; j < whole; j++)
		top = fmax(top, vload8(j, in));
	for (int j = whole * 8; j < cols; j++)
		top.s0 = fmax(top.s0, in[j]);
	float4 a = fmax(top.lo, top.hi);
	max = fmax(fmax(a.x, a.y), fmax(a.z, a.w));
	for (int j = 0; j < whole; j++) {
		float8 e = exp(vload8(j, in) - max);

		sums += e;
		vstore8(e, j, out);
	}
	for (int j = whole * 8; j < cols; j++)
		sum += out[j] = exp(in[j] - max);
	a = sums.lo + sums.hi;
	sum = 1 / (sum + a.x + a.y + a.z + a.w);
	for (int j = 0; j < whole; j++)
		vstore8(vload8(j, out) * sum, j, out);
	for (int j = whole * 8; j < cols; j++)
		out[j] *= sum;
}
E2
	kb=$KILN_BUILD
	"$kb/krun-opencl" --build softmax/reference.cl reference.obj
	"$kb/krun-opencl" --build better.cl better.obj
	cc -O2 -fopenmp -DREAL=double -shared -fPIC -o oracle.so softmax/oracle.c -lm
	kharness -t softmax/task.json -s quick --backend opencl --oracle oracle.so --timing-s 0.3 --seeds 1 \
		--against reference=reference.obj better.obj >pairs.json
	jq -e ".candidates[0].status == \"correct\"" pairs.json
	jq -c .pairs pairs.json
	jq -e ".pairs | length == 2 and all(.ratio > 1.5)" pairs.json'
# The driver then enqueues all calls before the first kernel begins, which is not forgery.
ok 'many short calls on one CPU' '
	jq ".workloads |= (map(del(.timed)) + [{\"name\":\"short\",\"axes\":{\"n\":1000},\"timed\":true}])" \
		saxpy/task.json >short.json
	krun-opencl --build saxpy/reference.cl short.obj
	cc -O2 -shared -fPIC -o short.so saxpy/oracle.c
	kharness -t short.json -s quick --backend opencl --oracle short.so --threads 1 --timing-s 0.2 --seeds 1 short.obj >out
	jq -c ".candidates[0] | .status, .reasons, .timing" out
	jq -e ".candidates[0] | .status == \"correct\" and (.timing | length == 1)" out'
ok 'a device with memory of its own: the same verdicts' '
	export KILN_OPENCL_COPY=1
	try "s/x\[i\];/x[i]; /"
	jq -e ".status == \"correct\" and .tier == 3" eval.json
	try "s/if (i < (size_t)n)/if (i == 0) y[n] = 1;  &/"
	jq -e ".reasons[0].check == \"out_of_bounds_write\"" eval.json
	try "s/y\[i\] +=.*/((__global float *)x)[i] = a ;/"
	jq -e ".reasons[0].detail == \"it wrote to its inputs\"" eval.json
	try "s/a \* x/3 * x/"
	jq -e ".status == \"wrong_value\"" eval.json'
for level in landlock none; do
	export level
	ok "sandbox $level" '
		kharness --lint saxpy/task.json
		cc -O2 -shared -fPIC -o saxpy.so saxpy/oracle.c
		krun-opencl --build saxpy/reference.cl saxpy.obj
		kharness -t saxpy/task.json --backend opencl --oracle saxpy.so --phase correctness --sandbox $level saxpy.obj >out || {
			[ $level = landlock ] && exit 0
			exit 1
		}
		jq -e ".candidates[0].status == \"correct\"" out'
done
ok 'what kharness refuses' '
	cc -O2 -shared -fPIC -o saxpy.so saxpy/oracle.c
	exits 2 kharness --solo -t saxpy/task.json --backend opencl saxpy.so
	kharness -t saxpy/task.json --backend opencl --oracle saxpy.so --phase correctness saxpy.so >out
	jq -e ".candidates[0] | .status == \"run_error\" and .reasons[0].check == \"launch\"" out
	jq "del(.oracle)" saxpy/task.json >t && cp saxpy/task.json kept && cp t saxpy/task.json
	exits 2 keval -c saxpy --reference; grep -q "\"oracle\" is missing" err
	cp kept saxpy/task.json'
done_testing
