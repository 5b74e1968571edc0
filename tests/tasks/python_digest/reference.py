# SPDX-License-Identifier: Apache-2.0
WASTE = 1000


def digest(n):
    total = 0
    for i in range(n):
        total += i * i % 65521
    # Work that nobody needs, in thousandths of what is needed: the kernel's room for improvement.
    again = 0
    for i in range(int(n * WASTE) // 1000):
        again += i * i % 65521
    return total % 65521
