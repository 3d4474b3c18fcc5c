// Memory that moves on a candidate's clock: in one launch, with its own time known.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "worker/cuda/gpu.hpp"
#include "worker/judge/ground.hpp"

namespace kernelpro {

inline constexpr std::size_t chunk_word = 16;  // bytes

// As judge_kernels.cu has it.
struct Chunk {
  cuda::Pointer from = 0;
  cuda::Pointer to = 0;
  std::uint64_t words = 0;
};

// A list of pieces of memory, on the GPU.
class ChunkTable {
 public:
  explicit ChunkTable(Gpu& gpu) : gpu_(&gpu) {}
  ~ChunkTable();
  ChunkTable(const ChunkTable&) = delete;
  ChunkTable& operator=(const ChunkTable&) = delete;

  // What is added from here on belongs to the next set.
  void begin_set() { starts_.push_back(chunks_.size()); }
  // Adds `bytes` (rounded up to 16) in pieces that blocks of threads can share.
  void add(cuda::Pointer from, cuda::Pointer to, std::size_t bytes);
  [[nodiscard]] cuda::Code upload();
  // From now on launches are about one set alone; nothing: about all.
  void narrow(std::optional<int> set) { narrowed_ = set; }
  // Launches a kernel that takes (chunks, count, more...).
  template <typename... More>
  [[nodiscard]] cuda::Code launch(const char* kernel, More... more) const {
    constexpr std::uint64_t threads = 256;
    const std::size_t first = narrowed_ ? start_of(*narrowed_) : 0;
    const std::size_t end = narrowed_ ? start_of(*narrowed_ + 1) : chunks_.size();
    const auto count = static_cast<std::uint64_t>(end - first);
    return count == 0 ? cuda::success
                      : gpu_->launch(kernel, count * threads, table_ + first * sizeof(Chunk), count,
                                     more...);
  }

 private:
  [[nodiscard]] std::size_t start_of(int set) const {
    const auto index = static_cast<std::size_t>(set);
    return index < starts_.size() ? starts_[index] : chunks_.size();
  }

  Gpu* gpu_;
  std::vector<Chunk> chunks_;
  std::vector<std::size_t> starts_;  // of the sets
  std::optional<int> narrowed_;
  cuda::Pointer table_ = 0;
};

// Our own work on a side's clock, timed on the GPU. A candidate can slow it, by kernels that share
// the GPU with it, and never speed it up: so no more is taken off its clock than the work has taken
// at its best, and a little for its own noise.
class TimedCopy {
 public:
  explicit TimedCopy(Gpu& gpu) : gpu_(&gpu) {}
  ~TimedCopy();
  TimedCopy(const TimedCopy&) = delete;
  TimedCopy& operator=(const TimedCopy&) = delete;

  // Enqueues `work` and waits for it. `narrow`: it is about one set, and has its own best.
  [[nodiscard]] cuda::Code run(Caches caches, bool narrow, const std::function<cuda::Code()>& work);
  // How much of the last one is taken off the clock.
  [[nodiscard]] double counted_ns() const { return counted_ns_; }

 private:
  static constexpr double noise_ns = 10e3;

  Gpu* gpu_;
  cuda::Event begin_ = nullptr;
  cuda::Event end_ = nullptr;
  // By what the caches hold afterwards; of all sets, and of one.
  std::array<std::array<double, 3>, 2> best_ns_ = {};
  double counted_ns_ = 0;
};

}  // namespace kernelpro
