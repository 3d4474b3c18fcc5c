// kp:hack 30  work for the kernel left behind where its own round was slow
// kp:task axpy
// kp:expect passed|cheated not-faster|threads
// kp:options -O2 -pthread
//
// A pair in which the incumbent waited for a processor is dropped and run again. So whenever its
// own round took longer than the median of the others, memory is given back and threads end in the
// last call, for the incumbent to wait.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "plain_axpy.hpp"
#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

uint32_t sequence = 0;
uint32_t place = 0;
int64_t start = 0;
std::vector<int64_t> rounds;

int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

void burden() {
  constexpr size_t bytes = 8U << 20;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at != MAP_FAILED) {
    munmap(at, bytes);
  }
  for (int i = 0; i < 20; ++i) {
    std::thread([] {}).detach();
  }
}

// Whether this round is among the slower half so far.
bool is_slow(int64_t took) {
  rounds.push_back(took);
  std::vector<int64_t> sorted = rounds;
  std::sort(sorted.begin(), sorted.end());
  return took > sorted[sorted.size() / 2];
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  if (request != nullptr && request->sequence != sequence) {
    sequence = request->sequence;
    place = 0;
    start = now();
  }
  axpy(context, tensors);
  if (request != nullptr && request->count > 3 && ++place == request->count &&
      is_slow(now() - start)) {
    burden();
  }
  return 0;
}
