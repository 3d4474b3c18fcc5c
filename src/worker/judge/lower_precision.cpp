#include "worker/judge/lower_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/rounding.hpp"

namespace kernelpro {

namespace {

// So many elements of an output are looked at: all, or a part of it at a secret place.
constexpr std::size_t sample_elements = std::size_t{4} << 20;

constexpr Lower all_lower[] = {Lower::tf32, Lower::f16, Lower::bf16};

bool fits(Lower lower, const std::vector<TensorError>& errors,
          const std::vector<std::size_t>& missed) {
  return std::all_of(missed.begin(), missed.end(), [&](std::size_t i) {
    return errors[i].error <= most_roundings * unit_roundoff(lower);
  });
}

// How a precision is reached: matrix units cut instead of rounding.
std::vector<Lower> ways_to(Lower lower) {
  return lower == Lower::tf32 ? std::vector<Lower>{Lower::tf32, Lower::tf32_cut}
                              : std::vector<Lower>{lower};
}

// A part of one output.
struct Sample {
  std::size_t output = 0;
  std::size_t first = 0;
  std::size_t count = 0;
  std::vector<double> truth;
  Variety variety;
  ErrorPattern errors;  // the candidate's
};

class LowerJudge {
 public:
  explicit LowerJudge(const LowerQuestion& question)
      : in_(question), buffers_(question.set.buffers), bounds_(question.errors.size(), 0) {}

  [[nodiscard]] Result<LowerAnswer> judge(ToleranceResult result) {
    for (const std::size_t i : result.missed) {
      take_sample(i);
    }
    KP_TRY(buffers_.memory->health());
    std::vector<Lower> order;
    for (const bool wanted : {true, false}) {
      std::copy_if(std::begin(all_lower), std::end(all_lower), std::back_inserter(order),
                   [&](Lower one) { return allowed(one) == wanted; });
    }
    std::string why;
    std::optional<Lower> found;
    for (const Lower lower : order) {
      if (found || !fits(lower, in_.errors, result.missed)) {
        continue;
      }
      KP_LET(std::string reason, why_not(lower, result.missed));
      found = reason.empty() ? std::optional(lower) : std::nullopt;
      if (why.empty() || allowed(lower)) {  // of the coarsest that is allowed, if any is
        why = fmt::format("as {} it is {}", name_of(lower), reason);
      }
    }
    KP_TRY(restore());
    return answer(std::move(result), found, why);
  }

 private:
  [[nodiscard]] const BufferPlan& plan() const { return buffers_.plan(); }
  [[nodiscard]] const TensorPlan& tensor(std::size_t output) const {
    return plan().tensors[plan().input_count + output];
  }
  // The allowed precision that it is accepted at: its own, or a coarser one, since whoever allows
  // bf16 allows what is nearer to the truth. Empty: none.
  [[nodiscard]] std::string accepted_at(Lower lower) const {
    const auto given = [this](Lower one) {
      return std::find(in_.allowed.begin(), in_.allowed.end(), name_of(one)) != in_.allowed.end();
    };
    if (given(lower)) {
      return std::string(name_of(lower));
    }
    for (const Lower coarser : all_lower) {
      if (unit_roundoff(coarser) > unit_roundoff(lower) && given(coarser)) {
        return std::string(name_of(coarser));
      }
    }
    return {};
  }
  [[nodiscard]] bool allowed(Lower lower) const { return !accepted_at(lower).empty(); }

  [[nodiscard]] std::vector<double> outputs(Side side, const Sample& sample) const {
    const DType dtype = tensor(sample.output).dtype;
    std::vector<char> bytes(sample.count * size_of(dtype));
    buffers_.memory->read_output(side, in_.set.set, sample.output, sample.first * size_of(dtype),
                                 bytes.size(), bytes.data());
    return to_doubles(bytes.data(), dtype, sample.count);
  }

  void take_sample(std::size_t output) {
    if (!is_floating(tensor(output).dtype)) {
      return;  // an index: what it selects is worse than the best in one direction only
    }
    Sample sample;
    sample.output = output;
    sample.count = std::min(tensor(output).elements, sample_elements);
    KeyedRandom random(derive(in_.set.draw.values.key, rounding_sample_purpose, output));
    sample.first = random.below(tensor(output).elements - sample.count + 1);
    sample.truth = in_.reference.truth
                       ? in_.reference.truth->values(output, sample.first, sample.count)
                       : outputs(Side::incumbent, sample);
    const std::vector<std::size_t> strides = neighbor_strides(tensor(output).shape);
    sample.variety = variety_of(sample.truth, strides);
    sample.errors =
        pattern_of(signed_errors(outputs(Side::candidate, sample), sample.truth), strides);
    sample.errors.largest = in_.errors[output].error;  // of all elements
    samples_.push_back(std::move(sample));
  }

  // Empty where the errors look like rounding in one of its ways.
  [[nodiscard]] Result<std::string> why_not(Lower lower, const std::vector<std::size_t>& missed) {
    std::string first;
    for (const Lower way : ways_to(lower)) {
      KP_TRY(run_twin(way));
      const std::string why = compare_with_twin(way, missed);
      KP_TRY(buffers_.memory->health());
      if (why.empty()) {
        return std::string();
      }
      first = first.empty() ? why : first;
    }
    return first;
  }

  // The baseline on inputs and scalars rounded that way.
  [[nodiscard]] Status run_twin(Lower way) {
    BufferPlan rounded = plan();
    for (double& scalar : rounded.scalars) {
      scalar = static_cast<double>(rounded_to(way, static_cast<float>(scalar)));
    }
    buffers_.memory->draw_again();
    buffers_.memory->round_inputs(way);
    return run_on(rounded);
  }

  [[nodiscard]] Status run_on(const BufferPlan& plan) {
    KP_TRY(attach_baseline(in_.baseline, plan, *buffers_.memory));
    const Result<double> ran = run_baseline(in_.baseline, buffers_, in_.set.set);
    return ran ? Status() : Status(ran.error());
  }

  [[nodiscard]] std::string compare_with_twin(Lower way, const std::vector<std::size_t>& missed) {
    std::fill(bounds_.begin(), bounds_.end(), 0);
    for (const Sample& sample : samples_) {
      const HonestTwin twin = twin_of(way, sample);
      bounds_[sample.output] = lower_bound(way, twin.inputs_rounded.largest);
      std::string why = why_not_rounding(way, sample.errors, twin, sample.variety);
      if (!why.empty()) {
        return why;
      }
    }
    for (const std::size_t i : missed) {
      if (!is_floating(tensor(i).dtype)) {
        bounds_[i] = lower_bound(way, twin_index_error(i));
        if (in_.errors[i].error > bounds_[i]) {
          return fmt::format("larger than an honest computation: {:.3g}, where {:.3g} is the most",
                             in_.errors[i].error, bounds_[i]);
        }
      }
    }
    return {};
  }

  [[nodiscard]] HonestTwin twin_of(Lower way, const Sample& sample) const {
    const std::vector<std::size_t> strides = neighbor_strides(tensor(sample.output).shape);
    std::vector<double> values = outputs(Side::incumbent, sample);
    HonestTwin twin;
    twin.inputs_rounded = pattern_of(signed_errors(values, sample.truth), strides);
    for (double& value : values) {
      value = static_cast<double>(rounded_to(way, static_cast<float>(value)));
    }
    twin.all_rounded = pattern_of(signed_errors(values, sample.truth), strides);
    return twin;
  }

  // Where only the incumbent's indices are known, a rounded one tells nothing of the values.
  [[nodiscard]] double twin_index_error(std::size_t output) const {
    if (!in_.reference.truth) {
      return 0;
    }
    return counted_error(in_.reference.truth->errors(Side::incumbent, in_.set.set)[output]);
  }

  [[nodiscard]] Status restore() {
    buffers_.memory->draw_again();
    return run_on(plan());
  }

  [[nodiscard]] LowerAnswer answer(ToleranceResult result, std::optional<Lower> found,
                                   const std::string& why) const {
    std::vector<std::string>& evidence = result.failure.evidence;
    if (!found) {
      evidence.push_back("the error is no rounding to a lower precision: " + why);
      return {std::move(result), {}};
    }
    const std::string name(name_of(*found));
    if (allowed(*found)) {
      result.passed = true;
      result.precision = accepted_at(*found);
      return {std::move(result), bounds_};
    }
    result.failure.rule = "precision";
    evidence.push_back(fmt::format(
        "the errors look like those of rounding to {0}; if that is meant, allow it with "
        "--allow-precision {0}",
        name));
    return {std::move(result), {}};
  }

  const LowerQuestion& in_;
  const ShapeBuffers& buffers_;
  std::vector<Sample> samples_;
  std::vector<double> bounds_;  // of the last twin
};

}  // namespace

double loosest_bound(const std::vector<std::string>& precisions) {
  double bound = 0;
  for (const Lower lower : all_lower) {
    const bool named =
        std::find(precisions.begin(), precisions.end(), name_of(lower)) != precisions.end();
    bound = named ? std::max(bound, most_roundings * unit_roundoff(lower)) : bound;
  }
  return bound;
}

bool may_be_lower(const Task& task, const std::vector<TensorError>& errors,
                  const ToleranceResult& result) {
  // Of doubles, errors far below what any of these roundings makes are none.
  constexpr double least_of_doubles = unit_roundoff(Lower::tf32) / 64;
  const auto could = [&](std::size_t i) {
    const bool approximate = is_floating(task.outputs[i].dtype) || !task.outputs[i].selects.empty();
    const bool exact = task.outputs[i].dtype == DType::f64 && errors[i].error < least_of_doubles;
    return approximate && !exact && errors[i].poisoned == 0;
  };
  return !result.passed && std::all_of(result.missed.begin(), result.missed.end(), could) &&
         fits(Lower::bf16, errors, result.missed);
}

Result<LowerAnswer> judge_lower_precision(const LowerQuestion& question, ToleranceResult result) {
  return LowerJudge(question).judge(std::move(result));
}

}  // namespace kernelpro
