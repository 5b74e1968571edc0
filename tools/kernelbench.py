# SPDX-License-Identifier: Apache-2.0
"""A PyTorch module as the reference: problems in the form of KernelBench.

    python3 kernelbench.py new PROBLEM.py FOLDER   make a campaign for the class Model in PROBLEM.py
    python3 kernelbench.py check | time            its own commands, which keval runs (docs/gpu.md)

PROBLEM.py has a class Model, get_inputs() and get_init_inputs(). A candidate is a Python file with a
class ModelNew that takes the same arguments; its kernels may be Triton or C++ built by
torch.utils.cpp_extension. Parameters are drawn with the same seed in both classes.
"""
import importlib.util
import json
import os
import shutil
import sys
import time
import traceback

import torch

SEEDS = 5  # sets of inputs that are checked
WARM, TIMED = 5, 20  # calls before the clock runs, and calls that are timed
TOLERANCE = {"float16": 1e-2, "bfloat16": 1e-2}  # absolute and relative; others:
USUAL = 1e-4
GPU = torch.cuda.is_available()


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def placed(x):
    return x.cuda() if GPU and hasattr(x, "cuda") else x


def drawn(make, seed):
    torch.manual_seed(seed)
    return [placed(x) for x in make()]


def model(cls, problem, seed):
    """The module with parameters that depend on SEED alone."""
    arguments = drawn(problem.get_init_inputs, seed)
    torch.manual_seed(seed)
    return placed(cls(*arguments).eval())


def tensors(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def kind(x):
    return str(x.dtype).split(".")[-1]


def call(module, inputs):
    with torch.no_grad():
        out = tensors(module(*inputs))
    if GPU:
        torch.cuda.synchronize()
    return out


def candidate(problem):
    code = load(os.environ["KILN_CODE"], "candidate")
    return getattr(code, "ModelNew", None) or code.Model


def fault(got, want):
    """What is wrong with these results, or None."""
    if len(got) != len(want):
        return "%d results, but the reference has %d" % (len(got), len(want))
    for i, (g, w) in enumerate(zip(got, want)):
        limit = TOLERANCE.get(kind(w), USUAL)
        if tuple(g.shape) != tuple(w.shape) or kind(g) != kind(w):
            return "result %d is %s %s, not %s %s" % (i, kind(g), tuple(g.shape), kind(w), tuple(w.shape))
        if not torch.allclose(g, w, atol=limit, rtol=limit):
            return "result %d differs by more than %g + %g times its value" % (i, limit, limit)
    return None


def check():
    problem = load("reference.py", "problem")
    first = int(os.environ.get("KILN_SEED", "1"), 16) % 2**31
    # All that is right is computed before a line of the candidate runs.
    known = []
    for seed in range(first, first + SEEDS):
        known.append((seed, call(model(problem.Model, problem, seed), drawn(problem.get_inputs, seed))))
    for seed, want in known:
        try:
            cls = candidate(problem)
            got = call(model(cls, problem, seed), drawn(problem.get_inputs, seed))
        except Exception:
            traceback.print_exc()
            sys.exit(2)  # it does not run, which is no wrong result
        why = fault(got, want)
        if why:
            sys.exit("inputs of seed %d: %s" % (seed, why))


def measure():
    problem = load("reference.py", "problem")
    module, inputs = model(candidate(problem), problem, 1), drawn(problem.get_inputs, 1)
    for _ in range(WARM):
        call(module, inputs)
    print("Workload,Time (ms)")
    for _ in range(TIMED):
        start = time.perf_counter()
        call(module, inputs)
        print("problem,%.6f" % (1e3 * (time.perf_counter() - start)))


def tensor_of(x):
    return {"shape": list(x.shape), "dtype": kind(x)}


def new(path, folder):
    problem = load(path, "problem")
    inputs = [x for x in drawn(problem.get_inputs, 1) if hasattr(x, "shape")]
    outputs = call(model(problem.Model, problem, 1), drawn(problem.get_inputs, 1))
    name = "".join(c if c.isalnum() else "_" for c in os.path.basename(path).rsplit(".", 1)[0].lower())
    said = " ".join((problem.Model.__doc__ or "What the class Model of the reference computes.").split())
    task = {
        "schema": "task/1", "name": name, "op": name, "language": "python", "axes": {},
        "description": said + " Write a class ModelNew with the constructor and the forward method of Model. "
        "The project's own check and benchmark call both with the same inputs and the same seed.",
        "inputs": {"x%d" % i: tensor_of(x) for i, x in enumerate(inputs)},
        "outputs": {"y%d" % i: tensor_of(y) for i, y in enumerate(outputs)},
        "entry": {"name": "ModelNew", "arguments": ["x%d" % i for i in range(len(inputs))] +
                  ["y%d" % i for i in range(len(outputs))]},
        "reference": "reference.py", "workloads": [{"name": "problem", "axes": {}, "timed": True}],
    }
    files = {"files": ["kernelbench.py", "reference.py"],
             "sandbox": not GPU and torch.__file__.startswith("/usr/")}  # what it cannot see, it cannot load
    campaign = {"schema": "campaign/1", "name": name, "backend": "triton", "eval": {
        "build": {"command": 'python3 -m py_compile "$KILN_CODE"'},
        "correctness": {"command": "python3 kernelbench.py check", **files},
        "timing": {"command": "python3 kernelbench.py time", "format": "csv",
                   "columns": {"workload": "Workload", "time": "Time (ms)"}, **files},
    }}
    os.makedirs(folder)
    shutil.copy(path, os.path.join(folder, "reference.py"))
    shutil.copy(__file__, os.path.join(folder, "kernelbench.py"))
    for file, what in (("task.json", task), ("campaign.json", campaign)):
        with open(os.path.join(folder, file), "w") as f:
            json.dump(what, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["new"] and len(sys.argv) == 4:
        new(sys.argv[2], sys.argv[3])
    elif sys.argv[1:] in (["check"], ["time"]):
        check() if sys.argv[1] == "check" else measure()
    else:
        sys.exit(__doc__)
