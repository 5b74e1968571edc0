/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a system call in a candidate's machine code, whatever its source says, and instructions
 * that read a clock of the processor, begin a memory transaction or use a segment register. Such
 * bytes may be an instruction, a constant that code jumps into, or chance: part of a distance that
 * the linker filled in, or the end of one instruction and the beginning of the next. The
 * disassembler identifies instructions and distances; the rest is suspect if the code can jump to a
 * computed address. What inline assembly became is always looked at.
 */

#include "keval.h"

enum { TIMEOUT_S = 60, BYTES_MAX = 16 };

static const char scanned_so[] = "scanned.so";

/* A line of the disassembly: "    1139:\t0f 05   \tsyscall". */
struct instruction {
	uint64_t at;
	unsigned char bytes[BYTES_MAX];
	size_t len;
	const char *text;
};

static bool
read_instruction(const char *line, struct instruction *n)
{
	char *p;

	n->at = strtoull(line, &p, 16);
	if (p == line || p[0] != ':' || p[1] != '\t')
		return false;
	n->len = 0;
	for (p += 2; n->len < BYTES_MAX && *p && *p != '\t' && *p != ' '; p += *p == ' ')
		n->bytes[n->len++] = (unsigned char)strtoul(p, &p, 16);
	p += strspn(p, " ");
	n->text = *p == '\t' ? p + 1 : "";
	return n->len > 0;
}

static const char is_call[] = "\\A(?:syscall|sysenter|int    [$]0x80)",
                  is_clock[] = "\\A(?:rdtsc|rdpmc|rdpru)", is_transaction[] = "\\Axbegin",
                  is_segment[] = "\\A(?:(?:rd|wr)[fg]sbase|l[fgs]s\\s|pop[wlq]?\\s+%[fg]s|"
                                 "mov[wlq]?\\s[^,]*,%[d-gs]s\\b)",
                  is_branch[] = "\\A(?:call|j|bnd jmp|bnd call|xbegin)";

/* A jump or call to an address in a register or memory, other than through the linker's table. */
static bool
is_computed_jump(const struct instruction *n)
{
	const char *star = strchr(n->text, '*');

	return star && !strstr(star, "(%rip)") &&
	    (strstr(n->text, "call") || strstr(n->text, "jmp"));
}

/*
 * Offset of the displacement of an operand like 0x2ed9(%rip) among the bytes; the length if there
 * is none.
 */
static size_t
displacement(const struct instruction *n)
{
	const char *rip = strstr(n->text, "(%rip)"), *p = rip;
	int32_t value;

	if (!rip)
		return n->len;
	while (p > n->text && strchr("-0123456789abcdefx", p[-1]))
		p--;
	value = (int32_t)strtoll(p, NULL, 16);
	for (size_t i = 1; i + sizeof value <= n->len; i++)
		if (!memcmp(n->bytes + i, &value, sizeof value))
			return i;
	return n->len;
}

/* Are the two bytes at offset I part of a distance that assembler or linker computed? */
static bool
is_distance(const struct instruction *n, size_t i)
{
	size_t field = displacement(n);

	if (field < n->len)
		return i >= field && i + 2 <= field + 4;
	return kregex_is(is_branch, n->text) && !strchr(n->text, '*') && n->len >= 5 &&
	    i >= n->len - 4 && i + 2 <= n->len;
}

/*
 * Functions of the compiler's start files, which jump to addresses that the loader may have filled
 * in.
 */
static const char *const start_files[] = { "_init", "deregister_tm_clones", "register_tm_clones" };

/* What the disassembly shows about all that was found. */
struct findings {
	bool seen[LEN(start_files)]; /* each name counts once: a candidate may use it again */
	bool start_file;             /* currently in one of them */
	/* addresses of instructions, or 0 */
	uint64_t call, clock, transaction, segment;
	uint64_t odd; /* of bytes that are not a distance, or 0 */
	bool computed_jumps;
};

/* "0000000000001040 <register_tm_clones>:" begins a function. */
static void
note_function(const char *line, struct findings *out)
{
	auto_free char *name = kregex_part("<(.*)>:\\z", line);
	size_t i = kindex_of(name, start_files, LEN(start_files));

	if (name) {
		out->start_file = i < LEN(start_files) && !out->seen[i];
		if (out->start_file)
			out->seen[i] = true;
	}
}

static void
judge_instruction(
    const struct kelf *f, const struct instruction *n, size_t *explained, struct findings *out)
{
	out->computed_jumps |= !out->start_file && is_computed_jump(n);
	if (kregex_is(is_clock, n->text))
		out->clock = n->at;
	if (kregex_is(is_transaction, n->text))
		out->transaction = n->at;
	if (kregex_is(is_segment, n->text))
		out->segment = n->at;
	kforeach_of(call, f->calls, f->call_count) {
		if (*call < n->at || *call >= n->at + n->len)
			continue;
		if (kregex_is(is_call, n->text))
			out->call = *call;
		else if (is_distance(n, *call - n->at))
			++*explained;
		else
			out->odd = *call;
	}
}

static void
judge_text(const struct kelf *f, char *text, struct findings *out)
{
	struct instruction n;
	size_t explained = 0;

	kpart_foreach(line, text, "\n")
		if (read_instruction(line, &n))
			judge_instruction(f, &n, &explained, out);
		else
			note_function(line, out);
	if (explained < f->call_count && !out->odd && !out->call)
		out->odd = f->calls[0];
}

/* The machine code as text; NULL when no disassembler is available. */
static char *
disassemble(const char *work, const struct build *b)
{
	struct words w = { .count = 0 };
	auto_free char *why = NULL;

	words_add(&w, "objdump", "-d", "-w", scanned_so);
	if (!ksandbox_finds(w.at[0]))
		return NULL;
	work_put(work, scanned_so, b->so, b->so_len);
	return tool_run(work, NULL, 0, &w, TIMEOUT_S, &why);
}

/* On a GPU the assembly is that of the device. */
static bool
has_assembly(const struct build *b)
{
	auto_free char *own = !is_gpu() && b->expanded ? expand_own(b->expanded) : NULL,
	               *code = own ? ktoken_strip(own, strlen(own), KTOKEN_C) : NULL;

	return code && strstr(code, "asm");
}

char *
suspect_call(const char *work, const struct build *b, const struct kelf *f)
{
	bool found_bytes = f->call_count || f->may_pry || has_assembly(b);
	auto_free char *text = found_bytes ? disassemble(work, b) : NULL;
	struct findings found = { 0 };

	if (!found_bytes)
		return NULL;
	if (text)
		judge_text(f, text, &found);
	else
		found.odd = f->calls[0];
	if (found.clock)
		return kasprintf("it reads the processor's clock in the machine code, at 0x%llx",
		    (unsigned long long)found.clock);
	if (found.transaction)
		return kasprintf("it begins a memory transaction in the machine code, at 0x%llx: "
		                 "there, reading what is hidden is no fault",
		    (unsigned long long)found.transaction);
	if (found.segment)
		return kasprintf("it uses a segment register in the machine code, at 0x%llx",
		    (unsigned long long)found.segment);
	if (found.call)
		return kasprintf(
		    "a system call in the machine code, at 0x%llx", (unsigned long long)found.call);
	if (found.odd && (found.computed_jumps || has_assembly(b)))
		return kasprintf("the bytes of a system call in the "
		                 "machine code, at 0x%llx, and %s",
		    (unsigned long long)found.odd,
		    found.computed_jumps ? "jumps to computed addresses" : "inline assembly");
	return NULL;
}
