#include "coordinator/cli/option_groups.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string_view>

#include "coordinator/dispatch/bundle.hpp"

namespace kernelpro {

namespace {

constexpr int most_threads = 4096;
constexpr double most_run_seconds = 30.0 * 24 * 3600;
constexpr std::int64_t most_evaluations = 10'000'000;
constexpr int most_devices = 1024;

// "bundle:FILE" with the whole path, since a run may be resumed from another folder.
std::string checked_workers(const std::string& text) {
  if (text == "local") {
    return text;
  }
  for (const std::string_view scheme : {bundle_scheme, recorded_scheme}) {
    if (text.starts_with(scheme) && text.size() > scheme.size()) {
      return std::string(scheme) + std::filesystem::absolute(text.substr(scheme.size())).string();
    }
  }
  throw CLI::ValidationError(
      "--workers", R"(expected "local", "bundle:FILE" or "replay:FILE", found ")" + text + "\"");
}

}  // namespace

void add_output(CLI::App& app, Options& options) {
  app.add_flag("--json", options.json, "Print the result as JSON");
  app.add_flag("--quiet", options.quiet, "No progress lines");
}

void add_sandbox(CLI::App& app, Options& options) {
  app.add_option_function<std::string>(
         "--sandbox", [&options](const std::string& value) { options.sandbox = value != "none"; },
         "landlock (default), or none: every result is then marked unverified")
      ->check(CLI::IsMember({"landlock", "none"}));
}

void add_judging(CLI::App& app, Options& options) {
  app.add_option("--threads", options.threads, "Threads a candidate may use (default: all cores)")
      ->check(CLI::Range(1, most_threads));
  app.add_option("--timeout", options.timeout_seconds,
                 "Seconds a call gets at least (default 2; slow tasks get more)")
      ->check(CLI::Range(least_seconds, most_seconds));
  app.add_option("--timing", options.timing_seconds,
                 "Seconds aimed at for the rounds of one shape (default 0.25)")
      ->check(CLI::Range(least_seconds, most_seconds));
  app.add_flag("--trace", options.trace,
               "Trace calls on a GPU however long they take (default: those under 20 us)");
  app.add_flag("--warm", options.warm,
               "Time on inputs that the cache holds already (default: caches are cold)");
  add_sandbox(app, options);
}

void add_device(CLI::App& app, Options& options) {
  app.add_option("--device", options.run_settings.device,
                 "Which GPU, as the driver counts (default 0)")
      ->check(CLI::Range(0, most_devices - 1));
}

void add_backend(CLI::App& app, Options& options) {
  app.add_option("--backend", options.run_settings.backend, "cpu (default) or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  add_device(app, options);
}

void add_place(CLI::App& app, Options& options) {
  RunSettings& settings = options.run_settings;
  add_backend(app, options);
  app.add_option_function<std::string>(
      "--workers",
      [&settings](const std::string& value) { settings.workers = checked_workers(value); },
      "local (default), or bundle:FILE: write the jobs into FILE, for `kernelpro-worker run` "
      "elsewhere, and stop with exit code 4; or replay:FILE, the results of such a run once more");
}

void add_store(CLI::App& app, Options& options) {
  app.add_option("--store", options.store,
                 "Folder of the runs (default: KERNELPRO_STORE, else .kernelpro of the project)");
}

void add_budgets(CLI::App& app, Options& options) {
  app.add_option_function<std::int64_t>(
         "-n,--evaluations",
         [&options](std::int64_t value) {
           options.run_settings.evaluations = value;
           options.more_evaluations = true;
         },
         "Candidates to judge (default 100)")
      ->check(CLI::Range(std::int64_t{1}, most_evaluations));
  app.add_option_function<double>(
         "--time",
         [&options](double value) {
           options.run_settings.seconds = value;
           options.more_seconds = true;
         },
         "Seconds the run may take (default: no limit)")
      ->check(CLI::Range(1.0, most_run_seconds));
}

}  // namespace kernelpro
