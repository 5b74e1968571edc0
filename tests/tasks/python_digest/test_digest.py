# SPDX-License-Identifier: Apache-2.0
# The project's own test: exit status 0 when the kernel is right, 1 when it is wrong.
import importlib.util
import os
import sys


def kernel():
    spec = importlib.util.spec_from_file_location("kernel", os.environ["KILN_CODE"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.digest


def test_digest():
    for n in (0, 1, 2, 999, 65521, 65522):
        assert kernel()(n) == sum(i * i % 65521 for i in range(n)) % 65521, n


if __name__ == "__main__":
    try:
        test_digest()
    except AssertionError as fault:
        sys.exit("digest(%s) is wrong" % fault)
