/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers of every size, passed through. */
#include <stdbool.h>
#include <stdint.h>

void
narrow(const int8_t *a, const uint8_t *b, const int16_t *s, const uint16_t *u, const uint32_t *w, const uint64_t *l,
    const bool *flag, int8_t *oa, uint8_t *ob, int16_t *os, uint16_t *ou, uint32_t *ow, uint64_t *ol, bool *seen,
    uint32_t c, uint64_t big, int n)
{
	for (int i = 0; i < n; i++) {
		oa[i] = (int8_t)(a[i] + (flag[i] ? (int8_t)c : 0));
		ob[i] = (uint8_t)(b[i] + (flag[i] ? c : 0));
		os[i] = (int16_t)(s[i] + (flag[i] ? (int16_t)c : 0));
		ou[i] = (uint16_t)(u[i] + (flag[i] ? c : 0));
		ow[i] = w[i] + (flag[i] ? c : 0);
		ol[i] = l[i] + (flag[i] ? big : 0);
		seen[i] = !flag[i];
	}
}
