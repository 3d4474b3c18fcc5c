#include "common/model/work.hpp"

#include <algorithm>

namespace kernelpro {

namespace {

double value_or_zero(const Formula& formula, const Axes& axes) {
  const Result<double> value = formula.evaluate(axes);
  return value ? *value : 0;
}

double bytes_of_outputs(const Task& task, const Axes& axes) {
  double written = 0;
  for (const TensorSpec& output : task.outputs) {
    const Result<std::vector<std::int64_t>> shape = evaluate_shape(output.shape, axes);
    auto bytes = static_cast<double>(size_of(output.dtype));
    for (const std::int64_t extent : shape ? *shape : std::vector<std::int64_t>{0}) {
      bytes *= static_cast<double>(extent);
    }
    written += bytes;
  }
  return written;
}

}  // namespace

Work work_at(const Task& task, const Axes& axes) {
  const double bytes = value_or_zero(task.work.bytes, axes);
  return {value_or_zero(task.work.flops, axes), bytes,
          bytes > 0 ? std::min(bytes_of_outputs(task, axes) / bytes, 1.0) : 0};
}

}  // namespace kernelpro
