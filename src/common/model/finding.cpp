#include "common/model/finding.hpp"

#include <algorithm>
#include <tuple>

#include "common/model/enum_names.hpp"

namespace kernelpro {

namespace {

constexpr std::array<std::string_view, 9> class_names = {
    "unknown", "dram", "l2", "l1", "tensor", "alu", "latency", "tail", "launch"};
static_assert(class_names.size() == static_cast<std::size_t>(KernelClass::launch) + 1);

constexpr std::array<std::string_view, 3> severity_names = {"low", "medium", "high"};
static_assert(severity_names.size() == static_cast<std::size_t>(Severity::high) + 1);

}  // namespace

void sort_by_gain(std::vector<Finding>& findings) {
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(b.predicted_gain, a.tool, a.kernel) <
           std::tie(a.predicted_gain, b.tool, b.kernel);
  });
}

std::string_view name_of(KernelClass kind) {
  return enum_name(class_names, kind);
}

std::string_view name_of(Severity severity) {
  return enum_name(severity_names, severity);
}

}  // namespace kernelpro
