#include "coordinator/html/roofline_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/model/figure_keys.hpp"
#include "common/model/work.hpp"
#include "coordinator/html/outcome_look.hpp"
#include "coordinator/report/diagnosis_parts.hpp"
#include "coordinator/report/speed_text.hpp"
#include "coordinator/report/table.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro::html {

namespace {

constexpr double nanoseconds = 1e9;  // in a second
constexpr std::size_t longest_name = 22;
// Whoever moves next to nothing has no place on the axis: it stands where this many operations
// come on a byte.
constexpr double most_intensity = 1e5;

// All arithmetic that was measured, whichever precision it has.
std::vector<ArithmeticRoof> roofs_in(const Ceilings& ceilings, const std::string& main) {
  std::vector<ArithmeticRoof> roofs;
  for (const char* const type : {"f64", "f32", "f16"}) {
    roofs.push_back({type, best_flops(ceilings, type), type == main});
  }
  for (const char* const type : {"f64", "tf32", "f16", "bf16"}) {
    roofs.push_back({std::string("tensor ") + type, best_tensor_flops(ceilings, type), false});
  }
  std::erase_if(roofs, [](const ArithmeticRoof& roof) { return roof.flops <= 0; });
  return roofs;
}

const ShapeTiming* timing_at(const Certificate& certificate, const Axes& shape) {
  const std::vector<ShapeTiming>& shapes = certificate.verdict.timing.shapes;
  const auto found = std::ranges::find(shapes, shape, &ShapeTiming::shape);
  return found == shapes.end() || found->candidate_ns <= 0 ? nullptr : &*found;
}

RooflineMark step_mark(const PathStep& step, const ShapeTiming& timing, const Work& work) {
  const std::string move = step.node.id == root_node ? "baseline" : step.node.move;
  RooflineMark mark;
  mark.intensity = work.flops / work.bytes;
  mark.flops = work.flops * nanoseconds / timing.candidate_ns;
  mark.name = shortened(fmt::format("{} {}", step.node.id, move), longest_name);
  mark.title = fmt::format("node {}, {}: {} a call, {} of its bound, {}", step.node.id, move,
                           duration_text(timing.candidate_ns), share_words(timing.share_of_bound),
                           short_fate(step.node));
  return mark;
}

std::optional<NamedPlot> plot_at(const std::vector<PathStep>& path, const Axes& shape) {
  const Certificate& last = path.back().certificate;
  const Result<Axes> axes = complete_axes(last.task, shape);
  const Work work = axes ? work_at(last.task, *axes) : Work();
  if (work.flops <= 0 || work.bytes <= 0) {
    return std::nullopt;
  }
  NamedPlot named;
  named.name = axes_text(shape);
  named.plot.path = true;
  named.plot.bandwidth = bandwidth_at(last.ceilings, work.written_share);
  named.plot.roofs =
      roofs_in(last.ceilings, contract_type(last.task) == DType::f64 ? "f64" : "f32");
  for (const PathStep& step : path) {
    if (const ShapeTiming* timing = timing_at(step.certificate, shape)) {
      named.plot.marks.push_back(step_mark(step, *timing, work));
    }
  }
  if (named.plot.marks.empty()) {
    return std::nullopt;
  }
  named.plot.marks.back().best = true;
  return named;
}

struct Rate {
  double flops = 0;  // a second
  double bytes = 0;  // a second
};

// Whether the machine code has matrix instructions; true where it is not known.
bool may_use_tensor_cores(const KernelProfile& kernel) {
  if (!kernel.code) {
    return true;
  }
  return std::ranges::any_of(kernel.code->mix, [](const auto& kind) {
    return kind.first.ends_with("mma") && kind.second > 0;
  });
}

// What the units of a kernel did, by how far they were used.
double flops_by_use(const Profile& profile, const KernelProfile& kernel) {
  const Ceilings& ceilings = profile.ceilings;
  const auto use = [&](const char* key) { return kernel.figure(key).value_or(0); };
  return use(figure::fma_use) * best_flops(ceilings, "f32") +
         use(figure::fp64_use) * best_flops(ceilings, "f64") +
         (may_use_tensor_cores(kernel)
              ? use(figure::tensor_use) * best_tensor_flops(ceilings, "f16")
              : 0);
}

std::optional<double> counted_bytes(const KernelProfile& kernel) {
  const auto read = kernel.figure(figure::dram_read_bytes);
  const auto written = kernel.figure(figure::dram_write_bytes);
  return read && written ? std::optional(*read + *written) : std::nullopt;
}

// The task's work belongs to the one kernel that there is.
bool is_declared(const Profile& profile) {
  return profile.work && profile.kernels.size() == 1 && profile.work->flops > 0;
}

Rate rate_of(const Profile& profile, const KernelProfile& kernel) {
  const double time = kernel.figure(figure::duration_ns).value_or(kernel.duration_ns);
  if (time <= 0) {
    return {};
  }
  const double launches = profile.work ? std::max(kernel.launches, 1) /
                                             static_cast<double>(std::max(profile.work->calls, 1))
                                       : 1;
  Rate rate;
  rate.flops = is_declared(profile) ? profile.work->flops / launches * nanoseconds / time
                                    : flops_by_use(profile, kernel);
  if (const auto bytes = counted_bytes(kernel)) {
    rate.bytes = *bytes * nanoseconds / time;
  } else if (is_declared(profile)) {
    rate.bytes =
        (profile.work->read_bytes + profile.work->write_bytes) / launches * nanoseconds / time;
  }
  return rate;
}

std::optional<RooflineMark> kernel_mark(const Profile& profile, const KernelProfile& kernel) {
  const Rate rate = rate_of(profile, kernel);
  if (rate.flops <= 0 || (rate.bytes <= 0 && !counted_bytes(kernel))) {
    return std::nullopt;
  }
  RooflineMark mark;
  mark.intensity =
      rate.bytes > 0 ? std::min(rate.flops / rate.bytes, most_intensity) : most_intensity;
  mark.flops = rate.flops;
  mark.name = short_kernel_name(kernel.name, longest_name);
  mark.title = fmt::format("{}: {:.3g} GFLOP/s, {:.3g} GB/s", kernel.name, rate.flops / 1e9,
                           rate.bytes / 1e9);
  return mark;
}

// Of the traffic that was counted, or declared.
double written_share(const Profile& profile) {
  const KernelProfile& main = profile.kernels.front();
  const auto bytes = counted_bytes(main);
  if (bytes) {
    return *bytes > 0 ? main.figure(figure::dram_write_bytes).value_or(0) / *bytes : 0;
  }
  const DeclaredWork work = profile.work.value_or(DeclaredWork());
  const double all = work.read_bytes + work.write_bytes;
  return all > 0 ? work.write_bytes / all : 0;
}

}  // namespace

std::vector<NamedPlot> rooflines_of(const std::vector<PathStep>& path) {
  std::vector<NamedPlot> plots;
  if (path.empty()) {
    return plots;
  }
  for (const ShapeTiming& timing : path.back().certificate.verdict.timing.shapes) {
    if (auto plot = plot_at(path, timing.shape)) {
      plot->note =
          "Operations and bytes are those that the task declares; a mark above the roof does with "
          "less, or uses faster units.";
      plots.push_back(std::move(*plot));
    }
  }
  return plots;
}

NamedPlot roofline_of(const Profile& profile) {
  NamedPlot named;
  if (profile.kernels.empty()) {
    return named;
  }
  const bool doubles = profile.work && profile.work->type == "f64";
  named.plot.bandwidth = bandwidth_at(profile.ceilings, written_share(profile));
  named.plot.roofs = roofs_in(profile.ceilings, doubles ? "f64" : "f32");
  for (const KernelProfile& kernel : profile.kernels) {
    if (auto mark = kernel_mark(profile, kernel)) {
      named.plot.marks.push_back(std::move(*mark));
    }
  }
  if (!named.plot.marks.empty()) {
    named.plot.marks.front().best = true;
  }
  named.note = std::string(is_declared(profile)
                               ? "Operations are those that the task declares"
                               : "Operations are what the use of the arithmetic units comes to, "
                                 "each taken as a multiply-add; tensor cores are counted in f16") +
               (counted_bytes(profile.kernels.front()) ? "; bytes were counted."
                                                       : "; bytes are declared too.");
  return named;
}

}  // namespace kernelpro::html
