#include <cstdint>

#include "defects_cpu.hpp"

#define CASE __attribute__((noinline)) double

namespace defects {

namespace {

typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));

constexpr char tool[] = "dependent_chain";
const std::vector<std::string> scalar = {"not_vectorized"};

const vec8& at(const float* x, int i) {
  return *reinterpret_cast<const vec8*>(x + i);
}

double sum_of(const vec8& v) {
  double sum = 0;
  for (int k = 0; k < 8; ++k) sum += v[k];
  return sum;
}

template <int Chains>
CASE vector_sum() {
  const float* x = floats();
  vec8 part[Chains] = {};
  for (int i = 0; i < small; i += 8 * Chains)
    for (int u = 0; u < Chains; ++u) part[u] += at(x, i + 8 * u);
  double sum = 0;
  for (const vec8& one : part) sum += sum_of(one);
  return sum;
}

template <int Chains>
CASE vector_dot() {
  const float *x = floats(), *y = floats(1);
  vec8 part[Chains] = {};
  for (int i = 0; i < small; i += 8 * Chains)
    for (int u = 0; u < Chains; ++u) part[u] += at(x, i + 8 * u) * at(y, i + 8 * u);
  double sum = 0;
  for (const vec8& one : part) sum += sum_of(one);
  return sum;
}

template <int Chains>
CASE product_f64() {
  const double* x = doubles();
  double part[Chains];
  for (double& one : part) one = 1;
  for (int i = 0; i < small; i += Chains)
    for (int u = 0; u < Chains; ++u) part[u] *= x[i + u] * 0.6;
  double product = 1;
  for (const double one : part) product *= one;
  return product;
}

template <int Chains>
CASE sum_f64() {
  const double* x = doubles();
  double part[Chains] = {};
  for (int i = 0; i < small; i += Chains)
    for (int u = 0; u < Chains; ++u) part[u] += x[i + u];
  double sum = 0;
  for (const double one : part) sum += one;
  return sum;
}

// Hashes of several buffers, one after the other or side by side.
template <int Together>
CASE hash_u64() {
  const auto* x = reinterpret_cast<const std::uint64_t*>(doubles());
  std::uint64_t all = 0;
  constexpr int length = small / 8;
  for (int row = 0; row < 8; row += Together) {
    std::uint64_t hash[Together];
    for (std::uint64_t& one : hash) one = 14695981039346656037ULL;
    for (int i = 0; i < length; ++i)
      for (int u = 0; u < Together; ++u)
        hash[u] = (hash[u] ^ x[(row + u) * length + i]) * 1099511628211ULL;
    for (const std::uint64_t one : hash) all += one;
  }
  return static_cast<double>(all >> 12U);
}

template <int Together>
CASE filters_f32() {
  const float* x = floats();
  float all = 0;
  constexpr int length = small / 8;
  for (int row = 0; row < 8; row += Together) {
    float state[Together] = {};
    for (int i = 0; i < length; ++i)
      for (int u = 0; u < Together; ++u) state[u] = 0.9f * state[u] + x[(row + u) * length + i];
    for (const float one : state) all += one;
  }
  return all;
}

template <int Together>
CASE horner_f64() {
  const double* x = doubles();
  double all = 0;
  for (int point = 0; point < 16; point += Together) {
    double value[Together] = {};
    for (int i = 0; i < small / 16; ++i)
      for (int u = 0; u < Together; ++u) value[u] = value[u] * (x[point + u] - 1) * 0.5 + x[i];
    for (const double one : value) all += one;
  }
  return all;
}

// Lists in one array of links; all in L1.
int* links() {
  static int next[1024];
  if (next[0] == 0) {
    for (int i = 0; i < 1024; ++i) next[i] = (i + 389) % 1024;
  }
  return next;
}
template <int Together>
CASE lists() {
  const int* next = links();
  int at[Together];
  double all = 0;
  for (int start = 0; start < 8; start += Together) {
    for (int u = 0; u < Together; ++u) at[u] = start + u;
    for (int i = 0; i < 1024; ++i)
      for (int u = 0; u < Together; ++u) at[u] = next[at[u]];
    for (const int one : at) all += one;
  }
  return all;
}

template <int Chains>
CASE smallest_f64() {
  const double* x = doubles();
  double part[Chains];
  for (double& one : part) one = 100;
  for (int i = 0; i < small; i += Chains)
    for (int u = 0; u < Chains; ++u) {
      const double next = x[i + u] * 1.5 + 0.25;
      part[u] = next < part[u] ? next : part[u];
    }
  double least = 100;
  for (const double one : part) least = one < least ? one : least;
  return least;
}

template <int Together>
CASE newton_f64() {
  const double* x = doubles();
  double all = 0;
  for (int i = 0; i < 32; i += Together) {
    double root[Together];
    for (double& one : root) one = 1;
    for (int turn = 0; turn < 40; ++turn)
      for (int u = 0; u < Together; ++u)
        root[u] = root[u] * (1.5 - 0.5 * x[i + u] * root[u] * root[u]);
    for (const double one : root) all += one;
  }
  return all;
}

// Rows so short that those after each other overlap.
CASE short_rows() {
  const float* x = floats();
  double all = 0;
  for (int row = 0; row < small / 8; ++row) {
    float sum = 0;
    const float* at_row = x + 8 * row;
#pragma GCC unroll 1
    for (int i = 0; i < 8; ++i) sum += at_row[i];
    floats(1)[row] = sum;
  }
  all += floats(1)[3];
  return all;
}

// A chain, but memory takes longer.
CASE large_sum() {
  const float* x = floats();
  vec8 sum[2] = {};
  for (int i = 0; i < large; i += 16) {
    sum[0] += at(x, i);
    sum[1] += at(x, i + 8);
  }
  return sum_of(sum[0]) + sum_of(sum[1]);
}

CASE divisions() {
  const double* x = doubles();
  double* y = doubles(1);
  for (int i = 0; i < small; ++i) y[i] = 1 / (x[i] + 3);
  return y[3];
}

}  // namespace

void add_dependent_chain() {
  add_pair(tool, "vector_sum_f32", vector_sum<1>, vector_sum<8>);
  add_pair(tool, "vector_dot_f32", vector_dot<1>, vector_dot<8>);
  add_pair(tool, "product_f64", product_f64<1>, product_f64<16>, scalar);
  add_pair(tool, "sum_f64", sum_f64<1>, sum_f64<16>, scalar);
  add_pair(tool, "hash_u64", hash_u64<1>, hash_u64<8>);
  add_pair(tool, "filters_f32", filters_f32<1>, filters_f32<8>);
  add_pair(tool, "horner_f64", horner_f64<1>, horner_f64<8>);
  add_pair(tool, "lists", lists<1>, lists<8>);
  add_pair(tool, "smallest_f64", smallest_f64<1>, smallest_f64<16>, scalar);
  add_pair(tool, "newton_f64", newton_f64<1>, newton_f64<8>);
  add_clean(tool, "short_rows_f32", short_rows, scalar);
  add_clean(tool, "large_sum_f32", large_sum);
  add_clean(tool, "divisions_f64", divisions);
}

}  // namespace defects
