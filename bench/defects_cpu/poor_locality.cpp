#include <algorithm>
#include <vector>

#include "defects_cpu.hpp"

#define CASE __attribute__((noinline)) double

namespace defects {

namespace {

constexpr char tool[] = "poor_locality";
const std::vector<std::string> others = {"not_vectorized", "dependent_chain"};
constexpr int side = 2048;  // of a square of floats: 16 MiB

CASE columns_sum() {
  const float* x = floats();
  float* sums = floats(1);
  for (int j = 0; j < side; ++j) {
    float sum = 0;
    for (int i = 0; i < side; ++i) sum += x[i * side + j];
    sums[j] = sum;
  }
  return sums[3];
}
CASE columns_by_rows() {
  const float* x = floats();
  float* sums = floats(1);
  std::fill(sums, sums + side, 0.f);
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) sums[j] += x[i * side + j];
  return sums[3];
}

CASE transpose_plain() {
  const float* x = floats();
  float* y = floats(1);
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) y[i * side + j] = x[j * side + i];
  return y[5];
}
CASE transpose_blocked() {
  const float* x = floats();
  float* y = floats(1);
  for (int ib = 0; ib < side; ib += 16)
    for (int jb = 0; jb < side; jb += 16)
      for (int i = ib; i < ib + 16; ++i)
        for (int j = jb; j < jb + 16; ++j) y[i * side + j] = x[j * side + i];
  return y[5];
}

struct Particle {
  float x, y, z, mass, more[12];
};
CASE fields_apart() {
  auto* list = reinterpret_cast<Particle*>(floats());
  for (int i = 0; i < large / 16; ++i) list[i].mass = list[i].mass * 0.5f + 1;
  return list[3].mass;
}
CASE fields_together() {
  float* mass = floats();
  for (int i = 0; i < large / 16; ++i) mass[i] = mass[i] * 0.5f + 1;
  return mass[3];
}

CASE product_columns() {
  const float *a = floats(), *b = floats(1);
  float* c = floats(2);
  constexpr int n = 1024;
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < 64; ++i) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j * 64];
      c[i * n + j] = sum;
    }
  }
  return c[5];
}
CASE product_rows() {
  const float *a = floats(), *b = floats(1);
  float* c = floats(2);
  constexpr int n = 1024;
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < 64; ++i) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[j * 64 * n + k];
      c[i * n + j] = sum;
    }
  }
  return c[5];
}

CASE gather_random() {
  const float* x = floats();
  const int* at = order();
  float sum[4] = {};
  for (int i = 0; i < large / 4; i += 4)
    for (int u = 0; u < 4; ++u) sum[u] += x[at[i + u]];
  return sum[0] + sum[1] + sum[2] + sum[3];
}
CASE gather_sorted() {
  static std::vector<int> sorted;
  if (sorted.empty()) {
    sorted.assign(order(), order() + large / 4);
    for (int i = 0; i < large / 4; ++i) sorted[static_cast<std::size_t>(i)] = i;
  }
  const float* x = floats();
  float sum[4] = {};
  for (std::size_t i = 0; i < large / 4; i += 4)
    for (std::size_t u = 0; u < 4; ++u) sum[u] += x[sorted[i + u]];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

CASE scatter_random() {
  float* x = floats(1);
  const int* at = order();
  for (int i = 0; i < large / 4; ++i) x[at[i]] += 1;
  return x[7];
}
CASE scatter_in_order() {
  float* x = floats(1);
  for (int i = 0; i < large / 4; ++i) x[i] += 1;
  return x[7];
}

CASE vertical_columns() {
  const float* x = floats();
  float* y = floats(1);
  for (int j = 0; j < side; ++j)
    for (int i = 1; i < side - 1; ++i)
      y[i * side + j] = x[(i - 1) * side + j] + 2 * x[i * side + j] + x[(i + 1) * side + j];
  return y[side + 1];
}
CASE vertical_rows() {
  const float* x = floats();
  float* y = floats(1);
  for (int i = 1; i < side - 1; ++i)
    for (int j = 0; j < side; ++j)
      y[i * side + j] = x[(i - 1) * side + j] + 2 * x[i * side + j] + x[(i + 1) * side + j];
  return y[side + 1];
}

CASE every_line() {
  float* x = floats();
  for (int start = 0; start < 16; ++start)
    for (int i = start; i < large; i += 16) x[i] += 1;
  return x[3];
}
CASE every_element() {
  float* x = floats();
  for (int i = 0; i < large; ++i) x[i] += 1;
  return x[3];
}

// A list that is walked in the order of memory, or in none.
struct Link {
  int next;
  int value;
};
Link* chain(bool shuffled) {
  static std::vector<Link> lists[2];
  std::vector<Link>& list = lists[shuffled ? 1 : 0];
  if (list.empty()) {
    constexpr int count = large / 8;
    list.resize(count);
    std::vector<int> way;
    for (int i = 0; i < large && static_cast<int>(way.size()) < count; ++i) {
      if (order()[i] < count) way.push_back(order()[i]);
    }
    for (int i = 0; i < count; ++i) {
      const int here = shuffled ? way[static_cast<std::size_t>(i)] : i;
      const int there = shuffled ? way[static_cast<std::size_t>((i + 1) % count)] : (i + 1) % count;
      list[static_cast<std::size_t>(here)] = {there, i};
    }
  }
  return list.data();
}
double walk(const Link* list) {
  double sum = 0;
  int at = 0;
  for (int i = 0; i < large / 8; ++i) {
    sum += list[at].value;
    at = list[at].next;
  }
  return sum;
}
CASE walk_shuffled() {
  return walk(chain(true));
}
CASE walk_in_order() {
  return walk(chain(false));
}

CASE planes_apart() {
  const float* x = floats();
  float* y = floats(1);
  constexpr int n = 128;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) y[i * n * n + j * n + k] = x[i * n * n + j * n + k] * 0.5f;
  return y[9];
}
CASE planes_in_order() {
  const float* x = floats();
  float* y = floats(1);
  for (int i = 0; i < 128 * 128 * 128; ++i) y[i] = x[i] * 0.5f;
  return y[9];
}

// Strided, and all of it stays in L1.
CASE small_columns() {
  const float* x = floats();
  double all = 0;
  for (int j = 0; j < 64; ++j) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += x[i * 64 + j];
    all += sum;
  }
  return all;
}

CASE small_table() {
  const unsigned char* x = bytes();
  const float* table = floats();
  float sum[4] = {};
  for (int i = 0; i < small; i += 4)
    for (int u = 0; u < 4; ++u) sum[u] += table[x[i + u]];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

CASE stream() {
  const float *x = floats(), *y = floats(1);
  float* z = floats(2);
  for (int i = 0; i < large; ++i) z[i] = x[i] + 3 * y[i];
  return z[9];
}

}  // namespace

void add_poor_locality() {
  add_pair(tool, "columns_f32", columns_sum, columns_by_rows, others);
  add_pair(tool, "transpose_f32", transpose_plain, transpose_blocked, others, others);
  add_pair(tool, "fields_f32", fields_apart, fields_together, others);
  add_pair(tool, "product_f32", product_columns, product_rows, others, others);
  add_pair(tool, "gather_f32", gather_random, gather_sorted, others, others);
  add_pair(tool, "scatter_f32", scatter_random, scatter_in_order, others);
  add_pair(tool, "vertical_f32", vertical_columns, vertical_rows, others);
  add_pair(tool, "every_line_f32", every_line, every_element, others);
  add_pair(tool, "walk", walk_shuffled, walk_in_order, others, others);
  add_pair(tool, "planes_f32", planes_apart, planes_in_order, others);
  add_clean(tool, "small_columns_f32", small_columns, others);
  add_clean(tool, "small_table_f32", small_table, others);
  add_clean(tool, "stream_f32", stream);
}

}  // namespace defects
