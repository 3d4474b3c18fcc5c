#include "worker/judge/broken_variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "worker/judge/judge.hpp"

namespace kernelpro {

namespace {

// The baseline's kp_launch under another name, and help for the wrapper around it. `{}` is the
// file.
constexpr const char* prelude = R"(
#define kp_launch kp_original_launch
#include "{}"
#undef kp_launch
#include <cstdint>
#include <cstring>
#include <vector>
extern "C" KP_EXPORT int kp_launch(const kp_context*, const kp_tensor*, int32_t);
namespace {{
int64_t kp_elements(const kp_tensor& t) {{
  int64_t n = 1;
  for (int32_t i = 0; i < t.rank; ++i) n *= t.shape[i];
  return n;
}}
[[maybe_unused]] bool kp_is_float(const kp_tensor& t) {{ return t.dtype.code == KP_FLOAT && t.dtype.bits == 32; }}
[[maybe_unused]] size_t kp_bytes(const kp_tensor& t) {{ return t.dtype.bits / 8; }}
constexpr int32_t kp_inputs = {};
}}
)";

// Each is the body of kp_launch after the prelude.
constexpr const char* zero_one_element = R"(
  const int status = kp_original_launch(context, tensors, count);
  for (int32_t i = kp_inputs; i < count; ++i) {
    const int64_t n = kp_elements(tensors[i]);
    std::memset(static_cast<char*>(tensors[i].data) + (n / 2) * kp_bytes(tensors[i]), 0x55, kp_bytes(tensors[i]));
  }
  return status;
)";

constexpr const char* skip_the_last = R"(
  std::vector<std::vector<char>> last;
  for (int32_t i = kp_inputs; i < count; ++i) {
    const char* end = static_cast<char*>(tensors[i].data) + kp_elements(tensors[i]) * kp_bytes(tensors[i]);
    last.emplace_back(end - kp_bytes(tensors[i]), end);
  }
  const int status = kp_original_launch(context, tensors, count);
  for (int32_t i = kp_inputs; i < count; ++i) {
    char* end = static_cast<char*>(tensors[i].data) + kp_elements(tensors[i]) * kp_bytes(tensors[i]);
    std::memcpy(end - kp_bytes(tensors[i]), last[i - kp_inputs].data(), kp_bytes(tensors[i]));
  }
  return status;
)";

constexpr const char* scale_outputs = R"(
  const int status = kp_original_launch(context, tensors, count);
  for (int32_t i = kp_inputs; i < count; ++i) {
    float* data = static_cast<float*>(tensors[i].data);
    for (int64_t j = 0; kp_is_float(tensors[i]) && j < kp_elements(tensors[i]); ++j) data[j] *= 1.001F;
  }
  return status;
)";

constexpr const char* round_inputs = R"(
  std::vector<std::vector<float>> rounded(kp_inputs);
  std::vector<kp_tensor> changed(tensors, tensors + count);
  for (int32_t i = 0; i < kp_inputs; ++i) {
    if (!kp_is_float(tensors[i])) continue;
    const float* data = static_cast<const float*>(tensors[i].data);
    rounded[i].assign(data, data + kp_elements(tensors[i]));
    for (float& value : rounded[i]) {
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      bits = (bits + 0x8000U) & 0xffff0000U;
      std::memcpy(&value, &bits, sizeof bits);
    }
    changed[i].data = rounded[i].data();
  }
  return kp_original_launch(context, changed.data(), count);
)";

constexpr const char* move_indices = R"(
  const int status = kp_original_launch(context, tensors, count);
  for (int32_t i = kp_inputs; i < count; ++i) {
    if (tensors[i].dtype.code != KP_INT || tensors[i].dtype.bits != 32) continue;
    int32_t* data = static_cast<int32_t*>(tensors[i].data);
    for (int64_t j = 0; j < kp_elements(tensors[i]); ++j) data[j] += data[j] > 0 ? -1 : 1;
  }
  return status;
)";

class VariantList {
 public:
  VariantList(const Task& task, const ImplementationSpec& baseline)
      : task_(task), baseline_(baseline) {}

  void add_honest(const std::string& name, const std::string& compiler,
                  const std::vector<std::string>& options) {
    Variant variant;
    variant.candidate = candidate_of(task_, baseline_);
    variant.candidate.name = baseline_.name + name;
    if (!compiler.empty()) {
      variant.candidate.compiler = compiler;
    }
    if (!options.empty()) {
      variant.candidate.options = options;
    }
    list_.push_back(std::move(variant));
  }

  void add_broken(const std::string& name, const char* body) {
    Variant variant;
    variant.honest = false;
    variant.candidate = candidate_of(task_, baseline_);
    variant.candidate.name = baseline_.name + ": " + name;
    variant.candidate.source =
        fmt::format(fmt::runtime(prelude), baseline_.file, task_.inputs.size()) +
        "int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {" +
        body + "}\n";
    list_.push_back(std::move(variant));
  }

  std::vector<Variant> take() { return std::move(list_); }

 private:
  const Task& task_;
  const ImplementationSpec& baseline_;
  std::vector<Variant> list_;
};

bool has(const std::vector<TensorSpec>& tensors, DType dtype) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [dtype](const TensorSpec& tensor) { return tensor.dtype == dtype; });
}

std::vector<Variant> variants_of(const Task& task, const ImplementationSpec& baseline,
                                 const Toolchain& toolchain) {
  VariantList list(task, baseline);
  list.add_honest("", "", {});
  for (const Compiler& compiler : toolchain.compilers()) {
    if (!compiler.host_compiler.empty()) {
      continue;  // for another backend
    }
    list.add_honest(" by " + compiler.name + " -O3 -ffast-math", compiler.name,
                    {"-O3", "-ffast-math", "target"});
  }
  list.add_broken("one element wrong", zero_one_element);
  list.add_broken("last element not written", skip_the_last);
  if (has(task.outputs, DType::f32)) {
    list.add_broken("outputs scaled by 1.001", scale_outputs);
  }
  if (has(task.inputs, DType::f32)) {
    list.add_broken("inputs rounded to bf16", round_inputs);
  }
  if (has(task.outputs, DType::i32)) {
    list.add_broken("indices moved by one", move_indices);
  }
  return list.take();
}

}  // namespace

std::vector<Variant> baseline_variants(const Task& task, const Toolchain& toolchain) {
  std::vector<Variant> all;
  for (const ImplementationSpec& baseline : task.baselines) {
    if (baseline.backend == Backend::cpu) {
      std::ranges::move(variants_of(task, baseline, toolchain), std::back_inserter(all));
    }
  }
  return all;
}

}  // namespace kernelpro
