#include <limits>

#include "common/base/clock.hpp"
#include "common/base/machine_lock.hpp"
#include "common/base/secret.hpp"
#include "worker/judge/correctness.hpp"
#include "worker/judge/evaluation_run.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/time_limit.hpp"
#include "worker/judge/tracing.hpp"
#include "worker/toolchain/flags.hpp"

namespace kernelpro {

EvaluationRun::EvaluationRun(Judge& judge, const EvaluateRequest& request,
                             const StageListener& listener, std::stop_token stop)
    : judge_(judge), request_(request), listener_(listener), stop_(std::move(stop)) {
  out_.master = request.master ? *request.master : secret_key();
  out_.incumbent = request.incumbent ? *request.incumbent : judge.baseline_candidate_;
  out_.verdict.verified = judge.settings_.landlock;
  accepted_.precisions = judge.task_.tolerance.allow_precision;
  append(accepted_.precisions, request.allow_precision);
}

Evaluation EvaluationRun::run() {
  if (const Status status = run_stages(); !status) {
    out_.verdict.outcome = Outcome::not_judged;
    out_.verdict.rule = "";
    out_.verdict.summary = status.error().text();
  }
  return std::move(out_);
}

// The judge in two functions: stages in order, ending at the first failure.
Status EvaluationRun::run_stages() {
  if (request_.timed && !judge_.settings_.timed) {
    return make_error(ErrorKind::bad_input, "the task was opened for correctness only");
  }
  KP_TRY(build());
  if (failed_) {
    return {};
  }
  KP_LET(const MachineLock lock, MachineLock::acquire(judge_.ground_.lock_name(), LockMode::timing,
                                                      judge_.settings_.lock_timeout_ms, stop_));
  const std::int64_t start = now_ns();
  KP_TRY(request_.timed && !request_.brief ? judge_.calm_noise() : Status());
  KP_TRY(start_baseline());
  KP_TRY(judge_candidate());
  if (!failed_) {
    pass(out_.verdict, request_.timed, "the " + rival());
  }
  out_.verdict.judge_ns = now_ns() - start;
  return {};
}

// With the machine to ourselves.
Status EvaluationRun::judge_candidate() {
  KP_TRY(try_or_blame());
  return failed_ || !request_.timed ? Status() : compare_to_incumbent();
}

// How long its timing may take is by what the incumbent takes alone.
Status EvaluationRun::try_or_blame() {
  KP_TRY(request_.timed ? time_incumbent_alone() : Status());
  const Status tried = try_candidate();
  return tried ? tried : blame(tried.error());
}

// Stopping a process does not stop its kernels. Who of ours missed its time beside it and does
// not without it was kept from the device.
Status EvaluationRun::blame(const Error& error) {
  candidate_.reset();
  const bool kept = error.kind == ErrorKind::timeout && judge_.ground_.enqueues();
  if (!kept) {
    return error;
  }
  KP_TRY(request_.timed ? time_incumbent_alone() : Status());
  fail({Outcome::timed_out, "", "it kept others from the device in their turn", {error.text()}});
  return {};
}

// Through every check and timing; its process ends with that.
Status EvaluationRun::try_candidate() {
  KP_TRY(start_candidate());
  KP_TRY(failed_ ? Status() : within_limit(&EvaluationRun::check_all));
  KP_TRY(failed_ || !request_.timed ? Status() : within_limit(&EvaluationRun::time_all));
  candidate_->hold_to(nullptr);
  KP_TRY(failed_ || !request_.timed || !request_.energy ? Status() : measure_all_energy());
  candidate_.reset();
  return failed_ || !request_.timed || request_.brief ? Status() : ask_other_processes();
}

// By what the incumbent takes alone, where that was measured, or the baseline did when the task was
// opened.
std::chrono::milliseconds EvaluationRun::longest_part() const {
  std::vector<double> calls_ns = alone_ns_;
  for (std::size_t i = calls_ns.size(); i < judge_.shapes_.size(); ++i) {
    calls_ns.push_back(judge_.shapes_[i].solo_ns);
  }
  return longest_timing(calls_ns);
}

// Checks and timing take seconds; of a candidate that holds the device they would take hours.
Status EvaluationRun::within_limit(Status (EvaluationRun::*part)()) {
  std::optional<TimeLimit> limit;
  // In checks PyTorch computes the truth of its modules, for as long as that takes.
  const bool truth_takes_long = judge_.task_.reference.torch && part == &EvaluationRun::check_all;
  if (judge_.ground_.enqueues() && !truth_takes_long) {
    limit.emplace(candidate_->pid(), longest_part(), judge_.oracle_->work_time());
  }
  const Status done = (this->*part)();
  return limit && limit->passed() ? Status(TimeLimit::error()) : done;
}

// Once the candidate's process is gone.
Status EvaluationRun::compare_to_incumbent() {
  if (request_.brief) {
    out_.verdict.remarks.emplace_back("a brief look, as a search needs it: no claim stands on it");
  } else {
    KP_TRY(time_incumbent_alone());
    KP_TRY(try_incumbent_as_candidate());
  }
  compare_all();
  KP_TRY(request_.brief ? Status() : try_candidate_beside_baseline());
  trace_short_calls();
  return {};
}

void EvaluationRun::enter(Stage stage, const std::string& text) {
  out_.verdict.stage = stage;
  if (listener_) {
    listener_(stage, text);
  }
}

void EvaluationRun::fail(Failure failure) {
  failed_ = true;
  kernelpro::fail(out_.verdict, std::move(failure));
}

Status EvaluationRun::build() {
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
    KP_LET(BuildOutcome incumbent,
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

Status EvaluationRun::start_baseline() {
  KP_LET(baseline_, judge_.baseline());
  return {};
}

// Whom the candidate is timed against.
Result<Arm*> EvaluationRun::other_arm() {
  return request_.incumbent ? judge_.incumbent(incumbent_build_) : judge_.timed_baseline();
}

// Before the candidate's process exists and after its death: the smaller of the two is kept.
Status EvaluationRun::time_incumbent_alone() {
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

Status EvaluationRun::start_candidate() {
  enter(Stage::smoke, "loading");
  KP_LET(candidate_, judge_.start_arm(build_, request_.may_link));
  if (build_.torch_mode.empty() && !judge_.ground_.enqueues()) {
    allowance_.emplace(calls_at_the_deadline * judge_.settings_.call_timeout_ms);
    candidate_->hold_to(&*allowance_);
  }
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

Status EvaluationRun::check_all() {
  KP_LET(std::vector<CheckCase> cases,
         request_.repeat_checks.empty()
             ? draw_cases(judge_.task_, timed_shapes(judge_.task_, judge_.ground_.backend()),
                          out_.master, judge_.settings_.held_out_shapes)
             : cases_from_records(judge_.task_, request_.repeat_checks, out_.master));
  Correctness correctness(judge_.task_, judge_.ground_, *judge_.oracle_, *baseline_, *candidate_,
                          judge_.settings_, accepted_.precisions);
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
    KP_TRY(checked ? Status() : checked.error());
    if (*checked) {
      fail(std::move(**checked));
      return {};
    }
  }
  out_.verdict.precision = correctness.precision();
  accepted_.bounds = correctness.bounds();
  accepted_.lower_bounds = correctness.lower_bounds();
  return {};
}

Status EvaluationRun::time_all() {
  enter(Stage::timing, "timing");
  out_.verdict.timing.brief = request_.brief;
  KP_LET(Arm * null, judge_.null());
  KP_LET(Arm * other, other_arm());
  for (std::size_t i = 0; i < judge_.shapes_.size(); ++i) {
    const TimedShape& shape = judge_.shapes_[i];
    TimingInputs in = processes().inputs_at(i, *candidate_, *other, *null);
    in.screen = screens_;
    in.brief = request_.brief;
    in.baseline = request_.incumbent && judge_.task_.reference.baseline ? baseline_ : nullptr;
    enter(Stage::timing, "timing " + shape_text(judge_.task_, shape.axes));
    KP_LET(TimingOutcome timed, time_shape(in, shape, *judge_.rounds_[i]));
    out_.verdict.timing.shapes.push_back(std::move(timed.timing));
    busy_.push_back(timed.busy);
    savings_.push_back(timed.savings);
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

OtherProcesses EvaluationRun::processes() const {
  const BuildOutcome& other = request_.incumbent ? incumbent_build_ : judge_.baseline_build_;
  return {judge_, build_, other, request_.may_link, out_.master, accepted_};
}

Status EvaluationRun::ask_other_processes() {
  KP_LET(Arm * other, other_arm());
  KP_LET(std::optional<Failure> failure,
         processes().ask(*other, alone_ns_, savings_, out_.verdict.timing.shapes));
  if (failure) {
    fail(std::move(*failure));
  }
  return {};
}

// What the incumbent took alone is known only now. On a busy machine its time while the task was
// opened counts as well: then it may have been quieter.
void EvaluationRun::compare_all() {
  for (std::size_t i = 0; i < out_.verdict.timing.shapes.size(); ++i) {
    ShapeTiming& timing = out_.verdict.timing.shapes[i];
    const double opened_ns = judge_.shapes_[i].solo_ns;
    const bool counts = busy_[i] && !request_.incumbent && opened_ns > 0;
    count_incumbent_at_its_best(timing, counts ? std::min(alone_ns_[i], opened_ns) : alone_ns_[i]);
    append(out_.verdict.remarks, remarks_on(timing, rival()));
  }
  combine_shapes(out_.verdict.timing);
}

// The verdict stands without it: what keeps us from measuring energy is said and no more.
Status EvaluationRun::measure_all_energy() {
  const Result<EnergyMeter*> meter = judge_.ground_.energy_meter();
  Energy energy;
  Status measured = meter ? Status() : Status(meter.error());
  if (judge_.task_.reference.torch) {
    measured =
        make_error(ErrorKind::bad_input, "PyTorch's process also copies and flushes between calls");
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

Status EvaluationRun::measure_shape_energy(EnergyMeter& meter, std::size_t i, Energy& energy) {
  KP_LET(Arm * other, other_arm());
  const Axes& axes = judge_.shapes_[i].axes;
  const EnergyInputs in{
      judge_.task_,
      meter,
      judge_.settings_,
      *candidate_,
      *other,
      out_.verdict.timing.shapes[i],
      judge_.ground_.cache_bytes(),
      derive(out_.master, energy_shape_purpose, i),
      widened(agreement_bounds(accepted_.bounds, axes, judge_.task_.outputs.size()),
              at_shape(accepted_.lower_bounds, axes)),
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
void EvaluationRun::trace_short_calls() {
  const bool wanted = judge_.settings_.trace || has_short_call(out_.verdict.timing.shapes);
  const Status traced = judge_.ground_.enqueues() && wanted ? trace_all() : Status();
  if (!traced) {
    out_.verdict.evidence.push_back("not traced: " + traced.error().text());
  }
}

Status EvaluationRun::trace_all() {
  enter(Stage::timing, "tracing");
  KP_LET(Arm arm, judge_.start_arm(build_, request_.may_link, true));
  const TimeLimit limit(arm.pid(), longest_part(), judge_.oracle_->work_time());
  return trace_shapes(arm, build_.record, judge_.rounds_, out_.master,
                      judge_.settings_.call_timeout_ms, out_.verdict.timing.shapes);
}

Evaluation Judge::evaluate(const EvaluateRequest& request, const StageListener& listener,
                           std::stop_token stop) {
  return EvaluationRun(*this, request, listener, std::move(stop)).run();
}

}  // namespace kernelpro
