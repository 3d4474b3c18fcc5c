#include "worker/judge/judge.hpp"

#include <algorithm>
#include <cmath>

#include "common/base/clock.hpp"
#include "common/base/machine_lock.hpp"
#include "common/base/secret.hpp"
#include "worker/judge/reference.hpp"
#include "worker/judge/statistics.hpp"
#include "worker/oracle/torch.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t patient_ms = 120'000;
constexpr int solo_calls = 5;
// A passing disturbance while the task is opened must not blunt every claim after it: a floor above
// this is measured again before one is made. The interval of each comparison carries the noise of
// its own moment.
constexpr double calm_floor = 0.02;
constexpr int noise_tries = 3;

Error from_failure(const Failure& failure, const std::string& whose) {
  return make_error(ErrorKind::bad_input, failure.summary, whose);
}

}  // namespace

BuildRequest build_request(const Task& task, const Candidate& candidate, bool own) {
  BuildRequest request;
  request.source = candidate.source;
  request.compiler = candidate.compiler;
  request.options = candidate.options;
  if (own) {
    request.libraries = candidate.libraries;
    request.files = task.files;
  }
  return request;
}

bool is_own_module(const Task& task, const Candidate& candidate) {
  return candidate.compiler == torch_compiler &&
         std::any_of(
             task.baselines.begin(), task.baselines.end(), [&](const ImplementationSpec& one) {
               return one.compiler == torch_compiler && task.files.at(one.file) == candidate.source;
             });
}

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
                                           const Ceilings& ceilings, Ground& ground,
                                           const JudgeSettings& settings, std::stop_token stop) {
  KP_TRY(validate_task(task));
  std::unique_ptr<Judge> judge(new Judge(task, toolchain, ceilings, ground, settings));
  judge->settings_.stop = stop;
  KP_TRY(judge->build_own(stop));
  KP_TRY(judge->start_torch());
  KP_LET(const MachineLock lock, MachineLock::acquire(ground.lock_name(), LockMode::timing,
                                                      settings.lock_timeout_ms, stop));
  for (const Axes& shape : kernelpro::timed_shapes(task, ground.backend())) {
    KP_TRY(judge->measure_shape(shape));
  }
  judge->twin_.reset();
  return judge;
}

Status Judge::build_own(std::stop_token stop) {
  OracleSettings oracle_settings;
  oracle_settings.jail = settings_.jail;
  oracle_settings.program = settings_.oracle;
  oracle_settings.torch = settings_.torch;
  oracle_settings.device = ground_.device();
  oracle_settings.threads = settings_.threads;
  oracle_settings.landlock = settings_.landlock;
  oracle_settings.stop = settings_.stop;
  KP_LET(oracle_, Oracle::open(task_, toolchain_, oracle_settings, stop));
  ground_.draw_inputs_by(task_.reference.torch ? &*oracle_ : nullptr);
  const auto spec = std::find_if(
      task_.baselines.begin(), task_.baselines.end(),
      [this](const ImplementationSpec& one) { return one.backend == ground_.backend(); });
  if (spec == task_.baselines.end()) {
    return make_error(ErrorKind::bad_input,
                      "the task has no baseline for the " + name_of(ground_.backend()) + " backend",
                      task_.name);
  }
  baseline_candidate_ = candidate_of(task_, *spec);
  BuildRequest null_request;
  null_request.source = ground_.null_source();
  null_request.compiler = baseline_candidate_.compiler == torch_compiler
                              ? ground_.default_compiler()
                              : baseline_candidate_.compiler;
  Result<BuildOutcome> null = toolchain_.build(null_request, stop);
  Result<BuildOutcome> baseline = build_implementation(baseline_candidate_, stop);
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

Result<BuildOutcome> Judge::build_implementation(const Candidate& implementation,
                                                 std::stop_token stop) {
  if (implementation.compiler != torch_compiler) {
    return toolchain_.build(build_request(task_, implementation, true), std::move(stop));
  }
  if (!modules_) {
    KP_LET(modules_, ScratchDir::create("modules"));
  }
  return torch_build(implementation.source, implementation.options, modules_->path());
}

Result<Arm> Judge::start_arm(const BuildOutcome& build, bool may_link, bool tracing) const {
  return Arm::start(ground_, settings_, build, may_link, buffer_bytes(), tracing);
}

// PyTorch takes seconds to start: all processes of it side by side. Without timing there is no
// noise to measure, and no twin.
Status Judge::start_torch() {
  if (!task_.reference.torch) {
    return {};
  }
  KP_TRY(oracle_->start_process());
  std::vector<std::optional<Arm>*> arms = {&baseline_};
  if (settings_.timed) {
    arms.push_back(&twin_);
  }
  for (std::optional<Arm>* arm : arms) {
    KP_LET(*arm, start_arm(baseline_build_, false));
  }
  for (std::optional<Arm>* arm : arms) {
    if (auto failure = (*arm)->load(patient_ms)) {
      return from_failure(*failure, "the task's baseline");
    }
  }
  return {};
}

std::size_t Judge::buffer_bytes() const {
  std::size_t largest = 0;
  for (const Axes& shape : kernelpro::timed_shapes(task_, ground_.backend())) {
    const Result<Axes> axes = complete_axes(task_, shape);
    const Result<BufferPlan> plan =
        axes ? plan_buffers(task_, *axes, 1, Key{}) : Result<BufferPlan>(axes.error());
    if (plan) {
      largest = std::max(largest, plan->input_stride + plan->output_stride);
    }
  }
  return 4 * largest + 4 * static_cast<std::size_t>(ground_.cache_bytes());
}

std::int64_t Judge::own_timeout_ms() {
  return patient_ms;
}

Result<Arm*> Judge::kept(std::optional<Arm>& arm, const BuildOutcome& build,
                         const std::string& whose) const {
  if (!arm || !arm->alive()) {
    KP_LET(arm, start_arm(build, false));
    if (auto failure = arm->load(patient_ms)) {
      arm.reset();
      return from_failure(*failure, whose);
    }
  }
  return &*arm;
}

Result<Arm*> Judge::baseline() {
  return kept(baseline_, baseline_build_, "the task's baseline");
}

Result<Arm*> Judge::timed_baseline() {
  return kept(task_.reference.torch ? baseline_ : timed_baseline_, baseline_build_,
              "the task's baseline");
}

Result<Arm*> Judge::null() {
  return kept(null_, null_build_, "the null candidate");
}

Result<Arm*> Judge::incumbent(const BuildOutcome& build) {
  if (incumbent_hash_ != build.record.binary_hash) {
    incumbent_.reset();
    incumbent_hash_ = build.record.binary_hash;
  }
  return kept(incumbent_, build, "the incumbent");
}

Status Judge::measure_shape(const Axes& given) {
  KP_LET(Axes axes, complete_axes(task_, given));
  KP_LET(ShapeBuffers first, ShapeBuffers::make(task_, ground_, axes, 1, secret_key()));
  KP_LET(const double solo, baseline_time(first));
  TimedShape shape;
  shape.axes = axes;
  shape.solo_ns = solo;
  if (!settings_.timed) {
    shapes_.push_back(std::move(shape));
    return {};
  }
  KP_LET(const NullClock null, null_clock(first));
  RoundLimits limits;
  limits.cache_bytes = ground_.cache_bytes();
  limits.most_bytes = ground_.round_bytes();
  limits.most_calls = ground_.most_sets(first.plan().tensors.size()) - 1;
  limits.always_flush = ground_.always_flush();
  limits.warm = settings_.warm;
  // However steady the hand-over was just now, a round outlasts what may befall it.
  constexpr double least_ns = 1e6;
  shape.rounds = plan_rounds(first.plan(), solo, limits,
                             std::max(least_round_ns(null, ground_.enqueues()), least_ns));
  // One set more than is called in a round, where there is room: a decoy that must stay untouched.
  const int decoys = ground_.room_for_decoy(first.plan().set_bytes) ? 1 : 0;
  first.memory.reset();
  KP_LET(ShapeBuffers buffers,
         ShapeBuffers::make(task_, ground_, shape.axes, shape.rounds.calls + decoys, secret_key()));
  auto rounds =
      std::make_unique<Rounds>(task_, std::move(buffers), shape.rounds, ground_.watch_inputs());
  KP_TRY(measure_empty_rounds(shape, *rounds));
  KP_TRY(measure_noise(shape, *rounds, 1));
  KP_TRY(try_truth(shape, *rounds));
  shapes_.push_back(std::move(shape));
  rounds_.push_back(std::move(rounds));
  return {};
}

// A first estimate, from which the rounds are laid out; measure_noise refines it.
Result<double> Judge::baseline_time(const ShapeBuffers& buffers) {
  KP_LET(Arm * arm, timed_baseline());
  buffers.memory->draw({{secret_key()}}, poison_byte);
  if (auto failure = arm->attach(buffers.plan(), *buffers.memory, Side::incumbent, patient_ms)) {
    return from_failure(*failure, "the task's baseline");
  }
  if (auto failure = prepare_blindly(buffers, *arm, patient_ms)) {
    return from_failure(*failure, "the task's baseline");
  }
  std::vector<double> times;
  for (int i = 0; i < solo_calls; ++i) {
    const Round round = arm->run({0}, patient_ms);
    if (round.failure) {
      return from_failure(*round.failure, "the task's baseline");
    }
    times.push_back(round.claim_ns);
  }
  return std::max(median(times), 1.0);
}

// What handing over to a runner costs on this machine at this moment.
Result<NullClock> Judge::null_clock(const ShapeBuffers& buffers) {
  constexpr int null_rounds = 15;
  KP_LET(Arm * arm, null());
  auto failure = arm->attach(buffers.plan(), *buffers.memory, Side::incumbent, patient_ms);
  std::vector<Round> rounds;
  for (int i = 0; i < null_rounds && !failure; ++i) {
    // As before every round: what we do just before the hand-over is part of what it costs.
    rounds.push_back(
        arm->run({0}, patient_ms, ground_.always_flush() ? Caches::cold : Caches::any));
    failure = rounds.back().failure;
  }
  if (failure) {
    return from_failure(*failure, "the null candidate");
  }
  return summarize_null(rounds, ground_.hand_over_doubt_ns());
}

Status Judge::measure_noise(TimedShape& shape, Rounds& rounds, int most_tries) {
  Result<Arm*> first = timed_baseline();
  Result<Arm*> twin = kept(twin_, baseline_build_, "the task's baseline");
  if (!first || !twin) {
    return first ? twin.error() : first.error();
  }
  const ShapeBuffers& buffers = rounds.buffers();
  for (const auto& [arm, side] : {std::pair{*first, Side::incumbent}, {*twin, Side::candidate}}) {
    if (auto failure = arm->attach(buffers.plan(), *buffers.memory, side, patient_ms)) {
      return from_failure(*failure, "the task's baseline");
    }
  }
  while (shape.noise_tries < most_tries) {
    KP_LET(const double floor, compare_twins(shape, rounds, **first, **twin));
    shape.noise_floor = shape.noise_tries++ == 0 ? floor : std::min(shape.noise_floor, floor);
    if (shape.noise_floor <= calm_floor) {
      break;
    }
  }
  return {};
}

Status Judge::calm_noise() {
  // Where PyTorch has put its own tensors stays as it is: trying again shows the same.
  const int most_tries = baseline_build_.torch_mode.empty() ? noise_tries : 1;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i].noise_floor > calm_floor && shapes_[i].noise_tries < most_tries) {
      KP_TRY(measure_noise(shapes_[i], *rounds_[i], most_tries));
    }
  }
  twin_.reset();
  return {};
}

// What handing over costs while there is no candidate, in rounds as they will be.
Status Judge::measure_empty_rounds(TimedShape& shape, Rounds& rounds) {
  constexpr int warm_up_rounds = 2;  // the first ones after the mapping take longer
  constexpr int empty_rounds = 9;
  KP_LET(Arm * arm, null());
  const ShapeBuffers& buffers = rounds.buffers();
  auto failure = arm->attach(buffers.plan(), *buffers.memory, Side::incumbent, patient_ms);
  for (int i = -warm_up_rounds; i < empty_rounds && !failure; ++i) {
    Round round = rounds.run_empty(*arm, secret_key(), shape.rounds.calls, patient_ms);
    failure = round.failure;
    if (i >= 0) {
      shape.empty_rounds.push_back(std::move(round));
    }
  }
  return failure ? Status(from_failure(*failure, "the null candidate")) : Status();
}

Status Judge::try_truth(const TimedShape& shape, Rounds& rounds) {
  if (!task_.reference.torch || !oracle_affordable(task_, ground_, shape.axes)) {
    return {};
  }
  const InputDraw draw = rounds.draw(secret_key(), 0);
  SetMemory& memory = *rounds.buffers().memory;
  memory.draw({draw.values}, poison_byte);
  KP_LET(const std::unique_ptr<Truth> truth, memory.truth(*oracle_, draw, 0));
  truth_fits_ = truth != nullptr;
  return {};
}

// The noise floor from one series of pairs; lays out how many pairs a comparison gets on the way.
Result<double> Judge::compare_twins(TimedShape& shape, Rounds& rounds, Arm& first,
                                    Arm& twin) const {
  std::vector<double> first_ns;
  std::vector<double> twin_ns;
  const std::vector<double> any_bounds(task_.outputs.size(), HUGE_VAL);
  double waited_ns = 0;
  double total_ns = 0;
  const std::int64_t start = now_ns();
  shape.pairs = settings_.least_rounds;
  for (int i = 0; i < shape.pairs; ++i) {
    const Pair pair = rounds.run({&twin, &first}, i % 2 == 0 ? Side::candidate : Side::incumbent,
                                 secret_key(), shape.rounds.calls, any_bounds, patient_ms);
    for (const Round& round : pair.rounds) {
      if (round.failure) {
        return from_failure(*round.failure, "the task's baseline");
      }
      waited_ns += round.busy_ns;
      total_ns += round.wall_ns;
    }
    first_ns.push_back(pair.of(Side::incumbent).claim_ns / shape.rounds.calls);
    twin_ns.push_back(pair.of(Side::candidate).claim_ns / shape.rounds.calls);
    if (i == 1) {
      const double pair_seconds = static_cast<double>(now_ns() - start) / 1e9 / 2;
      shape.pairs = std::clamp(static_cast<int>(settings_.timing_seconds / pair_seconds),
                               settings_.least_rounds, settings_.most_rounds);
    }
  }
  const double floor =
      noise_floor(first_ns, twin_ns, short_key(secret_key()), ground_.least_noise());
  first_ns.insert(first_ns.end(), twin_ns.begin(), twin_ns.end());
  shape.solo_ns = median(first_ns);
  shape.waiting = total_ns > 0 ? waited_ns / total_ns : 0;
  return floor;
}

}  // namespace kernelpro
