// Runs the kernels of share/kernelpro/ceilings/cuda.cu on a GPU and times them.
#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "worker/cuda/gpu.hpp"

namespace kernelpro {

struct LaunchShape {
  unsigned threads = 0;  // of a block
  unsigned blocks = 0;   // for each multiprocessor; 0: as many as there are tiles
};

struct KernelSample {
  std::string kernel;
  LaunchShape shape;
  std::int64_t bytes = 0;      // how much of each buffer it gets
  bool repeats_itself = true;  // it may do its work in rounds, as many as make a sample long enough
};

// For the thread that opened the GPU. The caller holds the GPU's timing lock.
class CeilingBench {
 public:
  CeilingBench(Gpu& gpu, std::stop_token stop) : gpu_(gpu), stop_(std::move(stop)) {}
  CeilingBench(const CeilingBench&) = delete;
  CeilingBench& operator=(const CeilingBench&) = delete;
  ~CeilingBench();

  // Loads the cubin `image` with these kernels; makes two buffers and fills them with random bits.
  [[nodiscard]] Status prepare(const std::string& image, const std::vector<std::string>& kernels);

  // How large each of the buffers is.
  [[nodiscard]] std::int64_t buffer_bytes() const { return buffer_bytes_; }

  // Work per nanosecond, one entry a repeat, after `warm_up_ms` of the same.
  [[nodiscard]] Result<std::vector<double>> rates(const KernelSample& sample,
                                                  std::int64_t warm_up_ms);

  // Microseconds a launch of the empty kernel, many launched back to back.
  [[nodiscard]] Result<std::vector<double>> launch_times();
  // Microseconds until the host has launched the empty kernel and seen its end.
  [[nodiscard]] Result<std::vector<double>> launch_and_wait_times();

 private:
  struct Launch {
    cuda::Function function = nullptr;
    unsigned blocks = 1;
    unsigned threads = 1;
    std::uint64_t count = 0;
    unsigned rounds = 1;
  };

  [[nodiscard]] Status check(cuda::Code code, const std::string& doing) const;
  [[nodiscard]] Status load(const std::string& image, const std::vector<std::string>& kernels);
  [[nodiscard]] Status allocate();
  [[nodiscard]] Launch launch_of(const KernelSample& sample) const;
  [[nodiscard]] cuda::Code start(Launch& launch);
  [[nodiscard]] Status warm_up(Launch& launch, const std::string& kernel, std::int64_t ms);
  [[nodiscard]] Status choose_rounds(Launch& launch, const std::string& kernel);
  [[nodiscard]] Result<double> work_done(Launch& launch, const std::string& kernel);
  // Milliseconds of each sample, which is that many launches in a row.
  [[nodiscard]] Result<std::vector<double>> times(Launch& launch, const std::string& kernel,
                                                  std::size_t samples, int launches);

  Gpu& gpu_;
  std::stop_token stop_;
  cuda::Module module_ = nullptr;
  std::map<std::string, cuda::Function> functions_;
  std::vector<cuda::Event> events_;
  std::int64_t buffer_bytes_ = 0;
  cuda::Pointer from_ = 0;
  cuda::Pointer to_ = 0;
  cuda::Pointer work_ = 0;
};

}  // namespace kernelpro
