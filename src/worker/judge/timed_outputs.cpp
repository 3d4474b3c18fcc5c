#include "worker/judge/timed_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/clock.hpp"
#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"

namespace kernelpro {

namespace {

constexpr int most_conditions = 3;  // of one distribution; later outputs are held to what they gave
// Of a pair's outputs; as expected values they take some three times as much.
constexpr std::size_t most_kept_bytes = std::size_t{128} << 20;

void raise(std::vector<double>& bounds, const std::vector<double>& to) {
  bounds.resize(std::max(bounds.size(), to.size()), 0);
  for (std::size_t i = 0; i < to.size(); ++i) {
    bounds[i] = std::max(bounds[i], to[i]);
  }
}

Error incumbent_was_wrong() {
  return make_error(ErrorKind::lost, "it gave a wrong result in a timed round", "the incumbent");
}

bool is_odd(const InputDraw& draw) {
  return draw.values.distribution != Distribution::normal;
}

}  // namespace

bool is_sampled(const Key& key, std::ptrdiff_t pair, int pairs, bool by_contract) {
  const int samples = by_contract ? 2 : 4;
  const auto stride = static_cast<std::uint64_t>(std::max(1, pairs / samples));
  const auto at = static_cast<std::uint64_t>(pair);
  KeyedRandom random(derive(key, time_sample_place_purpose, at / stride));
  return at % stride == random.below(stride);
}

void DoubtTime::take(std::int64_t took_ns, bool sampled) {
  first_ns_ = first_ns_ == 0 ? took_ns : first_ns_;
  if (sampled) {
    sample_ns_ = std::max(sample_ns_, took_ns);
  } else {
    doubt_ns_ += took_ns;
  }
}

std::int64_t DoubtTime::most_ns() const {
  constexpr std::int64_t least_ns = 60'000'000'000;
  constexpr std::int64_t looks = 20;
  return std::max(least_ns, looks * (sample_ns_ > 0 ? sample_ns_ : first_ns_));
}

std::vector<int> TimedOutputs::conspicuous(const TimedPair& pair) {
  std::vector<int> common;
  for (const int set : pair.called) {
    if (!lower_bounds_.empty() && !is_odd(rounds_.draw(pair.key, set, pair.odd))) {
      common.push_back(set);
    }
  }
  return common.empty() ? common : watch_.conspicuous(derive(pair.key, time_watch_purpose), common);
}

Result<std::optional<Failure>> TimedOutputs::judge(const TimedPair& pair, int set) {
  const std::int64_t start = now_ns();
  Result<std::optional<Failure>> judged = judge_set(pair, set);
  if (judged && !*judged) {
    watch_.found_right(set);
  }
  doubt_.take(now_ns() - start, pair.sampled);
  if (judged && !*judged && doubt_.passed()) {
    *judged = Failure{Outcome::timed_out,
                      "doubt",
                      "its timed outputs differ so often from the incumbent's that finding out who "
                      "is right takes too long",
                      {fmt::format("over {} s at one shape", doubt_.most_ns() / 1'000'000'000)}};
  }
  return judged;
}

Result<std::optional<Failure>> TimedOutputs::judge_set(const TimedPair& pair, int set) {
  const InputDraw draw = rounds_.draw(pair.key, set, pair.odd);
  const SetInputs inputs{in_.task, in_.oracle, rounds_.buffers(), draw, set};
  KP_LET(Reference reference, reference_for(pair, inputs));
  const bool against_incumbent = !reference.truth;
  KP_LET(const std::vector<TensorError> errors, errors_to(inputs, reference));
  ToleranceResult result = judge_errors(rounds_.buffers().plan(), errors, reference.bounds);
  // What was accepted at a lower precision before is so most likely.
  const bool rounding_first = !lower_bounds_.empty();
  if (rounding_first) {
    KP_TRY(hold_rounding_against(pair, inputs, errors, reference, result));
  }
  if (!result.passed && may_be_ill_conditioned(reference, errors)) {
    KP_TRY(widen_by_condition(pair, inputs, errors, reference));
    ToleranceResult again = judge_errors(rounds_.buffers().plan(), errors, reference.bounds);
    if (again.passed || !rounding_first) {
      result = std::move(again);
    }
  }
  if (!rounding_first) {
    KP_TRY(hold_rounding_against(pair, inputs, errors, reference, result));
  }
  if (result.passed) {
    return std::optional<Failure>();
  }
  name_unwritten(pair, set, result);
  result.failure.evidence.push_back(fmt::format(
      "{}in a timed round at {}, {} values", against_incumbent ? "against the incumbent, " : "",
      shape_text(in_.task, draw.axes), name_of(draw.values.distribution)));
  return std::optional(std::move(result.failure));
}

void TimedOutputs::name_unwritten(const TimedPair& pair, int set, ToleranceResult& result) const {
  const unsigned char left = Rounds::left_in_outputs(pair.key, set);
  const BufferPlan& plan = rounds_.buffers().plan();
  for (const std::size_t output : result.missed) {
    const TensorPlan& tensor = plan.tensors[plan.input_count + output];
    const std::size_t size = size_of(tensor.dtype);
    // Of a single byte chance is not unlikely; and poison was seen already.
    if (left == poison_byte || size == 1 || !result.failure.rule.empty()) {
      continue;
    }
    std::vector<char> bytes(tensor.bytes);
    rounds_.buffers().memory->read_output(Side::candidate, set, output, 0, bytes.size(),
                                          bytes.data());
    std::int64_t unwritten = 0;
    for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<std::ptrdiff_t>(size)) {
      const auto is_left = [left](char byte) { return static_cast<unsigned char>(byte) == left; };
      unwritten += std::all_of(at, at + static_cast<std::ptrdiff_t>(size), is_left) ? 1 : 0;
    }
    if (unwritten > 0) {
      result.failure.rule = "poison";
      result.failure.summary = never_written(tensor, unwritten);
    }
  }
}

Result<Reference> TimedOutputs::reference_for(const TimedPair& pair, const SetInputs& inputs) {
  Reference reference;
  reference.bounds = in_.bounds;
  if (!in_.task.reference.baseline && oracle_affordable(in_.task, in_.ground, inputs.draw.axes)) {
    KP_LET(std::unique_ptr<Truth> truth,
           rounds_.buffers().memory->truth(in_.oracle, inputs.draw, inputs.set));
    reference.truth = std::move(truth);
  }
  if (reference.truth) {
    // Twice the bound is for two outputs that err to either side; to the truth it is the bound.
    for (double& bound : reference.bounds) {
      bound /= 2;
    }
    KP_TRY(judge_incumbent(reference, inputs));
    return reference;
  }
  for (std::size_t i = 0; i < reference.bounds.size(); ++i) {
    reference.bounds[i] =
        std::max(reference.bounds[i],
                 difference_bound(in_.task, inputs.draw.axes, i, inputs.draw.values.distribution));
  }
  if (in_.baseline != nullptr) {
    KP_TRY(ask_baseline(pair, inputs, reference));
  }
  return reference;
}

// Where the baseline is right, an incumbent that is another candidate is not: what it writes beside
// others may be wrong.
Status TimedOutputs::ask_baseline(const TimedPair& pair, const SetInputs& inputs,
                                  Reference& reference) {
  if (baseline_pair_ != pair.key || !baseline_.contains(inputs.set)) {
    KP_TRY(keep_baseline(pair, inputs.set));
  }
  reference.truth = baseline_.at(inputs.set);
  // It passed before, on normal values.
  const std::vector<TensorError> errors = reference.truth->errors(Side::incumbent, inputs.set);
  const std::vector<double> bounds = bounds_of_incumbent(reference.bounds);
  const bool right =
      is_odd(inputs.draw) || judge_errors(rounds_.buffers().plan(), errors, bounds).passed;
  return right ? Status() : Status(incumbent_was_wrong());
}

// Its rounds take long where many sets are looked at: one is enough for as many as there is room
// for.
Status TimedOutputs::keep_baseline(const TimedPair& pair, int set) {
  const Round round =
      rounds_.run_again(*in_.baseline, pair.key, pair.called, timeout_ms_, pair.odd);
  if (round.failure) {
    return ours_failed(*round.failure, "the baseline");
  }
  const ShapeBuffers& buffers = rounds_.buffers();
  const std::size_t stride = std::max<std::size_t>(buffers.plan().output_stride, 1);
  const std::size_t most = most_kept_bytes / stride;
  baseline_.clear();
  baseline_pair_ = pair.key;
  baseline_[set] = held_outputs(in_.task, buffers, set);
  for (auto one = pair.asked.begin(); one != pair.asked.end() && baseline_.size() < most; ++one) {
    if (!baseline_.contains(*one)) {
      baseline_[*one] = held_outputs(in_.task, buffers, *one);
    }
  }
  return repeat_incumbent(pair);
}

// The next set of the pair is held against what the incumbent wrote on its inputs.
Status TimedOutputs::repeat_incumbent(const TimedPair& pair) {
  const Round again =
      rounds_.run_again(in_.incumbent, pair.key, pair.called, timeout_ms_, pair.odd);
  return again.failure ? Status(ours_failed(*again.failure, "the incumbent")) : Status();
}

// The incumbent passed before, on normal values; on others its own error is what a right result may
// have.
Status TimedOutputs::judge_incumbent(Reference& reference, const SetInputs& inputs) const {
  const bool odd = is_odd(inputs.draw);
  if (odd) {
    reference.truth->excuse_by(inputs.set);
  }
  const std::vector<TensorError> errors = reference.truth->errors(Side::incumbent, inputs.set);
  for (std::size_t i = 0; odd && i < errors.size(); ++i) {
    reference.bounds[i] =
        std::max(reference.bounds[i],
                 error_bound(in_.task, rounds_.buffers().plan().axes, i, counted_error(errors[i])));
  }
  const std::vector<double> bounds = bounds_of_incumbent(in_.bounds);
  if (!odd && !judge_errors(rounds_.buffers().plan(), errors, bounds).passed) {
    return incumbent_was_wrong();
  }
  return {};
}

std::vector<double> TimedOutputs::bounds_of_incumbent(std::vector<double> bounds) const {
  const double lower = loosest_bound(in_.allowed_precisions);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const TensorSpec& output = in_.task.outputs[i];
    if (is_floating(output.dtype) || !output.selects.empty()) {
      bounds[i] = std::max(bounds[i], lower);
    }
  }
  return bounds;
}

// Nothing explains what is not finite.
bool TimedOutputs::may_be_ill_conditioned(const Reference& reference,
                                          const std::vector<TensorError>& errors) const {
  const bool finite = std::all_of(errors.begin(), errors.end(), [](const TensorError& error) {
    return std::isfinite(error.error);
  });
  return finite && (reference.truth || rounds_.buffers().plan().output_stride <= most_held_bytes);
}

// Wrong by what the task's condition there explains is right. Finding that out takes many rounds of
// the incumbent, so it is tried for some outputs of a distribution only: what they gave holds for
// the others.
Status TimedOutputs::widen_by_condition(const TimedPair& pair, const SetInputs& inputs,
                                        const std::vector<TensorError>& errors,
                                        Reference& reference) {
  Condition& known = conditions_[inputs.draw.values.distribution];
  raise(reference.bounds, known.bounds);
  const bool explained = judge_errors(rounds_.buffers().plan(), errors, reference.bounds).passed;
  if (explained || known.found == most_conditions) {
    return {};
  }
  KP_TRY(add_condition_to(pair, inputs, reference));
  ++known.found;
  raise(known.bounds, reference.bounds);
  return {};
}

Status TimedOutputs::add_condition_to(const TimedPair& pair, const SetInputs& inputs,
                                      Reference& reference) {
  const ShapeBuffers& buffers = rounds_.buffers();
  if (!reference.truth) {
    reference.truth = held_outputs(in_.task, buffers, inputs.set);
  }
  KP_TRY(add_condition(in_.task, in_.incumbent, buffers, inputs.draw, inputs.set,
                       derive(inputs.draw.values.key, time_nudge_purpose), reference));
  return repeat_incumbent(pair);
}

// A lower precision that is allowed is right where its errors look like rounding.
Status TimedOutputs::hold_rounding_against(const TimedPair& pair, const SetInputs& inputs,
                                           const std::vector<TensorError>& errors,
                                           const Reference& reference, ToleranceResult& result) {
  if (!may_be_lower(in_.task, errors, result)) {
    return {};
  }
  KP_LET(LowerAnswer answer,
         judge_lower_precision({inputs, in_.incumbent, reference, errors, in_.allowed_precisions},
                               std::move(result)));
  result = std::move(answer.result);
  precision_ = less_precise(precision_, result.precision);
  if (!is_odd(inputs.draw)) {
    raise(lower_bounds_, answer.bounds);
  }
  return repeat_incumbent(pair);
}

std::vector<double> TimedOutputs::agreement() const {
  std::vector<double> out = in_.bounds;
  const auto normal = conditions_.find(Distribution::normal);
  for (std::size_t i = 0; i < out.size(); ++i) {
    // The incumbent may err by the bound, the candidate by what the condition explains.
    if (normal != conditions_.end() && i < normal->second.bounds.size()) {
      out[i] = std::max(out[i], out[i] / 2 + normal->second.bounds[i]);
    }
    out[i] += i < lower_bounds_.size() ? lower_bounds_[i] : 0;
  }
  return out;
}

}  // namespace kernelpro
