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

constexpr std::size_t grain = 1 << 16;

// 32 mixed bits in few operations, in a form that compilers vectorise: drawing the inputs is most
// of what a round costs the judge.
std::uint32_t mix(std::uint32_t x) {
  x = x * 0x9e3779b9U;
  x = (x ^ (x >> 15)) * 0x85ebca6bU;
  return x ^ (x >> 14);
}

// The random stream of one block of elements, by 32-bit counters.
class Block {
 public:
  static constexpr std::size_t elements = std::size_t{1} << 16;

  Block(std::uint64_t stream, std::size_t block) {
    const std::uint64_t key = counter_hash(stream, block);
    first_ = static_cast<std::uint32_t>(key);
    second_ = static_cast<std::uint32_t>(key >> 32);
  }

  // Mean 0, deviation 1, from the sum of four 8-bit uniforms (so |value| < 3.5) with the step
  // between two sums filled uniformly: near enough to normal for kernels, and cheap.
  [[nodiscard]] float normal(std::uint32_t i) const {
    const std::uint32_t h = mix(first_ + i);
    const std::uint32_t pairs = (h & 0x00ff00ffU) + ((h >> 8) & 0x00ff00ffU);
    const std::uint32_t sum = (pairs & 0xffffU) + (pairs >> 16);
    const std::uint32_t fill = h & 0xffffffU;
    constexpr float mean = 510.5F;
    constexpr float deviation = 147.8F;
    const float value = static_cast<float>(static_cast<std::int32_t>(sum)) +
                        static_cast<float>(static_cast<std::int32_t>(fill)) * 0x1p-24F;
    return (value - mean) * (1.0F / deviation);
  }

  // Uniform in [0, 1).
  [[nodiscard]] float unit(std::uint32_t i) const {
    return static_cast<float>(static_cast<std::int32_t>(mix(first_ + i) >> 8)) * 0x1p-24F;
  }

  [[nodiscard]] std::uint32_t bits(std::uint32_t i) const { return mix(second_ + i); }

 private:
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

// How far the magnitudes of `large`, `tiny` and `mixed` reach, as a power of two.
int reach_of(DType dtype) {
  return dtype == DType::f16 ? 4 : 12;
}

float mixed_value(const Block& block, std::uint32_t i, int reach) {
  const std::uint32_t h = block.bits(i);
  if ((h & 15U) == 0) {
    return 0.0F;
  }
  const int power = static_cast<int>((h >> 8) % static_cast<std::uint32_t>(2 * reach + 1)) - reach;
  const float fraction = 1.0F + block.unit(i);
  return std::ldexp((h & 16U) != 0 ? -fraction : fraction, power);
}

// Draws the elements of a floating input, block by block.
class Drawer {
 public:
  Drawer(const ValueSpec& values, DType dtype, std::uint64_t stream, Distribution distribution)
      : stream_(stream),
        distribution_(distribution),
        scale_(std::ldexp(1.0F, reach_of(dtype))),
        reach_(reach_of(dtype)),
        bounded_(values.kind == ValueKind::uniform),
        low_(static_cast<float>(values.low)),
        span_(static_cast<float>(values.high - values.low)) {}

  // Writes the first `count` elements of block `index`; the choice is made outside the loops.
  void draw(std::size_t index, std::uint32_t count, float* out) const {
    const Block block(stream_, index);
    if (bounded_) {
      draw_bounded(block, count, out);
      return;
    }
    switch (distribution_) {
      case Distribution::normal:
        each(count, out, [block](std::uint32_t i) { return block.normal(i); });
        break;
      case Distribution::uniform:
        each(count, out, [block](std::uint32_t i) { return 2.0F * block.unit(i) - 1.0F; });
        break;
      case Distribution::large:
        each(count, out,
             [block, scale = scale_](std::uint32_t i) { return scale * block.normal(i); });
        break;
      case Distribution::tiny:
        each(count, out,
             [block, scale = 1 / scale_](std::uint32_t i) { return scale * block.normal(i); });
        break;
      case Distribution::constant: {
        const float value = 0.25F + Block(stream_, 0).unit(0);
        each(count, out, [value](std::uint32_t) { return value; });
        break;
      }
      case Distribution::negative:
        each(count, out, [block, scale = scale_](std::uint32_t i) {
          return -scale * (0.5F + std::fabs(block.normal(i)));
        });
        break;
      case Distribution::mixed:
        each(count, out,
             [block, reach = reach_](std::uint32_t i) { return mixed_value(block, i, reach); });
        break;
    }
  }

 private:
  template <typename Value>
  static void each(std::uint32_t count, float* out, Value value) {
    for (std::uint32_t i = 0; i < count; ++i) {
      out[i] = value(i);
    }
  }

  void draw_bounded(const Block& block, std::uint32_t count, float* out) const {
    // Near the ends of the range for tiny and large, one value for constant.
    constexpr float near = 0x1p-6F;
    float offset = 0;
    float width = 1;
    if (distribution_ == Distribution::tiny || distribution_ == Distribution::large) {
      width = near;
      offset = distribution_ == Distribution::large ? 1.0F - near : 0.0F;
    } else if (distribution_ == Distribution::constant) {
      width = 0;
      offset = Block(stream_, 0).unit(0);
    }
    each(count, out, [block, offset, width, low = low_, span = span_](std::uint32_t i) {
      return low + span * (offset + width * block.unit(i));
    });
  }

  std::uint64_t stream_;
  Distribution distribution_;
  float scale_;
  int reach_;
  bool bounded_;
  float low_;
  float span_;
};

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
void fill_converted(char* data, std::size_t elements, const Drawer& drawer, Convert convert) {
  for_blocks(elements, [&](std::size_t block, std::size_t first, std::uint32_t count) {
    std::vector<float> values(count);
    drawer.draw(block, count, values.data());
    std::transform(values.begin(), values.end(), reinterpret_cast<T*>(data) + first, convert);
  });
}

void fill_floating(char* data, const TensorPlan& tensor, const Drawer& drawer) {
  switch (tensor.dtype) {
    case DType::f64:
      fill_converted<double>(data, tensor.elements, drawer,
                             [](float value) { return static_cast<double>(value); });
      break;
    case DType::f16:
      fill_converted<std::uint16_t>(data, tensor.elements, drawer, float_to_f16);
      break;
    case DType::bf16:
      fill_converted<std::uint16_t>(data, tensor.elements, drawer, float_to_bf16);
      break;
    default:
      for_blocks(tensor.elements, [&](std::size_t block, std::size_t first, std::uint32_t count) {
        drawer.draw(block, count, reinterpret_cast<float*>(data) + first);
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
  parallel_parts(tensor.elements, grain, [&](std::size_t begin, std::size_t end) {
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

// Entry j of a row with L entries lies in the j-th of L equal strips of the columns. No division
// within a row: this is most of what drawing a sparse matrix costs.
template <typename T>
void fill_row_columns(T* row, std::int64_t first, std::int64_t length, std::int64_t bound,
                      std::uint64_t stream) {
  const double strip = static_cast<double>(bound) / static_cast<double>(length);
  const auto key =
      static_cast<std::uint32_t>(counter_hash(stream, static_cast<std::uint64_t>(first)));
  std::int64_t low = 0;
  for (std::int64_t j = 0; j < length; ++j) {
    const std::int64_t next =
        std::min(static_cast<std::int64_t>(static_cast<double>(j + 1) * strip), bound);
    const auto width = static_cast<std::uint64_t>(std::max<std::int64_t>(next - low, 1));
    const std::uint64_t draw = (mix(key + static_cast<std::uint32_t>(j)) * width) >> 32;
    row[j] = static_cast<T>(std::min(low + static_cast<std::int64_t>(draw), bound - 1));
    low = next;
  }
}

void fill_columns(char* data, const TensorPlan& tensor, const char* offsets,
                  const TensorPlan& offsets_plan, std::int64_t bound, std::uint64_t stream) {
  const std::size_t rows = offsets_plan.elements - 1;
  parallel_parts(rows, grain / 16, [&](std::size_t begin, std::size_t end) {
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

std::int64_t bound_of(const ValueSpec& values, const Axes& axes) {
  const Result<std::int64_t> bound = values.bound.evaluate_size(axes);
  return bound ? *bound : 0;  // validate_task has evaluated it already
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

void fill_input(const Task& task, const BufferPlan& plan, const Arena& inputs, int set,
                std::size_t index, std::uint64_t seed, Distribution distribution,
                unsigned char slack) {
  const TensorPlan& tensor = plan.tensors[index];
  const ValueSpec& values = task.inputs[index].values;
  char* data = tensor_data(plan, inputs, set, index);
  std::memset(data - tensor.data_offset, slack, tensor.data_offset);
  std::memset(data + tensor.bytes, slack, tensor.region_bytes - tensor.data_offset - tensor.bytes);
  const std::uint64_t stream = counter_hash(seed, index);
  switch (values.kind) {
    case ValueKind::normal:
    case ValueKind::uniform:
      if (is_floating(tensor.dtype)) {
        fill_floating(data, tensor, Drawer(values, tensor.dtype, stream, distribution));
      } else {
        const auto low = static_cast<std::int64_t>(std::ceil(values.low));
        fill_whole(data, tensor, low, static_cast<std::int64_t>(std::floor(values.high)) - low + 1,
                   stream);
      }
      break;
    case ValueKind::index:
      fill_whole(data, tensor, 0, bound_of(values, plan.axes), stream);
      break;
    case ValueKind::offsets:
      fill_offsets(data, tensor, bound_of(values, plan.axes), stream);
      break;
    case ValueKind::csr_columns: {
      const std::size_t rows = input_index(task, values.rows_of);
      fill_columns(data, tensor, tensor_data(plan, inputs, set, rows), plan.tensors[rows],
                   bound_of(values, plan.axes), stream);
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
