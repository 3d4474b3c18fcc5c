// What a tool asks of a profile. What is missing is noted, so that the tool can say all of it at
// once; it then finds nothing.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "worker/diagnose/tools/gain.hpp"
#include "worker/diagnose/tools/tool.hpp"

namespace kernelpro {

class Evidence {
 public:
  // `kernel` may be null: then everything is missing.
  Evidence(const Profile& profile, const KernelProfile* kernel, const Thresholds& limits);

  // Zero where it is missing.
  double figure(const char* key);
  // Of the GPU, by its name in Profile::limits. Zero where it is missing.
  double limit(const char* name);
  // The share of all samples with one of these reasons.
  double stalled(std::initializer_list<std::string_view> reasons);
  Roofs roofs();
  // Machine code whose amounts were counted; empty where there is none.
  const CodeFacts& code();
  void missing(std::string what);

  [[nodiscard]] bool complete() const { return missing_.empty(); }
  [[nodiscard]] ToolResult lacking() const { return {{}, missing_}; }
  // Only after something was asked and `complete`.
  [[nodiscard]] const KernelProfile& kernel() const { return *kernel_; }
  [[nodiscard]] const Thresholds& limits() const { return limits_; }

 private:
  const Profile& profile_;
  const KernelProfile* kernel_;
  const Thresholds& limits_;
  std::vector<std::string> missing_;
};

// The finding with its gain, where that is enough; nothing otherwise.
[[nodiscard]] ToolResult finding_if_worth(Finding finding, const Gain& gain,
                                          const Evidence& evidence);
// Of the whole program, by its factor.
[[nodiscard]] ToolResult program_finding_if_worth(Finding finding, double gain,
                                                  const Thresholds& limits);

// The kernel's figures for the roofs and `own`.
[[nodiscard]] std::vector<std::string> roof_figures_and(std::initializer_list<const char*> own);

}  // namespace kernelpro
