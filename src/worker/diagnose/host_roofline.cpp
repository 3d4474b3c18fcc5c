#include "worker/diagnose/host_roofline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/sort.hpp"
#include "worker/diagnose/tools/host_loops.hpp"

namespace kernelpro {

namespace {

void add_roof(KernelDiagnosis& out, const char* name, double share, std::string text) {
  out.roofs.push_back({name, share, std::move(text)});
}

void add_roofs(const Profile& profile, KernelDiagnosis& out) {
  if (!profile.work || profile.host->call_ns <= 0) {
    return;
  }
  const DeclaredWork& work = *profile.work;
  const double bytes = work.read_bytes + work.write_bytes;
  const double call_ns = profile.host->call_ns;
  add_roof(out, "dram", least_memory_share(profile),
           fmt::format("{:.1f} GB/s by the declared bytes", bytes / call_ns));
  if (const double peak = best_flops(profile.ceilings, work.type); peak > 0 && work.flops > 0) {
    add_roof(out, "fma", work.flops / (peak / 1e9) / call_ns,
             fmt::format("{:.1f} of {:.1f} GFLOP/s", work.flops / call_ns, peak / 1e9));
  }
}

// How far units are used in the hottest loop, where its turns were counted.
void add_units(const KernelProfile& kernel, KernelDiagnosis& out) {
  if (kernel.loops.empty()) {
    return;
  }
  const HostLoop& loop = kernel.loops.front();
  if (loop.cycles && loop.unit_cycles && *loop.cycles > 0) {
    add_roof(out, "units", std::min(1.0, *loop.unit_cycles / *loop.cycles),
             fmt::format("{:.1f} of {:.1f} cycles a turn of the hottest loop", *loop.unit_cycles,
                         *loop.cycles));
  }
}

}  // namespace

KernelDiagnosis classify_on_host(const Profile& profile, const KernelProfile& kernel,
                                 const RooflineLimits& limits) {
  KernelDiagnosis out;
  out.kernel = kernel.name;
  out.share = kernel.share;
  add_roofs(profile, out);
  add_units(kernel, out);
  sort_keeping_ties(out.roofs,
                    [](const RoofUse& a, const RoofUse& b) { return a.share > b.share; });
  const std::optional<double> busy = thread_efficiency(*profile.host, {});
  if (busy && *busy < limits.full && profile.host->threads.size() > 1) {
    out.kind = KernelClass::tail;
    out.confidence = std::clamp(limits.full - *busy + 0.5, 0.0, 1.0);
    out.reason =
        fmt::format("{} processors are used by {:.0f} %", profile.host->processors, 100 * *busy);
    return out;
  }
  if (out.roofs.empty()) {
    out.reason = "no task says what has to be done, and no turns were counted";
    return out;
  }
  const RoofUse& top = out.roofs.front();
  if (top.share >= limits.full) {
    out.kind = top.roof == "dram" ? KernelClass::dram : KernelClass::alu;
    out.confidence = std::clamp(0.5 + (top.share - limits.full), 0.0, 1.0);
    out.reason = fmt::format("{} is used by {:.0f} % ({})", top.roof, 100 * top.share, top.text);
    return out;
  }
  out.kind = KernelClass::latency;
  out.confidence = std::clamp(0.5 + (limits.full - top.share), 0.0, 1.0);
  out.reason = fmt::format("nothing is used up: the fullest roof is {} with {:.0f} %", top.roof,
                           100 * top.share);
  return out;
}

}  // namespace kernelpro
