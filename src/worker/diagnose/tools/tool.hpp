// A micro-profiling tool: it looks at one defect, in one kernel or in the program as a whole.
//
// Tools act on what they see in the profile alone. One that lacks what it needs says so and finds
// nothing. A finding means more than that the pattern is there: the pattern must hold the kernel
// up, and removing it must be worth it (thresholds.hpp).
#pragma once

#include <string>
#include <vector>

#include "common/model/finding.hpp"
#include "common/model/profile.hpp"
#include "worker/diagnose/tools/thresholds.hpp"

namespace kernelpro {

struct ToolResult {
  std::vector<Finding> findings;           // none: the defect is not there
  std::vector<std::string> not_available;  // what was missing, and why
};

struct Tool {
  std::string id;     // "bank_conflicts"
  std::string title;  // "Shared-memory bank conflicts"
  // Of which kernels; generous: every class under which the defect can hide. None: it reads the
  // trace and runs once for the program, whatever its class (`kernel` is the main one, or null).
  std::vector<KernelClass> classes;
  // Keys of the figures it reads, so that only those are measured.
  std::vector<std::string> figures;
  ToolResult (*look)(const Profile& profile, const KernelProfile* kernel,
                     const Thresholds& limits) = nullptr;

  [[nodiscard]] bool reads_program() const { return classes.empty(); }
  [[nodiscard]] ToolResult analyze(const Profile& profile, const KernelProfile* kernel,
                                   const Thresholds& limits = {}) const {
    return look(profile, kernel, limits);
  }
};

// All of them, in the order of docs/diagnose.md.
[[nodiscard]] const std::vector<Tool>& all_tools();

// Those for what runs on processors; all_tools() are for GPUs.
[[nodiscard]] const std::vector<Tool>& host_tools();

}  // namespace kernelpro
