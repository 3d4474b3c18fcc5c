#include "worker/cuda/timed_copy.hpp"

#include <algorithm>

namespace kernelpro {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;

}  // namespace

ChunkTable::~ChunkTable() {
  if (table_ != 0) {
    gpu_->driver().free(table_);
  }
}

void ChunkTable::add(cuda::Pointer from, cuda::Pointer to, std::size_t bytes) {
  const std::size_t all = (bytes + chunk_word - 1) / chunk_word * chunk_word;
  for (std::size_t at = 0; at < all; at += chunk_bytes) {
    chunks_.push_back({from + at, to + at, std::min(chunk_bytes, all - at) / chunk_word});
  }
}

cuda::Code ChunkTable::upload() {
  if (chunks_.empty()) {
    return cuda::success;
  }
  const std::size_t bytes = chunks_.size() * sizeof(Chunk);
  cuda::Code code = gpu_->driver().allocate(&table_, bytes);
  if (code == cuda::success) {
    code = gpu_->driver().copy_to_device(table_, chunks_.data(), bytes, gpu_->stream());
  }
  return code == cuda::success ? gpu_->synchronize() : code;
}

TimedCopy::~TimedCopy() {
  for (const cuda::Event event : {begin_, end_}) {
    if (event != nullptr) {
      gpu_->driver().event_destroy(event);
    }
  }
}

cuda::Code TimedCopy::run(Caches caches, bool narrow, const std::function<cuda::Code()>& work) {
  const cuda::Driver& driver = gpu_->driver();
  counted_ns_ = 0;
  cuda::Code code = cuda::success;
  for (cuda::Event* event : {&begin_, &end_}) {
    if (code == cuda::success && *event == nullptr) {
      code = driver.event_create(event, 0);
    }
  }
  if (code == cuda::success) {
    code = driver.event_record(begin_, gpu_->stream());
  }
  if (code == cuda::success) {
    code = work();
  }
  if (code == cuda::success) {
    code = driver.event_record(end_, gpu_->stream());
  }
  if (code == cuda::success) {
    code = gpu_->synchronize();
  }
  float milliseconds = 0;
  if (code == cuda::success) {
    code = driver.event_elapsed(&milliseconds, begin_, end_);
  }
  if (code != cuda::success) {
    return code;
  }
  const double took_ns = static_cast<double>(milliseconds) * 1e6;
  double& best_ns = best_ns_[narrow ? 1 : 0][static_cast<std::size_t>(caches)];
  best_ns = best_ns == 0 ? took_ns : std::min(best_ns, took_ns);
  counted_ns_ = std::min(took_ns, best_ns + noise_ns);
  return code;
}

}  // namespace kernelpro
