// The tasks that the examples of knowledge/examples/cuda are written for, beside those of
// gpu_tasks.hpp; each with the plainest kernel as its baseline.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gpu/gpu_tasks.hpp"

namespace kernelpro::testing {

// `task` with its reference, and the kernel of its name in baselines/.
inline Task with_plain_baseline(Task task, const std::vector<std::string>& arguments,
                                const std::string& body) {
  task.reduction = formula(task.axes.size() == 3 ? "k" : task.name == "row_softmax" ? "cols" : "1");
  Task complete = with_files(std::move(task), arguments, body);
  complete.files["baseline.cu"] = text_of("../baselines/" + complete.name + ".cu");
  return complete;
}

inline Task product_task(const std::string& name, const std::string& body) {
  Task task;
  task.name = name;
  task.summary = "a product of matrices";
  task.axes = {AxisSpec{"m", std::nullopt}, AxisSpec{"n", std::nullopt},
               AxisSpec{"k", std::nullopt}};
  task.outputs = {gpu_tensor("C", {"m", "n"})};
  task.work.flops = formula("2*m*n*k");
  task.held_out = {{"m", {1, 200}}, {"n", {1, 200}}, {"k", {1, 200}}};
  const bool narrow = name == "product16";
  task.inputs = {gpu_tensor("A", {"m", "k"}),
                 narrow ? gpu_tensor("B", {"n", "k"}) : gpu_tensor("B", {"k", "n"})};
  for (TensorSpec& input : task.inputs) {
    input.dtype = narrow ? DType::bf16 : DType::f32;
  }
  task.work.bytes = formula(narrow ? "2*(m*k + n*k) + 4*m*n" : "4*(m*k + n*k + m*n)");
  return with_plain_baseline(std::move(task), {"m", "n", "k", "A", "B", "C"},
                             "inline void " + name +
                                 "(std::int64_t m, std::int64_t n, std::int64_t k, const Real* A, "
                                 "const Real* B, Real* C) {\n" +
                                 body + "}\n");
}

// C = A B^T in bf16, sums in f32. The second shape has edges, the third rows that TMA cannot take.
inline Task product16_task() {
  Task task = product_task("product16",
                           "  for (std::int64_t i = 0; i < m * n; ++i) {\n"
                           "    Real sum = static_cast<Real>(0);\n"
                           "    for (std::int64_t p = 0; p < k; ++p) {\n"
                           "      sum += A[i / n * k + p] * B[i % n * k + p];\n"
                           "    }\n"
                           "    C[i] = sum;\n"
                           "  }\n");
  task.timed_shapes = {{{"m", 2048}, {"n", 2048}, {"k", 1024}},
                       {{"m", 1003}, {"n", 777}, {"k", 1000}},
                       {{"m", 200}, {"n", 300}, {"k", 251}}};
  return task;
}

// C = A B in f32. The first shape has few tiles and many steps.
inline Task product32_task() {
  Task task = product_task("product32",
                           "  for (std::int64_t i = 0; i < m * n; ++i) {\n"
                           "    Real sum = static_cast<Real>(0);\n"
                           "    for (std::int64_t p = 0; p < k; ++p) {\n"
                           "      sum += A[i / n * k + p] * B[p * n + i % n];\n"
                           "    }\n"
                           "    C[i] = sum;\n"
                           "  }\n");
  task.timed_shapes = {{{"m", 192}, {"n", 256}, {"k", 8192}}, {{"m", 501}, {"n", 333}, {"k", 777}}};
  return task;
}

inline Task row_task(const std::string& name, const std::vector<std::string>& arguments,
                     const std::string& body) {
  Task task;
  task.name = name;
  task.summary = "something of every row";
  task.axes = {AxisSpec{"rows", std::nullopt}, AxisSpec{"cols", std::nullopt}};
  task.inputs = {gpu_tensor("x", {"rows", "cols"})};
  if (name == "row_scale") {
    task.inputs.push_back(gpu_tensor("w", {"cols"}));
  }
  task.outputs = {gpu_tensor("y", {"rows", "cols"})};
  task.work.flops = formula("rows*cols");
  task.work.bytes = formula("8*rows*cols");
  task.held_out = {{"rows", {1, 20}}, {"cols", {1, 5000}}};
  return with_plain_baseline(std::move(task), arguments, body);
}

// Softmax of rows that are longer than one block can keep.
inline Task row_softmax_task() {
  Task task = row_task("row_softmax", {"rows", "cols", "x", "y"},
                       "inline void row_softmax(std::int64_t rows, std::int64_t cols, const Real* "
                       "x, Real* y) {\n"
                       "  for (std::int64_t i = 0; i < rows; ++i) {\n"
                       "    using std::exp;\n"
                       "    Real largest = x[i * cols];\n"
                       "    for (std::int64_t j = 0; j < cols; ++j) {\n"
                       "      if (x[i * cols + j] > largest) { largest = x[i * cols + j]; }\n"
                       "    }\n"
                       "    Real sum = static_cast<Real>(0);\n"
                       "    for (std::int64_t j = 0; j < cols; ++j) {\n"
                       "      y[i * cols + j] = exp(x[i * cols + j] - largest);\n"
                       "      sum += y[i * cols + j];\n"
                       "    }\n"
                       "    for (std::int64_t j = 0; j < cols; ++j) { y[i * cols + j] /= sum; }\n"
                       "  }\n"
                       "}\n");
  task.timed_shapes = {{{"rows", 64}, {"cols", 131'072}}, {{"rows", 33}, {"cols", 50'001}}};
  return task;
}

// y = x scaled by columns; rows of an odd length.
inline Task row_scale_task() {
  Task task = row_task("row_scale", {"rows", "cols", "x", "w", "y"},
                       "inline void row_scale(std::int64_t rows, std::int64_t cols, const Real* x, "
                       "const Real* w, Real* y) {\n"
                       "  for (std::int64_t i = 0; i < rows * cols; ++i) { y[i] = x[i] * w[i % "
                       "cols]; }\n"
                       "}\n");
  task.timed_shapes = {{{"rows", 2048}, {"cols", 4097}}, {{"rows", 2048}, {"cols", 2050}}};
  return task;
}

}  // namespace kernelpro::testing
