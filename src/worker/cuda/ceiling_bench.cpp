#include "worker/cuda/ceiling_bench.hpp"

#include <algorithm>
#include <utility>

#include "common/base/clock.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t most_buffer_bytes = std::int64_t{4} << 30;
constexpr std::int64_t element_bytes = 16;
constexpr std::uint64_t elements_in_flight = 4;  // as ceilings/cuda.cu has it
constexpr std::size_t repeats = 25;
constexpr double sample_ms = 1.5;
constexpr unsigned most_rounds = 1U << 28;
constexpr int launches_back_to_back = 200;
constexpr std::size_t waited_launches = 500;
constexpr double ns_per_us = 1e3;
constexpr double us_per_ms = 1e3;
constexpr unsigned fill_threads = 256;
constexpr unsigned fill_blocks = 8;  // for each multiprocessor
constexpr unsigned empty_threads = 32;

}  // namespace

CeilingBench::~CeilingBench() {
  const cuda::Driver& driver = gpu_.driver();
  // Freed memory must not be written any more.
  static_cast<void>(gpu_.synchronize());
  for (const cuda::Event event : events_) {
    driver.event_destroy(event);
  }
  for (const cuda::Pointer pointer : {from_, to_, work_}) {
    if (pointer != 0) {
      driver.free(pointer);
    }
  }
  if (module_ != nullptr) {
    driver.module_unload(module_);
  }
}

Status CeilingBench::check(cuda::Code code, const std::string& doing) const {
  return code == cuda::success ? Status() : Status(cuda::driver_error(gpu_.driver(), code, doing));
}

Status CeilingBench::prepare(const std::string& image, const std::vector<std::string>& kernels) {
  KP_TRY(load(image, kernels));
  KP_TRY(allocate());
  for (std::size_t i = 0; i <= repeats; ++i) {
    cuda::Event event = nullptr;
    KP_TRY(check(gpu_.driver().event_create(&event, 0), "making an event"));
    events_.push_back(event);
  }
  return {};
}

Status CeilingBench::load(const std::string& image, const std::vector<std::string>& kernels) {
  const cuda::Driver& driver = gpu_.driver();
  KP_TRY(check(driver.module_load(&module_, image.data()), "loading the ceiling kernels"));
  for (const std::string& name : kernels) {
    cuda::Function function = nullptr;
    if (driver.module_function(&function, module_, name.c_str()) != cuda::success) {
      return make_error(ErrorKind::environment,
                        "the ceiling kernels lack '" + name +
                            "'; their source is not this program's: reinstall KernelPro");
    }
    functions_[name] = function;
  }
  return {};
}

Status CeilingBench::allocate() {
  const cuda::Driver& driver = gpu_.driver();
  // A sixteenth of the memory, so that reading it takes about as long on every GPU.
  const std::int64_t wanted =
      std::min({most_buffer_bytes, gpu_.description().memory_bytes / 16, gpu_.free_bytes() / 4});
  buffer_bytes_ = wanted / element_bytes * element_bytes;
  if (buffer_bytes_ < 2 * gpu_.description().l2_bytes) {
    return make_error(ErrorKind::environment,
                      "too little memory of the GPU is free to measure its ceilings: " +
                          std::to_string(gpu_.free_bytes()) + " bytes, wanted are " +
                          std::to_string(8 * gpu_.description().l2_bytes) +
                          "; end what else uses it, nvidia-smi lists that",
                      gpu_.description().name);
  }
  const auto bytes = static_cast<std::size_t>(buffer_bytes_);
  const std::string doing = "making two buffers of " + std::to_string(bytes) + " bytes";
  KP_TRY(check(driver.allocate(&from_, bytes), doing));
  KP_TRY(check(driver.allocate(&to_, bytes), doing));
  KP_TRY(check(driver.allocate(&work_, sizeof(double)), doing));
  auto count = static_cast<std::uint64_t>(buffer_bytes_ / element_bytes);
  const unsigned blocks = fill_blocks * static_cast<unsigned>(gpu_.description().multiprocessors);
  for (cuda::Pointer* buffer : {&from_, &to_}) {
    void* arguments[] = {buffer, &count};
    KP_TRY(check(driver.launch(functions_.at("kp_fill"), blocks, 1, 1, fill_threads, 1, 1, 0,
                               gpu_.stream(), arguments, nullptr),
                 "filling a buffer"));
  }
  return check(gpu_.synchronize(), "filling the buffers");
}

CeilingBench::Launch CeilingBench::launch_of(const KernelSample& sample) const {
  Launch out;
  out.function = functions_.at(sample.kernel);
  out.threads = sample.shape.threads;
  out.count = static_cast<std::uint64_t>(sample.bytes / element_bytes);
  const std::uint64_t tiles = out.count / (out.threads * elements_in_flight);
  out.blocks = sample.shape.blocks > 0
                   ? sample.shape.blocks * static_cast<unsigned>(gpu_.description().multiprocessors)
                   : static_cast<unsigned>(tiles);
  return out;
}

cuda::Code CeilingBench::start(Launch& launch) {
  void* arguments[] = {&from_, &to_, &launch.count, &launch.rounds, &work_};
  return gpu_.driver().launch(launch.function, launch.blocks, 1, 1, launch.threads, 1, 1, 0,
                              gpu_.stream(), arguments, nullptr);
}

Result<std::vector<double>> CeilingBench::times(Launch& launch, const std::string& kernel,
                                                std::size_t samples, int launches) {
  const cuda::Driver& driver = gpu_.driver();
  // The first keeps the device busy until the host is ahead of it.
  cuda::Code code = start(launch);
  for (std::size_t i = 0; i <= samples; ++i) {
    for (int n = 0; i > 0 && n < launches && code == cuda::success; ++n) {
      code = start(launch);
    }
    code = code == cuda::success ? driver.event_record(events_[i], gpu_.stream()) : code;
  }
  code = code == cuda::success ? gpu_.synchronize() : code;
  std::vector<double> out;
  for (std::size_t i = 0; i < samples && code == cuda::success; ++i) {
    float ms = 0;
    code = driver.event_elapsed(&ms, events_[i], events_[i + 1]);
    out.push_back(ms);
  }
  KP_TRY(check(code, "timing " + kernel));
  return out;
}

Status CeilingBench::choose_rounds(Launch& launch, const std::string& kernel) {
  while (true) {
    KP_LET(const std::vector<double> ms, times(launch, kernel, 1, 1));
    if (ms.front() >= sample_ms) {
      return {};
    }
    if (launch.rounds >= most_rounds) {
      return make_error(ErrorKind::internal, "the kernel takes no time, whatever its rounds",
                        kernel);
    }
    launch.rounds *= 2;
  }
}

Status CeilingBench::warm_up(Launch& launch, const std::string& kernel, std::int64_t ms) {
  constexpr int at_once = 4;
  const std::int64_t end = now_ns() + ms * ns_per_ms;
  do {
    if (stop_.stop_requested()) {
      return make_error(ErrorKind::interrupted, "stopped while measuring the GPU's ceilings");
    }
    for (int i = 0; i < at_once; ++i) {
      KP_TRY(check(start(launch), "launching " + kernel));
    }
    KP_TRY(check(gpu_.synchronize(), "warming up with " + kernel));
  } while (now_ns() < end);
  return {};
}

Result<double> CeilingBench::work_done(Launch& launch, const std::string& kernel) {
  const cuda::Driver& driver = gpu_.driver();
  double work = 0;
  cuda::Code code = driver.set_bytes(work_, 0, sizeof(work), gpu_.stream());
  code = code == cuda::success ? start(launch) : code;
  code =
      code == cuda::success ? driver.copy_to_host(&work, work_, sizeof(work), gpu_.stream()) : code;
  code = code == cuda::success ? gpu_.synchronize() : code;
  KP_TRY(check(code, "running " + kernel));
  if (!(work > 0)) {
    return make_error(ErrorKind::internal, "the kernel says that it did no work", kernel);
  }
  return work;
}

Result<std::vector<double>> CeilingBench::rates(const KernelSample& sample,
                                                std::int64_t warm_up_ms) {
  Launch launch = launch_of(sample);
  if (sample.repeats_itself) {
    KP_TRY(choose_rounds(launch, sample.kernel));
  }
  KP_LET(const double work, work_done(launch, sample.kernel));
  KP_TRY(warm_up(launch, sample.kernel, warm_up_ms));
  Result<std::vector<double>> out = times(launch, sample.kernel, repeats, 1);
  if (out) {
    for (double& value : *out) {
      value = work / (value * ns_per_ms);
    }
  }
  return out;
}

Result<std::vector<double>> CeilingBench::launch_times() {
  Launch launch;
  launch.function = functions_.at("kp_empty");
  launch.threads = empty_threads;
  KP_TRY(warm_up(launch, "kp_empty", 1));
  Result<std::vector<double>> out = times(launch, "kp_empty", repeats, launches_back_to_back);
  if (out) {
    for (double& value : *out) {
      value = value * us_per_ms / launches_back_to_back;
    }
  }
  return out;
}

Result<std::vector<double>> CeilingBench::launch_and_wait_times() {
  Launch launch;
  launch.function = functions_.at("kp_empty");
  launch.threads = empty_threads;
  KP_TRY(warm_up(launch, "kp_empty", 1));
  std::vector<double> out;
  for (std::size_t i = 0; i < waited_launches; ++i) {
    const std::int64_t begin = now_ns();
    KP_TRY(check(start(launch), "launching kp_empty"));
    KP_TRY(check(gpu_.synchronize(), "waiting for kp_empty"));
    out.push_back(static_cast<double>(now_ns() - begin) / ns_per_us);
  }
  return out;
}

}  // namespace kernelpro
