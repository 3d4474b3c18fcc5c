// A program that gets its memory from the kernel again and again: what it gives back and takes anew
// is zeroed and mapped page by page, each on its first touch.
//
// What is touched for the first time once, at the beginning, is no defect: pages that were given
// are held against those that the program had at a time.
#include <fmt/format.h>

#include <algorithm>

#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/host_tools.hpp"

namespace kernelpro {

namespace {

ToolResult look_for_page_faults(const Profile& profile, const KernelProfile* /*kernel*/,
                                const Thresholds& limits) {
  if (!profile.host) {
    return {{}, {"no samples of threads"}};
  }
  const HostRun& run = *profile.host;
  const double cpu_ns = run.samples * run.period_ns;
  const double had = run.resident_bytes / limits.page_bytes;
  if (run.faults < limits.least_faults || had <= 0 || cpu_ns <= 0 ||
      run.faults < limits.touched_again * had ||
      run.system_share * cpu_ns > limits.longest_small_fault_ns * run.faults) {
    return {};
  }
  const double again = 1 - had / run.faults;
  Finding finding;
  finding.tool = "page_faults";
  finding.observed = run.faults / had;
  finding.threshold = limits.touched_again;
  finding.unit = "times the pages that the program had at a time";
  finding.why = "memory that is kept is given once";
  finding.title =
      fmt::format("The kernel gave the program {:.0f} pages, {:.0f} times what it had at a time",
                  run.faults, run.faults / had);
  finding.cause =
      "Memory is given back and taken anew in each step: large arrays that are made inside of a "
      "loop or a call.";
  finding.moves = {"make the arrays once and use them again", "workspace_layout",
                   "keep freed memory: mallopt with M_MMAP_THRESHOLD and M_TRIM_THRESHOLD"};
  finding.derivation = fmt::format(
      "{:.0f} % of the processor time is the kernel's, and {:.0f} % of the pages were "
      "given again",
      100 * run.system_share, 100 * again);
  return program_finding_if_worth(std::move(finding),
                                  1 / std::max(0.05, 1 - run.system_share * again), limits);
}

}  // namespace

Tool page_faults_tool() {
  return {
      "page_faults", "Memory taken from the kernel again and again", {}, {}, look_for_page_faults};
}

}  // namespace kernelpro
