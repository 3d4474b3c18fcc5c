// The buffers of one plan on a GPU, each tensor of each set an allocation of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "worker/cuda/device_compare.hpp"
#include "worker/cuda/gpu.hpp"
#include "worker/cuda/hidden_lines.hpp"
#include "worker/judge/ground.hpp"

namespace kernelpro {

inline constexpr std::size_t device_alignment = 256;  // of every tensor

class DeviceMemory : public SetMemory {
 public:
  // `drawer`: who draws the inputs; null: they are drawn here.
  DeviceMemory(Gpu& gpu, const Task& task, const BufferPlan& plan, Oracle* drawer);
  ~DeviceMemory() override;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // An error says how much memory is wanted and how much there is.
  [[nodiscard]] Status allocate();

  void fill(const std::vector<std::uint64_t>& seeds, Distribution distribution,
            unsigned char slack) override;
  void poison_varying_inputs() override;
  [[nodiscard]] std::uint64_t inputs_hash() override;
  void poison_outputs() override;
  void poison_outputs(int set) override;
  [[nodiscard]] Touched touched(const std::vector<std::uint16_t>& called) override;
  void save_outputs() override;
  [[nodiscard]] std::vector<int> disagreeing(const std::vector<std::uint16_t>& sets,
                                             const std::vector<double>& bounds) override;
  [[nodiscard]] std::vector<TensorError> errors_to(Copy truth, int set) override;
  [[nodiscard]] bool same_output(int first, int second, std::size_t index, double bound) override;
  [[nodiscard]] const char* output_regions(int set, Copy which) override;
  [[nodiscard]] Result<std::unique_ptr<Truth>> truth(Oracle& oracle, const InputDraw& draw,
                                                     int set) override;
  void flush() override;
  void hide(const std::vector<std::uint16_t>& sets, std::uint64_t seed) override;
  void reveal() override;
  [[nodiscard]] std::vector<int> descriptors() const override;
  [[nodiscard]] Result<std::unique_ptr<Scratch>> make_scratch(std::size_t bytes) override;
  [[nodiscard]] Status health() override;

  [[nodiscard]] cuda::Pointer output(int set, std::size_t output, Copy which) const {
    return which == Copy::outputs ? data(set, plan_.input_count + output) : saved(set, output);
  }

 private:
  // As judge_kernels.cu has them.
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
  };

  void must(cuda::Code code, const char* doing) { trouble_.must(code, doing); }
  [[nodiscard]] cuda::Pointer region(int set, std::size_t tensor) const;
  [[nodiscard]] cuda::Pointer data(int set, std::size_t tensor) const;
  [[nodiscard]] cuda::Pointer saved(int set, std::size_t output) const;
  void fill_tensor(int set, std::size_t index, std::uint64_t seed, Distribution distribution);
  void fill_offsets(std::size_t index, const std::vector<std::uint64_t>& seeds);
  void set_region(int set, std::size_t tensor, unsigned char value);
  void change_lines(bool hide);
  // The same for inputs that cannot be drawn again.
  void move_lines(bool hide);
  [[nodiscard]] bool can_be_hidden(std::size_t input) const;
  [[nodiscard]] ComparedPair with_saved(int set, std::size_t output) const;
  void draw_by_oracle(unsigned char slack);
  [[nodiscard]] Result<std::unique_ptr<Truth>> truth_on_device(Oracle& oracle,
                                                               const InputDraw& draw, int set);

  Gpu& gpu_;
  const Task& task_;
  const BufferPlan& plan_;
  Oracle* drawer_;
  std::uint64_t id_;                 // of this memory and no other
  std::vector<DeviceBlock> blocks_;  // set by set, in the order of the tensors
  cuda::Pointer saved_ = 0;          // private: no other process can map it
  cuda::Pointer sweeper_ = 0;
  std::size_t sweeper_bytes_ = 0;
  std::vector<char> regions_;  // what output_regions gives
  // What fill drew last, and what hide took away of it.
  std::vector<std::uint64_t> seeds_;
  Distribution distribution_ = Distribution::normal;
  std::vector<std::uint16_t> hidden_sets_;
  std::uint64_t hidden_seed_ = 0;
  DeviceTrouble trouble_;
  DeviceResults results_;
  HiddenLines lines_;
};

}  // namespace kernelpro
