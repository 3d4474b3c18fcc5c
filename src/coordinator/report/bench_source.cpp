#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "coordinator/report/bench_calls.hpp"
#include "coordinator/report/bench_device.hpp"
#include "coordinator/report/bench_rounds.hpp"
#include "coordinator/report/bench_values.hpp"
#include "coordinator/report/export_parts.hpp"

namespace kernelpro::report {

namespace {

std::string_view kind_text(ValueKind kind) {
  switch (kind) {
    case ValueKind::normal:
    case ValueKind::drawn:
      return "normal";
    case ValueKind::uniform:
      return "uniform";
    case ValueKind::index:
      return "index";
    case ValueKind::offsets:
      return "offsets";
    case ValueKind::csr_columns:
      return "csr_columns";
  }
  return "normal";
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "0";
}

std::string list(const std::vector<std::int64_t>& values) {
  return fmt::format("{{{}}}", fmt::join(values, ", "));
}

std::string input_row(const Task& task, const TensorSpec& input) {
  const auto rows = std::ranges::find(task.inputs, input.values.rows_of, &TensorSpec::name);
  const auto rows_of = rows == task.inputs.end() ? 0 : rows - task.inputs.begin();
  return fmt::format("    {{{}, Type::{}, false, Kind::{}, {}, {}, {}}},\n",
                     cpp_literal(input.name), name_of(input.dtype), kind_text(input.values.kind),
                     number(input.values.low), number(input.values.high), rows_of);
}

std::string tensor_table(const Task& task) {
  std::string out = "const std::vector<Tensor> tensors = {\n";
  for (const TensorSpec& input : task.inputs) {
    out += input_row(task, input);
  }
  for (const TensorSpec& output : task.outputs) {
    out += fmt::format("    {{{}, Type::{}, {}, Kind::none, 0, 0, 0}},\n", cpp_literal(output.name),
                       name_of(output.dtype), !output.selects.empty());
  }
  return out + "};\n\n";
}

std::string scalar_table(const Task& task) {
  std::string out = "const std::vector<Scalar> scalars = {\n";
  for (const ScalarSpec& scalar : task.scalars) {
    out += fmt::format("    {{Type::{}, {}, {}}},  // {}\n", name_of(scalar.dtype),
                       number(scalar.low), number(scalar.high), comment_text(scalar.name));
  }
  return out + "};\n\n";
}

bool has_bound(const TensorSpec& tensor) {
  return tensor.values.kind == ValueKind::index || tensor.values.kind == ValueKind::offsets ||
         tensor.values.kind == ValueKind::csr_columns;
}

// Extents and bounds of all tensors at `axes`.
Status add_tensors(const Task& task, const Axes& axes, std::string& extents,
                   std::vector<std::int64_t>& bounds) {
  for (const std::vector<TensorSpec>* tensors : {&task.inputs, &task.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      KP_LET(const std::vector<std::int64_t> shape, evaluate_shape(tensor.shape, axes));
      extents += (extents.empty() ? "" : ", ") + list(shape);
      bounds.push_back(0);
      if (has_bound(tensor)) {
        KP_LET(const std::int64_t bound, tensor.values.bound.evaluate_size(axes));
        bounds.back() = bound;
      }
    }
  }
  return {};
}

// What is drawn for a GPU lies in the host's memory too, so there are fewer sets; the bench flushes
// the GPU's cache itself.
int device_calls(const Task& task, const Axes& axes, int calls) {
  constexpr double most_bytes = 512e6;
  const Result<double> bytes = task.work.bytes.evaluate(axes);
  const double sets = bytes ? most_bytes / std::max(*bytes, 1.0) : 1.0;
  return std::clamp(static_cast<int>(std::min(sets, 1e6)), 1, std::max(calls, 1));
}

Result<std::string> shape_row(const Task& task, const ShapeTiming& timing, bool device) {
  KP_LET(const Axes axes, complete_axes(task, timing.shape));
  std::string extents;
  std::vector<std::int64_t> bounds;
  KP_TRY(add_tensors(task, axes, extents, bounds));
  return fmt::format(
      "    {{{},\n     {},\n     {{{}}},\n     {},\n     {}, {}, {},\n"
      "     {{{}, {}, {}, {}, {}}}}},\n",
      cpp_literal(shape_text(task, axes)), list(axis_values(task, axes)), extents, list(bounds),
      device ? device_calls(task, axes, timing.calls) : std::max(timing.calls, 1),
      timing.flushed && !device, std::max<std::size_t>(timing.candidate_rounds.size(), 1),
      number(timing.candidate_ns), number(timing.incumbent_ns), number(timing.speedup),
      number(timing.speedup_interval.low), number(timing.speedup_interval.high));
}

}  // namespace

Result<std::string> bench_source(const Certificate& certificate) {
  const Task& task = certificate.task;
  const std::string rival = rival_name(certificate);
  const bool device = certificate.candidate.backend == Backend::cuda;
  std::string shapes = "const std::vector<Shape> shapes = {\n";
  for (const ShapeTiming& timing : certificate.verdict.timing.shapes) {
    KP_LET(const std::string row, shape_row(task, timing, device));
    shapes += row;
  }
  shapes += "};\n\n";
  std::string out = fmt::format(
      "// Times libkernel.so against lib{}.so as the certificate was measured: rounds of calls on\n"
      "// buffers that together exceed the caches, in mirrored order, new values in every pair.\n"
      "//   sh build.sh && ./bench [--rounds N] [--threads N]\n"
      "// Exit codes: 0 done, 1 a call failed or the outputs disagree, 2 usage.\n",
      rival);
  out += device ? "#include <cuda_runtime.h>\n" : "";
  out += bench_declarations;
  out += "\n// ---- the task " + std::string(83, '-') + "\n\n" + tensor_table(task) +
         scalar_table(task) + shapes;
  out += fmt::format(
      "constexpr const char* title = {};\n",
      cpp_literal(fmt::format("{}: {} against {} {}", task.name, certificate.candidate.name, rival,
                              certificate.incumbent.name)));
  out += fmt::format("constexpr const char* rival_name = \"{}\";\n", rival);
  out += fmt::format("constexpr std::size_t cache_bytes = {};\n",
                     std::max<std::int64_t>(certificate.machine.cache_bytes, 0));
  out += fmt::format("constexpr int certified_threads = {};\n", certified_threads(certificate));
  out += bench_values;
  out += bench_buffers;
  out += bench_calls;
  out += device ? bench_device_sides : bench_sides;
  out += bench_rounds;
  return out;
}

}  // namespace kernelpro::report
