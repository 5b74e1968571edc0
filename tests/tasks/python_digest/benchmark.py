# SPDX-License-Identifier: Apache-2.0
# The project's own benchmark: a table with a row for each size of the set, the best of some runs, in time of the processor.
import os
import time

from test_digest import kernel

SIZES = {"quick": (20000, 40000), "full": (20000, 40000, 80000)}

digest = kernel()
print("Size,Check,Time (ms),Melem/s")
for n in SIZES[os.environ["KILN_SET"]]:
    best = float("inf")
    for _ in range(int(os.environ.get("RUNS", "9"))):
        start = time.process_time()
        digest(n)
        best = min(best, time.process_time() - start)
    print("%d,PASS,%.6f,%.6f" % (n, 1e3 * best, n / best / 1e6))
