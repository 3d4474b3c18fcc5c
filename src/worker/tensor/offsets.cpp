#include "worker/tensor/offsets.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/base/secret.hpp"
#include "worker/tensor/value_words.hpp"

namespace kernelpro {

namespace {

// The longest row of a ragged structure, in mean ones: a kernel with a thread a row still answers.
constexpr std::int64_t longest_of_means = 64;
constexpr double least_weight = 0.5;
constexpr double most_weight = 1.5;
constexpr double spiked_weight = 8;

struct RowsPlan {
  std::size_t rows = 0;
  std::int64_t total = 0;
  std::int64_t longest = 0;  // that a row may be
  Key key;
  Distribution distribution = Distribution::normal;

  [[nodiscard]] double mean() const {
    return static_cast<double>(total) / static_cast<double>(rows);
  }
};

using Weights = std::vector<double>;

// A weight for each row where `one_in` is 1; else for one row in so many, and nothing for others.
Weights draw_weights(const RowsPlan& plan, std::uint32_t one_in) {
  Weights out(plan.rows);
  std::uint32_t words[group_elements];
  for (std::size_t i = 0; i < plan.rows; ++i) {
    if (i % group_elements == 0) {
      value_words(plan.key, i / group_elements, first_stream, words);
    }
    const std::uint32_t word = words[i % group_elements];
    out[i] = word % one_in == 0 ? least_weight + static_cast<double>(unit_of(word)) : 0;
  }
  return out;
}

double sum_of(const Weights& weights) {
  double sum = 0;
  for (const double weight : weights) {
    sum += weight;
  }
  return sum;
}

// Some rows of the spiked structure, few however many there are, are empty or long.
void spike(const RowsPlan& plan, Weights& weights) {
  const auto one_in = static_cast<std::uint32_t>(std::max<std::size_t>(plan.rows / 4, 16));
  const bool room = static_cast<double>(plan.longest) > 2 * spiked_weight * plan.mean();
  std::uint32_t words[group_elements];
  for (std::size_t i = 0; i < plan.rows; ++i) {
    if (i % group_elements == 0) {
      value_words(plan.key, i / group_elements, second_stream, words);
    }
    const std::uint32_t drawn = words[i % group_elements] % one_in;
    if (drawn == 0) {
      weights[i] = 0;
    } else if (drawn == 1 && room) {
      weights[i] *= spiked_weight;
    }
  }
}

bool is_ragged(Distribution distribution) {
  return distribution == Distribution::large || distribution == Distribution::mixed ||
         distribution == Distribution::shifted;
}

// One row that is much longer than all others.
struct HugeRow {
  std::size_t row = 0;
  std::int64_t length = 0;
};

// Takes its weight from the huge row, and from others as long as none of the rest is overfull.
HugeRow make_ragged(const RowsPlan& plan, Weights& weights) {
  constexpr std::uint64_t ragged_purpose = 1;
  KeyedRandom random(derive(plan.key, ragged_purpose));
  HugeRow huge;
  huge.row = random.below(plan.rows);
  const auto most = static_cast<std::int64_t>(longest_of_means * std::max(plan.mean(), 1.0));
  const std::int64_t half = plan.total / 2;
  const auto wanted = half + static_cast<std::int64_t>(
                                 random.below(static_cast<std::uint64_t>(plan.total - half) + 1));
  huge.length = std::min({wanted, most, plan.longest});
  const auto rest = static_cast<double>(plan.total - huge.length);
  for (std::uint32_t one_in = 1U << random.below(4);; one_in /= 2) {
    weights = draw_weights(plan, one_in);
    weights[huge.row] = 0;
    if (one_in == 1 || most_weight * rest <= static_cast<double>(plan.longest) * sum_of(weights)) {
      break;
    }
  }
  if (sum_of(weights) == 0) {
    huge.length = plan.total;
  }
  return huge;
}

// What a row has beyond the longest goes to the rows behind it, and from the last to the first.
void keep_within_longest(std::int64_t longest, std::vector<std::int64_t>& ends) {
  std::int64_t over = 0;
  for (int turn = 0; turn == 0 || (turn == 1 && over > 0); ++turn) {
    std::int64_t begin = 0;
    std::int64_t before = 0;
    for (std::size_t i = 1; i < ends.size(); ++i) {
      const std::int64_t wanted = ends[i] - begin + over;
      begin = ends[i];
      const std::int64_t length = std::min(wanted, longest);
      over = wanted - length;
      before += length;
      ends[i] = before;
    }
  }
  ends.back() += over;  // more than all rows can have
}

std::vector<std::int64_t> row_ends(const RowsPlan& plan) {
  HugeRow huge;
  Weights weights = draw_weights(plan, 1);
  if (is_ragged(plan.distribution)) {
    huge = make_ragged(plan, weights);
  } else if (plan.distribution == Distribution::spiked) {
    spike(plan, weights);
  }
  const double sum = sum_of(weights);
  const double scale = sum > 0 ? static_cast<double>(plan.total - huge.length) / sum : 0.0;
  std::vector<std::int64_t> out(plan.rows + 1, 0);
  double before = 0;
  for (std::size_t i = 0; i < plan.rows; ++i) {
    before += weights[i];
    out[i + 1] = static_cast<std::int64_t>(before * scale) + (i >= huge.row ? huge.length : 0);
  }
  out.back() = plan.total;
  keep_within_longest(plan.longest, out);
  return out;
}

void store_offset(char* data, DType dtype, std::size_t i, std::int64_t value) {
  switch (dtype) {
    case DType::i64:
      reinterpret_cast<std::int64_t*>(data)[i] = value;
      break;
    case DType::i32:
      reinterpret_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(value);
      break;
    case DType::i16:
      reinterpret_cast<std::int16_t*>(data)[i] = static_cast<std::int16_t>(value);
      break;
    default:
      reinterpret_cast<std::int8_t*>(data)[i] = static_cast<std::int8_t>(value);
  }
}

// What a row may have at most: as many entries as there are columns for them.
std::int64_t longest_row(const Task& task, const Axes& axes, const std::string& rows) {
  std::int64_t longest = std::numeric_limits<std::int64_t>::max();
  for (const TensorSpec& input : task.inputs) {
    if (input.values.kind == ValueKind::csr_columns && input.values.rows_of == rows) {
      longest = std::min(longest, whole_range(input.values, axes).count);
    }
  }
  return longest;
}

}  // namespace

std::vector<char> draw_offsets(const Task& task, const BufferPlan& plan, std::size_t index,
                               const SetDraw& draw) {
  const TensorPlan& tensor = plan.tensors[index];
  std::vector<char> out(tensor.bytes);
  if (tensor.elements == 0) {
    return out;
  }
  RowsPlan rows;
  rows.rows = tensor.elements - 1;
  rows.total = whole_range(task.inputs[index].values, plan.axes).count;
  rows.longest = longest_row(task, plan.axes, task.inputs[index].name);
  rows.key = input_key(draw.key, index);
  rows.distribution = draw.distribution;
  const std::vector<std::int64_t> ends =
      rows.rows > 0 ? row_ends(rows) : std::vector<std::int64_t>{rows.total};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    store_offset(out.data(), tensor.dtype, i, ends[i]);
  }
  return out;
}

}  // namespace kernelpro
