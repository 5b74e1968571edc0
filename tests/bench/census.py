#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kadopt list says of real projects: which functions can be adopted, and why the others cannot.

    census.py cuda FOLDER...      a program a folder: how many have a kernel that can be adopted
    census.py c FOLDER...         functions with a loop and array indexing, as tree-sitter counts them
    census.py -o LIST ...         write a line for each: project, file, function, yes or the first reason

"c" needs: pip install tree_sitter tree_sitter_c tree_sitter_cpp. Get the projects yourself; none of their code is here.
census.tsv is the list of a run over llama2.c, speexdsp, kissfft, libsamplerate, libdeflate, minimp3, xxHash, lz4, PolyBench,
darknet, rnnoise and pffft, without their tests, tools and data tables.
"""
import collections
import json
import os
import re
import subprocess
import sys

LOOPS = ("for_statement", "while_statement", "do_statement")
APART = re.compile(r"(^|/)(tests?|examples?|programs|contrib|fuzz|fuzzing|tools|player|huffopt)/|_data.*\.[ch]$|test|bench")


def listed(folder):
    """What kadopt says, by file and function; the better answer counts when a file has both."""
    run = subprocess.run(["kadopt", "list", "-p", folder, "--json"], stdout=subprocess.PIPE, text=True, check=False)
    rows = {}
    for line in run.stdout.splitlines():
        row = json.loads(line)
        key = row["file"], row["function"]
        if key not in rows or row["good"]:
            rows[key] = row
    return rows


def is_good(row):
    """Can it be adopted, whatever macros the build has?"""
    return row and row["good"] and not row["doubts"]


def within(node):
    """Has the node a loop, and an index, somewhere inside?"""
    loop, index = node.type in LOOPS, node.type == "subscript_expression"
    for child in node.children:
        inner = within(child)
        loop, index = loop or inner[0], index or inner[1]
    return loop, index


def name_of(node):
    """The identifier of a function's declarator."""
    node = node.child_by_field_name("declarator")
    while node is not None and node.type not in ("identifier", "field_identifier", "qualified_identifier"):
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in node.children if c.type.endswith("declarator") or c.type == "identifier"), None)
        node = inner
    return node.text.decode() if node is not None else None


def functions(node, found):
    """Names of functions with a loop and an index."""
    if node.type == "function_definition":
        body = node.child_by_field_name("body")
        if body is not None and all(within(body)) and name_of(node):
            found.add(name_of(node))
    for child in node.children:
        functions(child, found)


def parsers():
    """tree-sitter's, for C and for C++."""
    import tree_sitter  # pylint: disable=import-outside-toplevel
    import tree_sitter_c  # pylint: disable=import-outside-toplevel
    import tree_sitter_cpp  # pylint: disable=import-outside-toplevel

    return [tree_sitter.Parser(tree_sitter.Language(x.language())) for x in (tree_sitter_c, tree_sitter_cpp)]


def of_c(folder, parse):
    """Every function that the independent parser counts: file, function, kadopt's row or None."""
    rows = listed(folder)
    for where, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(where, name)
            file = os.path.relpath(path, folder)
            if not re.search(r"\.(c|h|cc|cpp)$", name) or APART.search(file):
                continue
            found = set()
            with open(path, "rb") as source:
                functions(parse[not name.endswith((".c", ".h"))].parse(source.read()).root_node, found)
            for function in sorted(found):
                yield file, function, rows.get((file, function))


def of_cuda(folder):
    """Every kernel."""
    for (file, function), row in sorted(listed(folder).items()):
        if row["kernel"]:
            yield file, function, row


def main():
    """See above."""
    arguments = sys.argv[1:]
    out = None
    if arguments[:1] == ["-o"]:
        out, arguments = open(arguments[1], "w", encoding="utf-8"), arguments[2:]
    if len(arguments) < 2 or arguments[0] not in ("c", "cuda"):
        sys.exit(__doc__)
    parse = parsers() if arguments[0] == "c" else None
    reasons = collections.Counter()
    all_good = count = programs = taken = 0
    for folder in arguments[1:]:
        project = os.path.basename(folder.rstrip("/"))
        rows = list(of_c(folder, parse) if parse else of_cuda(folder))
        good = sum(1 for row in rows if is_good(row[2]))
        all_good, count = all_good + good, count + len(rows)
        programs, taken = programs + bool(rows), taken + bool(good)
        if parse:
            print(f"{project}\t{good} of {len(rows)}")
        for file, function, row in rows:
            why = "yes" if is_good(row) else (row["reasons"] + row["doubts"])[0] if row else "not seen by the compiler"
            if why != "yes":
                reasons[re.sub(r"'[^']*'|\S+ \([^)]*:\d+\)|\b[\w./]+:\d+", "…", why)] += 1
            if out:
                out.write(f"{project}\t{file}\t{function}\t{why}\n")
    print(f"functions\t{all_good} of {count}")
    if not parse:
        print(f"programs with a kernel\t{taken} of {programs}")
    for why, times in reasons.most_common(20):
        print(f"{times}\t{why}")


main()
