#!/usr/bin/env python3
"""Expected values and baselines of problems in KernelBench's form, by PyTorch.

    torch_oracle.py describe PROBLEM.py     prints what the problem is, as JSON
    torch_oracle.py reference               answers the worker: outputs in double, and fresh inputs
    torch_oracle.py eager                   answers the worker as a runner does: the module as it is

A problem defines Model, get_inputs() and get_init_inputs(). Its inputs here are those of
get_inputs(), then the module's parameters and floating buffers by name; its outputs are the tensors
that forward() returns. The module stays in training mode, as the benchmark has it.

The worker speaks src/common/base/runner_protocol.hpp over descriptor 3; the structures below are
those of that file.
"""

import copy
import ctypes
import importlib.machinery
import importlib.util
import json
import mmap
import os
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
                ("reserved", ctypes.c_uint32), ("body", Body)]


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


def functional_call(model, values, arguments):
    torch = torch_module()
    if hasattr(torch, "func"):
        return torch.func.functional_call(model, values, arguments)
    from torch.nn.utils import stateless
    return stateless.functional_call(model, values, arguments)


class Problem:
    def __init__(self, path):
        self.torch = torch_module()
        self.module = self._load(path)
        for name in ("Model", "get_inputs", "get_init_inputs"):
            if not hasattr(self.module, name):
                raise Refused(f"{path} defines no {name}: expected a problem in KernelBench's form "
                              "(Model, get_inputs and get_init_inputs)")
        self.torch.manual_seed(MODEL_SEED)
        self.init = self.module.get_init_inputs()
        self.model = self.build(MODEL_SEED)
        self.names = self._state_names()
        self.wide = None

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

    def build(self, seed):
        self.torch.manual_seed(seed % 2**63)
        try:
            with self.torch.no_grad():
                return self.module.Model(*self.init)
        except Exception as error:
            raise Refused(f"its Model cannot be made: {last_line(error)}") from error

    def _state(self, model):
        return dict(model.named_parameters()) | {
            name: value for name, value in model.named_buffers() if value.is_floating_point()}

    def _state_names(self):
        return list(self._state(self.model))

    def draw(self, seed):
        """All inputs for one call: get_inputs() under that seed, and a module made under it."""
        self.torch.manual_seed(seed % 2**63)
        try:
            given = list(self.module.get_inputs())
        except Exception as error:
            raise Refused(f"its get_inputs() fails: {last_line(error)}") from error
        state = self._state(self.build(seed)) if self.names else {}
        return given, [state[name].detach() for name in self.names]

    def forward(self, given, state, model=None):
        """The tensors that forward() returns. Buffers that it changes are not the caller's."""
        model = self.model if model is None else model
        with self.torch.no_grad():
            if self.names:
                buffers = {name for name, _ in self.model.named_buffers()}
                values = {name: value.clone() if name in buffers else value
                          for name, value in zip(self.names, state)}
                found = functional_call(model, values, tuple(given))
            else:
                found = model(*given)
        return self._tensors(found)

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
            return self.forward(wide, [value.double() for value in state], self.wide)
        finally:
            torch.set_default_dtype(before)


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


def same(torch, first, second):
    return len(first) == len(second) and all(
        a.shape == b.shape and torch.equal(a.nan_to_num(), b.nan_to_num())
        for a, b in zip(first, second))


def insensitive_inputs(problem, given, state, outputs):
    """Which inputs may hold anything without a change of the outputs."""
    torch = problem.torch
    other_given, other_state = problem.draw(MODEL_SEED + 1)
    found = []
    for i, value in enumerate(given):
        if torch.is_tensor(value):
            changed = given[:i] + [other_given[i]] + given[i + 1:]
            if same(torch, problem.forward(changed, state), outputs):
                found.append(f"input {i}")
    for i, name in enumerate(problem.names):
        other = other_state[i]
        if torch.equal(other, state[i]):  # such as the ones and zeros of a fresh normalisation
            other = other + 0.5
        changed = state[:i] + [other] + state[i + 1:]
        if same(torch, problem.forward(given, changed), outputs):
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


def describe(path):
    problem = Problem(path)
    torch = problem.torch
    given, state = problem.draw(MODEL_SEED)
    kept = [value.clone() if torch.is_tensor(value) else value for value in given]
    try:
        torch.manual_seed(1)
        outputs = problem.forward(given, state)
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"its forward() fails: {last_line(error)}") from error
    tensors = [value for value in given if torch.is_tensor(value)]
    if not same(torch, tensors, [value for value in kept if torch.is_tensor(value)]):
        raise Refused("its forward() changes its own inputs, which candidates may only read")
    torch.manual_seed(2)
    if not same(torch, problem.forward(given, state), outputs):
        raise Refused("it is random in itself (dropout, say): the same inputs give other outputs, "
                      "so no output can be called right")
    inputs, scalars = [], []
    for i, value in enumerate(given):
        if torch.is_tensor(value):
            inputs.append(tensor_description(f"input_{i}", value, "input"))
        elif isinstance(value, (int, float)):
            scalars.append({"name": f"scalar_{i}", "value": float(value)})
        else:
            raise Refused(f"get_inputs() returns a {type(value).__name__}; expected tensors and "
                          "numbers")
    inputs += [tensor_description(name, value, "parameter")
               for name, value in zip(problem.names, state)]
    wide = None
    try:
        problem.forward_wide(given, state)
    except Exception as error:
        wide = last_line(error)
    return {"torch": torch.__version__, "inputs": inputs, "scalars": scalars,
            "outputs": [tensor_description(f"output_{i}", value, "output")
                        for i, value in enumerate(outputs)],
            "flops": floating_operations(problem, given, state),
            "insensitive_to": insensitive_inputs(problem, given, state, outputs),
            "not_in_double": wide}


# ---- serving the worker ----

CODES = {(0, 8): "int8", (0, 16): "int16", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8",
         (2, 16): "float16", (2, 32): "float32", (2, 64): "float64", (4, 16): "bfloat16"}


class Buffers:
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
            count = 1
            for extent in shape:
                count *= extent
            dtype = getattr(self.torch, CODES[(place.code, place.bits)])
            at = set_index * self.strides[int(outputs)] + place.region_offset + place.data_offset
            out.append(self.torch.frombuffer(self.maps[int(outputs)], dtype=dtype, count=count,
                                             offset=at).view(shape) if count > 0
                       else self.torch.empty(shape, dtype=dtype))
        return out


class Server:
    def __init__(self, wide):
        self.wide = wide
        self.torch = torch_module()
        self.problem = None
        self.buffers = None
        self.constants = {}  # what get_inputs() returns beside tensors, by place
        self.truths = set()  # which of its tensors are of bool, which a candidate sees as bytes

    def handle(self, request, descriptors, reply):
        if request.op == LOAD:
            self.problem = Problem(request.body.path.decode())
            given, _ = self.problem.draw(MODEL_SEED)
            self.constants = {i: value for i, value in enumerate(given)
                              if not self.torch.is_tensor(value)}
            tensors = [value for value in given if self.torch.is_tensor(value)]
            self.truths = {i for i, value in enumerate(tensors) if value.dtype == self.torch.bool}
            reply.text = f"PyTorch {self.torch.__version__}, eager".encode()
        elif request.op == ATTACH:
            self.torch.set_num_threads(max(1, request.body.layout.threads))
            self.buffers = Buffers(self.torch, Layout.from_buffer_copy(request.body.layout),
                                   descriptors)
        elif request.op == DRAW:
            for index in range(request.count):
                self.draw(index, request.body.seeds[index])
        elif request.op == GO:
            self.go(list(request.body.sets[:request.count]), reply)
        elif request.op not in (SHAPE, PREPARE):
            raise Refused(f"request {request.op} is not for PyTorch")

    def draw(self, index, seed):
        given, state = self.problem.draw(seed)
        drawn = [value for value in given if self.torch.is_tensor(value)] + state
        for to, value in zip(self.buffers.tensors(index, outputs=False), drawn):
            to.copy_(value)

    def inputs(self, index):
        tensors = self.buffers.tensors(index, outputs=False)
        count = len(tensors) - len(self.problem.names)
        given = [value.bool() if i in self.truths else value
                 for i, value in enumerate(tensors[:count])]
        rest = tensors[count:]
        for place in sorted(self.constants):
            given.insert(place, self.constants[place])
        return given, rest

    def go(self, sets, reply):
        forward = self.problem.forward_wide if self.wide else self.problem.forward
        for index in sets:
            given, state = self.inputs(index)
            start = time.perf_counter_ns()
            outputs = forward(given, state)
            reply.claim_ns += time.perf_counter_ns() - start
            reply.calls += 1
            # Off the clock: a candidate writes into these buffers directly.
            for to, value in zip(self.buffers.tensors(index, outputs=True), outputs):
                to.copy_(value)


def serve(wide):
    warnings.filterwarnings("ignore")
    control = socket.socket(fileno=CONTROL_FD)
    server = Server(wide)
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
        except MemoryError:
            reply.status = OUT_OF_MEMORY
        except Refused as error:
            reply.status, reply.text = EXCEPTION, str(error).encode()[:511]
        except Exception as error:
            reply.status, reply.text = EXCEPTION, last_line(error).encode()[:511]
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
    if arguments in (["reference"], ["eager"]):
        try:
            serve(wide=arguments == ["reference"])
        except Refused as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    print(__doc__, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
