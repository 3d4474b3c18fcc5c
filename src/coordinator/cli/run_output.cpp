#include "coordinator/cli/run_output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "coordinator/app/runs.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/llm/batch_folder.hpp"
#include "coordinator/llm/role_llm.hpp"

namespace kernelpro {

void print_run(const Options& options, const RunReport& report,
               const std::optional<MachineLoad>& load) {
  if (options.json || options.format == "json") {
    nlohmann::json json = run_report_json(report);
    if (load) {
      json["machine_load"] = to_json(*load);
    }
    print_json(json);
  } else {
    fmt::print(
        "{}", options.format == "markdown" ? run_report_markdown(report) : run_report_text(report));
  }
}

void print_waiting(const Workers& workers, const JudgingSettings& judging,
                   const std::string& then) {
  fmt::print(stderr, "waiting: run `kernelpro-worker run {0} {0}.out` {1}, then {2}\n",
             workers.file.string(),
             traits_of(judging.backend).gpu ? "on the GPU node" : "on the machine that judges",
             then);
}

void print_waiting_for_models(const LlmSettings& settings, const std::string& then) {
  for (const std::filesystem::path& folder : batch_directories(settings)) {
    fmt::print(stderr,
               "waiting: answer {0}/requests.jsonl into {0}/responses.jsonl, both in the form of "
               "OpenAI's batches, then {1}\n",
               folder.string(), then);
  }
  if (settings.llm.starts_with(client_scheme)) {
    fmt::print(stderr, "waiting: a client of `kernelpro mcp` writes the next candidate\n");
  }
}

void print_note(const Options& options, const std::string& text) {
  if (!options.quiet) {
    std::fprintf(stderr, "kernelpro: %s\n", text.c_str());
  }
}

int page_exit_code(const Options& options, const Status& written) {
  if (!written) {
    print_error(written.error());
    return exit_code_of(written.error());
  }
  print_note(options, "the page is " + options.html.string());
  return exit_done;
}

void print_store_notices(const Options& options) {
  for (const std::string& notice : store_notices(options.node.store)) {
    print_note(options, notice);
  }
}

}  // namespace kernelpro
