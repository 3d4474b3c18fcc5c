#include "worker/judge/tracing.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "common/base/chacha.hpp"
#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/statistics.hpp"

namespace kernelpro {

double own_share(const runner::Trace& trace, const BuildRecord& build) {
  std::set<std::uint64_t> own;
  for (const KernelResources& kernel : build.kernels) {
    own.insert(runner::name_hash(kernel.kernel.c_str()));
  }
  double ours = 0;
  double all = 0;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(trace.count, runner::max_traced); ++i) {
    const auto ns = static_cast<double>(std::max<std::int64_t>(trace.kernels[i].ns, 0));
    ours += own.contains(trace.kernels[i].name) ? ns : 0;
    all += ns;
  }
  return all > 0 ? ours / all : 0;
}

bool has_short_call(const std::vector<ShapeTiming>& shapes) {
  constexpr double short_ns = 20e3;
  return std::ranges::any_of(
      shapes, [](double call_ns) { return call_ns < short_ns; }, &ShapeTiming::candidate_ns);
}

Status trace_calls(Arm& arm, const BuildRecord& build, Rounds& rounds, const Key& key,
                   std::int64_t timeout_ms, ShapeTiming& timing) {
  constexpr int warm_up = 2;
  constexpr int calls = 5;
  const ShapeBuffers& buffers = rounds.buffers();
  if (const auto failure =
          arm.attach(buffers.plan(), *buffers.memory, Side::candidate, timeout_ms)) {
    return make_error(ErrorKind::lost, failure->summary);
  }
  std::vector<double> spans;
  std::vector<double> shares;
  int launches = 0;
  for (int i = 0; i < warm_up + calls; ++i) {
    KP_LET(const runner::Trace trace,
           rounds.trace(arm, derive(key, static_cast<std::uint64_t>(i)), timeout_ms));
    if (i >= warm_up) {
      spans.push_back(static_cast<double>(std::max<std::int64_t>(trace.span_ns, 0)));
      shares.push_back(own_share(trace, build));
      launches = static_cast<int>(std::min<std::uint32_t>(trace.launches, 1U << 30U));
    }
  }
  timing.launches = launches;
  timing.gpu_ns = median(spans);
  timing.launch_ns = std::max(timing.candidate_ns - timing.gpu_ns, 0.0);
  timing.own_share = median(shares);
  return {};
}

Status trace_shapes(Arm& arm, const BuildRecord& build,
                    const std::vector<std::unique_ptr<Rounds>>& rounds, const Key& master,
                    std::int64_t timeout_ms, std::vector<ShapeTiming>& shapes) {
  if (const auto failure = arm.load(timeout_ms)) {
    return make_error(ErrorKind::lost, failure->summary);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    KP_TRY(trace_calls(arm, build, *rounds[i], derive(master, trace_shape_purpose, i), timeout_ms,
                       shapes[i]));
  }
  return {};
}

}  // namespace kernelpro
