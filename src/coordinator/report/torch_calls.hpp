// The second part of torch_loader() in torch_export.cpp: a built kernel is called on tensors.
#pragma once

#include <string_view>

namespace kernelpro::report {

inline constexpr std::string_view torch_calls = R"py(

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
)py";

}  // namespace kernelpro::report
