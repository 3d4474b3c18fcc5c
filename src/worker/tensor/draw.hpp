// The value of one element of an input: a pure function of stream, rule and position.
//
// Plain constexpr C++17 and nothing else, because the judge's GPU kernels are compiled from this
// text too: inputs are drawn by the same rules on every ground.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/random.hpp"

namespace kernelpro {

enum class Distribution {
  normal,    // what the task declares
  uniform,   // in [-1, 1)
  large,     // normal times 2^12 (2^4 in f16)
  tiny,      // normal over 2^12 (2^4 in f16)
  constant,  // one value everywhere
  negative,  // large and all below zero
  mixed,     // signs and magnitudes from tiny to large, one element in sixteen zero
};

// 32 mixed bits in few operations, in a form that compilers vectorise: drawing the inputs is most
// of what a round costs the judge.
constexpr std::uint32_t mix(std::uint32_t x) {
  x = x * 0x9e3779b9U;
  x = (x ^ (x >> 15)) * 0x85ebca6bU;
  return x ^ (x >> 14);
}

// The random stream of one block of elements, by 32-bit counters.
class Block {
 public:
  static constexpr std::size_t elements = std::size_t{1} << 16;

  constexpr Block(std::uint64_t stream, std::size_t block)
      : first_(static_cast<std::uint32_t>(counter_hash(stream, block))),
        second_(static_cast<std::uint32_t>(counter_hash(stream, block) >> 32)) {}

  // Mean 0, deviation 1, from the sum of four 8-bit uniforms (so |value| < 3.5) with the step
  // between two sums filled uniformly: near enough to normal for kernels, and cheap.
  [[nodiscard]] constexpr float normal(std::uint32_t i) const {
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
  [[nodiscard]] constexpr float unit(std::uint32_t i) const {
    return static_cast<float>(static_cast<std::int32_t>(mix(first_ + i) >> 8)) * 0x1p-24F;
  }

  [[nodiscard]] constexpr std::uint32_t bits(std::uint32_t i) const { return mix(second_ + i); }

 private:
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

constexpr float power_of_two(int power) {
  return power >= 0 ? static_cast<float>(1U << power) : 1.0F / static_cast<float>(1U << -power);
}

// How the elements of a floating input are drawn.
struct DrawRule {
  std::uint64_t stream = 0;
  Distribution distribution = Distribution::normal;
  int reach = 12;        // how far the magnitudes of large, tiny and mixed go, as a power of two
  bool bounded = false;  // in [low, low + span) under every distribution
  float low = 0;
  float span = 0;
};

constexpr float mixed_value(const Block& block, std::uint32_t i, int reach) {
  const std::uint32_t h = block.bits(i);
  if ((h & 15U) == 0) {
    return 0.0F;
  }
  const int power = static_cast<int>((h >> 8) % static_cast<std::uint32_t>(2 * reach + 1)) - reach;
  const float fraction = 1.0F + block.unit(i);
  return ((h & 16U) != 0 ? -fraction : fraction) * power_of_two(power);
}

// Element `i` of `block` for a distribution known at compile time.
template <Distribution D>
constexpr float draw_free(const DrawRule& rule, const Block& block, std::uint32_t i) {
  if constexpr (D == Distribution::uniform) {
    return 2.0F * block.unit(i) - 1.0F;
  } else if constexpr (D == Distribution::large) {
    return power_of_two(rule.reach) * block.normal(i);
  } else if constexpr (D == Distribution::tiny) {
    return power_of_two(-rule.reach) * block.normal(i);
  } else if constexpr (D == Distribution::constant) {
    return 0.25F + Block(rule.stream, 0).unit(0);
  } else if constexpr (D == Distribution::negative) {
    const float value = block.normal(i);
    return -power_of_two(rule.reach) * (0.5F + (value < 0 ? -value : value));
  } else if constexpr (D == Distribution::mixed) {
    return mixed_value(block, i, rule.reach);
  } else {
    return block.normal(i);
  }
}

// Near the ends of the range for tiny and large, one value for constant.
template <Distribution D>
constexpr float draw_bounded(const DrawRule& rule, const Block& block, std::uint32_t i) {
  constexpr float near = 0x1p-6F;
  if constexpr (D == Distribution::tiny) {
    return rule.low + rule.span * (near * block.unit(i));
  } else if constexpr (D == Distribution::large) {
    return rule.low + rule.span * (1.0F - near + near * block.unit(i));
  } else if constexpr (D == Distribution::constant) {
    return rule.low + rule.span * Block(rule.stream, 0).unit(0);
  } else {
    return rule.low + rule.span * block.unit(i);
  }
}

template <Distribution D>
constexpr float draw_element(const DrawRule& rule, const Block& block, std::uint32_t i) {
  return rule.bounded ? draw_bounded<D>(rule, block, i) : draw_free<D>(rule, block, i);
}

// Where entry `j` of a sparse row lies: in the j-th of as many equal strips of the columns as the
// row has entries. `key` is the row's own.
struct RowColumns {
  std::uint32_t key = 0;
  std::int64_t bound = 0;
  double strip = 0;

  constexpr RowColumns(std::uint64_t stream, std::int64_t first, std::int64_t length,
                       std::int64_t columns)
      : key(static_cast<std::uint32_t>(counter_hash(stream, static_cast<std::uint64_t>(first)))),
        bound(columns),
        strip(static_cast<double>(columns) / static_cast<double>(length)) {}

  [[nodiscard]] constexpr std::int64_t edge(std::int64_t j) const {
    const auto at = static_cast<std::int64_t>(static_cast<double>(j) * strip);
    return at < bound ? at : bound;
  }

  // `low` and `next` are edge(j) and edge(j + 1).
  [[nodiscard]] constexpr std::int64_t column(std::int64_t j, std::int64_t low,
                                              std::int64_t next) const {
    const auto width = static_cast<std::uint64_t>(next > low ? next - low : 1);
    const std::uint64_t draw = (mix(key + static_cast<std::uint32_t>(j)) * width) >> 32;
    const std::int64_t drawn = low + static_cast<std::int64_t>(draw);
    return drawn < bound ? drawn : bound - 1;
  }
};

}  // namespace kernelpro
