// The buffers of one plan on a GPU, each tensor of each set an allocation of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/cuda/gpu.hpp"
#include "worker/judge/ground.hpp"

namespace kernelpro {

class DeviceMemory : public SetMemory {
 public:
  DeviceMemory(Gpu& gpu, const Task& task, const BufferPlan& plan)
      : gpu_(gpu), task_(task), plan_(plan) {}
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
  [[nodiscard]] Result<Expected> expected(Oracle& oracle, const InputDraw& draw, int set) override;
  void flush() override;
  void hide(const std::vector<std::uint16_t>& sets, std::uint64_t seed) override;
  void reveal() override;
  [[nodiscard]] std::vector<int> descriptors() const override;
  [[nodiscard]] Result<std::unique_ptr<Scratch>> make_scratch(std::size_t bytes) override;
  [[nodiscard]] Status health() override;

 private:
  // As judge_kernels.cu has them.
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
  };
  struct Comparison {
    double squares;
    std::uint64_t finite;
    std::uint64_t error_bits;
    std::uint64_t worst;
    std::uint64_t poisoned;
    std::uint64_t excused;
    std::uint64_t different;
    double actual;
    double expected;
  };

  // Remembers the first thing that went wrong.
  void must(cuda::Code code, const char* doing);
  [[nodiscard]] cuda::Pointer region(int set, std::size_t tensor) const;
  [[nodiscard]] cuda::Pointer data(int set, std::size_t tensor) const;
  [[nodiscard]] cuda::Pointer saved(int set, std::size_t output) const;
  void fill_tensor(int set, std::size_t index, std::uint64_t seed, Distribution distribution);
  void fill_offsets(std::size_t index, const std::vector<std::uint64_t>& seeds);
  void set_region(int set, std::size_t tensor, unsigned char value);
  // Room on the device for `count` results of type T, and what the kernels wrote there.
  [[nodiscard]] cuda::Pointer results(std::size_t bytes, const void* initial);
  void read_results(void* to, std::size_t bytes);
  void change_lines(bool hide);
  // Whether an element that is not finite in the truth is excused, or must be so in both.
  enum class Side { truth_excuses, both_alike };
  void enqueue_comparison(cuda::Pointer actual, cuda::Pointer truth, std::size_t output, Side side,
                          cuda::Pointer out);
  [[nodiscard]] std::vector<Comparison> compare(
      const std::vector<std::pair<cuda::Pointer, cuda::Pointer>>& pairs,
      const std::vector<std::size_t>& outputs, Side side);

  Gpu& gpu_;
  const Task& task_;
  const BufferPlan& plan_;
  std::vector<DeviceBlock> blocks_;  // set by set, in the order of the tensors
  cuda::Pointer saved_ = 0;          // private: no other process can map it
  cuda::Pointer sweeper_ = 0;
  std::size_t sweeper_bytes_ = 0;
  cuda::Pointer results_ = 0;
  std::size_t results_bytes_ = 0;
  std::vector<char> regions_;  // what output_regions gives
  // What fill drew last, and what hide took away of it.
  std::vector<std::uint64_t> seeds_;
  Distribution distribution_ = Distribution::normal;
  std::vector<std::uint16_t> hidden_sets_;
  std::uint64_t hidden_seed_ = 0;
  std::optional<Error> problem_;
};

}  // namespace kernelpro
