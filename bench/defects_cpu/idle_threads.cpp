#include <omp.h>

#include <thread>

#include "defects_cpu.hpp"

#define CASE __attribute__((noinline)) double

namespace defects {

namespace {

constexpr char tool[] = "idle_threads";
const std::vector<std::string> others = {"not_vectorized", "dependent_chain", "poor_locality"};
constexpr int rows = 1024;
constexpr int row_length = 1024;

// Enough arithmetic that memory does not matter.
inline void work_on(float* row, int length) {
  for (int i = 0; i < length; ++i) {
    const float v = row[i] * 0.5f;
    row[i] = 1 + v * (0.25f + v * (0.125f + v * (0.0625f + v * 0.03125f)));
  }
}

CASE serial() {
  float* x = floats();
  for (int r = 0; r < rows; ++r) work_on(x + r * row_length, row_length);
  return x[3];
}
CASE shared() {
  float* x = floats();
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; ++r) work_on(x + r * row_length, row_length);
  return x[3];
}

CASE triangle_static() {
  float* x = floats();
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; ++r) work_on(x + r * row_length, r);
  return x[3];
}
CASE triangle_dynamic() {
  float* x = floats();
#pragma omp parallel for schedule(dynamic, 8)
  for (int r = 0; r < rows; ++r) work_on(x + r * row_length, r);
  return x[3];
}

CASE half_serial() {
  float* x = floats();
  for (int r = 0; r < rows / 2; ++r) work_on(x + r * row_length, row_length);
#pragma omp parallel for schedule(static)
  for (int r = rows / 2; r < rows; ++r) work_on(x + r * row_length, row_length);
  return x[3];
}

CASE critical_section() {
  float* x = floats();
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; ++r) {
#pragma omp critical
    work_on(x + r * row_length, row_length);
  }
  return x[3];
}

template <int First>
CASE two_threads() {
  float* x = floats();
  std::thread other([x] {
    for (int r = First; r < rows; ++r) work_on(x + r * row_length, row_length);
  });
  for (int r = 0; r < First; ++r) work_on(x + r * row_length, row_length);
  other.join();
  return x[3];
}

CASE one_of_two() {
  float* x = floats();
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      for (int r = 0; r < rows; ++r) work_on(x + r * row_length, row_length);
    }
  }
  return x[3];
}

CASE large_chunks() {
  float* x = floats();
#pragma omp parallel for schedule(static, 768)
  for (int r = 0; r < rows; ++r) work_on(x + r * row_length, row_length);
  return x[3];
}
CASE small_chunks() {
  float* x = floats();
#pragma omp parallel for schedule(static, 16)
  for (int r = 0; r < rows; ++r) work_on(x + r * row_length, row_length);
  return x[3];
}

CASE ordered_rows() {
  float* x = floats();
#pragma omp parallel for ordered schedule(static, 1)
  for (int r = 0; r < rows; ++r) {
#pragma omp ordered
    work_on(x + r * row_length, row_length);
  }
  return x[3];
}

CASE few_sections() {
  float* x = floats();
#pragma omp parallel sections
  {
#pragma omp section
    for (int r = 0; r < 7 * rows / 8; ++r) work_on(x + r * row_length, row_length);
#pragma omp section
    for (int r = 7 * rows / 8; r < rows; ++r) work_on(x + r * row_length, row_length);
  }
  return x[3];
}
CASE even_sections() {
  float* x = floats();
#pragma omp parallel sections
  {
#pragma omp section
    for (int r = 0; r < rows / 2; ++r) work_on(x + r * row_length, row_length);
#pragma omp section
    for (int r = rows / 2; r < rows; ++r) work_on(x + r * row_length, row_length);
  }
  return x[3];
}

// One long recurrence: nothing to share out.
CASE recurrence() {
  const float* x = floats();
  float* y = floats(1);
  float state = 0;
  for (int i = 0; i < small; ++i) {
    state = 0.9f * state + x[i];
    y[i] = state;
  }
  return state;
}

CASE walk() {
  static int next[1024];
  if (next[0] == 0) {
    for (int i = 0; i < 1024; ++i) next[i] = (i + 389) % 1024;
  }
  int at = 0;
  for (int i = 0; i < 4096; ++i) at = next[at];
  return at;
}

}  // namespace

void add_idle_threads() {
  add_pair(tool, "rows", serial, shared, others, others);
  add_pair(tool, "triangle", triangle_static, triangle_dynamic, others, others);
  add_pair(tool, "half", half_serial, shared, others, others);
  add_pair(tool, "critical", critical_section, shared, others, others);
  add_pair(tool, "two_threads", two_threads<896>, two_threads<512>, others, others);
  add_pair(tool, "two_unequal", two_threads<768>, two_threads<500>, others, others);
  add_pair(tool, "one_of_two", one_of_two, shared, others, others);
  add_pair(tool, "chunks", large_chunks, small_chunks, others, others);
  add_pair(tool, "ordered", ordered_rows, small_chunks, others, others);
  add_pair(tool, "sections", few_sections, even_sections, others, others);
  add_clean(tool, "recurrence", recurrence, others);
  add_clean(tool, "walk", walk, others);
}

}  // namespace defects
