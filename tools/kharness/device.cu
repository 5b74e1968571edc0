/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge's own kernels, for the space of gpu.c: compiled at run time (NVRTC, hipRTC), with small.h and the numbers of
 * enum kdtype and enum kdist before it. One element per thread and step; they compute the same as host.c.
 */
typedef unsigned long long u64;
typedef unsigned char u8;

/* Threads that run in step. */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define STEP warpSize
#else
#define STEP 1
#endif
enum { FEW_GROUPS = 64 };

#define EACH(i, n) \
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x, step_ = gridDim.x * (u64)blockDim.x; i < (n); i += step_)

/* Uniform in [0, 1): draw K of element I. */
__device__ static inline double
uniform(u64 seed, u64 i, int k)
{
	return (double)(small_mix(small_word(seed, i), k) >> 11) * 0x1p-53;
}

__device__ static double
element(int dist, u64 seed, u64 i, u64 n, u64 period, bool rare, bool whole, double common)
{
	double low = dist == KDIST_TINY ? -42 : rare ? 2 : -2;
	double high = dist == KDIST_TINY ? -36 : rare && !whole ? 2.3 : 4;

	switch (dist) {
	case KDIST_NORMAL:
		return small_normal(small_word(seed, i));
	case KDIST_UNIFORM:
		return uniform(seed, i, 0);
	case KDIST_ZERO_ONE:
		return (double)(small_word(seed, i) >> 63);
	case KDIST_LARGE:
	case KDIST_TINY:
		return (small_word(seed, i) >> 63 ? 1 : -1) * exp10(low + (high - low) * uniform(seed, i, 0));
	case KDIST_ALL_EQUAL:
		return common;
	case KDIST_SORTED:
		return small_sorted(~seed, i, n, uniform(seed, i, 0));
	case KDIST_HEAVY_TAIL:
		return (small_word(seed, i) >> 63 ? 1 : -1) * pow(1 - uniform(seed, i, 0), -1 / 1.5);
	case KDIST_SPECIAL:
		return small_special(seed, i, period, small_normal(small_word(seed, i)));
	case KDIST_SPARSE:
		return small_sparse(seed, i, (double)period);
	default:
		return i % 2 ? -fabs(small_normal(small_word(seed, i))) : fabs(small_normal(small_word(seed, i)));
	}
}

/* Types of 8 bits saturate at their largest number; a NaN stays one. */
__device__ static inline double
saturate(double x, double max)
{
	return isnan(x) ? x : fmin(fmax(x, -max), max);
}

/* X as a whole number within a type's limits. */
__device__ static inline double
whole(double x, double min, double max)
{
	return fmin(fmax(rint(x), min), max);
}

__device__ static void
put(int type, void *to, u64 i, double x)
{
	switch (type) {
	case KDTYPE_F32:
	case KDTYPE_TF32:
		((float *)to)[i] = (float)x;
		break;
	case KDTYPE_F64:
		((double *)to)[i] = x;
		break;
	case KDTYPE_F16:
		((unsigned short *)to)[i] = (unsigned short)small_narrow(x, 5, 10, 15, SMALL_IEEE);
		break;
	case KDTYPE_BF16:
		((unsigned short *)to)[i] = (unsigned short)small_narrow(x, 8, 7, 127, SMALL_IEEE);
		break;
	case KDTYPE_E4M3:
		((u8 *)to)[i] = (u8)small_narrow(saturate(x, 448.0), 4, 3, 7, SMALL_FN_TOP);
		break;
	case KDTYPE_E5M2:
		((u8 *)to)[i] = (u8)small_narrow(saturate(x, 57344.0), 5, 2, 15, SMALL_IEEE);
		break;
	case KDTYPE_E4M3FNUZ:
		((u8 *)to)[i] = (u8)small_narrow(saturate(x, 240.0), 4, 3, 8, SMALL_FNUZ);
		break;
	case KDTYPE_E5M2FNUZ:
		((u8 *)to)[i] = (u8)small_narrow(saturate(x, 57344.0), 5, 2, 16, SMALL_FNUZ);
		break;
	case KDTYPE_I8:
		((signed char *)to)[i] = (signed char)whole(x, -128.0, 127.0);
		break;
	case KDTYPE_I16:
		((short *)to)[i] = (short)whole(x, -32768.0, 32767.0);
		break;
	case KDTYPE_U8:
		((u8 *)to)[i] = (u8)whole(x, 0.0, 255.0);
		break;
	case KDTYPE_BOOL:
		((u8 *)to)[i] = (u8)whole(x, 0.0, 1.0);
		break;
	case KDTYPE_U16:
		((unsigned short *)to)[i] = (unsigned short)whole(x, 0.0, 65535.0);
		break;
	case KDTYPE_U32:
		((unsigned *)to)[i] = (unsigned)whole(x, 0.0, 4294967295.0);
		break;
	case KDTYPE_U64:
		((u64 *)to)[i] = x < 0x1p64 ? (u64)fmax(rint(x), 0.0) : ~0ull;
		break;
	case KDTYPE_I32:
		((int *)to)[i] = (int)rint(x);
		break;
	default:
		((long long *)to)[i] = (long long)rint(x);
	}
}

__device__ static double
get(int type, const void *from, u64 i)
{
	switch (type) {
	case KDTYPE_F32:
	case KDTYPE_TF32:
		return ((const float *)from)[i];
	case KDTYPE_F64:
		return ((const double *)from)[i];
	case KDTYPE_F16:
		return small_widen(((const unsigned short *)from)[i], 5, 10, 15, SMALL_IEEE);
	case KDTYPE_BF16:
		return __int_as_float((int)((unsigned)((const unsigned short *)from)[i] << 16));
	case KDTYPE_E4M3:
		return small_widen(((const u8 *)from)[i], 4, 3, 7, SMALL_FN_TOP);
	case KDTYPE_E5M2:
		return small_widen(((const u8 *)from)[i], 5, 2, 15, SMALL_IEEE);
	case KDTYPE_E4M3FNUZ:
		return small_widen(((const u8 *)from)[i], 4, 3, 8, SMALL_FNUZ);
	case KDTYPE_E5M2FNUZ:
		return small_widen(((const u8 *)from)[i], 5, 2, 16, SMALL_FNUZ);
	case KDTYPE_I8:
		return ((const signed char *)from)[i];
	case KDTYPE_I16:
		return ((const short *)from)[i];
	case KDTYPE_U8:
	case KDTYPE_BOOL:
		return ((const u8 *)from)[i];
	case KDTYPE_U16:
		return ((const unsigned short *)from)[i];
	case KDTYPE_U32:
		return ((const unsigned *)from)[i];
	case KDTYPE_U64:
		return (double)((const u64 *)from)[i];
	case KDTYPE_I32:
		return ((const int *)from)[i];
	default:
		return (double)((const long long *)from)[i];
	}
}

extern "C" __global__ void
kiln_draw(int type, int dist, u64 seed, u64 n, u64 period, u64 every, double common, double width,
    int is_unsigned, void *to)
{
	EACH(i, n)
		if (!every || small_mix(~seed, i) % every == 0) {
			double x = element(dist, seed, i, n, period, every != 0, width > 1, common);

			put(type, to, i, width * (is_unsigned ? small_unsigned(x, dist == KDIST_SORTED) : x));
		}
}

extern "C" __global__ void
kiln_redraw(int type, const void *values, u64 n, u64 seed, double toward, double share, int whole, int ordered, void *to)
{
	EACH(i, n)
		put(type, to, i, small_redraw(get(type, values, i), get(type, values, small_other(n, i, seed, ordered)), i, seed, toward, share, whole, ordered));
}

extern "C" __global__ void
kiln_widen(int type, const void *from, u64 n, double *to)
{
	EACH(i, n)
		to[i] = get(type, from, i);
}

extern "C" __global__ void
kiln_perturb(double *v, u64 n, double eps, u64 seed, u64 step)
{
	EACH(i, n)
		v[i] *= 1 + eps * small_normal(small_mix(seed, i * step));
}

/* A repeated word; the last piece may be shorter. */
extern "C" __global__ void
kiln_words(u8 *to, u64 word, u64 bytes)
{
	if ((u64)to % 8) {
		EACH(i, bytes)
			to[i] = (u8)(word >> 8 * (i % 8));
		return;
	}
	EACH(i, bytes / 8)
		((u64 *)to)[i] = word;
	if (!blockIdx.x && threadIdx.x < bytes % 8)
		to[bytes / 8 * 8 + threadIdx.x] = (u8)(word >> 8 * threadIdx.x);
}

/* Bytes FROM to TO of the guard pattern: writes them, or finds the first that differs. */
extern "C" __global__ void
kiln_guard(u8 *memory, u64 key, u64 from, u64 to)
{
	u64 first = from / 8, last = (to + 7) / 8;

	EACH(w, last - first) {
		u64 word = small_mix(key, first + w), at = (first + w) * 8;

		if (at >= from && at + 8 <= to)
			*(u64 *)(memory + at) = word;
		else
			for (int b = 0; b < 8; b++)
				if (at + b >= from && at + b < to)
					memory[at + b] = (u8)(word >> 8 * b);
	}
}

extern "C" __global__ void
kiln_guard_check(const u8 *memory, u64 key, u64 from, u64 to, u64 *bad)
{
	u64 first = from / 8, last = (to + 7) / 8;

	EACH(w, last - first) {
		u64 word = small_mix(key, first + w), at = (first + w) * 8;

		if (at >= from && at + 8 <= to && *(const u64 *)(memory + at) == word)
			continue;
		for (int b = 0; b < 8; b++)
			if (at + b >= from && at + b < to && memory[at + b] != (u8)(word >> 8 * b))
				atomicMin(bad, at + b);
	}
}

extern "C" __global__ void
kiln_differs(const u8 *a, const u8 *b, u64 bytes, u64 *flag)
{
	if (((u64)a | (u64)b) % 16) {
		EACH(i, bytes)
			if (a[i] != b[i])
				*flag = 1;
		return;
	}
	EACH(i, (bytes + 15) / 16) {
		if (i * 16 + 16 <= bytes) {
			ulonglong2 x = ((const ulonglong2 *)a)[i], y = ((const ulonglong2 *)b)[i];

			if (x.x != y.x || x.y != y.y)
				*flag = 1;
		} else {
			for (u64 k = i * 16; k < bytes; k++)
				if (a[k] != b[k])
					*flag = 1;
		}
	}
}

/* Whether rounding to the type changes a value. */
extern "C" __global__ void
kiln_exact(int type, const double *expected, u64 n, u64 *flag)
{
	EACH(i, n) {
		double raw = 0;

		put(type, &raw, 0, expected[i]);
		if (get(type, &raw, 0) != expected[i])
			*flag = 1;
	}
}

/* ---- comparison: the rule is in compare.c ---- */

struct rule {
	double rtol, per_scale, atol, fixed_scale, max, cap;
	int exact, saturates;
};

struct result {
	u64 mismatches, unwritten, over_cap;
	u64 max_abs, max_share, worst;	/* bits of doubles that are not negative: they sort like integers */
	u64 worst_at;
};

__device__ static inline u64
group_of(u64 i, u64 group, u64 groups)
{
	u64 g = i / group;

	return g < groups ? g : groups - 1;
}

/* The sum over the threads that run in step, for the first of them; the host has one thread. */
__device__ static inline double
step_sum(double v)
{
#if defined(__CUDA_ARCH__)
	for (int d = warpSize / 2; d; d /= 2)
		v += __shfl_down_sync(~0u, v, d);
#elif defined(__HIP_DEVICE_COMPILE__)
	for (int d = warpSize / 2; d; d /= 2)
		v += __shfl_down(v, d);
#endif
	return v;
}

__device__ static inline void
add_pair(double *sums, u64 g, double sum, double count)
{
	atomicAdd(&sums[2 * g], sum);
	atomicAdd(&sums[2 * g + 1], count);
}

/* Few groups: all threads share each, and those in step add up first, so that not all wait for one number. */
__device__ static inline void
scale_shared(const double *expected, u64 n, u64 group, u64 groups, double *sums)
{
	u64 threads = gridDim.x * (u64)blockDim.x, at = blockIdx.x * (u64)blockDim.x + threadIdx.x;

	for (u64 g = 0; g < groups; g++) {
		u64 to = g + 1 < groups ? (g + 1) * group : n;
		double sum = 0, count = 0;

		for (u64 i = g * group + at; i < to; i += threads)
			if (isfinite(expected[i])) {
				sum += expected[i] * expected[i];
				count += 1;
			}
		sum = step_sum(sum);
		count = step_sum(count);
		if (threadIdx.x % STEP == 0)
			add_pair(sums, g, sum, count);
	}
}

/* Many groups: adjacent elements of one are added first. */
__device__ static inline void
scale_apart(const double *expected, u64 n, u64 group, u64 groups, double *sums)
{
	u64 per = 64, threads = gridDim.x * (u64)blockDim.x, at = blockIdx.x * (u64)blockDim.x + threadIdx.x;

	for (u64 from = at * per; from < n; from += threads * per) {
		u64 to = from + per < n ? from + per : n, g = group_of(from, group, groups);
		double sum = 0, count = 0;

		for (u64 i = from; i < to; i++) {
			u64 now = group_of(i, group, groups);
			double e = expected[i];

			if (now != g) {
				add_pair(sums, g, sum, count);
				sum = count = 0;
				g = now;
			}
			if (isfinite(e)) {
				sum += e * e;
				count += 1;
			}
		}
		add_pair(sums, g, sum, count);
	}
}

/* Sums of the squares of the finite ones, and their number, by group. */
extern "C" __global__ void
kiln_scale(const double *expected, u64 n, u64 group, u64 groups, double *sums)
{
	if (groups <= FEW_GROUPS)
		scale_shared(expected, n, group, groups, sums);
	else
		scale_apart(expected, n, group, groups, sums);
}

/* A result beyond the type's range must be infinity, or the largest number if the type saturates. */
__device__ static inline double
in_range(double e, const struct rule *r)
{
	return fabs(e) > r->max ? copysign(r->saturates ? r->max : (double)INFINITY, e) : e;
}

/* Error and tolerance of one element; false when it needs none: the same infinity, or NaN where NaN is expected. */
__device__ static bool
judge_element(double e, double got, double scale, double slack, const struct rule *r, double *error, double *tolerance)
{
	*error = fabs(got - e);
	*tolerance = r->exact ? 0 : fmax(r->rtol * fabs(e) + r->per_scale * scale + r->atol, slack);
	if (isfinite(e) && isfinite(got))
		return true;
	if (isnan(e) ? isnan(got) : isinf(e) && isinf(got) && signbit(e) == signbit(got))
		return false;
	*error = INFINITY;
	*tolerance = 0;
	return true;
}

__device__ static double
ratio(double error, double tolerance)
{
	return error / (tolerance > 0 ? tolerance : 2.2250738585072014e-308);
}

__device__ static bool
is_poison(const u8 *got, u64 i, int size, u64 poison)
{
	for (int b = 0; b < size; b++)
		if (got[i * size + b] != (u8)(poison >> 8 * b))
			return false;
	return true;
}

/* What an element's tolerance is computed from: the root mean square of its group. */
__device__ static inline double
scale_of(const double *sums, u64 g, const struct rule *r)
{
	return fmax(sums[2 * g + 1] > 0 ? sqrt(sums[2 * g] / sums[2 * g + 1]) : 0, r->fixed_scale);
}

extern "C" __global__ void
kiln_compare(int type, int size, const double *expected, const void *got, u64 n, u64 group, u64 groups,
    const double *sums, const double *slack, struct rule r, u64 poison, struct result *out)
{
	EACH(i, n) {
		double scale = scale_of(sums, group_of(i, group, groups), &r);
		double error, tolerance, e = in_range(expected[i], &r);

		if (is_poison((const u8 *)got, i, size, poison))
			atomicAdd(&out->unwritten, 1ull);
		if (!judge_element(e, get(type, got, i), scale, slack ? slack[i] : 0, &r, &error, &tolerance))
			continue;
		if (error > 0 && __double_as_longlong(error) > (long long)out->max_abs)
			atomicMax(&out->max_abs, (u64)__double_as_longlong(error));
		if (tolerance > 0 && __double_as_longlong(error / tolerance) > (long long)out->max_share)
			atomicMax(&out->max_share, (u64)__double_as_longlong(error / tolerance));
		if (error > tolerance) {
			atomicAdd(&out->mismatches, 1ull);
			atomicMax(&out->worst, (u64)__double_as_longlong(ratio(error, tolerance)));
		}
		if (r.cap >= 0 && error > r.cap)
			out->over_cap = 1;
	}
}

/* Where the worst one is: the first of its kind. */
extern "C" __global__ void
kiln_worst(int type, const double *expected, const void *got, u64 n, u64 group, u64 groups, const double *sums,
    const double *slack, struct rule r, struct result *out)
{
	EACH(i, n) {
		double scale = scale_of(sums, group_of(i, group, groups), &r);
		double error, tolerance;

		if (judge_element(in_range(expected[i], &r), get(type, got, i), scale, slack ? slack[i] : 0, &r, &error,
			&tolerance) && error > tolerance && (u64)__double_as_longlong(ratio(error, tolerance)) == out->worst)
			atomicMin(&out->worst_at, i);
	}
}

/* Integers: equal or not. */
extern "C" __global__ void
kiln_compare_integers(int type, int size, const void *expected, const void *got, u64 n, u64 poison,
    struct result *out)
{
	EACH(i, n) {
		double error = fabs(get(type, expected, i) - get(type, got, i));

		if (is_poison((const u8 *)got, i, size, poison))
			atomicAdd(&out->unwritten, 1ull);
		for (int b = 0; b < size; b++)
			if (((const u8 *)expected)[i * size + b] != ((const u8 *)got)[i * size + b]) {
				atomicAdd(&out->mismatches, 1ull);
				atomicMax(&out->max_abs, (u64)__double_as_longlong(error));
				atomicMin(&out->worst_at, i);
				break;
			}
	}
}

/* Read and write a region larger than the caches; what is written depends on what was read. */
extern "C" __global__ void
kiln_flush(u64 *memory, u64 n)
{
	EACH(i, n)
		memory[i] += i;
}

extern "C" __global__ void
kiln_nothing(void)
{
}
