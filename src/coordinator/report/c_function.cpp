// A kernel as one function that C can call: the task's axes, scalars and tensors as parameters.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "coordinator/report/export_parts.hpp"

namespace kernelpro::report {

namespace {

bool on_gpu(const Certificate& certificate) {
  return certificate.candidate.backend == Backend::cuda;
}

// Whether the kernel may have that optional function of the interface; calls ask whether it has.
bool may_have(const Certificate& certificate, const char* function) {
  return certificate.candidate.source.find(function) != std::string::npos;
}

bool prepares(const Certificate& certificate) {
  return may_have(certificate, "kp_prepare");
}

std::string c_type(DType dtype) {
  const std::string name(cpp_type(dtype));
  return name.starts_with("std::") ? name.substr(5) : name;
}

std::string scalar_type(DType dtype) {
  return is_floating(dtype) && size_of(dtype) < sizeof(float) ? "float" : c_type(dtype);
}

const char* last_parameter(const Certificate& certificate) {
  return on_gpu(certificate) ? "void* kp_stream" : "int32_t kp_threads";
}

// Which tensors a list of parameters has.
enum class Tensors { all, constant };

std::string parameters(const Certificate& certificate, Tensors which) {
  const Task& task = certificate.task;
  std::string out;
  for (const AxisSpec& axis : task.axes) {
    out += axis.derived ? "" : fmt::format("int64_t {}, ", cpp_identifier(axis.name));
  }
  for (const ScalarSpec& scalar : task.scalars) {
    out += fmt::format("{} {}, ", scalar_type(scalar.dtype), cpp_identifier(scalar.name));
  }
  for (const TensorSpec& input : task.inputs) {
    out += which == Tensors::all || input.constant
               ? fmt::format("const {}* {}, ", c_type(input.dtype), cpp_identifier(input.name))
               : "";
  }
  for (const TensorSpec& output : task.outputs) {
    out += which == Tensors::all
               ? fmt::format("{}* {}, ", c_type(output.dtype), cpp_identifier(output.name))
               : "";
  }
  return out + last_parameter(certificate);
}

// What those parameters are passed on as, to a function that has all of them.
std::string arguments(const Certificate& certificate, Tensors which) {
  const Task& task = certificate.task;
  std::string out;
  for (const AxisSpec& axis : task.axes) {
    out += axis.derived ? "" : cpp_identifier(axis.name) + ", ";
  }
  for (const ScalarSpec& scalar : task.scalars) {
    out += cpp_identifier(scalar.name) + ", ";
  }
  for (const TensorSpec& input : task.inputs) {
    out +=
        (which == Tensors::all || input.constant ? cpp_identifier(input.name) : "nullptr") + ", ";
  }
  for (const TensorSpec& output : task.outputs) {
    out += (which == Tensors::all ? cpp_identifier(output.name) : "nullptr") + ", ";
  }
  return out + (on_gpu(certificate) ? "kp_stream" : "kp_threads");
}

std::string block_comment(const std::string& text) {
  std::string out = comment_text(text);
  for (std::size_t at = out.find("*/"); at != std::string::npos; at = out.find("*/", at)) {
    out.insert(at + 1, " ");
  }
  return out;
}

std::string tensor_lines(const Certificate& certificate) {
  std::string out;
  for (const auto* tensors : {&certificate.task.inputs, &certificate.task.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      std::string shape;
      for (const Formula& extent : tensor.shape) {
        shape += (shape.empty() ? "" : " x ") + extent.text();
      }
      const bool half = tensor.dtype == DType::f16 || tensor.dtype == DType::bf16;
      out += fmt::format(" *   {}: {}{}{}{}\n", cpp_identifier(tensor.name),
                         tensors == &certificate.task.outputs ? "output, " : "",
                         half ? fmt::format("bits of {}, ", name_of(tensor.dtype)) : "",
                         block_comment(shape),
                         tensors == &certificate.task.inputs ? ", " + values_text(tensor) : "");
    }
  }
  return out;
}

std::string extents_text(std::size_t place, std::size_t rank) {
  std::vector<std::string> strides(std::max<std::size_t>(rank, 1), "1");
  for (std::size_t axis = strides.size(); axis-- > 1;) {
    const std::string extent = fmt::format("kp_shape_{}[{}]", place, axis);
    strides[axis - 1] = strides[axis] == "1" ? extent : strides[axis] + " * " + extent;
  }
  return fmt::format("{}", fmt::join(strides, ", "));
}

std::string dtype_text(DType dtype) {
  std::string code = dtype == DType::u8 ? "KP_UINT" : "KP_INT";
  if (is_floating(dtype)) {
    code = dtype == DType::bf16 ? "KP_BFLOAT" : "KP_FLOAT";
  }
  return fmt::format("{{{}, {}, 1}}", code, 8 * size_of(dtype));
}

// Statements that describe axes, scalars and tensors.
Result<std::string> described(const Task& task) {
  std::string axes;
  std::string derived;
  for (const AxisSpec& axis : task.axes) {
    if (axis.derived) {
      KP_LET(const std::string value, axis.derived->cpp());
      derived += fmt::format("  const int64_t {} = {};\n", cpp_identifier(axis.name), value);
    }
    axes += (axes.empty() ? "" : ", ") + cpp_identifier(axis.name);
  }
  std::string scalars;
  for (const ScalarSpec& scalar : task.scalars) {
    scalars += fmt::format("{}static_cast<double>({})", scalars.empty() ? "" : ", ",
                           cpp_identifier(scalar.name));
  }
  std::string out = derived + fmt::format(
                                  "  const int64_t kp_axes[] = {{{}}};\n"
                                  "  const double kp_scalars[] = {{{}}};\n",
                                  axes.empty() ? "0" : axes, scalars.empty() ? "0" : scalars);
  std::string rows;
  std::size_t place = 0;
  for (const auto* tensors : {&task.inputs, &task.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      std::string shape;
      for (const Formula& extent : tensor.shape) {
        KP_LET(const std::string value, extent.cpp());
        shape += (shape.empty() ? "" : ", ") + value;
      }
      out +=
          fmt::format("  const int64_t kp_shape_{0}[] = {{{1}}}, kp_strides_{0}[] = {{{2}}};\n",
                      place, shape.empty() ? "1" : shape, extents_text(place, tensor.shape.size()));
      rows +=
          fmt::format("      {{const_cast<{0}*>({1}), {2}, {3}, kp_shape_{4}, kp_strides_{4}}},\n",
                      c_type(tensor.dtype), cpp_identifier(tensor.name), dtype_text(tensor.dtype),
                      tensor.shape.size(), place);
      ++place;
    }
  }
  return out + "  const kp_tensor kp_tensors[] = {\n" + rows + "  };\n";
}

// Memory for the kernel's own use.
std::string memory_functions(const Certificate& certificate, const std::string& name) {
  if (on_gpu(certificate)) {
    return fmt::format(
        "static void* {0}_take(size_t bytes, void* stream) {{\n"
        "  void* memory = nullptr;\n"
        "  const auto at = static_cast<cudaStream_t>(stream);\n"
        "  return bytes > 0 && cudaMallocAsync(&memory, bytes, at) != cudaSuccess ? nullptr : "
        "memory;\n}}\n\n"
        "static void {0}_give(void* memory, void* stream) {{\n"
        "  if (memory != nullptr) {{\n"
        "    cudaFreeAsync(memory, static_cast<cudaStream_t>(stream));\n  }}\n}}\n\n",
        name);
  }
  return fmt::format(
      "static void* {0}_take(size_t bytes, void*) {{\n"
      "  return bytes > 0 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;\n}}\n\n"
      "static void {0}_give(void* memory, void*) {{\n  free(memory);\n}}\n\n",
      name);
}

constexpr const char* weak_function =
    "extern \"C\" __attribute__((weak)) {} {}(const kp_context*, const kp_tensor*, int32_t);\n";

// Where the kernel has state, one function does both: with `kp_preparing`, kp_prepare.
constexpr const char* state_text =
    R"(  kp_call.state_bytes = kp_state != nullptr ? kp_state(&kp_call, kp_tensors, {1}) : 0;
  if (kp_preparing != nullptr) {{
    kp_call.state = {0}_take(kp_call.state_bytes, kp_call.stream);
    if (kp_call.state == nullptr && kp_call.state_bytes > 0) {{
      return -2;
    }}
    const int kp_code = kp_prepare != nullptr ? kp_prepare(&kp_call, kp_tensors, {1}) : 0;
    if (kp_code != 0) {{
      {0}_give(kp_call.state, kp_call.stream);
    }}
    *kp_preparing = kp_code == 0 ? kp_call.state : nullptr;
    return kp_code;
  }}
  kp_call.state = const_cast<void*>(kp_ready);
)";

constexpr const char* workspace_text =
    R"(  kp_call.workspace_bytes = kp_workspace != nullptr ? kp_workspace(&kp_call, kp_tensors, {1}) : 0;
  kp_call.workspace = {0}_take(kp_call.workspace_bytes, kp_call.stream);
  if (kp_call.workspace == nullptr && kp_call.workspace_bytes > 0) {{
    return -2;
  }}
)";

constexpr const char* context_text =
    R"(  for (const kp_tensor& kp_one : kp_tensors) {{
    if (reinterpret_cast<uintptr_t>(kp_one.data) % 64 != 0) {{
      return -1;
    }}
  }}
  kp_context kp_call = {{}};
  kp_call.abi_version = KP_ABI_VERSION;
  kp_call.axes = kp_axes;
  kp_call.axis_count = {};
  kp_call.scalars = kp_scalars;
  kp_call.scalar_count = {};
)";

std::string device_text(const Certificate& certificate) {
  return on_gpu(certificate)
             ? "  kp_call.device_type = KP_CUDA;\n  kp_call.threads = 1;\n"
               "  kp_call.stream = kp_stream;\n"
               "  if (cudaGetDevice(&kp_call.device_id) != cudaSuccess) {\n    return -2;\n  }\n"
             : "  kp_call.device_type = KP_CPU;\n"
               "  kp_call.threads = kp_threads > 0 ? kp_threads : 1;\n";
}

// The functions that users call where the kernel has state.
std::string public_functions(const Certificate& certificate, const std::string& name) {
  return fmt::format(
      "int {0}_prepare(void** kp_state_place, {1}) {{\n"
      "  const int kp_code = {0}_call(kp_state_place, nullptr, {2});\n{5}"
      "  return kp_code;\n}}\n\n"
      "void {0}_release(void* kp_prepared) {{\n  {6}(kp_prepared);\n}}\n\n"
      "int {0}(const void* kp_prepared, {3}) {{\n"
      "  return {0}_call(nullptr, kp_prepared, {4});\n}}\n",
      name, parameters(certificate, Tensors::constant), arguments(certificate, Tensors::constant),
      parameters(certificate, Tensors::all), arguments(certificate, Tensors::all),
      on_gpu(certificate) ? "  if (kp_code == 0 && cudaStreamSynchronize(static_cast<cudaStream_t>("
                            "kp_stream)) != cudaSuccess) {\n    return -2;\n  }\n"
                          : "",
      on_gpu(certificate) ? "cudaFree" : "free");
}

}  // namespace

std::string c_name(const Certificate& certificate) {
  return "kernelpro_" + plain_name(certificate.task.name);
}

std::string c_macro(const Certificate& certificate) {
  std::string out = c_name(certificate);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string c_declaration(const Certificate& certificate) {
  const std::string name = c_name(certificate);
  const bool gpu = on_gpu(certificate);
  const bool state = prepares(certificate);
  std::string out = fmt::format(
      "/* {}: {}\n *\n{} *\n * Tensors are dense, row-major and begin at multiples of 64 bytes{}; "
      "outputs overlap\n * nothing. {}\n"
      " * 0: done{}; -1: a tensor is not aligned; -2: no memory; anything else: the kernel "
      "failed.\n",
      block_comment(certificate.task.name), block_comment(certificate.task.summary),
      tensor_lines(certificate), gpu ? " of the GPU's memory" : "",
      gpu ? "kp_stream: a cudaStream_t." : "kp_threads: how many threads it may use.",
      gpu ? " (enqueued)" : "");
  out += state ? fmt::format(
                     " * {0}_prepare works on the constant inputs once: again when they change, "
                     "or a size\n * does. What it puts to *kp_state_place is kp_prepared of the "
                     "calls, and released at last.\n",
                     name)
               : "";
  out += " */\n";
  const auto declare = [&out](const std::string& text) {
    out += fmt::format("__attribute__((visibility(\"default\")))\n{};\n", text);
  };
  if (state) {
    declare(fmt::format("int {}_prepare(void** kp_state_place, {})", name,
                        parameters(certificate, Tensors::constant)));
    declare(fmt::format("void {}_release(void* kp_prepared)", name));
  }
  declare(fmt::format("int {}({}{})", name, state ? "const void* kp_prepared, " : "",
                      parameters(certificate, Tensors::all)));
  return out;
}

Result<std::string> c_definition(const Certificate& certificate) {
  const Task& task = certificate.task;
  const std::string name = c_name(certificate);
  const bool state = prepares(certificate);
  const bool workspace = may_have(certificate, "kp_workspace");
  const std::size_t count = task.inputs.size() + task.outputs.size();
  KP_LET(const std::string description, described(task));
  std::string out = workspace ? fmt::format(weak_function, "size_t", "kp_workspace") : "";
  out += state ? fmt::format(weak_function, "size_t", "kp_state") +
                     fmt::format(weak_function, "int", "kp_prepare")
               : "";
  out += workspace || state ? "\n" + memory_functions(certificate, name) : "";
  const std::string all = parameters(certificate, Tensors::all);
  out += state
             ? fmt::format("static int {}_call(void** kp_preparing, const void* kp_ready, {}) {{\n",
                           name, all)
             : fmt::format("int {}({}) {{\n", name, all);
  out += description + fmt::format(context_text, task.axes.size(), task.scalars.size());
  out += device_text(certificate);
  out += state ? fmt::format(state_text, name, count) : "";
  out += workspace ? fmt::format(workspace_text, name, count) : "";
  out += fmt::format("  {}kp_launch(&kp_call, kp_tensors, {});\n",
                     workspace ? "const int kp_code = " : "return ", count);
  out += workspace ? fmt::format(
                         "  {}_give(kp_call.workspace, kp_call.stream);\n  return kp_code;\n", name)
                   : "";
  return out + "}\n" + (state ? "\n" + public_functions(certificate, name) : "");
}

}  // namespace kernelpro::report
