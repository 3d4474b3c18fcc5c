#include "worker/diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "worker/diagnose/host_roofline.hpp"
#include "worker/diagnose/tools/tool.hpp"

namespace kernelpro {

namespace {

void take(ToolResult result, const Tool& tool, std::vector<Finding>& findings,
          std::vector<std::string>& not_available) {
  std::move(result.findings.begin(), result.findings.end(), std::back_inserter(findings));
  for (const std::string& missing : result.not_available) {
    not_available.push_back(tool.id + ": " + missing);
  }
}

const std::vector<Tool>& tools_for(const Profile& profile) {
  return profile.host ? host_tools() : all_tools();
}

bool serves(const Tool& tool, KernelClass kind) {
  return kind == KernelClass::unknown ||
         std::find(tool.classes.begin(), tool.classes.end(), kind) != tool.classes.end();
}

void run_tools(const Profile& profile, const KernelProfile& kernel, const DiagnoseOptions& options,
               KernelDiagnosis& diagnosis, std::vector<Finding>& findings) {
  for (const Tool& tool : tools_for(profile)) {
    if (tool.reads_program()) {
      continue;
    }
    if (!options.all_tools && !serves(tool, diagnosis.kind)) {
      diagnosis.skipped.push_back(
          {tool.id, fmt::format("the kernel's class is {}", name_of(diagnosis.kind))});
      continue;
    }
    take(tool.analyze(profile, &kernel), tool, findings, diagnosis.not_available);
  }
}

}  // namespace

DiagnosisReport diagnose(const Profile& profile, const DiagnoseOptions& options) {
  DiagnosisReport report;
  for (const KernelProfile& kernel : profile.kernels) {
    report.kernels.push_back(profile.host ? classify_on_host(profile, kernel, options.limits)
                                          : classify(profile, kernel, options.limits));
    run_tools(profile, kernel, options, report.kernels.back(), report.findings);
  }
  const ProgramClass program = classify_program(profile, report.kernels, options.limits);
  report.kind = program.kind;
  report.reason = program.reason;
  const KernelProfile* main_kernel = profile.kernels.empty() ? nullptr : &profile.kernels.front();
  if (main_kernel != nullptr) {
    for (const auto& [key, figure] : main_kernel->figures) {
      report.figures[key] = figure.value;
    }
  }
  std::vector<std::string> not_available;
  for (const Tool& tool : tools_for(profile)) {
    if (tool.reads_program()) {
      take(tool.analyze(profile, main_kernel), tool, report.findings, not_available);
    }
  }
  if (!report.kernels.empty()) {
    std::move(not_available.begin(), not_available.end(),
              std::back_inserter(report.kernels.front().not_available));
  }
  sort_by_gain(report.findings);
  return report;
}

}  // namespace kernelpro
