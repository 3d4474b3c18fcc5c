// Tasks for a GPU, small enough to be judged in a moment; their baselines are the honest kernels
// that the candidates start from.
#pragma once

#include <string>
#include <vector>

#include "gpu/gpu_candidate.hpp"
#include "support/small_task.hpp"

namespace kernelpro::testing {

inline TensorSpec gpu_tensor(const std::string& name, const std::vector<std::string>& shape) {
  TensorSpec tensor;
  tensor.name = name;
  for (const std::string& extent : shape) {
    tensor.shape.push_back(formula(extent));
  }
  return tensor;
}

// `task` with the reference `body`, and a CUDA baseline that has no source yet.
inline Task with_files(Task task, const std::vector<std::string>& arguments,
                       const std::string& body) {
  task.family = "test";
  task.reference.file = "reference.hpp";
  task.reference.call = {task.name, arguments};
  task.files["reference.hpp"] = "#include <cmath>\n#include <cstdint>\n" + body;
  ImplementationSpec baseline;
  baseline.name = "naive-cuda";
  baseline.backend = Backend::cuda;
  baseline.file = "baseline.cu";
  baseline.compiler = "nvcc";
  baseline.options = {"-O3"};
  task.baselines = {baseline};
  return task;
}

// `task` with the reference `body` and the honest kernel of its name.
inline Task with_sources(Task task, const std::vector<std::string>& arguments,
                         const std::string& body) {
  task = with_files(std::move(task), arguments, body);
  task.files["baseline.cu"] =
      text_of(task.name + ".cuh") +
      "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {\n"
      "  const Call call = call_of(context, tensors);\n"
      "  return launch(call, call.stream);\n"
      "}\n";
  return task;
}

// y[i] = a x[i] + b z[i] over four million elements: all of it is memory traffic.
inline Task stream_task() {
  Task task;
  task.name = "stream";
  task.summary = "y = a x + b z";
  task.axes = {AxisSpec{"n", std::nullopt}};
  task.inputs = {gpu_tensor("x", {"n"}), gpu_tensor("z", {"n"})};
  task.outputs = {gpu_tensor("y", {"n"})};
  task.scalars = {ScalarSpec{"a", DType::f32, 0.5, 2.0}, ScalarSpec{"b", DType::f32, -2.0, -0.5}};
  task.reduction = formula("2");
  task.work.flops = formula("3*n");
  task.work.bytes = formula("12*n");
  task.timed_shapes = {{{"n", 1 << 22}}};
  task.held_out = {{"n", {1, 5000}}};
  return with_sources(std::move(task), {"n", "a", "b", "x", "z", "y"},
                      "inline void stream(std::int64_t n, Real a, Real b, const Real* x, "
                      "const Real* z, Real* y) {\n"
                      "  for (std::int64_t i = 0; i < n; ++i) { y[i] = a * x[i] + b * z[i]; }\n"
                      "}\n");
}

// A matrix of constant weights times a vector.
inline Task rows_task() {
  Task task;
  task.name = "rows";
  task.summary = "y = weights x";
  task.axes = {AxisSpec{"m", std::nullopt}, AxisSpec{"k", std::nullopt}};
  task.inputs = {gpu_tensor("weights", {"m", "k"}), gpu_tensor("x", {"k"})};
  task.inputs[0].constant = true;
  task.outputs = {gpu_tensor("y", {"m"})};
  task.reduction = formula("k");
  task.work.flops = formula("2*m*k");
  task.work.bytes = formula("4*(m*k + m + k)");
  task.timed_shapes = {{{"m", 2048}, {"k", 2048}}};
  task.held_out = {{"m", {2, 300}}, {"k", {1, 1500}}};
  return with_sources(
      std::move(task), {"m", "k", "weights", "x", "y"},
      "inline void rows(std::int64_t m, std::int64_t k, const Real* weights, "
      "const Real* x, Real* y) {\n"
      "  for (std::int64_t i = 0; i < m; ++i) {\n"
      "    Real sum = static_cast<Real>(0);\n"
      "    for (std::int64_t j = 0; j < k; ++j) { sum += weights[i * k + j] * x[j]; "
      "}\n"
      "    y[i] = sum;\n"
      "  }\n"
      "}\n");
}

// Where the smallest value of each row is: an index, judged by the value it selects. Timed at a
// size where the reference is asked for single rows only.
inline Task nearest_task() {
  Task task;
  task.name = "nearest";
  task.summary = "index of the smallest value of each row";
  task.axes = {AxisSpec{"n", std::nullopt}, AxisSpec{"k", std::nullopt}};
  task.inputs = {gpu_tensor("values", {"n", "k"})};
  task.outputs = {gpu_tensor("labels", {"n"})};
  task.outputs[0].dtype = DType::i32;
  task.outputs[0].selects = "value";
  task.selections = {Selection{"value", {formula("n"), formula("k")}, true}};
  task.reduction = formula("1");
  task.work.flops = formula("n*k");
  task.work.bytes = formula("4*(n*k + n)");
  task.timed_shapes = {{{"n", 131'072}, {"k", 64}}};
  task.held_out = {{"n", {1, 500}}, {"k", {1, 40}}};
  return with_sources(std::move(task), {"n", "k", "values", "value"},
                      "inline void nearest(std::int64_t n, std::int64_t k, const Real* values, "
                      "Real* value) {\n"
                      "  for (std::int64_t i = 0; i < n * k; ++i) { value[i] = values[i]; }\n"
                      "}\n");
}

// A recursive filter along many columns: a chain of steps on few blocks, so that a call takes long,
// more than twice 29.4 us, and leaves most of the GPU idle.
inline Task filter_task() {
  Task task;
  task.name = "filter";
  task.summary = "y[j] = a y[j - 1] + x[j] along each column";
  task.axes = {AxisSpec{"steps", std::nullopt}, AxisSpec{"n", std::nullopt}};
  task.inputs = {gpu_tensor("x", {"steps", "n"})};
  task.outputs = {gpu_tensor("y", {"steps", "n"})};
  task.scalars = {ScalarSpec{"a", DType::f32, 0.5, 0.95}};
  task.reduction = formula("steps");
  task.work.flops = formula("2*steps*n");
  task.work.bytes = formula("8*steps*n");
  task.timed_shapes = {{{"steps", 384}, {"n", 4096}}};
  task.held_out = {{"steps", {2, 300}}, {"n", {1, 500}}};
  return with_sources(
      std::move(task), {"steps", "n", "a", "x", "y"},
      "inline void filter(std::int64_t steps, std::int64_t n, Real a, const Real* x, Real* y) {\n"
      "  for (std::int64_t i = 0; i < n; ++i) {\n"
      "    Real last = static_cast<Real>(0);\n"
      "    for (std::int64_t j = 0; j < steps; ++j) {\n"
      "      last = a * last + x[j * n + i];\n"
      "      y[j * n + i] = last;\n"
      "    }\n"
      "  }\n"
      "}\n");
}

// The length of each row, times a gain of its own: a sum of two million terms, for which the bound
// is wide, at a size where the reference is too slow to be asked.
inline Task spread_task() {
  Task task;
  task.name = "spread";
  task.summary = "y = gain times the root of the mean of the squares of a row";
  task.axes = {AxisSpec{"m", std::nullopt}, AxisSpec{"k", std::nullopt}};
  task.inputs = {gpu_tensor("x", {"m", "k"}), gpu_tensor("gain", {"m"})};
  task.outputs = {gpu_tensor("y", {"m"})};
  task.reduction = formula("k");
  task.work.flops = formula("2*m*k");
  task.work.bytes = formula("4*(m*k + 2*m)");
  task.timed_shapes = {{{"m", 8}, {"k", 1 << 21}}};
  task.held_out = {{"m", {2, 9}}, {"k", {1, 20'000}}};
  return with_sources(std::move(task), {"m", "k", "x", "gain", "y"},
                      "inline void spread(std::int64_t m, std::int64_t k, const Real* x, "
                      "const Real* gain, Real* y) {\n"
                      "  using std::sqrt;\n"
                      "  for (std::int64_t i = 0; i < m; ++i) {\n"
                      "    Real sum = static_cast<Real>(0);\n"
                      "    for (std::int64_t j = 0; j < k; ++j) { sum += x[i * k + j] * "
                      "x[i * k + j]; }\n"
                      "    y[i] = gain[i] * sqrt(sum / static_cast<Real>(k));\n"
                      "  }\n"
                      "}\n");
}

inline std::vector<Task> gpu_tasks() {
  return {stream_task(), rows_task(), nearest_task(), filter_task(), spread_task()};
}

}  // namespace kernelpro::testing
