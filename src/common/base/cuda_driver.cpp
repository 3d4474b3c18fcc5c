#include "common/base/cuda_driver.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <optional>

namespace kernelpro::cuda {

namespace {

// Fills the table entry by entry; remembers the first name that the library does not have.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <typename Entry>
  void find(Entry& entry, const char* name) {
    entry = reinterpret_cast<Entry>(dlsym(library_, name));
    if (entry == nullptr && missing_.empty()) {
      missing_ = name;
    }
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void find_device_calls(Symbols& symbols, Driver& driver) {
  symbols.find(driver.init, "cuInit");
  symbols.find(driver.driver_version, "cuDriverGetVersion");
  symbols.find(driver.error_name, "cuGetErrorName");
  symbols.find(driver.error_text, "cuGetErrorString");
  symbols.find(driver.device_count, "cuDeviceGetCount");
  symbols.find(driver.device_get, "cuDeviceGet");
  symbols.find(driver.device_name, "cuDeviceGetName");
  symbols.find(driver.device_uuid, "cuDeviceGetUuid_v2");
  symbols.find(driver.device_memory, "cuDeviceTotalMem_v2");
  symbols.find(driver.device_attribute, "cuDeviceGetAttribute");
  symbols.find(driver.primary_retain, "cuDevicePrimaryCtxRetain");
  symbols.find(driver.context_set, "cuCtxSetCurrent");
  symbols.find(driver.context_synchronize, "cuCtxSynchronize");
  symbols.find(driver.context_reset_persisting_l2, "cuCtxResetPersistingL2Cache");
}

void find_memory_calls(Symbols& symbols, Driver& driver) {
  symbols.find(driver.memory_info, "cuMemGetInfo_v2");
  symbols.find(driver.memory_granularity, "cuMemGetAllocationGranularity");
  symbols.find(driver.memory_create, "cuMemCreate");
  symbols.find(driver.memory_release, "cuMemRelease");
  symbols.find(driver.memory_export, "cuMemExportToShareableHandle");
  symbols.find(driver.memory_import, "cuMemImportFromShareableHandle");
  symbols.find(driver.address_reserve, "cuMemAddressReserve");
  symbols.find(driver.address_free, "cuMemAddressFree");
  symbols.find(driver.memory_map, "cuMemMap");
  symbols.find(driver.memory_unmap, "cuMemUnmap");
  symbols.find(driver.memory_access, "cuMemSetAccess");
  symbols.find(driver.allocate, "cuMemAlloc_v2");
  symbols.find(driver.free, "cuMemFree_v2");
  symbols.find(driver.copy_to_device, "cuMemcpyHtoDAsync_v2");
  symbols.find(driver.copy_to_host, "cuMemcpyDtoHAsync_v2");
  symbols.find(driver.copy_on_device, "cuMemcpyDtoDAsync_v2");
  symbols.find(driver.set_bytes, "cuMemsetD8Async");
}

void find_work_calls(Symbols& symbols, Driver& driver) {
  symbols.find(driver.module_load, "cuModuleLoadData");
  symbols.find(driver.module_unload, "cuModuleUnload");
  symbols.find(driver.module_function, "cuModuleGetFunction");
  symbols.find(driver.launch, "cuLaunchKernel");
  symbols.find(driver.stream_create, "cuStreamCreate");
  symbols.find(driver.stream_destroy, "cuStreamDestroy_v2");
  symbols.find(driver.stream_synchronize, "cuStreamSynchronize");
  symbols.find(driver.stream_query, "cuStreamQuery");
  symbols.find(driver.stream_wait_value, "cuStreamWaitValue32_v2");
  symbols.find(driver.stream_write_value, "cuStreamWriteValue32_v2");
  symbols.find(driver.event_create, "cuEventCreate");
  symbols.find(driver.event_destroy, "cuEventDestroy_v2");
  symbols.find(driver.event_record, "cuEventRecord");
  symbols.find(driver.event_elapsed, "cuEventElapsedTime");
  symbols.find(driver.profiler_start, "cuProfilerStart");
  symbols.find(driver.profiler_stop, "cuProfilerStop");
}

struct Loaded {
  Driver driver{};
  std::optional<Error> problem;
};

Loaded load() {
  Loaded loaded;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.problem = make_error(ErrorKind::environment,
                                "there is no NVIDIA driver here (libcuda.so.1 cannot be loaded): "
                                "install it, or give the container access to the GPU");
    return loaded;
  }
  Symbols symbols(library);
  find_device_calls(symbols, loaded.driver);
  find_memory_calls(symbols, loaded.driver);
  find_work_calls(symbols, loaded.driver);
  if (!symbols.missing().empty()) {
    loaded.problem =
        make_error(ErrorKind::environment, "the NVIDIA driver is too old: it has no " +
                                               symbols.missing() + "; install driver 525 or later");
  }
  return loaded;
}

}  // namespace

std::string Driver::text(Code code) const {
  const char* name = nullptr;
  const char* words = nullptr;
  error_name(code, &name);
  error_text(code, &words);
  if (name == nullptr) {
    return "CUDA error " + std::to_string(code);
  }
  return words == nullptr ? name : std::string(name) + ": " + words;
}

namespace {

// A copy on a page of its own that nobody can write to by mistake or by overwriting a pointer: a
// candidate shares the runner's process.
const Driver* sealed(const Driver& driver) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (sizeof driver + page - 1) / page * page;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return &driver;
  }
  const Driver* copy = new (memory) Driver(driver);
  mprotect(memory, bytes, PROT_READ);
  return copy;
}

}  // namespace

Result<const Driver*> load_driver() {
  static const Loaded loaded = load();
  static const Driver* const table = sealed(loaded.driver);
  if (loaded.problem) {
    return *loaded.problem;
  }
  return table;
}

Error driver_error(const Driver& driver, Code code, const std::string& doing) {
  return make_error(ErrorKind::environment, driver.text(code), doing);
}

}  // namespace kernelpro::cuda
