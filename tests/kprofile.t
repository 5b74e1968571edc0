#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# kprofile: real output of ncu on an H200 (data/ncu-h200, from the program profiled.cu there), rows of rocprofv3,
# callgrind, perf; numbers, units and tables that are cut off, misspelt or unknown.
. "${0%/*}/lib.sh"

h200=$tests_dir/data/ncu-h200
export h200

# get FILTER FILE: a raw string from JSON. near A B: within a thousandth.
cat >helpers.sh <<'END'
get() {
	jq -r "$1" "$2"
}
near() {
	awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; m = b < 0 ? -b : b; exit !(d <= m / 1000) }' || {
		echo "$1 is not near $2"
		return 1
	}
}
ids() {
	jq -r '[.findings[].id] | join(" ")' "$1"
}
# raw FILE COLUMN VALUE [UNIT]…: one launch with these metrics, in the form of the raw page.
raw() {
	f=$1
	shift
	h='"ID","Process ID","Kernel Name","Block Size","Grid Size"' u='"","","","",""' r='"0","1","k(int)","(1, 1, 1)","(1, 1, 1)"'
	while [ $# -gt 0 ]; do
		h="$h,\"$1\"" r="$r,\"$2\"" u="$u,\"$3\""
		shift 3
	done
	printf '%s\n' "$h" "$u" "$r" >"$f"
}
END
E='pct_of_peak_sustained_elapsed'
export E

ok 'transpose with a 32-way bank conflict' '
	. ./helpers.sh
	kprofile --kernel transpose "$h200/raw.csv" "$h200/details.csv" >p
	is "profile/1 ncu" "$(get ".schema + \" \" + .source" p)"
	is memory_bound "$(get .bottleneck.label p)"
	is "memory_bound (sm=16.2%, memory=60.3%, dram=21.7%)" "$(get .bottleneck.text p)"
	is "smem_bank_conflicts low_l1_hit high_waves_per_sm low_ipc" "$(ids p)"
	is 65011712 "$(get .findings[0].measured.smem_excess p)"
	near "$(get .findings[0].measured.smem_excess_pct p)" 93.94
	is "high smem_bank_conflicts" "$(get ".findings[0] | .severity + \" \" + .skill" p)"
	is "[]" "$(jq -c .not_evaluable p)"
	is "(256, 256, 1) (32, 32, 1) NVIDIA H200 9.0" "$(get ".launch | [.grid, .block, .device, .compute_capability] | join(\" \")" p)"
	is 496672 "$(get .launch.duration_ns p)"
	is "agrees SharedMemoryConflicts 61.25" "$(get ".recommendations[] | select(.rule == \"SharedMemoryConflicts\") | [.verdict, .rule, .speedup.percent] | join(\" \")" p)"
	is smem_bank_conflicts "$(get .cross_check.agrees[0] p)"
	is "low_l1_hit high_waves_per_sm" "$(get ".cross_check.only_ours | join(\" \")" p)"'
ok 'copy with a stride of 33' '
	. ./helpers.sh
	kprofile --kernel "^strided" "$h200/raw.csv" "$h200/details.csv" >p
	is "poor_coalescing stall_long_scoreboard low_l1_hit low_l2_hit high_waves_per_sm low_ipc" "$(ids p)"
	is 8 "$(get .findings[0].measured.sector_ratio p)"
	is 12.5 "$(get .metrics.memory.coalescing_pct.value p)"
	is 32 "$(get .metrics.memory.sectors_per_request.value p)"
	near "$(get .metrics.memory.dram_gb.value p)" 8.587
	near "$(get .stalls[0].fraction p)" 0.50521
	is "long_scoreboard drain short_scoreboard" "$(get "[.stalls[0:3][].reason] | join(\" \")" p)"
	is "global 87.61" "$(get ".recommendations[0].speedup | [.scope, .percent] | join(\" \")" p)"
	is "UncoalescedGlobalAccess agrees poor_coalescing" "$(get ".recommendations[0] | [.rule, .verdict, .matches[]] | join(\" \")" p)"
	jq -e ".cross_check.only_vendor | index(\"AchievedOccupancy\")" p'
ok 'naive product: the kernel with the longest total time, and its longest launch' '
	. ./helpers.sh
	kprofile "$h200/raw.csv" "$h200/details.csv" >p
	get .kernel p | grep -q "^matmul_naive(const __half \*, "
	is "memory_bound balanced" "$(get ".bottleneck | [.label, .tags[]] | join(\" \")" p)"
	is "0 4196992" "$(get ".launch | [.id, .duration_ns] | join(\" \")" p)"
	is "[2,8392832]" "$(jq -c ".kernels[0] | [.launches, .duration_ns]" p)"
	is "matmul_naive strided_copy transpose_conflict" "$(get "[.kernels[].name | split(\"(\")[0]] | join(\" \")" p)"
	is "stall_lg_throttle" "$(ids p)"; is stall_lg_throttle "$(get .findings[0].skill p)"; test -s "$KILN_DATA/skills/stall_lg_throttle.md"
	is "lg_throttle" "$(get .stalls[0].reason p)"
	near "$(get .stalls[0].fraction p)" 0.4532
	is "agrees stall_lg_throttle" "$(get ".recommendations[] | select(.rule == \"CPIStall\" and .verdict == \"agrees\") | [.verdict, .matches[]] | join(\" \")" p)"'
ok 'every stall is a share' '
	for k in matmul transpose strided; do
		kprofile --kernel $k "$h200/raw.csv" >p
		jq -e "[.metrics.warp_stall | to_entries[] | select(.key | startswith(\"stall_\")) | .value.value] | length == 19 and all(. >= 0 and . < 1) and (add > 0.99 and add < 1.01)" p
	done'
ok 'the order of the files does not matter, and the pages agree' '
	. ./helpers.sh
	for k in matmul transpose strided; do
		kprofile --kernel $k "$h200/raw.csv" "$h200/details.csv" | jq "del(.files, .formats)" >1
		kprofile --kernel $k "$h200/details.csv" "$h200/raw.csv" | jq "del(.files, .formats)" >2
		jq -e -n --slurpfile a 1 --slurpfile b 2 "\$a[0].findings == \$b[0].findings and \$a[0].bottleneck == \$b[0].bottleneck"
	done'
ok 'details page alone: what it does not contain cannot be evaluated' '
	. ./helpers.sh
	kprofile --kernel transpose "$h200/details.csv" >p
	is "memory_bound (sm=16.2%, memory=60.3%, dram=21.7%)" "$(get .bottleneck.text p)"
	is "low_l1_hit high_waves_per_sm low_ipc" "$(ids p)"
	is "huge_dram_traffic poor_coalescing smem_bank_conflicts" "$(get "[.not_evaluable[0:3][].id] | join(\" \")" p)"
	is "dram__bytes_read.sum dram__bytes_write.sum" "$(get ".not_evaluable[0].missing | join(\" \")" p)"
	is 496672 "$(get .launch.duration_ns p)"'
ok 'text page: scaled units, recommendations without names' '
	. ./helpers.sh
	kprofile --kernel transpose "$h200/details.txt" >p
	is ncu-text "$(get .formats[0] p)"
	near "$(get .launch.duration_ns p)" 496670
	is "(256, 256, 1) (32, 32, 1)" "$(get ".launch | [.grid, .block] | join(\" \")" p)"
	is "low_l1_hit high_waves_per_sm low_ipc" "$(ids p)"
	get ".recommendations[] | select(.section == \"Memory Workload Analysis Tables\").text" p | grep -q "96.89% of the overall 67415894 wavefronts"
	is "global 61.25" "$(get ".recommendations[] | select(.section == \"Memory Workload Analysis Tables\").speedup | [.scope, .percent] | join(\" \")" p)"
	kprofile "$h200/details.txt" >p
	is "matmul_naive 2" "$(get ".kernels[0] | (.name | split(\"(\")[0]) + \" \" + (.launches | tostring)" p)"
	near "$(get .launch.duration_ns p)" 4200000
	# The text page and the CSV come from one run, and are joined.
	kprofile --kernel strided "$h200/details.txt" "$h200/raw.csv" >p
	is 3256800 "$(jq ".launch.duration_ns | if . > 3250000 and . < 3260001 then 3256800 else . end" p)"
	is "[]" "$(jq -c .not_evaluable p)"'
ok 'a run for timing only: noise above the table, and no label without its metrics' '
	. ./helpers.sh
	kprofile "$h200/timing.csv" >p
	is 4199904 "$(get .launch.duration_ns p)"
	is "unknown sm__throughput.avg.$E" "$(get ".bottleneck | .label + \" \" + .missing[0]" p)"
	jq -e "[.not_evaluable[].id] | contains([\"severe_memory_bound\",\"low_occupancy\",\"stall_barrier\"])" p'

ok 'absent is not zero: n/a, empty, (!), nan' '
	. ./helpers.sh
	for v in n/a "" "(!) 12" nan; do
		raw f.csv gpu__time_duration.sum 1000 ns l1tex__t_sector_hit_rate.pct "$v" % lts__t_sector_hit_rate.pct 0 %
		kprofile f.csv >p
		is "low_l2_hit" "$(ids p)"
		is "l1tex__t_sector_hit_rate.pct" "$(get ".not_evaluable[] | select(.id == \"low_l1_hit\").missing[0]" p)"
		is null "$(get .metrics.memory.l1_hit_pct p)"
	done
	raw f.csv l1tex__t_sector_hit_rate.pct "(!) 12" %
	kprofile f.csv >p
	get ".notes[]" p | grep -q "l1tex__t_sector_hit_rate.pct: not used, because the profiler marks it as doubtful"'
ok 'both spellings of stalls, the percent form, and never the raw ratio' '
	. ./helpers.sh
	for n in smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio smsp__warps_issue_stalled_barrier_per_issue_active.ratio; do
		raw f.csv $n 15.80 inst smsp__average_warp_latency_per_inst_issued.ratio 50 cycle
		kprofile f.csv >p
		near "$(get .metrics.warp_stall.stall_barrier.value p)" 0.316
		is stall_barrier "$(ids p)"
		raw f.csv $n 15.80 inst smsp__average_warp_latency_per_inst_issued.ratio 100 cycle
		kprofile f.csv >p
		is "" "$(ids p)"
		# Without the latency a ratio of 15.8 means nothing.
		raw f.csv $n 15.80 inst
		kprofile f.csv >p
		is "" "$(ids p)"
		jq -e ".not_evaluable[] | select(.id == \"stall_barrier\")" p
	done
	raw f.csv smsp__warp_issue_stalled_barrier_per_warp_active.pct 31 %
	kprofile f.csv >p
	near "$(get .metrics.warp_stall.stall_barrier.value p)" 0.31'
ok 'numbers with separators of either kind, and scaled units' '
	. ./helpers.sh
	while IFS="|" read -r value unit want; do
		raw f.csv gpu__time_duration.sum "$value" "$unit"
		kprofile f.csv >p
		near "$(get .launch.duration_ns p)" "$want"
	done <<-END
		4,196,992|ns|4196992
		4.20|ms|4200000
		4,20|ms|4200000
		0,580|us|580
		1.234.567,5|ns|1234567.5
		1,234,567.5|nsecond|1234567.5
		496.67|us|496670
		1|s|1000000000
		1.5e3|ns|1500
		12345678901.234567|s|12345678901234567000
		12 (1: 5; 2: 7)|us|12000
	END
	raw f.csv dram__bytes_read.sum 9 Gbyte dram__bytes_write.sum "1,000,000,000" byte
	kprofile f.csv >p
	is huge_dram_traffic "$(ids p)"
	is 10 "$(get .metrics.memory.dram_gb.value p)"'
ok 'a wrong number or unit is reported by file and line' '
	. ./helpers.sh
	for v in "1,23,4.5" "1.2.3" twelve "0x12" "1,234,56" "12 %x"; do
		raw f.csv lts__t_sector_hit_rate.pct "$v" %
		exits 2 kprofile f.csv
		grep -q "^kprofile: f.csv:3: lts__t_sector_hit_rate.pct: .* is not a number" err
	done
	raw f.csv gpu__time_duration.sum 3 fortnights
	exits 2 kprofile f.csv
	grep -q "f.csv:3: gpu__time_duration.sum: unknown unit .fortnights" err
	# Text and units of metrics that no rule asks for do not matter.
	raw f.csv launch__func_cache_config CachePreferNone "" x__y.sum 3 furlongs lts__t_sector_hit_rate.pct 90 %
	kprofile f.csv >p'
ok 'unknown layouts are refused by name' '
	. ./helpers.sh
	fault() {
		exits 2 kprofile f.csv
		grep -q "^kprofile: f.csv:[0-9]*: .*$1" err || { cat err; return 1; }
	}
	printf "%s\n" "\"ID\",\"Name\",\"a__b.sum\"" >f.csv; fault "has no column \"Kernel Name\""
	printf "%s\n" "\"ID\",\"Kernel Name\",\"a__b.sum\"" "\"0\",\"k\",\"1\"" >f.csv; fault "row of units"
	printf "%s\n" "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"" >f.csv; fault "column \"Section Name\""
	printf "%s\n" "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Mood\"" >f.csv; fault "column \"Mood\""
	printf "%s\n" "\"ID\",\"Kernel Name\",\"Some Thing\",\"a__b\"" >f.csv; fault "column \"Some Thing\""
	printf "%s\n" "\"ID\",\"Kernel Name\"" >f.csv; fault "has no metrics"
	raw f.csv a__b.sum 1 ""; head -n 2 f.csv >g && mv g f.csv; fault "contains no launch"
	raw f.csv a__b.sum 1 ""; echo "\"1\",\"1\"" >>f.csv; fault "a row of 2 cells"
	raw f.csv a__b.sum 1 ""; sed "3s/\$/,\"9\"/" f.csv >g && mv g f.csv; fault "a row of 7 cells, but the header has 6"
	raw f.csv a__b.sum 1 ""; printf "\"1\",\"1\",\"k" >>f.csv; fault "does not end"
	raw f.csv a__b.sum 1 ""; sed "3s/\"k/\"k\"x/" f.csv >g && mv g f.csv; fault "after the closing quote"
	{ echo "NVIDIA Nsight Compute Version 2031.1.0 (build 1)"; raw g a__b.sum 1 ""; cat g; } >f.csv; fault "ncu 2031.1.0: this version"'
ok 'a known version, program output, CR LF and NVTX columns are accepted' '
	. ./helpers.sh
	raw g lts__t_sector_hit_rate.pct 90 %
	{ echo "==PROF== Connected"; echo "Nsight Compute Version 2025.3.1.0 (build 1)"; echo "Version 1.4 of the program"; echo "\"quoted\" words"; cat g; echo "done"; } |
		sed "s/\$/\r/" >f.csv
	sed "s/\"quoted\" words/(quoted words)/" f.csv >g
	kprofile g >p
	is "ncu 2025.3.1.0" "$(get ".notes | join(\", \")" p)"
	is 90 "$(get .metrics.memory.l2_hit_pct.value p)"
	printf "%s\n" "\"ID\",\"thread Domain:Push/Pop_Range:PL_Type\",\"Kernel Name\",\"a__b.sum\",\"lts__t_sector_hit_rate.pct\"" \
		"\"\",\"\",\"\",\"\",\"%\"" "\"0\",\"x:y\",\"k<\"\"a,b\"\">(int)\",\"1\",\"7\"" >f.csv
	kprofile f.csv >p
	is "k<\"a,b\">(int)" "$(get .kernel p)"'
ok 'a byte order mark and the name of a file do not matter' '
	. ./helpers.sh
	raw f.csv gpu__time_duration.sum 5 us
	odd=$(printf "odd-\351.csv")
	{ printf "\357\273\277"; cat f.csv; } >"$odd"
	is 5000 "$(kprofile "$odd" | jq .launch.duration_ns)"'
ok 'rows with too few cells: absent metrics, but a truncated value is a fault' '
	. ./helpers.sh
	raw f.csv lts__t_sector_hit_rate.pct 90 % l1tex__t_sector_hit_rate.pct 5 %
	sed "3s/,\"5\"\$//" f.csv >g
	kprofile g >p
	is 90 "$(get .metrics.memory.l2_hit_pct.value p)"
	jq -e ".not_evaluable[] | select(.id == \"low_l1_hit\")" p
	get ".notes[]" p | grep -q "1 of 2 metrics are missing"
	sed -n "1,4p" "$h200/details.csv" | sed "3s/,\"hz\",.*//" >g
	exits 2 kprofile g
	grep -q "g:3: a row of 13 cells that ends before" err'
ok 'the same label means something else in another section' '
	. ./helpers.sh
	grep -e "^\"ID\"" -e "Memory Workload Analysis\",\"Memory Throughput" "$h200/details.csv" >g
	grep -c "byte/s" g
	kprofile --kernel strided g >p 2>err || true
	grep -q "duration_ns to choose one by" err || is null "$(get .metrics.roofline.mem_pct p)"'
ok 'several kernels without durations: the caller must say which' '
	. ./helpers.sh
	raw f.csv lts__t_sector_hit_rate.pct 90 %
	echo "\"1\",\"1\",\"other(int)\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"10\"" >>f.csv
	exits 2 kprofile f.csv
	grep -q "2 kernels, but no duration_ns to choose one by" err
	kprofile --kernel other f.csv >p
	is low_l2_hit "$(ids p)"
	exits 2 kprofile --kernel nothing f.csv
	grep -q "no kernel matches .nothing" err'
ok 'a name that is not UTF-8 is kept readable, and a negative duration is not a fault' '
	. ./helpers.sh
	raw f.csv gpu__time_duration.sum -5 ns lts__t_sector_hit_rate.pct 90 %
	sed "s/k(int)/k$(printf "\\377")(int)/" f.csv >g.csv
	kprofile g.csv >p
	is "k�(int)" "$(get .kernel p)"
	kprofile --kernel "^k" g.csv >p'
ok 'files of different runs do not mix' '
	. ./helpers.sh
	raw f.csv lts__t_sector_hit_rate.pct 90 %
	sed "s/k(int)/other(int)/" f.csv >g.csv
	exits 2 kprofile f.csv g.csv
	grep -q "g.csv:3: launch 0 is of other(int) here" err'
ok 'rules at their bounds' '
	. ./helpers.sh
	fires() {
		id=$1 want=$2
		shift 2
		raw f.csv gpu__time_duration.sum 1 ns "$@"
		kprofile f.csv >p
		jq -e --arg id "$id" --argjson want "$want" "([.findings[].id] | index(\$id) != null) == \$want" p >/dev/null || {
			echo "$id $*"; ids p; return 1; }
	}
	d=gpu__dram_throughput.avg.$E s=sm__throughput.avg.$E
	fires severe_memory_bound true $d 80 % $s 60 %
	fires severe_memory_bound false $d 80 % $s 61 %
	fires severe_memory_bound false $d 79.9 % $s 5 %
	fires near_peak_compute true $s 85 % $d 80 %
	fires near_peak_compute false $s 85 % $d 81 %
	o=sm__warps_active.avg.pct_of_peak_sustained_active t=sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active
	fires low_occupancy true $o 49.9 %
	fires low_occupancy false $o 50 %
	fires low_occupancy false $o 20 % $t 70 %
	fires low_occupancy true $o 20 % $t 3 %
	fires register_limited true launch__occupancy_limit_registers 4 block launch__occupancy_limit_warps 8 block
	fires register_limited false launch__occupancy_limit_registers 8 block launch__occupancy_limit_warps 8 block
	fires low_waves_per_sm true launch__waves_per_multiprocessor 1.99 ""
	fires low_waves_per_sm false launch__waves_per_multiprocessor 2 ""
	fires high_waves_per_sm true launch__waves_per_multiprocessor 40 ""
	fires poor_coalescing true memory_l2_theoretical_sectors_global 125 sectors memory_l2_theoretical_sectors_global_ideal 100 sectors
	fires poor_coalescing false memory_l2_theoretical_sectors_global 124 sectors memory_l2_theoretical_sectors_global_ideal 100 sectors
	fires poor_coalescing false memory_l2_theoretical_sectors_global 0 sectors memory_l2_theoretical_sectors_global_ideal 0 sectors
	fires low_l1_hit true l1tex__t_sector_hit_rate.pct 29.9 %
	fires low_l1_hit false l1tex__t_sector_hit_rate.pct 30 %
	fires low_l2_hit true lts__t_sector_hit_rate.pct 49.9 %
	fires smem_bank_conflicts true memory_l1_wavefronts_shared 1000 "" memory_l1_wavefronts_shared_ideal 999 ""
	fires smem_bank_conflicts false memory_l1_wavefronts_shared 100 "" memory_l1_wavefronts_shared_ideal 100 ""
	fires low_ipc true smsp__inst_executed.avg.per_cycle_active 0.49 inst/cycle
	fires low_ipc false smsp__inst_executed.avg.per_cycle_active 0.5 inst/cycle
	fires low_ipc true sm__inst_executed.avg.per_cycle_active 1.9 inst/cycle
	fires huge_dram_traffic true dram__bytes_read.sum 6 Gbyte dram__bytes_write.sum 4 Gbyte
	fires huge_dram_traffic false dram__bytes_read.sum 6 Gbyte dram__bytes_write.sum 3.9 Gbyte
	for r in long_scoreboard/0.3 short_scoreboard/0.3 mio_throttle/0.3 lg_throttle/0.3 math_pipe_throttle/0.3 barrier/0.2 wait/0.3 membar/0.15; do
		name=${r%/*} cut=${r#*/} rule=stall_${r%/*}
		[ "$name" != math_pipe_throttle ] || rule=stall_math_pipe
		m=smsp__average_warps_issue_stalled_${name}_per_issue_active.ratio l=smsp__average_warp_latency_per_inst_issued.ratio
		fires "$rule" true "$m" "$cut" inst $l 1 cycle
		fires "$rule" false "$m" "$cut" inst $l 1.01 cycle
	done
	# A fifth, which has no exact binary form.
	fires stall_barrier true smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio 0.6 inst $l 3 cycle'
ok 'labels and tags' '
	. ./helpers.sh
	label() {
		raw f.csv sm__throughput.avg.$E "$1" % gpu__compute_memory_throughput.avg.$E "$2" % launch__waves_per_multiprocessor "$3" ""
		kprofile f.csv | jq -r ".bottleneck | [.label, .tags[]] | join(\" \")"
	}
	is "memory_bound" "$(label 30 61 5)"
	is "memory_bound near_peak balanced" "$(label 80 85 5)"
	is "compute_bound near_peak" "$(label 90 40 5)"
	is "latency_bound" "$(label 40 59.9 5)"
	is "latency_bound balanced small_grid" "$(label 3 2 0.5)"
	is "memory_bound" "$(label 30 61 0.5)"
	is "memory_bound balanced" "$(label 70 70 5)"
	is "unknown" "$(label n/a 70 5)"'

# Rows in the form of rocprofv3, with made-up values for an MI300X.
cat >counters.csv <<'EOF2'
"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"
1,1,"Agent 1",1,777,777,1048576,5,"row_mix(float const*, float*, int, int)",256,0,0,52,0,32,"SQ_WAVES",16384.000000,3200098838431081,3200098838541233
1,1,"Agent 1",1,777,777,1048576,5,"row_mix(float const*, float*, int, int)",256,0,0,52,0,32,"TCC_HIT_sum",524288.000000,3200098838431081,3200098838541233
1,1,"Agent 1",1,777,777,1048576,5,"row_mix(float const*, float*, int, int)",256,0,0,52,0,32,"TCC_MISS_sum",1572864.000000,3200098838431081,3200098838541233
1,1,"Agent 1",1,777,777,1048576,5,"row_mix(float const*, float*, int, int)",256,0,0,52,0,32,"FETCH_SIZE",4.34259040e+05,3200098838431081,3200098838541233
EOF2
cat >pass2.csv <<'EOF2'
"Correlation_Id","Dispatch_Id","Agent_Id","Grid_Size","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value"
1,1,1,1048576,"row_mix(float const*, float*, int, int)",256,0,0,52,32,"SQ_LDS_BANK_CONFLICT",400
1,1,1,1048576,"row_mix(float const*, float*, int, int)",256,0,0,52,32,"SQ_LDS_IDX_ACTIVE",1400
EOF2
ok 'rocprofv3: counters of several passes, joined by dispatch' '
	. ./helpers.sh
	kprofile counters.csv pass2.csv >p
	is "rocprofv3 row_mix(float const*, float*, int, int)" "$(get "[.source, .kernel] | join(\" \")" p)"
	is 110152 "$(get .launch.duration_ns p)"
	is 25 "$(get .metrics.memory.l2_hit_pct.value p)"
	near "$(get .metrics.launch.waves.value p)" 1.6842
	is 4096 "$(get .metrics.launch.workgroups.value p)"
	near "$(get .metrics.memory.lds_conflict_ratio.value p)" 0.4
	is "smem_bank_conflicts low_l2_hit low_waves_per_sm" "$(ids p)"
	is unknown "$(get .bottleneck.label p)"
	is "TA_TOTAL_WAVEFRONTS_sum TCP_TOTAL_ACCESSES_sum" "$(get ".not_evaluable[] | select(.id == \"poor_coalescing\").missing | join(\" \")" p)"
	jq -e ".cross_check.only_ours == []" p'
ok 'rocprofv3: PC samples take their kernel from the trace, the peaks from a file' '
	. ./helpers.sh
	cat >pc.csv <<-END
		"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id","Wave_Issued_Instruction","Instruction_Type","Stall_Reason","Wave_Count"
		1,18446744073709551615,1,"s_waitcnt vmcnt(0)","",1,0,"OTHER","ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT",4
		2,18446744073709551615,1,"s_waitcnt vmcnt(0)","",1,0,"OTHER","ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT",4
		3,18446744073709551615,1,"s_barrier","",1,0,"BARRIER","ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_BARRIER_WAIT",4
		4,18446744073709551615,1,"v_add_f32 v0, v1, v2","",1,1,"VALU","ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT",4
	END
	echo "{\"peaks\":{\"cu_num\":152}}" >peaks.json
	kprofile --peaks peaks.json pc.csv counters.csv >p
	is 0.5 "$(get .metrics.warp_stall.stall_long_scoreboard.value p)"
	is 0.25 "$(get .metrics.warp_stall.stall_barrier.value p)"
	is 0 "$(get .metrics.warp_stall.stall_wait.value p)"
	near "$(get .metrics.launch.waves.value p)" 3.3684
	kprofile pc.csv counters.csv >p0; kprofile --device MI300X pc.csv counters.csv | diff p0 -
	is 304 "$(kspec --json mi300x units | jq .value)"
	kprofile --device mi355x pc.csv counters.csv >p355; near "$(get .metrics.launch.waves.value p355)" 2
	exits 2 kprofile --device b200x pc.csv counters.csv; grep -q "no file in docs/hardware describes this device" err
	is "row_mix(float const*, float*, int, int)" "$(get .kernel p)"
	jq -e "[.findings[].id] | index(\"stall_long_scoreboard\") and index(\"stall_barrier\")" p'
# dispatch FILE "COLUMN=VALUE…" NAME VALUE…: a dispatch with these counters in the form of rocprofv3; the columns change
# the defaults: 4096 workgroups of 256 for 1 ms, without LDS and scratch.
cat >rocm.sh <<'END'
dispatch() {
	f=$1 Grid_Size=1048576 Workgroup_Size=256 LDS_Block_Size=0 Scratch_Size=0 VGPR_Count=32
	eval "$2"
	shift 2
	echo '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"' >"$f"
	while [ $# -gt 0 ]; do
		echo "1,1,\"Agent 1\",1,7,7,$Grid_Size,5,\"k(int)\",$Workgroup_Size,$LDS_Block_Size,$Scratch_Size,$VGPR_Count,0,32,\"$1\",$2,1000000,2000000" >>"$f"
		shift 2
	done
}
# samples FILE N REASON INSTRUCTION: of a hundred samples N with this reason, the others from issued instructions.
samples() {
	echo '"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id","Wave_Issued_Instruction","Instruction_Type","Stall_Reason","Wave_Count"' >"$1"
	awk -v n="$2" -v why="$3" -v code="$4" 'BEGIN { for (i = 0; i < 100; i++)
		printf "%d,18446744073709551615,1,\"%s\",\"\",1,%d,\"OTHER\",\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_%s\",4\n", i, code, (i >= n), why }' >>"$1"
}
# fires ID true|false FILE…
fires() {
	id=$1 want=$2
	shift 2
	kprofile "$@" >p
	[ "$want" = false ] || echo "$id" >>seen
	jq -e --arg id "$id" --argjson want "$want" '([.findings[].id] | index($id) != null) == $want' p >/dev/null || {
		echo "$id is not $want"
		jq -c '[.findings[].id], .not_evaluable' p
		return 1
	}
}
END
ok 'rocprofv3: every rule fires at its bound, and not below' '
	. ./rocm.sh; rm -f seen
	bound() { # ID "COLUMNS" "COUNTERS" "COLUMNS BELOW" "COUNTERS BELOW"
		# shellcheck disable=SC2086
		dispatch f.csv "$2" $3; fires "$1" true f.csv
		dispatch f.csv "$4" $5; fires "$1" false f.csv
	}
	wave=622592 none="SQ_WAVES 1"
	bound severe_memory_bound "" "FETCH_SIZE 3e6 WRITE_SIZE 4e5 VALUBusy 45 MfmaUtil 0" "" "FETCH_SIZE 3e6 WRITE_SIZE 3.6e5 VALUBusy 5 MfmaUtil 0"
	bound severe_memory_bound "" "FETCH_SIZE 3e6 WRITE_SIZE 4e5 VALUBusy 0 MfmaUtil 45" "" "FETCH_SIZE 3e6 WRITE_SIZE 4e5 VALUBusy 0 MfmaUtil 46"
	bound near_peak_compute "" "FETCH_SIZE 9 WRITE_SIZE 9 VALUBusy 85 MfmaUtil 0" "" "FETCH_SIZE 9 WRITE_SIZE 9 VALUBusy 84.9 MfmaUtil 84.9"
	bound huge_dram_traffic "" "FETCH_SIZE 9000000 WRITE_SIZE 765625" "" "FETCH_SIZE 9000000 WRITE_SIZE 765624"
	bound low_occupancy "" "OccupancyPercent 49.9 MfmaUtil 10" "" "OccupancyPercent 50 MfmaUtil 10"
	bound low_occupancy "" "OccupancyPercent 49.9 MfmaUtil 49" "" "OccupancyPercent 49.9 MfmaUtil 50"
	bound register_limited VGPR_Count=72 "$none" VGPR_Count=64 "$none"
	bound register_limited "VGPR_Count=128 LDS_Block_Size=8192" "$none" "VGPR_Count=128 LDS_Block_Size=65536" "$none"
	bound low_waves_per_sm Grid_Size=$((2 * wave - 256)) "$none" Grid_Size=$((2 * wave)) "$none"
	bound high_waves_per_sm Grid_Size=$((40 * wave)) "$none" Grid_Size=$((40 * wave - 256)) "$none"
	bound poor_coalescing "" "TA_TOTAL_WAVEFRONTS_sum 499 TCP_TOTAL_ACCESSES_sum 10000" "" "TA_TOTAL_WAVEFRONTS_sum 500 TCP_TOTAL_ACCESSES_sum 10000"
	l1="TCP_TCC_WRITE_REQ_sum 1 TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum 0 TCP_TCC_ATOMIC_WITH_RET_REQ_sum 0 TCP_TOTAL_CACHE_ACCESSES_sum 100"
	bound low_l1_hit "" "$l1 TCP_TCC_READ_REQ_sum 70" "" "$l1 TCP_TCC_READ_REQ_sum 69"
	bound low_l2_hit "" "TCC_HIT_sum 49 TCC_MISS_sum 51" "" "TCC_HIT_sum 50 TCC_MISS_sum 50"
	bound smem_bank_conflicts "" "SQ_LDS_BANK_CONFLICT 2 SQ_LDS_IDX_ACTIVE 20" "" "SQ_LDS_BANK_CONFLICT 1 SQ_LDS_IDX_ACTIVE 20"
	busy="SQ_WAVE_CYCLES 100 TCP_GATE_EN1_sum 100"
	bound stall_long_scoreboard "" "$busy SQ_WAIT_ANY 30 TCP_PENDING_STALL_CYCLES_sum 30" "" "$busy SQ_WAIT_ANY 29 TCP_PENDING_STALL_CYCLES_sum 90"
	bound stall_short_scoreboard "" "$busy SQ_WAIT_INST_LDS 30" "" "$busy SQ_WAIT_INST_LDS 29"
	bound stall_mio_throttle "" "$busy TCP_TCR_TCP_STALL_CYCLES_sum 30" "" "$busy TCP_TCR_TCP_STALL_CYCLES_sum 29"
	bound low_ipc "" "SQ_INSTS 99 SQ_BUSY_CU_CYCLES 100" "" "SQ_INSTS 100 SQ_BUSY_CU_CYCLES 100"
	bound divergence "" "VALUUtilization 74.9" "" "VALUUtilization 75"
	bound spills Scratch_Size=16 "$none" "" "$none"
	dispatch f.csv "" VALUBusy 80
	while read -r id cut reason code; do
		samples pc.csv "$cut" "$reason" "$code"; fires "$id" true pc.csv f.csv
		samples pc.csv $((cut - 1)) "$reason" "$code"; fires "$id" false pc.csv f.csv
	done <<-END
		stall_long_scoreboard 30 WAITCNT s_waitcnt vmcnt(0)
		stall_short_scoreboard 30 WAITCNT s_waitcnt lgkmcnt(0)
		stall_mio_throttle 30 ARBITER_WIN_EX_STALL ds_read_b32 v0, v1
		stall_math_pipe 30 ARBITER_NOT_WIN v_fma_f32 v0, v1, v2, v3
		stall_barrier 20 BARRIER_WAIT s_barrier
		stall_wait 30 ALU_DEPENDENCY v_add_f32 v0, v1, v2
		stall_membar 15 WAITCNT buffer_wbl2 sc1
	END
	dispatch f.csv "" VALUBusy 79; samples pc.csv 30 ARBITER_NOT_WIN v_fma_f32; fires stall_math_pipe false pc.csv f.csv
	jq -r ".rules[].id" "$KILN_DATA/patterns/profile/rocprofv3.json" | sort >all; sort -u seen | diff all -; is 21 "$(wc -l <all)"'
ok 'rocprofv3: the trace is a duration; unknown columns and numbers are refused' '
	. ./helpers.sh
	printf "%s\n" "\"Kind\",\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"" \
		"\"KERNEL_DISPATCH\",\"Agent 1\",1,\"a\",100,350,16,16,1,1024,64,1" "\"KERNEL_DISPATCH\",\"Agent 1\",2,\"b\",400,600,16,16,1,1024,64,1" >t.csv
	kprofile t.csv >p
	is "a 250 256" "$(get "[.kernel, .launch.duration_ns, .metrics.launch.workgroups.value] | join(\" \")" p)"
	sed "1s/Agent_Id/Mood_Id/" counters.csv >bad.csv
	exits 2 kprofile bad.csv; grep -q "bad.csv:1: .*Mood_Id" err
	sed "3s/524288.000000/many/" counters.csv >bad.csv
	exits 2 kprofile bad.csv; grep -q "bad.csv:3: Counter_Value: .many. is not a number" err
	sed "4s/,[^,]*\$//" counters.csv >bad.csv
	exits 2 kprofile bad.csv; grep -q "bad.csv:4: a row of 18 cells" err
	sed "s/\"Counter_Name\",\"Counter_Value\",.*/\"Counter_Value\"/; s/\"SQ_WAVES\",//; s/\"TCC[^,]*,//; s/\"FETCH_SIZE\",//; s/,32000.*//" counters.csv >bad.csv
	exits 2 kprofile bad.csv; grep -q "has no column \"Counter_Name\"" err'

cat >cg.out <<'EOF2'
# callgrind format
version: 1
creator: callgrind-3.19.0
positions: line
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim

fl=(1) a.c
fn=(1) main
3 100 10 10 0 0 0
cfn=(2) hot
calls=2 9
4 90000 30000 10000 0 20000 10000 0 20000 10000 1000 500
fn=(2)
9 50000 20000 10000 0 20000 10000 0 20000 10000 1000 500
+1 40000 10000
* 1
totals: 90101 30010 10010 0 20000 10000 0 20000 10000 1000 500 0 0
EOF2
ok 'callgrind: the whole program, or the self cost of functions' '
	. ./helpers.sh
	kprofile cg.out >p
	is "callgrind (program) 90101" "$(get "[.source, .kernel, .metrics.instruction.instructions.value] | join(\" \")" p)"
	is "memory_bound" "$(get .bottleneck.label p)"
	is "cpu_memory_bound cpu_branch cpu_l1_miss cpu_llc_miss" "$(ids p)"
	kprofile --kernel "^(main|hot)$" cg.out >p
	is "hot 90001" "$(get "[.kernel, .kernels[0].instructions] | join(\" \")" p)"
	is 75 "$(get .metrics.memory.d1_miss_pct.value p)"
	kprofile --kernel main cg.out >p
	is 100 "$(get .metrics.instruction.instructions.value p)"
	exits 2 kprofile --kernel none cg.out'
ok 'callgrind: events that were not simulated are absent' '
	. ./helpers.sh
	printf "%s\n" "# callgrind format" "version: 1" "creator: callgrind-3.19.0" "events: Ir" "fn=(1) main" "1 5" "totals: 5" >ir.out
	kprofile ir.out >p
	is "" "$(ids p)"
	is "unknown DLmr" "$(get ".bottleneck | .label + \" \" + .missing[0]" p)"
	is 5 "$(get .metrics.instruction.instructions.value p)"
	sed "/^totals/d" cg.out >cut.out
	exits 2 kprofile cut.out; grep -q "cut.out:.*truncated" err
	sed "s/^version: 1/version: 7/" cg.out >v7.out
	exits 2 kprofile v7.out; grep -q "v7.out:2: .*version: 7" err
	sed "s/^fn=(2)\$/fn=(9)/" cg.out >name.out
	exits 2 kprofile name.out; grep -q "name.out:13: a function without a name" err
	sed "s/^9 50000/9 fifty/" cg.out >number.out
	exits 2 kprofile number.out; grep -q "number.out:14: .* is not a number" err'
ok 'callgrind: several parts are added up, and a truncated one is refused although it begins with a summary' '
	. ./helpers.sh
	sed "s/^positions/part: 1\n&/; s/^events.*/&\nsummary: 90101/" cg.out >1.out
	{ cat 1.out; sed "s/part: 1/part: 2/" 1.out; } >2.out
	is 180202 "$(kprofile 2.out | jq .metrics.instruction.instructions.value)"
	is 180002 "$(kprofile --kernel hot 2.out | jq .metrics.instruction.instructions.value)"
	sed "\$d" 2.out >cut.out
	for k in "" "--kernel=hot"; do
		exits 2 kprofile ${k:+"$k"} cut.out; grep -q "cut.out:.*the totals at the end are missing: the file is truncated" err
	done'
ok 'callgrind: names of any length and any bytes are distinguished' '
	. ./helpers.sh
	long=$(printf "%0600d" 0 | tr 0 x)
	head -5 cg.out >names.out
	printf "%s\n" "fn=(1) ${long}A" "1 5" "fn=(2) ${long}B" "1 6" "$(printf "fn=(3) \351t\351")" "1 7" "+1 8" "totals: 26" >>names.out
	is "1 15" "$(kprofile --kernel "^[^x]" names.out | jq -r "[(.kernels | length), .metrics.instruction.instructions.value] | join(\" \")")"
	is "601 5" "$(kprofile --kernel "A\$" names.out | jq -r "[(.kernel | length), .metrics.instruction.instructions.value] | join(\" \")")"'
if command -v valgrind >/dev/null && command -v gcc >/dev/null; then
	ok 'callgrind: a real run of a column walk' '
		. ./helpers.sh
		cat >walk.c <<-END
			enum { N = 256 };
			static double a[N][N], b[N][N];
			__attribute__((noinline)) void walk(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) b[j][i] += a[i][j]; }
			int main(void) { for (int k = 0; k < 3; k++) walk(); return b[1][2] > 1; }
		END
		gcc -g -O1 -o walk walk.c
		valgrind -q --tool=callgrind --cache-sim=yes --branch-sim=yes --D1=32768,8,64 --callgrind-out-file=real.out ./walk
		kprofile --kernel "^walk$" real.out >p
		is "walk cpu_l1_miss" "$(get "[.kernel, .findings[0].id] | join(\" \")" p)"
		# 3 times 256 x 256 elements; the column walk misses on nearly every one.
		jq -e ".metrics.memory | .data_refs.value >= 2 * 196608 and .data_refs.value < 3.1 * 196608 and .d1_misses.value > 0.9 * 196608 and .d1_misses.value < 1.3 * 196608" p'
else
	skip 'callgrind: a real run of a column walk' 'valgrind or gcc is not installed'
fi

cat >perf.csv <<'EOF2'
# started on Fri Nov 21 12:00:00 2026

1000.00,msec,task-clock,1000000000,100.00,3.200,CPUs utilized
4000000000,,cycles:u,1000000000,80.00,,
2000000000,,instructions:u,1000000000,100.00,0.50,insn per cycle
50000000,,cpu_core/LLC-load-misses/,1000000000,100.00,,
100000000,,LLC-loads,1000000000,100.00,,
<not supported>,,dTLB-load-misses,0,100.00,,
1000,,page-faults,1.07%,1000000000,100.00,,
EOF2
ok 'perf stat -x,: ratios, what is not counted, variance, hybrid and scaled events' '
	. ./helpers.sh
	kprofile perf.csv >p
	is 312500000 "$(get .launch.duration_ns p)"
	is 0.5 "$(get .metrics.instruction.ipc.value p)"
	is 25 "$(get .metrics.memory.llc_mpki.value p)"
	is "memory_bound" "$(get .bottleneck.label p)"
	is "cpu_memory_bound cpu_llc_miss cpu_low_ipc" "$(ids p)"
	is "dTLB-load-misses dTLB-loads" "$(get ".not_evaluable[] | select(.id == \"cpu_dtlb\").missing | join(\" \")" p)"
	get ".notes[]" p >notes
	grep -qx "dTLB-load-misses: <not supported>" notes
	grep -q "cycles:u: counted 80.00 % of the time" notes
	{ cat perf.csv; echo "7,,cycles:k,1,100.00,,"; } >twice.csv
	is 0.5 "$(kprofile twice.csv | tee p | jq .metrics.instruction.ipc.value)"
	get ".notes[]" p | grep -qx "cycles: occurs more than once; the first value is used"
	echo "{\"threads\":8,\"stream_bytes_per_s\":20e9}" >peaks.json
	kprofile --peaks peaks.json perf.csv >p
	is 0.4 "$(get .metrics.time.parallel_efficiency.value p)"
	jq -e "[.findings[].id] | index(\"cpu_parallel_eff\")" p'
ok 'perf stat -j, and unknown columns' '
	. ./helpers.sh
	printf "%s\n" "{\"counter-value\" : \"100.0\", \"unit\" : \"\", \"event\" : \"cycles\"}" "{\"counter-value\" : \"300.0\", \"unit\" : \"\", \"event\" : \"instructions\"}" >j
	kprofile j >p
	is 3 "$(get .metrics.instruction.ipc.value p)"
	# Releases differ in which members are numbers.
	for q in "" "\""; do
		printf "%s\n" "{\"counter-value\" : \"1.0\", \"unit\" : \"msec\", \"event\" : \"task-clock\", \"pcnt-running\" : ${q}100.00$q, \"metric-value\" : ${q}0.5$q, \"metric-unit\" : \"CPUs utilized\"}" \
			"{\"counter-value\" : \"9\", \"unit\" : \"\", \"event\" : \"cycles\", \"pcnt-running\" : ${q}40$q}" >j
		kprofile j >p
		is "2000000 cycles: counted 40 % of the time, scaled" "$(get "[.launch.duration_ns, .notes[]] | join(\" \")" p)"
	done
	sed "5s/^/1.0001,/" perf.csv >i.csv
	exits 2 kprofile i.csv; grep -q "i.csv:5: .*perf" err
	sed "5s/^/CPU0,/" perf.csv >i.csv
	exits 2 kprofile i.csv; grep -q "i.csv:5: .*CPU0.* is not a count" err
	printf "1,,cycles,,\n1,,cycles\n" >i.csv
	exits 2 kprofile i.csv; grep -q "i.csv:2: a row of 3 cells" err'
ok 'perf: every rule fires at its bound, and not below' '
	. ./rocm.sh; rm -f seen
	echo "{\"stream_bytes_per_s\":20e9,\"threads\":4,\"touched_bytes\":4096000}" >peaks.json
	counted() { # EVENT VALUE…: rows of perf stat -x,
		while [ $# -gt 0 ]; do
			echo "$2,,$1,1000000000,100.00,,"
			shift 2
		done
	}
	bound() { # ID "EVENTS" "EVENTS BELOW"
		# shellcheck disable=SC2086
		counted $2 >f.csv; fires "$1" true --peaks peaks.json f.csv
		# shellcheck disable=SC2086
		counted $3 >f.csv; fires "$1" false --peaks peaks.json f.csv
	}
	b="instructions 100000"
	bound cpu_memory_bound "$b LLC-load-misses 1000" "$b LLC-load-misses 999"
	bound cpu_memory_bound "duration_time 1000000 LLC-load-misses 187500 LLC-store-misses 0" "duration_time 1000000 LLC-load-misses 187499 LLC-store-misses 0"
	bound cpu_core_bound "$b cycles 40000 LLC-load-misses 99" "$b cycles 40001 LLC-load-misses 99"
	bound cpu_core_bound "$b cycles 40000 LLC-load-misses 99" "$b cycles 40000 LLC-load-misses 100"
	bound cpu_low_ipc "$b cycles 100001" "$b cycles 100000"
	bound cpu_l1_miss "L1-dcache-loads 100 L1-dcache-load-misses 6" "L1-dcache-loads 100 L1-dcache-load-misses 5"
	bound cpu_llc_miss "$b LLC-loads 100 LLC-load-misses 31" "$b LLC-loads 100 LLC-load-misses 30"
	bound cpu_dtlb "dTLB-loads 1000 dTLB-load-misses 11" "dTLB-loads 1000 dTLB-load-misses 10"
	bound cpu_branch "branches 1000 branch-misses 21" "branches 1000 branch-misses 20"
	f=fp_arith_inst_retired
	bound cpu_scalar_fp "$f.scalar_single 26 $f.scalar_double 25 $f.vector 50" "$f.scalar_single 25 $f.scalar_double 25 $f.vector 50"
	bound cpu_fences "cycles 1000 mem_inst_retired.lock_loads 11" "cycles 1000 mem_inst_retired.lock_loads 10"
	bound cpu_frontend "$b L1-icache-load-misses 2001" "$b L1-icache-load-misses 2000"
	bound cpu_page_faults "page-faults 2001" "page-faults 2000"
	for n in 2.799 2.8; do
		echo "1000.00,msec,task-clock,1000000000,100.00,$n,CPUs utilized" >f.csv
		fires cpu_parallel_eff "$(test $n = 2.8 && echo false || echo true)" --peaks peaks.json f.csv
	done
	report() { # as perf report --stdio writes it: PERCENT of a barrier, and a name that waits for nobody
		printf "%s\n" "# To display the perf.data header info, please use --header/--header-only options." "#" "# Samples: 4K of event ${2:-cycles:u}" \
			"# Event count (approx.): 3049128" "#" "# Overhead  Command  Shared Object     Symbol" "# ........  .......  ................  ............" "#" \
			"    61.20%  app      app               [.] walk_blocked" "    $1%  app      libgomp.so.1.0.0  [.] gomp_team_barrier_wait_end" \
			"     4.00%  app      [kernel.kallsyms] [k] __futex_wait_setup" "" "" "#" "# (Tip: For a higher level overview, try: perf report --sort comm,dso)" "#"
	}
	report 6.00 >r.txt; fires cpu_omp_barrier true r.txt
	report 5.99 >r.txt; fires cpu_omp_barrier false r.txt
	hitm() { # as perf c2c report --stdio begins
		printf "%s\n" "=================================================" "            Trace Event Information              " "=================================================" \
			"  Total records                     :      64256" "  Load Operations                   :      31716" "  Load Local HITM                   :          $1" \
			"  Load Remote HITM                  :          $2" "  LLC Misses to Local DRAM          :      100.0%" "" "=================================================" \
			"    Global Shared Cache Line Event Information   " "=================================================" "  Total Shared Cache Lines          :          2"
	}
	hitm 0 1 >c.txt; fires cpu_false_sharing true c.txt
	hitm 0 0 >c.txt; fires cpu_false_sharing false c.txt
	jq -r ".rules[].id" "$KILN_DATA/patterns/profile/perf.json" | sort >all; sort -u seen | diff all -
	# All three from one program; a report without a row is empty.
	hitm 3 4 >c.txt; report 30.00 >r.txt; counted cycles 100 instructions 50 >f.csv
	kprofile f.csv r.txt c.txt >p
	jq -e "[.findings[].id] == [\"cpu_false_sharing\", \"cpu_omp_barrier\", \"cpu_low_ipc\"] and .metrics.memory.hitm.value == 7 and .metrics.time.barrier_pct.value == 34" p
	head -n 8 r.txt >g; exits 2 kprofile g; grep -q "g:.* has no row" err'
ok 'perf stat: the ratios of top-down analysis, in a row of their own or next to an event' '
	. ./rocm.sh
	echo "{\"x\":1}" >peaks.json
	topdown() {
		printf "%s\n" "9000,,TOPDOWN.SLOTS,1000,100.00,$1,%  tma_retiring" ",,,,,$2,%  tma_frontend_bound" ",,,,,$3,%  tma_memory_bound" \
			"9000,,topdown-retiring,1000,100.00,," "100000,,instructions,1000,100.00,," "10,,LLC-load-misses,1000,100.00,,"
	}
	topdown 70 30.1 40 >f.csv; kprofile f.csv >p
	is "40 70 30.1" "$(jq -r ".metrics.roofline | [.topdown_memory_pct.value, .topdown_retiring_pct.value, .topdown_frontend_pct.value] | join(\" \")" p)"
	for id in cpu_memory_bound cpu_core_bound cpu_frontend; do fires $id true f.csv; done
	topdown 69.9 30 39.9 >f.csv
	for id in cpu_memory_bound cpu_core_bound cpu_frontend; do fires $id false f.csv; done
	printf "%s\n" "{\"counter-value\" : \"9.0\", \"unit\" : \"\", \"event\" : \"TOPDOWN.SLOTS\", \"metric-value\" : \"80.5\", \"metric-unit\" : \"%  tma_retiring\"}" \
		"{\"metric-value\" : \"11.0\", \"metric-unit\" : \"%  tma_frontend_bound\"}" >j
	is "80.5 11" "$(kprofile j | jq -r ".metrics | [.roofline.topdown_retiring_pct.value, .roofline.topdown_frontend_pct.value] | join(\" \")")"
	echo "{\"x\": 1}" >>j; exits 2 kprofile j; grep -q "j:3: not a line of perf stat -j" err'
if perf stat -x, -e task-clock -o real.csv true 2>/dev/null && [ -s real.csv ]; then
	ok 'perf: a real run' '
		. ./helpers.sh
		kprofile real.csv >p
		jq -e ".source == \"perf\" and .metrics.time.task_clock_ns.value > 0" p'
else
	skip 'perf: a real run' 'perf does not work here'
fi

ok 'files that are not output of a profiler' '
	echo "hello, world" >x
	exits 2 kprofile x
	grep -q "x:1: unknown format: .*begins with .hello, world" err
	: >empty
	exits 2 kprofile empty
	printf "NVR\000\001binary" >rep
	exits 2 kprofile rep
	grep -q "rep: is a binary file; export" err
	echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission" >denied
	exits 3 kprofile denied
	grep -q "denied:.*has no permission to read performance counters" err
	echo "==WARNING== No kernels were profiled." >none
	exits 2 kprofile none
	grep -q "profiled no kernel" err
	exits 2 kprofile "$h200/raw.csv" x
	exits 2 kprofile "$h200/raw.csv" perf.csv
	grep -q "perf.csv: cannot combine perf with ncu" err'
ok 'every truncation of a file is refused or read, never a crash' '
	head -c 6000 "$h200/details.csv" >d
	head -c 6000 "$h200/raw.csv" >r
	head -c 6000 "$h200/details.txt" >t
	for f in d r t counters.csv cg.out perf.csv; do
		n=$(wc -c <$f) i=7
		while [ $i -lt "$n" ]; do
			head -c $i $f >cut
			got=0
			kprofile cut >out 2>err || got=$?
			case $got in 0|2) ;; *) echo "$f cut at $i: $got"; cat err; exit 1 ;; esac
			[ $got -eq 0 ] || [ -s err ]
			i=$((i + n / 40 + 1))
		done
	done'

ok 'usage' '
	exits 0 kprofile --help; grep -q "^usage: kprofile" out
	exits 0 kprofile --version; grep -q "^kprofile " out
	exits 2 kprofile; grep -q "^usage:" err
	exits 2 kprofile --nonsense
	exits 2 kprofile nosuch.csv
	exits 2 kprofile --kernel "(" "$h200/raw.csv"; grep -q "offset 1" err
	exits 2 kprofile -o keep x; test ! -e keep'
ok 'output goes to a file, the same bytes twice, without folders' '
	kprofile --kernel strided -o 1 "$h200/raw.csv" "$h200/details.csv"
	(cd "$h200" && kprofile --kernel strided raw.csv details.csv) >2
	cmp 1 2
	is 1 "$(wc -l <1)"
	not grep -q "$h200" 1'

ok 'a rule is a line of data' '
	mkdir -p mine/patterns/profile
	cp -r "$KILN_DATA/skills" "$KILN_DATA/views" mine
	jq ".rules = [{id: \"hot\", severity: \"low\", when: [\"max(sm_pct, mem_pct) - 2 * (3 + 1) > -1 * first(nothing, l2_hit_pct)\"], finding: \"{l2_hit_pct / 2} of {nothing}\", action: \"x\"}]" \
		"$KILN_DATA/patterns/profile/ncu.json" >mine/patterns/profile/ncu.json
	KILN_DATA=mine kprofile --kernel transpose "$h200/raw.csv" >p
	is "hot 25.4 of ?" "$(jq -r ".findings[0] | .id + \" \" + .text" p)"
	for e in "1 +" "(1 > 2" "sm_pct" "f(2) > 1" "1 > 2 3" "sm_pct >" "1 == 1"; do
		jq --arg e "$e" ".rules[0].when = [\$e]" mine/patterns/profile/ncu.json >t && cp t mine/patterns/profile/ncu.json
		KILN_DATA=mine exits 2 kprofile --kernel transpose "$h200/raw.csv"
		grep -q "ncu.json: \".*\", offset [0-9]*: " err || { cat err; exit 1; }
	done'
ok 'tables: unique ids, skills that exist, names that exist' '
	for t in ncu rocprofv3 callgrind perf; do
		jq -e ".source == \"$t\" and ([.rules[].id] | length == (unique | length)) and ([.values[].name] | length == (unique | length))" \
			"$KILN_DATA/patterns/profile/$t.json"
		jq -r ".rules[].skill // empty" "$KILN_DATA/patterns/profile/$t.json" | while read -r s; do test -s "$KILN_DATA/skills/$s.md"; done
	done
	is 20 "$(jq ".rules | length" "$KILN_DATA/patterns/profile/ncu.json")"
	is 0 "$(jq "[.rules[].id] as \$ids | [.vendor[].ids[] | select(. as \$i | \$ids | index(\$i) | not)] | length" "$KILN_DATA/patterns/profile/ncu.json")"'
ok 'skills have a line and four sections' '
	jq -r ".rules[].skill" "$KILN_DATA/patterns/profile/ncu.json" | while read -r s; do
		f=$KILN_DATA/skills/$s.md
		head -n 1 "$f" | grep -q "^# $s: ................"
		is "## Signal ## Root causes ## Fixes ## Anti-patterns" "$(grep "^## " "$f" | tr "\n" " " | sed "s/ \$//")"
		is 0 "$(($(grep -c "^\`\`\`" "$f") % 2))"
		test "$(wc -c <"$f")" -gt 1200
	done'
if /usr/bin/python3 -W ignore -c 'import jsonschema' 2>/dev/null; then
	ok 'tables and profiles follow their schemas' '
		v() { /usr/bin/python3 -W ignore "$tests_dir/schemas.py" "$KILN_DATA/docs/schemas" "$@"; }
		for t in ncu rocprofv3 callgrind perf; do v profile-rules-1 "$KILN_DATA/patterns/profile/$t.json"; done
		kprofile "$h200/raw.csv" "$h200/details.csv" >1.ndjson
		kprofile "$h200/details.txt" >2.ndjson
		kprofile "$h200/timing.csv" >3.ndjson
		kprofile counters.csv pass2.csv >4.ndjson
		kprofile --kernel hot cg.out >5.ndjson
		kprofile perf.csv >6.ndjson
		v profile-1 [1-6].ndjson'
else
	skip 'tables and profiles follow their schemas' 'python3-jsonschema is not installed'
fi
done_testing
