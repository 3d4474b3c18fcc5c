#include <algorithm>
#include <limits>

#include "common/base/clock.hpp"
#include "common/base/machine_lock.hpp"
#include "common/base/secret.hpp"
#include "worker/judge/correctness.hpp"
#include "worker/judge/energy.hpp"
#include "worker/judge/judge.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/statistics.hpp"
#include "worker/judge/tracing.hpp"
#include "worker/judge/verdict_sum.hpp"
#include "worker/toolchain/flags.hpp"

namespace kernelpro {

// One evaluation from build to verdict.
class EvaluationRun {
 public:
  EvaluationRun(Judge& judge, const EvaluateRequest& request, const StageListener& listener,
                std::stop_token stop)
      : judge_(judge), request_(request), listener_(listener), stop_(std::move(stop)) {
    out_.master = request.master ? *request.master : secret_key();
    out_.incumbent = request.incumbent ? *request.incumbent : judge.baseline_candidate_;
    out_.verdict.verified = judge.settings_.landlock;
    allowed_ = judge.task_.tolerance.allow_precision;
    allowed_.insert(allowed_.end(), request.allow_precision.begin(), request.allow_precision.end());
  }

  Evaluation run() {
    const Status status = run_stages();
    if (!status) {
      out_.verdict.outcome = Outcome::not_judged;
      out_.verdict.rule = "";
      out_.verdict.summary = status.error().text();
    }
    return std::move(out_);
  }

 private:
  // The judge in two functions: stages in order, ending at the first failure.
  [[nodiscard]] Status run_stages() {
    if (request_.timed && !judge_.settings_.timed) {
      return make_error(ErrorKind::bad_input, "the task was opened for correctness only");
    }
    KP_TRY(build());
    if (failed_) {
      return {};
    }
    KP_LET(const MachineLock lock,
           MachineLock::acquire(judge_.ground_.lock_name(), LockMode::timing,
                                judge_.settings_.lock_timeout_ms, stop_));
    const std::int64_t start = now_ns();
    KP_TRY(start_baseline());
    KP_TRY(judge_candidate());
    if (!failed_) {
      pass(out_.verdict, request_.timed, "the " + rival());
    }
    out_.verdict.judge_ns = now_ns() - start;
    return {};
  }

  // With the machine to ourselves.
  [[nodiscard]] Status judge_candidate() {
    if (request_.timed) {
      KP_TRY(time_incumbent_alone());
    }
    KP_TRY(try_candidate());
    return failed_ || !request_.timed ? Status() : compare_to_incumbent();
  }

  // Through every check and timing; its process ends with that.
  [[nodiscard]] Status try_candidate() {
    KP_TRY(start_candidate());
    if (!failed_) {
      KP_TRY(check_all());
    }
    if (!failed_ && request_.timed) {
      KP_TRY(measure_all());
    }
    candidate_.reset();
    return {};
  }

  [[nodiscard]] Status measure_all() {
    KP_TRY(time_all());
    return !failed_ && request_.energy ? measure_all_energy() : Status();
  }

  // Once the candidate's process is gone.
  [[nodiscard]] Status compare_to_incumbent() {
    KP_TRY(time_incumbent_alone());
    KP_TRY(try_incumbent_as_candidate());
    compare_all();
    trace_short_calls();
    return {};
  }

  void enter(Stage stage, const std::string& text) {
    out_.verdict.stage = stage;
    if (listener_) {
      listener_(stage, text);
    }
  }

  void fail(Failure failure) {
    failed_ = true;
    kernelpro::fail(out_.verdict, std::move(failure));
  }

  [[nodiscard]] Status build() {
    enter(Stage::build, "building");
    KP_LET(build_, request_.may_link || is_own_module(judge_.task_, request_.candidate)
                       ? judge_.build_implementation(request_.candidate, stop_)
                       : judge_.toolchain_.build(
                             build_request(judge_.task_, request_.candidate, false), stop_));
    out_.build = build_.record;
    out_.verdict.build_ns = build_.wall_ns;
    if (!build_.ok) {
      fail(build_failure(build_));
      return {};
    }
    incumbent_build_ = judge_.baseline_build_;
    if (request_.incumbent) {
      KP_LET(
          BuildOutcome incumbent,
          judge_.toolchain_.build(build_request(judge_.task_, *request_.incumbent, false), stop_));
      if (!incumbent.ok) {
        return make_error(ErrorKind::bad_input, incumbent.diagnostics,
                          "the incumbent does not build");
      }
      incumbent_build_ = std::move(incumbent);
    }
    out_.incumbent_build = incumbent_build_.record;
    return {};
  }

  [[nodiscard]] Status start_baseline() {
    KP_LET(baseline_, judge_.baseline());
    return {};
  }

  [[nodiscard]] std::string rival() const { return request_.incumbent ? "incumbent" : "baseline"; }

  // Whom the candidate is timed against.
  [[nodiscard]] Result<Arm*> other_arm() {
    return request_.incumbent ? judge_.incumbent(incumbent_build_) : judge_.timed_baseline();
  }

  // Before the candidate's process exists and after its death: the smaller of the two is kept.
  [[nodiscard]] Status time_incumbent_alone() {
    enter(Stage::timing, "timing the incumbent alone");
    KP_LET(Arm * other, other_arm());
    const bool first = alone_ns_.empty();
    alone_ns_.resize(judge_.shapes_.size(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < judge_.shapes_.size(); ++i) {
      KP_LET(const double alone,
             time_alone(*other, judge_.shapes_[i], *judge_.rounds_[i],
                        derive(out_.master, time_alone_purpose, 2 * i + (first ? 0 : 1)),
                        Judge::own_timeout_ms()));
      alone_ns_[i] = std::min(alone_ns_[i], alone);
    }
    return {};
  }

  // An incumbent that is a candidate may see that it is one, and take its time. Before anyone is
  // called faster than it, it goes through all that a candidate goes through, and its best counts.
  [[nodiscard]] Status try_incumbent_as_candidate() {
    const std::vector<ShapeTiming>& shapes = out_.verdict.timing.shapes;
    if (!request_.incumbent ||
        std::ranges::find(shapes, Comparison::faster, &ShapeTiming::comparison) == shapes.end()) {
      return {};
    }
    EvaluateRequest as_candidate;
    as_candidate.candidate = *request_.incumbent;
    as_candidate.allow_precision = request_.allow_precision;
    as_candidate.master = derive(out_.master, incumbent_again_purpose);
    EvaluationRun again(judge_, as_candidate, listener_, stop_);
    again.build_ = incumbent_build_;
    KP_TRY(again.start_baseline());
    KP_TRY(again.try_candidate());
    if (again.failed_) {
      // Whoever is slow on purpose could fail on purpose as well, and what it can do is not known.
      out_.verdict.suspicions.push_back("the incumbent does not pass as a candidate: " +
                                        again.out_.verdict.summary);
      return {};
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const ShapeTiming& own = again.out_.verdict.timing.shapes[i];
      if (!own.screened && own.candidate_ns * (1 + own.budget.total()) < shapes[i].incumbent_ns) {
        alone_ns_[i] = std::min(alone_ns_[i], own.candidate_ns);
      }
    }
    return {};
  }

  [[nodiscard]] Status start_candidate() {
    enter(Stage::smoke, "loading");
    KP_LET(candidate_, judge_.start_arm(build_, request_.may_link));
    // PyTorch is ours, and may have to compile its module.
    constexpr std::int64_t torch_timeout_ms = 600'000;
    const std::int64_t timeout_ms =
        build_.torch_mode.empty() ? judge_.settings_.call_timeout_ms : torch_timeout_ms;
    if (auto failure = candidate_->load(timeout_ms)) {
      fail(std::move(*failure));
      return {};
    }
    out_.implementation = candidate_->implementation();
    return {};
  }

  [[nodiscard]] Status check_all() {
    KP_LET(std::vector<CheckCase> cases,
           request_.repeat_checks.empty()
               ? draw_cases(judge_.task_, timed_shapes(judge_.task_, judge_.ground_.backend()),
                            out_.master, judge_.settings_.held_out_shapes)
               : cases_from_records(judge_.task_, request_.repeat_checks, out_.master));
    Correctness correctness(judge_.task_, judge_.ground_, *judge_.oracle_, *baseline_, *candidate_,
                            judge_.settings_, allowed_);
    for (const std::unique_ptr<Rounds>& rounds : judge_.rounds_) {
      correctness.may_borrow(rounds->buffers());
    }
    correctness.expect_truth(judge_.truth_fits_);
    for (const CheckCase& item : cases) {
      if (stop_.stop_requested()) {
        return make_error(ErrorKind::interrupted, "the evaluation was interrupted");
      }
      if (item.stage != out_.verdict.stage || item.stage == Stage::smoke) {
        enter(item.stage, std::string(name_of(item.stage)));
      }
      Result<std::optional<Failure>> checked = correctness.check(item);
      out_.verdict.checks = correctness.records();
      if (!checked) {
        return checked.error();
      }
      if (*checked) {
        fail(std::move(**checked));
        return {};
      }
    }
    out_.verdict.precision = correctness.precision();
    bounds_ = correctness.bounds();
    lower_bounds_ = correctness.lower_bounds();
    return {};
  }

  [[nodiscard]] std::vector<double> agreement_bounds(const Axes& axes) const {
    return kernelpro::agreement_bounds(bounds_, axes, judge_.task_.outputs.size());
  }

  [[nodiscard]] Status time_all() {
    enter(Stage::timing, "timing");
    KP_LET(Arm * null, judge_.null());
    KP_LET(Arm * other, other_arm());
    for (std::size_t i = 0; i < judge_.shapes_.size(); ++i) {
      const TimedShape& shape = judge_.shapes_[i];
      TimingInputs in{judge_.task_,
                      judge_.ground_,
                      *judge_.oracle_,
                      judge_.settings_,
                      judge_.ceilings_,
                      *candidate_,
                      *other,
                      *null,
                      derive(out_.master, time_shape_purpose, i),
                      agreement_bounds(shape.axes),
                      at_shape(lower_bounds_, shape.axes),
                      allowed_};
      enter(Stage::timing, "timing " + shape_text(judge_.task_, shape.axes));
      KP_LET(TimingOutcome timed, time_shape(in, shape, *judge_.rounds_[i]));
      out_.verdict.timing.shapes.push_back(std::move(timed.timing));
      busy_.push_back(timed.busy);
      out_.verdict.precision = less_precise(out_.verdict.precision, timed.precision);
      append(out_.verdict.suspicions, timed.suspicions);
      append(out_.verdict.remarks, timed.remarks);
      if (timed.failure) {
        fail(std::move(*timed.failure));
        return {};
      }
    }
    append(out_.verdict.remarks, judge_.ground_.disturbances());
    return {};
  }

  // What the incumbent took alone is known only now. On a busy machine its time while the task was
  // opened counts as well: then it may have been quieter.
  void compare_all() {
    for (std::size_t i = 0; i < out_.verdict.timing.shapes.size(); ++i) {
      ShapeTiming& timing = out_.verdict.timing.shapes[i];
      const double opened_ns = judge_.shapes_[i].solo_ns;
      const bool counts = busy_[i] && !request_.incumbent && opened_ns > 0;
      count_incumbent_at_its_best(timing,
                                  counts ? std::min(alone_ns_[i], opened_ns) : alone_ns_[i]);
      if (timing.at_least) {
        out_.verdict.remarks.push_back(slower_in_pairs(timing, rival()));
      }
    }
    combine_shapes(out_.verdict.timing);
  }

  // The verdict stands without it: what keeps us from measuring energy is said and no more.
  [[nodiscard]] Status measure_all_energy() {
    const Result<EnergyMeter*> meter = judge_.ground_.energy_meter();
    Energy energy;
    Status measured = meter ? Status() : Status(meter.error());
    if (judge_.task_.reference.torch) {
      measured = make_error(ErrorKind::bad_input,
                            "PyTorch's process also copies and flushes between calls");
    }
    for (std::size_t i = 0; i < judge_.shapes_.size() && measured && !failed_; ++i) {
      measured = measure_shape_energy(**meter, i, energy);
    }
    if (stop_.stop_requested()) {
      return make_error(ErrorKind::interrupted, "the evaluation was interrupted");
    }
    if (!measured) {
      out_.verdict.evidence.push_back("energy was not measured: " + measured.error().text());
    } else if (!failed_) {
      energy.meter = (*meter)->name();
      combine_energy(energy);
      out_.verdict.energy = std::move(energy);
    }
    return {};
  }

  [[nodiscard]] Status measure_shape_energy(EnergyMeter& meter, std::size_t i, Energy& energy) {
    KP_LET(Arm * other, other_arm());
    const Axes& axes = judge_.shapes_[i].axes;
    const EnergyInputs in{judge_.task_,
                          meter,
                          judge_.settings_,
                          *candidate_,
                          *other,
                          out_.verdict.timing.shapes[i],
                          judge_.ground_.cache_bytes(),
                          derive(out_.master, energy_shape_purpose, i),
                          widened(agreement_bounds(axes), at_shape(lower_bounds_, axes)),
                          [this](const std::string& text) { enter(Stage::timing, text); },
                          stop_};
    KP_LET(EnergyOutcome outcome, measure_energy(in, *judge_.rounds_[i]));
    if (outcome.failure) {
      fail(std::move(*outcome.failure));
      return {};
    }
    energy.circumstances = std::move(outcome.circumstances);
    energy.shapes.push_back(std::move(outcome.energy));
    append(energy.remarks, outcome.remarks);
    append(out_.verdict.suspicions, outcome.suspicions);
    return {};
  }

  // Nothing is charged to a candidate that cannot be traced; that it was not is said.
  void trace_short_calls() {
    const std::vector<ShapeTiming>& shapes = out_.verdict.timing.shapes;
    const bool short_call = std::ranges::any_of(
        shapes, [](double call_ns) { return call_ns < short_call_ns; }, &ShapeTiming::candidate_ns);
    if (!judge_.ground_.enqueues() || !(short_call || judge_.settings_.trace)) {
      return;
    }
    enter(Stage::timing, "tracing");
    if (const Status traced = trace_all(); !traced) {
      out_.verdict.evidence.push_back("not traced: " + traced.error().text());
    }
  }

  [[nodiscard]] Status trace_all() {
    KP_LET(Arm arm, judge_.start_arm(build_, request_.may_link, true));
    return trace_shapes(arm, build_.record, judge_.rounds_, out_.master,
                        judge_.settings_.call_timeout_ms, out_.verdict.timing.shapes);
  }

  Judge& judge_;
  const EvaluateRequest& request_;
  const StageListener& listener_;
  std::stop_token stop_;
  Evaluation out_;
  bool failed_ = false;
  std::vector<std::string> allowed_;
  BuildOutcome build_;
  BuildOutcome incumbent_build_;
  Arm* baseline_ = nullptr;
  std::optional<Arm> candidate_;
  std::vector<double> alone_ns_;  // the incumbent's call at each timed shape, at its best
  ShapeBounds bounds_;            // by output, what the checks had to keep there
  ShapeBounds lower_bounds_;      // of a precision that was accepted
  std::vector<bool> busy_;        // whether other programs disturbed the timing of that shape
};

Evaluation Judge::evaluate(const EvaluateRequest& request, const StageListener& listener,
                           std::stop_token stop) {
  return EvaluationRun(*this, request, listener, std::move(stop)).run();
}

}  // namespace kernelpro
