"""The worker's buffers as tensors: in shared memory, or on the GPU."""

import ctypes
import math
import mmap
import os

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
        try:
            self._map_sets(layout, descriptors, draws)
        except Exception:
            self.close()
            raise

    def _map_sets(self, layout, descriptors, draws):
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
