#include "worker/judge/correctness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"

namespace kernelpro {

namespace {

// Sets of a stand: one is called, the others are decoys; repeatability calls all three.
constexpr int stand_sets = 3;
constexpr std::size_t much_memory = std::size_t{1} << 30;
constexpr std::int64_t late_work_ms = 50;
// A second filling of outputs, workspace and the slack around inputs: large finite numbers, where
// poison is NaN. Who counts on what was there before a call is wrong over one of the two.
constexpr unsigned char other_bytes = 0x7e;

}  // namespace

std::int64_t Correctness::timeout_ms() const {
  constexpr double patience = 100;  // times the baseline
  return std::max(settings_.call_timeout_ms,
                  static_cast<std::int64_t>(patience * baseline_ns_ / 1e6));
}

const ShapeBuffers* Correctness::lent_for(const InputDraw& draw) const {
  const bool fixed_scalars =
      std::all_of(task_.scalars.begin(), task_.scalars.end(),
                  [](const ScalarSpec& scalar) { return scalar.low == scalar.high; });
  for (const ShapeBuffers* buffers : lent_) {
    const BufferPlan& plan = buffers->plan();
    if (fixed_scalars && plan.axes == draw.axes && plan.set_bytes * stand_sets > much_memory) {
      return buffers;
    }
  }
  return nullptr;
}

int Correctness::sets() const {
  return std::min(stand_sets, buffers_->plan().sets);
}

Status Correctness::stand_for(const InputDraw& draw) {
  const ShapeBuffers* lent = lent_for(draw);
  if (buffers_ != nullptr && (buffers_ == lent || (buffers_->plan().axes == draw.axes &&
                                                   buffers_->scalar_key == draw.scalar_key))) {
    return {};
  }
  buffers_ = lent;
  if (lent == nullptr) {
    KP_LET(own_, ShapeBuffers::make(task_, ground_, draw.axes, stand_sets, draw.scalar_key));
    buffers_ = &*own_;
  } else {
    own_.reset();
  }
  baseline_attached_ = false;
  candidate_attached_ = false;
  return {};
}

unsigned char Correctness::unwritten(const CheckCase& item) {
  return item.stage == Stage::memory ? other_bytes : poison_byte;
}

void Correctness::draw(const CheckCase& item, int set) {
  std::vector<SetDraw> draws(static_cast<std::size_t>(sets()), item.draw.values);
  for (int i = 0; i < sets() && item.stage != Stage::repeatability; ++i) {
    if (i != set) {
      SetDraw& other = draws[static_cast<std::size_t>(i)];
      other.key = derive(item.draw.values.key, check_others_purpose, static_cast<std::uint64_t>(i));
    }
  }
  buffers_->memory->draw(draws, unwritten(item));
}

Result<Reference> Correctness::reference_for(const CheckCase& item, int set) {
  if (!baseline_attached_) {
    KP_TRY(attach_baseline(baseline_, *buffers_));
    baseline_attached_ = true;
  }
  Result<Reference> reference = make_reference(task_, oracle_, baseline_, *buffers_, item.draw, set,
                                               oracle_affordable(task_, ground_, item.draw.axes));
  if (reference) {
    baseline_ns_ = reference->baseline_ns;
  }
  return reference;
}

std::optional<Failure> Correctness::attach_candidate() {
  if (candidate_attached_) {
    return std::nullopt;
  }
  if (auto failure =
          candidate_.attach(buffers_->plan(), *buffers_->memory, Side::candidate, timeout_ms())) {
    return failure;
  }
  candidate_attached_ = true;
  return refuse_needless_prepare(task_, candidate_);
}

std::optional<Failure> Correctness::run_candidate(const CheckCase& item,
                                                  const std::vector<std::uint16_t>& sets) {
  SetMemory& memory = *buffers_->memory;
  if (auto failure = attach_candidate()) {
    return failure;
  }
  if (auto failure = prepare_blindly(*buffers_, candidate_, timeout_ms())) {
    return failure;
  }
  memory.poison_outputs(Side::candidate);
  if (item.stage == Stage::memory) {
    memory.fill_outputs(Side::candidate, sets, unwritten(item));
  }
  candidate_.leave_in_workspace(unwritten(item));
  const Round round = candidate_.run(sets, timeout_ms());
  candidate_.leave_in_workspace(poison_byte);
  if (round.failure) {
    return round.failure;
  }
  if (!memory.inputs_intact(Side::candidate)) {
    return Failure{Outcome::cheated, "input_write", "the inputs changed while it ran", {}};
  }
  return check_memory(*buffers_, Side::candidate, sets);
}

Result<Correctness::Judged> Correctness::judge_outputs(const SetInputs& in, Reference& reference,
                                                       CheckRecord& record) const {
  KP_LET(std::vector<TensorError> errors, errors_to(in, reference));
  record.error = 0;
  record.bound = 0;
  record.excused = 0;
  record.baseline_error = std::max(reference.baseline_error, reference.condition);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    record.error = std::max(record.error, errors[i].error);
    record.bound = std::max(record.bound, reference.bounds[i]);
    record.excused += errors[i].excused;
  }
  ToleranceResult result = judge_errors(buffers_->plan(), errors, reference.bounds);
  return Judged{std::move(errors), std::move(result)};
}

Status Correctness::judge_precision(const CheckCase& item, const SetInputs& in,
                                    const Reference& reference, Judged& judged) {
  if (!may_be_lower(task_, judged.errors, judged.result)) {
    return {};
  }
  KP_LET(LowerAnswer answer,
         judge_lower_precision({in, baseline_, reference, judged.errors, allowed_},
                               std::move(judged.result)));
  judged.result = std::move(answer.result);
  precision_ = less_precise(precision_, judged.result.precision);
  if (judged.result.passed && item.stage == Stage::timed_shapes) {
    lower_bounds_[item.draw.axes] = std::move(answer.bounds);
  }
  return {};
}

Result<std::optional<Failure>> Correctness::judge_set(const CheckCase& item, Reference& reference,
                                                      int set) {
  CheckRecord record;
  record.stage = item.stage;
  for (const AxisSpec& axis : task_.axes) {
    if (!axis.derived) {
      record.shape[axis.name] = item.draw.axes.at(axis.name);
    }
  }
  record.distribution = name_of(item.draw.values.distribution);
  record.key = item.draw.values.key;
  const SetInputs in{task_, oracle_, *buffers_, item.draw, set};
  Result<Judged> judged = judge_outputs(in, reference, record);
  if (judged && !judged->result.passed && std::isfinite(record.error) && reference.truth) {
    KP_TRY(add_condition(task_, baseline_, *buffers_, item.draw, set,
                         derive(record.key, check_nudge_purpose), reference));
    judged = judge_outputs(in, reference, record);
  }
  if (!judged) {
    return judged.error();
  }
  KP_TRY(judge_precision(item, in, reference, *judged));
  records_.push_back(record);
  if (item.stage == Stage::timed_shapes) {
    bounds_[item.draw.axes] = reference.bounds;
  }
  if (judged->result.passed) {
    return std::optional<Failure>();
  }
  // Wrong now; would it be right a moment later?
  candidate_.let_run(late_work_ms);
  buffers_->memory->take(Side::candidate, {static_cast<std::uint16_t>(set)});
  KP_LET(const Judged later, judge_outputs(in, reference, record));
  Failure failure = std::move(judged->result.failure);
  if (later.result.passed) {
    return std::optional(Failure{Outcome::cheated, "late_work",
                                 "its outputs became right only after the call had returned",
                                 std::move(failure.evidence)});
  }
  failure.evidence.push_back(
      fmt::format("at {}, {} values", shape_text(task_, item.draw.axes), record.distribution));
  return std::optional(std::move(failure));
}

std::optional<Failure> Correctness::check_repeats(const CheckCase& item,
                                                  const Reference& reference) {
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    for (int set = 1; set < sets(); ++set) {
      const bool index = !task_.outputs[i].selects.empty();
      const bool exact = task_.tolerance.deterministic;
      if ((index && !exact) || buffers_->memory->same_output(Side::candidate, 0, set, i,
                                                             exact ? 0 : 2 * reference.bounds[i])) {
        continue;
      }
      return Failure{
          Outcome::unstable,
          task_.tolerance.deterministic ? "deterministic" : "",
          fmt::format("{} differs between calls with the same inputs", task_.outputs[i].name),
          {fmt::format("at {}", shape_text(task_, item.draw.axes))}};
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
  const int set = static_cast<int>(KeyedRandom(derive(item.draw.values.key, check_set_purpose))
                                       .below(static_cast<std::uint64_t>(sets())));
  draw(item, set);
  KP_LET(Reference reference, reference_for(item, set));
  if (!reference.truth && truth_fits_) {
    return std::optional(
        Failure{Outcome::out_of_memory, "", "it left no memory for the expected values", {}});
  }
  const bool repeats = item.stage == Stage::repeatability;
  std::vector<std::uint16_t> sets = {static_cast<std::uint16_t>(set)};
  if (repeats) {
    sets.resize(static_cast<std::size_t>(this->sets()));
    std::iota(sets.begin(), sets.end(), std::uint16_t{0});
  }
  candidate_.allow_for(reference.baseline_ns, static_cast<double>(sets.size()));
  auto failed = run_candidate(item, sets);
  KP_TRY(buffers_->memory->health());  // what went wrong with us is not its fault
  if (failed) {
    return failed;
  }
  if (repeats) {
    failed = check_repeats(item, reference);
  }
  const std::size_t recorded = records_.size();
  if (!reference.truth) {
    sets = {static_cast<std::uint16_t>(set)};  // the only one that the baseline has computed
  }
  for (std::size_t i = 0; i < sets.size() && !failed; ++i) {
    KP_LET(failed, judge_set(item, reference, sets[i]));
  }
  records_.resize(std::min(records_.size(), recorded + 1));  // repeats are one check
  KP_TRY(buffers_->memory->health());
  return failed;
}

}  // namespace kernelpro
