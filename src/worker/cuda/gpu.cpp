#include "worker/cuda/gpu.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

#include "common/base/file.hpp"
#include "worker/cuda/kernel_sources.hpp"
#include "worker/toolchain/cuda.hpp"

namespace kernelpro {

namespace {

constexpr unsigned block_threads = 256;
constexpr std::uint64_t blocks_per_multiprocessor = 8;

constexpr std::array<const char*, 18> kernel_names = {"fill_floating",
                                                      "fill_whole",
                                                      "fill_columns",
                                                      "nudge",
                                                      "round_values",
                                                      "copy_chunks",
                                                      "poison_chunks",
                                                      "count_changed",
                                                      "find_written",
                                                      "sum_squares",
                                                      "compare_floating",
                                                      "find_worst",
                                                      "read_worst",
                                                      "compare_bits",
                                                      "sweep",
                                                      "probe",
                                                      "stamp",
                                                      "excuse"};

std::string uuid_text(const std::array<unsigned char, 16>& uuid) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      out += '-';
    }
    out += digits[uuid[i] >> 4];
    out += digits[uuid[i] & 15];
  }
  return out;
}

// The driver names a slice "NVIDIA H200 MIG 1g.18gb".
std::string obstacle(const std::string& name, bool shareable) {
  if (name.find(" MIG ") != std::string::npos) {
    return "it is a MIG slice, whose timings depend on its neighbors: turn MIG off "
           "(nvidia-smi -mig 0)";
  }
  return shareable ? ""
                   : "it cannot share memory by file descriptor (a virtual GPU without virtual "
                     "memory management?)";
}

Result<GpuDescription> describe(const cuda::Driver& driver, int ordinal) {
  GpuDescription out;
  out.ordinal = ordinal;
  cuda::Device device = 0;
  std::array<char, 256> name{};
  std::array<unsigned char, 16> uuid{};
  std::size_t memory = 0;
  int major = 0;
  int minor = 0;
  int l2 = 0;
  int shareable = 0;
  const cuda::Code codes[] = {
      driver.device_get(&device, ordinal),
      driver.device_name(name.data(), static_cast<int>(name.size()), device),
      driver.device_uuid(uuid.data(), device),
      driver.device_memory(&memory, device),
      driver.device_attribute(&major, cuda::capability_major, device),
      driver.device_attribute(&minor, cuda::capability_minor, device),
      driver.device_attribute(&l2, cuda::l2_cache_bytes, device),
      driver.device_attribute(&out.multiprocessors, cuda::multiprocessor_count, device),
      driver.device_attribute(&shareable, cuda::file_descriptors_supported, device),
      driver.driver_version(&out.driver_version)};
  for (const cuda::Code code : codes) {
    if (code != cuda::success) {
      return cuda::driver_error(driver, code, "looking at GPU " + std::to_string(ordinal));
    }
  }
  out.name = name.data();
  out.unusable = obstacle(out.name, shareable != 0);
  out.uuid = uuid_text(uuid);
  out.memory_bytes = static_cast<std::int64_t>(memory);
  out.l2_bytes = l2;
  // From Hopper on, the instructions that matter are in the target's own variant.
  out.architecture = std::to_string(10 * major + minor) + (major >= 9 ? "a" : "");
  return out;
}

}  // namespace

Result<std::vector<GpuDescription>> list_gpus() {
  KP_LET(const cuda::Driver* loaded, cuda::load_driver());
  const cuda::Driver& driver = *loaded;
  int count = 0;
  cuda::Code code = driver.init(0);
  code = code == cuda::success ? driver.device_count(&count) : code;
  if (code == cuda::no_device || (code == cuda::success && count == 0)) {
    return make_error(ErrorKind::environment,
                      "the NVIDIA driver is here, but it shows no GPU: check nvidia-smi and "
                      "CUDA_VISIBLE_DEVICES");
  }
  if (code != cuda::success) {
    return cuda::driver_error(driver, code, "opening the NVIDIA driver");
  }
  std::vector<GpuDescription> out;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    KP_LET(GpuDescription one, describe(driver, ordinal));
    out.push_back(std::move(one));
  }
  return out;
}

std::map<std::string, double> gpu_limits(int ordinal) {
  constexpr double warp = 32;
  constexpr std::pair<const char*, cuda::Attribute> asked[] = {
      {"multiprocessors", cuda::multiprocessor_count},
      {"threads", cuda::multiprocessor_threads},
      {"blocks", cuda::multiprocessor_blocks},
      {"registers", cuda::multiprocessor_registers},
      {"shared_bytes", cuda::multiprocessor_shared_bytes},
      {"block_shared_bytes", cuda::block_shared_bytes},
      {"reserved_shared_bytes", cuda::reserved_shared_bytes},
      {"l2_bytes", cuda::l2_cache_bytes}};
  std::map<std::string, double> out;
  const Result<const cuda::Driver*> driver = cuda::load_driver();
  cuda::Device device = 0;
  if (!driver || (*driver)->device_get(&device, ordinal) != cuda::success) {
    return out;
  }
  for (const auto& [name, attribute] : asked) {
    int value = 0;
    if ((*driver)->device_attribute(&value, attribute, device) == cuda::success) {
      out[name] = value;
    }
  }
  if (out.contains("threads")) {
    out["warps"] = out["threads"] / warp;
  }
  return out;
}

Status check_driver(int driver_version, const std::string& nvcc_identity) {
  static const std::regex release("release ([0-9]+)\\.([0-9]+)");
  std::smatch found;
  if (!std::regex_search(nvcc_identity, found, release)) {
    return {};
  }
  const int major = driver_version / 1000;
  if (std::stoi(found[1].str()) <= major) {
    return {};
  }
  return make_error(ErrorKind::environment,
                    "the driver speaks CUDA " + std::to_string(major) + "." +
                        std::to_string(driver_version % 1000 / 10) + " and nvcc is of CUDA " +
                        found[1].str() + "." + found[2].str() +
                        ": update the driver, or set CUDA_HOME to a toolkit of CUDA " +
                        std::to_string(major));
}

Result<DeviceBlock> DeviceBlock::create(const cuda::Driver& driver, int ordinal,
                                        std::size_t bytes) {
  DeviceBlock block;
  block.driver_ = &driver;
  block.bytes_ = bytes;
  cuda::AllocationProperties properties;
  properties.location.id = ordinal;
  cuda::AccessDescription access;
  access.location.id = ordinal;
  cuda::Code code = driver.memory_create(&block.handle_, bytes, &properties, 0);
  if (code == cuda::success) {
    code = driver.address_reserve(&block.pointer_, bytes, 0, 0, 0);
  }
  if (code == cuda::success) {
    code = driver.memory_map(block.pointer_, bytes, 0, block.handle_, 0);
  }
  if (code == cuda::success) {
    code = driver.memory_access(block.pointer_, bytes, &access, 1);
  }
  if (code != cuda::success) {
    return cuda::driver_error(driver, code,
                              "making " + std::to_string(bytes) + " bytes of GPU memory");
  }
  return block;
}

int DeviceBlock::descriptor() const {
  if (descriptor_ < 0 && driver_ != nullptr &&
      driver_->memory_export(&descriptor_, handle_, cuda::file_descriptor_handle, 0) !=
          cuda::success) {
    descriptor_ = -1;
  }
  return descriptor_;
}

DeviceBlock::DeviceBlock(DeviceBlock&& other) noexcept {
  *this = std::move(other);
}

DeviceBlock& DeviceBlock::operator=(DeviceBlock&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(handle_, other.handle_);
  std::swap(pointer_, other.pointer_);
  std::swap(bytes_, other.bytes_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DeviceBlock::~DeviceBlock() {
  if (pointer_ != 0) {
    driver_->memory_unmap(pointer_, bytes_);
    driver_->address_free(pointer_, bytes_);
  }
  if (handle_ != 0) {
    driver_->memory_release(handle_);
  }
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

Result<std::unique_ptr<Gpu>> Gpu::open(const GpuDescription& description,
                                       const Toolchain& toolchain) {
  KP_LET(const cuda::Driver* loaded, cuda::load_driver());
  for (const Compiler& compiler : toolchain.compilers()) {
    if (is_cuda(compiler)) {
      KP_TRY(check_driver(description.driver_version, compiler.identity));
    }
  }
  std::unique_ptr<Gpu> gpu(new Gpu());
  gpu->driver_ = loaded;
  gpu->description_ = description;
  KP_TRY(gpu->open_context());
  KP_TRY(gpu->load_kernels(toolchain));
  return gpu;
}

Status Gpu::open_context() {
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  cuda::AllocationProperties properties;
  properties.location.id = description_.ordinal;
  cuda::Code code = driver_->device_get(&device, description_.ordinal);
  if (code == cuda::success) {
    code = driver_->primary_retain(&context, device);
  }
  if (code == cuda::success) {
    code = driver_->context_set(context);
  }
  if (code == cuda::success) {
    code = driver_->stream_create(&stream_, cuda::non_blocking);
  }
  if (code == cuda::success) {
    code = driver_->memory_granularity(&granularity_, &properties, 0);
  }
  return code == cuda::success
             ? Status()
             : Status(cuda::driver_error(*driver_, code, "opening " + description_.name));
}

Status Gpu::load_kernels(const Toolchain& toolchain) {
  BuildRequest request;
  request.compiler = "nvcc";
  request.source = judge_kernels();
  request.files = judge_kernel_headers();
  request.options = {"-O3", "--expt-relaxed-constexpr"};
  request.cubin = true;
  KP_LET(const BuildOutcome built, toolchain.build(request));
  if (!built.ok) {
    return make_error(ErrorKind::environment, built.diagnostics,
                      "building the judge's own kernels for sm_" + description_.architecture);
  }
  KP_LET(const std::string image, read_file(built.library));
  cuda::Code code = driver_->module_load(&module_, image.data());
  for (const char* name : kernel_names) {
    cuda::Function function = nullptr;
    if (code == cuda::success) {
      code = driver_->module_function(&function, module_, name);
    }
    functions_.emplace_back(name, function);
  }
  return code == cuda::success
             ? Status()
             : Status(cuda::driver_error(*driver_, code, "loading the judge's own kernels"));
}

Gpu::~Gpu() {
  if (module_ != nullptr) {
    driver_->module_unload(module_);
  }
  if (stream_ != nullptr) {
    driver_->stream_destroy(stream_);
  }
}

std::int64_t Gpu::free_bytes() const {
  std::size_t free = 0;
  std::size_t total = 0;
  driver_->memory_info(&free, &total);
  return static_cast<std::int64_t>(free);
}

Result<DeviceBlock> Gpu::share(std::size_t bytes) const {
  return DeviceBlock::create(*driver_, description_.ordinal, bytes);
}

cuda::Code Gpu::launch_kernel(const char* kernel, std::uint64_t work, void** arguments) const {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [kernel](const auto& entry) { return entry.first == kernel; });
  const std::uint64_t wanted = (work + block_threads - 1) / block_threads;
  const std::uint64_t most =
      blocks_per_multiprocessor * static_cast<std::uint64_t>(description_.multiprocessors);
  const auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, most));
  return driver_->launch(found->second, blocks, 1, 1, block_threads, 1, 1, 0, stream_, arguments,
                         nullptr);
}

}  // namespace kernelpro
