// What the driver lets a process do to the mappings that the runner made. Needs driver.cuh.
namespace {

struct Mapped {
  CUdeviceptr base = 0;
  size_t bytes = 0;
};

inline Mapped mapped_at(const void* address) {
  const auto range = driver_function<decltype(&cuMemGetAddressRange)>("cuMemGetAddressRange_v2");
  Mapped mapped;
  if (range(&mapped.base, &mapped.bytes, reinterpret_cast<CUdeviceptr>(address)) != CUDA_SUCCESS) {
    return {};
  }
  return mapped;
}

// The memory behind an address; 0 when the driver refuses.
inline CUmemGenericAllocationHandle memory_behind(const Mapped& mapped) {
  const auto retain =
      driver_function<decltype(&cuMemRetainAllocationHandle)>("cuMemRetainAllocationHandle");
  CUmemGenericAllocationHandle handle = 0;
  return retain(&handle, reinterpret_cast<void*>(mapped.base)) == CUDA_SUCCESS ? handle : 0;
}

inline CUmemGenericAllocationHandle own_memory(size_t bytes) {
  const auto create = driver_function<decltype(&cuMemCreate)>("cuMemCreate");
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle handle = 0;
  return create(&handle, bytes, &properties, 0) == CUDA_SUCCESS ? handle : 0;
}

// Puts that memory where other memory is mapped.
inline bool map_instead(const Mapped& mapped, CUmemGenericAllocationHandle handle) {
  const auto unmap = driver_function<decltype(&cuMemUnmap)>("cuMemUnmap");
  const auto map = driver_function<decltype(&cuMemMap)>("cuMemMap");
  const auto allow = driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return handle != 0 && unmap(mapped.base, mapped.bytes) == CUDA_SUCCESS &&
         map(mapped.base, mapped.bytes, 0, handle, 0) == CUDA_SUCCESS &&
         allow(mapped.base, mapped.bytes, &access, 1) == CUDA_SUCCESS;
}

}  // namespace
