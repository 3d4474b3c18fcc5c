#include "worker/judge/light.hpp"

#include <algorithm>

namespace kernelpro {

Roofline roofline(const Task& task, const Axes& axes, const Ceilings& ceilings) {
  const Work work = work_at(task, axes);
  const double bandwidth = bandwidth_at(ceilings, work.written_share);
  const double rate = best_flops(ceilings, contract_type(task) == DType::f64 ? "f64" : "f32");
  const double memory_ns = bandwidth > 0 ? 1e9 * work.bytes / bandwidth : 0;
  const double compute_ns = rate > 0 ? 1e9 * work.flops / rate : 0;
  return {std::max(memory_ns, compute_ns), memory_ns >= compute_ns ? "memory" : "compute"};
}

double arithmetic_floor_ns(const Task& task, const Axes& axes, const Ceilings& ceilings) {
  double rate = 0;
  for (const char* const type : {"f64", "f32", "f16"}) {
    rate = std::max(rate, best_flops(ceilings, type));
  }
  for (const char* const type : {"f64", "tf32", "f16", "bf16", "i8"}) {
    rate = std::max(rate, best_tensor_flops(ceilings, type));
  }
  return rate > 0 ? 1e9 * work_at(task, axes).flops / rate : 0;
}

double physical_floor_ns(const Task& task, const Axes& axes, int calls, std::int64_t cache_bytes,
                         const Ceilings& ceilings) {
  const double bandwidth = best_bandwidth(ceilings);
  const double round = calls * work_at(task, axes).bytes;
  const double cold = round - static_cast<double>(cache_bytes);
  return bandwidth > 0 && cold > 0 ? 1e9 * cold / bandwidth / calls : 0;
}

}  // namespace kernelpro
