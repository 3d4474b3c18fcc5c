// Expected values from the task's reference, computed in a process that no candidate shares.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/task.hpp"
#include "worker/oracle/work_time.hpp"
#include "worker/runner/runner_process.hpp"
#include "worker/runner/staged_library.hpp"
#include "worker/tensor/buffers.hpp"
#include "worker/tensor/compare.hpp"
#include "worker/tensor/generate.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

// What one output must be.
struct ExpectedOutput {
  std::vector<double> values;  // floating: the output; index: the selection's values
  double scale = 0;            // rms of a floating output
  std::vector<char> whole;     // whole-number outputs, bit by bit
  std::size_t choices = 0;     // index outputs: entries of `values` for each index
  bool smallest = true;
};

using Expected = std::vector<ExpectedOutput>;  // in the order of the task's outputs

// Where inputs come from: everything that determines their values.
struct InputDraw {
  Axes axes;  // completed
  Key scalar_key;
  SetDraw values;
};

struct OracleSettings {
  std::string jail;
  std::string program;  // kernelpro-oracle
  std::string torch;    // torch_oracle.py, for references that are PyTorch modules
  std::string device;   // the GPU that PyTorch gets; empty: the CPU
  int threads = 1;      // what PyTorch gets
  bool landlock = true;
  std::int64_t timeout_ms = 120'000;
  std::stop_token stop;  // ends a call under way as well
};

// A GPU's memory, as PyTorch can map it: a descriptor for each tensor of each set of a plan.
struct DeviceTensors {
  std::uint64_t id = 0;  // of this memory and no other, ever
  std::vector<int> descriptors;
};

class Oracle {
 public:
  // Builds the reference; an error carries the compiler's words.
  [[nodiscard]] static Result<Oracle> open(const Task& task, const Toolchain& toolchain,
                                           const OracleSettings& settings,
                                           std::stop_token stop = {});

  // Inputs drawn that way, as set 0 of the oracle's plan at those axes. An error means that the
  // reference failed, which draws the inputs of some tasks itself.
  [[nodiscard]] Result<Arena> inputs(const InputDraw& draw);
  // The same for several draws of values at once (at most runner::max_draws), a set each.
  [[nodiscard]] Result<Arena> inputs(const InputDraw& draw, const std::vector<SetDraw>& sets);

  // The outputs for inputs drawn that way. An error means that the reference failed.
  [[nodiscard]] Result<Expected> expect(const InputDraw& draw);
  // As expect, for inputs that lie in `inputs` (set 0 of a plan of this task at those axes).
  [[nodiscard]] Result<Expected> expect(const InputDraw& draw, const Arena& inputs);

  // Both again in a GPU's memory, by references that are PyTorch modules. Draws the inputs of the
  // first sets of `plan`, one draw a set.
  [[nodiscard]] Status draw_into(const BufferPlan& plan, const DeviceTensors& memory,
                                 const std::vector<SetDraw>& draws);
  // Writes the outputs in double for the inputs of the only set of `plan`, one of the oracle's.
  // False: the GPU's memory does not suffice.
  [[nodiscard]] Result<bool> expect_into(const BufferPlan& plan, const DeviceTensors& memory);

  // Starts the process now instead of at the first question.
  [[nodiscard]] Status start_process();

  // How long references of C++ have computed outputs in all.
  [[nodiscard]] const WorkTime& work_time() const { return *work_time_; }

  // How many floating operations the reference does at that shape; nothing when it cannot be
  // compiled with a counting number type (`why` says so).
  [[nodiscard]] Result<double> count_operations(const Axes& axes, const Toolchain& toolchain);

 private:
  Oracle(Task task, OracleSettings settings)
      : task_(std::move(task)), settings_(std::move(settings)) {}
  [[nodiscard]] Result<RunnerSettings> runner(const StagedLibrary& library) const;
  [[nodiscard]] Result<RunnerProcess> start(const StagedLibrary& library) const;
  [[nodiscard]] Status load(RunnerProcess& process, const StagedLibrary& library) const;
  [[nodiscard]] Status need_process();
  [[nodiscard]] Status draw_inputs(const BufferPlan& plan, const Arena& inputs,
                                   const std::vector<SetDraw>& draws);
  [[nodiscard]] Status attach(RunnerProcess& process, const BufferPlan& plan, const Arena& inputs,
                              const Arena& outputs) const;
  [[nodiscard]] Status attach(const BufferPlan& plan, const DeviceTensors& memory);
  [[nodiscard]] Status draw_sets(const std::vector<SetDraw>& draws);
  [[nodiscard]] Exchange ask(RunnerProcess& process) const;
  [[nodiscard]] Status call(RunnerProcess& process) const;
  [[nodiscard]] Expected collect(const BufferPlan& plan, const Arena& outputs) const;

  Task task_;
  OracleSettings settings_;
  std::optional<StagedLibrary> library_;
  std::optional<RunnerProcess> process_;
  bool loaded_ = false;         // whether the process has the reference
  std::uint64_t attached_ = 0;  // the GPU's memory that it has mapped
  std::unique_ptr<WorkTime> work_time_ = std::make_unique<WorkTime>();
};

// How far outputs are from `expected`, one entry an output. `outputs` are the output regions of one
// set, as the plan lays them out; `baseline` (likewise, or null) excuses elements where it is not
// finite.
[[nodiscard]] std::vector<TensorError> check_outputs(const Task& task, const BufferPlan& plan,
                                                     const char* outputs, const Expected& expected,
                                                     const char* baseline);

}  // namespace kernelpro
