// What a machine or a GPU can do at most, measured on it.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

// One ceiling: the median over repeats, with the spread (5th to 95th percentile).
struct Ceiling {
  std::string name;  // "read", "write", "copy", "triad", "fma_f32", …: docs/worker.md lists them
  std::string unit;  // "GB/s", "GFLOP/s"; of a GPU also "GOP/s", "us", "W"
  int threads = 1;   // 0: a GPU, all of it
  double median = 0;
  double low = 0;
  double high = 0;
};

struct Ceilings {
  // The key they are cached under: processor, cores, kernel, compiler; or GPU, driver, compiler.
  std::string machine;
  std::vector<Ceiling> list;
};

// The ceiling `name` at `threads` threads; nullptr when it was not measured.
[[nodiscard]] const Ceiling* find_ceiling(const Ceilings& ceilings, const std::string& name,
                                          int threads);

// The best measured high of read, write, copy and triad, over every thread count, in bytes per
// second; 0 when none.
[[nodiscard]] double best_bandwidth(const Ceilings& ceilings);

// The bandwidth for traffic of which that share is written: between the best highs of read (0),
// triad (a third), copy (a half) and write (1), as far as they were measured; 0 when none was.
[[nodiscard]] double bandwidth_at(const Ceilings& ceilings, double written_share);

// The best measured high of fma in that type ("f32" or "f64"; of a GPU also "f16"), in operations
// per second; 0 when it was not measured.
[[nodiscard]] double best_flops(const Ceilings& ceilings, const std::string& type);

// The same of a GPU's tensor cores ("f16", "bf16", "tf32", "f64", "i8").
[[nodiscard]] double best_tensor_flops(const Ceilings& ceilings, const std::string& type);

}  // namespace kernelpro
