// The programs by which flags are tried: each returns 0 when every result is right.
#pragma once

#include <string_view>

namespace kernelpro {

// Loops that compilers vectorize at -Ofast, over float, double and integers of several widths, with
// reductions, conversions, selections and an atomic. Values are small whole numbers, so any order
// of summation is exact; expected values come from volatile, hence scalar, arithmetic.
inline constexpr std::string_view target_probe_program = R"probe(
#include <atomic>
#include <cmath>
#include <cstdint>

constexpr int n = 1003;
float f[n], g[n], h[n];
double d[n], e[n];
std::int32_t i32[n], j32[n];
std::int8_t i8[n], j8[n];
std::uint8_t u8[n];
std::int64_t i64[n];

__attribute__((noinline)) void fill() {
  for (volatile int k = 0; k < n; k = k + 1) {
    f[k] = static_cast<float>(k % 17);
    g[k] = static_cast<float>(k % 13);
    d[k] = k % 11;
    i32[k] = k % 19 - 9;
    i8[k] = static_cast<std::int8_t>(k % 7 - 3);
    j8[k] = static_cast<std::int8_t>(k % 5 - 2);
    u8[k] = static_cast<std::uint8_t>(k % 251);
  }
}

__attribute__((noinline)) void elementwise() {
  for (int k = 0; k < n; ++k) h[k] = f[k] * g[k] + 2.0f;
  for (int k = 0; k < n; ++k) e[k] = std::sqrt(d[k] * d[k]) + f[k];
  for (int k = 0; k < n; ++k) j32[k] = i32[k] > 0 ? i32[k] * 3 : -i32[k];
  for (int k = 0; k < n; ++k) i64[k] = __builtin_popcount(u8[k]) + (i64[k] << 1);
}

__attribute__((noinline)) float sum_float() {
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += f[k] * g[k];
  return sum;
}
__attribute__((noinline)) double sum_double() {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += d[k] * static_cast<double>(i32[k]);
  return sum;
}
__attribute__((noinline)) std::int32_t dot_bytes() {
  std::int32_t sum = 0;
  for (int k = 0; k < n; ++k) sum += i8[k] * j8[k];
  return sum;
}
__attribute__((noinline)) std::int32_t truncated() {
  std::int32_t sum = 0;
  for (int k = 0; k < n; ++k) sum += static_cast<std::int32_t>(f[k] * 0.5f);
  return sum;
}
__attribute__((noinline)) float largest() {
  float top = f[0];
  for (int k = 1; k < n; ++k) top = f[k] > top ? f[k] : top;
  return top;
}

int main() {
  fill();
  elementwise();
  double float_sum = 0, double_sum = 0;
  std::int32_t dot = 0, whole = 0;
  for (volatile int v = 0; v < n; v = v + 1) {
    const int k = v;
    float_sum += static_cast<double>((k % 17) * (k % 13));
    double_sum += static_cast<double>((k % 11) * (k % 19 - 9));
    dot += (k % 7 - 3) * (k % 5 - 2);
    whole += (k % 17) / 2;
    const int i = k % 19 - 9;
    int bits = 0;
    for (int rest = k % 251; rest != 0; rest /= 2) bits += rest % 2;
    if (h[k] != static_cast<float>((k % 17) * (k % 13) + 2)) return 1;
    if (e[k] != static_cast<double>(k % 11 + k % 17)) return 2;
    if (j32[k] != (i > 0 ? 3 * i : -i)) return 3;
    if (i64[k] != bits) return 4;
  }
  if (sum_float() != static_cast<float>(float_sum)) return 5;
  if (sum_double() != double_sum) return 6;
  if (dot_bytes() != dot) return 7;
  if (truncated() != whole) return 8;
  if (largest() != 16.0f) return 9;
  std::atomic<int> counter{1};
  return counter.fetch_add(2) + counter.load() == 4 ? 0 : 10;
}
)probe";

inline constexpr std::string_view openmp_probe_program = R"probe(
#include <omp.h>

int main() {
  long sum = 0;
  int threads = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for reduction(+ : sum)
    for (long k = 0; k < 1000; ++k) sum += k;
#pragma omp single
    threads = omp_get_num_threads();
  }
  return sum == 499500 && threads >= 1 ? 0 : 1;
}
)probe";

// A kernel and its launch: device compiler, host compiler and the toolkit's libraries take part.
inline constexpr std::string_view cuda_probe_program = R"(
__global__ void twice(float* values, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= 2;
}
extern "C" __attribute__((visibility("default"))) int launch(float* values, int count) {
  twice<<<(count + 255) / 256, 256>>>(values, count);
  return static_cast<int>(cudaGetLastError());
}
)";

}  // namespace kernelpro
