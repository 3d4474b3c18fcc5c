// Parts of an exported bench.cpp that are the same for every task: types and values.
#pragma once

#include <string_view>

namespace kernelpro {

// Includes and the types of the tables that describe a task.
inline constexpr std::string_view bench_declarations = R"bench(#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "kernelpro/candidate.h"

namespace {

enum class Type { f64, f32, f16, bf16, i64, i32, i16, i8, u8 };

// How an input is drawn.
enum class Kind {
  none,         // it is an output
  normal,       // mean 0, deviation 1
  uniform,      // between low and high
  index,        // whole numbers in [0, bound)
  offsets,      // rising from 0 to bound: the row pointers of a sparse matrix
  csr_columns,  // sorted and distinct within each row of the input rows_of, in [0, bound)
};

struct Tensor {
  const char* name;
  Type type;
  bool selects;  // an output of indices: two right answers may differ where values tie
  Kind kind;
  double low;
  double high;
  int rows_of;
};

struct Scalar {
  Type type;
  double low;
  double high;
};

// Times are nanoseconds a call.
struct Certified {
  double kernel_ns;
  double rival_ns;
  double speedup;
  double low;
  double high;
};

// A timed shape; extents and bounds stand in the order of the tensors.
struct Shape {
  const char* name;
  std::vector<std::int64_t> axes;
  std::vector<std::vector<std::int64_t>> extents;
  std::vector<std::int64_t> bounds;
  int calls;    // in a round, each on buffers of its own
  bool flush;   // the caches are emptied before a round
  int rounds;
  Certified certified;
};
)bench";

// Element types and random values; they use the tables.
inline constexpr std::string_view bench_values = R"bench(
[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  std::exit(1);
}

// Calls work(i) for every i below `count`, on all cores.
template <typename Work>
void in_parallel(std::size_t count, Work work) {
  const std::size_t parts =
      std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (std::size_t part = 0; part < parts; ++part) {
    threads.emplace_back([=] {
      for (std::size_t i = count * part / parts; i < count * (part + 1) / parts; ++i) {
        work(i);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// ---- element types ------------------------------------------------------------------------------

std::size_t size_of(Type type) {
  switch (type) {
    case Type::f64:
    case Type::i64:
      return 8;
    case Type::f32:
    case Type::i32:
      return 4;
    case Type::f16:
    case Type::bf16:
    case Type::i16:
      return 2;
    default:
      return 1;
  }
}

kp_dtype dtype_of(Type type) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(type));
  switch (type) {
    case Type::f64:
    case Type::f32:
    case Type::f16:
      return {KP_FLOAT, bits, 1};
    case Type::bf16:
      return {KP_BFLOAT, bits, 1};
    case Type::u8:
      return {KP_UINT, bits, 1};
    default:
      return {KP_INT, bits, 1};
  }
}

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

// Rounds to nearest; too large becomes infinity.
std::uint16_t to_f16(float value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0F) {
    return static_cast<std::uint16_t>(sign | 0x7c00);
  }
  // Halves are 2^-24 apart below 2^-14, and 2^(exponent - 10) above.
  const int exponent = magnitude < 0x1p-14F ? -14 : std::ilogb(magnitude);
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + steps));
}

float from_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  float magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

void store(void* data, Type type, std::size_t i, double value) {
  switch (type) {
    case Type::f64:
      static_cast<double*>(data)[i] = value;
      break;
    case Type::f32:
      static_cast<float*>(data)[i] = static_cast<float>(value);
      break;
    case Type::f16:
      static_cast<std::uint16_t*>(data)[i] = to_f16(static_cast<float>(value));
      break;
    case Type::bf16:
      static_cast<std::uint16_t*>(data)[i] = to_bf16(static_cast<float>(value));
      break;
    case Type::i64:
      static_cast<std::int64_t*>(data)[i] = static_cast<std::int64_t>(value);
      break;
    case Type::i32:
      static_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(value);
      break;
    case Type::i16:
      static_cast<std::int16_t*>(data)[i] = static_cast<std::int16_t>(value);
      break;
    case Type::i8:
      static_cast<std::int8_t*>(data)[i] = static_cast<std::int8_t>(value);
      break;
    case Type::u8:
      static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(value);
      break;
  }
}

double load(const void* data, Type type, std::size_t i) {
  switch (type) {
    case Type::f64:
      return static_cast<const double*>(data)[i];
    case Type::f32:
      return static_cast<const float*>(data)[i];
    case Type::f16:
      return from_f16(static_cast<const std::uint16_t*>(data)[i]);
    case Type::bf16:
      return from_bf16(static_cast<const std::uint16_t*>(data)[i]);
    case Type::i64:
      return static_cast<double>(static_cast<const std::int64_t*>(data)[i]);
    case Type::i32:
      return static_cast<const std::int32_t*>(data)[i];
    case Type::i16:
      return static_cast<const std::int16_t*>(data)[i];
    case Type::i8:
      return static_cast<const std::int8_t*>(data)[i];
    case Type::u8:
      return static_cast<const std::uint8_t*>(data)[i];
  }
  return 0;
}

bool is_whole(Type type) {
  return type >= Type::i64;
}

// ---- random values ------------------------------------------------------------------------------

constexpr std::uint64_t fixed_seed = 20240229;

// Number `index` of stream `seed` (splitmix64).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// In [0, 1).
double unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

// The sum of four uniform numbers, scaled to deviation 1: near enough to normal, and cheap.
double normal(std::uint64_t bits) {
  const std::uint64_t sum =
      (bits & 0xffffU) + ((bits >> 16U) & 0xffffU) + ((bits >> 32U) & 0xffffU) + (bits >> 48U);
  constexpr double mean = 2 * 65535.0;
  constexpr double deviation = 37837.0;
  return (static_cast<double>(sum) - mean) / deviation;
}

std::int64_t below(std::uint64_t bits, std::int64_t bound) {
  return static_cast<std::int64_t>(unit(bits) * static_cast<double>(std::max<std::int64_t>(bound, 1)));
}

double between(const Tensor& tensor, std::uint64_t bits) {
  if (is_whole(tensor.type)) {
    const auto low = static_cast<std::int64_t>(std::ceil(tensor.low));
    return static_cast<double>(low + below(bits, static_cast<std::int64_t>(tensor.high) - low));
  }
  return tensor.low + (tensor.high - tensor.low) * unit(bits);
}

// Rows have between half and one and a half of the mean number of entries.
void draw_offsets(void* data, Type type, std::size_t count, std::int64_t total,
                  std::uint64_t seed) {
  std::vector<double> ends(count, 0.0);
  for (std::size_t i = 1; i < count; ++i) {
    ends[i] = ends[i - 1] + 0.5 + unit(random_bits(seed, i));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double share = ends.back() > 0 ? ends[i] / ends.back() : 0.0;
    const double end = std::floor(share * static_cast<double>(total));
    store(data, type, i, i + 1 == count ? static_cast<double>(total) : end);
  }
}

// Entry j of a row with L entries lies in the j-th of L equal strips of the columns.
void draw_columns(void* data, Type type, const void* offsets, Type offsets_type, std::size_t rows,
                  std::int64_t bound, std::uint64_t seed) {
  for (std::size_t row = 0; row < rows; ++row) {
    const auto first = static_cast<std::int64_t>(load(offsets, offsets_type, row));
    const auto length = static_cast<std::int64_t>(load(offsets, offsets_type, row + 1)) - first;
    const double strip = static_cast<double>(bound) / static_cast<double>(length);
    for (std::int64_t j = 0; j < length; ++j) {
      const auto low = static_cast<std::int64_t>(static_cast<double>(j) * strip);
      const auto next = static_cast<std::int64_t>(static_cast<double>(j + 1) * strip);
      const auto place = static_cast<std::size_t>(first + j);
      const std::int64_t column = low + below(random_bits(seed, place), next - low);
      store(data, type, place, static_cast<double>(std::min(column, bound - 1)));
    }
  }
}

std::vector<double> draw_scalars() {
  std::vector<double> values;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const Scalar& scalar = scalars[i];
    const double value =
        scalar.low + (scalar.high - scalar.low) * unit(random_bits(fixed_seed, i));
    if (is_whole(scalar.type)) {
      values.push_back(std::trunc(value));
    } else {
      values.push_back(scalar.type == Type::f64 ? value : static_cast<float>(value));
    }
  }
  return values;
}
)bench";

}  // namespace kernelpro
