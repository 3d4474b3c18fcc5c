#include "worker/judge/selection_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/tolerance.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t most_rows_a_call = 4096;
constexpr double most_values_a_call = 1 << 24;
// A second or so of one core, and what a set may take in all. More rows than that differ only where
// nearly all values tie (constant inputs): a secret sample of them is asked for then.
constexpr double operations_a_call = 1e9;
constexpr double operations_a_set = 5e9;
constexpr std::size_t least_rows = 64;
constexpr std::size_t most_controls = 64;
constexpr std::size_t least_controls = 4;

using Rows = std::vector<std::size_t>;

const Selection& selection_of(const Task& task, std::size_t output) {
  return *std::find_if(task.selections.begin(), task.selections.end(), [&](const Selection& one) {
    return one.name == task.outputs[output].selects;
  });
}

bool starts_with_axis(const std::vector<Formula>& shape, const std::string& axis) {
  return !shape.empty() && shape.front().text() == axis;
}

// The same shape with `rows` as that axis.
Result<Axes> sliced_axes(const Task& task, const Axes& axes, const std::string& axis,
                         std::int64_t rows) {
  Axes given;
  for (const AxisSpec& one : task.axes) {
    if (!one.derived) {
      given[one.name] = one.name == axis ? rows : axes.at(one.name);
    }
  }
  return complete_axes(task, given);
}

// Whether a shape is the same at both axes, or the same behind its first dimension, which is the
// axis.
bool slices(const std::vector<Formula>& shape, const std::string& axis, const Axes& whole,
            const Axes& part) {
  Result<std::vector<std::int64_t>> before = evaluate_shape(shape, whole);
  Result<std::vector<std::int64_t>> after = evaluate_shape(shape, part);
  if (!before || !after || before->size() != after->size()) {
    return false;
  }
  if (starts_with_axis(shape, axis)) {
    before->front() = after->front();
  }
  return *before == *after;
}

// Whether the values of an input mean the same in a part: indices into the axis do not.
bool values_slice(const ValueSpec& values, const Axes& whole, const Axes& part) {
  const Result<double> before = values.bound.evaluate(whole);
  const Result<double> after = values.bound.evaluate(part);
  return before && after && *before == *after;
}

// The differing rows of one index output, asked about in batches.
class RowJudge {
 public:
  RowJudge(const SetInputs& in, std::string axis, std::size_t output)
      : in_(in),
        axis_(std::move(axis)),
        output_(output),
        tensor_(in.buffers.plan().tensors[in.buffers.plan().input_count + output]),
        rows_(static_cast<std::size_t>(in.draw.axes.at(axis_))),
        row_bytes_(tensor_.bytes / rows_) {
    const Result<double> flops = in.task.work.flops.evaluate(in.draw.axes);
    row_operations_ = std::max(flops ? *flops / static_cast<double>(rows_) : 1.0, 1.0);
  }

  [[nodiscard]] Status run(double& bound, TensorError& error) {
    for (const Side side : both_sides) {
      labels_[index_of(side)].resize(tensor_.bytes);
      in_.buffers.memory->read_output(side, in_.set, output_, 0, tensor_.bytes,
                                      labels_[index_of(side)].data());
    }
    KP_TRY(in_.buffers.memory->health());
    list_rows();
    const std::size_t step = rows_a_call();
    TensorError worst;
    double wider = bound;
    for (std::size_t at = 0; at < differing_.size(); at += step) {
      Rows rows = controls_;
      const auto begin = differing_.begin() + static_cast<std::ptrdiff_t>(at);
      rows.insert(rows.end(), begin,
                  begin + static_cast<std::ptrdiff_t>(std::min(step, differing_.size() - at)));
      KP_LET(ExpectedOutput expected, expect(rows));
      if (!confirmed(rows, expected, bound)) {
        return {};
      }
      const double own = error_of(Side::incumbent, rows, rows.size(), expected).error;
      if (std::isfinite(own)) {
        wider = std::max(wider, error_bound(in_.task, in_.draw.axes, output_, own));
      }
      note(error_of(Side::candidate, rows, rows.size(), expected), rows, worst);
      if (worst.error > wider) {
        break;  // one wrong label is enough
      }
    }
    bound = wider;
    error = worst;
    return {};
  }

 private:
  [[nodiscard]] const char* label(Side side, std::size_t row) const {
    return labels_[index_of(side)].data() + row * row_bytes_;
  }

  // Where the sides differ, and a few rows spread over those where they do not.
  void list_rows() {
    Rows agreeing;
    for (std::size_t row = 0; row < rows_; ++row) {
      const bool same =
          std::memcmp(label(Side::candidate, row), label(Side::incumbent, row), row_bytes_) == 0;
      (same ? agreeing : differing_).push_back(row);
    }
    const auto affordable = static_cast<std::size_t>(operations_a_call / row_operations_);
    controls_ = spread(agreeing, std::clamp(affordable, least_controls, most_controls));
    const auto most =
        std::max(static_cast<std::size_t>(operations_a_set / row_operations_), least_rows);
    if (differing_.size() > most) {
      differing_ = spread(differing_, most);
    }
  }

  // `count` of these rows, each at a secret place of its part of the list.
  [[nodiscard]] Rows spread(const Rows& rows, std::size_t count) const {
    KeyedRandom random(derive(in_.draw.values.key, selection_rows_purpose));
    Rows out;
    count = std::min(count, rows.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = i * rows.size() / count;
      const std::size_t end = (i + 1) * rows.size() / count;
      out.push_back(rows[begin + random.below(end - begin)]);
    }
    return out;
  }

  [[nodiscard]] std::size_t rows_a_call() const {
    const Selection& selection = selection_of(in_.task, output_);
    const Result<std::vector<std::int64_t>> shape = evaluate_shape(selection.shape, in_.draw.axes);
    const double choices = shape ? static_cast<double>(shape->back()) : 1.0;
    const std::size_t picked = tensor_.elements / rows_;
    const double values = choices * static_cast<double>(picked);
    const double most =
        std::min(most_values_a_call / std::max(values, 1.0), operations_a_call / row_operations_);
    return std::clamp(static_cast<std::size_t>(most), std::size_t{1}, most_rows_a_call);
  }

  // Inputs for `count` rows; those that have no rows are copied once for all calls of that size.
  [[nodiscard]] Status make_room(std::size_t count) {
    if (part_ && part_->axes.at(axis_) == static_cast<std::int64_t>(count)) {
      return {};
    }
    KP_LET(const Axes axes,
           sliced_axes(in_.task, in_.draw.axes, axis_, static_cast<std::int64_t>(count)));
    KP_LET(BufferPlan part, plan_buffers(in_.task, axes, 1, in_.draw.scalar_key, PlanKind::oracle));
    KP_LET(Arena inputs, Arena::create(part.input_bytes(), true));
    part_ = std::move(part);
    inputs_ = std::move(inputs);
    for (std::size_t i = 0; i < in_.task.inputs.size(); ++i) {
      if (!starts_with_axis(in_.task.inputs[i].shape, axis_)) {
        in_.buffers.memory->read_input(in_.set, i, 0, part_->tensors[i].bytes,
                                       tensor_data(*part_, inputs_, 0, i));
      }
    }
    return {};
  }

  void gather(std::size_t input, const Rows& rows) {
    const std::size_t bytes = part_->tensors[input].bytes / rows.size();
    char* to = tensor_data(*part_, inputs_, 0, input);
    for (std::size_t at = 0; at < rows.size();) {
      std::size_t run = 1;  // rows that lie behind each other
      while (at + run < rows.size() && rows[at + run] == rows[at] + run) {
        ++run;
      }
      in_.buffers.memory->read_input(in_.set, input, rows[at] * bytes, run * bytes,
                                     to + at * bytes);
      at += run;
    }
  }

  // What the task's reference says of these rows alone.
  [[nodiscard]] Result<ExpectedOutput> expect(const Rows& rows) {
    KP_TRY(make_room(rows.size()));
    for (std::size_t i = 0; i < in_.task.inputs.size(); ++i) {
      if (starts_with_axis(in_.task.inputs[i].shape, axis_)) {
        gather(i, rows);
      }
    }
    KP_TRY(in_.buffers.memory->health());
    InputDraw draw = in_.draw;
    draw.axes = part_->axes;
    KP_LET(Expected expected, in_.oracle.expect(draw, inputs_));
    return std::move(expected[output_]);
  }

  // Of the first `count` of these rows.
  [[nodiscard]] TensorError error_of(Side side, const Rows& rows, std::size_t count,
                                     const ExpectedOutput& expected) const {
    std::vector<char> labels;
    for (std::size_t i = 0; i < count; ++i) {
      labels.insert(labels.end(), label(side, rows[i]), label(side, rows[i]) + row_bytes_);
    }
    return compare_selection(labels.data(), tensor_.dtype, expected.values.data(),
                             count * tensor_.elements / rows_, expected.choices, expected.smallest);
  }

  // Whether the reference for these rows alone agrees with what the sides agree on; where they
  // agree on nothing, with the incumbent.
  [[nodiscard]] bool confirmed(const Rows& rows, const ExpectedOutput& expected,
                               double bound) const {
    const std::size_t count = controls_.empty() ? rows.size() : controls_.size();
    return error_of(Side::incumbent, rows, count, expected).error <= bound;
  }

  // Indices of the batch become those of the whole output.
  void note(TensorError found, const Rows& rows, TensorError& worst) const {
    const std::size_t inner = tensor_.elements / rows_;
    if (found.worst >= 0) {
      const auto at = static_cast<std::size_t>(found.worst);
      found.worst = static_cast<std::int64_t>(rows[at / inner] * inner + at % inner);
    }
    if (found.worst >= 0 && found.error >= worst.error) {
      worst = found;
    }
  }

  const SetInputs& in_;
  std::string axis_;
  std::size_t output_;
  const TensorPlan& tensor_;
  std::size_t rows_;
  std::size_t row_bytes_;
  double row_operations_ = 1;
  std::vector<char> labels_[2];
  Rows differing_;
  Rows controls_;
  std::optional<BufferPlan> part_;
  Arena inputs_;
};

}  // namespace

std::optional<std::string> row_axis(const Task& task, const Axes& axes, std::size_t output) {
  const TensorSpec& index = task.outputs[output];
  if (index.selects.empty() || index.shape.empty() || task.reference.torch ||
      task.reference.baseline) {
    return std::nullopt;
  }
  const std::string& axis = index.shape.front().text();
  const bool given = std::any_of(task.axes.begin(), task.axes.end(), [&axis](const AxisSpec& one) {
    return one.name == axis && !one.derived;
  });
  if (!given || axes.at(axis) < 2) {
    return std::nullopt;
  }
  const Selection& selection = selection_of(task, output);
  const Result<Axes> part = sliced_axes(task, axes, axis, 1);
  if (!part || !starts_with_axis(selection.shape, axis) ||
      selection.shape.size() != index.shape.size() + 1 ||
      !slices(selection.shape, axis, axes, *part) || !slices(index.shape, axis, axes, *part)) {
    return std::nullopt;
  }
  for (const TensorSpec& input : task.inputs) {
    if (!slices(input.shape, axis, axes, *part) || !values_slice(input.values, axes, *part)) {
      return std::nullopt;
    }
  }
  return axis;
}

Status judge_selections(const SetInputs& in, std::vector<double>& bounds,
                        std::vector<TensorError>& errors) {
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool unwritten = errors[i].poisoned > 0;
    const std::optional<std::string> axis = row_axis(in.task, in.draw.axes, i);
    if (errors[i].error > 0 && !unwritten && axis) {
      KP_TRY(RowJudge(in, *axis, i).run(bounds[i], errors[i]));
    }
  }
  return {};
}

}  // namespace kernelpro
