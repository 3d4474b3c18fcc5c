#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "coordinator/report/export.hpp"
#include "coordinator/report/export_parts.hpp"
#include "coordinator/report/torch_build.hpp"
#include "coordinator/report/torch_calls.hpp"
#include "coordinator/report/torch_modules.hpp"
#include "coordinator/report/torch_problem.hpp"

namespace kernelpro::report {

namespace {

using nlohmann::json;

constexpr std::size_t hash_digits = 12;

bool is_cuda(const Certificate& certificate) {
  return certificate.candidate.backend == Backend::cuda;
}

const char* source_name(const Certificate& certificate) {
  return is_cuda(certificate) ? "candidate.cu" : "candidate.cpp";
}

// "90a" of "-gencode=arch=compute_90a,code=sm_90a".
std::string architecture(const BuildRecord& build) {
  constexpr std::string_view before = "code=sm_";
  for (const std::string& flag : build.flags) {
    if (const std::size_t at = flag.find(before); at != std::string::npos) {
      return flag.substr(at + before.size());
    }
  }
  return "";
}

// [9, 0] of "90a".
Result<json> capability(const Certificate& certificate) {
  const std::string name = architecture(certificate.build);
  const std::string digits = name.substr(0, name.find_first_not_of("0123456789"));
  if (digits.size() < 2 || digits.size() > 4) {
    return make_error(
        ErrorKind::bad_input,
        "its certificate's build names no architecture (-gencode=...,code=sm_90a), so "
        "the device it was judged on is not known",
        certificate.task.name);
  }
  const int number = std::stoi(digits);
  return json{number / 10, number % 10};
}

// The flags for the linker stand behind the source, and begin with this.
bool begins_linking(const std::string& flag) {
  return flag == "-Xlinker" || flag.starts_with("-Wl,");
}

Result<json> tensors_json(const std::vector<TensorSpec>& tensors, const Axes& axes) {
  json out = json::array();
  for (const TensorSpec& tensor : tensors) {
    KP_LET(const std::vector<std::int64_t> shape, evaluate_shape(tensor.shape, axes));
    out.push_back({{"name", tensor.name},
                   {"dtype", std::string(name_of(tensor.dtype))},
                   {"shape", shape},
                   {"constant", tensor.constant}});
  }
  return out;
}

// What forward() is called with, in order: the index of an input, or a number as text. The task
// names them after their places: input_0, scalar_1.
Result<json> arguments_json(const Task& task) {
  json out = json::array();
  std::size_t inputs = 0;
  std::size_t scalars = 0;
  for (;; ++inputs) {
    while (scalars < task.scalars.size() &&
           task.scalars[scalars].name == fmt::format("scalar_{}", out.size())) {
      out.push_back(fmt::format("{}", task.scalars[scalars].low));
      ++scalars;
    }
    if (inputs >= task.inputs.size() ||
        task.inputs[inputs].name != fmt::format("input_{}", out.size())) {
      break;
    }
    out.push_back(inputs);
  }
  if (scalars < task.scalars.size()) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("its scalar '{}' does not say which argument of forward() it is; "
                                  "inputs and scalars are to be named as `task new --kernelbench` "
                                  "does, input_0, scalar_1",
                                  task.scalars[scalars].name),
                      task.name);
  }
  return out;
}

Result<Axes> judged_axes(const Certificate& certificate) {
  const std::vector<Axes>& shapes = timed_shapes(certificate.task, certificate.candidate.backend);
  if (shapes.size() != 1) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("its task has {} timed shapes; a PyTorch module has one", shapes.size()),
        certificate.task.name);
  }
  return complete_axes(certificate.task, shapes.front());
}

// Of the task's shapes and types.
Status add_tensors(const Certificate& certificate, json& spec) {
  const Task& task = certificate.task;
  KP_LET(const Axes axes, judged_axes(certificate));
  Result<json> inputs = tensors_json(task.inputs, axes);
  Result<json> outputs = tensors_json(task.outputs, axes);
  Result<json> arguments = arguments_json(task);
  for (const Result<json>* part : {&inputs, &outputs, &arguments}) {
    if (!*part) {
      return part->error();
    }
  }
  json scalars = json::array();
  for (const ScalarSpec& scalar : task.scalars) {
    scalars.push_back(fmt::format("{}", scalar.low));
  }
  spec["inputs"] = std::move(*inputs);
  spec["outputs"] = std::move(*outputs);
  spec["arguments"] = std::move(*arguments);
  spec["scalars"] = std::move(scalars);
  spec["axes"] = axis_values(task, axes);
  return {};
}

// What the Python needs to know of a certificate.
Result<json> torch_spec(const Certificate& certificate) {
  const std::vector<std::string>& all = certificate.build.flags;
  const auto linking = std::ranges::find_if(all, begins_linking);
  json spec = {
      {"name", plain_name(certificate.task.name)},
      {"backend", name_of(certificate.candidate.backend)},
      {"source", source_name(certificate)},
      {"compiler", certificate.build.compiler},
      {"flags", std::vector<std::string>(all.begin(), linking)},
      {"link", std::vector<std::string>(linking, all.end())},
      {"architecture", architecture(certificate.build)},
  };
  for (const IncludedLibrary& library : certificate.build.includes) {
    spec["includes"][library.name] = include_variable(library);
  }
  if (is_cuda(certificate)) {
    KP_LET(json found, capability(certificate));
    spec["capability"] = std::move(found);
  }
  KP_TRY(add_tensors(certificate, spec));
  const std::string identity =
      spec.dump(-1, ' ', false, json::error_handler_t::replace) + certificate.candidate.source;
  spec["operator"] = fmt::format("kernelpro_{}_{}", plain_name(certificate.task.name),
                                 sha256(identity).substr(0, hash_digits));
  return spec;
}

std::string spec_text(const json& spec) {
  return spec.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string heading(const Certificate& certificate) {
  return fmt::format("# {}: {}\n# Made and judged by KernelPro {} on {}; see certificate.json.\n",
                     comment_text(certificate.task.name), comment_text(certificate.candidate.name),
                     comment_text(certificate.program_version), comment_text(certificate.date));
}

const std::string& problem_text(const Task& task) {
  return task.files.at(task.reference.file);
}

// The Python of both exports: builds a kernel and calls it on tensors. It has to run in the
// benchmark's own namespace, hence the names, and to do without what the benchmark's checks take
// for a way around the kernel: exception handlers, threads.
std::string torch_loader() {
  return std::string(torch_build).append(torch_calls).append(torch_problem);
}

std::string assignment(std::string_view name, std::string_view text) {
  return fmt::format("{} = {}\n\n", name, python_literal(text));
}

}  // namespace

Result<std::vector<ExportFile>> benchmark_files(const Certificate& certificate,
                                                const std::string& header) {
  KP_LET(const json spec, torch_spec(certificate));
  std::string text = heading(certificate);
  text += torch_loader();
  text += "\n\n# ---- the kernel, its interface and the problem ----\n\n";
  text += fmt::format("_KP_SPEC = json.loads({})\n\n", python_literal(spec_text(spec)));
  text += assignment("_KP_SOURCE", certificate.candidate.source);
  text += assignment("_KP_HEADER", header);
  text += assignment("_KP_PROBLEM_TEXT", problem_text(certificate.task));
  text += benchmark_module;
  return std::vector<ExportFile>{{"README.md", benchmark_readme(certificate)},
                                 certificate_file(certificate),
                                 {"model_new.py", std::move(text)}};
}

Result<std::vector<ExportFile>> package_files(const Certificate& certificate,
                                              const std::string& header) {
  if (certificate.task.inputs.empty()) {
    return make_error(ErrorKind::bad_input,
                      "it has no tensors as inputs, so an operator could not tell its device",
                      certificate.task.name);
  }
  KP_LET(const json spec, torch_spec(certificate));
  const std::string package = plain_name(certificate.task.name) + "_op";
  const std::filesystem::path folder = package;
  std::string test(package_test);
  constexpr std::string_view place = "@PACKAGE@";
  test.replace(test.find(place), place.size(), package);
  return std::vector<ExportFile>{
      {"README.md", package_readme(certificate, package)},
      certificate_file(certificate),
      {"test_op.py", std::move(test)},
      {folder / "__init__.py", heading(certificate) + std::string(package_module)},
      {folder / source_name(certificate), certificate.candidate.source},
      {folder / "kernelpro" / "candidate.h", header},
      {folder / "loader.py", heading(certificate) + torch_loader()},
      {folder / "problem.py", problem_text(certificate.task)},
      {folder / "spec.json", spec_text(spec)},
  };
}

}  // namespace kernelpro::report
