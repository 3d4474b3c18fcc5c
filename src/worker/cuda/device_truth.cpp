#include "worker/cuda/device_truth.hpp"

#include "worker/cuda/device_memory.hpp"

namespace kernelpro {

Status DeviceTruth::allocate(const BufferPlan& oracle_plan) {
  for (std::size_t i = oracle_plan.input_count; i < oracle_plan.tensors.size(); ++i) {
    KP_LET(DeviceBlock block, gpu_.share(oracle_plan.tensors[i].region_bytes));
    blocks_.push_back(std::move(block));
    offsets_.push_back(oracle_plan.tensors[i].data_offset);
  }
  return {};
}

std::vector<int> DeviceTruth::descriptors() const {
  std::vector<int> out;
  out.reserve(blocks_.size());
  for (const DeviceBlock& block : blocks_) {
    out.push_back(block.descriptor());
  }
  return out;
}

void DeviceTruth::excuse_by(int set) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const TensorPlan& tensor = plan_.tensors[plan_.input_count + i];
    if (is_floating(tensor.dtype)) {
      const auto elements = static_cast<std::uint64_t>(tensor.elements);
      trouble_.must(
          gpu_.launch("excuse", elements, blocks_[i].pointer() + offsets_[i],
                      memory_.taken(Side::incumbent, set, i), type_number(tensor.dtype), elements),
          "comparing outputs");
    }
  }
}

std::vector<TensorError> DeviceTruth::errors(Side side, int set) {
  std::vector<ComparedPair> pairs;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const TensorPlan& tensor = plan_.tensors[plan_.input_count + i];
    const bool floating = is_floating(tensor.dtype);
    pairs.push_back({memory_.taken(side, set, i), blocks_[i].pointer() + offsets_[i], &tensor,
                     floating ? DType::f64 : tensor.dtype});
  }
  const std::vector<DeviceComparison> found =
      compare_on_device(gpu_, trouble_, results_, pairs, NotFinite::excused);
  std::vector<TensorError> errors;
  errors.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    errors.push_back(error_of(found[i], *pairs[i].tensor));
  }
  return errors;
}

std::vector<double> DeviceTruth::values(std::size_t output, std::size_t first, std::size_t count) {
  std::vector<double> out(count);
  trouble_.must(
      gpu_.driver().copy_to_host(
          out.data(), blocks_[output].pointer() + offsets_[output] + first * sizeof(double),
          count * sizeof(double), gpu_.stream()),
      "reading expected values");
  trouble_.must(gpu_.synchronize(), "reading expected values");
  return out;
}

}  // namespace kernelpro
