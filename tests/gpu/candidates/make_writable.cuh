// Gives the process the right to write to its input: the driver lets it change its own mappings.
namespace {

bool make_writable(const Call& call) {
  const auto range =
      driver_function<CUresult (*)(CUdeviceptr*, size_t*, CUdeviceptr)>("cuMemGetAddressRange_v2");
  const auto set_access =
      driver_function<CUresult (*)(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t)>(
          "cuMemSetAccess");
  CUdeviceptr base = 0;
  size_t bytes = 0;
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return range(&base, &bytes, reinterpret_cast<CUdeviceptr>(call.x)) == CUDA_SUCCESS &&
         set_access(base, bytes, &access, 1) == CUDA_SUCCESS;
}

}  // namespace
