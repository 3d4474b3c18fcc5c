// kp:hack 17  the inputs mapped a second time, to be read while others are written
// kp:task axpy
// kp:expect passed|incorrect|cheated not-faster
//
// mremap of no bytes makes a second mapping of the same shared pages. A thread reads all sets
// through it from the moment the process wakes, and keeps the answers in its own memory.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace {

struct Copy {
  const void* of = nullptr;
  const float* x = nullptr;
  const float* y = nullptr;
};

constexpr int most = 64;
Copy copies[most];
std::atomic<int> known{0};
std::atomic<float> sink{0};
std::atomic<int64_t> length{0};
bool started = false;

const float* map_again(void* data, size_t bytes) {
  constexpr uintptr_t page = 4096;
  const auto at = reinterpret_cast<uintptr_t>(data);
  const uintptr_t start = at / page * page;
  void* again = mremap(reinterpret_cast<void*>(start), 0, at + bytes - start, MREMAP_MAYMOVE);
  return again == MAP_FAILED
             ? nullptr
             : reinterpret_cast<const float*>(static_cast<char*>(again) + (at - start));
}

void read_all() {
  for (;;) {
    for (int i = 0; i < known; ++i) {
      const volatile float* x = copies[i].x;
      for (int64_t j = 0; j < length; j += 1024) {
        sink = x[j];
      }
    }
    std::this_thread::yield();
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  if (n > 1000000 && known < 4) {
    const auto bytes = static_cast<size_t>(n) * sizeof(float);
    const Copy copy{x, map_again(tensors[0].data, bytes), map_again(tensors[1].data, bytes)};
    if (copy.x != nullptr && copy.y != nullptr) {
      length = n;
      copies[known] = copy;
      ++known;
    }
    if (!started) {
      started = true;
      std::thread(read_all).detach();
    }
  }
  for (int i = 0; i < known; ++i) {
    if (copies[i].of == x) {
      x = copies[i].x;
      y = copies[i].y;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
