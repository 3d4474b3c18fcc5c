// Loops with known defects, and loops without: what the tools for processors are measured on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace defects {

// One repeat of a case; what it returns keeps the compiler from leaving it out.
using Work = double (*)();

struct Case {
  std::string name;  // tool/shape/setting
  bool defective = false;
  std::string twin;               // of the same shape, without the defect; its own name: it is one
  std::vector<std::string> also;  // other tools that are right to speak
  Work work = nullptr;
};

// A shape is a defect and its twin; `also` is of the defect.
void add_pair(const std::string& tool, const std::string& shape, Work defective, Work twin,
              std::vector<std::string> also = {}, std::vector<std::string> twin_also = {});
// Looks like the defect, and is none.
void add_clean(const std::string& tool, const std::string& shape, Work work,
               std::vector<std::string> also = {});

void add_not_vectorized();
void add_dependent_chain();
void add_poor_locality();
void add_idle_threads();
void add_second_not_vectorized();
void add_second_dependent_chain();
void add_second_poor_locality();
void add_second_idle_threads();

// Buffers of fixed content, made when first asked for. 16 KiB stay in L1, 24 MiB in no L2.
constexpr int small = 4096;
constexpr int large = 6 << 20;
float* floats(int which = 0);         // `large` of them
double* doubles(int which = 0);       // half as many
unsigned char* bytes(int which = 0);  // `large` of them
int* order();                         // 0 … large - 1, shuffled

}  // namespace defects
