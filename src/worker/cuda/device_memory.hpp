// The buffers of one plan on a GPU, each tensor of each set of each side an allocation of its own.
//
// What is drawn lies in memory of the worker's alone. A side gets it by a copy on its own clock,
// because stopping a process does not stop its kernels: whatever a candidate left queued, looping
// or waiting on the GPU finds poison until then. Likewise its outputs are copied away on its clock,
// and only that copy is compared.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "worker/cuda/device_compare.hpp"
#include "worker/cuda/device_gate.hpp"
#include "worker/cuda/gpu.hpp"
#include "worker/cuda/timed_copy.hpp"
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

  void draw(const std::vector<SetDraw>& draws, unsigned char slack) override;
  void nudge(const Key& key, std::uint32_t roundings) override;
  void round_inputs(Lower lower) override;
  void draw_again() override;
  void read_input(int set, std::size_t input, std::size_t first, std::size_t bytes,
                  char* to) override;
  void narrow(std::optional<int> set) override;
  void give_constants(Side side) override;
  void make_ready(Side side, Caches caches) override;
  void give(Side side, Caches caches) override;
  void take(Side side, const std::vector<std::uint16_t>& sets) override;
  [[nodiscard]] double own_ns(Side side) const override;
  [[nodiscard]] Gate* gate(Side side) override { return gates_[index_of(side)].get(); }
  void hide(Side side) override;
  [[nodiscard]] bool inputs_intact(Side side) override;
  void poison_outputs(Side side) override;
  void fill_outputs(Side side, const std::vector<std::uint16_t>& sets,
                    unsigned char content) override;
  [[nodiscard]] Touched touched(Side side, const std::vector<std::uint16_t>& called) override;
  [[nodiscard]] std::vector<int> disagreeing(const std::vector<std::uint16_t>& sets,
                                             const std::vector<double>& bounds) override;
  [[nodiscard]] std::vector<TensorError> errors_to(Side truth, int set) override;
  [[nodiscard]] bool same_output(Side side, int first, int second, std::size_t index,
                                 double bound) override;
  void read_output(Side side, int set, std::size_t output, std::size_t first, std::size_t bytes,
                   char* to) override;
  [[nodiscard]] const char* output_regions(Side side, int set) override;
  [[nodiscard]] Result<std::unique_ptr<Truth>> truth(Oracle& oracle, const InputDraw& draw,
                                                     int set) override;
  [[nodiscard]] std::vector<int> descriptors(Side side) const override;
  [[nodiscard]] Result<std::unique_ptr<Scratch>> make_scratch(std::size_t bytes) override;
  [[nodiscard]] Status health() override;

  // Where the outputs that were taken from a side lie.
  [[nodiscard]] cuda::Pointer taken(Side side, int set, std::size_t output) const;

 private:
  // As judge_kernels.cu has them.
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
  };
  struct Watched {
    cuda::Pointer data;
    std::uint64_t begin;
    std::uint64_t end;
    cuda::Pointer found;
  };

  void must(cuda::Code code, const char* doing) { trouble_.must(code, doing); }
  [[nodiscard]] Status make_blocks();
  [[nodiscard]] Status make_gates();
  // Enqueues the copies of inputs and outputs.
  [[nodiscard]] cuda::Code copy_inputs(Side side, Caches caches);
  [[nodiscard]] cuda::Code copy_outputs(Side side);
  void make_tables();
  // The region of a tensor on a side, and of an input as it was drawn.
  [[nodiscard]] cuda::Pointer region(Side side, int set, std::size_t tensor) const;
  [[nodiscard]] cuda::Pointer drawn_region(int set, std::size_t input) const;
  [[nodiscard]] cuda::Pointer drawn(int set, std::size_t input) const;
  static void watch(cuda::Pointer data, std::uint64_t begin, std::uint64_t end, cuda::Pointer found,
                    std::vector<Watched>& out);
  void draw_input(int set, std::size_t index, const SetDraw& draw);
  void draw_offsets_of(std::size_t index, const std::vector<SetDraw>& draws);
  void draw_by_oracle(const std::vector<SetDraw>& draws);
  void set_slack(unsigned char slack);
  void read(cuda::Pointer from, std::size_t bytes, char* to, const char* doing);
  void fill_slack(cuda::Pointer region, const TensorPlan& tensor, unsigned char slack);
  [[nodiscard]] ComparedPair compared(Side actual, int set, std::size_t output) const;
  [[nodiscard]] Result<std::unique_ptr<Truth>> truth_on_device(Oracle& oracle,
                                                               const InputDraw& draw, int set);

  Gpu& gpu_;
  const Task& task_;
  const BufferPlan& plan_;
  Oracle* drawer_;
  std::uint64_t id_;  // of what is drawn into, and of no other memory
  // Set by set, in the order of the tensors; `drawn_` has inputs only.
  std::vector<DeviceBlock> drawn_;
  std::array<std::vector<DeviceBlock>, 2> blocks_;
  std::array<cuda::Pointer, 2> taken_ = {0, 0};
  std::vector<SetDraw> draws_;  // the last ones
  int slack_ = -1;              // what lies around the inputs everywhere; -1: not known
  cuda::Pointer sweeper_ = 0;
  std::size_t sweeper_bytes_ = 0;
  std::vector<char> regions_;  // what output_regions gives
  DeviceTrouble trouble_;
  DeviceResults results_;
  struct SideTables {
    explicit SideTables(Gpu& gpu)
        : inputs(gpu), constants(gpu), varying(gpu), outputs(gpu), regions(gpu) {}
    [[nodiscard]] std::array<ChunkTable*, 5> all() {
      return {&inputs, &constants, &varying, &outputs, &regions};
    }
    ChunkTable inputs;     // from what was drawn to the side
    ChunkTable constants;  // of these, the constant ones
    ChunkTable varying;    // and the others
    ChunkTable outputs;    // from the side to what is taken
    ChunkTable regions;    // the output regions of the side, slack included
  };
  std::array<SideTables, 2> tables_;
  std::optional<int> narrowed_;
  std::array<TimedCopy, 2> giving_;
  std::array<TimedCopy, 2> taking_;
  std::array<std::unique_ptr<DeviceGate>, 2> gates_;
};

}  // namespace kernelpro
