#include "coordinator/html/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "coordinator/html/conversation.hpp"
#include "coordinator/html/findings_view.hpp"
#include "coordinator/html/outcome_look.hpp"
#include "coordinator/html/page.hpp"
#include "coordinator/html/source_view.hpp"
#include "coordinator/html/svg_curve.hpp"
#include "coordinator/html/svg_tree.hpp"
#include "coordinator/report/diff.hpp"
#include "coordinator/report/energy_text.hpp"
#include "coordinator/report/sentences.hpp"
#include "coordinator/report/speed_text.hpp"

namespace kernelpro::html {

namespace {

Markup progress_part(const RunReport& report) {
  const Markup curve = progress_picture(report);
  return curve.empty() ? Markup()
                       : note(
                             "Each mark is an evaluation; the line is the best so far, the ring "
                             "the best of the run. Point at a mark to see what it is.") +
                             curve;
}

Markup tree_part(const RunReport& report) {
  const Markup tree = tree_picture(report);
  return tree.empty() ? Markup()
                      : note("The thick line leads to the best. A node leads to its verdict.") +
                            legend(report.nodes) + tree;
}

Markup roofline_part(const std::vector<PathStep>& path) {
  if (path.empty()) {
    return {};
  }
  Markup out;
  for (const NamedPlot& named : rooflines_of(path)) {
    const Markup drawing = roofline_picture(named.plot);
    if (drawing.empty()) {
      continue;
    }
    // The first shape stands for all; the others are there for whoever asks.
    out += out.empty() ? note(fmt::format("At {}. {}", named.name, named.note)) + drawing
                       : folded("at " + named.name, drawing);
  }
  return out.empty() ? note(
                           "There is none: the task declares no arithmetic, or no ceilings were "
                           "measured where it was judged.")
                     : out;
}

Markup speed_cell(const Node& node) {
  if (!has_speed(node)) {
    return classed("td", "number", "–");
  }
  return classed("td", "number",
                 node.id == root_node
                     ? "1.00"
                     : speedup_words(node.speedup, node.speedup_interval, node.at_least));
}

std::string verdict_words(const Node& node) {
  if (node.state != NodeState::judged) {
    return short_fate(node);
  }
  std::string out(name_of(node.outcome));
  std::ranges::replace(out, '_', ' ');
  out += node.rule.empty() ? "" : ": " + node.rule;
  out += node.suspect ? " (suspect)" : "";
  out += node.precision == "contract" ? "" : " (" + node.precision + ")";
  out += node.confirmed ? ", confirmed" : "";
  return out + (node.verified ? "" : " (unverified)");
}

std::vector<Markup> verdict_row(const Node& node, NodeId best) {
  const std::string move =
      node.id == root_node ? "baseline" : node.move + (node.site.empty() ? "" : " at " + node.site);
  return {classed("td", "number", std::to_string(node.id)),
          node.parent >= root_node
              ? element("td", {{"class", "number"}},
                        element("a", {{"href", fmt::format("#node-{}", node.parent)}},
                                std::to_string(node.parent)))
              : classed("td", "number", "–"),
          element("td", {}, move),
          element("td", {}, verdict_words(node) + (node.id == best ? ", the best" : "")),
          speed_cell(node),
          classed("td", "number", share_words(node.diagnosis.share_of_bound)),
          classed("td", "wide", node.summary.empty() ? node.plan : node.summary)};
}

Markup verdicts_part(const RunReport& report) {
  std::vector<std::vector<Markup>> rows;
  std::vector<std::string> ids;
  for (const Node& node : report.nodes) {
    rows.push_back(verdict_row(node, report.best));
    ids.push_back(fmt::format("node-{}", node.id));
  }
  const std::vector<Markup> header = {head_cell("node", true),          head_cell("from", true),
                                      head_cell("move", false),         head_cell("verdict", false),
                                      head_cell("speed-up", true),      head_cell("of bound", true),
                                      head_cell("what was said", false)};
  return rows.empty() ? Markup() : markup_table(header, rows, ids);
}

std::string build_text(const Node& node) {
  return fmt::format("{} {}", node.compiler.empty() ? "the default compiler" : node.compiler,
                     fmt::join(node.options, " "));
}

Markup diff_part(const RunPage& run) {
  const Node* root = find_node(run.report.nodes, root_node);
  const Node* best = find_node(run.report.nodes, run.report.best);
  if (root == nullptr || best == nullptr || best->id == root_node || !run.baseline_source ||
      !run.best_source) {
    return {};
  }
  const std::string diff = unified_diff(*run.baseline_source, *run.best_source, "baseline",
                                        fmt::format("node {}", best->id));
  return table({}, {{"built before", build_text(*root)}, {"built now", build_text(*best)}}) +
         (diff.empty() ? paragraph("The source is the same.") : diff_view(diff));
}

// A place without a folder lies in the candidate's own file.
std::map<int, std::string> marks_of(const Finding& finding) {
  std::map<int, std::string> marks;
  for (const SourcePlace& place : finding.places) {
    if (place.file.find('/') == std::string::npos) {
      marks[place.line] = finding.tool;
    }
  }
  return marks;
}

Markup findings_of(const Node& node, const std::string& source) {
  Markup out;
  for (std::size_t i = 0; i < node.diagnosis.findings.size(); ++i) {
    const Finding& finding = node.diagnosis.findings[i];
    out += finding_view(finding, i + 1, marked_lines(source, marks_of(finding)));
  }
  return out;
}

// What was found before the best, which the next step may have acted on.
Markup earlier_findings(const RunPage& run) {
  Markup out;
  for (const PathStep& step : run.path) {
    const Markup found = findings_of(step.node, step.certificate.candidate.source);
    if (step.node.id != run.report.best && !found.empty()) {
      out += folded(fmt::format("on the way, in node {}: {}", step.node.id,
                                step.node.diagnosis.findings.front().title),
                    paragraph(step.node.diagnosis.text + ".") + found);
    }
  }
  return out;
}

Markup findings_part(const RunPage& run) {
  const Node* best = find_node(run.report.nodes, run.report.best);
  if (best == nullptr || best->diagnosis.text.empty()) {
    return earlier_findings(run);
  }
  return paragraph(fmt::format("What keeps node {} from being faster: {}.", best->id,
                               best->diagnosis.text)) +
         findings_of(*best, run.best_source.value_or("")) + earlier_findings(run);
}

Markup models_part(const RunPage& run) {
  if (run.calls.empty()) {
    return {};
  }
  const LlmSummary summary = run.report.llm.value_or(summarize_calls(run.calls));
  return paragraph(llm_text(summary) + ".") +
         (summary.unpriced > 0
              ? note("No price is known for some calls (--price), so the cost is not complete.")
              : Markup()) +
         conversation_view(run.calls);
}

Markup moves_part(const RunReport& report) {
  return report.moves.empty() ? Markup() : table(move_header(), move_rows(report));
}

Markup energy_part(const Run& run) {
  const std::string ranking = ranking_text(run);
  return ranking.empty() ? Markup() : element("pre", {}, ranking);
}

// The curve of the text form is drawn here.
Rows facts_of(const RunReport& report) {
  Rows rows = run_facts(report);
  std::erase_if(rows, [](const std::vector<std::string>& row) { return row[0] == "progress"; });
  return rows;
}

}  // namespace

std::string run_page(const RunPage& run) {
  const RunReport& report = run.report;
  return page("Run " + report.run.id, run_sentence(report),
              {{"facts", "At a glance", table({}, facts_of(report))},
               {"progress", "Progress", progress_part(report)},
               {"tree", "Search tree", tree_part(report)},
               {"roofline", "Roofline", roofline_part(run.path)},
               {"diagnosis", "Diagnosis", findings_part(run)},
               {"difference", "The best against the baseline", diff_part(run)},
               {"verdicts", "Verdicts", verdicts_part(report)},
               {"moves", "Moves", moves_part(report)},
               {"energy", "Energy", energy_part(report.run)},
               {"models", "Conversation with the models", models_part(run)}});
}

}  // namespace kernelpro::html
