// What this machine can do at most, measured on it.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

// One ceiling: the median over repeats, with the spread (5th to 95th percentile).
struct Ceiling {
  std::string name;  // "read", "write", "copy", "triad", "fma_f32", "fma_f64"
  std::string unit;  // "GB/s" or "GFLOP/s"
  int threads = 1;
  double median = 0;
  double low = 0;
  double high = 0;
};

struct Ceilings {
  std::string machine;  // the key they are cached under: processor, cores, kernel, compiler
  std::vector<Ceiling> list;
};

// The ceiling `name` at `threads` threads; nullptr when it was not measured.
[[nodiscard]] const Ceiling* find_ceiling(const Ceilings& ceilings, const std::string& name,
                                          int threads);

// The best measured high of read, write, copy and triad, over every thread count, in bytes per
// second; 0 when none.
[[nodiscard]] double best_bandwidth(const Ceilings& ceilings);

// The best measured high of fma in that type ("f32" or "f64"), in operations per second.
[[nodiscard]] double best_flops(const Ceilings& ceilings, const std::string& type);

}  // namespace kernelpro
