// One side of a comparison: a built candidate in a runner of its own, with its workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/judge/allowance.hpp"
#include "worker/judge/failure.hpp"
#include "worker/judge/ground.hpp"
#include "worker/runner/staged_library.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

// What one round gave: K calls between one go and one stop.
struct Round {
  std::optional<Failure> failure;
  double claim_ns = 0;   // the runner's own clock over all calls
  double wall_ns = 0;    // ours, from letting it go until it is stopped and its device is idle
  double delay_ns = 0;   // the part of it that the runner and we waited for a processor
  double busy_ns = 0;    // the runner's share of that: what a busy machine takes
  double others_ns = 0;  // that its other threads waited; it is stopped when all of them are
  double used_ns = 0;    // processor time that all of its threads used, on a CPU
  bool trusted = false;  // its claim is our clock too, and no hand-over is in it
  bool gated = false;    // behind a gate: our clock is the device's
};

// How many times the processor time that so many threads can use in an exchange was used there; at
// least 1. What a thread more did counts as if those given had done it.
[[nodiscard]] double overuse(const Exchange& answer, int threads);

class Arm {
 public:
  // Starts a runner on `ground`, which must outlive it. `may_link`: a comparator, which may read
  // the system's libraries. `buffer_bytes`: the largest buffers it will see, for its memory limit.
  // `tracing`: able to trace; an environment error where the ground has no tracer. Errors are ours.
  [[nodiscard]] static Result<Arm> start(Ground& ground, const JudgeSettings& settings,
                                         const BuildOutcome& build, bool may_link,
                                         std::size_t buffer_bytes, bool tracing = false);

  // Loads the shared object: constructors run here.
  [[nodiscard]] std::optional<Failure> load(std::int64_t timeout_ms);

  // Maps that side's buffers of `plan`, asks for workspace and state and provides them. What it has
  // mapped already stays, and gets the plan's scalars. The memory must outlive its next runs.
  [[nodiscard]] std::optional<Failure> attach(const BufferPlan& plan, SetMemory& memory, Side side,
                                              std::int64_t timeout_ms);

  // Runs kp_prepare on all sets, if there is one; its mean cost is kept.
  [[nodiscard]] std::optional<Failure> prepare(std::int64_t timeout_ms);

  // Poisons the workspace, gives the arm its inputs and calls kp_launch on `sets`, in that order;
  // takes its outputs.
  [[nodiscard]] Round run(const std::vector<std::uint16_t>& sets, std::int64_t timeout_ms,
                          Caches caches = Caches::any);

  // As run, for one call behind the gate of its memory, where there is one and the candidate does
  // not wait for its device inside a call. Nothing when it is found that it does: all is to be made
  // ready again, and the next one runs without a gate.
  [[nodiscard]] std::optional<Round> run_single(std::uint16_t set, std::int64_t timeout_ms,
                                                Caches caches);

  // The calls of run on the inputs that it got last, and its outputs are not taken: for what is
  // repeated for seconds while energy is measured.
  [[nodiscard]] Round repeat(const std::vector<std::uint16_t>& sets, std::int64_t timeout_ms);

  // Calls kp_launch on that set once and says what the GPU did, or why that is not known.
  [[nodiscard]] Result<runner::Trace> trace(std::uint16_t set, std::int64_t timeout_ms);

  // Lets what earlier calls left behind run for a while.
  void let_run(std::int64_t milliseconds) { process_.let_run(milliseconds); }

  // What it may take in all, from now on; it must outlive that. Null: each wait has its own
  // deadline and no more.
  void hold_to(Allowance* allowance) { allowance_ = allowance; }
  // The baseline took so long for the same, so many times over.
  void allow_for(double baseline_ns, double times = 1) {
    if (allowance_ != nullptr) {
      allowance_->give_for(baseline_ns, times);
    }
  }

  // Ends its process; nothing can be asked of it any more.
  void end() { process_.end(); }

  [[nodiscard]] bool has_prepare() const { return has_prepare_; }
  [[nodiscard]] double prepare_ns() const { return prepare_ns_; }
  [[nodiscard]] bool alive() const { return process_.alive(); }
  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  // What its workspace holds when a call begins, from now on.
  void leave_in_workspace(unsigned char content) { unwritten_ = content; }
  // Its single calls go through no gate from now on.
  void refuse_gates() { ungated_ = true; }
  // They may again: what of ours came late to a gate need not have waited for its device by itself.
  void allow_gates() { ungated_ = false; }
  // The side whose buffers it has.
  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] const std::string& implementation() const { return implementation_; }
  // Not a candidate's process but PyTorch's: its own clock is the one that counts.
  [[nodiscard]] bool trusted() const { return trusted_; }

 private:
  void leave(Gate& gate, Round& round);
  // The gate that its process has mapped, and the one that its single calls go through.
  [[nodiscard]] Gate* mapped_gate() const { return trusted_ ? nullptr : memory_->gate(side_); }
  [[nodiscard]] Gate* gate() const { return ungated_ ? nullptr : mapped_gate(); }
  [[nodiscard]] static Result<Arm> start_torch(Ground& ground, const JudgeSettings& settings,
                                               const std::string& mode, StagedLibrary library);
  Arm(Ground& ground, RunnerProcess process, StagedLibrary library, int threads, bool tracing)
      : ground_(&ground),
        library_(std::move(library)),
        process_(std::move(process)),
        threads_(threads),
        tracing_(tracing) {}
  [[nodiscard]] std::optional<Failure> check_threads(const Exchange& answer);
  void clear_workspace();
  [[nodiscard]] Round call(const std::vector<std::uint16_t>& sets, std::int64_t timeout_ms,
                           const RunnerProcess::HandOver& around, std::uint32_t gate = 0);
  // Maps the buffers of its side, with the workspace and the state that it needs.
  [[nodiscard]] std::optional<Failure> map(runner::Request& request, std::int64_t timeout_ms);
  // Sends descriptors ahead until the rest fits into one message.
  [[nodiscard]] std::optional<Failure> lend(std::vector<int>& descriptors, std::int64_t timeout_ms);
  [[nodiscard]] std::optional<Failure> ask(runner::Request& request, const std::vector<int>& fds,
                                           std::int64_t timeout_ms, const std::string& doing,
                                           Exchange& out);
  [[nodiscard]] std::optional<Failure> explain(const Exchange& exchange, const std::string& doing);
  // An exchange within what is left of its allowance.
  [[nodiscard]] Exchange wait_for(runner::Request& request, const std::vector<int>& fds,
                                  std::int64_t timeout_ms);

  Ground* ground_;
  StagedLibrary library_;
  RunnerProcess process_;
  int threads_ = 1;
  // Of all calls that used more processor time than its threads can: by how much, what they used,
  // and how long they took.
  double beyond_ns_ = 0;
  double beyond_used_ns_ = 0;
  double beyond_wall_ns_ = 0;
  // What the filter refuses a tracer is no offense of the candidate, which has passed without it.
  bool tracing_ = false;
  bool trusted_ = false;  // not a candidate's process: its clock counts
  std::optional<BufferPlan> plan_;
  SetMemory* memory_ = nullptr;
  std::uint64_t mapped_ = 0;  // the memory whose buffers of `side_` it has
  std::uint64_t workspace_bytes_ = 0;
  std::uint64_t state_bytes_ = 0;
  Side side_ = Side::incumbent;
  std::unique_ptr<Scratch> workspace_;  // none when it asked for none
  unsigned char unwritten_ = poison_byte;
  Allowance* allowance_ = nullptr;
  bool ungated_ = false;  // it waits for its device inside a call, or comes late to its turns
  bool has_prepare_ = false;
  double prepare_ns_ = 0;
  std::string implementation_;
};

}  // namespace kernelpro
