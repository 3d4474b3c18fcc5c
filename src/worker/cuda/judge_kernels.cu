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

__device__ int width_of(int type) {
  switch (type) {
    case t_f64:
    case t_i64: return 8;
    case t_f32:
    case t_i32: return 4;
    case t_f16:
    case t_bf16:
    case t_i16: return 2;
    default: return 1;
  }
}

__device__ bool is_poison(const void* data, int type, Size i) {
  const int width = width_of(type);
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
    case Distribution::positive: return fill<Distribution::positive>(data, type, elements, rule);
    case Distribution::spiked: return fill<Distribution::spiked>(data, type, elements, rule);
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

// As worker/tensor/lower.hpp numbers them.
enum Lower : int { l_tf32, l_tf32_cut, l_f16, l_bf16 };

namespace {

__device__ float rounded_to(int lower, float value) {
  const unsigned rest = (1U << 13) - 1;  // the bits of a float that tf32 lacks
  const unsigned bits = __float_as_uint(value);
  if (!isfinite(value)) return value;
  switch (lower) {
    case l_bf16: return __bfloat162float(__float2bfloat16_rn(value));
    case l_f16: return __half2float(__float2half_rn(value));
    case l_tf32_cut: return __uint_as_float(bits & ~rest);
    default: return __uint_as_float((bits + (rest >> 1) + ((bits >> 13) & 1U)) & ~rest);
  }
}

}  // namespace

// Rounds each value to a lower precision, where that is coarser than its own type.
extern "C" __global__ void round_values(void* data, int type, Size elements, int lower) {
  for (Size i = first_index(); i < elements; i += index_step()) {
    store(data, type, i, rounded_to(lower, static_cast<float>(load(data, type, i))));
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

// A piece of memory that should be poison, and where what is found in it is noted.
struct Watched {
  const unsigned char* data;
  Size begin;
  Size end;
  Range* found;
};

namespace {

__device__ void find_written_in(const Watched& watched) {
  // By words where nothing is written, which is nearly everywhere.
  const unsigned char* data = watched.data;
  const Size begin = watched.begin, end = watched.end;
  const Size words_begin = (begin + 15) / 16, words_end = end / 16;
  const uint4* words = reinterpret_cast<const uint4*>(data);
  Size first = ~Size{0}, last = 0;
  const auto note = [&](Size at) {
    first = at < first ? at : first;
    last = at + 1 > last ? at + 1 : last;
  };
  if (words_begin >= words_end) {
    for (Size at = begin + threadIdx.x; at < end; at += blockDim.x) {
      if (data[at] != 0xff) note(at);
    }
  } else {
    for (Size i = words_begin + threadIdx.x; i < words_end; i += blockDim.x) {
      const uint4 w = words[i];
      if ((w.x & w.y & w.z & w.w) == 0xffffffffU) continue;
      for (Size at = 16 * i; at < 16 * i + 16; ++at) {
        if (data[at] != 0xff) note(at);
      }
    }
    if (threadIdx.x < 32) {
      const Size head = begin + threadIdx.x, tail = 16 * words_end + threadIdx.x;
      if (head < 16 * words_begin && data[head] != 0xff) note(head);
      if (tail < end && data[tail] != 0xff) note(tail);
    }
  }
  if (last != 0) {
    atomicMin(&watched.found->first, first);
    atomicMax(&watched.found->last, last);
  }
}

}  // namespace

extern "C" __global__ void find_written(const Watched* watched, Size count) {
  for (Size at = blockIdx.x; at < count; at += gridDim.x) find_written_in(watched[at]);
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

// Two tensors to compare, and where the comparison is noted.
struct Compared {
  const void* actual;
  const void* truth;
  int type;
  int truth_type;
  Size elements;
  Comparison* out;
};

namespace {

// Calls use(pair, first, step) for each pair with the blocks that share it: as many as there are
// for each, so that one launch serves many small tensors as well as one large one.
template <typename Use>
__device__ void for_pairs(const Compared* pairs, Size count, Use use) {
  const Size blocks_a_pair = gridDim.x > count ? gridDim.x / count : 1;
  const Size teams = gridDim.x / blocks_a_pair;
  const Size team = blockIdx.x / blocks_a_pair;
  if (team >= teams) return;
  const Size first = blockIdx.x % blocks_a_pair * blockDim.x + threadIdx.x;
  for (Size pair = team; pair < count; pair += teams) {
    use(pairs[pair], first, blocks_a_pair * blockDim.x);
  }
}

}  // namespace

extern "C" __global__ void sum_squares(const Compared* pairs, Size count) {
  for_pairs(pairs, count, [](const Compared& pair, Size begin, Size step) {
    double squares = 0;
    Size finite = 0;
    for (Size i = begin; i < pair.elements; i += step) {
      const double value = load(pair.truth, pair.truth_type, i);
      if (isfinite(value)) {
        squares += value * value;
        ++finite;
      }
    }
    squares = warp_sum(squares);
    finite = warp_sum(finite);
    if (first_lane()) {
      atomicAdd(&pair.out->squares, squares);
      atomicAdd(&pair.out->finite, finite);
    }
  });
}

namespace {

// The error of element i as the judge defines it; below zero where it is excused: where the truth
// is not finite, or, when both must be `alike`, where neither is.
__device__ double element_error(const Compared& pair, Size i, double scale, int alike) {
  const double x = load(pair.actual, pair.type, i), r = load(pair.truth, pair.truth_type, i);
  if (isfinite(x) && isfinite(r)) {
    const double size = fabs(r) + scale, difference = fabs(x - r);
    return size == 0 ? (difference == 0 ? 0.0 : INFINITY) : difference / size;
  }
  if (alike != 0 && (isfinite(x) || is_poison(pair.truth, pair.truth_type, i))) return INFINITY;
  return is_poison(pair.actual, pair.type, i) || isfinite(r) ? INFINITY : -1.0;
}

__device__ double scale_of(const Comparison& sums) {
  return sums.finite == 0 ? 0 : sqrt(sums.squares / static_cast<double>(sums.finite));
}

}  // namespace

extern "C" __global__ void compare_floating(const Compared* pairs, Size count, int alike) {
  for_pairs(pairs, count, [alike](const Compared& pair, Size begin, Size step) {
    const double scale = scale_of(*pair.out);
    double worst = 0;
    Size poisoned = 0, excused = 0;
    for (Size i = begin; i < pair.elements; i += step) {
      const double error = element_error(pair, i, scale, alike);
      if (error == INFINITY && is_poison(pair.actual, pair.type, i)) ++poisoned;
      if (error < 0) ++excused;
      worst = error > worst ? error : worst;
    }
    worst = warp_max(worst);
    poisoned = warp_sum(poisoned);
    excused = warp_sum(excused);
    if (!first_lane()) return;
    if (worst > 0) atomicMax(&pair.out->error_bits, __double_as_longlong(worst));
    if (poisoned > 0) atomicAdd(&pair.out->poisoned, poisoned);
    if (excused > 0) atomicAdd(&pair.out->excused, excused);
  });
}

// Second pass: where the largest error is.
extern "C" __global__ void find_worst(const Compared* pairs, Size count, int alike) {
  for_pairs(pairs, count, [alike](const Compared& pair, Size begin, Size step) {
    if (pair.out->error_bits == 0) return;
    const double scale = scale_of(*pair.out);
    const double worst = __longlong_as_double(static_cast<long long>(pair.out->error_bits));
    for (Size i = begin; i < pair.elements; i += step) {
      if (i < pair.out->worst && element_error(pair, i, scale, alike) == worst) {
        atomicMin(&pair.out->worst, i);
      }
    }
  });
}

extern "C" __global__ void read_worst(const Compared* pairs, Size count) {
  for (Size i = first_index(); i < count; i += index_step()) {
    const Compared& pair = pairs[i];
    if (pair.out->worst != ~Size{0}) {
      pair.out->actual = load(pair.actual, pair.type, pair.out->worst);
      pair.out->expected = load(pair.truth, pair.truth_type, pair.out->worst);
    }
  }
}

extern "C" __global__ void compare_bits(const Compared* pairs, Size count) {
  for_pairs(pairs, count, [](const Compared& pair, Size begin, Size step) {
    const int width = width_of(pair.type);
    const unsigned char* actual = static_cast<const unsigned char*>(pair.actual);
    const unsigned char* truth = static_cast<const unsigned char*>(pair.truth);
    Size different = 0, poisoned = 0;
    for (Size i = begin; i < pair.elements; i += step) {
      bool same = true;
      for (int k = 0; k < width; ++k) same = same && actual[i * width + k] == truth[i * width + k];
      if (!same) {
        ++different;
        if (is_poison(pair.actual, pair.type, i)) ++poisoned;
        if (i < pair.out->worst) atomicMin(&pair.out->worst, i);
      }
    }
    different = warp_sum(different);
    poisoned = warp_sum(poisoned);
    if (!first_lane()) return;
    if (different > 0) atomicAdd(&pair.out->different, different);
    if (poisoned > 0) atomicAdd(&pair.out->poisoned, poisoned);
  });
}

// Writes through `words` words: what was in the cache is not any more.
extern "C" __global__ void sweep(uint4* data, Size words, unsigned value) {
  for (Size i = first_index(); i < words; i += index_step()) {
    data[i] = make_uint4(value, value, value, value);
  }
}

extern "C" __global__ void probe() {}

// When it runs, in nanoseconds.
extern "C" __global__ void stamp(unsigned long long* out) {
  if (first_index() == 0) {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(*out));
  }
}
