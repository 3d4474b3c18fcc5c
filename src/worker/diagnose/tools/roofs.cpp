#include "worker/diagnose/tools/roofs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "common/model/figure_keys.hpp"

namespace kernelpro {

namespace {

double use(const KernelProfile& kernel, const char* key, double attainable) {
  return std::clamp(kernel.figure(key).value_or(0) / attainable, 0.0, 1.0);
}

// One block that ends at once, on one of some hundred multiprocessors.
constexpr double least_active = 1e-4;

double share_of(const std::optional<double>& part, const std::optional<double>& whole) {
  if (!part || !whole || !std::isfinite(*part) || !std::isfinite(*whole) || *part <= 0 ||
      *whole <= 0) {
    return 1;
  }
  return std::clamp(*part / *whole, least_active, 1.0);
}

// Against the bandwidth measured on this device for the same mix of reads and writes, where that is
// known.
double dram_load(const Profile& profile, const KernelProfile& kernel, double active,
                 const Thresholds& limits) {
  const auto read = kernel.figure(figure::dram_read_bytes);
  const auto written = kernel.figure(figure::dram_write_bytes);
  const auto time = kernel.figure(figure::duration_ns);
  const double bytes = read.value_or(0) + written.value_or(0);
  if (read && written && time && *time > 0 && bytes > 0) {
    const double bandwidth = bandwidth_at(profile.ceilings, *written / bytes);
    if (bandwidth > 0) {
      return std::clamp(bytes / (*time * active * 1e-9) / (bandwidth * limits.dram_reached), 0.0,
                        1.0);
    }
  }
  return use(kernel, figure::dram_use, limits.dram_attainable * active);
}

// L2 by its own counter, or by the bandwidth measured on this device where that says more.
double l2_load(const Profile& profile, const KernelProfile& kernel, double active,
               const Thresholds& limits) {
  const double counted = use(kernel, figure::l2_use, limits.l2_attainable * active);
  const auto bytes = kernel.figure(figure::l2_bytes);
  const auto time = kernel.figure(figure::duration_ns);
  const Ceiling* measured = find_ceiling(profile.ceilings, "l2_read", 0);
  if (!bytes || !time || *time <= 0 || measured == nullptr || measured->high <= 0) {
    return counted;
  }
  // Bytes a nanosecond are GB/s.
  return std::max(counted, std::clamp(*bytes / (*time * active) / measured->high, 0.0, 1.0));
}

struct Named {
  const char* name;
  double Roofs::* value;
};
constexpr std::array<Named, 9> all_roofs = {{{"DRAM", &Roofs::dram},
                                             {"L2", &Roofs::l2},
                                             {"L1 and shared memory", &Roofs::l1},
                                             {"the load/store units", &Roofs::lsu},
                                             {"issue slots", &Roofs::issue},
                                             {"tensor cores", &Roofs::tensor},
                                             {"an arithmetic pipe", &Roofs::pipes},
                                             {"the special function unit", &Roofs::special},
                                             {"atomics at L2", &Roofs::atomics}}};

// `active`: the share of the time that the units of a multiprocessor are held against.
Roofs roofs_over(const Profile& profile, const KernelProfile& kernel, double active,
                 const Thresholds& limits) {
  const double most = active_share(kernel).most;
  Roofs roofs;
  roofs.dram = dram_load(profile, kernel, most, limits);
  roofs.l2 = l2_load(profile, kernel, most, limits);
  roofs.atomics = use(kernel, figure::atomic_use, limits.atomic_attainable * most);
  roofs.l1 = use(kernel, figure::l1_use, limits.l1_attainable * active);
  roofs.lsu = use(kernel, figure::lsu_use, limits.pipe_attainable * active);
  roofs.issue = use(kernel, figure::issue_use, limits.issue_attainable * active);
  roofs.tensor = use(kernel, figure::tensor_use, limits.tensor_attainable * active);
  roofs.special = use(kernel, figure::special_use, limits.pipe_attainable * active);
  for (const char* key : {figure::fma_use, figure::alu_use, figure::fp64_use}) {
    roofs.pipes = std::max(roofs.pipes, use(kernel, key, limits.pipe_attainable * active));
  }
  return roofs;
}

}  // namespace

const std::vector<std::string>& needed_roof_figures() {
  static const std::vector<std::string> keys = {figure::dram_use, figure::l2_use, figure::l1_use,
                                                figure::issue_use};
  return keys;
}

const std::vector<std::string>& further_roof_figures() {
  static const std::vector<std::string> keys = {
      figure::duration_ns, figure::dram_read_bytes, figure::dram_write_bytes,
      figure::lsu_use,     figure::tensor_use,      figure::fma_use,
      figure::alu_use,     figure::special_use,     figure::fp64_use,
      figure::l2_bytes,    figure::atomic_use,      figure::sm_active_mean,
      figure::sm_elapsed,  figure::sm_active_most};
  return keys;
}

ActiveShare active_share(const KernelProfile& kernel) {
  const auto elapsed = kernel.figure(figure::sm_elapsed);
  return {share_of(kernel.figure(figure::sm_active_mean), elapsed),
          share_of(kernel.figure(figure::sm_active_most), elapsed)};
}

Roofs roofs_of(const Profile& profile, const KernelProfile& kernel, const Thresholds& limits) {
  return roofs_over(profile, kernel, active_share(kernel).mean, limits);
}

Roofs balanced_roofs_of(const Profile& profile, const KernelProfile& kernel,
                        const Thresholds& limits) {
  return roofs_over(profile, kernel, 1, limits);
}

FullestRoof fullest_after(const Roofs& loads, const Roofs& relief) {
  FullestRoof fullest;
  for (const Named& roof : all_roofs) {
    const double left = loads.*roof.value * (1 - relief.*roof.value);
    if (left > fullest.load) {
      fullest = {left, roof.name};
    }
  }
  return fullest;
}

double relief_of(double needed_bytes, double moved_bytes) {
  return moved_bytes > 0 ? std::clamp(1 - needed_bytes / moved_bytes, 0.0, 1.0) : 0;
}

Roofs scaled(const Roofs& loads, double factor) {
  Roofs out = loads;
  for (const Named& roof : all_roofs) {
    out.*roof.value = std::min(1.0, out.*roof.value * factor);
  }
  return out;
}

double saved_at_full_roofs(const Roofs& loads, const Roofs& relief, double full) {
  double saved = 0;
  for (const Named& roof : all_roofs) {
    if (loads.*roof.value >= full) {
      saved = std::max(saved, loads.*roof.value * relief.*roof.value);
    }
  }
  return saved;
}

}  // namespace kernelpro
