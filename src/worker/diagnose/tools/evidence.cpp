#include "worker/diagnose/tools/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kernelpro {

namespace {

constexpr char no_kernel[] = "no kernel was profiled";

Severity severity_of(double gain, const Thresholds& limits) {
  if (gain >= limits.high_gain) {
    return Severity::high;
  }
  return gain >= limits.medium_gain ? Severity::medium : Severity::low;
}

}  // namespace

Evidence::Evidence(const Profile& profile, const KernelProfile* kernel, const Thresholds& limits)
    : profile_(profile), kernel_(kernel), limits_(limits) {
  if (kernel_ == nullptr) {
    missing(no_kernel);
  }
}

void Evidence::missing(std::string what) {
  if (std::find(missing_.begin(), missing_.end(), what) == missing_.end()) {
    missing_.push_back(std::move(what));
  }
}

double Evidence::figure(const char* key) {
  if (kernel_ == nullptr) {
    return 0;
  }
  const auto value = kernel_->figure(key);
  if (value && std::isfinite(*value) && *value >= 0) {
    return *value;
  }
  const auto why = kernel_->missing.find(key);
  if (value) {
    missing(fmt::format("{} is {}, which cannot be", key, *value));
  } else if (why != kernel_->missing.end()) {
    missing(fmt::format("no {} ({})", key, why->second));
  } else if (!profile_.counters.empty()) {
    missing(fmt::format("no {} ({})", key, profile_.counters));
  } else {
    missing(fmt::format("no {} (it was not measured)", key));
  }
  return 0;
}

double Evidence::limit(const char* name) {
  const std::optional<double> known = profile_.limit(name);
  if (!known) {
    missing(fmt::format("not known how many {} the GPU has", name));
  }
  return known.value_or(0);
}

double Evidence::stalled(std::initializer_list<std::string_view> reasons) {
  if (kernel_ == nullptr) {
    return 0;
  }
  double all = 0;
  double ours = 0;
  for (const auto& [reason, samples] : kernel_->stalls) {
    all += samples;
    if (std::find(reasons.begin(), reasons.end(), reason) != reasons.end()) {
      ours += samples;
    }
  }
  if (!(all >= limits_.least_samples)) {
    missing(
        fmt::format("{:.0f} samples of warps, and {:.0f} are needed", all, limits_.least_samples));
    return 0;
  }
  return ours / all;
}

Roofs Evidence::roofs() {
  if (kernel_ == nullptr) {
    return {};
  }
  for (const std::string& key : needed_roof_figures()) {
    figure(key.c_str());
  }
  return roofs_of(profile_, *kernel_, limits_);
}

const CodeFacts& Evidence::code() {
  static const CodeFacts none;
  if (kernel_ == nullptr) {
    return none;
  }
  if (!kernel_->code) {
    missing("no machine code");
    return none;
  }
  if (!kernel_->code->counted) {
    missing("no counts at the instructions");
  }
  return *kernel_->code;
}

ToolResult finding_if_worth(Finding finding, const Gain& gain, const Evidence& evidence) {
  const KernelProfile& kernel = evidence.kernel();
  const double total = program_gain(gain.kernel, kernel.share);
  const Thresholds& limits = evidence.limits();
  if (!(gain.kernel >= limits.least_kernel_gain) || !(total >= limits.least_program_gain)) {
    return {};
  }
  finding.kernel = kernel.name;
  finding.severity = severity_of(total, limits);
  finding.predicted_gain = total;
  finding.derivation += (finding.derivation.empty() ? "" : "; ") + gain.text;
  if (kernel.share < 1) {
    finding.derivation +=
        fmt::format("; the kernel takes {:.0f} % of all kernels' time: {:.2f} for the program",
                    100 * kernel.share, total);
  }
  return {{std::move(finding)}, {}};
}

ToolResult program_finding_if_worth(Finding finding, double gain, const Thresholds& limits) {
  if (!(gain >= limits.least_kernel_gain)) {
    return {};
  }
  finding.severity = severity_of(gain, limits);
  finding.predicted_gain = gain;
  return {{std::move(finding)}, {}};
}

std::vector<std::string> roof_figures_and(std::initializer_list<const char*> own) {
  std::vector<std::string> keys = needed_roof_figures();
  const std::vector<std::string>& further = further_roof_figures();
  keys.insert(keys.end(), further.begin(), further.end());
  for (const char* key : own) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      keys.emplace_back(key);
    }
  }
  return keys;
}

}  // namespace kernelpro
