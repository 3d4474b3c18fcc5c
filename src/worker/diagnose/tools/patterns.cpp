#include "worker/diagnose/tools/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "worker/diagnose/tools/accesses.hpp"

namespace kernelpro {

CodePattern pattern(const CodeFacts& code, const char* name) {
  if (!code.patterns) {
    return {};
  }
  const auto found = code.patterns->find(name);
  return found == code.patterns->end() ? CodePattern() : found->second;
}

void need_patterns(const CodeFacts& code, Evidence& evidence) {
  if (code.counted && !code.patterns) {
    evidence.missing("the machine code was read by an older version");
  }
}

void need_samples(Evidence& evidence) {
  (void)evidence.stalled({});
}

double sample_share(const KernelProfile& kernel, double samples) {
  double all = 0;
  for (const auto& [reason, count] : kernel.stalls) {
    all += count;
  }
  return all > 0 ? std::clamp(samples / all, 0.0, 1.0) : 0;
}

double threads_of_block(const KernelProfile& kernel) {
  double threads = 1;
  for (const std::int64_t extent : kernel.block) {
    threads *= static_cast<double>(std::max<std::int64_t>(1, extent));
  }
  return threads;
}

double polling_share(const KernelProfile& kernel, const CodeFacts& code) {
  const double looks = sample_share(kernel, pattern(code, "spin").samples);
  if (looks <= 0) {
    return 0;
  }
  const auto barrier = kernel.stalls.find("barrier");
  const double waits = barrier == kernel.stalls.end() ? 0 : sample_share(kernel, barrier->second);
  const double at_fences = sample_share(kernel, pattern(code, "fence").samples);
  constexpr double threads_of_warp = 32;
  const double others = std::ceil(threads_of_block(kernel) / threads_of_warp) - 1;
  return std::min(1.0, looks + std::min(waits, others * (looks + at_fences)));
}

double share_of_other_waits(Evidence& evidence) {
  return evidence.stalled({"long_scoreboard", "lg_throttle", "tex_throttle", "barrier", "membar",
                           "drain", "sleeping", "gmma"});
}

bool polls(const KernelProfile& kernel, const Thresholds& limits) {
  if (!kernel.code) {
    return false;
  }
  return polling_share(kernel, *kernel.code) >= limits.order_share;
}

bool reads_past_l1(const CodeFacts& code) {
  const double reads = requests(code, [](const MemoryInstruction& access) {
    return access.space == Space::global &&
           is_one_of(access.access, {Access::load, Access::atomic});
  });
  const double past = pattern(code, "fresh_load").begun + pattern(code, "atomic_load").begun;
  return past > 0 && past >= reads / 2;
}

bool loads_again(const CodeFacts& code) {
  const double loads = requests(code, [](const MemoryInstruction& access) {
    return access.space == Space::global && access.access == Access::load;
  });
  const double again = pattern(code, "reload").begun;
  return again > 0 && again >= loads / 2;
}

}  // namespace kernelpro
