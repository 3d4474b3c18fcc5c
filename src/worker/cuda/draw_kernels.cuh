// Values drawn from keys, moved by roundings and rounded.
#pragma once

#include "draw.hpp"
#include "elements.cuh"

using kernelpro::Distribution;
using kernelpro::draw_element;
using kernelpro::DrawRule;
using kernelpro::Key;
using kernelpro::RowColumns;
using kernelpro::WholeRange;
namespace chacha = kernelpro::chacha;

namespace {

constexpr Size group_lanes = kernelpro::group_lanes;
constexpr Size group_elements = kernelpro::group_elements;

// Calls use(element, word, second) for all elements of a tensor. A warp makes a group of words at a
// time, each lane a block, so that neighboring lanes write neighbors.
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
  const bool wide = type == t_f64;
  for_words(rule.key, elements, wide || kernelpro::takes_two(D),
            [&](Size element, std::uint32_t word, std::uint32_t second) {
              const float value = draw_element<D>(rule, element, word, second);
              if (wide) {
                static_cast<double*>(data)[element] = kernelpro::widened<D>(rule, value, second);
              } else {
                store(data, type, element, value);
              }
            });
}

}  // namespace

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
    case Distribution::shifted: return fill<Distribution::shifted>(data, type, elements, rule);
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
    RowColumns columns(key, static_cast<long long>(row), length, bound);
    for (long long j = 0; j < length; ++j) {
      store_whole(data, type, static_cast<Size>(first + j), columns.next(j));
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
