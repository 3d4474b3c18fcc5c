#include <cmath>

#include "defects_cpu.hpp"

#define CASE __attribute__((noinline)) double

namespace defects {

namespace {

typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));

constexpr char tool[] = "not_vectorized";
const std::vector<std::string> chain = {"dependent_chain"};

CASE sum_scalar() {
  const float* x = floats();
  float sum = 0;
  for (int i = 0; i < small; ++i) sum += x[i];
  return sum;
}
CASE sum_vector() {
  const float* x = floats();
  vec8 part[4] = {};
  for (int i = 0; i < small; i += 32)
    for (int u = 0; u < 4; ++u) part[u] += *reinterpret_cast<const vec8*>(x + i + 8 * u);
  const vec8 all = part[0] + part[1] + part[2] + part[3];
  return all[0] + all[1] + all[2] + all[3] + all[4] + all[5] + all[6] + all[7];
}

CASE dot_scalar() {
  const float *x = floats(), *y = floats(1);
  float sum = 0;
  for (int i = 0; i < small; ++i) sum += x[i] * y[i];
  return sum;
}
CASE dot_vector() {
  const float *x = floats(), *y = floats(1);
  vec8 part[4] = {};
  for (int i = 0; i < small; i += 32)
    for (int u = 0; u < 4; ++u)
      part[u] += *reinterpret_cast<const vec8*>(x + i + 8 * u) *
                 *reinterpret_cast<const vec8*>(y + i + 8 * u);
  const vec8 all = part[0] + part[1] + part[2] + part[3];
  return all[0] + all[1] + all[2] + all[3] + all[4] + all[5] + all[6] + all[7];
}

CASE largest_scalar() {
  const float* x = floats();
  float most = -1;
  for (int i = 0; i < small; ++i)
    if (x[i] > most) most = x[i];
  return most;
}
CASE largest_vector() {
  const float* x = floats();
  vec8 part[4] = {};
  for (int i = 0; i < small; i += 32)
    for (int u = 0; u < 4; ++u) {
      const vec8 next = *reinterpret_cast<const vec8*>(x + i + 8 * u);
      part[u] = next > part[u] ? next : part[u];
    }
  float most = 0;
  for (int u = 0; u < 4; ++u)
    for (int k = 0; k < 8; ++k) most = part[u][k] > most ? part[u][k] : most;
  return most;
}

CASE exponential_calls() {
  const float* x = floats();
  float* y = floats(1);
  for (int i = 0; i < small; ++i) y[i] = std::exp(x[i]);
  return y[5];
}
CASE exponential_polynomial() {
  const float* x = floats();
  float* y = floats(1);
  for (int i = 0; i < small; ++i) {
    const float t = x[i] * 0.125f;
    float e = 1 + t * (1 + t * (0.5f + t * (0.1666667f + t * (0.0416667f + t * 0.0083333f))));
    e *= e;
    e *= e;
    y[i] = e * e;
  }
  return y[5];
}

// The end of the loop is read again in each turn: what is written might be it.
struct Bound {
  float* data;
  int count;
};
__attribute__((noinline)) void scale_until(Bound* bound, const float* x, int* writes) {
  for (int i = 0; i < bound->count; ++i) {
    bound->data[i] = x[i] * 3 + 1;
    *writes = i;
  }
}
CASE aliased_scalar() {
  Bound bound{floats(1), small};
  int writes = 0;
  scale_until(&bound, floats(), &writes);
  return bound.data[7] + writes;
}
CASE aliased_vector() {
  float* __restrict y = floats(1);
  const float* __restrict x = floats();
  for (int i = 0; i < small; ++i) y[i] = x[i] * 3 + 1;
  return y[7];
}

__attribute__((noinline)) float shade(float value) {
  return value * value * 0.3f + value * 0.5f + 0.1f;
}
CASE function_calls() {
  const float* x = floats();
  float* y = floats(1);
  for (int i = 0; i < small; ++i) y[i] = shade(x[i]);
  return y[9];
}
CASE function_inlined() {
  const float* x = floats();
  float* y = floats(1);
  for (int i = 0; i < small; ++i) y[i] = x[i] * x[i] * 0.3f + x[i] * 0.5f + 0.1f;
  return y[9];
}

// Leaves early, and never does here.
CASE search_scalar() {
  const float* x = floats();
  int i = 0;
  for (; i < small; ++i)
    if (x[i] * 2 > 1000) break;
  return i;
}
CASE search_blocks() {
  const float* x = floats();
  int i = 0;
  for (; i < small; i += 64) {
    int any = 0;
    for (int k = 0; k < 64; ++k) any |= x[i + k] * 2 > 1000;
    if (any != 0) break;
  }
  return i;
}

CASE distance_f64_scalar() {
  const double *x = doubles(), *y = doubles(1);
  double sum = 0;
  for (int i = 0; i < small; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}
CASE distance_f64_vector() {
  const double *x = doubles(), *y = doubles(1);
  double part[16] = {};
  for (int i = 0; i < small; i += 16)
    for (int k = 0; k < 16; ++k) part[k] += (x[i + k] - y[i + k]) * (x[i + k] - y[i + k]);
  double sum = 0;
  for (const double one : part) sum += one;
  return sum;
}

CASE roots_checked() {
  const float* x = floats();
  float* y = floats(1);
  for (int i = 0; i < small; ++i) y[i] = std::log(x[i]) + 1;
  return y[9];
}
CASE roots_plain() {
  const float* x = floats();
  float* y = floats(1);
  for (int i = 0; i < small; ++i) {
    const float t = (x[i] - 1) / (x[i] + 1);
    const float s = t * t;
    y[i] = 2 * t * (1 + s * (0.333333f + s * (0.2f + s * 0.142857f))) + 1;
  }
  return y[9];
}

CASE count_branches() {
  const unsigned char* x = bytes();
  long count = 0;
  for (int i = 0; i < small; ++i) {
    if (x[i] == 255) return i;
    count += x[i];
  }
  return count;
}
CASE count_plain() {
  const unsigned char* x = bytes();
  unsigned count = 0;
  for (int i = 0; i < small; ++i) count += x[i];
  return count;
}

CASE weighted_scalar() {
  const float *x = floats(), *y = floats(1);
  float up = 0;
  float down = 0;
  for (int i = 0; i < small; ++i) {
    up += x[i] * y[i];
    down += x[i];
  }
  return up / down;
}
CASE weighted_vector() {
  const float *x = floats(), *y = floats(1);
  vec8 up[2] = {}, down[2] = {};
  for (int i = 0; i < small; i += 16)
    for (int u = 0; u < 2; ++u) {
      const vec8 one = *reinterpret_cast<const vec8*>(x + i + 8 * u);
      up[u] += one * *reinterpret_cast<const vec8*>(y + i + 8 * u);
      down[u] += one;
    }
  float high = 0;
  float low = 0;
  for (int k = 0; k < 8; ++k) {
    high += up[0][k] + up[1][k];
    low += down[0][k] + down[1][k];
  }
  return high / low;
}

// A recurrence: nothing to vectorize as it stands.
CASE filter() {
  const float* x = floats();
  float* y = floats(1);
  float state = 0;
  for (int i = 0; i < small; ++i) {
    state = 0.9f * state + x[i];
    y[i] = state;
  }
  return state;
}

// Scalar, and bound by memory.
CASE table_lookup() {
  const unsigned char* x = bytes();
  static unsigned table[256];
  for (int i = 0; i < small; ++i) ++table[x[i]];
  return table[3];
}

CASE binary_search() {
  const float* x = floats();
  int found = 0;
  for (int i = 0; i < 256; ++i) {
    int low = 0;
    int high = small;
    while (low + 1 < high) {
      const int middle = (low + high) / 2;
      (x[middle] < x[i] ? low : high) = middle;
    }
    found += low;
  }
  return found;
}

}  // namespace

void add_not_vectorized() {
  add_pair(tool, "sum_f32", sum_scalar, sum_vector, chain, chain);
  add_pair(tool, "dot_f32", dot_scalar, dot_vector, chain, chain);
  add_pair(tool, "largest_f32", largest_scalar, largest_vector, chain, chain);
  add_pair(tool, "exponential_f32", exponential_calls, exponential_polynomial);
  add_pair(tool, "aliased_f32", aliased_scalar, aliased_vector);
  add_pair(tool, "function_f32", function_calls, function_inlined);
  add_pair(tool, "search_f32", search_scalar, search_blocks);
  add_pair(tool, "distance_f64", distance_f64_scalar, distance_f64_vector, chain, chain);
  add_pair(tool, "logarithm_f32", roots_checked, roots_plain);
  add_pair(tool, "count_u8", count_branches, count_plain);
  add_pair(tool, "weighted_f32", weighted_scalar, weighted_vector, chain, chain);
  add_clean(tool, "filter_f32", filter, chain);
  add_clean(tool, "histogram_u8", table_lookup, chain);
  add_clean(tool, "binary_search_f32", binary_search, chain);
}

}  // namespace defects
