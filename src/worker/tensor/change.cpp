#include "worker/tensor/change.hpp"

#include <algorithm>

#include "worker/tensor/draw.hpp"
#include "worker/tensor/parallel.hpp"
#include "worker/tensor/value_words.hpp"

namespace kernelpro {

namespace {

// The bits of a floating value moved to the next one away from zero, or toward it.
template <typename Bits>
void nudge_bits(char* data, std::size_t elements, const Key& key, std::uint32_t roundings) {
  const auto by = static_cast<Bits>(roundings);
  auto* values = reinterpret_cast<Bits*>(data);
  for (std::size_t first = 0; first < elements; first += group_elements) {
    std::uint32_t words[group_elements];
    value_words(key, first / group_elements, first_stream, words);
    for (std::size_t i = first; i < std::min(elements, first + group_elements); ++i) {
      // Zeros stay: the smallest of all numbers is no rounding of zero.
      const bool stays = (values[i] & static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1U)) < by;
      const bool up = (words[i - first] & 1U) != 0;
      if (!stays) {
        values[i] = static_cast<Bits>(up ? values[i] + by : values[i] - by);
      }
    }
  }
}

// Calls change(value) on every element of a tensor of T.
template <typename T, typename Change>
void change_all(char* data, std::size_t elements, Change change) {
  auto* values = reinterpret_cast<T*>(data);
  parallel_parts(elements, elements_a_part, [&](std::size_t begin, std::size_t end) {
    std::transform(values + begin, values + end, values + begin, change);
  });
}

}  // namespace

void nudge_values(char* data, DType dtype, std::size_t elements, const Key& key,
                  std::uint32_t roundings) {
  switch (size_of(dtype)) {
    case 8:
      nudge_bits<std::uint64_t>(data, elements, key, roundings);
      break;
    case 4:
      nudge_bits<std::uint32_t>(data, elements, key, roundings);
      break;
    default:
      nudge_bits<std::uint16_t>(data, elements, key, roundings);
      break;
  }
}

void round_values(char* data, DType dtype, std::size_t elements, Lower lower) {
  switch (dtype) {
    case DType::f64:
      change_all<double>(data, elements, [lower](double value) {
        return static_cast<double>(rounded_to(lower, static_cast<float>(value)));
      });
      break;
    case DType::f32:
      change_all<float>(data, elements, [lower](float value) { return rounded_to(lower, value); });
      break;
    case DType::f16:
      change_all<std::uint16_t>(data, elements, [lower](std::uint16_t bits) {
        return float_to_f16(rounded_to(lower, f16_to_float(bits)));
      });
      break;
    case DType::bf16:
      change_all<std::uint16_t>(data, elements, [lower](std::uint16_t bits) {
        return float_to_bf16(rounded_to(lower, bf16_to_float(bits)));
      });
      break;
    default:
      break;
  }
}

}  // namespace kernelpro
