/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plots in SVG: axes, marks, texts. Colours are classes of the page's style sheet, so that a plot
 * also works in dark mode and in print. See kreport.h.
 */

#include "kmark.h"
#include "kreport.h"

void
plot_begin(struct plot *p, const char *id, double width, double height, const char *title,
    const char *description)
{
	*p = (struct plot){ .width = width, .height = height };
	kbuf_printf(&p->svg,
	    "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"%s-t %s-d\">\n<title "
	    "id=\"%s-t\">%s</title>\n"
	    "<desc id=\"%s-d\">",
	    width, height, id, id, id, title, id);
	kmark_html(&p->svg, description, strlen(description));
	kbuf_puts(&p->svg, "</desc>\n");
	p->x.from = 50;
	p->x.to = width - 10;
	p->y.from = height - 42;
	p->y.to = 24;
}

double
plot_at(const struct axis *a, double v)
{
	double low = a->log ? log10(a->low) : a->low, high = a->log ? log10(a->high) : a->high;
	double part = ((a->log ? log10(v) : v) - low) / (high > low ? high - low : 1);

	return a->from + fmin(fmax(part, 0), 1) * (a->to - a->from);
}

/* A step of 1, 2 or 5 times a power of ten that gives about five ticks. */
static double
nice_step(double span)
{
	double rough = span / 5, power = pow(10, floor(log10(rough))), part = rough / power;

	return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

/*
 * Ticks of an axis into LIST of 64: for a logarithmic axis the decades; if these are few, also 2
 * and 5; if still few, even steps.
 */
static size_t
ticks_of(const struct axis *a, double list[64])
{
	size_t n = 0;
	double step, decades = a->log ? log10(a->high / a->low) : 0;

	if (a->log && decades >= 0.9) {
		static const double parts[] = { 1, 2, 5 };
		size_t each = decades < 2.5 ? 3 : 1;
		double skip = decades > 7 ? ceil(decades / 7) : 1;

		for (double e = floor(log10(a->low)); e <= log10(a->high) + 1e-9 && n < 60;
		     e += skip)
			for (size_t i = 0; i < each; i++) {
				double v = parts[i] * pow(10, e);

				if (v >= a->low * 0.999 && v <= a->high * 1.001)
					list[n++] = v;
			}
		return n;
	}
	step = nice_step(a->high - a->low);
	if (a->whole && step < 1)
		step = 1;
	for (double v = ceil(a->low / step - 1e-9) * step; v <= a->high + step * 1e-9 && n < 60;
	     v += step)
		list[n++] = fabs(v) < step * 1e-9 ? 0 : v;
	return n;
}

static void
plot_text(struct plot *p, double x, double y, const char *class, const char *text)
{
	kbuf_printf(&p->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	kmark_html(&p->svg, text, strlen(text));
	kbuf_puts(&p->svg, "</text>\n");
}

static void
x_axis(struct plot *p, const char *(*label)(double))
{
	double ticks[64];
	size_t n = ticks_of(&p->x, ticks);

	for (size_t i = 0; i < n; i++) {
		double x = plot_at(&p->x, ticks[i]);

		kbuf_printf(&p->svg, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, p->y.from,
		    p->y.to);
		plot_text(p, x, p->y.from + 16, "mid", label(ticks[i]));
	}
	kbuf_printf(&p->svg, "<path class=\"frame\" d=\"M%.1f %.1fH%.1f\"/>\n", p->x.from,
	    p->y.from, p->x.to);
	plot_text(p, (p->x.from + p->x.to) / 2, p->y.from + 34, "mid axis", p->x.title);
}

static void
y_axis(struct plot *p, const char *(*label)(double))
{
	double ticks[64];
	size_t n = ticks_of(&p->y, ticks);

	for (size_t i = 0; i < n; i++) {
		double y = plot_at(&p->y, ticks[i]);

		kbuf_printf(&p->svg, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", p->x.from, y,
		    p->x.to);
		plot_text(p, p->x.from - 6, y + 4, "end", label(ticks[i]));
	}
	if (p->y.title)
		plot_text(p, p->x.from, p->y.to - 10, "axis", p->y.title);
}

void
plot_axes(struct plot *p, const char *(*x_label)(double), const char *(*y_label)(double))
{
	y_axis(p, y_label);
	x_axis(p, x_label);
}

void
plot_mark_begin(struct plot *p, const char *title)
{
	kbuf_puts(&p->svg, "<g><title>");
	kmark_html(&p->svg, title, strlen(title));
	kbuf_puts(&p->svg, "</title>");
}

void
plot_mark_end(struct plot *p)
{
	kbuf_puts(&p->svg, "</g>\n");
}
