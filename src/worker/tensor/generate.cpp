#include "worker/tensor/generate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "common/base/random.hpp"
#include "worker/tensor/halves.hpp"
#include "worker/tensor/parallel.hpp"

namespace kernelpro {

namespace {

// How far the magnitudes of `large`, `tiny` and `mixed` reach, as a power of two.
int reach_of(DType dtype) {
  return dtype == DType::f16 ? 4 : 12;
}

template <Distribution D>
void draw_block(const DrawRule& rule, std::size_t index, std::uint32_t count, float* out) {
  const Block block(rule.stream, index);
  // The choice is made outside the loops.
  if (rule.bounded) {
    for (std::uint32_t i = 0; i < count; ++i) {
      out[i] = draw_bounded<D>(rule, block, i);
    }
  } else {
    for (std::uint32_t i = 0; i < count; ++i) {
      out[i] = draw_free<D>(rule, block, i);
    }
  }
}

// Writes the first `count` elements of block `index`.
void draw(const DrawRule& rule, std::size_t index, std::uint32_t count, float* out) {
  switch (rule.distribution) {
    case Distribution::normal:
      draw_block<Distribution::normal>(rule, index, count, out);
      break;
    case Distribution::uniform:
      draw_block<Distribution::uniform>(rule, index, count, out);
      break;
    case Distribution::large:
      draw_block<Distribution::large>(rule, index, count, out);
      break;
    case Distribution::tiny:
      draw_block<Distribution::tiny>(rule, index, count, out);
      break;
    case Distribution::constant:
      draw_block<Distribution::constant>(rule, index, count, out);
      break;
    case Distribution::negative:
      draw_block<Distribution::negative>(rule, index, count, out);
      break;
    case Distribution::mixed:
      draw_block<Distribution::mixed>(rule, index, count, out);
      break;
  }
}

// Calls work(block, first element, count) for all blocks of a tensor, on all cores.
template <typename Work>
void for_blocks(std::size_t elements, Work work) {
  const std::size_t blocks = (elements + Block::elements - 1) / Block::elements;
  parallel_parts(blocks, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t first = block * Block::elements;
      work(block, first, static_cast<std::uint32_t>(std::min(Block::elements, elements - first)));
    }
  });
}

template <typename T, typename Convert>
void fill_converted(char* data, std::size_t elements, const DrawRule& rule, Convert convert) {
  for_blocks(elements, [&](std::size_t block, std::size_t first, std::uint32_t count) {
    std::vector<float> values(count);
    draw(rule, block, count, values.data());
    std::transform(values.begin(), values.end(), reinterpret_cast<T*>(data) + first, convert);
  });
}

void fill_floating(char* data, const TensorPlan& tensor, const DrawRule& rule) {
  switch (tensor.dtype) {
    case DType::f64:
      fill_converted<double>(data, tensor.elements, rule,
                             [](float value) { return static_cast<double>(value); });
      break;
    case DType::f16:
      fill_converted<std::uint16_t>(data, tensor.elements, rule, float_to_f16);
      break;
    case DType::bf16:
      fill_converted<std::uint16_t>(data, tensor.elements, rule, float_to_bf16);
      break;
    default:
      for_blocks(tensor.elements, [&](std::size_t block, std::size_t first, std::uint32_t count) {
        draw(rule, block, count, reinterpret_cast<float*>(data) + first);
      });
  }
}

void store_whole(char* data, DType dtype, std::size_t i, std::int64_t value) {
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

// Whole numbers in [low, low + count).
void fill_whole(char* data, const TensorPlan& tensor, std::int64_t low, std::int64_t count,
                std::uint64_t stream) {
  const auto limit = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1));
  parallel_parts(tensor.elements, elements_a_part, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      store_whole(data, tensor.dtype, i,
                  low + static_cast<std::int64_t>(counter_hash(stream, i) % limit));
    }
  });
}

// Row lengths between half and one and a half of the mean, so that no row of a matrix with at least
// twice as many columns as entries a row is ever overfull.
void fill_offsets(char* data, const TensorPlan& tensor, std::int64_t total, std::uint64_t stream) {
  if (tensor.elements == 0) {
    return;
  }
  std::vector<double> ends(tensor.elements, 0.0);
  for (std::size_t i = 1; i < tensor.elements; ++i) {
    ends[i] = ends[i - 1] + 0.5 + static_cast<double>(counter_hash(stream, i) >> 11) * 0x1p-53;
  }
  const double scale = ends.back() > 0 ? static_cast<double>(total) / ends.back() : 0.0;
  for (std::size_t i = 0; i + 1 < tensor.elements; ++i) {
    store_whole(data, tensor.dtype, i, static_cast<std::int64_t>(ends[i] * scale));
  }
  store_whole(data, tensor.dtype, tensor.elements - 1, total);
}

template <typename T>
void fill_row_columns(T* row, std::int64_t first, std::int64_t length, std::int64_t bound,
                      std::uint64_t stream) {
  const RowColumns columns(stream, first, length, bound);
  std::int64_t low = 0;
  // No division within a row: this is most of what drawing a sparse matrix costs.
  for (std::int64_t j = 0; j < length; ++j) {
    const std::int64_t next = columns.edge(j + 1);
    row[j] = static_cast<T>(columns.column(j, low, next));
    low = next;
  }
}

void fill_columns(char* data, const TensorPlan& tensor, const char* offsets,
                  const TensorPlan& offsets_plan, std::int64_t bound, std::uint64_t stream) {
  const std::size_t rows = offsets_plan.elements - 1;
  parallel_parts(rows, elements_a_part / 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const std::int64_t first = load_whole(offsets, offsets_plan.dtype, row);
      const std::int64_t length = load_whole(offsets, offsets_plan.dtype, row + 1) - first;
      const auto fill = [&](auto* columns) {
        fill_row_columns(columns + first, first, length, bound, stream);
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

std::size_t input_index(const Task& task, const std::string& name) {
  const auto found = std::find_if(task.inputs.begin(), task.inputs.end(),
                                  [&name](const TensorSpec& input) { return input.name == name; });
  return static_cast<std::size_t>(found - task.inputs.begin());
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
  }
  return "normal";
}

DrawRule draw_rule(const ValueSpec& values, DType dtype, std::uint64_t stream,
                   Distribution distribution) {
  DrawRule rule;
  rule.stream = stream;
  rule.distribution = distribution;
  rule.reach = reach_of(dtype);
  rule.bounded = values.kind == ValueKind::uniform;
  rule.low = static_cast<float>(values.low);
  rule.span = static_cast<float>(values.high - values.low);
  return rule;
}

WholeRange whole_range(const ValueSpec& values, const Axes& axes) {
  if (values.kind == ValueKind::normal || values.kind == ValueKind::uniform) {
    const auto low = static_cast<std::int64_t>(std::ceil(values.low));
    return {low, static_cast<std::int64_t>(std::floor(values.high)) - low + 1};
  }
  const Result<std::int64_t> bound = values.bound.evaluate_size(axes);
  return {0, bound ? *bound : 0};  // validate_task has evaluated it already
}

std::uint64_t input_stream(std::uint64_t seed, std::size_t index) {
  return counter_hash(seed, index);
}

std::vector<char> draw_offsets(const TensorPlan& tensor, std::int64_t total, std::uint64_t stream) {
  std::vector<char> out(tensor.bytes);
  fill_offsets(out.data(), tensor, total, stream);
  return out;
}

std::size_t rows_input(const Task& task, std::size_t index) {
  return input_index(task, task.inputs[index].values.rows_of);
}

void fill_input(const Task& task, const BufferPlan& plan, const Arena& inputs, int set,
                std::size_t index, std::uint64_t seed, Distribution distribution,
                unsigned char slack) {
  const TensorPlan& tensor = plan.tensors[index];
  const ValueSpec& values = task.inputs[index].values;
  char* data = tensor_data(plan, inputs, set, index);
  std::memset(data - tensor.data_offset, slack, tensor.data_offset);
  std::memset(data + tensor.bytes, slack, tensor.region_bytes - tensor.data_offset - tensor.bytes);
  const std::uint64_t stream = input_stream(seed, index);
  const WholeRange whole = whole_range(values, plan.axes);
  switch (values.kind) {
    case ValueKind::normal:
    case ValueKind::uniform:
      if (is_floating(tensor.dtype)) {
        fill_floating(data, tensor, draw_rule(values, tensor.dtype, stream, distribution));
      } else {
        fill_whole(data, tensor, whole.low, whole.count, stream);
      }
      break;
    case ValueKind::index:
      fill_whole(data, tensor, whole.low, whole.count, stream);
      break;
    case ValueKind::offsets:
      fill_offsets(data, tensor, whole.count, stream);
      break;
    case ValueKind::drawn:  // by the reference, not here
      break;
    case ValueKind::csr_columns: {
      const std::size_t rows = rows_input(task, index);
      fill_columns(data, tensor, tensor_data(plan, inputs, set, rows), plan.tensors[rows],
                   whole.count, stream);
      break;
    }
  }
}

void fill_inputs(const Task& task, const BufferPlan& plan, const Arena& inputs, int set,
                 std::uint64_t seed, Distribution distribution, unsigned char slack) {
  // Inputs that others are drawn from come first.
  for (const bool dependent : {false, true}) {
    for (std::size_t i = 0; i < plan.input_count; ++i) {
      if ((task.inputs[i].values.kind == ValueKind::csr_columns) == dependent) {
        fill_input(task, plan, inputs, set, i, seed, distribution, slack);
      }
    }
  }
}

}  // namespace kernelpro
