// Small valid tasks for the tests of the model.
#pragma once

#include <string>
#include <vector>

#include "common/model/task.hpp"

namespace kernelpro {

inline Formula formula(const std::string& text) {
  return Formula::parse(text).value();
}

inline TensorSpec tensor(const std::string& name, DType dtype,
                         const std::vector<std::string>& shape) {
  TensorSpec spec;
  spec.name = name;
  spec.dtype = dtype;
  for (const std::string& extent : shape) {
    spec.shape.push_back(formula(extent));
  }
  return spec;
}

// What every task needs beside its tensors.
inline Task task_frame(const std::string& name) {
  Task task;
  task.name = name;
  task.files = {{"reference.hpp", "template ..."}, {"baseline.cpp", "int kp_launch ..."}};
  task.reference.file = "reference.hpp";
  task.reference.call.function = name;
  task.baselines = {{"naive", Backend::cpu, "baseline.cpp", "", {}, {}}};
  return task;
}

inline Task gemm_task() {
  Task task = task_frame("gemm");
  task.axes = {{"m", {}}, {"n", {}}, {"k", {}}};
  task.inputs = {tensor("A", DType::f32, {"m", "k"}), tensor("B", DType::f32, {"k", "n"})};
  task.outputs = {tensor("C", DType::f32, {"m", "n"})};
  task.scalars = {{"alpha", DType::f32, 0.5, 2.0}};
  task.reduction = formula("k");
  task.work = {formula("2*m*n*k"), formula("4*(m*k + k*n + m*n)")};
  task.timed_shapes = {{{"m", 64}, {"n", 32}, {"k", 16}}, {{"m", 7}, {"n", 5}, {"k", 3}}};
  task.held_out = {{"m", {1, 40}}, {"n", {1, 40}}, {"k", {1, 40}}};
  task.reference.call.arguments = {"m", "n", "k", "alpha", "A", "B", "C"};
  return task;
}

inline Task spmv_task() {
  Task task = task_frame("spmv");
  task.axes = {{"nnz", formula("rows*per_row")}, {"rows", {}}, {"cols", {}}, {"per_row", {}}};
  task.inputs = {tensor("start", DType::i32, {"rows + 1"}), tensor("column", DType::i32, {"nnz"}),
                 tensor("value", DType::f64, {"nnz"}), tensor("x", DType::f64, {"cols"})};
  task.inputs[0].values.kind = ValueKind::offsets;
  task.inputs[0].values.bound = formula("nnz");
  task.inputs[1].values.kind = ValueKind::csr_columns;
  task.inputs[1].values.bound = formula("cols");
  task.inputs[1].values.rows_of = "start";
  task.outputs = {tensor("y", DType::f64, {"rows"})};
  task.reduction = formula("per_row");
  task.work = {formula("2*nnz"), formula("12*nnz + 8*cols + 12*rows")};
  task.timed_shapes = {{{"rows", 100}, {"cols", 80}, {"per_row", 4}}};
  task.held_out = {{"rows", {1, 50}}, {"cols", {10, 50}}, {"per_row", {1, 5}}};
  task.reference.call.arguments = {"rows", "start", "column", "value", "x", "y"};
  return task;
}

inline Task nearest_task() {
  Task task = task_frame("nearest");
  task.axes = {{"n", {}}, {"k", {}}};
  task.inputs = {tensor("point", DType::f32, {"n"}), tensor("center", DType::f32, {"k"})};
  task.outputs = {tensor("label", DType::i32, {"n"})};
  task.outputs[0].selects = "distance";
  task.selections = {{"distance", {formula("n"), formula("k")}, true}};
  task.reduction = formula("1");
  task.work = {formula("3*n*k"), formula("4*(2*n + k)")};
  task.timed_shapes = {{{"n", 100}, {"k", 8}}};
  task.held_out = {{"n", {1, 50}}, {"k", {1, 9}}};
  task.reference.call.arguments = {"n", "k", "point", "center", "label", "distance"};
  return task;
}

}  // namespace kernelpro
