#include "worker/tensor/generate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "common/base/secret.hpp"
#include "worker/tensor/halves.hpp"
#include "worker/tensor/offsets.hpp"
#include "worker/tensor/parallel.hpp"
#include "worker/tensor/value_words.hpp"

namespace kernelpro {

namespace {

// A thread draws this many elements at once; whole groups.
constexpr std::size_t part_elements = std::size_t{1} << 15;
static_assert(part_elements % group_elements == 0);

// Whether a group has elements that a spiked distribution makes unlike others.
bool has_places(const DrawRule& rule, std::uint64_t group) {
  const std::uint64_t begin = group * group_elements;
  const bool spiked = std::ranges::any_of(
      rule.spikes, [group](std::uint64_t spike) { return spike / group_elements == group; });
  return spiked ||
         (rule.run_begin < begin + group_elements && begin < rule.run_begin + rule.run_count);
}

template <Distribution D>
void draw_group(const DrawRule& rule, std::uint64_t group, float (&out)[group_elements]) {
  std::uint32_t words[group_elements];
  std::uint32_t seconds[group_elements];
  value_words(rule.key, group, first_stream, words);
  if constexpr (takes_two(D)) {
    value_words(rule.key, group, second_stream, seconds);
  }
  // The choice is made outside the loops.
  if (rule.bounded) {
    for (std::size_t i = 0; i < group_elements; ++i) {
      out[i] = draw_bounded<D>(rule, words[i]);
    }
  } else {
    for (std::size_t i = 0; i < group_elements; ++i) {
      out[i] = draw_free<D>(rule, words[i], takes_two(D) ? seconds[i] : 0);
    }
  }
  if (D == Distribution::spiked && has_places(rule, group)) {
    for (std::size_t i = 0; i < group_elements; ++i) {
      out[i] = at_its_place(rule, group * group_elements + i, words[i], out[i]);
    }
  }
}

template <Distribution D>
void draw_group(const DrawRule& rule, std::uint64_t group, double (&out)[group_elements]) {
  float values[group_elements];
  draw_group<D>(rule, group, values);
  std::uint32_t seconds[group_elements];
  value_words(rule.key, group, second_stream, seconds);
  for (std::size_t i = 0; i < group_elements; ++i) {
    out[i] = widened<D>(rule, values[i], seconds[i]);
  }
}

template <typename Number>
void draw_group(const DrawRule& rule, std::uint64_t group, Number (&out)[group_elements]) {
  switch (rule.distribution) {
    case Distribution::normal:
      return draw_group<Distribution::normal>(rule, group, out);
    case Distribution::uniform:
      return draw_group<Distribution::uniform>(rule, group, out);
    case Distribution::large:
      return draw_group<Distribution::large>(rule, group, out);
    case Distribution::tiny:
      return draw_group<Distribution::tiny>(rule, group, out);
    case Distribution::constant:
      return draw_group<Distribution::constant>(rule, group, out);
    case Distribution::negative:
      return draw_group<Distribution::negative>(rule, group, out);
    case Distribution::mixed:
      return draw_group<Distribution::mixed>(rule, group, out);
    case Distribution::positive:
      return draw_group<Distribution::positive>(rule, group, out);
    case Distribution::spiked:
      return draw_group<Distribution::spiked>(rule, group, out);
    case Distribution::shifted:
      return draw_group<Distribution::shifted>(rule, group, out);
  }
}

// Calls work(group, first element, count) for all groups of a tensor, on all cores.
template <typename Work>
void for_groups(std::size_t elements, Work work) {
  const std::size_t parts = (elements + part_elements - 1) / part_elements;
  parallel_parts(parts, 1, [&](std::size_t begin, std::size_t end) {
    const std::size_t last = std::min(end * part_elements, elements);
    for (std::size_t first = begin * part_elements; first < last; first += group_elements) {
      work(first / group_elements, first, std::min(group_elements, last - first));
    }
  });
}

// Where the data of one tensor lies, in each of the arenas that get it.
using Places = std::vector<char*>;

// Drawn as `Number`, stored as `T`.
template <typename T, typename Number, typename Convert>
void fill_converted(const Places& places, std::size_t elements, const DrawRule& rule,
                    Convert convert) {
  for_groups(elements, [&](std::size_t group, std::size_t first, std::size_t count) {
    Number values[group_elements];
    T converted[group_elements];
    draw_group(rule, group, values);
    for (std::size_t i = 0; i < count; ++i) {
      converted[i] = convert(values[i]);
    }
    for (char* data : places) {
      std::memcpy(data + first * sizeof(T), converted, count * sizeof(T));
    }
  });
}

void fill_floating(const Places& places, const TensorPlan& tensor, const DrawRule& rule) {
  switch (tensor.dtype) {
    case DType::f64:
      fill_converted<double, double>(places, tensor.elements, rule,
                                     [](double value) { return value; });
      break;
    case DType::f16:
      fill_converted<std::uint16_t, float>(places, tensor.elements, rule, float_to_f16);
      break;
    case DType::bf16:
      fill_converted<std::uint16_t, float>(places, tensor.elements, rule, float_to_bf16);
      break;
    default:
      fill_converted<float, float>(places, tensor.elements, rule,
                                   [](float value) { return value; });
  }
}

std::int64_t load_whole(const char* data, DType dtype, std::size_t i) {
  switch (dtype) {
    case DType::i64:
      return reinterpret_cast<const std::int64_t*>(data)[i];
    case DType::i32:
      return reinterpret_cast<const std::int32_t*>(data)[i];
    case DType::i16:
      return reinterpret_cast<const std::int16_t*>(data)[i];
    case DType::u8:
      return reinterpret_cast<const std::uint8_t*>(data)[i];
    default:
      return reinterpret_cast<const std::int8_t*>(data)[i];
  }
}

template <typename T>
void fill_whole_as(const Places& places, std::size_t elements, const WholeRange& range,
                   const Key& key) {
  for_groups(elements, [&](std::size_t group, std::size_t first, std::size_t count) {
    // Of our own: a byte that is stored might be part of what others name.
    const WholeRange own = range;
    std::uint32_t words[group_elements];
    std::uint32_t seconds[group_elements] = {};
    T numbers[group_elements];
    value_words(key, group, first_stream, words);
    if (takes_two(own)) {
      value_words(key, group, second_stream, seconds);
    }
    for (std::size_t i = 0; i < group_elements; ++i) {
      numbers[i] = static_cast<T>(whole_value(own, words[i], seconds[i]));
    }
    for (char* data : places) {
      std::memcpy(data + first * sizeof(T), numbers, count * sizeof(T));
    }
  });
}

// Whole numbers in [low, low + count).
void fill_whole(const Places& places, const TensorPlan& tensor, const WholeRange& range,
                const Key& key) {
  switch (tensor.dtype) {
    case DType::i64:
      fill_whole_as<std::int64_t>(places, tensor.elements, range, key);
      break;
    case DType::i32:
      fill_whole_as<std::int32_t>(places, tensor.elements, range, key);
      break;
    case DType::i16:
      fill_whole_as<std::int16_t>(places, tensor.elements, range, key);
      break;
    default:
      fill_whole_as<std::int8_t>(places, tensor.elements, range, key);
      break;
  }
}

template <typename T>
void fill_row_columns(T* row, RowColumns columns, std::int64_t length) {
  for (std::int64_t j = 0; j < length; ++j) {
    row[j] = static_cast<T>(columns.next(j));
  }
}

void fill_columns(char* data, const TensorPlan& tensor, const char* offsets,
                  const TensorPlan& offsets_plan, std::int64_t bound, const Key& key) {
  const std::size_t rows = offsets_plan.elements - 1;
  parallel_parts(rows, elements_a_part / 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const std::int64_t first = load_whole(offsets, offsets_plan.dtype, row);
      const std::int64_t length = load_whole(offsets, offsets_plan.dtype, row + 1) - first;
      if (length <= 0) {
        continue;
      }
      const RowColumns row_columns(key, static_cast<std::int64_t>(row), length, bound);
      const auto fill = [&](auto* columns) {
        fill_row_columns(columns + first, row_columns, length);
      };
      switch (tensor.dtype) {
        case DType::i64:
          fill(reinterpret_cast<std::int64_t*>(data));
          break;
        case DType::i32:
          fill(reinterpret_cast<std::int32_t*>(data));
          break;
        case DType::i16:
          fill(reinterpret_cast<std::int16_t*>(data));
          break;
        default:
          fill(reinterpret_cast<std::int8_t*>(data));
      }
    }
  });
}

// In two steps: inputs that others are drawn from come first.
std::array<std::vector<std::size_t>, 2> inputs_in_order(const Task& task) {
  std::array<std::vector<std::size_t>, 2> out;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    out[task.inputs[i].values.kind == ValueKind::csr_columns ? 1 : 0].push_back(i);
  }
  return out;
}

}  // namespace

void fill_input(const Task& task, const BufferPlan& plan, const InputCopies& copies, int set,
                std::size_t index, const SetDraw& draw, unsigned char slack) {
  const TensorPlan& tensor = plan.tensors[index];
  const ValueSpec& values = task.inputs[index].values;
  Places places;
  for (const Arena* arena : copies) {
    char* data = tensor_data(plan, *arena, set, index);
    std::memset(data - tensor.data_offset, slack, tensor.data_offset);
    std::memset(data + tensor.bytes, slack,
                tensor.region_bytes - tensor.data_offset - tensor.bytes);
    places.push_back(data);
  }
  const Key key = input_key(draw.key, index);
  const WholeRange whole = drawn_range(values, plan.axes, index, draw);
  switch (values.kind) {
    case ValueKind::normal:
    case ValueKind::uniform:
      if (is_floating(tensor.dtype)) {
        fill_floating(places, tensor, draw_rule(task, tensor, index, draw));
      } else {
        fill_whole(places, tensor, whole, key);
      }
      break;
    case ValueKind::index:
      fill_whole(places, tensor, whole, key);
      break;
    case ValueKind::offsets:
      for (char* data : places) {
        const std::vector<char> offsets = draw_offsets(task, plan, index, draw);
        std::copy(offsets.begin(), offsets.end(), data);
      }
      break;
    case ValueKind::drawn:  // by the reference, not here
      break;
    case ValueKind::csr_columns: {
      const std::size_t rows = rows_input(task, index);
      for (std::size_t i = 0; i < places.size(); ++i) {
        fill_columns(places[i], tensor, tensor_data(plan, *copies[i], set, rows),
                     plan.tensors[rows], whole_range(values, plan.axes).count, key);
      }
      break;
    }
  }
}

void fill_inputs(const Task& task, const BufferPlan& plan, const InputCopies& copies, int set,
                 const SetDraw& draw, unsigned char slack) {
  for (const std::vector<std::size_t>& inputs : inputs_in_order(task)) {
    for (const std::size_t input : inputs) {
      fill_input(task, plan, copies, set, input, draw, slack);
    }
  }
}

void fill_called_sets(const Task& task, const BufferPlan& plan, const InputCopies& copies,
                      const std::vector<SetDraw>& draws, unsigned char slack) {
  for (const std::vector<std::size_t>& inputs : inputs_in_order(task)) {
    std::vector<std::pair<std::size_t, std::size_t>> due;  // set and input
    for (std::size_t set = 0; set < draws.size(); ++set) {
      for (const std::size_t input : inputs) {
        if (is_due(task, draws[set], input)) {
          due.emplace_back(set, input);
        }
      }
    }
    parallel_parts(due.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto [set, input] = due[i];
        fill_input(task, plan, copies, static_cast<int>(set), input, draws[set], slack);
      }
    });
  }
}

}  // namespace kernelpro
