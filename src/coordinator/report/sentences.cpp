#include "coordinator/report/sentences.hpp"

#include <fmt/format.h>

#include "common/base/printable.hpp"
#include "coordinator/report/diagnosis_parts.hpp"
#include "coordinator/report/speed_text.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t longest_kernel = 60;

std::string on_machine(const RunReport& report) {
  const std::string machine = machine_of(report);
  return machine.empty() ? "" : " on " + printable(machine);
}

std::string nothing_sentence(const RunReport& report) {
  const std::string task = printable(report.run.task.name);
  const bool ended = report.run.state == RunState::finished;
  if (report.evaluations == 0) {
    return fmt::format("No candidate of {} has been judged{}.", task, ended ? "" : " yet");
  }
  if (!report.faster.empty()) {
    return fmt::format(
        "No candidate of {} is confirmed to be faster than its baseline{}: {} of {} read faster, "
        "and none of them counts yet.",
        task, on_machine(report), report.faster.size(), report.evaluations);
  }
  return fmt::format("None of the {} judged candidates of {} is faster than its baseline{}{}.",
                     report.evaluations, task, on_machine(report), ended ? "" : " so far");
}

// How sure the best's speed-up is.
std::string certainty_text(const RunReport& report, const Node& best) {
  const std::string interval = fmt::format("95 % interval {:.2f} to {:.2f}",
                                           best.speedup_interval.low, best.speedup_interval.high);
  if (report.confirmed) {
    return fmt::format(
        "this was measured against the baseline again at the end and is confirmed "
        "({}){}",
        interval, best.at_least ? "; the machine was busy, so that it may be more" : "");
  }
  return report.run.state == RunState::finished
             ? fmt::format("this is not confirmed, so take it as an estimate ({})", interval)
             : fmt::format(
                   "this is an estimate so far, and the end of the run has yet to confirm "
                   "it ({})",
                   interval);
}

std::string failure_words(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::build_failed:
      return "did not build";
    case Outcome::launch_failed:
      return "could not be launched";
    case Outcome::crashed:
      return "crashed";
    case Outcome::timed_out:
      return "did not end in time";
    case Outcome::out_of_memory:
      return "ran out of memory";
    case Outcome::incorrect:
      return "computed wrong results";
    case Outcome::unstable:
      return "gave results that cannot be repeated";
    case Outcome::cheated:
      return "cheated";
    case Outcome::not_judged:
      return "could not be judged, which is no fault of its own";
  }
  return "could not be judged";
}

std::string doubts_text(const Node& node) {
  std::string out = node.suspect ? ", but is suspect" : "";
  out += node.precision == "contract" ? "" : " (in " + printable(node.precision) + ")";
  return out + (node.screened ? " (by a short look)" : "");
}

// "the move tile at loops i, j on node 3"
std::string attempt_text(const Node& node) {
  return fmt::format("the move {}{} on node {}", printable(node.move),
                     node.site.empty() ? "" : " at " + printable(node.site), node.parent);
}

std::string against_parent(const RunReport& report, const Node& node) {
  const Node* parent = find_node(report.nodes, node.parent);
  if (parent == nullptr || parent->id == root_node || parent->speedup <= 0 || node.speedup <= 0 ||
      node.outcome != Outcome::passed || node.state != NodeState::judged) {
    return "";
  }
  return fmt::format(", {:.2f} times as fast as its parent", node.speedup / parent->speedup);
}

// Where a class means something else on processors; empty: it does not.
std::string host_class_words(KernelClass kind) {
  switch (kind) {
    case KernelClass::dram:
      return "held back by memory";
    case KernelClass::latency:
      return "held back by latency: instructions wait, and nothing is used up";
    case KernelClass::tail:
      return "held back by idle processors";
    default:
      return "";
  }
}

std::string class_words(KernelClass kind) {
  switch (kind) {
    case KernelClass::dram:
      return "held back by the GPU's memory";
    case KernelClass::l2:
      return "held back by the L2 cache";
    case KernelClass::l1:
      return "held back by L1 and shared memory";
    case KernelClass::tensor:
      return "held back by the tensor cores";
    case KernelClass::alu:
      return "held back by arithmetic";
    case KernelClass::latency:
      return "held back by latency: warps wait, and nothing is used up";
    case KernelClass::tail:
      return "held back by idle multiprocessors";
    case KernelClass::launch:
      return "held back by the host: the GPU waits to be asked";
    case KernelClass::unknown:
      break;
  }
  return "held back by something that could not be told";
}

}  // namespace

std::string machine_of(const RunReport& report) {
  return report.judged_on.empty() ? report.run.machine : report.judged_on;
}

std::string run_sentence(const RunReport& report) {
  const Node* best = find_node(report.nodes, report.best);
  if (best == nullptr || best->id == root_node) {
    return nothing_sentence(report);
  }
  const bool by_energy = needs_energy(report.run.settings.objective);
  return fmt::format(
      "{} runs {} times as fast as its baseline{}{}; {}.", printable(report.run.task.name),
      speedup_words(best->speedup, best->at_least), on_machine(report),
      by_energy ? fmt::format(" and is the best by {}", name_of(report.run.settings.objective))
                : "",
      certainty_text(report, *best));
}

std::string fate_text(const Node& node) {
  switch (node.state) {
    case NodeState::in_flight:
      return "is being judged";
    case NodeState::proposing:
      return "is being written";
    case NodeState::unwritten:
      return "was never written";
    case NodeState::duplicate:
      return fmt::format("is the same as node {} and was not judged again", node.same_as);
    case NodeState::judged:
      break;
  }
  if (node.outcome != Outcome::passed) {
    return failure_words(node.outcome) +
           (node.rule.empty() ? "" : " (" + printable(node.rule) + ")");
  }
  return fmt::format("passed and runs {} times as fast as the baseline{}",
                     speedup_words(node.speedup, node.at_least), doubts_text(node));
}

std::string node_sentence(const RunReport& report, const Node& node, bool closed) {
  const std::string end = closed ? "; nothing more is tried on it." : ".";
  if (node.id == root_node) {
    return fmt::format("Node 0 of run {} is the task's baseline, where the search begins{}",
                       report.run.id, end);
  }
  if (node.move.empty()) {
    return fmt::format("Node {} of run {}, a child of node {}, {}{}", node.id, report.run.id,
                       node.parent, fate_text(node), end);
  }
  return fmt::format("Node {} of run {} tried {}: it {}{}{}", node.id, report.run.id,
                     attempt_text(node), fate_text(node), against_parent(report, node), end);
}

std::string diagnosis_sentence(const Diagnosed& diagnosed) {
  const DiagnosisReport& report = diagnosed.report;
  const std::string& device = diagnosed.profile.device;
  const bool host = diagnosed.profile.host.has_value();
  const std::string host_words = host ? host_class_words(report.kind) : "";
  std::string out =
      fmt::format("{}{} is {}", device.empty() ? "" : "On " + printable(device) + ", ",
                  printable(diagnosed.profile.program),
                  host_words.empty() ? class_words(report.kind) : host_words);
  // The class of the program is its main kernel's, unless the GPU waits for the host.
  if (!report.kernels.empty() && report.kernels.front().kind == report.kind &&
      report.kind != KernelClass::unknown) {
    const KernelDiagnosis& main = report.kernels.front();
    out +=
        fmt::format(" ({} sure, by its main {} {})", percent_text(main.confidence),
                    host ? "function" : "kernel", short_kernel_name(main.kernel, longest_kernel));
  }
  if (report.findings.empty()) {
    return out + "; no tool found a defect.";
  }
  const Finding& first = report.findings.front();
  return out + fmt::format(
                   ". The most promising finding is \"{}\": removing it is predicted to "
                   "make it {:.2f} times as fast.",
                   printable(first.title), first.predicted_gain);
}

}  // namespace kernelpro
