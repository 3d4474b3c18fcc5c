// The judge: opens a task once, then says of any number of candidates whether each is correct,
// honest and faster.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/model/certificate.hpp"
#include "worker/judge/settings.hpp"
#include "worker/judge/timing.hpp"

namespace kernelpro {

using StageListener = std::function<void(Stage stage, const std::string& text)>;

struct EvaluateRequest {
  Candidate candidate;
  std::optional<Candidate> incumbent;        // none: the baseline
  bool may_link = false;                     // a comparator of the task
  std::vector<std::string> allow_precision;  // beside what the task allows
  bool timed = true;                         // false: correctness only
  bool brief = false;                        // timed as a search needs it
  bool energy = false;                       // joules too; needs `timed`
  std::optional<Key> master;                 // none: secret and fresh
  std::vector<CheckRecord> repeat_checks;    // not empty: these instead of fresh draws
};

struct Evaluation {
  Verdict verdict;
  Candidate incumbent;
  BuildRecord build;
  BuildRecord incumbent_build;
  Key master;
  std::string implementation;  // what a comparator says it ran
};

class Judge {
 public:
  // Builds reference, baseline and null candidate, times the baseline at every timed shape and
  // measures the noise floor there. Errors are the task's or the machine's. Toolchain and ground
  // must outlive the judge.
  [[nodiscard]] static Result<std::unique_ptr<Judge>> open(const Task& task,
                                                           const Toolchain& toolchain,
                                                           const Ceilings& ceilings, Ground& ground,
                                                           const JudgeSettings& settings,
                                                           std::stop_token stop = {});

  // Always a verdict: what goes wrong on our side is `not_judged`.
  [[nodiscard]] Evaluation evaluate(const EvaluateRequest& request,
                                    const StageListener& listener = {}, std::stop_token stop = {});

  [[nodiscard]] const std::vector<TimedShape>& timed_shapes() const { return shapes_; }
  [[nodiscard]] const Task& task() const { return task_; }
  // What candidates are given.
  [[nodiscard]] int threads() const { return settings_.threads; }
  [[nodiscard]] Oracle& oracle() { return *oracle_; }
  [[nodiscard]] Ground& ground() const { return ground_; }
  // Measures a noise floor again that something passing may have raised. Before a claim; needs the
  // machine's lock.
  [[nodiscard]] Status calm_noise();
  // The baseline's runner, started anew when it has died.
  [[nodiscard]] Result<Arm*> baseline();

 private:
  Judge(Task task, const Toolchain& toolchain, Ceilings ceilings, Ground& ground,
        JudgeSettings settings)
      : task_(std::move(task)),
        toolchain_(toolchain),
        ceilings_(std::move(ceilings)),
        ground_(ground),
        settings_(std::move(settings)) {}

  [[nodiscard]] Status build_own(std::stop_token stop);
  // A baseline or comparator of the task.
  [[nodiscard]] Result<BuildOutcome> build_implementation(const Candidate& implementation,
                                                          std::stop_token stop);
  [[nodiscard]] Status start_torch();
  [[nodiscard]] Result<Arm> start_arm(const BuildOutcome& build, bool may_link,
                                      bool tracing = false) const;
  // The runner at `arm`, started anew when there is none or it has died. Our own code and what has
  // passed is kept from one evaluation to the next; on a GPU a start takes a quarter of a second.
  [[nodiscard]] Result<Arm*> kept(std::optional<Arm>& arm, const BuildOutcome& build,
                                  const std::string& whose) const;
  // Another runner of it for timings, which keeps their buffers mapped; PyTorch's is the same,
  // since it takes much memory and few buffers.
  [[nodiscard]] Result<Arm*> timed_baseline();
  [[nodiscard]] Result<Arm*> null();
  [[nodiscard]] Result<Arm*> incumbent(const BuildOutcome& build);
  // For arms that are not on trial.
  [[nodiscard]] static std::int64_t own_timeout_ms();
  [[nodiscard]] Status measure_shape(const Axes& given);
  [[nodiscard]] Result<double> baseline_time(const ShapeBuffers& buffers);
  [[nodiscard]] Result<NullClock> null_clock(const ShapeBuffers& buffers);
  [[nodiscard]] Status measure_noise(TimedShape& shape, Rounds& rounds, int most_tries);
  [[nodiscard]] Status measure_empty_rounds(TimedShape& shape, Rounds& rounds);
  // Whether the reference's values have room while no candidate is there.
  [[nodiscard]] Status try_truth(const TimedShape& shape, Rounds& rounds);
  [[nodiscard]] Result<double> compare_twins(TimedShape& shape, Rounds& rounds, Arm& first,
                                             Arm& twin) const;
  [[nodiscard]] std::size_t buffer_bytes() const;

  friend class EvaluationRun;
  friend class OtherProcesses;

  Task task_;
  const Toolchain& toolchain_;
  Ceilings ceilings_;
  Ground& ground_;
  JudgeSettings settings_;
  std::optional<Oracle> oracle_;
  std::optional<ScratchDir> modules_;  // what PyTorch runs as it is
  Candidate baseline_candidate_;
  BuildOutcome baseline_build_;
  BuildOutcome null_build_;
  std::optional<Arm> baseline_;
  std::optional<Arm> timed_baseline_;
  std::optional<Arm> twin_;  // of the baseline, while the noise is measured
  std::optional<Arm> null_;
  std::optional<Arm> incumbent_;  // of the last evaluation that had one
  std::string incumbent_hash_;
  bool truth_fits_ = false;
  std::vector<TimedShape> shapes_;
  std::vector<std::unique_ptr<Rounds>> rounds_;  // the buffers of each timed shape
};

// How `candidate` is built. Only the task's `own` implementations may link libraries and include
// the task's files.
[[nodiscard]] BuildRequest build_request(const Task& task, const Candidate& candidate, bool own);

// Whether it is, to the letter, a module of the task's that PyTorch runs as it is. Nothing else
// that a candidate asks for is ever run by PyTorch.
[[nodiscard]] bool is_own_module(const Task& task, const Candidate& candidate);

// The candidate a baseline or comparator of the task stands for.
[[nodiscard]] Candidate candidate_of(const Task& task, const ImplementationSpec& implementation);

}  // namespace kernelpro
