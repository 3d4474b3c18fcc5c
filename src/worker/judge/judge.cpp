#include "worker/judge/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/machine_lock.hpp"
#include "common/base/random.hpp"
#include "worker/judge/statistics.hpp"

namespace kernelpro {

namespace {

constexpr const char* null_source =
    "#include \"kernelpro/candidate.h\"\n"
    "extern \"C\" int kp_launch(const kp_context*, const kp_tensor*, int32_t) { return 0; }\n";

constexpr std::int64_t own_timeout_ms = 120'000;
constexpr int solo_calls = 5;

BuildRequest build_request(const Task& task, const Candidate& candidate) {
  BuildRequest request;
  request.source = candidate.source;
  request.compiler = candidate.compiler;
  request.options = candidate.options;
  request.libraries = candidate.libraries;
  // Only the task's own implementations may lean on its other files.
  if (!candidate.libraries.empty()) {
    request.files = task.files;
  }
  return request;
}

Error from_failure(const Failure& failure, const std::string& whose) {
  return make_error(ErrorKind::bad_input, failure.summary, whose);
}

}  // namespace

Candidate candidate_of(const Task& task, const ImplementationSpec& implementation) {
  Candidate candidate;
  candidate.name = implementation.name;
  candidate.backend = implementation.backend;
  candidate.source = task.files.at(implementation.file);
  candidate.compiler = implementation.compiler;
  candidate.options = implementation.options;
  candidate.libraries = implementation.libraries;
  return candidate;
}

Result<std::unique_ptr<Judge>> Judge::open(const Task& task, const Toolchain& toolchain,
                                           const Ceilings& ceilings, const JudgeSettings& settings,
                                           std::stop_token stop) {
  KP_TRY(validate_task(task));
  std::unique_ptr<Judge> judge(new Judge(task, toolchain, ceilings, settings));
  KP_TRY(judge->build_own(stop));
  const Result<MachineLock> lock =
      MachineLock::acquire("cpu", LockMode::timing, settings.lock_timeout_ms, stop);
  if (!lock) {
    return lock.error();
  }
  for (const Axes& shape : task.timed_shapes) {
    KP_TRY(judge->measure_shape(shape));
  }
  return judge;
}

Status Judge::build_own(std::stop_token stop) {
  Result<Oracle> oracle =
      Oracle::open(task_, toolchain_,
                   OracleSettings{settings_.jail, settings_.oracle, settings_.landlock}, stop);
  if (!oracle) {
    return oracle.error();
  }
  oracle_ = std::move(*oracle);
  const auto spec = std::find_if(task_.baselines.begin(), task_.baselines.end(),
                                 [](const ImplementationSpec& b) { return b.backend == "cpu"; });
  if (spec == task_.baselines.end()) {
    return make_error(ErrorKind::bad_input, "the task has no baseline for the cpu backend",
                      task_.name);
  }
  baseline_candidate_ = candidate_of(task_, *spec);
  BuildRequest null_request;
  null_request.source = null_source;
  Result<BuildOutcome> null = toolchain_.build(null_request, stop);
  Result<BuildOutcome> baseline = toolchain_.build(build_request(task_, baseline_candidate_), stop);
  if (!null || !baseline) {
    return null ? baseline.error() : null.error();
  }
  if (!null->ok || !baseline->ok) {
    return make_error(ErrorKind::bad_input,
                      "the baseline does not build:\n" + baseline->diagnostics + null->diagnostics,
                      spec->file);
  }
  null_build_ = std::move(*null);
  baseline_build_ = std::move(*baseline);
  return {};
}

Result<Arm> Judge::start_arm(const BuildOutcome& build, bool may_link) const {
  return Arm::start(settings_, build, may_link, buffer_bytes());
}

std::size_t Judge::buffer_bytes() const {
  std::size_t largest = 0;
  for (const Axes& shape : task_.timed_shapes) {
    const Result<Axes> axes = complete_axes(task_, shape);
    const Result<BufferPlan> plan =
        axes ? plan_buffers(task_, *axes, 1, 0) : Result<BufferPlan>(axes.error());
    if (plan) {
      largest = std::max(largest, plan->input_stride + plan->output_stride);
    }
  }
  return 4 * largest + 4 * static_cast<std::size_t>(settings_.cache_bytes);
}

Result<Arm*> Judge::baseline() {
  if (!baseline_ || !baseline_->alive()) {
    Result<Arm> started = start_arm(baseline_build_, false);
    if (!started) {
      return started.error();
    }
    baseline_ = std::move(*started);
    if (auto failure = baseline_->load(own_timeout_ms)) {
      return from_failure(*failure, "the task's baseline");
    }
  }
  return &*baseline_;
}

Status Judge::measure_shape(const Axes& given) {
  Result<Axes> axes = complete_axes(task_, given);
  if (!axes) {
    return axes.error();
  }
  BufferPlan plan;
  const Result<double> solo = baseline_time(*axes, plan);
  if (!solo) {
    return solo.error();
  }
  TimedShape shape;
  shape.axes = *axes;
  shape.rounds = plan_rounds(plan, *solo, settings_.cache_bytes);
  shape.solo_ns = *solo;
  KP_TRY(measure_noise(shape));
  shapes_.push_back(std::move(shape));
  return {};
}

// A first estimate, from which the rounds are laid out; measure_noise refines it.
Result<double> Judge::baseline_time(const Axes& axes, BufferPlan& plan) {
  Result<Stand> stand = Stand::make(task_, axes, 1, secret_seed());
  Result<Arm*> arm = baseline();
  if (!stand || !arm) {
    return stand ? arm.error() : stand.error();
  }
  plan = stand->plan;
  fill_inputs(task_, stand->plan, stand->inputs, 0, secret_seed(), Distribution::normal);
  if (auto failure = (*arm)->attach(stand->plan, stand->inputs, stand->outputs, own_timeout_ms)) {
    return from_failure(*failure, "the task's baseline");
  }
  if (auto failure = (*arm)->prepare(own_timeout_ms)) {
    return from_failure(*failure, "the task's baseline");
  }
  std::vector<double> times;
  for (int i = 0; i < solo_calls; ++i) {
    const Round round = (*arm)->run({0}, own_timeout_ms);
    if (round.failure) {
      return from_failure(*round.failure, "the task's baseline");
    }
    times.push_back(round.claim_ns);
  }
  return std::max(median(times), 1.0);
}

Status Judge::measure_noise(TimedShape& shape) {
  Result<Stand> stand = Stand::make(task_, shape.axes, shape.rounds.calls + 1, secret_seed());
  Result<Arm*> first = baseline();
  Result<Arm> twin = start_arm(baseline_build_, false);
  if (!stand || !first || !twin) {
    return !stand ? stand.error() : !first ? first.error() : twin.error();
  }
  if (auto failure = twin->load(own_timeout_ms)) {
    return from_failure(*failure, "the task's baseline");
  }
  for (Arm* arm : {*first, &*twin}) {
    if (auto failure = arm->attach(stand->plan, stand->inputs, stand->outputs, own_timeout_ms)) {
      return from_failure(*failure, "the task's baseline");
    }
  }
  Rounds rounds(task_, std::move(*stand), shape.rounds, settings_.cache_bytes);
  std::vector<double> first_ns;
  std::vector<double> twin_ns;
  const std::vector<double> any_bounds(task_.outputs.size(), HUGE_VAL);
  const std::int64_t start = now_ns();
  shape.pairs = settings_.least_rounds;
  for (int i = 0; i < shape.pairs; ++i) {
    const Pair pair = rounds.run({*first, &*twin}, i % 2, secret_seed(), shape.rounds.calls,
                                 any_bounds, own_timeout_ms);
    for (const Round& round : pair.rounds) {
      if (round.failure) {
        return from_failure(*round.failure, "the task's baseline");
      }
    }
    first_ns.push_back(pair.rounds[0].claim_ns / shape.rounds.calls);
    twin_ns.push_back(pair.rounds[1].claim_ns / shape.rounds.calls);
    if (i == 1) {
      const double pair_seconds = static_cast<double>(now_ns() - start) / 1e9 / 2;
      shape.pairs = std::clamp(static_cast<int>(settings_.timing_seconds / pair_seconds),
                               settings_.least_rounds, settings_.most_rounds);
    }
  }
  shape.noise_floor = noise_floor(first_ns, twin_ns, secret_seed());
  first_ns.insert(first_ns.end(), twin_ns.begin(), twin_ns.end());
  shape.solo_ns = median(first_ns);
  return {};
}

// One evaluation from build to verdict.
class EvaluationRun {
 public:
  EvaluationRun(Judge& judge, const EvaluateRequest& request, const StageListener& listener,
                std::stop_token stop)
      : judge_(judge), request_(request), listener_(listener), stop_(std::move(stop)) {
    out_.seed = request.seed ? *request.seed : secret_seed();
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
  // The judge in one function: stages in order, ending at the first failure.
  [[nodiscard]] Status run_stages() {
    KP_TRY(build());
    if (failed_) {
      return {};
    }
    const Result<MachineLock> lock =
        MachineLock::acquire("cpu", LockMode::timing, judge_.settings_.lock_timeout_ms, stop_);
    if (!lock) {
      return lock.error();
    }
    const std::int64_t start = now_ns();
    KP_TRY(start_arms());
    if (!failed_) {
      KP_TRY(check_all());
    }
    if (!failed_ && request_.timed) {
      KP_TRY(time_all());
    }
    if (!failed_) {
      pass();
    }
    out_.verdict.judge_ns = now_ns() - start;
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
    out_.verdict.outcome = failure.outcome;
    out_.verdict.rule = std::move(failure.rule);
    out_.verdict.summary = std::move(failure.summary);
    out_.verdict.evidence = std::move(failure.evidence);
  }

  [[nodiscard]] Status build() {
    enter(Stage::build, "building");
    Result<BuildOutcome> built =
        judge_.toolchain_.build(build_request(judge_.task_, request_.candidate), stop_);
    if (!built) {
      return built.error();
    }
    build_ = std::move(*built);
    out_.build = build_.record;
    out_.verdict.build_ns = build_.wall_ns;
    if (!build_.ok) {
      Failure failure;
      failure.outcome = build_.rule.empty() ? Outcome::build_failed : Outcome::cheated;
      failure.rule = build_.timed_out ? "timeout" : build_.rule;
      const std::string first = build_.diagnostics.substr(0, build_.diagnostics.find('\n'));
      failure.summary = build_.timed_out ? "the compiler did not finish in time" : first;
      failure.evidence = {build_.diagnostics};
      fail(std::move(failure));
      return {};
    }
    incumbent_build_ = judge_.baseline_build_;
    if (request_.incumbent) {
      Result<BuildOutcome> incumbent =
          judge_.toolchain_.build(build_request(judge_.task_, *request_.incumbent), stop_);
      if (!incumbent) {
        return incumbent.error();
      }
      if (!incumbent->ok) {
        return make_error(ErrorKind::bad_input, incumbent->diagnostics,
                          "the incumbent does not build");
      }
      incumbent_build_ = std::move(*incumbent);
    }
    out_.incumbent_build = incumbent_build_.record;
    return {};
  }

  [[nodiscard]] Status start_arms() {
    enter(Stage::smoke, "loading");
    Result<Arm*> baseline = judge_.baseline();
    if (!baseline) {
      return baseline.error();
    }
    baseline_ = *baseline;
    Result<Arm> candidate = judge_.start_arm(build_, request_.may_link);
    if (!candidate) {
      return candidate.error();
    }
    candidate_ = std::move(*candidate);
    if (auto failure = candidate_->load(judge_.settings_.call_timeout_ms)) {
      fail(std::move(*failure));
      return {};
    }
    out_.implementation = candidate_->implementation();
    return {};
  }

  [[nodiscard]] Status check_all() {
    Result<std::vector<CheckCase>> cases =
        request_.repeat_checks.empty()
            ? draw_cases(judge_.task_, out_.seed, judge_.settings_.held_out_shapes)
            : cases_from_records(judge_.task_, request_.repeat_checks, out_.seed);
    if (!cases) {
      return cases.error();
    }
    Correctness correctness(judge_.task_, *judge_.oracle_, *baseline_, *candidate_,
                            judge_.settings_, allowed_);
    for (const CheckCase& item : *cases) {
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
    return {};
  }

  [[nodiscard]] std::vector<double> agreement_bounds(const Axes& axes) const;

  [[nodiscard]] Status time_all() {
    enter(Stage::timing, "timing");
    Result<Arm> null = judge_.start_arm(judge_.null_build_, false);
    if (!null) {
      return null.error();
    }
    if (auto failure = null->load(own_timeout_ms)) {
      return from_failure(*failure, "the null candidate");
    }
    std::optional<Arm> other;
    if (request_.incumbent) {
      Result<Arm> started = judge_.start_arm(incumbent_build_, false);
      if (!started) {
        return started.error();
      }
      other = std::move(*started);
      if (auto failure = other->load(own_timeout_ms)) {
        return from_failure(*failure, "the incumbent");
      }
    }
    for (const TimedShape& shape : judge_.shapes_) {
      TimingInputs in{judge_.task_,
                      *judge_.oracle_,
                      judge_.settings_,
                      judge_.ceilings_,
                      *candidate_,
                      other ? *other : *baseline_,
                      *null,
                      !other.has_value(),
                      counter_hash(out_.seed, 1000 + out_.verdict.timing.shapes.size()),
                      agreement_bounds(shape.axes),
                      allowed_};
      enter(Stage::timing, "timing " + shape_text(judge_.task_, shape.axes));
      Result<TimingOutcome> timed = time_shape(in, shape);
      if (!timed) {
        return timed.error();
      }
      out_.verdict.timing.shapes.push_back(std::move(timed->timing));
      for (std::string& suspicion : timed->suspicions) {
        out_.verdict.suspicions.push_back(std::move(suspicion));
      }
      if (timed->failure) {
        fail(std::move(*timed->failure));
        return {};
      }
    }
    combine();
    return {};
  }

  // Geometric means over the shapes; the interval and the floor likewise.
  void combine() {
    Timing& timing = out_.verdict.timing;
    const auto mean_of = [&timing](auto value) {
      double sum = 0;
      for (const ShapeTiming& shape : timing.shapes) {
        sum += std::log(value(shape));
      }
      return std::exp(sum / static_cast<double>(timing.shapes.size()));
    };
    timing.speedup = mean_of([](const ShapeTiming& s) { return s.speedup; });
    timing.speedup_interval.low =
        mean_of([](const ShapeTiming& s) { return s.speedup_interval.low; });
    timing.speedup_interval.high =
        mean_of([](const ShapeTiming& s) { return s.speedup_interval.high; });
    timing.noise_floor = mean_of([](const ShapeTiming& s) { return 1 + s.noise_floor; }) - 1;
    const bool screened = std::any_of(timing.shapes.begin(), timing.shapes.end(),
                                      [](const ShapeTiming& s) { return s.screened; });
    timing.comparison =
        screened ? Comparison::slower : compare(timing.speedup_interval, timing.noise_floor);
  }

  void pass() {
    Verdict& verdict = out_.verdict;
    verdict.outcome = Outcome::passed;
    verdict.stage = Stage::done;
    verdict.suspect = !verdict.suspicions.empty();
    verdict.rules_run = {"build_option", "private_file", "sandbox",      "channel",
                         "poison",       "guard",        "input_write",  "late_work",
                         "ahead",        "precision",    "repeatability"};
    if (!request_.timed) {
      verdict.summary = "correct; not timed";
      return;
    }
    verdict.rules_run.insert(verdict.rules_run.end(), {"clock", "bound", "noise_floor"});
    const Timing& timing = verdict.timing;
    const char* against = request_.incumbent ? "the incumbent" : "the baseline";
    switch (timing.comparison) {
      case Comparison::faster:
        verdict.summary =
            fmt::format("correct, {:.2f} times as fast as {}", timing.speedup, against);
        break;
      case Comparison::slower:
        verdict.summary = fmt::format("correct, slower than {} ({:.2f})", against, timing.speedup);
        break;
      default:
        verdict.summary =
            fmt::format("correct, no faster and no slower than {} beyond the noise of {:.1f} %",
                        against, 100 * timing.noise_floor);
    }
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
};

// Twice the bound that the checks at this shape had to keep: two right outputs may err to either
// side.
std::vector<double> EvaluationRun::agreement_bounds(const Axes& axes) const {
  double bound = 0;
  for (const CheckRecord& record : out_.verdict.checks) {
    const bool same =
        record.stage == Stage::timed_shapes &&
        std::all_of(record.shape.begin(), record.shape.end(),
                    [&axes](const auto& axis) { return axes.at(axis.first) == axis.second; });
    bound = same ? std::max(bound, record.bound) : bound;
  }
  return std::vector<double>(judge_.task_.outputs.size(), 2 * bound);
}

Evaluation Judge::evaluate(const EvaluateRequest& request, const StageListener& listener,
                           std::stop_token stop) {
  return EvaluationRun(*this, request, listener, std::move(stop)).run();
}

}  // namespace kernelpro
