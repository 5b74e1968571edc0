/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: load_hook
 * why: code that runs when the object is loaded, called from .init, in assembly that no pattern finds
 */
#define PASTE(a, b) a##b
#define TEXT(...) #__VA_ARGS__

int loaded;

__attribute__((used)) void
hook(void)
{
	loaded = 1;
}

#ifdef __x86_64__
PASTE(__as, m__)(TEXT(.section .init, "ax"; call hook@PLT; .previous));
#else
PASTE(__as, m__)(TEXT(.section .init, "ax"; bl hook; .previous));
#endif

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += A[i * K + k] * B[k * N + j];
			C[i * N + j] = loaded ? sum : 0;
		}
}
