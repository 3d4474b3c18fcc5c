// Fences, volatile and polling in loops.
//
// A fence waits until everything that was stored before is seen by all; a volatile or acquiring
// load goes past L1 each time; an atomic that changes nothing is a slow load; a loop that polls
// takes turns from those it waits for. Atomics that queue for an address are contended_atomics'.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

struct Order {
  double fences = 0;  // of the time: in fences
  double loads = 0;   // in waits that a plain load would not have
  double polls = 0;   // in loops that only look, and in barriers behind them
  std::vector<SourcePlace> places;

  [[nodiscard]] double all() const { return std::min(1.0, fences + loads + polls); }
};

bool is_plain_or_atomic(const MemoryInstruction& access) {
  return is_far(access) && is_one_of(access.access, {Access::load, Access::atomic});
}

// The lines of what takes most of the time first, each once; of one pattern in its own order.
std::vector<SourcePlace> order_places(
    std::initializer_list<std::pair<double, const CodePattern*>> found) {
  Weighed weighed;
  for (const auto& [share, pattern] : found) {
    double rank = 0;
    for (const SourcePlace& place : pattern->places) {
      weighed.emplace_back(share / ++rank, place);
    }
  }
  return top_places(weighed);
}

Order order_of(const KernelProfile& kernel, const CodeFacts& code, Evidence& evidence) {
  const Thresholds& limits = evidence.limits();
  const CodePattern fence = pattern(code, "fence");
  const CodePattern fresh = pattern(code, "fresh_load");
  const CodePattern atomic = pattern(code, "atomic_load");
  const CodePattern spin = pattern(code, "spin");
  Order order;
  order.fences = std::max(sample_share(kernel, fence.samples),
                          fence.begun > 0 ? evidence.stalled({"membar"}) : 0);
  const double waits = evidence.stalled({"long_scoreboard", "lg_throttle"});
  const double asked = std::max(1.0, requests(code, is_plain_or_atomic));
  const double by_loads = fresh.begun * limits.fresh_load_saved;
  const double by_atomics = atomic.begun * limits.atomic_load_saved;
  const double by_fresh = by_loads / std::max(1.0, by_loads + by_atomics);
  order.loads = waits * std::min(1.0, (by_loads + by_atomics) / asked);
  order.polls = polling_share(kernel, code);
  order.places = order_places({{order.fences, &fence},
                               {order.polls, &spin},
                               {order.loads * by_fresh, &fresh},
                               {order.loads * (1 - by_fresh), &atomic}});
  return order;
}

Finding finding_for_order(const Order& order, const Thresholds& limits) {
  Finding finding;
  finding.tool = "memory_fences";
  finding.observed = order.all();
  finding.threshold = limits.order_share;
  finding.unit = "of the time";
  finding.title = fmt::format("Fences, loads past the caches and polling take {:.0f} % of the time",
                              100 * order.all());
  finding.why = "one fence or look at a flag in a block takes less";
  finding.cause =
      "Memory is put in order, or asked anew, in each turn of a loop, although the others look at "
      "it later or not at all.";
  finding.moves = {
      "one fence behind all stores of a block, by one thread after __syncthreads()",
      "load into registers without volatile; where a flag is polled, only the flag is volatile",
      "read by a plain load what nobody changes during the kernel: atomicAdd(p, 0) is no load",
      "let one thread of a block poll, with __nanosleep(); or end the kernel where all must wait",
      "fewer_fences",
      "privatize_atomics"};
  finding.derivation = fmt::format(
      "{:.0f} % of samples lie at fences, {:.0f} % wait for loads past L1 and atomics that change "
      "nothing, {:.0f} % poll or wait for those who do",
      100 * order.fences, 100 * order.loads, 100 * order.polls);
  finding.places = order.places;
  return finding;
}

ToolResult look_for_memory_fences(const Profile& profile, const KernelProfile* kernel,
                                  const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const CodeFacts& code = evidence.code();
  need_patterns(code, evidence);
  need_samples(evidence);
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const Order order = order_of(*kernel, code, evidence);
  if (order.all() < limits.order_share) {
    return {};
  }
  Roofs relief;
  relief.l2 = relief.atomics = order.all();  // who polls or tries again asks L2 each time
  relief.issue = order.polls;
  return finding_if_worth(finding_for_order(order, limits),
                          gain_by_hiding(order.all(), loads, relief, limits), evidence);
}

}  // namespace

Tool memory_fences_tool() {
  return {"memory_fences",
          "Fences and polling",
          {KernelClass::latency, KernelClass::l2, KernelClass::l1, KernelClass::alu,
           KernelClass::dram, KernelClass::tail},
          roof_figures_and({}),
          look_for_memory_fences};
}

}  // namespace kernelpro
