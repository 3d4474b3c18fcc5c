#include "coordinator/report/verdict_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/printable.hpp"
#include "coordinator/report/energy_text.hpp"
#include "coordinator/report/speed_text.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

std::string axes_text(const Axes& axes) {
  std::string out;
  for (const auto& [name, extent] : axes) {
    out += (out.empty() ? "" : " ") + name + "=" + std::to_string(extent);
  }
  return out.empty() ? "its own" : out;
}

namespace {

constexpr std::size_t shown_evidence = 12;
constexpr double widest_interval = 0.1;
// By how much the same speed-up may read differently on one kind of machine: neighbors, the place
// of code and data in memory.
constexpr double same_machine_factor = 1.25;

std::string share_text(const Timing& timing) {
  double least = 0;
  for (const ShapeTiming& shape : timing.shapes) {
    least = least == 0 ? shape.share_of_bound : std::min(least, shape.share_of_bound);
  }
  return share_words(least);
}

std::string speedup_text(const Timing& timing) {
  if (timing.comparison == Comparison::not_timed) {
    return "–";
  }
  const bool screened = std::any_of(timing.shapes.begin(), timing.shapes.end(),
                                    [](const ShapeTiming& shape) { return shape.screened; });
  if (screened) {
    return fmt::format("{:.2f} (screen)", timing.speedup);
  }
  return speedup_words(timing.speedup, timing.speedup_interval, timing.at_least);
}

std::string time_text(const Timing& timing) {
  return timing.shapes.empty() || timing.shapes.front().candidate_ns <= 0
             ? "–"
             : duration_text(timing.shapes.front().candidate_ns);
}

std::string caches_text(const ShapeTiming& shape) {
  if (shape.warm) {
    return ", warm";
  }
  return shape.flushed ? ", flushed" : "";
}

// What the tracer saw of single calls, where they were traced.
std::string traced_lines(const Timing& timing) {
  Table table({"shape", "on the GPU", "launching", "launches a call", "in its own kernels"});
  bool any = false;
  for (const ShapeTiming& shape : timing.shapes) {
    if (shape.launches > 0) {
      any = true;
      table.add({axes_text(shape.shape), duration_text(shape.gpu_ns),
                 duration_text(shape.launch_ns), std::to_string(shape.launches),
                 fmt::format("{:.0f} %", 100 * shape.own_share)});
    }
  }
  return any ? table.text() : "";
}

// The time that the speed-up is against.
std::string incumbent_time_text(const ShapeTiming& shape) {
  return shape.at_least && shape.incumbent_alone_ns > 0
             ? duration_text(shape.incumbent_alone_ns) + " alone"
             : duration_text(shape.incumbent_ns);
}

// What a share of more than all of the bound means.
std::string beyond_bound_line(const Timing& timing) {
  const bool beyond =
      std::any_of(timing.shapes.begin(), timing.shapes.end(), [](const ShapeTiming& shape) {
        return share_words(shape.share_of_bound).starts_with("over");
      });
  return beyond ? "  over 100 % of the bound: it does less work than the task declares, or does it "
                  "on faster units\n"
                : "";
}

// A shape at which it failed before it was timed has no times.
std::string shape_lines(const Timing& timing) {
  bool any = false;
  Table table({"shape", "candidate", "incumbent", "speed-up", "95 % interval", "noise floor",
               "of bound", "bound by", "rounds × calls"});
  for (const ShapeTiming& shape : timing.shapes) {
    if (shape.candidate_rounds.empty()) {
      continue;
    }
    any = true;
    table.add(
        {axes_text(shape.shape), duration_text(shape.candidate_ns), incumbent_time_text(shape),
         fmt::format("{}{:.3f}", shape.at_least ? "at least " : "", shape.speedup),
         fmt::format("[{:.3f}, {:.3f}]", shape.speedup_interval.low, shape.speedup_interval.high),
         fmt::format("{:.1f} %", 100 * shape.noise_floor), share_words(shape.share_of_bound),
         shape.bound_by,
         fmt::format("{} × {}{}{}", shape.candidate_rounds.size(), shape.calls, caches_text(shape),
                     shape.screened ? ", screened" : "")});
  }
  return any ? table.text() + beyond_bound_line(timing) + traced_lines(timing) : "";
}

void add_difference(std::vector<Difference>& out, const std::string& what,
                    const std::string& before, const std::string& now, bool matters = false) {
  if (before != now) {
    out.push_back({what, before, now, matters});
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

std::string indented(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 5)) {
    text.replace(at, 1, "\n    ");
  }
  return text;
}

// The evidence that the summary does not already give.
std::string evidence_lines(const Verdict& verdict) {
  std::string out;
  for (std::size_t i = 0; i < std::min(verdict.evidence.size(), shown_evidence); ++i) {
    if (verdict.evidence[i] != verdict.summary) {
      out += "  - " + indented(printable_lines(verdict.evidence[i])) + "\n";
    }
  }
  if (verdict.evidence.size() > shown_evidence) {
    out +=
        fmt::format("  … and {} more (--json has all)\n", verdict.evidence.size() - shown_evidence);
  }
  return out;
}

std::string effort_line(const Verdict& verdict) {
  if (verdict.checks.empty()) {
    return "";
  }
  return fmt::format("  {} checks, judged in {}{}\n", verdict.checks.size(),
                     duration_text(static_cast<double>(verdict.judge_ns)),
                     verdict.build_ns > 0
                         ? ", built in " + duration_text(static_cast<double>(verdict.build_ns))
                         : ", build cached");
}

// "cheated: clock", "passed (tf32)": what was decided, without how sure it is.
std::string decision_text(const Verdict& verdict) {
  std::string out(name_of(verdict.outcome));
  if (!verdict.rule.empty()) {
    out += ": " + verdict.rule;
  }
  if (verdict.outcome == Outcome::passed && verdict.precision != "contract") {
    out += " (" + verdict.precision + ")";
  }
  return out;
}

std::string ceiling_text(const Ceilings& ceilings) {
  return fmt::format("{:.1f} GB/s, {:.0f} GFLOP/s", best_bandwidth(ceilings) / 1e9,
                     best_flops(ceilings, "f32") / 1e9);
}

}  // namespace

std::string outcome_text(const Verdict& verdict) {
  return decision_text(verdict) + (verdict.suspect ? " (suspect)" : "") +
         (verdict.verified ? "" : " (unverified)");
}

std::string evaluation_text(const Evaluated& evaluated) {
  const Verdict& verdict = evaluated.certificate.verdict;
  std::string out = fmt::format("{} · {}: {}\n  {}\n", evaluated.certificate.task.name,
                                printable(evaluated.certificate.candidate.name),
                                outcome_text(verdict), printable_lines(verdict.summary));
  if (!verdict.verified) {
    out += "  unverified: judged with --sandbox none, so files were within the candidate's reach\n";
  }
  if (!evaluated.implementation.empty()) {
    out += "  implementation: " + printable(evaluated.implementation) + "\n";
  }
  if (verdict.outcome != Outcome::passed) {
    out += fmt::format("  ended in stage {}\n", name_of(verdict.stage));
  }
  out += evidence_lines(verdict);
  for (const std::string& suspicion : verdict.suspicions) {
    out += "  suspicion: " + printable(suspicion) + "\n";
  }
  for (const std::string& remark : verdict.remarks) {
    out += "  remark: " + printable(remark) + "\n";
  }
  return out + shape_lines(verdict.timing) + (verdict.energy ? energy_text(*verdict.energy) : "") +
         effort_line(verdict);
}

std::string verdict_table(const std::vector<Evaluated>& evaluations) {
  Table table({"task", "candidate", "verdict", "time", "speed-up", "", "of bound"});
  for (const Evaluated& evaluated : evaluations) {
    const Verdict& verdict = evaluated.certificate.verdict;
    const bool passed = verdict.outcome == Outcome::passed;
    table.add({evaluated.certificate.task.name, printable(evaluated.certificate.candidate.name),
               outcome_text(verdict), passed ? time_text(verdict.timing) : "–",
               passed ? speedup_text(verdict.timing) : "–",
               passed ? std::string(name_of(verdict.timing.comparison)) : "",
               passed ? share_text(verdict.timing) : "–"});
  }
  return table.text();
}

std::string_view name_of(SpeedClaim claim) {
  switch (claim) {
    case SpeedClaim::not_timed:
      return "not_timed";
    case SpeedClaim::confirmed:
      return "confirmed";
    case SpeedClaim::differs:
      return "differs";
    case SpeedClaim::cannot_tell:
      return "cannot_tell";
  }
  return "not_timed";
}

double interval_width(const Timing& timing) {
  const Interval& interval = timing.speedup_interval;
  return timing.speedup > 0 ? (interval.high - interval.low) / timing.speedup : 0;
}

// What "at least" leaves open is what the incumbent was slower in pairs than alone.
double most_of(const Timing& timing) {
  double slower = 1;
  for (const ShapeTiming& shape : timing.shapes) {
    if (shape.at_least && shape.incumbent_alone_ns > 0) {
      slower = std::max(slower, shape.incumbent_ns / shape.incumbent_alone_ns);
    }
  }
  return timing.speedup_interval.high * slower;
}

// Whether a speed-up lies far above anything that was measured now.
bool is_exaggerated(const Timing& before, const Timing& now) {
  return before.speedup_interval.low > same_machine_factor * most_of(now);
}

bool same_machine(const Certificate& before, const Certificate& now) {
  return before.machine.processor == now.machine.processor &&
         before.machine.cores == now.machine.cores && before.threads == now.threads;
}

SpeedClaim compare_speed(const Timing& before, const Timing& now) {
  if (before.comparison == Comparison::not_timed || now.comparison == Comparison::not_timed) {
    return SpeedClaim::not_timed;
  }
  if (!overlap(before.speedup_interval, now.speedup_interval)) {
    // "At least" is not contradicted by more, and contradicts nothing that is more.
    const bool more_now = now.speedup_interval.low > before.speedup_interval.high;
    if (more_now && before.at_least) {
      return SpeedClaim::confirmed;
    }
    const bool open = !more_now && now.at_least && !is_exaggerated(before, now);
    return open ? SpeedClaim::cannot_tell : SpeedClaim::differs;
  }
  const bool wide = std::max(interval_width(before), interval_width(now)) > widest_interval;
  return wide ? SpeedClaim::cannot_tell : SpeedClaim::confirmed;
}

std::vector<Difference> compare_certificates(const Certificate& before, const Certificate& now) {
  std::vector<Difference> out;
  add_difference(out, "processor", before.machine.processor, now.machine.processor);
  add_difference(out, "architecture", before.machine.architecture, now.machine.architecture);
  add_difference(out, "cores", std::to_string(before.machine.cores),
                 std::to_string(now.machine.cores));
  if (before.threads > 0) {
    add_difference(out, "threads", std::to_string(before.threads), std::to_string(now.threads));
  }
  add_difference(out, "kernel", before.machine.kernel, now.machine.kernel);
  add_difference(out, "last-level cache", std::to_string(before.machine.cache_bytes),
                 std::to_string(now.machine.cache_bytes));
  add_difference(out, "program version", before.program_version, now.program_version);
  add_difference(out, "sandbox", before.sandbox, now.sandbox);
  add_difference(out, "task", before.task_hash, now.task_hash, true);
  add_difference(out, "source", before.build.source_hash, now.build.source_hash, true);
  add_difference(out, "compiler", before.build.compiler_identity, now.build.compiler_identity);
  add_difference(out, "flags", joined(before.build.flags), joined(now.build.flags));
  add_difference(out, "binary", before.build.binary_hash, now.build.binary_hash);
  add_difference(out, "incumbent's binary", before.incumbent_build.binary_hash,
                 now.incumbent_build.binary_hash);
  if (before.ceilings.machine != now.ceilings.machine) {
    add_difference(out, "ceilings", ceiling_text(before.ceilings), ceiling_text(now.ceilings));
  }
  add_difference(out, "verdict", decision_text(before.verdict), decision_text(now.verdict), true);
  add_difference(out, "suspect", before.verdict.suspect ? "yes" : "no",
                 now.verdict.suspect ? "yes" : "no");
  add_difference(out, "verified", before.verdict.verified ? "yes" : "no",
                 now.verdict.verified ? "yes" : "no");
  const Timing& first = before.verdict.timing;
  const Timing& second = now.verdict.timing;
  const SpeedClaim speed = compare_speed(first, second);
  if (speed != SpeedClaim::not_timed) {
    add_difference(out, "comparison", std::string(name_of(first.comparison)),
                   std::string(name_of(second.comparison)), true);
  }
  if (speed == SpeedClaim::differs) {
    add_difference(out, "speed-up", speedup_text(first), speedup_text(second),
                   same_machine(before, now) && is_exaggerated(first, second));
  }
  return out;
}

}  // namespace kernelpro
