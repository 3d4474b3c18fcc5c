#include "coordinator/memory/traits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "common/model/work.hpp"

namespace kernelpro::memory {

namespace {

// So that two measurements of one thing are one situation.
double rounded(double value, double step) {
  return step * std::round(value / step);
}

void put_log(Traits& traits, const char* name, double value, double step) {
  if (std::isfinite(value) && value > 0) {
    traits[name] = rounded(std::log2(value), step);
  }
}

constexpr double fine = 0.25;
constexpr double coarse = 1;

double elements(const std::vector<TensorSpec>& tensors, const Axes& axes) {
  double sum = 0;
  for (const TensorSpec& tensor : tensors) {
    double product = 1;
    if (const auto shape = evaluate_shape(tensor.shape, axes)) {
      for (const std::int64_t extent : *shape) {
        product *= static_cast<double>(extent);
      }
    }
    sum += product;
  }
  return sum;
}

double highest_rank(const std::vector<TensorSpec>& tensors) {
  std::size_t rank = 0;
  for (const TensorSpec& tensor : tensors) {
    rank = std::max(rank, tensor.shape.size());
  }
  return static_cast<double>(rank);
}

bool is_indirect(const TensorSpec& tensor) {
  return tensor.values.kind == ValueKind::index || tensor.values.kind == ValueKind::offsets ||
         tensor.values.kind == ValueKind::csr_columns;
}

double cache_of(const MachineRecord& machine, Backend backend) {
  if (traits_of(backend).gpu) {
    return machine.gpus.empty() ? 0 : static_cast<double>(machine.gpus.front().l2_bytes);
  }
  return static_cast<double>(machine.cache_bytes);
}

void put_sizes(Traits& traits, const Task& task, const Axes& axes, double cache) {
  const Work work = work_at(task, axes);
  const double written = elements(task.outputs, axes);
  put_log(traits, "flops", work.flops, fine);
  put_log(traits, "intensity", work.bytes > 0 ? work.flops / work.bytes : 0, fine);
  put_log(traits, "footprint", cache > 0 ? work.bytes / cache : 0, fine);
  put_log(traits, "work_per_output", written > 0 ? work.flops / written : 0, fine);
  if (const Result<double> length = task.reduction.evaluate(axes); length && *length >= 0) {
    put_log(traits, "reduction", 1 + *length, fine);
  }
}

// "90a" is 90.
double generation(const std::string& architecture) {
  int number = 0;
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
  return number;
}

}  // namespace

const std::vector<TraitKind>& task_trait_kinds() {
  static const std::vector<TraitKind> kinds = {
      {"intensity", 3, 0.5},   {"reduction", 4, 0.4},       {"flops", 6, 0.2},
      {"footprint", 4, 0.3},   {"work_per_output", 4, 0.4}, {"input_rank", 2, 0.2},
      {"output_rank", 2, 0.2}, {"inputs", 3, 0.1},          {"bits", 1, 0.3},
      {"indirect", 1, 0.4},    {"selects", 1, 0.3},         {"constant", 1, 0.1}};
  return kinds;
}

const std::vector<TraitKind>& device_trait_kinds() {
  static const std::vector<TraitKind> kinds = {{"generation", 10, 0.4}, {"arm", 1, 0.5},
                                               {"cores", 2, 0.3},       {"cache", 3, 0.2},
                                               {"core_rate", 2, 0.3},   {"balance", 3, 0.2}};
  return kinds;
}

Traits task_traits(const Task& task, Backend backend, const MachineRecord& machine) {
  Traits traits;
  const std::vector<Axes>& shapes = timed_shapes(task, backend);
  if (!shapes.empty()) {
    if (const Result<Axes> axes = complete_axes(task, shapes.front())) {
      put_sizes(traits, task, *axes, cache_of(machine, backend));
    }
  }
  traits["input_rank"] = highest_rank(task.inputs);
  traits["output_rank"] = highest_rank(task.outputs);
  traits["inputs"] = static_cast<double>(task.inputs.size());
  put_log(traits, "bits", 8 * static_cast<double>(size_of(contract_type(task))), fine);
  traits["indirect"] = std::ranges::any_of(task.inputs, is_indirect) ? 1 : 0;
  traits["selects"] =
      std::ranges::any_of(task.outputs, [](const auto& one) { return !one.selects.empty(); }) ? 1
                                                                                              : 0;
  traits["constant"] =
      std::ranges::any_of(task.inputs, [](const auto& one) { return one.constant; }) ? 1 : 0;
  return traits;
}

std::string architecture_of(const MachineRecord& machine, Backend backend) {
  if (traits_of(backend).gpu) {
    return machine.gpus.empty() ? "unknown" : machine.gpus.front().architecture;
  }
  return machine.architecture.empty() ? "unknown" : machine.architecture;
}

Traits device_traits(const MachineRecord& machine, const Ceilings& ceilings, Backend backend) {
  Traits traits;
  double cores = machine.cores;
  if (traits_of(backend).gpu) {
    traits["generation"] = generation(architecture_of(machine, backend));
    cores = machine.gpus.empty() ? 0 : machine.gpus.front().multiprocessors;
  } else {
    traits["arm"] = machine.architecture == "aarch64" ? 1 : 0;
  }
  put_log(traits, "cores", cores, fine);
  put_log(traits, "cache", cache_of(machine, backend), fine);
  const double flops = best_flops(ceilings, "f32");
  const double bandwidth = best_bandwidth(ceilings);
  put_log(traits, "core_rate", cores > 0 ? flops / cores : 0, coarse);
  put_log(traits, "balance", bandwidth > 0 ? flops / bandwidth : 0, coarse);
  return traits;
}

double distance(const std::vector<TraitKind>& kinds, const Traits& one, const Traits& other) {
  double sum = 0;
  for (const TraitKind& kind : kinds) {
    const auto left = one.find(kind.name);
    const auto right = other.find(kind.name);
    if (left != one.end() && right != other.end()) {
      sum += kind.weight * std::fabs(left->second - right->second) / kind.scale;
    } else if (left != one.end() || right != other.end()) {
      sum += kind.weight / 2;
    }
  }
  return sum;
}

std::vector<float> packed(const std::vector<TraitKind>& kinds, const Traits& traits) {
  std::vector<float> values;
  values.reserve(kinds.size());
  for (const TraitKind& kind : kinds) {
    const auto found = traits.find(kind.name);
    values.push_back(found == traits.end() ? std::numeric_limits<float>::quiet_NaN()
                                           : static_cast<float>(found->second));
  }
  return values;
}

Traits unpacked(const std::vector<TraitKind>& kinds, const float* values) {
  Traits traits;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!std::isnan(values[i])) {
      traits[kinds[i].name] = values[i];
    }
  }
  return traits;
}

}  // namespace kernelpro::memory
