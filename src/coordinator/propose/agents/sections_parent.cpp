// The candidate that is to be improved or repaired.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "common/model/pasted_headers.hpp"
#include "common/model/work.hpp"
#include "coordinator/propose/agents/condense.hpp"
#include "coordinator/propose/agents/profile_text.hpp"
#include "coordinator/propose/agents/profile_tool.hpp"
#include "coordinator/propose/agents/sections.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

// How f32 products are made of products of parts on tensor cores, all of which keep f32's
// precision.
struct Split {
  const char* ceiling;
  const char* type;
  double products;  // for one
};

constexpr auto splits = std::to_array<Split>(
    {{"tensor_tf32", "tf32", 3}, {"tensor_f16", "f16", 3}, {"tensor_bf16", "bf16", 6}});

// The least time of such products at a shape, traffic included: "15.2 us as 3 of tf32".
std::vector<std::string> split_times(const AgentOrder& order, const Work& work, double flops) {
  const double bandwidth = bandwidth_at(order.ceilings, work.written_share);
  const double memory_ns = bandwidth > 0 ? 1e9 * work.bytes / bandwidth : 0;
  std::vector<std::string> out;
  for (const Split& split : splits) {
    const auto rate = std::ranges::find(order.ceilings.list, split.ceiling, &Ceiling::name);
    if (rate != order.ceilings.list.end() && rate->median > 0) {
      const double ns = std::max(split.products * flops / rate->median, memory_ns);  // GFLOP/s
      out.push_back(fmt::format("{} as {:g} of {}", duration_text(ns), split.products, split.type));
    }
  }
  return out;
}

// The roof of f32 products on tensor cores, which is another than that of f32 multiply-adds. Empty
// where products are not what takes the time.
std::string split_text(const AgentOrder& order) {
  const Task& task = order.run->task;
  if (contract_type(task) != DType::f32 ||
      !has_products(task, order.run->settings.judging.backend)) {
    return "";
  }
  std::string out;
  for (const ShapeTiming& shape : order.parent_tried.verdict->timing.shapes) {
    const Result<Axes> axes = complete_axes(task, shape.shape);
    if (!axes || shape.bound_by != "compute") {
      continue;
    }
    const Work work = work_at(task, *axes);
    const std::vector<std::string> times =
        split_times(order, work, task.reference.products.value_or(work.flops));
    if (!times.empty()) {
      out += fmt::format("- {}: {}\n", shape_text(task, shape.shape), fmt::join(times, ", "));
    }
  }
  return out.empty() ? ""
                     : "\nThat least time counts multiply-adds of f32. Products of operands split "
                       "for the tensor cores have a roof of their own, several products for one "
                       "(the traffic counted too), so the share can pass 100 %:\n\n" +
                           out;
}

std::string times_text(const AgentOrder& order) {
  if (!order.parent_tried.verdict || order.parent_tried.verdict->timing.shapes.empty()) {
    return "";
  }
  std::string out =
      "\n| shape | time | least time on this machine | share of it reached | bound by |\n"
      "|---|---|---|---|---|\n";
  for (const ShapeTiming& shape : order.parent_tried.verdict->timing.shapes) {
    out += fmt::format("| {} | {} | {} | {:.0f} % | {} |\n",
                       shape_text(order.run->task, shape.shape), duration_text(shape.candidate_ns),
                       duration_text(shape.bound_ns), 100 * shape.share_of_bound,
                       shape.bound_by.empty() ? "not known" : shape.bound_by);
  }
  return out + split_text(order);
}

// A suspect time is told as such, with the judge's reason.
std::string suspicion_text(const AgentOrder& order) {
  const Tried& tried = order.parent_tried;
  if (!tried.node.suspect) {
    return "";
  }
  const bool told = tried.verdict && !tried.verdict->suspicions.empty();
  return fmt::format(" The judge calls that suspect{}{}.",
                     told ? ": " + one_line(tried.verdict->suspicions.front()) : "",
                     order.run->settings.accept_suspect ? "" : "; as such it cannot be the best");
}

// Where a candidate that failed came from: what its repair has to beat.
std::string failed_text(const AgentOrder& order) {
  if (order.branch.empty()) {
    return "It failed.\n";
  }
  const Node& origin = order.branch.back().node;
  if (origin.id == root_node) {
    return "It failed. It was made from the baseline.\n";
  }
  return fmt::format("It failed. It was made from node {}, {}.\n", origin.id,
                     has_failed(origin) ? "which failed too"
                                        : fmt::format("which is {} times as fast as the baseline",
                                                      factor_text(origin.speedup)));
}

std::string standing_text(const AgentOrder& order) {
  const Node& node = order.parent_tried.node;
  if (node.outcome != Outcome::passed) {
    return failed_text(order);
  }
  std::string out;
  if (node.id == root_node) {
    out = "It is the baseline: speed-ups are factors over its time.";
  } else {
    out = fmt::format("It passed and is {} times as fast as the baseline.",
                      factor_text(node.speedup)) +
          suspicion_text(order);
  }
  if (order.best_speedup > node.speedup * 1.005) {
    out += fmt::format(" The best so far, elsewhere in the search, reaches {}.",
                       factor_text(order.best_speedup));
  }
  return out + "\n";
}

std::string build_text(const Candidate& candidate) {
  return fmt::format("Built by {} with {}.\n",
                     candidate.compiler.empty() ? "the default compiler" : candidate.compiler,
                     candidate.options.empty()
                         ? "the default options"
                         : fmt::format("`{}`", fmt::join(candidate.options, " ")));
}

// The source's own lines about its build as they are in force: moves may have changed them. No
// line is added. Headers of its own are shown with the reference.
std::string shown_source(const Candidate& candidate) {
  std::string out;
  bool head = true;
  bool options_shown = false;
  for (std::string& line : lines_of(without_pasted(candidate.source))) {
    head = head && (line.empty() || line.starts_with("//"));
    if (head && line.starts_with("// kp:compiler") && !candidate.compiler.empty()) {
      line = "// kp:compiler " + candidate.compiler;
    } else if (head && line.starts_with("// kp:options")) {
      line = options_shown || candidate.options.empty()
                 ? "//"
                 : fmt::format("// kp:options {}", fmt::join(candidate.options, " "));
      options_shown = true;
    }
    out += line + "\n";
  }
  return out;
}

// What the module's call is made of, where it was traced.
std::string launches_text(const AgentOrder& order) {
  const std::optional<Verdict>& verdict = order.parent_tried.verdict;
  if (!verdict || verdict->timing.shapes.empty() || verdict->timing.shapes.front().launches == 0) {
    return "";
  }
  const ShapeTiming& shape = verdict->timing.shapes.front();
  return fmt::format(" (kernels it launches: {}, which take {} on the GPU)", shape.launches,
                     duration_text(shape.gpu_ns));
}

std::string no_kernel_text(const AgentOrder& order) {
  const bool cuda = order.run->settings.judging.backend == Backend::cuda;
  return fmt::format(
      "## No kernel yet\n\nThe baseline is the PyTorch module of the reference, run eagerly in "
      "full precision{}. What is wanted is the first {} candidate that does its work: "
      "speed-ups are factors over the module's time.\n{}",
      launches_text(order), cuda ? "CUDA" : "C++", times_text(order));
}

std::string reactive_text() {
  return fmt::format(
      "## The profile\n\nThe parent was profiled. The tool `{}` shows its class, the findings and "
      "the figures; at most {} turns may use it.\n",
      profile_tool_name, most_tool_turns);
}

}  // namespace

std::string parent_section(const Scene& scene, const Shown& /*shown*/) {
  const AgentOrder& order = *scene.order;
  if (has_no_kernel(order)) {
    return no_kernel_text(order);
  }
  return fmt::format(
      "## {}: node {}\n\n{}{}{}\n{}\n",
      has_failed(order.parent_tried.node) ? "The candidate that failed" : "The parent",
      order.parent_tried.node.id, standing_text(order), build_text(order.parent), times_text(order),
      fenced(traits_of(order.run->settings.judging.backend).language, shown_source(order.parent)));
}

std::string profile_section(const Scene& scene, const Shown& shown) {
  const AgentOrder& order = *scene.order;
  if (offers_profile_tool(order)) {
    return reactive_text();
  }
  switch (order.run->settings.feedback) {
    case Feedback::none:
      return "";
    case Feedback::raw: {
      const std::string figures = figures_text(order);
      return figures.empty() ? "" : "## Figures of its profile\n\n" + figures;
    }
    case Feedback::tools: {
      const std::string found = class_text(order);
      const std::string findings = findings_text(order, shown.findings);
      const std::string resources = resources_text(order);
      if (found.empty() && findings.empty() && resources.empty()) {
        return "";
      }
      return "## What holds it up\n\n" + found +
             (findings.empty() ? ""
                               : "\nFindings, the largest predicted gain first:\n\n" + findings) +
             (resources.empty() ? "" : "\nWhat its kernels take of the device:\n\n" + resources);
    }
  }
  return "";
}

std::string evidence_section(const Scene& scene, const Shown& /*shown*/) {
  const AgentOrder& order = *scene.order;
  const Tried& tried = order.parent_tried;
  if (!has_failed(tried.node)) {
    return "";
  }
  std::string out = "## What the judge saw\n\n";
  if (tried.verdict) {
    return out + condense(*tried.verdict, order.parent.source);
  }
  return out + fmt::format("Outcome: `{}`{}.\n{}\n", name_of(tried.node.outcome),
                           tried.node.rule.empty()
                               ? ""
                               : fmt::format(", by the rule `{}`", tried.node.rule),
                           tried.node.summary);
}

}  // namespace kernelpro::agents
