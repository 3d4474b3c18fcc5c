// What ncu counted and sampled at each instruction (page "source"), as CSV.
//
// Both forms of the page are read: machine code alone (--print-source sass) is one block for each
// launch, with its instructions in order; with the source's lines (cuda,sass) it is one block for
// each launch and file, where each line is followed by its instructions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/profile.hpp"
#include "worker/profile/instruction.hpp"
#include "worker/profile/ncu_output.hpp"

namespace kernelpro {

// One launch's block.
struct SourceKernel {
  std::string name;  // as this page writes it; the raw page writes templates otherwise
  // By offset, each once. One that belongs to lines of several files has the place in the user's
  // file rather than in a header of CUDA.
  std::vector<Instruction> instructions;
  std::vector<HotLine> lines;  // that have samples, most of them first
  std::size_t unreadable = 0;  // rows that are no instruction
  int blocks = 1;              // how often the page has it: ncu prints some blocks several times
};

struct NcuSourceReport {
  std::vector<SourceKernel> kernels;  // in the page's order
  NcuComplaints complaints;
  bool complete = true;  // false: rows are missing
  std::string problem;   // why
};

[[nodiscard]] Result<NcuSourceReport> read_ncu_source(std::string_view output);

// ncu's name of a stall reason for the source page's column: "stall_long_sb" is "long_scoreboard".
// Empty: the column is no stall reason.
[[nodiscard]] std::string stall_reason(std::string_view column);

}  // namespace kernelpro
