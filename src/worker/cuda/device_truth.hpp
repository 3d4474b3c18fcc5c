// Expected outputs in double, in the GPU's memory: computed there, compared there.
#pragma once

#include <vector>

#include "worker/cuda/device_compare.hpp"
#include "worker/cuda/gpu.hpp"
#include "worker/judge/ground.hpp"

namespace kernelpro {

class DeviceMemory;

class DeviceTruth : public Truth {
 public:
  // For the outputs of `memory`, which lie as `plan` says; what goes wrong is its `trouble`. All
  // must outlive it.
  DeviceTruth(Gpu& gpu, const DeviceMemory& memory, const BufferPlan& plan, DeviceTrouble& trouble)
      : gpu_(gpu), memory_(memory), plan_(plan), trouble_(trouble), results_(gpu, trouble) {}

  // Makes room for the outputs of the oracle's plan.
  [[nodiscard]] Status allocate(const BufferPlan& oracle_plan);
  // One for each output: where the oracle writes.
  [[nodiscard]] std::vector<int> descriptors() const;

  void excuse_by(int set) override;
  [[nodiscard]] std::vector<TensorError> errors(Side side, int set) override;
  [[nodiscard]] std::vector<double> values(std::size_t output, std::size_t first,
                                           std::size_t count) override;

 private:
  Gpu& gpu_;
  const DeviceMemory& memory_;
  const BufferPlan& plan_;
  std::vector<DeviceBlock> blocks_;
  std::vector<std::size_t> offsets_;  // of the data in each block
  DeviceTrouble& trouble_;
  DeviceResults results_;
};

}  // namespace kernelpro
