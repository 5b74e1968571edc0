/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcompile: the run-time compilers of device code, NVRTC and hipRTC, found when the program runs.
 * They need no device.
 */
#pragma once

#include "kgpu.h"

/*
 * Finds the compiler of API; returns false with the reason in WHY. The other functions call this
 * themselves.
 */
bool kcompile_find(enum kgpu_api api, char *why, size_t why_len);
void kcompile_version(enum kgpu_api api, int *major, int *minor);
/*
 * Compiles source to code. NAME appears in messages. Returns NULL on failure, with the reason in
 * WHY. *LOG is what the compiler printed, or NULL; the caller frees both. *LEN is 0 when FLAGS name
 * no device to compile for.
 */
char *kcompile(enum kgpu_api api, const char *source, const char *name, const char *const *flags,
    int flag_count, size_t *len, char **log, char *why, size_t why_len);
