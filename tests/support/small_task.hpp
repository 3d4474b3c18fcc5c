// A task small enough to be judged in a moment: out[i] from x[i] and y[i], in single precision.
#pragma once

#include <string>

#include "common/model/candidate.hpp"
#include "common/model/task.hpp"

namespace kernelpro::testing {

// A formula that is known to parse.
inline Formula formula(const std::string& text) {
  return *Formula::parse(text);
}

// kp_launch for the small task: `before` runs in each call, then the loop with `expression`.
// `declarations` stand at file scope.
inline std::string small_source(const std::string& expression, const std::string& before = {},
                                const std::string& declarations = {}) {
  return "#include <kernelpro/candidate.h>\n" + declarations +
         "\nextern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, "
         "int32_t) {\n"
         "  const int64_t n = context->axes[0];\n"
         "  const float* x = static_cast<const float*>(tensors[0].data);\n"
         "  const float* y = static_cast<const float*>(tensors[1].data);\n"
         "  float* out = static_cast<float*>(tensors[2].data);\n" +
         before + "\n  for (int64_t i = 0; i < n; ++i) { out[i] = " + expression +
         "; }\n"
         "  (void)x; (void)y;\n"
         "  return 0;\n}\n";
}

inline Candidate small_candidate(const std::string& source) {
  Candidate candidate;
  candidate.name = "small";
  candidate.source = source;
  candidate.options = {"-O2"};
  return candidate;
}

// `expression` is C++ in x[i] and y[i], for the reference (over Real) and the baseline alike.
inline Task small_task(const std::string& expression = "x[i] + y[i]") {
  Task task;
  task.name = "small";
  task.family = "vector";
  task.summary = "out[i] = " + expression;
  task.axes = {AxisSpec{"n", std::nullopt}};
  TensorSpec tensor;
  tensor.shape = {formula("n")};
  for (const char* name : {"x", "y"}) {
    tensor.name = name;
    task.inputs.push_back(tensor);
  }
  tensor.name = "out";
  task.outputs.push_back(tensor);
  task.reduction = formula("2");
  task.work.flops = formula("n");
  task.work.bytes = formula("12*n");
  task.timed_shapes = {{{"n", 20'000}}};
  task.held_out = {{"n", {1, 500}}};
  task.reference.file = "reference.hpp";
  task.reference.call = {"small", {"n", "x", "y", "out"}};
  task.files["reference.hpp"] =
      "inline void small(std::int64_t n, const Real* x, const Real* y, Real* out) {\n"
      "  for (std::int64_t i = 0; i < n; ++i) { out[i] = Real(" +
      expression + "); }\n  (void)x; (void)y;\n}\n";
  ImplementationSpec baseline;
  baseline.name = "naive";
  baseline.file = "baseline.cpp";
  baseline.options = {"-O2"};
  task.baselines = {baseline};
  task.files["baseline.cpp"] = small_source(expression);
  return task;
}

}  // namespace kernelpro::testing
