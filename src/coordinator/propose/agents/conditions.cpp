#include "coordinator/propose/agents/conditions.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelpro::agents {

namespace {

constexpr std::string_view negation = "not ";

bool has_axes(const AgentOrder& order) {
  return !order.run->task.axes.empty();
}

bool has_constant(const AgentOrder& order) {
  return std::ranges::any_of(order.run->task.inputs, &TensorSpec::constant);
}

bool has_halves(const AgentOrder& order) {
  const auto half = [](const TensorSpec& tensor) {
    return tensor.dtype == DType::f16 || tensor.dtype == DType::bf16;
  };
  return std::ranges::any_of(order.run->task.inputs, half) ||
         std::ranges::any_of(order.run->task.outputs, half);
}

bool is_torch(const AgentOrder& order) {
  return order.run->task.reference.torch;
}

// A module with more weights than one or two layers have.
bool is_network(const AgentOrder& order) {
  constexpr int layers = 6;  // parameters that come as tensors of their own
  int parameters = 0;
  for (const TensorSpec& input : order.run->task.inputs) {
    if (!input.parts.empty()) {
      return true;
    }
    parameters += input.name.starts_with("input_") ? 0 : 1;
  }
  return is_torch(order) && parameters > layers;
}

bool multiplies(const AgentOrder& order) {
  return has_products(order.run->task, order.run->settings.judging.backend);
}

bool is_hopper(const AgentOrder& order) {
  return order.run->settings.judging.backend == Backend::cuda &&
         std::ranges::any_of(order.machine.gpus, [](const GpuRecord& gpu) {
           return gpu.architecture.starts_with("90");
         });
}

struct NamedCondition {
  const char* name;
  bool (*holds)(const AgentOrder& order);
};

constexpr auto conditions = std::to_array<NamedCondition>({
    {"axes", has_axes},          // extents differ from shape to shape
    {"constant", has_constant},  // an input is constant
    {"halves", has_halves},      // a tensor is f16 or bf16
    {"network", is_network},     // a PyTorch module of many layers
    {"products", multiplies},    // most operations are those of sums of products
    {"sm_90", is_hopper},        // the GPU is Hopper's
    {"torch", is_torch},         // the reference is a PyTorch module
});

std::string bare(const std::string& condition) {
  return condition.starts_with(negation) ? condition.substr(negation.size()) : condition;
}

}  // namespace

const std::vector<std::string>& condition_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    out.reserve(std::size(conditions));
    for (const NamedCondition& one : conditions) {
      out.emplace_back(one.name);
    }
    return out;
  }();
  return names;
}

bool is_condition(const std::string& condition) {
  return std::ranges::find(condition_names(), bare(condition)) != condition_names().end();
}

bool holds(const std::string& condition, const AgentOrder& order) {
  const std::string name = bare(condition);
  const auto* const found = std::ranges::find_if(
      conditions, [&name](const NamedCondition& one) { return name == one.name; });
  return found != conditions.end() && found->holds(order) != condition.starts_with(negation);
}

bool hold(const std::vector<std::string>& all, const AgentOrder& order) {
  return std::ranges::all_of(
      all, [&order](const std::string& condition) { return holds(condition, order); });
}

}  // namespace kernelpro::agents
