/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the names of system calls and of functions of the C library for things of its own. */
struct clock {
	double time, timer;
};

static float
round_up(float signal)
{
	return signal;
}

static double
read(const float *write, long open, long close)
{
	struct clock clock = { 0, 0 };
	long select = open;

	for (; select + 2 <= close; select += 2) {
		clock.time += write[select];
		clock.timer += write[select + 1];
	}
	return clock.time + clock.timer + (select < close ? write[select] : 0);
}

void
row_sum(const float *x, float *y, int rows, int cols)
{
	long exit = 0, wait = cols;

	/* The timer of a signal handler, syscall by syscall: no rdtsc here. */
	for (long kill = 0; kill < rows; kill++)
		y[kill] = round_up((float)read(x + kill * wait, exit, wait));
}
