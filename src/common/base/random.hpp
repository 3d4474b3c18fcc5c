// Counter-based random numbers: value i of stream s is a pure function of (s, i), so any call's
// inputs can be made again from its seed.
#pragma once

#include <cstdint>

namespace kernelpro {

// A seed nobody can foresee, from the kernel.
[[nodiscard]] std::uint64_t secret_seed();

// 64 well-mixed bits of counter `index` in stream `seed` (the splitmix64 finalizer).
[[nodiscard]] constexpr std::uint64_t counter_hash(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// A sequence over counter_hash for code that draws one number after another.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t next() { return counter_hash(seed_, index_++); }
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t seed_;
  std::uint64_t index_ = 0;
};

}  // namespace kernelpro
