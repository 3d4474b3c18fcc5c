// The value of one element of an input: a pure function of its tensor's key, rule and position.
//
// Plain constexpr C++17 and nothing else, because the judge's GPU kernels are compiled from this
// text too: inputs are drawn by the same rules on every ground.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/chacha.hpp"

namespace kernelpro {

enum class Distribution {
  normal,    // what the task declares
  uniform,   // in [-1, 1)
  large,     // normal times 2^12 (2^4 in f16)
  tiny,      // normal over 2^12 (2^4 in f16)
  constant,  // one value everywhere
  negative,  // large and all below zero; of several inputs, some above
  mixed,     // signs and magnitudes from tiny to large, one element in sixteen zero
  positive,  // as negative, and all above zero
  spiked,    // normal, a few elements large and a few rows shifted: no part tells of the rest
  shifted,   // normal, far from zero: the same offset for all inputs of a set
};

// The words behind a tensor's elements: 32 blocks of ChaCha side by side make a group, and element
// e of a group is word e / 32 of its block e % 32. So what lanes of a processor or of a warp hold
// at the same time are neighbors in memory.
inline constexpr std::size_t group_lanes = 32;
inline constexpr std::size_t group_elements = group_lanes * chacha::words;

// The streams under the key of a tensor.
enum ValueStream : std::uint64_t {
  first_stream = 0,     // one word an element
  second_stream = 1,    // another, where a value takes two
  constant_stream = 2,  // what is the same for all elements
};

// Word `index` of a stream by itself: a whole block is made for it.
constexpr std::uint32_t value_word(const Key& key, std::uint64_t index, std::uint64_t stream) {
  std::uint32_t block[chacha::words] = {};
  const std::uint64_t within = index % group_elements;
  const std::uint64_t place = index / group_elements * group_lanes + within % group_lanes;
  chacha::make_block(block, key, place, stream, chacha::value_rounds);
  return block[within / group_lanes];
}

// Mean 0, deviation 1, from the sum of four 8-bit uniforms (so |value| < 3.5) with the step between
// two sums filled uniformly: near enough to normal for kernels, and cheap.
constexpr float normal_of(std::uint32_t word) {
  const std::uint32_t pairs = (word & 0x00ff00ffU) + ((word >> 8) & 0x00ff00ffU);
  const std::uint32_t sum = (pairs & 0xffffU) + (pairs >> 16);
  const std::uint32_t fill = word & 0xffffffU;
  constexpr float mean = 510.5F;
  constexpr float deviation = 147.8F;
  const float value = static_cast<float>(static_cast<std::int32_t>(sum)) +
                      static_cast<float>(static_cast<std::int32_t>(fill)) * 0x1p-24F;
  return (value - mean) * (1.0F / deviation);
}

// 32 mixed bits in few operations.
constexpr std::uint32_t mix(std::uint32_t x) {
  x = x * 0x9e3779b9U;
  x = (x ^ (x >> 15)) * 0x85ebca6bU;
  return x ^ (x >> 14);
}

// Uniform in [0, 1).
constexpr float unit_of(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24F;
}

constexpr float power_of_two(int power) {
  return power >= 0 ? static_cast<float>(1U << power) : 1.0F / static_cast<float>(1U << -power);
}

// However large a tensor is: who wants to see one of them must read much of it.
inline constexpr int spike_count = 4;

// How the elements of a floating input are drawn.
struct DrawRule {
  Key key;
  Distribution distribution = Distribution::normal;
  int reach = 12;        // how far the magnitudes of large, tiny and mixed go, as a power of two
  bool bounded = false;  // in [low, low + span) under every distribution
  float low = 0;
  float span = 0;
  std::uint32_t constant = 0;              // the word of the constant distribution
  float shift = 0;                         // the offset of the shifted distribution
  float place = 0;                         // and where in their range its bounded values lie
  int closeness = 12;                      // their distance to each other there, as a power of two
  std::uint64_t spikes[spike_count] = {};  // the large elements of the spiked one
  std::uint64_t run_begin = 0;             // and the run of its elements that is shifted
  std::uint64_t run_count = 0;
};

constexpr float mixed_value(std::uint32_t word, std::uint32_t second, int reach) {
  if ((second & 15U) == 0) {
    return 0.0F;
  }
  const int power =
      static_cast<int>((second >> 8) % static_cast<std::uint32_t>(2 * reach + 1)) - reach;
  const float fraction = 1.0F + unit_of(word);
  return ((second & 16U) != 0 ? -fraction : fraction) * power_of_two(power);
}

// Whether a value takes a word of the second stream too.
constexpr bool takes_two(Distribution distribution) {
  return distribution == Distribution::mixed;
}

// Large, and on one side of zero.
constexpr float far_from_zero(const DrawRule& rule, std::uint32_t word) {
  const float value = normal_of(word);
  return power_of_two(rule.reach) * (0.5F + (value < 0 ? -value : value));
}

// As much beside the offset as a normal value, in steps of 2^-10: a product without rounding is the
// same whether or not a processor fuses it with the sum.
constexpr float shifted_value(float shift, std::uint32_t word) {
  const auto steps = static_cast<std::int32_t>(0x1p10F * normal_of(word));
  return shift + 0x1p-10F * static_cast<float>(steps);
}

// The element that these words stand for, for a distribution known at compile time, but for what a
// spiked one has at single places.
template <Distribution D>
constexpr float draw_free(const DrawRule& rule, std::uint32_t word, std::uint32_t second) {
  if constexpr (D == Distribution::uniform) {
    return 2.0F * unit_of(word) - 1.0F;
  } else if constexpr (D == Distribution::large) {
    return power_of_two(rule.reach) * normal_of(word);
  } else if constexpr (D == Distribution::tiny) {
    return power_of_two(-rule.reach) * normal_of(word);
  } else if constexpr (D == Distribution::constant) {
    return 0.25F + unit_of(rule.constant);
  } else if constexpr (D == Distribution::negative) {
    return -far_from_zero(rule, word);
  } else if constexpr (D == Distribution::positive) {
    return far_from_zero(rule, word);
  } else if constexpr (D == Distribution::mixed) {
    return mixed_value(word, second, rule.reach);
  } else if constexpr (D == Distribution::shifted) {
    return shifted_value(rule.shift, word);
  } else {
    return normal_of(word);
  }
}

// Near the ends of the range for tiny and large, near one place in it for shifted, one value for
// constant.
template <Distribution D>
constexpr float draw_bounded(const DrawRule& rule, std::uint32_t word) {
  constexpr float near = 0x1p-6F;
  if constexpr (D == Distribution::tiny) {
    return rule.low + rule.span * (near * unit_of(word));
  } else if constexpr (D == Distribution::large) {
    return rule.low + rule.span * (1.0F - near + near * unit_of(word));
  } else if constexpr (D == Distribution::shifted) {
    return rule.low + rule.span * (rule.place + power_of_two(-rule.closeness) * unit_of(word));
  } else if constexpr (D == Distribution::constant) {
    return rule.low + rule.span * unit_of(rule.constant);
  } else {
    return rule.low + rule.span * unit_of(word);
  }
}

// A value of the run: far from zero, or at one end of its range.
constexpr float run_value(const DrawRule& rule, std::uint32_t word) {
  if (!rule.bounded) {
    return shifted_value(rule.shift, word);
  }
  return rule.shift > 0 ? draw_bounded<Distribution::large>(rule, word)
                        : draw_bounded<Distribution::tiny>(rule, word);
}

// A spiked value as it is at its place: large, or else in the run.
constexpr float at_its_place(const DrawRule& rule, std::uint64_t element, std::uint32_t word,
                             float value) {
  // Unsigned: what lies before the run is far behind it.
  if (element - rule.run_begin < rule.run_count) {
    return run_value(rule, word);
  }
  for (const std::uint64_t spike : rule.spikes) {
    if (spike == element) {
      return rule.bounded ? draw_bounded<Distribution::large>(rule, word)
                          : value * power_of_two(rule.reach);
    }
  }
  return value;
}

template <Distribution D>
constexpr float draw_element(const DrawRule& rule, std::uint64_t element, std::uint32_t word,
                             std::uint32_t second) {
  const float value = rule.bounded ? draw_bounded<D>(rule, word) : draw_free<D>(rule, word, second);
  if constexpr (D == Distribution::spiked) {
    return at_its_place(rule, element, word, value);
  } else {
    return value;
  }
}

// The same value with the bits that a double has beyond a float, from a word of the second stream:
// who keeps the doubles of an input as floats has other numbers. Shifted values as well: of their
// steps alone, sums of squares are ties again and again, and all of them may be rounded to one
// side. The product has no rounding, so that every processor comes to the same sum.
template <Distribution D>
constexpr double widened(const DrawRule& rule, float value, std::uint32_t second) {
  const std::uint32_t more = mix(D == Distribution::constant ? rule.constant : second);
  const double width = 0x1p-24 * static_cast<double>(rule.bounded ? rule.span : value);
  const double out =
      static_cast<double>(value) + width * (static_cast<double>(more >> 4) * 0x1p-28);
  const bool beyond =
      rule.bounded && out >= static_cast<double>(rule.low) + static_cast<double>(rule.span);
  return beyond ? static_cast<double>(value) : out;
}

// Whole numbers in [low, low + count).
struct WholeRange {
  std::int64_t low = 0;
  std::int64_t count = 0;
};

// Whether a value takes a word of the second stream too: one would leave numbers out.
constexpr bool takes_two(const WholeRange& range) {
  return range.count > (std::int64_t{1} << 24);
}

constexpr std::int64_t whole_value(const WholeRange& range, std::uint32_t word,
                                   std::uint32_t second) {
  const auto count = static_cast<std::uint64_t>(range.count > 1 ? range.count : 1);
  const std::uint64_t wide = word | (static_cast<std::uint64_t>(second) << 32);
  return range.low +
         static_cast<std::int64_t>(takes_two(range) ? wide % count : (word * count) >> 32);
}

// The columns of a sparse row, sorted and distinct, one behind the other. How far one is from the
// next differs by thousands, so that nothing follows from an entry's place in its row; one row in
// eight lies within twice as many columns as it has entries. All is mixed from the row's own word:
// who sees some of it learns nothing but that row.
struct RowColumns {
  std::uint32_t key = 0;
  std::int64_t last = 0;     // of all columns
  std::int64_t begin = 0;    // where the row may begin
  double scale = 0;          // columns without an entry for each unit of the steps
  std::uint64_t passed = 0;  // the steps so far

  constexpr RowColumns(const Key& tensor, std::int64_t row, std::int64_t length,
                       std::int64_t columns)
      : key(value_word(tensor, static_cast<std::uint64_t>(row), first_stream)), last(columns - 1) {
    std::int64_t free = columns > length ? columns - length : 0;
    const bool crowded = (key >> 29) == 0;
    if (crowded && free > length) {
      const auto places = static_cast<std::uint64_t>(free - length + 1);
      begin = static_cast<std::int64_t>((mix(~key) * places) >> 32);
      free = length;
    }
    std::uint64_t all = 0;
    for (std::int64_t j = 0; j <= length; ++j) {  // what follows the last entry included
      all += step(j);
    }
    // One more than there are: rounded down, no sum of steps but the last comes to all of them.
    scale = static_cast<double>(free + 1) / static_cast<double>(all);
  }

  // Before entry `j`, less the one column that this takes by itself.
  [[nodiscard]] constexpr std::uint32_t step(std::int64_t j) const {
    const std::uint32_t draw = mix(key + static_cast<std::uint32_t>(j)) >> 16;
    return (((draw * draw) >> 16) * draw >> 16) + 1;
  }

  // The column of entry `j`, asked for in order. A row of more entries than there are columns has
  // the last one again and again.
  [[nodiscard]] constexpr std::int64_t next(std::int64_t j) {
    passed += step(j);
    const std::int64_t at =
        begin + j + static_cast<std::int64_t>(static_cast<double>(passed) * scale);
    return at < last ? at : last;
  }
};

}  // namespace kernelpro
