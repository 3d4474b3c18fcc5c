// The judge's own work on the GPU: drawing inputs, handing them over, poisoning, comparing. Compiled
// at first use by the worker's own toolchain, with draw.hpp and chacha.hpp beside it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "draw.hpp"

using kernelpro::Distribution;
using kernelpro::draw_element;
using kernelpro::DrawRule;
using kernelpro::Key;
using kernelpro::RowColumns;
using kernelpro::WholeRange;
namespace chacha = kernelpro::chacha;

namespace {

using Size = unsigned long long;

// The worker's names for element types; gpu_types.hpp has the same.
enum Type : int { t_f64, t_f32, t_f16, t_bf16, t_i64, t_i32, t_i16, t_i8, t_u8 };

__device__ Size first_index() { return blockIdx.x * Size{blockDim.x} + threadIdx.x; }
__device__ Size index_step() { return Size{gridDim.x} * blockDim.x; }

__device__ void store(void* data, int type, Size i, float value) {
  switch (type) {
    case t_f64: static_cast<double*>(data)[i] = value; break;
    case t_f16: static_cast<__half*>(data)[i] = __float2half_rn(value); break;
    case t_bf16: static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(value); break;
    default: static_cast<float*>(data)[i] = value;
  }
}

__device__ void store_whole(void* data, int type, Size i, long long value) {
  switch (type) {
    case t_i64: static_cast<long long*>(data)[i] = value; break;
    case t_i32: static_cast<int*>(data)[i] = static_cast<int>(value); break;
    case t_i16: static_cast<short*>(data)[i] = static_cast<short>(value); break;
    default: static_cast<signed char*>(data)[i] = static_cast<signed char>(value);
  }
}

__device__ long long load_whole(const void* data, int type, Size i) {
  switch (type) {
    case t_i64: return static_cast<const long long*>(data)[i];
    case t_i32: return static_cast<const int*>(data)[i];
    case t_i16: return static_cast<const short*>(data)[i];
    case t_u8: return static_cast<const unsigned char*>(data)[i];
    default: return static_cast<const signed char*>(data)[i];
  }
}

__device__ double load(const void* data, int type, Size i) {
  switch (type) {
    case t_f64: return static_cast<const double*>(data)[i];
    case t_f32: return static_cast<const float*>(data)[i];
    case t_f16: return __half2float(static_cast<const __half*>(data)[i]);
    case t_bf16: return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
    default: return static_cast<double>(load_whole(data, type, i));
  }
}

__device__ bool is_poison(const void* data, int type, Size i) {
  const int width = type == t_f64 || type == t_i64              ? 8
                    : type == t_f32 || type == t_i32            ? 4
                    : type == t_f16 || type == t_bf16 || type == t_i16 ? 2
                                                                       : 1;
  const unsigned char* bytes = static_cast<const unsigned char*>(data) + i * width;
  for (int k = 0; k < width; ++k) {
    if (bytes[k] != 0xff) return false;
  }
  return true;
}

constexpr Size group_lanes = kernelpro::group_lanes;
constexpr Size group_elements = kernelpro::group_elements;

// Calls use(element, word, second) for all elements of a tensor. A warp makes a group of words at a
// time, each lane a block, so that neighbouring lanes write neighbours.
template <typename Use>
__device__ void for_words(const Key& key, Size elements, bool two, Use use) {
  const unsigned lane = threadIdx.x % 32;
  const Size groups = (elements + group_elements - 1) / group_elements;
  for (Size group = first_index() / 32; group < groups; group += index_step() / 32) {
    std::uint32_t words[chacha::words], seconds[chacha::words] = {};
    chacha::make_block(words, key, group * group_lanes + lane, kernelpro::first_stream,
                       chacha::value_rounds);
    if (two) {
      chacha::make_block(seconds, key, group * group_lanes + lane, kernelpro::second_stream,
                         chacha::value_rounds);
    }
#pragma unroll
    for (int i = 0; i < chacha::words; ++i) {
      const Size element = group * group_elements + i * group_lanes + lane;
      if (element < elements) use(element, words[i], seconds[i]);
    }
  }
}

template <Distribution D>
__device__ void fill(void* data, int type, Size elements, const DrawRule& rule) {
  for_words(rule.key, elements, kernelpro::takes_two(D),
            [&](Size element, std::uint32_t word, std::uint32_t second) {
              store(data, type, element, draw_element<D>(rule, word, second));
            });
}

}  // namespace

// Where `outputs` is not finite, nothing is expected: NaN in the truth.
extern "C" __global__ void excuse(double* truth, const void* outputs, int type, Size elements) {
  for (Size i = first_index(); i < elements; i += index_step()) {
    if (!isfinite(load(outputs, type, i))) truth[i] = nan("");
  }
}

extern "C" __global__ void fill_floating(void* data, int type, Size elements, DrawRule rule) {
  switch (rule.distribution) {
    case Distribution::normal: return fill<Distribution::normal>(data, type, elements, rule);
    case Distribution::uniform: return fill<Distribution::uniform>(data, type, elements, rule);
    case Distribution::large: return fill<Distribution::large>(data, type, elements, rule);
    case Distribution::tiny: return fill<Distribution::tiny>(data, type, elements, rule);
    case Distribution::constant: return fill<Distribution::constant>(data, type, elements, rule);
    case Distribution::negative: return fill<Distribution::negative>(data, type, elements, rule);
    case Distribution::mixed: return fill<Distribution::mixed>(data, type, elements, rule);
  }
}

extern "C" __global__ void fill_whole(void* data, int type, Size elements, WholeRange range,
                                      Key key) {
  for_words(key, elements, kernelpro::takes_two(range),
            [&](Size element, std::uint32_t word, std::uint32_t second) {
              store_whole(data, type, element, kernelpro::whole_value(range, word, second));
            });
}

extern "C" __global__ void fill_columns(void* data, int type, const void* offsets,
                                        int offsets_type, Size rows, long long bound, Key key) {
  for (Size row = first_index(); row < rows; row += index_step()) {
    const long long first = load_whole(offsets, offsets_type, row);
    const long long length = load_whole(offsets, offsets_type, row + 1) - first;
    if (length <= 0) continue;
    const RowColumns columns(key, static_cast<long long>(row), length, bound);
    for (long long j = 0; j < length; ++j) {
      store_whole(data, type, static_cast<Size>(first + j),
                  columns.column(j, columns.edge(j), columns.edge(j + 1)));
    }
  }
}

// Moves each value by so many roundings, up or down; what is nearer to zero than that stays.
template <typename Bits>
__device__ void nudge_bits(Bits* values, Size elements, const Key& key, unsigned roundings) {
  const Bits by = static_cast<Bits>(roundings);
  for_words(key, elements, false, [&](Size element, std::uint32_t word, std::uint32_t) {
    const Bits value = values[element];
    const bool stays = (value & static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1)) < by;
    if (!stays) values[element] = static_cast<Bits>((word & 1U) != 0 ? value + by : value - by);
  });
}

extern "C" __global__ void nudge(void* data, int type, Size elements, Key key,
                                 unsigned roundings) {
  switch (type) {
    case t_f64: return nudge_bits(static_cast<unsigned long long*>(data), elements, key, roundings);
    case t_f32: return nudge_bits(static_cast<unsigned*>(data), elements, key, roundings);
    default: return nudge_bits(static_cast<unsigned short*>(data), elements, key, roundings);
  }
}

// A piece of memory that moves as a whole; a multiple of 16 bytes.
struct Chunk {
  const uint4* from;
  uint4* to;
  Size words;
};

// One launch for all tensors of all sets: launching takes longer than copying what is small.
extern "C" __global__ void copy_chunks(const Chunk* chunks, Size count) {
  for (Size at = blockIdx.x; at < count; at += gridDim.x) {
    const Chunk chunk = chunks[at];
    for (Size i = threadIdx.x; i < chunk.words; i += blockDim.x) chunk.to[i] = chunk.from[i];
  }
}

extern "C" __global__ void poison_chunks(const Chunk* chunks, Size count) {
  const unsigned poison = 0xffffffffU;
  for (Size at = blockIdx.x; at < count; at += gridDim.x) {
    const Chunk chunk = chunks[at];
    for (Size i = threadIdx.x; i < chunk.words; i += blockDim.x) {
      chunk.to[i] = make_uint4(poison, poison, poison, poison);
    }
  }
}

namespace {

// Of a whole warp, for its first lane: one atomic a warp, since those of all threads on one address
// queue up for longer than the reading takes.
__device__ Size warp_sum(Size value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(~0U, value, offset);
  }
  return value;
}

__device__ double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(~0U, value, offset);
  }
  return value;
}

__device__ double warp_max(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmax(value, __shfl_down_sync(~0U, value, offset));
  }
  return value;
}

__device__ bool first_lane() { return threadIdx.x % 32 == 0; }

}  // namespace

// How many words differ between where chunks come from and where they went.
extern "C" __global__ void count_changed(const Chunk* chunks, Size count, Size* changed) {
  Size mine = 0;
  for (Size at = blockIdx.x; at < count; at += gridDim.x) {
    const Chunk chunk = chunks[at];
    for (Size i = threadIdx.x; i < chunk.words; i += blockDim.x) {
      const uint4 a = chunk.from[i], b = chunk.to[i];
      mine += (a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z) | (a.w ^ b.w) ? 1 : 0;
    }
  }
  mine = warp_sum(mine);
  if (first_lane() && mine > 0) atomicAdd(changed, mine);
}

// The least and the greatest position in [begin, end) that is not poison, as far as there is any.
struct Range {
  Size first;
  Size last;
};

extern "C" __global__ void find_written(const unsigned char* data, Size begin, Size end,
                                        Range* out) {
  // By words where nothing is written, which is nearly everywhere.
  const Size words_begin = (begin + 15) / 16, words_end = end / 16;
  const uint4* words = reinterpret_cast<const uint4*>(data);
  Size first = ~Size{0}, last = 0;
  const auto note = [&](Size at) {
    first = at < first ? at : first;
    last = at + 1 > last ? at + 1 : last;
  };
  if (words_begin >= words_end) {
    for (Size at = begin + first_index(); at < end; at += index_step()) {
      if (data[at] != 0xff) note(at);
    }
  } else {
    for (Size i = words_begin + first_index(); i < words_end; i += index_step()) {
      const uint4 w = words[i];
      if ((w.x & w.y & w.z & w.w) == 0xffffffffU) continue;
      for (Size at = 16 * i; at < 16 * i + 16; ++at) {
        if (data[at] != 0xff) note(at);
      }
    }
    const Size me = first_index();
    if (me < 32) {
      const Size head = begin + me, tail = 16 * words_end + me;
      if (head < 16 * words_begin && data[head] != 0xff) note(head);
      if (tail < end && data[tail] != 0xff) note(tail);
    }
  }
  if (last != 0) {
    atomicMin(&out->first, first);
    atomicMax(&out->last, last);
  }
}

// What comparing one output came to; zeros and `worst` all ones at the start.
struct Comparison {
  double squares;     // of the truth's finite elements
  Size finite;        // how many these are
  Size error_bits;    // the largest error as the bits of a double (infinity for "not finite")
  Size worst;         // the least index with that error
  Size poisoned;      // elements that still hold poison
  Size excused;       // elements where the truth itself is not finite
  Size different;     // elements whose bits differ
  double actual;      // values at `worst`
  double expected;
};

extern "C" __global__ void sum_squares(const void* truth, int type, Size elements,
                                       Comparison* out) {
  double squares = 0;
  Size finite = 0;
  for (Size i = first_index(); i < elements; i += index_step()) {
    const double value = load(truth, type, i);
    if (isfinite(value)) {
      squares += value * value;
      ++finite;
    }
  }
  squares = warp_sum(squares);
  finite = warp_sum(finite);
  if (first_lane()) {
    atomicAdd(&out->squares, squares);
    atomicAdd(&out->finite, finite);
  }
}

namespace {

// The error of element i as the judge defines it; below zero where it is excused: where the truth
// is not finite, or, when both must be `alike`, where neither is.
__device__ double element_error(const void* actual, int type, const void* truth, int truth_type,
                                Size i, double scale, int alike) {
  const double x = load(actual, type, i), r = load(truth, truth_type, i);
  if (isfinite(x) && isfinite(r)) {
    const double size = fabs(r) + scale, difference = fabs(x - r);
    return size == 0 ? (difference == 0 ? 0.0 : INFINITY) : difference / size;
  }
  if (alike != 0 && (isfinite(x) || is_poison(truth, truth_type, i))) return INFINITY;
  return is_poison(actual, type, i) || isfinite(r) ? INFINITY : -1.0;
}

__device__ double scale_of(const Comparison& sums) {
  return sums.finite == 0 ? 0 : sqrt(sums.squares / static_cast<double>(sums.finite));
}

}  // namespace

extern "C" __global__ void compare_floating(const void* actual, int type, const void* truth,
                                            int truth_type, Size elements, int alike,
                                            Comparison* out) {
  const double scale = scale_of(*out);
  double worst = 0;
  Size poisoned = 0, excused = 0;
  for (Size i = first_index(); i < elements; i += index_step()) {
    const double error = element_error(actual, type, truth, truth_type, i, scale, alike);
    if (error == INFINITY && is_poison(actual, type, i)) ++poisoned;
    if (error < 0) ++excused;
    worst = error > worst ? error : worst;
  }
  worst = warp_max(worst);
  poisoned = warp_sum(poisoned);
  excused = warp_sum(excused);
  if (!first_lane()) return;
  if (worst > 0) atomicMax(&out->error_bits, __double_as_longlong(worst));
  if (poisoned > 0) atomicAdd(&out->poisoned, poisoned);
  if (excused > 0) atomicAdd(&out->excused, excused);
}

// Second pass: where the largest error is.
extern "C" __global__ void find_worst(const void* actual, int type, const void* truth,
                                      int truth_type, Size elements, int alike, Comparison* out) {
  if (out->error_bits == 0) return;
  const double scale = scale_of(*out);
  const double worst = __longlong_as_double(static_cast<long long>(out->error_bits));
  for (Size i = first_index(); i < elements; i += index_step()) {
    if (i < out->worst &&
        element_error(actual, type, truth, truth_type, i, scale, alike) == worst) {
      atomicMin(&out->worst, i);
    }
  }
}

extern "C" __global__ void read_worst(const void* actual, int type, const void* truth,
                                      int truth_type, Comparison* out) {
  if (out->worst != ~Size{0}) {
    out->actual = load(actual, type, out->worst);
    out->expected = load(truth, truth_type, out->worst);
  }
}

extern "C" __global__ void compare_bits(const unsigned char* actual, const unsigned char* truth,
                                        int type, int width, Size elements, Comparison* out) {
  Size different = 0, poisoned = 0;
  for (Size i = first_index(); i < elements; i += index_step()) {
    bool same = true;
    for (int k = 0; k < width; ++k) same = same && actual[i * width + k] == truth[i * width + k];
    if (!same) {
      ++different;
      if (is_poison(actual, type, i)) ++poisoned;
      if (i < out->worst) atomicMin(&out->worst, i);
    }
  }
  different = warp_sum(different);
  poisoned = warp_sum(poisoned);
  if (!first_lane()) return;
  if (different > 0) atomicAdd(&out->different, different);
  if (poisoned > 0) atomicAdd(&out->poisoned, poisoned);
}

// Writes through `words` words: what was in the cache is not any more.
extern "C" __global__ void sweep(uint4* data, Size words, unsigned value) {
  for (Size i = first_index(); i < words; i += index_step()) {
    data[i] = make_uint4(value, value, value, value);
  }
}

extern "C" __global__ void probe() {}
