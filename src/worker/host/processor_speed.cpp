#include "worker/host/processor_speed.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace kernelpro {

namespace {

// Of this thread alone: others may be at work here.
std::int64_t thread_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

double measure_gigahertz() {
  constexpr int tries = 8;
  constexpr int turns = 5'000;
  constexpr int additions = 64;
  double best = 0;
  for (int i = 0; i < tries; ++i) {
    std::uint64_t value = 1;
    const std::int64_t start = thread_ns();
    for (int turn = 0; turn < turns; ++turn) {
#if defined(__x86_64__)
      __asm__ volatile(".rept 64\n\tadd $3, %0\n\t.endr" : "+r"(value));
#else
      __asm__ volatile(".rept 64\n\tadd %0, %0, #3\n\t.endr" : "+r"(value));
#endif
    }
    const auto spent = static_cast<double>(thread_ns() - start);
    best = std::max(best, spent > 0 ? turns * additions / spent : 0);
  }
  return best;
}

int widest_vector_bits() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return 512;
  }
  return __builtin_cpu_supports("avx2") ? 256 : 128;
#else
  return 128;
#endif
}

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(CPU_COUNT(&set), 1) : 1;
}

}  // namespace kernelpro
