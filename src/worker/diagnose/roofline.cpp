#include "worker/diagnose/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "common/model/figure_keys.hpp"
#include "common/model/timeline.hpp"
#include "worker/diagnose/tools/late_gaps.hpp"
#include "worker/diagnose/tools/roofs.hpp"

namespace kernelpro {

namespace {

struct Roof {
  RoofUse use;
  KernelClass kind = KernelClass::unknown;
};

void add(std::vector<Roof>& roofs, KernelClass kind, const char* name, double share,
         std::string text) {
  if (std::isfinite(share) && share >= 0) {
    roofs.push_back({{name, share, std::move(text)}, kind});
  }
}

// DRAM and L2, over the time until the last multiprocessor was done.
void add_traffic_roofs(const Profile& profile, const KernelProfile& kernel,
                       std::vector<Roof>& roofs) {
  auto time = kernel.figure(figure::duration_ns);
  if (time) {
    *time *= active_share(kernel).most;
  }
  const auto read = kernel.figure(figure::dram_read_bytes);
  const auto written = kernel.figure(figure::dram_write_bytes);
  if (time && *time > 0 && read && written) {
    const double bytes = *read + *written;
    const double roof = bandwidth_at(profile.ceilings, bytes > 0 ? *written / bytes : 0);
    if (roof > 0) {
      add(roofs, KernelClass::dram, "dram", bytes / *time / (roof / 1e9),
          fmt::format("{:.0f} of {:.0f} GB/s measured", bytes / *time, roof / 1e9));
    }
  }
  if (std::none_of(roofs.begin(), roofs.end(),
                   [](const Roof& roof) { return roof.use.roof == "dram"; })) {
    if (const auto use = kernel.figure(figure::dram_use)) {
      add(roofs, KernelClass::dram, "dram", *use, fmt::format("{:.0f} % of its peak", 100 * *use));
    }
  }
  const auto l2 = kernel.figure(figure::l2_use);
  const Ceiling* measured = find_ceiling(profile.ceilings, "l2_read", 0);
  const auto l2_bytes = kernel.figure(figure::l2_bytes);
  if (l2 && measured != nullptr && measured->high > 0 && l2_bytes && time && *time > 0) {
    const double rate = *l2_bytes / *time;  // bytes per ns: GB/s
    add(roofs, KernelClass::l2, "l2", std::max(*l2, std::min(rate / measured->high, 1.0)),
        fmt::format("{:.0f} of {:.0f} GB/s measured", rate, measured->high));
  } else if (l2) {
    add(roofs, KernelClass::l2, "l2", *l2, fmt::format("{:.0f} % of its peak", 100 * *l2));
  }
}

// A unit of the multiprocessors, over the time that these have work.
void add_unit_roof(const KernelProfile& kernel, const char* key, const char* name, KernelClass kind,
                   std::vector<Roof>& roofs) {
  if (const auto use = kernel.figure(key)) {
    const double active = std::min(1.0, *use / active_share(kernel).mean);
    add(roofs, kind, name, active, fmt::format("{:.0f} % of its peak", 100 * active));
  }
}

std::vector<Roof> roofs_of(const Profile& profile, const KernelProfile& kernel) {
  std::vector<Roof> roofs;
  add_traffic_roofs(profile, kernel, roofs);
  add_unit_roof(kernel, figure::l1_use, "l1", KernelClass::l1, roofs);
  add_unit_roof(kernel, figure::lsu_use, "load/store", KernelClass::l1, roofs);
  add_unit_roof(kernel, figure::tensor_use, "tensor", KernelClass::tensor, roofs);
  add_unit_roof(kernel, figure::issue_use, "issue", KernelClass::alu, roofs);
  add_unit_roof(kernel, figure::fma_use, "fp32", KernelClass::alu, roofs);
  add_unit_roof(kernel, figure::alu_use, "integer", KernelClass::alu, roofs);
  add_unit_roof(kernel, figure::special_use, "special", KernelClass::alu, roofs);
  add_unit_roof(kernel, figure::fp64_use, "fp64", KernelClass::alu, roofs);
  add_unit_roof(kernel, figure::atomic_use, "l2 atomics", KernelClass::l2, roofs);
  std::sort(roofs.begin(), roofs.end(), [](const Roof& a, const Roof& b) {
    return std::tie(b.use.share, a.use.roof) < std::tie(a.use.share, b.use.roof);
  });
  return roofs;
}

// How long a multiprocessor has work on average, over the one that has it longest.
std::optional<double> busy_share(const KernelProfile& kernel) {
  const auto mean = kernel.figure(figure::sm_active_mean);
  const auto most = kernel.figure(figure::sm_active_most);
  if (!mean || !most || *most <= 0) {
    return std::nullopt;
  }
  return std::min(*mean / *most, 1.0);
}

// Without counters: what the declared bytes and operations would take at least.
void classify_by_work(const Profile& profile, const KernelProfile& kernel,
                      const RooflineLimits& limits, KernelDiagnosis& out) {
  out.kind = KernelClass::unknown;
  out.reason = "there are no counters and no declared work to hold the time against";
  if (!profile.work || kernel.duration_ns <= 0 || kernel.share <= 0) {
    return;
  }
  const DeclaredWork& work = *profile.work;
  const double bytes = work.read_bytes + work.write_bytes;
  const double roof = bandwidth_at(profile.ceilings, bytes > 0 ? work.write_bytes / bytes : 0);
  const double whole_ns =
      kernel.duration_ns * std::max(kernel.launches, 1) / kernel.share / std::max(work.calls, 1);
  const double dram = roof > 0 ? bytes / (roof / 1e9) / whole_ns : 0;
  out.roofs.push_back(
      {"dram", dram, fmt::format("{:.0f} GB/s by the declared bytes", bytes / whole_ns)});
  // Below that any class but this one is possible.
  out.kind = dram >= limits.full ? KernelClass::dram : KernelClass::unknown;
  out.confidence = dram >= limits.full ? 0.8 : 0;
  out.reason =
      fmt::format("the declared bytes alone take {:.0f} % of the time; no counters", 100 * dram);
}

struct Waits {
  double share = 0;      // of the GPU's time, set-up left out
  double set_up_ns = 0;  // modules loaded and libraries started in front of first launches
};

// Of the time from the GPU's first to its last work: gaps in which it had not been asked for more,
// less what tracing adds to each, and copies of the host's memory beside which no kernel ran.
Waits waits_in(const Trace& trace) {
  const GpuTime time = gpu_time(trace);
  const Thresholds limits;
  const double tracing = tracing_of_a_call(trace, limits);
  auto waits = static_cast<double>(time.exposed_copy_ns);
  auto span = static_cast<double>(time.span_ns);
  Waits out;
  for (const LateGap& gap : time.late) {
    const auto length = static_cast<double>(gap.length());
    if (gap.before_first && length > limits.longest_launch_gap_ns) {
      out.set_up_ns += length;
      span -= length;
      continue;
    }
    waits += std::max(0.0, length - tracing);
    span -= std::min(length, tracing);
  }
  out.share = span > 0 ? waits / span : 0;
  return out;
}

std::string set_up_text(double set_up_ns) {
  return set_up_ns > 0 ? fmt::format("; {:.1f} ms in front of first launches are taken as set-up",
                                     set_up_ns / 1e6)
                       : "";
}

// The declared work and the counters disagree: that comes first.
std::string disagreement(const Profile& profile, const KernelProfile& kernel,
                         const RooflineLimits& limits) {
  const auto read = kernel.figure(figure::dram_read_bytes);
  const auto written = kernel.figure(figure::dram_write_bytes);
  if (!profile.work || !read || !written || profile.kernels.size() != 1) {
    return "";
  }
  const double declared = profile.work->read_bytes + profile.work->write_bytes;
  const double moved =
      (*read + *written) * std::max(kernel.launches, 1) / std::max(profile.work->calls, 1);
  if (declared <= 0 || moved / declared < limits.disagreement) {
    return "";
  }
  return fmt::format("; it moves {:.1f} times the bytes that the task needs", moved / declared);
}

}  // namespace

std::set<std::string> roofline_figures() {
  return {figure::duration_ns,    figure::dram_read_bytes, figure::dram_write_bytes,
          figure::dram_use,       figure::l2_use,          figure::l2_bytes,
          figure::l1_use,         figure::lsu_use,         figure::tensor_use,
          figure::issue_use,      figure::fma_use,         figure::alu_use,
          figure::special_use,    figure::fp64_use,        figure::atomic_use,
          figure::sm_active_mean, figure::sm_active_most,  figure::sm_elapsed};
}

KernelDiagnosis classify(const Profile& profile, const KernelProfile& kernel,
                         const RooflineLimits& limits) {
  KernelDiagnosis out;
  out.kernel = kernel.name;
  out.share = kernel.share;
  const std::vector<Roof> roofs = roofs_of(profile, kernel);
  for (const Roof& roof : roofs) {
    out.roofs.push_back(roof.use);
  }
  if (roofs.empty()) {
    classify_by_work(profile, kernel, limits, out);
    return out;
  }
  const Roof& top = roofs.front();
  const std::optional<double> busy = busy_share(kernel);
  // Idle multiprocessors cost more than what is left below the fullest roof.
  if (busy && *busy < limits.busy && *busy < std::max(top.use.share, limits.full)) {
    out.kind = KernelClass::tail;
    out.confidence = std::clamp((limits.busy - *busy) / limits.busy + 0.5, 0.0, 1.0);
    out.reason = fmt::format(
        "the average multiprocessor has work for {:.0f} % of the time of the busiest", 100 * *busy);
  } else if (top.use.share >= limits.full) {
    out.kind = top.kind;
    out.confidence = std::clamp(0.5 + (top.use.share - limits.full), 0.0, 1.0);
    out.reason =
        fmt::format("{} is used by {:.0f} % ({})", top.use.roof, 100 * top.use.share, top.use.text);
  } else {
    out.kind = KernelClass::latency;
    out.confidence = std::clamp(0.5 + (limits.full - top.use.share), 0.0, 1.0);
    out.reason = fmt::format("nothing is used up: the fullest roof is {} with {:.0f} %",
                             top.use.roof, 100 * top.use.share);
  }
  out.reason += disagreement(profile, kernel, limits);
  return out;
}

ProgramClass classify_program(const Profile& profile, const std::vector<KernelDiagnosis>& kernels,
                              const RooflineLimits& limits) {
  Waits waits;
  if (profile.trace && !profile.trace->launches.empty()) {
    waits = waits_in(*profile.trace);
  }
  const std::string set_up = set_up_text(waits.set_up_ns);
  if (waits.share > 1 - limits.gpu_busy) {
    return {KernelClass::launch, fmt::format("kernels wait for the host for {:.0f} % of the GPU's "
                                             "time{}",
                                             100 * waits.share, set_up)};
  }
  if (kernels.empty()) {
    return {KernelClass::unknown, "no kernel was profiled"};
  }
  return {kernels.front().kind, kernels.front().reason + set_up};
}

std::vector<KernelClass> possible_classes(const Profile& profile, const RooflineLimits& limits) {
  if (!profile.work || !profile.trace || profile.trace->launches.empty()) {
    return {};
  }
  const Timeline timeline = make_timeline(*profile.trace);
  const DeclaredWork& work = *profile.work;
  const double bytes = work.read_bytes + work.write_bytes;
  const double roof = bandwidth_at(profile.ceilings, bytes > 0 ? work.write_bytes / bytes : 0);
  if (roof <= 0 || timeline.busy_ns <= 0) {
    return {};
  }
  const double least_ns = bytes * std::max(work.calls, 1) / (roof / 1e9);
  if (least_ns / static_cast<double>(timeline.busy_ns) >= limits.full) {
    return {KernelClass::dram};
  }
  return {};
}

}  // namespace kernelpro
