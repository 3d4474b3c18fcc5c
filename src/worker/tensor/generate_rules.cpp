// How each input is drawn: by what the task says of it, the distribution and its set's key.
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/secret.hpp"
#include "worker/tensor/generate.hpp"

namespace kernelpro {

namespace {

constexpr std::uint64_t no_element = ~std::uint64_t{0};

// How far from zero shifted values lie, as a power of two, where they deviate by one. A variance as
// the difference of two sums of floats is lost at 2^12. A coarser type cannot have that offset: so
// far that its own steps are as large as the deviation at most.
int shift_power(const Task& task) {
  int power = 12;
  for (const TensorSpec& input : task.inputs) {
    if (input.dtype == DType::f16) {
      power = std::min(power, 9);
    } else if (input.dtype == DType::bf16) {
      power = std::min(power, 7);
    }
  }
  return power;
}

// The same for all inputs of a set, for only then do differences between them lose what they share.
void set_shift(const Task& task, const Key& set, DrawRule& rule) {
  constexpr std::uint64_t shift_purpose = 4;
  const std::uint32_t word = value_word(derive(set, shift_purpose), 0, constant_stream);
  rule.closeness = shift_power(task);
  rule.shift = power_of_two(rule.closeness) * (1.0F + unit_of(word));
  rule.shift = (word & 1U) != 0 ? -rule.shift : rule.shift;
  rule.place = 0.25F + 0.5F * unit_of(word);
}

std::size_t input_index(const Task& task, const std::string& name) {
  const auto found = std::find_if(task.inputs.begin(), task.inputs.end(),
                                  [&name](const TensorSpec& input) { return input.name == name; });
  return static_cast<std::size_t>(found - task.inputs.begin());
}

// The floating inputs that are no constants; the constants too where there are no others.
std::vector<std::size_t> fresh_inputs(const Task& task) {
  std::vector<std::size_t> fresh;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    if (is_floating(task.inputs[i].dtype)) {
      all.push_back(i);
      if (!task.inputs[i].constant) {
        fresh.push_back(i);
      }
    }
  }
  return fresh.empty() ? all : fresh;
}

// One of these inputs of a set is marked for certain, and each other or not: what a small input
// looks like tells nothing of a large one. Constants, which kp_prepare sees off the clock, are
// marked less often: they tell even less.
bool is_marked(const Task& task, const Key& set, std::uint64_t purpose, std::size_t index) {
  const std::vector<std::size_t> fresh = fresh_inputs(task);
  KeyedRandom random(derive(set, purpose));
  const std::size_t certain = fresh.empty() ? index : fresh[random.below(fresh.size())];
  KeyedRandom own(derive(set, purpose, index + 1));
  return index == certain || own.below(task.inputs[index].constant ? 4 : 2) == 0;
}

constexpr std::uint64_t run_purpose = 6;
constexpr std::uint64_t window_purpose = 7;
constexpr std::uint64_t kind_purpose = 8;
constexpr std::uint64_t spiked_purpose = 5;
constexpr std::uint64_t sign_purpose = 9;

struct Rows {
  std::size_t length = 1;  // of each
  std::size_t count = 0;
};

Rows rows_of(const TensorPlan& tensor) {
  const std::size_t length =
      tensor.shape.size() > 1 ? static_cast<std::size_t>(tensor.shape.back()) : 1;
  return {length, tensor.elements / std::max<std::size_t>(length, 1)};
}

// Large values, shifted rows or both.
struct SpikedKind {
  bool values = false;
  bool rows = false;
};

// A shifted row shows in any one of its values, and a large value nowhere else: half of the sets
// have large values alone, so that who looks at a value of each row misses them. All inputs of a
// set are alike in this: what goes wrong where rows of two inputs meet does so in many sets.
SpikedKind spiked_kind(const TensorPlan& tensor, const Key& set) {
  const std::uint64_t word = KeyedRandom(derive(set, kind_purpose)).below(4);
  const bool rows = word >= 2 && rows_of(tensor).count >= 2;
  return {!rows || word == 3, rows};
}

// Whole rows, so that what is computed of each by itself goes wrong if it does so for shifted
// values; some of them, so that there is a choice among those that lie close together. As far into
// each input of a set: where inputs are worked on in parts, such as heads, the same part has them.
void set_run(const TensorPlan& tensor, const Key& set, DrawRule& rule) {
  const auto [row, rows] = rows_of(tensor);
  const std::size_t wanted = 2 + KeyedRandom(derive(rule.key, run_purpose)).below(4);
  const std::size_t run = std::min(wanted, rows / 2);
  constexpr std::uint64_t parts = std::uint64_t{1} << 20U;
  const std::uint64_t part = KeyedRandom(derive(set, run_purpose)).below(parts);
  rule.run_begin = row * ((rows - run + 1) * part / parts);
  rule.run_count = row * run;
}

}  // namespace

std::string_view name_of(Distribution distribution) {
  switch (distribution) {
    case Distribution::normal:
      return "normal";
    case Distribution::uniform:
      return "uniform";
    case Distribution::large:
      return "large";
    case Distribution::tiny:
      return "tiny";
    case Distribution::constant:
      return "constant";
    case Distribution::negative:
      return "negative";
    case Distribution::mixed:
      return "mixed";
    case Distribution::positive:
      return "positive";
    case Distribution::spiked:
      return "spiked";
    case Distribution::shifted:
      return "shifted";
  }
  return "normal";
}

DrawRule draw_rule(const Task& task, const TensorPlan& tensor, std::size_t index,
                   const SetDraw& draw) {
  const ValueSpec& values = task.inputs[index].values;
  DrawRule rule;
  rule.key = input_key(draw.key, index);
  rule.constant = value_word(rule.key, 0, constant_stream);
  rule.distribution = draw.distribution;
  if (draw.distribution == Distribution::negative &&
      !is_marked(task, draw.key, sign_purpose, index)) {
    rule.distribution = Distribution::positive;  // products of two inputs are below zero then
  }
  rule.reach = tensor.dtype == DType::f16 ? 4 : 12;
  rule.bounded = values.kind == ValueKind::uniform;
  rule.low = static_cast<float>(values.low);
  rule.span = static_cast<float>(values.high - values.low);
  const bool spiked =
      draw.distribution == Distribution::spiked && is_marked(task, draw.key, spiked_purpose, index);
  const SpikedKind kind = spiked ? spiked_kind(tensor, draw.key) : SpikedKind();
  if (draw.distribution == Distribution::shifted || kind.rows) {
    set_shift(task, draw.key, rule);
  }
  if (kind.rows) {
    set_run(tensor, draw.key, rule);
  }
  constexpr std::uint64_t spike_purpose = 3;
  KeyedRandom random(derive(rule.key, spike_purpose));
  for (std::uint64_t& spike : rule.spikes) {
    spike = kind.values ? random.below(std::max<std::size_t>(tensor.elements, 1)) : no_element;
  }
  return rule;
}

bool is_due(const Task& task, const SetDraw& draw, std::size_t input) {
  return draw.called || task.inputs[input].constant;
}

WholeRange whole_range(const ValueSpec& values, const Axes& axes) {
  if (values.kind == ValueKind::normal || values.kind == ValueKind::uniform) {
    const auto low = static_cast<std::int64_t>(std::ceil(values.low));
    return {low, static_cast<std::int64_t>(std::floor(values.high)) - low + 1};
  }
  const Result<std::int64_t> bound = values.bound.evaluate_size(axes);
  return {0, bound ? *bound : 0};  // validate_task has evaluated it already
}

WholeRange drawn_range(const ValueSpec& values, const Axes& axes, std::size_t index,
                       const SetDraw& draw) {
  WholeRange range = whole_range(values, axes);
  const bool structured =
      values.kind == ValueKind::offsets || values.kind == ValueKind::csr_columns;
  if (structured || range.count < 2) {
    return range;
  }
  constexpr std::int64_t parts = 64;
  const std::int64_t part = std::max<std::int64_t>(range.count / parts, 1);
  KeyedRandom random(derive(input_key(draw.key, index), window_purpose));
  switch (draw.distribution) {
    case Distribution::constant:
      return {range.low +
                  static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(range.count))),
              1};
    case Distribution::tiny:
      return {range.low, part};
    case Distribution::large:
      return {range.low + range.count - part, part};
    case Distribution::shifted:
      return {range.low + static_cast<std::int64_t>(
                              random.below(static_cast<std::uint64_t>(range.count - part + 1))),
              part};
    default:
      return range;
  }
}

Key input_key(const Key& set, std::size_t index) {
  constexpr std::uint64_t input_purpose = 1;
  return derive(set, input_purpose, index);
}

std::size_t rows_input(const Task& task, std::size_t index) {
  return input_index(task, task.inputs[index].values.rows_of);
}

}  // namespace kernelpro
