// The Python of both exports for PyTorch: builds a kernel and calls it on tensors. It has to run in
// the benchmark's own namespace, hence the names, and to do without what the benchmark's checks
// take for a way around the kernel: exception handlers, threads.
#pragma once

#include <string_view>

namespace kernelpro::report {

inline constexpr std::string_view torch_loader = R"py(import contextlib
import ctypes
import hashlib
import importlib.util
import inspect
import json
import linecache
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import types
from copy import deepcopy as _kp_deepcopy

import torch


# ---- kernelpro/candidate.h ----

class _KpType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _KpTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", _KpType), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]


class _KpContext(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_uint32), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("stream", ctypes.c_void_p), ("workspace", ctypes.c_void_p),
                ("workspace_bytes", ctypes.c_size_t), ("state", ctypes.c_void_p),
                ("state_bytes", ctypes.c_size_t), ("scalars", ctypes.POINTER(ctypes.c_double)),
                ("scalar_count", ctypes.c_int32), ("axes", ctypes.POINTER(ctypes.c_int64)),
                ("axis_count", ctypes.c_int32)]


_KP_ABI_VERSION = 1
_KP_DEVICE_TYPES = {"cpu": 1, "cuda": 2}
_KP_CODES = {"f64": (2, 64), "f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "i64": (0, 64),
             "i32": (0, 32), "i16": (0, 16), "i8": (0, 8), "u8": (1, 8)}
_KP_DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16,
              "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32, "i16": torch.int16,
              "i8": torch.int8, "u8": torch.uint8}
_KP_ALIGNMENT = 64
_KP_SEED = 42  # that the judge draws constructor arguments under
_KP_PACK_ELEMENTS = 64  # in the flat tensor of all parameters, each starts at a multiple of this


# ---- the build ----

def _kp_architecture(device):
    """What nvcc builds for: "90a" for a device of capability 9.0."""
    major, minor = torch.cuda.get_device_capability(device)
    return f"{10 * major + minor}" + ("a" if major >= 9 else "")


def _kp_processor():
    """What tells processors apart that -march=native would."""
    keys = ("vendor_id", "model", "model name", "flags", "Features", "CPU implementer", "CPU part")
    found = [platform.machine()]
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if not line.strip():
                    break
                if line.split(":")[0].strip() in keys:
                    found.append(line.strip())
    return "\n".join(found)


def _kp_nvcc():
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    places = [os.path.join(home, "bin", "nvcc") for home in homes if home]
    places += [shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    # PyTorch may know of a toolkit that none of these names.
    if importlib.util.find_spec("setuptools"):
        from torch.utils import cpp_extension
        place = os.path.join(cpp_extension.CUDA_HOME or "/", "bin", "nvcc")
        if os.access(place, os.X_OK):
            return place
    raise RuntimeError("the kernel is CUDA C++ and there is no nvcc to build it: install the CUDA "
                       "toolkit, and set CUDA_HOME to its folder (looked in CUDA_HOME, PATH and "
                       "/usr/local/cuda)")


def _kp_host_compiler(recorded):
    """The C++ compiler of the certificate, or the one here that is most like it; or None."""
    name = os.path.basename(recorded)
    for place in (os.environ.get("KERNELPRO_CXX"), recorded, name, name.split("-")[0]):
        found = place and shutil.which(place)
        if found:
            return found
    return None


def _kp_cxx(recorded):
    found = _kp_host_compiler(recorded)
    if not found:
        raise RuntimeError(f"the kernel is C++ and there is no {os.path.basename(recorded)} to "
                           "build it: install that compiler, or set KERNELPRO_CXX to another that "
                           "takes the same options")
    return found


def _kp_cutlass(recorded):
    """A folder of CUTLASS headers: where it was for the certificate, or in a checkout here."""
    if os.path.isdir(recorded):
        return recorded
    tree = "tools/util/include" if recorded.endswith("tools/util/include") else "include"
    for variable in ("KERNELPRO_CUTLASS", "CUTLASS_PATH"):
        place = os.path.join(os.environ.get(variable) or "/nowhere", tree)
        if os.path.isdir(place):
            return place
    raise RuntimeError("the kernel includes CUTLASS, which is not here: set KERNELPRO_CUTLASS to a "
                       "checkout of it")


def _kp_flags(spec, architecture):
    """The certificate's flags, with what belongs to its machine replaced by what is here."""
    given, out = iter(spec["flags"]), []
    for flag in given:
        if flag.startswith("-gencode="):
            out.append(f"-gencode=arch=compute_{architecture},code=sm_{architecture}")
        elif flag == "-ccbin":
            host = _kp_host_compiler(next(given))
            out += ["-ccbin", host] if host else []
        elif flag == "-isystem":
            out += [flag, _kp_cutlass(next(given))]
        else:
            out.append(flag)
    return out


def _kp_command(spec, architecture, root):
    """The compiler's command line, to be run in the folder src of `root`. As the judge's own: the
    same paths as seen from there, so that the same compiler makes the same code."""
    if spec["backend"] == "cuda":
        here = "/proc/self/cwd/"
        return ([_kp_nvcc()] + _kp_flags(spec, architecture) +
                [f"-I{here}../abi", f"-I{here}.", f"{here}candidate.cu", "-o",
                 "../out/candidate.so"] + spec["link"])
    return ([_kp_cxx(spec["compiler"])] + _kp_flags(spec, architecture) +
            [f"-ffile-prefix-map={root}=.", "-I../abi", "-I.", "candidate.cpp", "-o",
             "../out/candidate.so"] + spec["link"])


def _kp_write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.utime(path, (0, 0))  # nvcc writes the time of a source into device code


def _kp_lay_sources(spec, source, header, root):
    name = "candidate.cu" if spec["backend"] == "cuda" else "candidate.cpp"
    _kp_write(os.path.join(root, "src", name), source)
    _kp_write(os.path.join(root, "abi", "kernelpro", "candidate.h"), header)
    os.makedirs(os.path.join(root, "out"), exist_ok=True)


def _kp_cache_folder():
    """The first that can be written: TORCH_EXTENSIONS_DIR, the user's cache, a temporary folder."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for base in (os.environ.get("TORCH_EXTENSIONS_DIR"), home):
        if base:
            folder = os.path.join(os.path.abspath(base), "kernelpro_exports")
            with contextlib.suppress(OSError):
                os.makedirs(folder, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder
    return tempfile.mkdtemp(prefix="kernelpro_exports_")


def _kp_build(spec, source, header, architecture):
    """The path of the shared object, built unless it is in the cache. Several processes may build
    at once: each in a folder of its own, and what is complete is moved into its place."""
    target = architecture if spec["backend"] == "cuda" else _kp_processor()
    parts = [source, header, json.dumps([spec["compiler"], spec["flags"], spec["link"]]), target]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
    folder = _kp_cache_folder()
    path = os.path.join(folder, f"{spec['name']}-{key}.so")
    if os.path.exists(path):
        return path
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as root:
        _kp_lay_sources(spec, source, header, root)
        done = subprocess.run(_kp_command(spec, architecture, root), cwd=os.path.join(root, "src"),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise RuntimeError(f"the kernel does not build here:\n{done.stdout}")
        os.replace(os.path.join(root, "out", "candidate.so"), path)
    return path


# ---- calls ----

class _KpLibrary:
    def __init__(self, path):
        library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self.launch = library.kp_launch
        self.launch.restype = ctypes.c_int
        self.workspace = getattr(library, "kp_workspace", None)
        self.state = getattr(library, "kp_state", None)
        self.prepare = getattr(library, "kp_prepare", None)
        for function in (self.workspace, self.state):
            if function is not None:
                function.restype = ctypes.c_size_t
        if self.state is None or self.prepare is None:
            self.state = self.prepare = None


class _KpCall:
    """The arguments of a call, laid out once; each call fills in its addresses."""

    def __init__(self, spec, library, device):
        self.spec = spec
        self.library = library
        self.device = device
        self.cuda = spec["backend"] == "cuda"
        self.outputs = [(tuple(one["shape"]), _KP_DTYPES[one["dtype"]]) for one in spec["outputs"]]
        self.constants = [i for i, one in enumerate(spec["inputs"]) if one["constant"]]
        tensors = spec["inputs"] + spec["outputs"]
        self.tensors = (_KpTensor * max(1, len(tensors)))()
        self.cells = [self.tensors[i] for i in range(len(tensors))]
        self.kept = []
        for cell, one in zip(self.cells, tensors):
            self._describe(cell, one)
        scalars = [float(value) for value in spec["scalars"]]
        self.scalars = (ctypes.c_double * max(1, len(scalars)))(*scalars)
        self.axes = (ctypes.c_int64 * max(1, len(spec["axes"])))(*spec["axes"])
        self.context = _KpContext(abi_version=_KP_ABI_VERSION,
                                  device_type=_KP_DEVICE_TYPES[spec["backend"]],
                                  device_id=device.index or 0, threads=torch.get_num_threads(),
                                  scalars=self.scalars, scalar_count=len(scalars), axes=self.axes,
                                  axis_count=len(spec["axes"]))
        self.arguments = (ctypes.byref(self.context), self.tensors, ctypes.c_int32(len(tensors)))
        self.workspace = None
        self.state = None
        self.prepared = None

    def _describe(self, cell, one):
        rank = len(one["shape"])
        strides = [1] * rank
        for axis in range(rank - 1, 0, -1):
            strides[axis - 1] = strides[axis] * one["shape"][axis]
        shape = (ctypes.c_int64 * max(1, rank))(*one["shape"])
        steps = (ctypes.c_int64 * max(1, rank))(*strides)
        self.kept += [shape, steps]
        code, bits = _KP_CODES[one["dtype"]]
        cell.dtype = _KpType(code, bits, 1)
        cell.rank = rank
        cell.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
        cell.strides = ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64))

    def _bytes(self, count):
        return torch.empty(count, dtype=torch.uint8, device=self.device)

    def _take_workspace(self):
        """On a GPU anew for each call, from PyTorch's pool, which knows the stream; a processor's
        is kept with this call."""
        if self.workspace is None or self.cuda:
            count = self.library.workspace(*self.arguments)
            self.workspace = self._bytes(count)
            self.context.workspace = self.workspace.data_ptr() if count else None
            self.context.workspace_bytes = count

    def _prepare(self, inputs):
        """kp_prepare, when a constant input is another or was written to."""
        values = [inputs[i] for i in self.constants]
        tracked = not any(value.is_inference() for value in values)
        now = (self.context.stream, tuple((value.data_ptr(), value._version) for value in values)
               ) if tracked else None
        if tracked and now == self.prepared:
            return
        count = self.library.state(*self.arguments)
        self.state = self._bytes(count)
        self.context.state = self.state.data_ptr() if count else None
        self.context.state_bytes = count
        self.prepared = None
        code = self.library.prepare(*self.arguments)
        if code != 0:
            raise RuntimeError(f"kp_prepare returned {code}")
        self.prepared = now

    def run(self, inputs):
        """The outputs. `inputs` are of the task's shapes and types, on this device."""
        dense = [_kp_dense(tensor) for tensor in inputs]
        outputs = [torch.empty(shape, dtype=dtype, device=self.device)
                   for shape, dtype in self.outputs]
        for cell, tensor in zip(self.cells, dense + outputs):
            cell.data = tensor.data_ptr()
        if self.cuda:
            self.context.stream = _kp_stream(self.device)
        else:
            self.context.threads = torch.get_num_threads()
        if self.library.workspace is not None:
            self._take_workspace()
        if self.library.prepare is not None:
            self._prepare(dense)
        code = self.library.launch(*self.arguments)
        if self.cuda:
            self.workspace = None  # back to the pool: what uses it next does so after this call
        if code != 0:
            raise RuntimeError(f"kp_launch returned {code}")
        return outputs


def _kp_stream(device):
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # without an object around it
    return raw(device.index) if raw else torch.cuda.current_stream(device).cuda_stream


def _kp_dense(tensor):
    if tensor.is_contiguous() and tensor.data_ptr() % _KP_ALIGNMENT == 0:
        return tensor
    return tensor.clone(memory_format=torch.contiguous_format)


class _KpKernel:
    """The kernel of a certificate: builds it, and calls it on tensors."""

    def __init__(self, spec, source, header):
        self.spec = spec
        self.source = source
        self.header = header
        self.cuda = spec["backend"] == "cuda"
        self.device = torch.device("cuda", 0) if self.cuda else torch.device("cpu")
        self.dtypes = [_KP_DTYPES[one["dtype"]] for one in spec["inputs"]]
        self.shapes = [tuple(one["shape"]) for one in spec["inputs"]]
        self.libraries = {}  # by architecture
        self.idle = {}  # by device: the calls that nobody is in

    def library(self, device=None):
        """Built and loaded for that device; where PyTorch sees no GPU, for the certificate's."""
        architecture = self.spec["architecture"]
        if self.cuda and torch.cuda.is_available():
            architecture = _kp_architecture(device)
        if architecture not in self.libraries:
            self.libraries[architecture] = _KpLibrary(
                _kp_build(self.spec, self.source, self.header, architecture))
        return self.libraries[architecture]

    def __call__(self, inputs):
        """The outputs. Inputs are of the task's shapes and types, on one device, and need not be
        dense."""
        device = inputs[0].device if inputs else self.device
        if self.cuda and device.index != torch.cuda.current_device():
            with torch.cuda.device(device):
                return self._call(inputs, device)
        return self._call(inputs, device)

    def _call(self, inputs, device):
        idle = self.idle.setdefault(device, [])
        call = idle.pop() if idle else _KpCall(self.spec, self.library(device), device)
        outputs = call.run(inputs)
        idle.append(call)
        return outputs


# ---- the problem's module ----

def _kp_problem(text, name):
    """The problem's module, from its text: a namespace of its own."""
    module = types.ModuleType(name)
    module.__file__ = f"<{name}>"
    linecache.cache[module.__file__] = (len(text), None, text.splitlines(True), module.__file__)
    sys.modules[name] = module
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    return module


def _kp_state_places(module):
    """Where the module keeps its parameters and floating buffers, in the task's order."""
    def place(name, kind):
        path, _, leaf = name.rpartition(".")
        return getattr(module.get_submodule(path), kind), leaf, name

    return ([place(name, "_parameters") for name, _ in module.named_parameters()] +
            [place(name, "_buffers") for name, value in module.named_buffers()
             if value.is_floating_point()])


class _KpBinding:
    """A module's arguments and parameters as the kernel's inputs."""

    def __init__(self, kernel, problem, drawn):
        self.kernel = kernel
        self.problem = problem
        self.drawn = drawn  # tensors for the constructor may hold other values than those judged
        spec = kernel.spec
        self.arguments = spec["arguments"]  # the index of an input, or a number as text
        self.given = sum(isinstance(one, int) for one in self.arguments)
        # Several outputs may be arranged in some way, and bytes may be of bool: then the module
        # tells.
        plain = len(spec["outputs"]) == 1 and spec["outputs"][0]["dtype"] != "u8"
        self.skeleton = _KP_DTYPES[spec["outputs"][0]["dtype"]] if plain else None
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(_KP_SEED)
            self.init = tuple(problem.get_init_inputs())

    # ---- is this what was judged? Each says why not, or None. ----

    def other_construction(self, module, values, named):
        """`values`, `named`: what the module was made with."""
        signature = inspect.signature(self.problem.Model.__init__)
        made, judged = signature.bind(module, *values, **named), signature.bind(module, *self.init)
        made.apply_defaults()
        judged.apply_defaults()
        for name, value in judged.arguments.items():
            other = made.arguments.get(name)
            if other is not module and not _kp_same(other, value, self.drawn):
                return f"made with {name} = {other!r}, judged with {value!r}"
        return None

    def arguments_as_inputs(self, values):
        """The tensors among the arguments of a call, and why the arguments are not those judged."""
        if len(values) != len(self.arguments):
            return [], f"called with {len(values)} arguments, judged with {len(self.arguments)}"
        found = []
        for place, (value, wanted) in enumerate(zip(values, self.arguments)):
            if isinstance(wanted, int):
                if not torch.is_tensor(value):
                    return [], f"argument {place} is no tensor"
                truths = value.dtype == torch.bool and self.kernel.dtypes[wanted] == torch.uint8
                found.append(value.view(torch.uint8) if truths else value)
            elif not isinstance(value, (int, float)) or float(value) != float(wanted):
                return [], f"argument {place} is {value!r}, judged with {wanted} only"
        return found, None

    def other_inputs(self, inputs):
        """`inputs`: all that the kernel would be called with."""
        kernel = self.kernel
        if len(inputs) != len(kernel.shapes):
            return (f"it has {len(inputs) - self.given} parameters, judged with "
                    f"{len(kernel.shapes) - self.given}")
        device = inputs[0].device if inputs else kernel.device
        for place, tensor in enumerate(inputs):
            if tensor.shape != kernel.shapes[place] or tensor.dtype != kernel.dtypes[place]:
                return (f"{kernel.spec['inputs'][place]['name']} is {tensor.dtype} of "
                        f"{list(tensor.shape)}, judged as {kernel.dtypes[place]} of "
                        f"{list(kernel.shapes[place])}")
            if tensor.device != device or device.type != kernel.device.type:
                return (f"{kernel.spec['inputs'][place]['name']} is on {tensor.device}, judged "
                        f"with all on one {kernel.device.type} device")
        return None

    # ---- parameters ----

    def is_packed(self, names):
        """Many parameters are one flat input, called so."""
        rest = self.kernel.spec["inputs"][self.given:]
        return (len(rest) == 1 and rest[0]["name"] == "parameters" and len(rest[0]["shape"]) == 1
                and "parameters" not in names)

    def packed_state(self, module, state):
        """The flat input, or why there is none. The module's parameters become views of it, so
        that what is written to them later is seen; when they are no longer, it is made anew."""
        pointers = [value.data_ptr() for value in state]
        kept, flat = module.__dict__.get("_kp_flat", (None, None))
        if pointers == kept:
            return flat, None
        if any(value.dtype != torch.float32 for value in state):
            return None, "not all of its parameters are float32"
        if any(value.device != state[0].device for value in state):
            return None, "its parameters are not all on one device"
        starts, elements = _kp_packing(state)
        with torch.inference_mode(False), torch.no_grad():
            flat = torch.zeros(elements, dtype=torch.float32, device=state[0].device)
            for value, start in zip(state, starts):
                view = flat[start:start + value.numel()].view(value.shape)
                view.copy_(value)
                value.data = view
        module.__dict__["_kp_flat"] = ([value.data_ptr() for value in state], flat)
        return flat, None

    # ---- what forward() returns ----

    def look_at_module(self, module, values):
        """Runs the module's own forward() on a copy: how outputs are arranged, and which are of
        bool. Returns the buffers that it changes."""
        twin = _kp_deepcopy(module)
        with torch.no_grad():
            self.skeleton = _kp_skeleton(self.problem.Model.forward(twin, *values))
        after = dict(twin.named_buffers())
        return [name for name, value in module.named_buffers()
                if not torch.equal(value.nan_to_num(), after[name].nan_to_num())]

    def arranged(self, outputs):
        """The outputs as forward() returns them."""
        return _kp_filled(self.skeleton, iter(outputs))


def _kp_same(first, second, drawn):
    if torch.is_tensor(first) and torch.is_tensor(second):
        return first.shape == second.shape and (drawn or torch.equal(first.cpu(), second.cpu()))
    if type(first) is not type(second):
        return False
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(
            _kp_same(one, other, drawn) for one, other in zip(first, second))
    return bool(first == second)


def _kp_packing(state):
    """The first element of each in the flat tensor, and how many elements that has."""
    starts, at = [], 0
    for value in state:
        starts.append(at)
        at += -(-value.numel() // _KP_PACK_ELEMENTS) * _KP_PACK_ELEMENTS
    return starts, at


def _kp_skeleton(found):
    if torch.is_tensor(found):
        return found.dtype
    return type(found), [_kp_skeleton(part) for part in found]


def _kp_filled(skeleton, outputs):
    if isinstance(skeleton, torch.dtype):
        value = next(outputs)
        return value.view(torch.bool) if skeleton == torch.bool else value
    kind, parts = skeleton
    filled = [_kp_filled(part, outputs) for part in parts]
    return kind(*filled) if hasattr(kind, "_fields") else kind(filled)
)py";

}  // namespace kernelpro::report
