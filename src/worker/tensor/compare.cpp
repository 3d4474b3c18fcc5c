#include "worker/tensor/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "worker/tensor/buffers.hpp"
#include "worker/tensor/halves.hpp"
#include "worker/tensor/parallel.hpp"

namespace kernelpro {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct F64 {
  using Bits = double;
  static double value(double bits) { return bits; }
};
struct F32 {
  using Bits = float;
  static double value(float bits) { return static_cast<double>(bits); }
};
struct F16 {
  using Bits = std::uint16_t;
  static double value(std::uint16_t bits) { return static_cast<double>(f16_to_float(bits)); }
};
struct BF16 {
  using Bits = std::uint16_t;
  static double value(std::uint16_t bits) { return static_cast<double>(bf16_to_float(bits)); }
};

// Calls work(F32()) and so on for the floating type at hand.
template <typename Work>
auto with_floating(DType dtype, Work work) {
  switch (dtype) {
    case DType::f64:
      return work(F64());
    case DType::f16:
      return work(F16());
    case DType::bf16:
      return work(BF16());
    default:
      return work(F32());
  }
}

template <typename Work>
auto with_whole(DType dtype, Work work) {
  switch (dtype) {
    case DType::i64:  // NOLINT(bugprone-branch-clone): the types differ
      return work(std::int64_t());
    case DType::i16:
      return work(std::int16_t());
    case DType::i8:
      return work(std::int8_t());
    case DType::u8:
      return work(std::uint8_t());
    default:
      return work(std::int32_t());
  }
}

template <typename Bits>
bool is_poison(Bits bits) {
  return kernelpro::is_poison(reinterpret_cast<const char*>(&bits), sizeof bits);
}

double relative(double difference, double reference, double scale) {
  // Where all is zero nothing is left of what was computed but rounding: errors count as they are.
  const double size = scale == 0 ? 1 : std::fabs(reference) + scale;
  return std::fabs(difference) / size;
}

void note(TensorError& out, double error, std::size_t index, double actual, double expected) {
  if (out.worst < 0 ? error > 0 : error > out.error) {
    out.error = error;
    out.worst = static_cast<std::int64_t>(index);
    out.actual = actual;
    out.expected = expected;
  }
}

void merge(TensorError& total, const TensorError& part) {
  if (part.worst >= 0 && (total.worst < 0 || part.error > total.error)) {
    total.error = part.error;
    total.worst = part.worst;
    total.actual = part.actual;
    total.expected = part.expected;
  }
  total.excused += part.excused;
  total.poisoned += part.poisoned;
}

// Runs part(begin, end) → TensorError over all elements and merges what comes back.
template <typename Part>
TensorError merged_parts(std::size_t count, Part part) {
  TensorError total;
  std::mutex mutex;
  parallel_parts(count, elements_a_part, [&](std::size_t begin, std::size_t end) {
    const TensorError error = part(begin, end);
    const std::lock_guard lock(mutex);
    merge(total, error);
  });
  return total;
}

template <typename Type>
TensorError compare_part(const typename Type::Bits* actual, const double* expected, double scale,
                         const typename Type::Bits* baseline, std::size_t begin, std::size_t end) {
  TensorError out;
  for (std::size_t i = begin; i < end; ++i) {
    const double value = Type::value(actual[i]);
    if (std::isfinite(value) && std::isfinite(expected[i])) {
      const double error = relative(value - expected[i], expected[i], scale);
      if (error > out.error) {
        note(out, error, i, value, expected[i]);
      }
      continue;
    }
    if (is_poison(actual[i])) {
      ++out.poisoned;
    } else if (!std::isfinite(expected[i]) ||
               (baseline != nullptr && !std::isfinite(Type::value(baseline[i])))) {
      ++out.excused;
      continue;
    }
    note(out, infinity, i, value, expected[i]);
  }
  return out;
}

// The quick way for f32: in single precision and without branches, so that it runs at the speed of
// memory. False when any element is in doubt; then the exact way decides.
bool surely_agree(const float* a, const float* b, std::size_t count, float bound) {
  constexpr std::size_t lanes = 16;
  constexpr std::size_t block = 4096;
  double squares = 0;
  for (std::size_t at = 0; at < count; at += block) {
    const std::size_t end = std::min(at + block, count);
    float sums[lanes] = {};
    std::size_t i = at;
    for (; i + lanes <= end; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        sums[lane] += b[i + lane] * b[i + lane];
      }
    }
    for (; i < end; ++i) {
      sums[0] += b[i] * b[i];
    }
    for (const float sum : sums) {
      squares += static_cast<double>(sum);
    }
  }
  const auto scale =
      static_cast<float>(std::sqrt(squares / static_cast<double>(std::max<std::size_t>(count, 1))));
  if (!std::isfinite(scale)) {
    return false;
  }
  // Half the bound, so that rounding here cannot let a doubt pass.
  const float half = bound / 2;
  int doubts = 0;
  for (std::size_t i = 0; i < count; ++i) {
    doubts |= std::fabs(a[i] - b[i]) <= half * (std::fabs(b[i]) + scale) ? 0 : 1;
  }
  return doubts == 0;
}

template <typename Type>
bool agree_floating(const char* first, const char* second, std::size_t count, double bound) {
  const auto* a = reinterpret_cast<const typename Type::Bits*>(first);
  const auto* b = reinterpret_cast<const typename Type::Bits*>(second);
  double squares = 0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = Type::value(b[i]);
    if (std::isfinite(value)) {
      squares += value * value;
      ++finite;
    }
  }
  const double scale = finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
  for (std::size_t i = 0; i < count; ++i) {
    const double x = Type::value(a[i]);
    const double y = Type::value(b[i]);
    const bool close = std::isfinite(y) && std::fabs(x - y) <= bound * (std::fabs(y) + scale);
    if (!close && (std::isfinite(x) || std::isfinite(y) || is_poison(a[i]))) {
      return false;
    }
  }
  return true;
}

}  // namespace

double rms(const double* values, std::size_t count) {
  double squares = 0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isfinite(values[i])) {
      squares += values[i] * values[i];
      ++finite;
    }
  }
  return finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
}

TensorError compare_floating(const char* actual, DType dtype, const double* expected, double scale,
                             std::size_t count, const char* baseline) {
  return with_floating(dtype, [&](auto type) {
    using Type = decltype(type);
    const auto* values = reinterpret_cast<const typename Type::Bits*>(actual);
    const auto* excuses = reinterpret_cast<const typename Type::Bits*>(baseline);
    return merged_parts(count, [&](std::size_t begin, std::size_t end) {
      return compare_part<Type>(values, expected, scale, excuses, begin, end);
    });
  });
}

TensorError compare_whole(const char* actual, const char* expected, DType dtype,
                          std::size_t count) {
  return with_whole(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto* a = reinterpret_cast<const T*>(actual);
    const auto* e = reinterpret_cast<const T*>(expected);
    TensorError out;
    for (std::size_t i = 0; i < count; ++i) {
      if (a[i] != e[i]) {
        out.poisoned += is_poison(a[i]) ? 1 : 0;
        note(out, infinity, i, static_cast<double>(a[i]), static_cast<double>(e[i]));
      }
    }
    return out;
  });
}

TensorError compare_selection(const char* actual, DType dtype, const double* values,
                              std::size_t count, std::size_t choices, bool smallest) {
  std::vector<double> best(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = values + i * choices;
    best[i] =
        smallest ? *std::min_element(row, row + choices) : *std::max_element(row, row + choices);
  }
  const double scale = rms(best.data(), count);
  return with_whole(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto* chosen = reinterpret_cast<const T*>(actual);
    TensorError out;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t index = std::int64_t{0} + chosen[i];
      if (index < 0 || index >= static_cast<std::int64_t>(choices)) {
        out.poisoned += is_poison(chosen[i]) ? 1 : 0;
        note(out, infinity, i, static_cast<double>(index), best[i]);
        continue;
      }
      const double value = values[i * choices + static_cast<std::size_t>(index)];
      note(out, relative(value - best[i], best[i], scale), i, value, best[i]);
    }
    return out;
  });
}

bool agree(const char* first, const char* second, DType dtype, std::size_t count, double bound) {
  if (!is_floating(dtype)) {
    return std::memcmp(first, second, count * size_of(dtype)) == 0;
  }
  if (dtype == DType::f32 &&
      surely_agree(reinterpret_cast<const float*>(first), reinterpret_cast<const float*>(second),
                   count, static_cast<float>(bound))) {
    return true;
  }
  return with_floating(dtype, [&](auto type) {
    return agree_floating<decltype(type)>(first, second, count, bound);
  });
}

std::vector<double> to_doubles(const char* data, DType dtype, std::size_t count) {
  std::vector<double> out(count);
  if (is_floating(dtype)) {
    with_floating(dtype, [&](auto type) {
      using Type = decltype(type);
      const auto* bits = reinterpret_cast<const typename Type::Bits*>(data);
      std::transform(bits, bits + count, out.begin(), Type::value);
    });
  } else {
    with_whole(dtype, [&](auto zero) {
      const auto* whole = reinterpret_cast<const decltype(zero)*>(data);
      std::transform(whole, whole + count, out.begin(),
                     [](auto v) { return static_cast<double>(v); });
    });
  }
  return out;
}

}  // namespace kernelpro
