"""One problem: its module, its inputs, its calls in the module's precision and in double."""

import contextlib
import copy
import importlib.machinery
import importlib.util
import math
import os
import sys
import traceback

MODEL_SEED = 42  # the benchmark's own


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


def last_line(error):
    return traceback.format_exception_only(type(error), error)[-1].strip()


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
        chunks = [slice(i, i + CHUNK) for i in range(0, a.numel(), CHUNK)]
        squares = sum(float((b[part].nan_to_num().double() ** 2).sum()) for part in chunks)
        scale = math.sqrt(squares / max(1, a.numel()))
        for part in chunks:
            x, y = a[part].nan_to_num(), b[part].nan_to_num()
            difference, size = (x - y).abs(), y.abs() + scale
            error = torch.where(difference > 0, difference / size, torch.zeros_like(difference))
            worst = max(worst, float(error.max()))
    return worst


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
MOST_BUILT = 1 << 22  # parameters that are drawn by building the module anew


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
        self.names = list(self._state(self.model))
        self.unvaried = self._unvaried()
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
            if is_out_of_memory(error):
                raise
            raise Refused(f"its Model cannot be made: {last_line(error)}") from error

    def _state(self, model):
        return dict(model.named_parameters()) | {
            name: value for name, value in model.named_buffers() if value.is_floating_point()}

    def draw(self, seed, parameters=None):
        """All inputs for one call: get_inputs() under one seed, fresh parameters under another."""
        self.torch.manual_seed(seed % 2**63)
        try:
            with self._placed():
                given = [value.to(self.device) if self.torch.is_tensor(value) else value
                         for value in self.module.get_inputs()]
        except Exception as error:
            if is_out_of_memory(error):
                raise
            raise Refused(f"its get_inputs() fails: {last_line(error)}") from error
        return given, self._draw_state(seed if parameters is None else parameters)

    def _unvaried(self):
        """Parameters that every fresh module has alike, such as the ones of a normalization."""
        first, second = (dict(self.build(seed).named_parameters())
                         for seed in (MODEL_SEED, MODEL_SEED + 1))
        return {name for name, value in first.items() if self.torch.equal(value, second[name])}

    def _draw_state(self, seed):
        """As the module's author has them under the benchmark's seed, varied under others."""
        if not self.names:
            return []
        small = sum(value.numel() for value in self.model.parameters()) <= MOST_BUILT
        state = self._state(self.build(seed if small else MODEL_SEED))
        if seed == MODEL_SEED:
            return [state[name].detach() for name in self.names]
        self.torch.manual_seed(seed % 2**63)
        return [self._varied(name, state[name].detach(), small) for name in self.names]

    def _varied(self, name, value, small):
        if name in self.unvaried and value.is_floating_point():
            # Whoever trains the module changes these too.
            return value + 0.5 * self.torch.rand_like(value)
        if small:
            return value
        # Each one of the module's own numbers, drawn anew: building it again takes seconds.
        flat = value.flatten()
        drawn = self.torch.empty_like(flat)
        for first in range(0, flat.numel(), CHUNK):
            part = drawn[first:first + CHUNK]
            part.copy_(flat[self.torch.randint(flat.numel(), part.shape, device=flat.device)])
        return drawn.view(value.shape)

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
            if all(self._is_slice(given, state, outputs, inputs, first, last) for first, last in
                   ((0, 1), (rows // 2 - 1, rows // 2 + 1), (rows - 1, rows))):
                self.sliced = inputs
                return inputs
        raise MemoryError

    def _is_slice(self, given, state, outputs, inputs, first, last):
        try:
            found = self.forward(cut(given, inputs, first, last), state)
        except Exception as error:
            if is_out_of_memory(error):
                raise
            return False
        return distance(self.torch, found, [value[first:last] for value in outputs]) < INDEPENDENT

    def release(self):
        if self.device != "cpu":
            self.torch.cuda.empty_cache()


# Rounding of kernels that are chosen by size stays below this; the statistics of a batch do not.
INDEPENDENT = 3e-5


def cut(given, inputs, first, last):
    return [value[first:last] if i in inputs else value for i, value in enumerate(given)]


def is_out_of_memory(error):
    return isinstance(error, MemoryError) or "out of memory" in str(error).lower()
