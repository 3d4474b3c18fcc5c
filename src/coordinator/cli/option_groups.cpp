#include "coordinator/cli/option_groups.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace kernelpro {

namespace {

constexpr int most_threads = 4096;
constexpr double most_run_seconds = 30.0 * 24 * 3600;
constexpr std::int64_t most_evaluations = 10'000'000;

// With the whole path, since a run may be resumed from another folder.
Workers checked_workers(const std::string& text) {
  std::optional<Workers> workers = parse_workers(text);
  if (!workers) {
    throw CLI::ValidationError("--workers",
                               "expected " + worker_forms() + ", found \"" + text + "\"");
  }
  if (!workers->file.empty()) {
    workers->file = std::filesystem::absolute(workers->file);
  }
  return *workers;
}

}  // namespace

void add_output(CLI::App& app, Options& options) {
  app.add_flag("--json", options.json, "Print the result as JSON");
  app.add_flag("--quiet", options.quiet, "No progress lines");
}

void add_sandbox(CLI::App& app, JudgingSettings& judging) {
  app.add_option_function<std::string>(
         "--sandbox", [&judging](const std::string& value) { judging.sandbox = value != "none"; },
         "landlock (default), or none: every result is then marked unverified")
      ->check(CLI::IsMember({"landlock", "none"}));
}

void add_judging(CLI::App& app, JudgingSettings& judging) {
  app.add_option("--threads", judging.threads, "Threads a candidate may use (default: all cores)")
      ->check(CLI::Range(1, most_threads));
  app.add_option("--timeout", judging.call_timeout_seconds,
                 "Seconds a call gets at least (default 2; slow tasks get more)")
      ->check(CLI::Range(least_seconds, most_seconds));
  app.add_option("--timing", judging.timing_seconds,
                 "Seconds aimed at for the rounds of one shape (default 0.25)")
      ->check(CLI::Range(least_seconds, most_seconds));
  app.add_flag("--trace", judging.trace,
               "Trace calls on a GPU however long they take (default: those under 20 us)");
  app.add_flag("--warm", judging.warm,
               "Time on inputs that the cache holds already (default: caches are cold)");
  add_sandbox(app, judging);
}

void add_device(CLI::App& app, JudgingSettings& judging) {
  app.add_option("--device", judging.device, "Which GPU, as the driver counts (default 0)")
      ->check(CLI::Range(0, most_devices - 1));
}

void add_backend(CLI::App& app, JudgingSettings& judging) {
  app.add_option_function<std::string>(
         "--backend",
         [&judging](const std::string& name) {
           judging.backend = parse_backend(name).value_or(judging.backend);
         },
         "cpu (default) or cuda")
      ->check(CLI::IsMember(backend_names()));
  add_device(app, judging);
}

void add_place(CLI::App& app, JudgingSettings& judging, Workers& workers) {
  add_backend(app, judging);
  app.add_option_function<std::string>(
      "--workers", [&workers](const std::string& value) { workers = checked_workers(value); },
      "local (default), local:DEVICE, cmd:COMMAND that speaks worker lines (`cmd:ssh HOST "
      "kernelpro-worker`), or several of them with commas between; or bundle:FILE: write the jobs "
      "into FILE, for `kernelpro-worker run` elsewhere, and stop with exit code 4; or replay:FILE, "
      "the results of such a run once more");
}

void add_store(CLI::App& app, Options& options) {
  app.add_option("--store", options.store,
                 "Folder of the runs (default: KERNELPRO_STORE, else .kernelpro of the project)");
}

void add_precision(CLI::App& app, std::vector<std::string>& allow_precision) {
  app.add_option("--allow-precision", allow_precision,
                 "Accept this lower precision (tf32, f16, bf16), repeatable")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"tf32", "f16", "bf16"}));
}

void add_batch(CLI::App& app, std::optional<int>& batch) {
  app.add_option("--batch", batch,
                 "Candidates that go out together: with --workers bundle:FILE (default 16) or "
                 "--llm batch:DIR (default: as many as are in flight)")
      ->check(CLI::Range(1, most_in_flight));
}

CLI::Option* add_html(CLI::App& app, Options& options) {
  return app
      .add_option("--html", options.html,
                  "Write it as a page with pictures too: one file that needs no network")
      ->type_name("FILE");
}

void add_budgets(CLI::App& app, RunChanges& changes) {
  app.add_option("-n,--evaluations", changes.evaluations, "Candidates to judge (default 100)")
      ->check(CLI::Range(std::int64_t{1}, most_evaluations));
  app.add_option("--time", changes.seconds, "Seconds the run may take (default: no limit)")
      ->check(CLI::Range(1.0, most_run_seconds));
}

}  // namespace kernelpro
