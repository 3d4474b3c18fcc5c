#include "worker/judge/correctness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/random.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/tolerance.hpp"

namespace kernelpro {

namespace {

// Sets of a stand: one is called, the others are decoys; repeatability calls all three.
constexpr int stand_sets = 3;
constexpr std::size_t much_memory = std::size_t{1} << 30;
constexpr std::int64_t late_work_ms = 50;
// A second filling of the slack around inputs: large finite numbers, where poison is NaN.
constexpr unsigned char other_slack = 0x7e;

std::uint64_t seed_for(std::uint64_t seed, Purpose purpose, std::uint64_t index) {
  return counter_hash(counter_hash(seed, purpose), index);
}

// Log-uniform between the range's ends, so that small sizes are as likely as large ones.
std::int64_t draw_extent(const AxisRange& range, Random& random) {
  const double low = std::log(static_cast<double>(range.low));
  const double high = std::log(static_cast<double>(range.high) + 1.0);
  const auto drawn = static_cast<std::int64_t>(std::exp(low + (high - low) * random.unit()));
  return std::clamp(drawn, range.low, range.high);
}

Axes draw_shape(const Task& task, std::uint64_t seed, std::uint64_t index) {
  Random random(seed_for(seed, check_shape_purpose, index));
  Axes axes;
  for (const auto& [name, range] : task.held_out) {
    axes[name] = draw_extent(range, random);
  }
  return axes;
}

// Adds checks to a list, each with fresh values; scalars are drawn anew for each shape.
class CaseList {
 public:
  CaseList(const Task& task, std::uint64_t seed) : task_(task), seed_(seed) {}

  [[nodiscard]] Status add(Stage stage, const Axes& shape,
                           Distribution distribution = Distribution::normal) {
    Result<Axes> axes = complete_axes(task_, shape);
    if (!axes) {
      return axes.error();
    }
    const bool new_shape = cases_.empty() || cases_.back().draw.axes != *axes;
    scalars_ += new_shape ? 1 : 0;
    CheckCase item;
    item.stage = stage;
    item.draw.axes = std::move(*axes);
    item.draw.scalar_seed = seed_for(seed_, check_scalars_purpose, scalars_);
    item.draw.seed = seed_for(seed_, check_values_purpose, cases_.size());
    item.draw.distribution = distribution;
    cases_.push_back(std::move(item));
    return {};
  }

  std::vector<CheckCase> take() { return std::move(cases_); }

 private:
  const Task& task_;
  std::uint64_t seed_;
  std::uint64_t scalars_ = 0;
  std::vector<CheckCase> cases_;
};

// One shape, and its inputs are drawn in two ways: as the module's author has them, and with random
// signs. Sums of positive numbers hide a lower precision, and what is left out for negative ones.
Result<std::vector<CheckCase>> draw_torch_cases(CaseList list, const Axes& shape) {
  KP_TRY(list.add(Stage::distributions, shape, Distribution::mixed));
  KP_TRY(list.add(Stage::repeatability, shape));
  KP_TRY(list.add(Stage::memory, shape));
  return list.take();
}

}  // namespace

Result<std::vector<CheckCase>> draw_cases(const Task& task, const std::vector<Axes>& timed_shapes,
                                          std::uint64_t seed, int held_out_shapes) {
  CaseList list(task, seed);
  std::uint64_t shapes = 0;
  KP_TRY(list.add(Stage::smoke, draw_shape(task, seed, shapes++)));
  for (const Axes& shape : timed_shapes) {
    KP_TRY(list.add(Stage::timed_shapes, shape));
  }
  if (task.reference.torch) {
    return draw_torch_cases(std::move(list), timed_shapes.front());
  }
  for (int i = 0; i < held_out_shapes; ++i) {
    KP_TRY(list.add(Stage::held_out, draw_shape(task, seed, shapes++)));
  }
  const Axes shared = draw_shape(task, seed, shapes++);
  for (const Distribution distribution : all_distributions) {
    KP_TRY(list.add(Stage::distributions, shared, distribution));
  }
  KP_TRY(list.add(Stage::repeatability, shared));
  KP_TRY(list.add(Stage::memory, draw_shape(task, seed, shapes++)));
  return list.take();
}

Result<std::vector<CheckCase>> cases_from_records(const Task& task,
                                                  const std::vector<CheckRecord>& records,
                                                  std::uint64_t seed) {
  CaseList list(task, seed);
  for (const CheckRecord& record : records) {
    const auto* distribution =
        std::find_if(std::begin(all_distributions), std::end(all_distributions),
                     [&record](Distribution d) { return name_of(d) == record.distribution; });
    if (distribution == std::end(all_distributions)) {
      return make_error(ErrorKind::bad_input,
                        "unknown distribution \"" + record.distribution + "\"", "certificate");
    }
    KP_TRY(list.add(record.stage, record.shape, *distribution));
  }
  std::vector<CheckCase> cases = list.take();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].draw.seed = records[i].seed;
  }
  return cases;
}

std::int64_t Correctness::timeout_ms() const {
  constexpr double patience = 100;  // times the baseline
  return std::max(settings_.call_timeout_ms,
                  static_cast<std::int64_t>(patience * baseline_ns_ / 1e6));
}

const Stand* Correctness::lent_for(const InputDraw& draw) const {
  const bool fixed_scalars =
      std::all_of(task_.scalars.begin(), task_.scalars.end(),
                  [](const ScalarSpec& scalar) { return scalar.low == scalar.high; });
  for (const Stand* stand : lent_) {
    const BufferPlan& plan = stand->plan();
    if (fixed_scalars && plan.axes == draw.axes && plan.sets >= 2 &&
        plan.set_bytes * stand_sets > much_memory) {
      return stand;
    }
  }
  return nullptr;
}

int Correctness::sets() const {
  return std::min(stand_sets, stand_->plan().sets);
}

Status Correctness::stand_for(const InputDraw& draw) {
  const Stand* lent = lent_for(draw);
  if (stand_ != nullptr && (stand_ == lent || (stand_->plan().axes == draw.axes &&
                                               stand_->scalar_seed == draw.scalar_seed))) {
    return {};
  }
  stand_ = lent;
  if (lent == nullptr) {
    Result<Stand> made = Stand::make(task_, ground_, draw.axes, stand_sets, draw.scalar_seed);
    if (!made) {
      return made.error();
    }
    own_ = std::move(*made);
    stand_ = &*own_;
  } else {
    own_.reset();
  }
  baseline_attached_ = false;
  candidate_attached_ = false;
  return {};
}

void Correctness::fill(const CheckCase& item, int set) {
  const unsigned char slack = item.stage == Stage::memory ? other_slack : poison_byte;
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < sets(); ++i) {
    const bool same = i == set || item.stage == Stage::repeatability;
    seeds.push_back(same ? item.draw.seed
                         : counter_hash(item.draw.seed, static_cast<std::uint64_t>(i)));
  }
  stand_->memory->fill(seeds, item.draw.distribution, slack);
}

Result<Reference> Correctness::reference_for(const CheckCase& item, int set) {
  if (!baseline_attached_) {
    KP_TRY(attach_baseline(baseline_, *stand_));
    baseline_attached_ = true;
  }
  Result<Reference> reference = make_reference(task_, oracle_, baseline_, *stand_, item.draw, set,
                                               oracle_affordable(task_, ground_, item.draw.axes));
  if (reference) {
    baseline_ns_ = reference->baseline_ns;
  }
  return reference;
}

std::optional<Failure> Correctness::run_candidate(const std::vector<std::uint16_t>& sets,
                                                  const std::function<void()>& refill) {
  // Before the buffers are mapped: the baseline's outputs must never be in the candidate's reach.
  SetMemory& memory = *stand_->memory;
  memory.poison_outputs();
  if (!candidate_attached_) {
    if (auto failure = candidate_.attach(stand_->plan(), memory, timeout_ms())) {
      return failure;
    }
    candidate_attached_ = true;
  }
  if (auto failure = prepare_blindly(*stand_, candidate_, timeout_ms(), refill)) {
    return failure;
  }
  const std::uint64_t before = memory.inputs_hash();
  const Round round = candidate_.run(sets, timeout_ms());
  if (round.failure) {
    return round.failure;
  }
  if (memory.inputs_hash() != before) {
    return Failure{Outcome::cheated, "input_write", "the inputs changed while it ran", {}};
  }
  return check_memory(*stand_, sets);
}

std::optional<Failure> Correctness::judge_set(const CheckCase& item, const Reference& reference,
                                              int set) {
  const auto judge = [&](std::vector<TensorError>& errors) {
    errors = errors_to(*stand_, reference, set);
    return judge_errors(task_, stand_->plan(), errors, reference.bounds, allowed_);
  };
  std::vector<TensorError> errors;
  ToleranceResult result = judge(errors);
  CheckRecord record;
  record.stage = item.stage;
  for (const AxisSpec& axis : task_.axes) {
    if (!axis.derived) {
      record.shape[axis.name] = item.draw.axes.at(axis.name);
    }
  }
  record.distribution = name_of(item.draw.distribution);
  record.seed = item.draw.seed;
  record.baseline_error = reference.baseline_error;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    record.error = std::max(record.error, errors[i].error);
    record.bound = std::max(record.bound, reference.bounds[i]);
    record.excused += errors[i].excused;
  }
  records_.push_back(record);
  if (result.passed) {
    precision_ = result.precision == "contract" ? precision_ : result.precision;
    return std::nullopt;
  }
  // Wrong now; would it be right a moment later?
  candidate_.let_run(late_work_ms);
  if (judge(errors).passed) {
    return Failure{Outcome::cheated, "late_work",
                   "its outputs became right only after the call had returned",
                   std::move(result.failure.evidence)};
  }
  result.failure.evidence.push_back(fmt::format("at {}, {} values, seed {:#x}",
                                                shape_text(task_, item.draw.axes),
                                                name_of(item.draw.distribution), item.draw.seed));
  return result.failure;
}

std::optional<Failure> Correctness::check_repeats(const CheckCase& item,
                                                  const Reference& reference) {
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    for (int set = 1; set < sets(); ++set) {
      const bool index = !task_.outputs[i].selects.empty();
      const bool exact = task_.tolerance.deterministic;
      if ((index && !exact) ||
          stand_->memory->same_output(0, set, i, exact ? 0 : 2 * reference.bounds[i])) {
        continue;
      }
      return Failure{
          Outcome::unstable,
          task_.tolerance.deterministic ? "deterministic" : "",
          fmt::format("{} differs between calls with the same inputs", task_.outputs[i].name),
          {fmt::format("at {}, seed {:#x}", shape_text(task_, item.draw.axes), item.draw.seed)}};
    }
  }
  return std::nullopt;
}

Result<std::optional<Failure>> Correctness::check(const CheckCase& item) {
  if (const Status made = stand_for(item.draw); !made) {
    // Is it the candidate that has taken all memory?
    candidate_.end();
    if (stand_for(item.draw)) {
      return std::optional(Failure{Outcome::out_of_memory,
                                   "",
                                   "it left no memory for the judge's own buffers",
                                   {made.error().text()}});
    }
    return made.error();
  }
  const int set =
      static_cast<int>(counter_hash(item.draw.seed, 99) % static_cast<std::uint64_t>(sets()));
  fill(item, set);
  Result<Reference> reference = reference_for(item, set);
  if (!reference) {
    return reference.error();
  }
  if (!reference->truth && truth_fits_) {
    return std::optional(
        Failure{Outcome::out_of_memory, "", "it left no memory for the expected values", {}});
  }
  const bool repeats = item.stage == Stage::repeatability;
  std::vector<std::uint16_t> sets = {static_cast<std::uint16_t>(set)};
  if (repeats) {
    sets.resize(static_cast<std::size_t>(this->sets()));
    std::iota(sets.begin(), sets.end(), std::uint16_t{0});
  }
  auto failed = run_candidate(sets, [&] { fill(item, set); });
  KP_TRY(stand_->memory->health());  // what went wrong with us is not its fault
  if (failed) {
    return failed;
  }
  if (repeats) {
    failed = check_repeats(item, *reference);
  }
  const std::size_t recorded = records_.size();
  if (!reference->truth) {
    sets = {static_cast<std::uint16_t>(set)};  // the only one that the baseline has computed
  }
  for (std::size_t i = 0; i < sets.size() && !failed; ++i) {
    failed = judge_set(item, *reference, sets[i]);
  }
  records_.resize(std::min(records_.size(), recorded + 1));  // repeats are one check
  KP_TRY(stand_->memory->health());
  return failed;
}

}  // namespace kernelpro
