#include "coordinator/cli/run_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>

#include "common/base/paths.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/dispatch/bundle.hpp"
#include "coordinator/llm/batch_folder.hpp"
#include "coordinator/propose/move.hpp"

namespace kernelpro {

std::map<std::string, std::string> known_tiers(const std::string& backend) {
  std::map<std::string, std::string> tiers;
  const Result<std::filesystem::path> share = share_directory();
  const Result<std::vector<Move>> moves = share
                                              ? load_moves(*share / "knowledge" / "moves" / backend)
                                              : Result<std::vector<Move>>(share.error());
  if (moves) {
    for (const Move& move : *moves) {
      tiers[move.id] = move.tier;
    }
  }
  return tiers;
}

namespace {

// What only certificates say: the remarks on the best, and why others are in doubt.
Status add_evidence(const Store& store, RunReport& report) {
  if (report.best != root_node) {
    const Result<std::optional<Certificate>> best =
        store.load_certificate(report.run.id, report.best);
    if (!best) {
      return best.error();
    }
    report.remarks = *best ? (*best)->verdict.remarks : std::vector<std::string>();
  }
  const std::size_t shown = std::min(report.faster.size(), most_faster_shown);
  for (FasterNode& one : std::span(report.faster).first(shown)) {
    const Result<std::optional<Certificate>> known =
        store.load_certificate(report.run.id, one.node);
    if (!known) {
      return known.error();
    }
    if (*known && (*known)->verdict.suspect && !(*known)->verdict.suspicions.empty()) {
      one.why += " (" + (*known)->verdict.suspicions.front() + ")";
    }
  }
  return {};
}

}  // namespace

Result<RunReport> load_report(const Store& store, const std::string& run) {
  const Result<Run> loaded = store.load_run(run);
  if (!loaded) {
    return loaded.error();
  }
  const Result<std::vector<Node>> nodes = store.load_nodes(run);
  if (!nodes) {
    return nodes.error();
  }
  RunReport report = make_run_report(*loaded, *nodes, known_tiers(loaded->settings.backend));
  if (loaded->settings.llm) {
    const Result<std::vector<LlmCall>> calls = store.load_llm_calls(run);
    if (!calls) {
      return calls.error();
    }
    report.llm = summarize_calls(*calls);
  }
  KP_TRY(add_evidence(store, report));
  return report;
}

Result<RunReport> print_run(const Options& options, const Store& store, const Run& run,
                            const std::optional<MachineLoad>& load) {
  Result<RunReport> report = load_report(store, run.id);
  if (!report) {
    return report.error();
  }
  if (options.json || options.format == "json") {
    nlohmann::json json = run_report_json(*report);
    if (load) {
      json["machine_load"] = to_json(*load);
    }
    print_json(json);
  } else {
    fmt::print("{}", options.format == "markdown" ? run_report_markdown(*report)
                                                  : run_report_text(*report));
  }
  return report;
}

std::optional<MachineLoad> tell_load(const Options& options, const RunSettings& settings) {
  if (settings.backend != "cpu" || settings.workers != "local") {
    return std::nullopt;
  }
  MachineLoad load = MachineWatch().look();
  print_load(options, load);
  return load;
}

void print_load(const Options& options, const MachineLoad& load) {
  for (const std::string& note : load_notes(load)) {
    print_note(options, note);
  }
}

void print_waiting(const RunSettings& settings, const std::string& then) {
  const std::string file = bundle_file(settings.workers).value_or("").string();
  fmt::print(stderr, "waiting: run `kernelpro-worker run {0} {0}.out` {1}, then {2}\n", file,
             settings.backend == "cuda" ? "on the GPU node" : "on the machine that judges", then);
}

void print_waiting_for_models(const LlmSettings& settings, const std::string& then) {
  for (const std::filesystem::path& folder : batch_directories(settings)) {
    fmt::print(stderr,
               "waiting: answer {0}/requests.jsonl into {0}/responses.jsonl, both in the form of "
               "OpenAI's batches, then {1}\n",
               folder.string(), then);
  }
}

void print_note(const Options& options, const std::string& text) {
  if (!options.quiet) {
    std::fprintf(stderr, "kernelpro: %s\n", text.c_str());
  }
}

}  // namespace kernelpro
