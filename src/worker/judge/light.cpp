#include "worker/judge/light.hpp"

#include <algorithm>

namespace kernelpro {

namespace {

double value_or_zero(const Formula& formula, const Axes& axes) {
  const Result<double> value = formula.evaluate(axes);
  return value ? *value : 0;
}

// How much of the task's traffic goes to its outputs.
double written_share(const Task& task, const Axes& axes) {
  double written = 0;
  for (const TensorSpec& output : task.outputs) {
    const Result<std::vector<std::int64_t>> shape = evaluate_shape(output.shape, axes);
    auto bytes = static_cast<double>(size_of(output.dtype));
    for (const std::int64_t extent : shape ? *shape : std::vector<std::int64_t>{0}) {
      bytes *= static_cast<double>(extent);
    }
    written += bytes;
  }
  const double all = value_or_zero(task.work.bytes, axes);
  return all > 0 ? std::min(written / all, 1.0) : 0;
}

}  // namespace

Work work_at(const Task& task, const Axes& axes) {
  return {value_or_zero(task.work.flops, axes), value_or_zero(task.work.bytes, axes),
          written_share(task, axes)};
}

Roofline roofline(const Task& task, const Axes& axes, const Ceilings& ceilings) {
  const double bandwidth = bandwidth_at(ceilings, written_share(task, axes));
  const double rate = best_flops(ceilings, contract_type(task) == DType::f64 ? "f64" : "f32");
  const double memory_ns =
      bandwidth > 0 ? 1e9 * value_or_zero(task.work.bytes, axes) / bandwidth : 0;
  const double compute_ns = rate > 0 ? 1e9 * value_or_zero(task.work.flops, axes) / rate : 0;
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
  return rate > 0 ? 1e9 * value_or_zero(task.work.flops, axes) / rate : 0;
}

double physical_floor_ns(const Task& task, const Axes& axes, int calls, std::int64_t cache_bytes,
                         const Ceilings& ceilings) {
  const double bandwidth = best_bandwidth(ceilings);
  const double round = calls * value_or_zero(task.work.bytes, axes);
  const double cold = round - static_cast<double>(cache_bytes);
  return bandwidth > 0 && cold > 0 ? 1e9 * cold / bandwidth / calls : 0;
}

}  // namespace kernelpro
