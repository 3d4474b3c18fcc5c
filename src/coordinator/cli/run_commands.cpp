// The commands that work on runs, take a candidate home, or show what models are asked.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "coordinator/app/chat_transcript.hpp"
#include "coordinator/app/export_run.hpp"
#include "coordinator/app/model_calls.hpp"
#include "coordinator/app/optimize.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/own_commands.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/cli/watched.hpp"
#include "coordinator/report/export.hpp"
#include "coordinator/report/llm_summary.hpp"

namespace kernelpro {

namespace {

int say_what_is_awaited(const Run& run) {
  const std::string then = fmt::format("`kernelpro resume {}`", run.id);
  if (run.awaited.answers > 0 && run.settings.llm) {
    print_waiting_for_models(*run.settings.llm, then);
  }
  if (run.awaited.results > 0) {
    print_waiting(run.settings.workers, run.settings.judging, then);
  }
  return exit_waiting;
}

// Why nothing is written to the folder that the user named.
std::string not_exported(const RunReport& report) {
  const std::string& run = report.run.id;
  if (report.best == root_node) {
    return "nothing was exported: no candidate is confirmed to be faster than the baseline";
  }
  return fmt::format(
      "nothing was exported: node {1} is not confirmed. `kernelpro confirm {0}` and then "
      "`kernelpro "
      "export {0} DIR`, or `kernelpro export {0} {1} DIR` as it is",
      run, report.best);
}

// What to do with an export.
const char* first_step(std::optional<ExportForm> form) {
  switch (form.value_or(ExportForm::source)) {
    case ExportForm::source:
      return "sh build.sh && ./bench";
    case ExportForm::library:
      return "sh build.sh";
    case ExportForm::torch:
      return "python3 test_op.py";
    case ExportForm::patch:
      return "head *.patch";
    case ExportForm::header:
    case ExportForm::cmake:
    case ExportForm::kernelbench:
      break;
  }
  return "cat README.md";
}

int export_and_print(const Options& options, const ExportRequest& request) {
  const Result<Exported> exported = export_run(request);
  if (!exported) {
    return report_error(options, exported.error());
  }
  if (exported->nothing) {
    (void)report_error(options, *exported->nothing);
    return exit_not_passed;
  }
  if (!exported->confirmed) {
    print_note(options, fmt::format("node {} is not confirmed: `kernelpro confirm {}` measures it "
                                    "against the baseline",
                                    exported->node, request.what.run));
  }
  if (!exported->without_patch.empty()) {
    print_note(options, "without a patch: " + exported->without_patch);
  }
  const std::string directory = request.directory.string();
  if (!options.json) {
    fmt::print("exported to {}: `{}` there\n", directory, first_step(request.form));
    return exit_done;
  }
  nlohmann::json names = nlohmann::json::array();
  for (const std::filesystem::path& file : exported->files) {
    names.push_back(file.string());
  }
  print_json({{"directory", directory}, {"files", std::move(names)}});
  return exit_done;
}

// The table of the run, also of one that was cut short.
int print_outcome(const Options& options, const Result<RunOutcome>& outcome) {
  if (!outcome) {
    return report_error(options, outcome.error());
  }
  const RunReport& report = outcome->report;
  print_run(options, report, outcome->load);
  if (outcome->error) {
    return report_error(options, *outcome->error);
  }
  if (outcome->stopped) {
    print_note(options, fmt::format("interrupted; `kernelpro resume {}` goes on", report.run.id));
    return exit_interrupted;
  }
  if (report.run.state == RunState::waiting) {
    return say_what_is_awaited(report.run);
  }
  const bool to_export = !options.exported.directory.empty();
  if (!report.confirmed) {
    if (to_export) {
      fmt::print(stderr, "kernelpro: {}\n", not_exported(report));
    }
    return exit_not_passed;
  }
  if (!to_export) {
    return exit_done;
  }
  ExportRequest wanted = options.exported;
  wanted.what.run = report.run.id;
  return export_and_print(options, wanted);
}

// Lets a use case work on a run while it is shown.
template <typename Request>
int watch_run(const Options& options, const Request& request,
              Result<RunOutcome> (*work)(const Request&, const Watcher&, std::stop_token),
              std::stop_token stop) {
  return print_outcome(options, watched(options, [&](const Watcher& watcher) {
                         return work(request, watcher, stop);
                       }));
}

std::string tools_text(const ChatRequest& request) {
  std::string text;
  for (const ToolSpec& tool : request.tools) {
    text += fmt::format("--- tool {}: {}\n{}\n", tool.name, tool.description, tool.schema);
  }
  return text;
}

std::string preview_text(const Preview& preview) {
  const ChatRequest& request = preview.first.request;
  std::string text =
      fmt::format("--- to the {}{}\n--- system\n{}\n", name_of(preview.first.role),
                  request.model.empty() ? "" : " (" + request.model + ")", request.system);
  for (const ChatMessage& message : request.messages) {
    text += fmt::format("--- user\n{}\n", message.text);
  }
  text += tools_text(request);
  text += fmt::format(
      "--- this call: about {} tokens in (at most {}), at most {} out{}\n"
      "--- one candidate takes at most about {} tokens{}\n",
      preview.cost.about_input, preview.cost.worst.input, preview.cost.worst.output,
      preview.cost.price ? "; at most " + money_text(preview.cost.cost)
                         : "; its price is not known",
      preview.candidate_tokens,
      preview.cost.price ? ", " + money_text(preview.candidate_cost) : "");
  if (preview.token_budget > 0 || preview.money_budget > 0) {
    text += fmt::format(
        "--- the run may take{}{}{}\n",
        preview.token_budget > 0 ? fmt::format(" {} tokens", preview.token_budget) : "",
        preview.money_budget > 0 ? " " + money_text(preview.money_budget) : "",
        preview.fits ? "" : ": this call does not fit into that at worst, and would not be made");
  }
  return text;
}

std::string plan_text(const RunPlan& plan) {
  const RunSettings& settings = plan.run.settings;
  const std::string limit =
      settings.seconds > 0 ? fmt::format(", at most {:g} s", settings.seconds) : "";
  std::string text =
      fmt::format("  task         {} in {}\n", plan.run.task.name, plan.run.task_path);
  text += fmt::format("  judged by    {} on {}\n", text_of(settings.workers),
                      name_of(settings.judging.backend));
  text += fmt::format("  budget       {} candidates{}, {} at a time\n", settings.evaluations, limit,
                      settings.in_flight);
  text += fmt::format("  search       {}, seed {}\n", settings.search, settings.seed);
  text += fmt::format("  moves        {}\n", fmt::join(plan.moves, ", "));
  text += fmt::format("  kept in      {}\n", plan.store.string());
  return text + "nothing was judged, asked or kept: without --dry-run it would be\n";
}

int print_plan(const Options& options, const Result<RunPlan>& plan) {
  if (!plan) {
    return report_error(options, plan.error());
  }
  if (options.json) {
    print_json(to_json(*plan));
  } else {
    fmt::print("{}", plan_text(*plan));
  }
  return exit_done;
}

int print_preview(const Options& options, const Result<Preview>& preview) {
  if (!preview) {
    return report_error(options, preview.error());
  }
  if (options.json) {
    print_json(to_json(*preview));
  } else {
    fmt::print("{}", preview_text(*preview));
  }
  return exit_done;
}

}  // namespace

int optimize_command(const Options& options, std::stop_token stop) {
  if (is_own_function(options)) {
    return optimize_own_command(options, stop);
  }
  if (const std::filesystem::path& into = options.exported.directory; !into.empty()) {
    if (const Status free = check_export_place(into); !free) {
      return report_error(options, free.error());
    }
  }
  if (!options.dry_run) {
    return watch_run(options, options.optimize, optimize, stop);
  }
  if (!options.optimize.settings.llm) {
    return print_plan(options, plan_run(options.optimize, stop));
  }
  return print_preview(options, watched(options, [&](const Watcher& watcher) {
                         return preview_run(options.optimize, watcher, stop);
                       }));
}

int resume_command(const Options& options, std::stop_token stop) {
  const ResumeRequest request{options.node.store, options.node.run, options.changes};
  return watch_run(options, request, resume, stop);
}

int confirm_command(const Options& options, std::stop_token stop) {
  const ResumeRequest request{options.node.store, options.node.run, options.changes};
  return watch_run(options, request, confirm, stop);
}

int export_command(const Options& options, std::stop_token /*stop*/) {
  return export_and_print(options, options.exported);
}

int prompt_command(const Options& options, std::stop_token /*stop*/) {
  print_store_notices(options);
  return print_preview(options, preview_child(options.node));
}

int transcript_command(const Options& options, std::stop_token /*stop*/) {
  print_store_notices(options);
  const Result<std::string> text =
      options.transcript_form == "chat"
          ? chat_transcript(options.node.store, options.node.run, options.chat)
          : run_transcript(options.node.store, options.node.run);
  if (text && options.into.empty()) {
    fmt::print("{}", *text);
    return exit_done;
  }
  const Status written = text ? write_file_atomic(options.into, *text) : Status(text.error());
  return written ? exit_done : report_error(options, written.error());
}

}  // namespace kernelpro
