// Certificates of kernels that stand in for PyTorch modules, as a judge would write them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coordinator/report/certificates.hpp"
#include "support/torch.hpp"

namespace kernelpro::testing {

struct NamedTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int> shape;
};

inline TensorSpec tensor_spec(const NamedTensor& tensor, bool input) {
  TensorSpec spec;
  spec.name = tensor.name;
  spec.dtype = tensor.dtype;
  for (const int extent : tensor.shape) {
    spec.shape.push_back(formula(std::to_string(extent)));
  }
  if (input) {
    spec.values.kind = ValueKind::drawn;
  }
  return spec;
}

// The task that `task new --kernelbench` makes of a problem with these tensors.
inline Task torch_task(const std::string& name, const std::string& problem,
                       const std::vector<NamedTensor>& inputs,
                       const std::vector<NamedTensor>& outputs) {
  Task task;
  task.name = name;
  task.family = "kernelbench";
  task.summary = "made up";
  for (const NamedTensor& input : inputs) {
    task.inputs.push_back(tensor_spec(input, true));
  }
  for (const NamedTensor& output : outputs) {
    task.outputs.push_back(tensor_spec(output, false));
  }
  task.reduction = formula("1");
  task.work.flops = formula("0");
  task.work.bytes = formula("1");
  task.timed_shapes = {{}};
  task.reference.file = "problem.py";
  task.reference.torch = true;
  task.files["problem.py"] = problem;
  ImplementationSpec eager;
  eager.name = "torch-eager";
  eager.file = "problem.py";
  eager.compiler = torch_compiler;
  task.baselines = {eager};
  return task;
}

// As the worker records the builds of the GPU's compiler.
inline void make_cuda(Certificate& certificate) {
  certificate.candidate.backend = Backend::cuda;
  certificate.candidate.compiler = "nvcc";
  certificate.task.baselines.front().backend = Backend::cuda;
  certificate.build.compiler = "/usr/local/cuda/bin/nvcc";
  certificate.build.flags = {"-std=c++17",
                             "-O2",
                             "-gencode=arch=compute_90a,code=sm_90a",
                             "-ccbin",
                             "/nowhere/g++-12",
                             "-lineinfo",
                             "-Xptxas",
                             "-v",
                             "-shared",
                             "-nodlink",
                             "-Xcompiler",
                             "-fPIC,-fvisibility=hidden,-frandom-seed=kernelpro",
                             "-Xlinker",
                             "-z,now,-z,defs,-s,--build-id=none"};
  GpuRecord gpu;
  gpu.name = "Some GPU";
  gpu.architecture = "90a";
  gpu.driver = "13.0";
  certificate.machine.gpus = {gpu};
}

// y = relu(x) of 40 x 1000; with `shift` added, so that a test sees whose answer it is.
inline std::string relu_kernel(const std::string& shift = "0") {
  return "#include \"kernelpro/candidate.h\"\n"
         "int kp_launch(const kp_context* context, const kp_tensor* t, int32_t count) {\n"
         "  if (count != 2 || context->abi_version != KP_ABI_VERSION) return 1;\n"
         "  if (context->device_type != KP_CPU || context->threads < 1) return 2;\n"
         "  if (t[0].rank != 2 || t[0].shape[1] != 1000 || t[0].strides[0] != 1000) return 3;\n"
         "  if (reinterpret_cast<uintptr_t>(t[0].data) % 64 != 0) return 4;\n"
         "  const float* x = static_cast<const float*>(t[0].data);\n"
         "  float* y = static_cast<float*>(t[1].data);\n"
         "  for (int64_t i = 0; i < 40000; ++i) y[i] = (x[i] > 0 ? x[i] : 0) + " +
         shift + ";\n  return 0;\n}\n";
}

inline Certificate relu_certificate(const std::string& shift = "0") {
  return passed_certificate(torch_task("relu", relu_problem, {{"input_0", DType::f32, {40, 1000}}},
                                       {{"output_0", DType::f32, {40, 1000}}}),
                            relu_kernel(shift));
}

// x · wᵀ + b, times a number; the number stands between two tensors. With a workspace.
inline const std::string scaled_problem = problem_text(
    "    def __init__(self, wide, narrow, bias=True):\n        super().__init__()\n"
    "        self.linear = nn.Linear(wide, narrow, bias=bias)\n\n"
    "    def forward(self, x, factor, y):\n        return self.linear(x) * factor + y\n",
    "[torch.rand(32, 24), 2.5, torch.rand(32, 16)]", "[24, 16]");

inline const std::string scaled_kernel =
    "#include \"kernelpro/candidate.h\"\n"
    "size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) { return 32 * 16 * 8; }\n"
    "int kp_launch(const kp_context* context, const kp_tensor* t, int32_t count) {\n"
    "  if (count != 5 || context->scalar_count != 1 || context->workspace_bytes != 4096) return "
    "1;\n"
    "  const auto in = [t](int i) { return static_cast<const float*>(t[i].data); };\n"
    "  double* sums = static_cast<double*>(context->workspace);\n"
    "  for (int i = 0; i < 32; ++i) for (int j = 0; j < 16; ++j) {\n"
    "    double& sum = sums[i * 16 + j];\n    sum = in(3)[j];\n"
    "    for (int k = 0; k < 24; ++k) sum += double(in(0)[i * 24 + k]) * in(2)[j * 24 + k];\n"
    "    static_cast<float*>(t[4].data)[i * 16 + j] =\n"
    "        float(sum * context->scalars[0] + in(1)[i * 16 + j]);\n  }\n"
    "  return 0;\n}\n";

inline Certificate scaled_certificate() {
  Task task = torch_task("scaled", scaled_problem,
                         {{"input_0", DType::f32, {32, 24}},
                          {"input_2", DType::f32, {32, 16}},
                          {"linear_weight", DType::f32, {16, 24}},
                          {"linear_bias", DType::f32, {16}}},
                         {{"output_0", DType::f32, {32, 16}}});
  task.scalars = {{"scalar_1", DType::f64, 2.5, 2.5}};
  return passed_certificate(task, scaled_kernel);
}

// A mask as bytes; out come truth values, and below them a number and the values masked.
inline const std::string masked_parts_problem = problem_text(
    "    def forward(self, x, mask):\n"
    "        return [x > 0, (x[mask].sum(), x * mask)]\n",
    "[torch.randn(500), torch.rand(500) < 0.5]");

inline Certificate masked_certificate() {
  return passed_certificate(
      torch_task("masked", masked_parts_problem,
                 {{"input_0", DType::f32, {500}}, {"input_1", DType::u8, {500}}},
                 {{"output_0", DType::u8, {500}},
                  {"output_1", DType::f32, {}},
                  {"output_2", DType::f32, {500}}}),
      "#include \"kernelpro/candidate.h\"\n"
      "int kp_launch(const kp_context*, const kp_tensor* t, int32_t count) {\n"
      "  if (count != 5 || t[1].dtype.code != KP_UINT || t[3].rank != 0) return 1;\n"
      "  const float* x = static_cast<const float*>(t[0].data);\n"
      "  const uint8_t* mask = static_cast<const uint8_t*>(t[1].data);\n  double sum = 0;\n"
      "  for (int i = 0; i < 500; ++i) {\n"
      "    static_cast<uint8_t*>(t[2].data)[i] = x[i] > 0;\n"
      "    static_cast<float*>(t[4].data)[i] = mask[i] ? x[i] : 0 * x[i];\n"
      "    sum += mask[i] ? x[i] : 0;\n  }\n"
      "  *static_cast<float*>(t[3].data) = float(sum);\n  return 0;\n}\n");
}

// Thirteen layers, so 26 parameters: one flat input.
inline const std::string deep_problem = problem_text(
    "    def __init__(self):\n        super().__init__()\n"
    "        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(13)])\n\n"
    "    def forward(self, x):\n        for layer in self.layers:\n"
    "            x = torch.tanh(layer(x))\n        return x\n",
    "[torch.randn(8, 4)]");

inline Certificate deep_certificate() {
  return passed_certificate(
      torch_task("deep", deep_problem,
                 {{"input_0", DType::f32, {8, 4}}, {"parameters", DType::f32, {26 * 64}}},
                 {{"output_0", DType::f32, {8, 4}}}),
      "#include <cmath>\n#include \"kernelpro/candidate.h\"\n"
      "int kp_launch(const kp_context*, const kp_tensor* t, int32_t count) {\n"
      "  if (count != 3 || t[1].rank != 1 || t[1].shape[0] != 26 * 64) return 1;\n"
      "  const float* p = static_cast<const float*>(t[1].data);\n"
      "  for (int row = 0; row < 8; ++row) {\n    float x[4], y[4];\n"
      "    for (int i = 0; i < 4; ++i) x[i] = static_cast<const float*>(t[0].data)[row * 4 + i];\n"
      "    for (int layer = 0; layer < 13; ++layer) {\n"
      "      const float* w = p + layer * 128;\n"
      "      for (int i = 0; i < 4; ++i) {\n        y[i] = w[64 + i];\n"
      "        for (int k = 0; k < 4; ++k) y[i] += w[i * 4 + k] * x[k];\n      }\n"
      "      for (int i = 0; i < 4; ++i) x[i] = std::tanh(y[i]);\n    }\n"
      "    for (int i = 0; i < 4; ++i) static_cast<float*>(t[2].data)[row * 4 + i] = x[i];\n  }\n"
      "  return 0;\n}\n");
}

// A normalization over the batch: it depends on the mode, and updates its statistics.
inline const std::string normal_problem = problem_text(
    "    def __init__(self):\n        super().__init__()\n"
    "        self.norm = nn.BatchNorm1d(4)\n\n"
    "    def forward(self, x):\n        return self.norm(x)\n",
    "[torch.randn(64, 4)]");

inline Certificate normal_certificate() {
  return passed_certificate(
      torch_task("normal", normal_problem,
                 {{"input_0", DType::f32, {64, 4}},
                  {"norm_weight", DType::f32, {4}},
                  {"norm_bias", DType::f32, {4}},
                  {"norm_running_mean", DType::f32, {4}},
                  {"norm_running_var", DType::f32, {4}}},
                 {{"output_0", DType::f32, {64, 4}}}),
      "#include <cmath>\n#include \"kernelpro/candidate.h\"\n"
      "int kp_launch(const kp_context*, const kp_tensor* t, int32_t count) {\n"
      "  if (count != 6) return 1;\n"
      "  const auto in = [t](int i) { return static_cast<const float*>(t[i].data); };\n"
      "  for (int j = 0; j < 4; ++j) {\n    double mean = 0, squares = 0;\n"
      "    for (int i = 0; i < 64; ++i) mean += in(0)[i * 4 + j] / 64.0;\n"
      "    for (int i = 0; i < 64; ++i) squares += std::pow(in(0)[i * 4 + j] - mean, 2) / 64.0;\n"
      "    for (int i = 0; i < 64; ++i) static_cast<float*>(t[5].data)[i * 4 + j] =\n"
      "        float((in(0)[i * 4 + j] - mean) / std::sqrt(squares + 1e-5) * in(1)[j] + "
      "in(2)[j]);\n  }\n"
      "  return 0;\n}\n");
}

}  // namespace kernelpro::testing
