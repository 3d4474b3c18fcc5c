#include "coordinator/options/option_groups.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "common/base/duration.hpp"
#include "coordinator/options/number_range.hpp"
#include "coordinator/task/nearest.hpp"

namespace kernelpro {

namespace {

constexpr int most_threads = 4096;
constexpr double most_run_seconds = 30.0 * 24 * 3600;
constexpr std::int64_t most_evaluations = 10'000'000;

// With the whole path, since a run may be resumed from another folder.
Workers checked_workers(const std::string& text) {
  Result<Workers> workers = parse_workers(text);
  if (!workers) {
    throw CLI::ValidationError("--workers", workers.error().text());
  }
  if (!workers->file.empty()) {
    workers->file = std::filesystem::absolute(workers->file);
  }
  return *workers;
}

// "30d", "1h", "1s", "1ms", for limits that are whole in a unit.
std::string duration_words(double seconds) {
  const std::pair<double, const char*> units[] = {{86400, "d"}, {3600, "h"}, {1, "s"}};
  for (const auto& [unit, name] : units) {
    if (seconds >= unit) {
      return std::to_string(std::llround(seconds / unit)) + name;
    }
  }
  return std::to_string(std::llround(seconds * 1000)) + "ms";
}

}  // namespace

std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     const std::string& flag, bool may_be_empty) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || (at + 1 == text.size() && !may_be_empty)) {
    throw CLI::ValidationError(flag, "expected NAME=VALUE, found \"" + text + "\"");
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string choices;
  for (const std::string& word : words) {
    choices += (choices.empty() ? "{" : ",") + word;
  }
  const auto complaint = [words = std::move(words)](const std::string& found) {
    return std::ranges::find(words, found) != words.end()
               ? std::string()
               : "there is no \"" + found + "\"" + suggest(found, words);
  };
  return {complaint, choices + "}"};
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    out.push_back(part);
  }
  return out;
}

CLI::Option* add_assignments(
    CLI::App& app, const std::string& flag, const std::string& text,
    std::function<void(const std::string& name, const std::string& value)> take) {
  return app
      .add_option_function<std::vector<std::string>>(
          flag,
          [flag, take = std::move(take)](const std::vector<std::string>& all) {
            for (const std::string& one : all) {
              const auto [name, value] = split_assignment(one, flag);
              take(name, value);
            }
          },
          text)
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_duration(CLI::App& app, const std::string& flag, const std::string& text, double least,
                  double most, std::function<void(double seconds)> take) {
  app.add_option_function<std::string>(
         flag,
         [=, take = std::move(take)](const std::string& given) {
           const std::optional<double> seconds = parse_duration(given);
           if (!seconds || *seconds < least || *seconds > most) {
             throw CLI::ValidationError(
                 flag, "expected " + duration_words(least) + " to " + duration_words(most) +
                           ", as 60, 60s, 5m or 1h30m, found \"" + given + "\"");
           }
           take(*seconds);
         },
         text)
      ->type_name("DURATION");
}

void add_building(CLI::App& command, BuildWishes& wishes) {
  command.add_option("--compiler", wishes.compiler, "g++ or clang++-19 (default: g++)");
  command
      .add_option(
          "--option", wishes.options,
          "A build option, repeatable: -O3, -ffast-math, or the words target and openmp for "
          "the probed flags. Default: what `// kp:options` in the source says, else -O2")
      ->allow_extra_args(false);
}

void add_output(CLI::App& app, Options& options) {
  app.add_flag("--json", options.json, "Print the result as JSON");
  app.add_flag("--quiet", options.quiet, "No progress lines");
}

void add_sandbox(CLI::App& app, JudgingSettings& judging) {
  app.add_option_function<std::string>(
         "--sandbox", [&judging](const std::string& value) { judging.sandbox = value != "none"; },
         "landlock (default), or none: every result is then marked unverified")
      ->check(one_of({"landlock", "none"}));
}

void add_judging(CLI::App& app, JudgingSettings& judging) {
  app.add_option("--threads", judging.threads, "Threads a candidate may use (default: all cores)")
      ->check(between(1, most_threads));
  add_duration(app, "--timeout", "What a call gets at least (default 2s; slow tasks get more)",
               least_seconds, most_seconds,
               [&judging](double seconds) { judging.call_timeout_seconds = seconds; });
  add_duration(app, "--timing", "Aimed at for the rounds of one shape (default 250ms)",
               least_seconds, most_seconds,
               [&judging](double seconds) { judging.timing_seconds = seconds; });
  app.add_flag("--trace", judging.trace,
               "Trace calls on a GPU however long they take (default: those under 20 us)");
  app.add_flag("--warm", judging.warm,
               "Time on inputs that the cache holds already (default: caches are cold)");
  add_sandbox(app, judging);
  add_includes(app, judging);
}

void add_includes(CLI::App& app, JudgingSettings& judging) {
  add_assignments(app, "--include",
                  "Candidates may include the headers of this folder, repeatable: "
                  "cutlass=../cutlass/include",
                  [&judging](const std::string& name, const std::string& folder) {
                    if (const Status plain = check_library_name(name); !plain) {
                      throw CLI::ValidationError("--include", plain.error().message);
                    }
                    if (std::ranges::find(judging.includes, name, &HeaderFolder::name) !=
                        judging.includes.end()) {
                      throw CLI::ValidationError("--include", "\"" + name + "\" is named twice");
                    }
                    judging.includes.push_back(
                        {name, std::filesystem::absolute(folder).lexically_normal(), {}, {}});
                  })
      ->type_name("NAME=DIR");
}

void add_device(CLI::App& app, JudgingSettings& judging) {
  app.add_option("--device", judging.device, "Which GPU, as the driver counts (default 0)")
      ->check(between(0, most_devices - 1));
}

void add_backend(CLI::App& app, JudgingSettings& judging) {
  app.add_option_function<std::string>(
         "--backend",
         [&judging](const std::string& name) {
           judging.backend = parse_backend(name).value_or(judging.backend);
         },
         "cpu (default) or cuda")
      ->check(one_of(backend_names()));
  add_device(app, judging);
}

void add_place(CLI::App& app, JudgingSettings& judging, Workers& workers) {
  add_backend(app, judging);
  add_workers(app, workers);
}

void add_workers(CLI::App& app, Workers& workers) {
  app.add_option_function<std::string>(
      "--workers", [&workers](const std::string& value) { workers = checked_workers(value); },
      "local (default), local:DEVICE, cmd:COMMAND that speaks worker lines (`cmd:ssh HOST "
      "kernelpro-worker`), slurm:partition=P,count=N for jobs of a cluster, or several of them "
      "with "
      "commas between; or bundle:FILE: write the jobs "
      "into FILE, for `kernelpro-worker run` elsewhere, and stop with exit code 4; or replay:FILE, "
      "the results of such a run once more");
}

void add_store(CLI::App& app, Options& options) {
  app.add_option("--store", options.store,
                 "Folder of the runs (default: KERNELPRO_STORE, else .kernelpro of the project)")
      ->type_name("DIR");
}

void add_precision(CLI::App& app, std::vector<std::string>& allow_precision) {
  app.add_option("--allow-precision", allow_precision,
                 "Accept this lower precision (tf32, f16, bf16), repeatable")
      ->allow_extra_args(false)
      ->check(one_of({"tf32", "f16", "bf16"}));
}

void add_batch(CLI::App& app, std::optional<int>& batch) {
  app.add_option("--batch", batch,
                 "Candidates that go out together: with --workers bundle:FILE (default 16) or "
                 "--llm batch:DIR (default: as many as are in flight)")
      ->check(between(1, most_in_flight));
}

CLI::Option* add_html(CLI::App& app, Options& options) {
  return app
      .add_option("--html", options.html,
                  "Write it as a page with pictures too: one file that needs no network")
      ->type_name("FILE");
}

void add_budgets(CLI::App& app, RunChanges& changes) {
  app.add_option("-n,--evaluations", changes.evaluations, "Candidates to judge (default 100)")
      ->check(between(std::int64_t{1}, most_evaluations));
  add_duration(app, "--time", "What the run may take (default: no limit)", 1, most_run_seconds,
               [&changes](double seconds) { changes.seconds = seconds; });
}

}  // namespace kernelpro
