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
constexpr std::int64_t most_doubt_ns = 60'000'000'000;

void raise(std::vector<double>& bounds, const std::vector<double>& to) {
  bounds.resize(std::max(bounds.size(), to.size()), 0);
  for (std::size_t i = 0; i < to.size(); ++i) {
    bounds[i] = std::max(bounds[i], to[i]);
  }
}

}  // namespace

bool is_sampled(const Key& key, std::ptrdiff_t pair, int pairs, bool by_contract) {
  const int samples = by_contract ? 2 : 4;
  const auto stride = static_cast<std::uint64_t>(std::max(1, pairs / samples));
  const auto at = static_cast<std::uint64_t>(pair);
  KeyedRandom random(derive(key, time_sample_place_purpose, at / stride));
  return at % stride == random.below(stride);
}

Result<std::optional<Failure>> TimedOutputs::judge(const TimedPair& pair, int set) {
  const std::int64_t start = now_ns();
  Result<std::optional<Failure>> judged = judge_set(pair, set);
  doubt_ns_ += pair.sampled ? 0 : now_ns() - start;
  if (judged && !*judged && doubt_ns_ > most_doubt_ns) {
    *judged = Failure{Outcome::timed_out,
                      "doubt",
                      "its timed outputs differ so often from the incumbent's that finding out who "
                      "is right takes too long",
                      {fmt::format("over {} s at one shape", most_doubt_ns / 1'000'000'000)}};
  }
  return judged;
}

Result<std::optional<Failure>> TimedOutputs::judge_set(const TimedPair& pair, int set) {
  const InputDraw draw = rounds_.draw(pair.key, set, pair.odd);
  const SetInputs inputs{in_.task, in_.oracle, rounds_.buffers(), draw, set};
  KP_LET(Reference reference, reference_for(inputs, pair.odd));
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
  result.failure.evidence.push_back(fmt::format(
      "{}in a timed round at {}, {} values", against_incumbent ? "against the incumbent, " : "",
      shape_text(in_.task, draw.axes), name_of(draw.values.distribution)));
  return std::optional(std::move(result.failure));
}

Result<Reference> TimedOutputs::reference_for(const SetInputs& inputs, bool odd) const {
  Reference reference;
  reference.bounds = in_.bounds;
  if (in_.task.reference.baseline || !oracle_affordable(in_.task, in_.ground, inputs.draw.axes)) {
    return reference;
  }
  KP_LET(std::unique_ptr<Truth> truth,
         rounds_.buffers().memory->truth(in_.oracle, inputs.draw, inputs.set));
  reference.truth = std::move(truth);
  if (reference.truth) {
    // Twice the bound is for two outputs that err to either side; to the truth it is the bound.
    for (double& bound : reference.bounds) {
      bound /= 2;
    }
    KP_TRY(judge_incumbent(reference, inputs.set, odd));
  }
  return reference;
}

// The next set of the pair is held against what the incumbent wrote on its inputs.
Status TimedOutputs::repeat_incumbent(const TimedPair& pair) {
  const Round again =
      rounds_.run_again(in_.incumbent, pair.key, pair.called, timeout_ms_, pair.odd);
  return again.failure
             ? Status(make_error(ErrorKind::lost, again.failure->summary, "the incumbent"))
             : Status();
}

// The incumbent passed before, on normal values; on others its own error is what a right result may
// have.
Status TimedOutputs::judge_incumbent(Reference& reference, int set, bool odd) const {
  if (odd) {
    reference.truth->excuse_by(set);
  }
  const std::vector<TensorError> errors = reference.truth->errors(Side::incumbent, set);
  // It may itself be of a lower precision that is allowed.
  const double lower = loosest_bound(in_.allowed_precisions);
  std::vector<double> bounds = in_.bounds;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const TensorSpec& output = in_.task.outputs[i];
    if (odd) {
      reference.bounds[i] = std::max(
          reference.bounds[i],
          error_bound(in_.task, rounds_.buffers().plan().axes, i, counted_error(errors[i])));
    } else if (is_floating(output.dtype) || !output.selects.empty()) {
      bounds[i] = std::max(bounds[i], lower);
    }
  }
  if (!odd && !judge_errors(rounds_.buffers().plan(), errors, bounds).passed) {
    return make_error(ErrorKind::lost, "it gave a wrong result in a timed round", "the incumbent");
  }
  return {};
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
  if (!pair.odd) {
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
