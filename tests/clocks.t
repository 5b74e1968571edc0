#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016	# scripts in quotes
# Locked clocks of a GPU, with a stand-in for the driver's management library: they are reset however the process that
# requested them ends.
. "${0%/*}/lib.sh"
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR
mkdir nvml
cat >nvml/stub.c <<'E1'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void say(const char *what, unsigned mhz) { FILE *f = fopen(getenv("NVML_LOG"), "a"); fprintf(f, "%s %u\n", what, mhz); fclose(f); }
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByUUID(const char *id, void **h) { *h = (void *)1; return strcmp(id, "GPU-00112233-4455-6677-8899-aabbccddeeff") ? 6 : 0; }
int nvmlDeviceGetDefaultApplicationsClock(void *h, int k, unsigned *mhz) { *mhz = 1590; return h && k == 1 ? 0 : 2; }
int nvmlDeviceGetMaxClockInfo(void *h, int k, unsigned *mhz) { *mhz = 1980; return h && k == 1 ? 0 : 2; }
int nvmlDeviceSetGpuLockedClocks(void *h, unsigned a, unsigned b) { if (getenv("NVML_REFUSE")) return 4; say(h && a == b ? "lock" : "bad", a); return 0; }
int nvmlDeviceResetGpuLockedClocks(void *h) { say(h ? "reset" : "bad", 0); return 0; }
const char *nvmlErrorString(int e) { return e == 4 ? "Insufficient Permissions" : "Not Found"; }
E1
cc -shared -fPIC -w -o nvml/libnvidia-ml.so.1 nvml/stub.c
LD_LIBRARY_PATH=$T/nvml NVML_LOG=$T/log uuid=00112233445566778899aabbccddeeff
export LD_LIBRARY_PATH NVML_LOG uuid
if nm -D "$KILN_BUILD/kharness" | grep -q asan; then
	skip 'clocks' 'kiln is built with sanitizers'
	done_testing
fi

ok 'locked at the default or as requested, and reset at the end' '
	is "1590 locked" "$(kharness --hold-clocks $uuid </dev/null)"
	is "1200 locked" "$(kharness --hold-clocks $uuid:1200 </dev/null)"
	is "lock 1590 reset 0 lock 1200 reset 0" "$(tr "\n" " " <log | sed "s/ $//")"'
ok 'reset when the requesting process was killed, and when the holder is told to end' '
	wait_for() { for i in $(seq 300); do ! grep -q "$1" log 2>/dev/null || return 0; sleep 0.1; done; return 1; }
	rm -f log; mkfifo in
	sleep 600 >in & asker=$!
	kharness --hold-clocks $uuid <in >answer & holder=$!
	wait_for lock; kill -INT $holder; kill -TERM $holder; kill -HUP $holder
	# The next holder waits.
	kharness --hold-clocks $uuid:1300 </dev/null >second & next=$!
	sleep 0.5; is "lock 1590" "$(cat log)"
	kill -KILL $asker; wait $holder; wait $next
	is "lock 1590 reset 0 lock 1300 reset 0" "$(tr "\n" " " <log | sed "s/ $//")"'
ok 'failures are reported' '
	rm -f log
	is "0 Insufficient Permissions" "$(NVML_REFUSE=1 kharness --hold-clocks $uuid </dev/null)"
	is "0 Not Found" "$(kharness --hold-clocks ffffffffffffffffffffffffffffffff </dev/null)"
	is "0 the device has no UUID" "$(kharness --hold-clocks x </dev/null)"
	test ! -e log
	exits 2 kharness --lock-clocks perhaps -t t.json x.so; grep -q "lock-clocks: unknown value .perhaps." err'
done_testing
