#include "coordinator/cli/run_output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

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
  return report;
}

Result<NodeId> print_run(const Options& options, const Store& store, const Run& run) {
  const Result<RunReport> report = load_report(store, run.id);
  if (!report) {
    return report.error();
  }
  if (options.json || options.format == "json") {
    print_json(run_report_json(*report));
  } else {
    fmt::print("{}", options.format == "markdown" ? run_report_markdown(*report)
                                                  : run_report_text(*report));
  }
  return report->best;
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
