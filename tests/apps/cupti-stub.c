/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libcupti, next to that for libcudart: every launch takes the device 7 us, with a pause of 1 us behind it.
 * Records come when they are asked for, that of a launch before that of what it was for.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

enum { KERNEL = 10, EXTERNAL = 39, KERNEL_BYTES = 216, EXTERNAL_BYTES = 24, DEPTH = 16 };

static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint8_t *buffer;
static size_t size, used;
static uint64_t calls[DEPTH], now = 1000;
static int depth;
static uint32_t number;

int
cuptiActivityFlushAll(uint32_t flags)
{
	(void)flags;
	if (buffer)
		complete(NULL, 0, buffer, size, used);
	buffer = NULL;
	used = 0;
	return 0;
}

static void
launched(void)
{
	const uint32_t kernel = KERNEL, external[2] = { EXTERNAL, 3 };
	const uint64_t times[2] = { now, now + 7000 };
	size_t room;

	now += 8000;
	number++;
	if (buffer && used + KERNEL_BYTES + EXTERNAL_BYTES > size)
		cuptiActivityFlushAll(0);
	if (!buffer)
		request(&buffer, &size, &room);
	memset(buffer + used, 0, KERNEL_BYTES + EXTERNAL_BYTES);
	memcpy(buffer + used, &kernel, sizeof kernel);
	memcpy(buffer + used + 16, times, sizeof times);
	memcpy(buffer + used + 92, &number, sizeof number);
	used += KERNEL_BYTES;
	if (!depth)
		return;
	memcpy(buffer + used, external, sizeof external);
	memcpy(buffer + used + 8, &calls[depth - 1], sizeof *calls);
	memcpy(buffer + used + 16, &number, sizeof number);
	used += EXTERNAL_BYTES;
}

int
cuptiActivityRegisterCallbacks(void (*r)(uint8_t **, size_t *, size_t *), void (*c)(void *, uint32_t, uint8_t *, size_t, size_t))
{
	request = r;
	complete = c;
	return 0;
}

int
cuptiActivityEnable(int kind)
{
	void (**to)(void) = dlsym(RTLD_DEFAULT, "stub_launched");

	if (kind == KERNEL && to)
		*to = launched;
	return 0;
}

int
cuptiActivityGetNextRecord(uint8_t *from, size_t bytes, uint8_t **record)
{
	uint32_t kind = 0;

	if (*record)
		memcpy(&kind, *record, sizeof kind);
	*record = *record ? *record + (kind == KERNEL ? KERNEL_BYTES : EXTERNAL_BYTES) : from;
	return *record < from + bytes ? 0 : 12;
}

int
cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
	(void)kind;
	calls[depth++] = id;
	return 0;
}

int
cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id)
{
	(void)kind;
	*id = calls[--depth];
	return 0;
}
