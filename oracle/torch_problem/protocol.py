"""What worker and runner say to each other: the structures of runner_protocol.hpp."""

import ctypes

CONTROL_FD = 3
MAX_TENSORS, MAX_RANK, MAX_VALUES, MAX_SETS, MAX_TRACED = 64, 8, 16, 1024, 16
MAX_DRAWS = 512

# Of runner_protocol.hpp: Op, ReplyKind, CallStatus.
LOAD, SHAPE, ATTACH, PREPARE, GO, TRACE, DRAW, RESCALE, LEND = range(9)
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
                ("state_bytes", ctypes.c_uint64), ("gate_bytes", ctypes.c_uint64),
                ("scalars", ctypes.c_double * MAX_VALUES),
                ("axes", ctypes.c_int64 * MAX_VALUES), ("tensors", TensorPlace * MAX_TENSORS)]


class Draw(ctypes.Structure):
    _fields_ = [("inputs", ctypes.c_uint64), ("parameters", ctypes.c_uint64),
                ("signs", ctypes.c_uint64)]


class Body(ctypes.Union):
    _fields_ = [("layout", Layout), ("path", ctypes.c_char * 4096),
                ("sets", ctypes.c_uint16 * MAX_SETS), ("draws", Draw * MAX_DRAWS)]


class Request(ctypes.Structure):
    _fields_ = [("op", ctypes.c_uint32), ("sequence", ctypes.c_uint32), ("count", ctypes.c_uint32),
                ("option", ctypes.c_uint32), ("gate", ctypes.c_uint32), ("first", ctypes.c_uint64),
                ("body", Body)]


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
