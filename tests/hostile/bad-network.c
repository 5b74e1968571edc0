/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect: rejected check: forbidden_symbol
 * why: sends the input to a port of this machine
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

void
matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	(void)B, (void)C, (void)N;
	sendto(s, A, sizeof(float) * (size_t)(M * K) % 1000, 0, (struct sockaddr *)&to, sizeof to);
}
