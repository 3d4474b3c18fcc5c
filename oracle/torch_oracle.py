#!/usr/bin/env python3
"""Expected values and baselines of problems in KernelBench's form, by PyTorch.

    torch_oracle.py describe PROBLEM.py     prints what the problem is, as JSON
    torch_oracle.py survey                  answers lines of JSON on standard input: what each
                                            problem is, whether it is degenerate, how long it takes
    torch_oracle.py reference               answers the worker: outputs in double, and fresh inputs
    torch_oracle.py MODE [warm]             answers the worker as a runner does: the module as it is

A MODE is one of eager (PyTorch as it comes), eager-fp32 (no TF32 anywhere), eager-tf32 (TF32
wherever it can be) and compile (torch.compile, no TF32).

A problem defines Model, get_inputs() and get_init_inputs(). Its inputs here are those of
get_inputs(), then the module's parameters and floating buffers by name, packed into one where they
are many; its outputs are the tensors that forward() returns. The module stays in training mode, as
the benchmark has it. Everything is on the GPU where PyTorch has one.

The worker speaks src/common/base/runner_protocol.hpp over descriptor 3; the structures below are
those of that file.
"""

import contextlib
import copy
import ctypes
import gc
import importlib.machinery
import importlib.util
import json
import math
import mmap
import os
import signal
import socket
import sys
import time
import traceback
import warnings

CONTROL_FD = 3
MODEL_SEED = 42  # the benchmark's own
MAX_TENSORS, MAX_RANK, MAX_VALUES, MAX_SETS, MAX_TRACED = 64, 8, 16, 1024, 16
MAX_SEEDS = 512

# Of runner_protocol.hpp: Op, ReplyKind, CallStatus.
LOAD, SHAPE, ATTACH, PREPARE, GO, TRACE, DRAW = range(7)
HELLO, READY, DONE, FAULT = range(4)
OK, NO_SYMBOL, RETURNED_ERROR, OUT_OF_MEMORY, EXCEPTION, MAP_FAILED, DEVICE_ERROR = range(7)


class TensorPlace(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("rank", ctypes.c_uint16),
                ("output", ctypes.c_uint32), ("shape", ctypes.c_int64 * MAX_RANK),
                ("strides", ctypes.c_int64 * MAX_RANK), ("region_offset", ctypes.c_uint64),
                ("region_bytes", ctypes.c_uint64), ("data_offset", ctypes.c_uint64)]


class Layout(ctypes.Structure):
    _fields_ = [("sets", ctypes.c_uint32), ("tensor_count", ctypes.c_uint32),
                ("scalar_count", ctypes.c_uint32), ("axis_count", ctypes.c_uint32),
                ("threads", ctypes.c_int32), ("populate", ctypes.c_uint32),
                ("guard_bytes", ctypes.c_uint64), ("input_stride", ctypes.c_uint64),
                ("output_stride", ctypes.c_uint64), ("workspace_stride", ctypes.c_uint64),
                ("workspace_bytes", ctypes.c_uint64), ("workspace_offset", ctypes.c_uint64),
                ("state_bytes", ctypes.c_uint64), ("scalars", ctypes.c_double * MAX_VALUES),
                ("axes", ctypes.c_int64 * MAX_VALUES), ("tensors", TensorPlace * MAX_TENSORS)]


class Body(ctypes.Union):
    _fields_ = [("layout", Layout), ("path", ctypes.c_char * 4096),
                ("sets", ctypes.c_uint16 * MAX_SETS), ("seeds", ctypes.c_uint64 * MAX_SEEDS)]


class Request(ctypes.Structure):
    _fields_ = [("op", ctypes.c_uint32), ("sequence", ctypes.c_uint32), ("count", ctypes.c_uint32),
                ("option", ctypes.c_uint32), ("body", Body)]


class TracedKernel(ctypes.Structure):
    _fields_ = [("name", ctypes.c_uint64), ("ns", ctypes.c_int64)]


class Trace(ctypes.Structure):
    _fields_ = [("span_ns", ctypes.c_int64), ("launches", ctypes.c_uint32),
                ("count", ctypes.c_uint32), ("kernels", TracedKernel * MAX_TRACED)]


class Reply(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("sequence", ctypes.c_uint32),
                ("status", ctypes.c_uint32), ("code", ctypes.c_int32), ("claim_ns", ctypes.c_int64),
                ("workspace_bytes", ctypes.c_uint64), ("state_bytes", ctypes.c_uint64),
                ("fault_address", ctypes.c_uint64), ("fault_tensor", ctypes.c_int32),
                ("fault_place", ctypes.c_uint32), ("has_prepare", ctypes.c_uint32),
                ("calls", ctypes.c_uint32), ("text", ctypes.c_char * 512), ("trace", Trace)]


class Refused(Exception):
    """What is wrong with a problem, in words for its user."""


def torch_module():
    try:
        import torch
    except ImportError as error:
        raise Refused(f"PyTorch is missing for {sys.executable} ({error}): install it "
                      "(apt-get install python3-torch), or set KERNELPRO_PYTHON to a Python that "
                      "has it") from error
    return torch


def first_gpu(torch):
    if torch.cuda.is_available():
        return "cuda"
    if os.environ.get("CUDA_VISIBLE_DEVICES"):
        built = ("it is built for CPUs only" if torch.version.cuda is None
                 else f"it is built for CUDA {torch.version.cuda}, which this driver does not run")
        raise Refused(f"PyTorch {torch.__version__} cannot use the GPU: {built}; set "
                      "KERNELPRO_PYTHON to a Python whose PyTorch can")
    return "cpu"


# A problem with more parameters and buffers than this gives them as one flat tensor.
MOST_SINGLE = 24
PACK_ELEMENTS = 64  # where the next one starts: at a multiple of this
QUICK_BUILD_S = 0.02


class Problem:
    def __init__(self, path):
        self.torch = torch_module()
        self.device = first_gpu(self.torch)
        self.module = self._load(path)
        for name in ("Model", "get_inputs", "get_init_inputs"):
            if not hasattr(self.module, name):
                raise Refused(f"{path} defines no {name}: expected a problem in KernelBench's form "
                              "(Model, get_inputs and get_init_inputs)")
        self.torch.manual_seed(MODEL_SEED)
        with self._placed():
            self.init = self.module.get_init_inputs()
        self.model = self.build(MODEL_SEED)
        start = time.perf_counter()
        if self._state(self.model):
            self.build(MODEL_SEED)
        self.quick_to_build = time.perf_counter() - start < QUICK_BUILD_S
        self.names = list(self._state(self.model))
        self.packed = len(self.names) > MOST_SINGLE
        self.wide = None
        self.sliced = None  # which of the inputs can be cut along their first axis; None: not tried

    def _load(self, path):
        # Whatever the file is called: the worker has names of its own.
        loader = importlib.machinery.SourceFileLoader("kernelpro_problem", path)
        module = importlib.util.module_from_spec(
            importlib.util.spec_from_loader(loader.name, loader))
        try:
            loader.exec_module(module)
        except Exception as error:
            raise Refused(f"{path} cannot be imported: {last_line(error)}") from error
        return module

    def _placed(self):
        """Where tensors are made: on a CPU gigabytes of random numbers take minutes."""
        if self.device == "cpu":
            return contextlib.nullcontext()
        return self.torch.device(self.device)

    def build(self, seed):
        self.torch.manual_seed(seed % 2**63)
        try:
            with self.torch.no_grad(), self._placed():
                return self.module.Model(*self.init).to(self.device)
        except Exception as error:
            raise Refused(f"its Model cannot be made: {last_line(error)}") from error

    def _state(self, model):
        return dict(model.named_parameters()) | {
            name: value for name, value in model.named_buffers() if value.is_floating_point()}

    def draw(self, seed):
        """All inputs for one call: get_inputs() under that seed, and fresh parameters."""
        self.torch.manual_seed(seed % 2**63)
        try:
            with self._placed():
                given = [value.to(self.device) if self.torch.is_tensor(value) else value
                         for value in self.module.get_inputs()]
        except Exception as error:
            raise Refused(f"its get_inputs() fails: {last_line(error)}") from error
        return given, self._draw_state(seed)

    def _draw_state(self, seed):
        if not self.names:
            return []
        if self.quick_to_build:
            state = self._state(self.build(seed))
            return [state[name].detach() for name in self.names]
        # The same numbers at other places: as fresh, and there in no time.
        state = self._state(self.model if seed == MODEL_SEED else self.build_once())
        return [value.detach().flatten().roll(seed % max(1, value.numel())).view(value.shape)
                for value in (state[name] for name in self.names)]

    def build_once(self):
        if not hasattr(self, "fresh"):
            self.fresh = self.build(MODEL_SEED)
        return self.fresh

    # ---- parameters as inputs ----

    def places(self):
        """Of each parameter in the flat tensor: its first element and its shape."""
        out, at = [], 0
        for value in self._state(self.model).values():
            out.append((at, value.shape))
            at += -(-value.numel() // PACK_ELEMENTS) * PACK_ELEMENTS
        return out, at

    def pack(self, state):
        if not self.packed:
            return state
        if any(value.dtype != self.torch.float32 for value in state):
            raise Refused(f"it has {len(state)} parameters that are not all of float32; "
                          f"more than {MOST_SINGLE} can be given as one tensor only")
        places, elements = self.places()
        flat = self.torch.zeros(elements, dtype=self.torch.float32, device=state[0].device)
        for (at, _), value in zip(places, state):
            flat[at:at + value.numel()].copy_(value.flatten())
        return [flat]

    def unpack(self, tensors):
        if not self.packed:
            return tensors
        return [tensors[0][at:at + shape.numel()].view(shape) for at, shape in self.places()[0]]

    # ---- calls ----

    def set_state(self, state, model):
        """Gives the module these values: what forward() changes in them is not the caller's."""
        with self.torch.no_grad():
            own = self._state(model)
            for name, value in zip(self.names, state):
                own[name].copy_(value)

    def forward(self, given, state, model=None):
        """The tensors that forward() returns."""
        model = self.model if model is None else model
        self.set_state(state, model)
        return self.call(model, given)

    def call(self, model, given):
        with self.torch.no_grad():
            return self._tensors(model(*given))

    def _tensors(self, found):
        parts = found if isinstance(found, (tuple, list)) else [found]
        out = []
        for part in parts:
            if isinstance(part, (tuple, list)):
                out += self._tensors(part)
            elif self.torch.is_tensor(part):
                out.append(part)
            else:
                raise Refused(f"forward() returns a {type(part).__name__}; only tensors can be "
                              "compared")
        return out

    # ---- in double ----

    def forward_wide(self, given, state):
        """forward() in double."""
        torch = self.torch
        if self.wide is None:
            self.wide = copy.deepcopy(self.model).double()
        wide = [value.double() if torch.is_tensor(value) and value.is_floating_point() else value
                for value in given]
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            return self.forward(wide, state, self.wide)
        finally:
            torch.set_default_dtype(before)

    def write_wide(self, given, state, outputs):
        """forward() in double, into `outputs`; in slices where it does not fit as a whole."""
        try:
            for to, value in zip(outputs, self.forward_wide(given, state)):
                to.copy_(value)
            return
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        self.release()
        inputs = self.independent_inputs(given, state)
        for parts in (8, 64):
            try:
                return self._write_slices(given, state, outputs, inputs, parts)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
            self.release()
        raise MemoryError

    def _write_slices(self, given, state, outputs, inputs, parts):
        rows = outputs[0].shape[0]
        step = -(-rows // parts)
        for first in range(0, rows, step):
            part = cut(given, inputs, first, first + step)
            for to, value in zip(outputs, self.forward_wide(part, state)):
                to[first:first + step].copy_(value)

    def independent_inputs(self, given, state):
        """Those inputs of which a slice along the first axis gives that slice of the outputs, by
        trying it."""
        if self.sliced is not None:
            return self.sliced
        torch = self.torch
        outputs = self.forward(given, state)
        rows = outputs[0].shape[0] if outputs[0].dim() > 0 else 0
        if rows < 2 or any(value.dim() == 0 or value.shape[0] != rows for value in outputs):
            raise MemoryError
        fitting = [i for i, value in enumerate(given)
                   if torch.is_tensor(value) and value.dim() > 0 and value.shape[0] == rows]
        for inputs in [fitting] + [[i] for i in fitting]:
            try:
                found = self.forward(cut(given, inputs, 0, 1), state)
            except Exception as error:
                if is_out_of_memory(error):
                    raise
                continue
            if all(a.shape == b[:1].shape for a, b in zip(found, outputs)) and distance(
                    torch, found, [value[:1] for value in outputs]) < INDEPENDENT:
                self.sliced = inputs
                return inputs
        raise MemoryError

    def release(self):
        if self.device != "cpu":
            self.torch.cuda.empty_cache()


# Rounding of kernels that are chosen by size stays below this; the statistics of a batch do not.
INDEPENDENT = 3e-5


def cut(given, inputs, first, last):
    return [value[first:last] if i in inputs else value for i, value in enumerate(given)]


def is_out_of_memory(error):
    return isinstance(error, MemoryError) or "out of memory" in str(error).lower()


def last_line(error):
    return traceback.format_exception_only(type(error), error)[-1].strip()


# ---- describe ----

DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64",
          "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "u8"}


def tensor_description(name, tensor, role):
    dtype = str(tensor.dtype).replace("torch.", "")
    if dtype not in DTYPES:
        raise Refused(f"{name} is of {dtype}, which no candidate can be given")
    if tensor.dim() > MAX_RANK:
        raise Refused(f"{name} has {tensor.dim()} axes; at most {MAX_RANK} are possible")
    return {"name": name, "dtype": DTYPES[dtype], "shape": list(tensor.shape), "role": role}


CHUNK = 1 << 26


def distance(torch, first, second):
    """The judge's error of `first` against `second`; infinite where they cannot be compared."""
    if len(first) != len(second):
        return math.inf
    worst = 0.0
    for a, b in zip(first, second):
        if a.shape != b.shape:
            return math.inf
        a, b = a.flatten(), b.flatten()
        if not a.is_floating_point():
            worst = max(worst, 0.0 if torch.equal(a, b) else math.inf)
            continue
        parts = [(a[i:i + CHUNK].nan_to_num(), b[i:i + CHUNK].nan_to_num())
                 for i in range(0, a.numel(), CHUNK)]
        squares = sum(float((y.double() ** 2).sum()) for _, y in parts)
        scale = math.sqrt(squares / max(1, a.numel()))
        for x, y in parts:
            difference, size = (x - y).abs(), y.abs() + scale
            error = torch.where(difference > 0, difference / size, torch.zeros_like(difference))
            worst = max(worst, float(error.max()))
    return worst


RANDOM = 1e-3
MOST_TRIED = 8  # parameters that are changed one by one


def insensitive_inputs(problem, given, state, outputs, noise):
    """Which inputs may hold anything without a change of the outputs."""
    torch = problem.torch
    other_given, other_state = problem.draw(MODEL_SEED + 1)
    for i, value in enumerate(other_state):
        if torch.equal(value, state[i]):  # such as the ones and zeros of a fresh normalisation
            other_state[i] = value + 0.5
    found = []

    def no_change(changed_given, changed_state):
        torch.manual_seed(1)
        return distance(torch, problem.forward(changed_given, changed_state), outputs) <= 2 * noise

    for i, value in enumerate(given):
        if torch.is_tensor(value):
            if no_change(given[:i] + [other_given[i]] + given[i + 1:], state):
                found.append(f"input {i}")
    if problem.names and no_change(given, other_state):
        return found + problem.names
    if len(problem.names) <= MOST_TRIED:
        for i, name in enumerate(problem.names):
            if no_change(given, state[:i] + [other_state[i]] + state[i + 1:]):
                found.append(name)
    return found


def floating_operations(problem, given, state):
    try:
        from torch.utils.flop_counter import FlopCounterMode
    except ImportError:
        return None
    with FlopCounterMode(display=False) as counter:
        problem.forward(given, state)
    return counter.get_total_flops()


def first_outputs(problem, given, state):
    """The outputs, when they are those of the inputs alone; and how far two calls are apart."""
    torch = problem.torch
    kept = [value.clone() for value in given if torch.is_tensor(value)]
    try:
        torch.manual_seed(1)
        outputs = problem.forward(given, state)
    except Refused:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise Refused("it does not fit into the memory of this "
                          f"{'machine' if problem.device == 'cpu' else 'GPU'}") from error
        raise Refused(f"its forward() fails: {last_line(error)}") from error
    if any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in
           zip((value for value in given if torch.is_tensor(value)), kept)):
        raise Refused("its forward() changes its own inputs, which candidates may only read")
    del kept
    torch.manual_seed(2)
    noise = distance(torch, problem.forward(given, state), outputs)
    if noise > RANDOM:
        raise Refused("it is random in itself (dropout, say) or keeps a state between calls: the "
                      "same inputs give other outputs, so no output can be called right")
    return outputs, noise


def describe_problem(problem, given, state, outputs, noise):
    torch = problem.torch
    inputs, scalars = [], []
    for i, value in enumerate(given):
        if torch.is_tensor(value):
            inputs.append(tensor_description(f"input_{i}", value, "input"))
        elif isinstance(value, (int, float)):
            scalars.append({"name": f"scalar_{i}", "value": float(value)})
        else:
            raise Refused(f"get_inputs() returns a {type(value).__name__}; expected tensors and "
                          "numbers")
    out = {"torch": torch.__version__, "device": device_name(problem), "scalars": scalars,
           "outputs": [tensor_description(f"output_{i}", value, "output")
                       for i, value in enumerate(outputs)],
           "flops": floating_operations(problem, given, state),
           "insensitive_to": insensitive_inputs(problem, given, state, outputs, noise)}
    if problem.packed:
        inputs.append(tensor_description("parameters", problem.pack(state)[0], "parameter"))
        out["packed"] = [{"name": name, "offset": at, "shape": list(shape)} for name, (at, shape)
                         in zip(problem.names, problem.places()[0])]
    else:
        inputs += [tensor_description(name, value, "parameter")
                   for name, value in zip(problem.names, state)]
    if len(inputs) + len(outputs) > MAX_TENSORS:
        raise Refused(f"it has {len(inputs) + len(outputs)} tensors; at most {MAX_TENSORS} are "
                      "possible")
    return out | {"inputs": inputs}


def device_name(problem):
    return "cpu" if problem.device == "cpu" else problem.torch.cuda.get_device_name()


def describe(path):
    problem = Problem(path)
    given, state = problem.draw(MODEL_SEED)
    outputs, noise = first_outputs(problem, given, state)
    out = describe_problem(problem, given, state, outputs, noise)
    return out | {"degenerate": degenerate(problem, given, outputs, out)}


# ---- modes and their clock ----

MODES = ("eager", "eager-fp32", "eager-tf32", "compile")
FLUSH_BYTES = 256 << 20  # as the benchmark flushes


def set_mode(torch, mode):
    """What PyTorch may use from here on, in this process."""
    if mode != "eager":
        torch.backends.cuda.matmul.allow_tf32 = mode == "eager-tf32"
        torch.backends.cudnn.allow_tf32 = mode == "eager-tf32"


class Clock:
    """Times calls: on a GPU by its own stamps, from caches that hold nothing of the call's."""

    def __init__(self, torch, device, warm=False):
        self.torch = torch
        self.gpu = device != "cpu"
        if self.gpu:
            self.begin = torch.cuda.Event(enable_timing=True)
            self.end = torch.cuda.Event(enable_timing=True)
            self.flush = None if warm else torch.empty(FLUSH_BYTES, dtype=torch.uint8,
                                                       device=device)

    def time(self, work):
        """What `work` returns, and its nanoseconds."""
        if not self.gpu:
            start = time.perf_counter_ns()
            found = work()
            return found, time.perf_counter_ns() - start
        self.torch.cuda.synchronize()
        if self.flush is not None:
            self.flush.fill_(1)
        self.begin.record()
        found = work()
        self.end.record()
        self.torch.cuda.synchronize()
        return found, round(self.begin.elapsed_time(self.end) * 1e6)


# ---- survey ----

PR_SET_PDEATHSIG = 1

WARM_UPS = 3
SURVEY_S = 0.4  # for all modes together
MOST_CALLS = 100
SMALL = 1e-4  # the benchmark's own tolerance


def survey_times(problem, modes, given, state, rounds, failed):
    """Nanoseconds of calls by mode, taken in turn: what drifts meanwhile drifts for all."""
    torch = problem.torch
    clock = Clock(torch, problem.device)
    models = {}
    problem.set_state(state, problem.model)

    def one(mode):
        torch.backends.cuda.matmul.allow_tf32 = False  # as PyTorch comes
        torch.backends.cudnn.allow_tf32 = True
        set_mode(torch, mode)
        return clock.time(lambda: problem.call(models[mode], given))[1]

    last = {}
    for mode in modes:
        try:
            models[mode] = torch.compile(problem.model) if mode == "compile" else problem.model
            last[mode] = min(one(mode) for _ in range(WARM_UPS))
        except Exception as error:
            failed[mode] = last_line(error)
            problem.release()
    times = {mode: [] for mode in last}
    spent = sum(last.values())
    for _ in range(min(MOST_CALLS, max(rounds, int(SURVEY_S * 1e9 / max(1, spent))))):
        for mode in times:
            times[mode].append(one(mode))
    return times


def close(torch, first, second):
    return torch.allclose(first, second, rtol=SMALL, atol=SMALL)


def degenerate(problem, given, outputs, described):
    """Why a candidate could pass without doing the work, as far as measuring shows."""
    torch = problem.torch
    out = []
    floating = all(value.is_floating_point() and value.numel() > 0 for value in outputs)
    if floating and all(float(value.abs().max()) <= SMALL for value in outputs):
        out.append(f"zeros pass at {SMALL:.0e}")
    elif floating:
        # On other inputs: an output of one element is its own constant.
        constants = [value.mean() for value in outputs]
        others = problem.forward(*problem.draw(MODEL_SEED + 2))
        if all(close(torch, constant.expand_as(value), value)
               for constant, value in zip(constants, others)):
            out.append(f"a constant passes at {SMALL:.0e}")
        del others
    if floating and len(outputs) == 1 and any(
            torch.is_tensor(value) and value.shape == outputs[0].shape
            and value.dtype == outputs[0].dtype and close(torch, value, outputs[0])
            for value in given):
        out.append(f"an input passes at {SMALL:.0e}")
    # A single parameter may be without effect for good reasons: a bias before a normalisation.
    without = set(described["insensitive_to"])
    out += [f"the outputs do not depend on input {i}" for i in range(len(given))
            if f"input {i}" in without]
    weights = [name for name, _ in problem.model.named_parameters()]
    if weights and without.issuperset(weights):
        out.append("the outputs do not depend on the weights")
    return out


def survey_problem(asked):
    out = {"problem": asked["problem"], "times": {}, "failed": {}}
    try:
        problem = Problem(asked["problem"])
        out |= {"device": device_name(problem), "torch": problem.torch.__version__}
        given, state = problem.draw(MODEL_SEED)
        try:
            outputs, noise = first_outputs(problem, given, state)
            out["described"] = describe_problem(problem, given, state, outputs, noise)
            out["degenerate"] = degenerate(problem, given, outputs, out["described"])
            out["described"]["degenerate"] = out["degenerate"]
            del outputs
        except Refused as error:
            out["refused"] = str(error)
        problem.release()
        out["times"] = survey_times(problem, asked.get("modes", MODES[:3]), given, state,
                                    asked.get("rounds", 10), out["failed"])
    except Refused as error:
        out["refused"] = str(error)
    except Exception as error:
        out["refused"] = ("it does not fit into memory" if is_out_of_memory(error)
                          else f"PyTorch fails: {last_line(error)}")
    return out


def end_with_parent():
    """A problem that hangs must not outlive whoever waits for it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def survey():
    end_with_parent()
    warnings.filterwarnings("ignore")
    # What a problem prints is not an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        asked = json.loads(line)
        out = survey_problem(asked)
        gc.collect()
        torch = torch_module()
        if hasattr(torch, "_dynamo"):
            torch._dynamo.reset()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        print(json.dumps(out), file=answers, flush=True)


# ---- serving the worker ----

CODES = {(0, 8): "int8", (0, 16): "int16", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8",
         (2, 16): "float16", (2, 32): "float32", (2, 64): "float64", (4, 16): "bfloat16"}


def tensor_type(torch, place):
    return getattr(torch, CODES[(place.code, place.bits)])


class HostBuffers:
    """The tensors of all sets, as they lie in the worker's memory."""

    def __init__(self, torch, layout, descriptors):
        self.torch = torch
        self.places = [layout.tensors[i] for i in range(layout.tensor_count)]
        self.strides = (layout.input_stride, layout.output_stride)
        self.maps = []
        for i, fd in enumerate(descriptors[:2]):
            size = os.fstat(fd).st_size
            self.maps.append(self._map(fd, size, writable=i == 1) if size > 0 else None)

    @staticmethod
    def _map(fd, size, writable):
        # What is sealed against writing can still be read; the reference's own inputs can be
        # written to.
        try:
            return mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        except (PermissionError, OSError):
            if writable:
                raise
            return mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ)

    def tensors(self, set_index, outputs):
        out = []
        for place in self.places:
            if bool(place.output) != outputs:
                continue
            shape = list(place.shape[:place.rank])
            count = math.prod(shape)
            dtype = tensor_type(self.torch, place)
            at = set_index * self.strides[int(outputs)] + place.region_offset + place.data_offset
            out.append(self.torch.frombuffer(self.maps[int(outputs)], dtype=dtype, count=count,
                                             offset=at).view(shape) if count > 0
                       else self.torch.empty(shape, dtype=dtype))
        return out

    def close(self):
        pass


class AccessDescription(ctypes.Structure):
    _fields_ = [("location_type", ctypes.c_int), ("device", ctypes.c_int), ("rights", ctypes.c_int)]


ON_DEVICE, READ_ONLY, READ_WRITE, DESCRIPTOR_HANDLE = 1, 1, 3, 1


class Driver:
    """The few functions of the CUDA driver by which memory of the worker's is mapped here."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        size, address = ctypes.c_size_t, ctypes.c_uint64
        self.kinds = {
            "cuMemImportFromShareableHandle": [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int],
            "cuMemAddressReserve": [ctypes.c_void_p, size, size, address, ctypes.c_uint64],
            "cuMemMap": [address, size, size, ctypes.c_uint64, ctypes.c_uint64],
            "cuMemSetAccess": [address, size, ctypes.c_void_p, size],
            "cuMemRelease": [ctypes.c_uint64],
            "cuMemUnmap": [address, size],
            "cuMemAddressFree": [address, size],
        }

    def __getattr__(self, name):
        function = getattr(self.library, name)
        function.argtypes = self.kinds[name]

        def checked(*arguments):
            code = function(*arguments)
            if code != 0:
                raise RuntimeError(f"{name} gave error {code} of the CUDA driver")
        return checked

    def map(self, fd, size, writable):
        handle, address = ctypes.c_uint64(), ctypes.c_uint64()
        self.cuMemImportFromShareableHandle(ctypes.byref(handle), fd, DESCRIPTOR_HANDLE)
        self.cuMemAddressReserve(ctypes.byref(address), size, 0, 0, 0)
        self.cuMemMap(address.value, size, 0, handle.value, 0)
        self.cuMemRelease(handle.value)  # the mapping keeps the memory
        access = AccessDescription(ON_DEVICE, 0, READ_WRITE if writable else READ_ONLY)
        self.cuMemSetAccess(address.value, size, ctypes.byref(access), 1)
        return address.value

    def unmap(self, address, size):
        self.cuMemUnmap(address, size)
        self.cuMemAddressFree(address, size)


class DeviceArray:
    """Device memory in the words that PyTorch takes it in without a copy."""

    def __init__(self, address, count, width):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": f"<i{width}",
                                         "data": (address, False), "version": 2}


class DeviceBuffers:
    """The tensors of all sets, as they lie in the worker's memory on the GPU."""

    def __init__(self, torch, layout, descriptors, draws):
        self.torch = torch
        torch.cuda.init()
        torch.zeros(1, device="cuda")  # there is a context from here on
        self.driver = Driver()
        self.places = [layout.tensors[i] for i in range(layout.tensor_count)]
        self.mapped = []
        self.sets = []
        for index in range(layout.sets):
            regions = []
            for i, place in enumerate(self.places):
                fd = descriptors[index * layout.tensor_count + i]
                address = self.driver.map(fd, place.region_bytes, draws or bool(place.output))
                self.mapped.append((address, place.region_bytes))
                regions.append(self._view(address + place.data_offset, place))
            self.sets.append(regions)

    def _view(self, address, place):
        shape = list(place.shape[:place.rank])
        dtype = tensor_type(self.torch, place)
        count = math.prod(shape)
        if count == 0:
            return self.torch.empty(shape, dtype=dtype, device="cuda")
        raw = self.torch.as_tensor(DeviceArray(address, count, place.bits // 8), device="cuda")
        return raw.view(dtype).view(shape)

    def tensors(self, set_index, outputs):
        return [value for value, place in zip(self.sets[set_index], self.places)
                if bool(place.output) == outputs]

    def close(self):
        self.sets = []
        self.torch.cuda.synchronize()
        for address, size in self.mapped:
            self.driver.unmap(address, size)
        self.mapped = []


RESERVED = 4 << 30  # what PyTorch may keep to itself while others need the GPU's memory
SCARCE = 0.2


class Server:
    def __init__(self, mode, warm, control):
        self.mode = mode
        self.control = control
        self.torch = torch_module()
        self.device = first_gpu(self.torch)
        set_mode(self.torch, "eager-fp32" if mode == "reference" else mode)
        self.clock = None if mode == "reference" else Clock(self.torch, self.device, warm)
        self.problem = None
        self.model = None
        self.buffers = None
        self.prepared = False  # whether a call has been made since memory was given back
        self.constants = {}  # what get_inputs() returns beside tensors, by place
        self.truths = set()  # which of its tensors are of bool, which a candidate sees as bytes

    def handle(self, request, descriptors, reply):
        if request.op == LOAD:
            self.load(request.body.path.decode(), reply)
        elif request.op == ATTACH:
            self.attach(Layout.from_buffer_copy(request.body.layout), request.option != 0,
                        descriptors)
        elif request.op == DRAW:
            for index in range(request.count):
                self.draw(index, request.body.seeds[index], request.option != 0)
            self.make_room()
        elif request.op == GO:
            sets = list(request.body.sets[:request.count])
            if self.mode == "reference":
                self.expect(sets, reply)
            else:
                self.go(sets, request.sequence, reply)
        elif request.op not in (SHAPE, PREPARE):
            raise Refused(f"request {request.op} is not for PyTorch")

    def load(self, path, reply):
        self.problem = Problem(path)
        model = self.problem.model
        self.model = self.torch.compile(model) if self.mode == "compile" else model
        given, _ = self.problem.draw(MODEL_SEED)
        self.constants = {i: value for i, value in enumerate(given)
                          if not self.torch.is_tensor(value)}
        tensors = [value for value in given if self.torch.is_tensor(value)]
        self.truths = {i for i, value in enumerate(tensors) if value.dtype == self.torch.bool}
        reply.text = f"PyTorch {self.torch.__version__}, {self.mode}".encode()
        if self.mode == "compile":
            self.problem.call(self.model, given)
        del given, tensors
        self.make_room()

    def attach(self, layout, on_device, descriptors):
        self.torch.set_num_threads(max(1, layout.threads))
        if self.buffers is not None:
            self.buffers.close()
        self.buffers = (DeviceBuffers(self.torch, layout, descriptors, self.mode == "reference")
                        if on_device else HostBuffers(self.torch, layout, descriptors))

    def make_room(self):
        """Gives memory back that this process holds for later, where others may need it."""
        if self.device == "cpu":
            return
        self.torch.cuda.synchronize()
        free, total = self.torch.cuda.mem_get_info()
        kept = self.torch.cuda.memory_reserved() - self.torch.cuda.memory_allocated()
        if kept > RESERVED and (self.mode == "reference" or free < SCARCE * total):
            self.torch.cuda.empty_cache()
            self.prepared = False

    def draw(self, index, seed, signs):
        given, state = self.problem.draw(seed)
        drawn = [self.with_signs(value) if signs and value.is_floating_point() else value
                 for value in given if self.torch.is_tensor(value)]
        drawn += self.problem.pack(state)
        for to, value in zip(self.buffers.tensors(index, outputs=False), drawn):
            to.copy_(value)

    def with_signs(self, value):
        signs = self.torch.randint(0, 2, value.shape, dtype=self.torch.int8, device=value.device)
        return self.torch.where(signs == 0, value, -value)

    def inputs(self, index):
        tensors = [value.to(self.device) for value in self.buffers.tensors(index, outputs=False)]
        count = len(tensors) - (1 if self.problem.packed else len(self.problem.names))
        given = [value.bool() if i in self.truths else value
                 for i, value in enumerate(tensors[:count])]
        state = self.problem.unpack(tensors[count:])
        for place in sorted(self.constants):
            given.insert(place, self.constants[place])
        return given, state

    def expect(self, sets, reply):
        for index in sets:
            given, state = self.inputs(index)
            self.problem.write_wide(given, state, self.buffers.tensors(index, outputs=True))
            reply.calls += 1
        del given, state
        self.make_room()

    def go(self, sets, sequence, reply):
        if self.device != "cpu":
            self.get_ready(sequence)
        for index in sets:
            given, state = self.inputs(index)
            self.problem.set_state(state, self.problem.model)
            if self.device != "cpu" and not self.prepared:
                self.problem.call(self.model, given)
                self.problem.set_state(state, self.problem.model)
                self.prepared = True
            outputs, ns = self.clock.time(lambda: self.problem.call(self.model, given))
            reply.claim_ns += ns
            reply.calls += 1
            # Off the clock: a candidate writes into these buffers directly.
            for to, value in zip(self.buffers.tensors(index, outputs=True), outputs):
                to.copy_(value)
            del outputs
        self.make_room()

    def get_ready(self, sequence):
        """The worker's word comes when the inputs are whole."""
        self.control.send(bytes(Reply(kind=READY, sequence=sequence)))
        word = self.control.recv(4)
        if int.from_bytes(word, sys.byteorder) != sequence:
            raise Refused("the worker said another word than expected")


def serve(mode, warm):
    warnings.filterwarnings("ignore")
    control = socket.socket(fileno=CONTROL_FD)
    server = Server(mode, warm, control)
    if server.device != "cpu":
        server.torch.zeros(1, device=server.device)  # what takes its time, before anybody waits
    hello = Reply(kind=HELLO)
    control.send(bytes(hello))
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, ctypes.sizeof(Request), 253)
        if not data:
            return
        request = Request.from_buffer_copy(data)
        reply = Reply(kind=DONE, sequence=request.sequence, status=OK)
        try:
            server.handle(request, descriptors, reply)
        except Refused as error:
            reply.status, reply.text = EXCEPTION, str(error).encode()[:511]
        except Exception as error:
            out_of_memory = is_out_of_memory(error)
            reply.status = OUT_OF_MEMORY if out_of_memory else EXCEPTION
            reply.text = last_line(error).encode()[:511]
            if server.problem is not None:
                server.problem.release()
        finally:
            for fd in descriptors:
                os.close(fd)
        control.send(bytes(reply))


def main(arguments):
    sys.dont_write_bytecode = True
    if len(arguments) == 2 and arguments[0] == "describe":
        try:
            print(json.dumps(describe(arguments[1]), indent=2))
        except Refused as error:
            print(json.dumps({"refused": str(error)}))
        return 0
    if arguments == ["survey"]:
        survey()
        return 0
    if arguments and arguments[0] in MODES + ("reference",) and arguments[1:] in ([], ["warm"]):
        try:
            serve(arguments[0], warm=len(arguments) > 1)
        except Refused as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    print(__doc__, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
