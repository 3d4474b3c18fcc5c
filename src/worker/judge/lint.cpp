#include "worker/judge/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/base/secret.hpp"
#include "worker/judge/broken_variants.hpp"
#include "worker/judge/correctness.hpp"
#include "worker/judge/held_truth.hpp"
#include "worker/judge/tolerance.hpp"

namespace kernelpro {

namespace {

constexpr int trivial_draws = 3;
constexpr double formula_slack = 0.05;

// The shape in the middle of the held-out ranges.
// Axes differ where they can: at equal ones transposing and resizing may be copying.
Result<Axes> middle_shape(const Task& task) {
  Axes axes;
  std::int64_t less = 0;
  for (const auto& [name, range] : task.held_out) {
    axes[name] = range.at_most(std::max(range.low, (range.low + range.high) / 2 - less++));
  }
  return complete_axes(task, axes);
}

// Stands outputs that took no work against the expected ones.
class TrivialOutputs {
 public:
  TrivialOutputs(const Task& task, const BufferPlan& plan, const HeldTruth& truth,
                 const std::vector<double>& bounds)
      : task_(task), plan_(plan), truth_(truth), bounds_(bounds), regions_(plan.output_stride) {}

  [[nodiscard]] bool zeros_pass() {
    for (std::size_t i = 0; i < outputs(); ++i) {
      std::memset(output(i), 0, plan(i).bytes);
    }
    return accepted();
  }

  // The constants that would come nearest, one an output.
  [[nodiscard]] std::vector<double> best_constants() const {
    std::vector<double> out;
    for (const ExpectedOutput& expected : truth_.expected()) {
      double mean = 0;
      for (const double value : expected.values) {
        mean += value / static_cast<double>(expected.values.size());
      }
      out.push_back(expected.choices > 0 || expected.values.empty() ? 1.0 : mean);
    }
    return out;
  }

  [[nodiscard]] bool constants_pass(const std::vector<double>& constants) {
    for (std::size_t i = 0; i < outputs(); ++i) {
      fill_constant(i, constants[i]);
    }
    return accepted();
  }

  // Input `input` of those that the oracle has drawn, copied over output 0, when type and size fit.
  [[nodiscard]] bool pass_through_passes(std::size_t input, const BufferPlan& host,
                                         const Arena& inputs) {
    const TensorPlan& from = plan_.tensors[input];
    if (outputs() != 1 || from.dtype != plan(0).dtype || from.bytes != plan(0).bytes) {
      return false;
    }
    std::memcpy(output(0), tensor_data(host, inputs, 0, input), from.bytes);
    return accepted();
  }

 private:
  [[nodiscard]] std::size_t outputs() const { return task_.outputs.size(); }
  [[nodiscard]] const TensorPlan& plan(std::size_t i) const {
    return plan_.tensors[plan_.input_count + i];
  }
  [[nodiscard]] char* output(std::size_t i) {
    return regions_.data() + plan(i).region_offset + plan(i).data_offset;
  }

  void fill_constant(std::size_t i, double value) {
    for (std::size_t at = 0; at < plan(i).elements; ++at) {
      switch (plan(i).dtype) {
        case DType::f64:
          reinterpret_cast<double*>(output(i))[at] = value;
          break;
        case DType::f32:
          reinterpret_cast<float*>(output(i))[at] = static_cast<float>(value);
          break;
        case DType::i32:
          reinterpret_cast<std::int32_t*>(output(i))[at] = static_cast<std::int32_t>(value);
          break;
        case DType::i64:
          reinterpret_cast<std::int64_t*>(output(i))[at] = static_cast<std::int64_t>(value);
          break;
        default:
          std::memset(output(i), 1, plan(i).bytes);
      }
    }
  }

  [[nodiscard]] bool accepted() const {
    return judge_errors(plan_, truth_.errors_of(regions_.data()), bounds_).passed;
  }

  const Task& task_;
  const BufferPlan& plan_;
  const HeldTruth& truth_;
  const std::vector<double>& bounds_;
  std::vector<char> regions_;  // the outputs of one set
};

void lint_bytes(const Judge& judge, std::vector<LintFinding>& out) {
  for (const TimedShape& shape : judge.timed_shapes()) {
    const Result<BufferPlan> plan = plan_buffers(judge.task(), shape.axes, 1, Key{});
    const Result<double> declared = judge.task().work.bytes.evaluate(shape.axes);
    if (!plan || !declared) {
      continue;
    }
    const auto held = static_cast<double>(plan->set_bytes);
    if (*declared > held * (1 + formula_slack)) {
      out.push_back(
          {LintLevel::error, "bytes",
           fmt::format("work.bytes says {:.0f} at {}, but all tensors together hold {:.0f}: "
                       "the speed of light would call honest candidates cheats",
                       *declared, shape_text(judge.task(), shape.axes), held)});
    } else if (*declared < held / 2) {
      out.push_back(
          {LintLevel::warning, "bytes",
           fmt::format("work.bytes says {:.0f} at {}, the tensors hold {:.0f}: right only if "
                       "a kernel need not touch them all",
                       *declared, shape_text(judge.task(), shape.axes), held)});
    }
  }
}

void lint_flops(Judge& judge, const Toolchain& toolchain, std::vector<LintFinding>& out) {
  const Result<Axes> axes = middle_shape(judge.task());
  if (!axes) {
    return;
  }
  const Result<double> counted = judge.oracle().count_operations(*axes, toolchain);
  const Result<double> declared = judge.task().work.flops.evaluate(*axes);
  if (!counted || !declared) {
    out.push_back({LintLevel::note, "flops",
                   "the operations could not be counted: " +
                       (counted ? declared.error().text() : counted.error().text())});
    return;
  }
  if (*declared == 0 && *counted > 0) {
    out.push_back(
        {LintLevel::warning, "flops",
         fmt::format("work.flops is not declared, so nothing bounds compute; the reference "
                     "does {:.0f} operations at {}",
                     *counted, shape_text(judge.task(), *axes))});
    return;
  }
  if (std::fabs(*declared - *counted) > formula_slack * std::max(*counted, 1.0)) {
    out.push_back({LintLevel::error, "flops",
                   fmt::format("work.flops says {:.0f} at {}, the reference does {:.0f} operations",
                               *declared, shape_text(judge.task(), *axes), *counted)});
  }
}

// Redraws one input after the other: the expected outputs must change.
Status lint_effects(Judge& judge, std::vector<LintFinding>& out) {
  const Task& task = judge.task();
  KP_LET(const Axes axes, middle_shape(task));
  InputDraw draw;
  draw.axes = axes;
  draw.values.key = secret_key();
  const Result<BufferPlan> plan = plan_buffers(task, axes, 1, draw.scalar_key);
  const Result<Arena> inputs =
      plan ? Arena::create(plan->input_bytes(), true) : Result<Arena>(plan.error());
  const Result<Expected> before = judge.oracle().expect(draw);
  if (!inputs || !before) {
    return inputs ? before.error() : inputs.error();
  }
  for (std::size_t input = 0; input < task.inputs.size(); ++input) {
    fill_inputs(task, *plan, {&*inputs}, 0, draw.values);
    fill_input(task, *plan, {&*inputs}, 0, input, {secret_key()});
    KP_LET(const Expected after, judge.oracle().expect(draw, *inputs));
    bool changed = false;
    for (std::size_t i = 0; i < after.size(); ++i) {
      changed =
          changed || after[i].values != (*before)[i].values || after[i].whole != (*before)[i].whole;
    }
    // A redrawn structure (row pointers, columns) must fit the others, so it is not redrawn alone.
    const ValueKind kind = task.inputs[input].values.kind;
    const bool structured = kind == ValueKind::offsets || kind == ValueKind::csr_columns;
    if (!changed && !structured) {
      out.push_back(
          {LintLevel::error, "no_effect",
           fmt::format("other values of input {} do not change any output: a candidate may "
                       "skip it unseen",
                       task.inputs[input].name)});
    }
  }
  return {};
}

// Why the reference gives no values at these sizes; empty: it does.
std::string failure_at(Judge& judge, const Axes& given) {
  InputDraw draw;
  const Result<Axes> axes = complete_axes(judge.task(), given);
  if (!axes) {
    return axes.error().text();
  }
  draw.axes = *axes;
  draw.values.key = secret_key();
  const Result<Expected> expected = judge.oracle().expect(draw);
  return expected ? "" : expected.error().text();
}

// The lowest sizes are where a reference crashes: all of them at once, and each alone.
void lint_held_out(Judge& judge, std::stop_token stop, std::vector<LintFinding>& out) {
  constexpr std::int64_t most_raised = 8;
  const Task& task = judge.task();
  Axes lows;
  Axes middle;
  for (const auto& [name, range] : task.held_out) {
    lows[name] = range.low;
    middle[name] = range.at_most((range.low + range.high) / 2);
  }
  std::string failure = failure_at(judge, lows);
  Axes failed = lows;
  Axes better = lows;
  for (const auto& [name, range] : task.held_out) {
    Axes axes = middle;
    for (std::int64_t raised = 0; raised <= most_raised && !stop.stop_requested(); ++raised) {
      axes[name] = better[name] =
          range.at_most(std::min(range.low + raised * range.step, range.high));
      const std::string why = failure_at(judge, axes);
      if (why.empty()) {
        break;
      }
      failed = failure.empty() ? axes : failed;
      failure = failure.empty() ? why : failure;
    }
  }
  if (failure.empty()) {
    return;
  }
  std::string ranges;
  for (const auto& [name, range] : task.held_out) {
    ranges += fmt::format("{}{} = {}", ranges.empty() ? "" : ", ", name,
                          range_text({better[name], range.high, range.step}));
  }
  const bool mended = failure_at(judge, better).empty();
  out.push_back({LintLevel::error, "held_out",
                 fmt::format("the reference fails at {} ({}){}", shape_text(task, failed), failure,
                             mended ? fmt::format("; set held_out = {{ {} }}", ranges) : "")});
}

void lint_variants(Judge& judge, const Toolchain& toolchain, std::stop_token stop,
                   const std::function<void(const std::string&)>& tell_next,
                   std::vector<LintFinding>& out) {
  const std::vector<Variant> variants = baseline_variants(judge.task(), toolchain);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Variant& variant = variants[i];
    tell_next(fmt::format("variant {} of {}: {}", i + 1, variants.size(), variant.candidate.name));
    EvaluateRequest request;
    request.candidate = variant.candidate;
    request.may_link = true;
    request.timed = false;
    const Verdict verdict = judge.evaluate(request, {}, stop).verdict;
    const bool passed = verdict.outcome == Outcome::passed;
    const std::string what = fmt::format("{}: {} ({})", variant.candidate.name,
                                         name_of(verdict.outcome), verdict.summary);
    if (verdict.outcome == Outcome::not_judged || verdict.outcome == Outcome::build_failed) {
      out.push_back({LintLevel::error, "untried", "could not be tried: " + what});
    } else if (variant.honest && !passed) {
      out.push_back({LintLevel::error, "honest", "an honest variant does not pass: " + what});
    } else if (!variant.honest && passed) {
      out.push_back({LintLevel::error, "broken", "a broken variant passes: " + what});
    } else {
      out.push_back({LintLevel::note, variant.honest ? "honest" : "broken", what});
    }
  }
}

}  // namespace

Result<std::vector<LintFinding>> lint_trivial(Judge& judge) {
  const Task& task = judge.task();
  KP_LET(const Axes axes, middle_shape(task));
  Result<Arm*> baseline = judge.baseline();
  Result<ShapeBuffers> buffers = ShapeBuffers::make(task, judge.ground(), axes, 1, secret_key());
  if (!baseline || !buffers) {
    return baseline ? buffers.error() : baseline.error();
  }
  KP_TRY(attach_baseline(**baseline, *buffers));
  int zeros = 0;
  int constant = 0;
  std::vector<int> passed_through(task.inputs.size(), 0);
  std::vector<double> constants;
  for (int i = 0; i < trivial_draws; ++i) {
    // Of a PyTorch module: with random signs, as one stage of the judge has them.
    const InputDraw draw{
        axes,
        buffers->scalar_key,
        {secret_key(), task.reference.torch ? Distribution::mixed : Distribution::normal}};
    buffers->memory->draw({draw.values}, poison_byte);
    KP_LET(const Reference reference,
           make_reference(task, judge.oracle(), **baseline, *buffers, draw, 0));
    const auto* truth = dynamic_cast<const HeldTruth*>(reference.truth.get());
    if (truth == nullptr) {
      return std::vector<LintFinding>();  // on a GPU's memory: `task new` has measured it there
    }
    const Result<BufferPlan> host =
        plan_buffers(task, draw.axes, 1, draw.scalar_key, PlanKind::oracle);
    const Result<Arena> inputs = judge.oracle().inputs(draw);
    if (!host || !inputs) {
      return host ? inputs.error() : host.error();
    }
    TrivialOutputs trivial(task, buffers->plan(), *truth, reference.bounds);
    zeros += trivial.zeros_pass() ? 1 : 0;
    // Those of one draw on another: an output of one element is its own constant.
    if (i == 0) {
      constants = trivial.best_constants();
    } else {
      constant += trivial.constants_pass(constants) ? 1 : 0;
    }
    for (std::size_t input = 0; input < task.inputs.size(); ++input) {
      passed_through[input] += trivial.pass_through_passes(input, *host, *inputs) ? 1 : 0;
    }
  }
  std::vector<LintFinding> out;
  if (zeros > 0) {
    out.push_back({LintLevel::error, "zeros", "outputs of nothing but zeros would pass"});
  }
  if (constant > 0) {
    out.push_back({LintLevel::error, "constant", "outputs of one constant would pass"});
  }
  for (std::size_t input = 0; input < task.inputs.size(); ++input) {
    if (passed_through[input] > 0) {
      out.push_back({LintLevel::error, "pass_through",
                     "input " + task.inputs[input].name + " passed through as output would pass"});
    }
  }
  return out;
}

Result<std::vector<LintFinding>> lint_task(Judge& judge, const Toolchain& toolchain,
                                           std::stop_token stop,
                                           const std::function<void(const std::string&)>& say) {
  const auto tell_next = [&say](const std::string& text) {
    if (say) {
      say(text);
    }
  };
  tell_next("outputs that take no work");
  Result<std::vector<LintFinding>> out = lint_trivial(judge);
  if (!out) {
    return out;
  }
  lint_bytes(judge, *out);
  if (judge.task().reference.torch) {
    return out;  // `task new` has found what has no effect; there is no source to vary or count in
  }
  if (!judge.task().reference.baseline) {
    tell_next("the lowest held-out sizes");
    lint_held_out(judge, stop, *out);
    tell_next("the effect of each input");
    KP_TRY(lint_effects(judge, *out));
    lint_flops(judge, toolchain, *out);
  }
  lint_variants(judge, toolchain, stop, tell_next, *out);
  return out;
}

}  // namespace kernelpro
