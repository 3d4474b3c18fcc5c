// What `kernelpro optimize FILE:FUNCTION` makes of the functions in tests/own/functions, as one
// JSON value in the file of --into, written anew after each function.
//
//   cmake --build build/release --target all bench
//   build/release/bin/own_functions --into bench/results/own_functions-NAME.json
//
// Arguments: names of the files (`fir nbody`), else all; --evaluations and --flag-evaluations.
// Functions that the file has from an earlier call are kept. Each goes through the one command in
// a fresh folder. *Flags only* is the same function with
// the best compiler and flags that the playbook has, found by the same judge; *over flags* is what
// the run's best adds to that. Builds and ceilings are kept in a fresh cache, the ceilings being
// measured before the first function. Needs a quiet machine; about a minute a function.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "coordinator/app/own_flags.hpp"
#include "kernelpro_command.hpp"
#include "must.hpp"
#include "own/functions.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr double clear_gain = 1.5;

struct Wanted {
  std::vector<std::string> names;
  std::string into;
  int evaluations = 40;
  int flag_evaluations = 8;
};

Wanted parse(int argc, char** argv) {
  Wanted wanted;
  CLI::App app("Measures what `kernelpro optimize FILE:FUNCTION` makes of real functions.");
  app.add_option("names", wanted.names, "Files without their extension (default: all)");
  app.add_option("--into", wanted.into, "The file of the results; functions that it has are kept")
      ->required();
  app.add_option("--evaluations", wanted.evaluations, "Of a run (default 40)");
  app.add_option("--flag-evaluations", wanted.flag_evaluations, "Of flags alone (default 8)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return wanted;
}

double seconds_since(std::int64_t start) {
  return static_cast<double>(now_ns() - start) / 1e9;
}

// The command while it runs: what it tells on standard error, and when the first candidate was
// judged.
struct Told {
  int exit_code = 0;
  double first_judged_s = 0;  // 0: none was
  double seconds = 0;
  std::string to_paste;  // the command that it proposes instead; empty: it asked for nothing
  std::string last;
};

Told tell(const fs::path& folder, const std::string& line, int evaluations) {
  const std::int64_t start = now_ns();
  std::FILE* pipe = popen(  // NOLINT(cert-env33-c): a line to paste is for a shell
      fmt::format("cd '{}' && {} --json 2>&1 >result.json </dev/null", folder.string(), line)
          .c_str(),
      "r");
  if (pipe == nullptr) {
    give_up("no shell");
  }
  Told told;
  const std::string first = fmt::format("[1/{} ", evaluations);
  std::array<char, 4096> text{};
  while (std::fgets(text.data(), static_cast<int>(text.size()), pipe) != nullptr) {
    told.last = text.data();
    if (told.last.starts_with(first)) {
      told.first_judged_s = seconds_since(start);
    }
    if (told.last.starts_with("  kernelpro optimize ") && told.to_paste.empty()) {
      told.to_paste = told.last.substr(12, told.last.size() - 13);
    }
  }
  const int status = pclose(pipe);
  told.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  told.seconds = seconds_since(start);
  return told;
}

json flags_alone(const fs::path& folder, const std::string& task, int evaluations) {
  const json run = kernelpro_json(folder, {"optimize", task, "--tier", "build", "--search",
                                           "greedy", "--evaluations", std::to_string(evaluations)});
  const json& best = run["best"];
  return {{"speedup", best["id"] == 0 ? 1.0 : std::max(1.0, best["speedup"].get<double>())},
          {"compiler", best["compiler"]},
          {"options", best["options"]}};
}

json measure(const std::string& target, const Wanted& wanted) {
  const ScratchDir scratch = must(ScratchDir::create("own-functions"));
  const fs::path folder = scratch.path() / "project";
  fs::copy(KERNELPRO_SOURCE_DIR "/tests/own/functions", folder);
  fs::create_directory(folder / ".kernelpro");
  const std::string program = shell_line({(program_directory() / "kernelpro").string()});
  const auto try_line = [&](const std::string& arguments) {
    return tell(folder, fmt::format("{} {}", program, arguments), wanted.evaluations);
  };
  Told told = try_line(
      shell_line({"optimize", target, "--evaluations", std::to_string(wanted.evaluations)}));
  json out = {{"function", target}, {"asked", !told.to_paste.empty()}};
  if (!told.to_paste.empty()) {
    out["answer"] = told.to_paste;
    told = try_line(told.to_paste);
  }
  out["seconds"] = told.seconds;
  out["first_judged_s"] = told.first_judged_s;
  if (told.exit_code != 0 && told.exit_code != 3) {
    out["error"] = told.last;
    return out;
  }
  const json result = must(parse_json(must(read_file(folder / "result.json"))));
  const json report = kernelpro_json(folder, {"report", result["run"].get<std::string>()});
  const json flags =
      flags_alone(folder, result["task"].get<std::string>(), wanted.flag_evaluations);
  const double alone = flags["speedup"];
  out["patch"] = !result["patch"].get<std::string>().empty();
  for (const char* key : {"notes", "speedup", "faster", "flags", "best_speedup", "best_flags",
                          "missing_flags", "best_node", "refused"}) {
    out[key] = result[key];
  }
  for (const char* key : {"evaluations", "found_at", "verdicts"}) {
    out[key] = report[key];
  }
  out["moves"] = report["best"]["moves"];
  out["flags_only"] = flags;
  out["over_flags"] = std::max(1.0, result["best_speedup"].get<double>()) / alone;
  out["own_build_over_flags"] = std::max(1.0, result["speedup"].get<double>()) / alone;
  return out;
}

void print(const json& one) {
  if (one.contains("error")) {
    fmt::print(stderr, "{:<34} {}", one["function"].get<std::string>(),
               one["error"].get<std::string>());
    return;
  }
  fmt::print(stderr,
             "{:<34} {} your build {:6.2f}x  other flags {:6.2f}x  flags only {:6.2f}x  over flags "
             "{:5.2f}  first {:4.1f} s, all {:5.1f} s\n",
             one["function"].get<std::string>(), one["patch"].get<bool>() ? "patch   " : "no patch",
             one["speedup"].get<double>(), one["best_speedup"].get<double>(),
             one["flags_only"]["speedup"].get<double>(), one["over_flags"].get<double>(),
             one["first_judged_s"].get<double>(), one["seconds"].get<double>());
}

json summary(const json& functions) {
  double log_gain = 0;
  double log_own = 0;
  std::vector<double> first;
  int measured = 0;
  int patches = 0;
  int asked = 0;
  int clear = 0;
  for (const json& one : functions) {
    asked += one["asked"].get<bool>() ? 1 : 0;
    first.push_back(one["first_judged_s"]);
    if (one.contains("error")) {
      continue;
    }
    ++measured;
    patches += one["patch"].get<bool>() ? 1 : 0;
    clear += one["over_flags"].get<double>() > clear_gain ? 1 : 0;
    log_gain += std::log(one["over_flags"].get<double>());
    log_own += std::log(std::max(1.0, one["speedup"].get<double>()));
  }
  std::ranges::sort(first);
  return {{"functions", functions.size()},
          {"patches", patches},
          {"without_question", static_cast<int>(functions.size()) - asked},
          {"first_judged_s", first[first.size() / 2]},
          {"slowest_first_judged_s", first.back()},
          {"over_flags_geomean", std::exp(log_gain / std::max(1, measured))},
          {"over_flags_above_1.5", clear},
          {"own_build_geomean", std::exp(log_own / std::max(1, measured))}};
}

// Of `kernelpro --help`, the median of some calls.
double help_ms() {
  constexpr std::size_t calls = 21;
  std::vector<double> times;
  Command command;
  command.arguments = {(program_directory() / "kernelpro").string(), "--help"};
  for (std::size_t i = 0; i < calls; ++i) {
    times.push_back(static_cast<double>(must(run_command(command)).wall_ns) / 1e6);
  }
  std::ranges::sort(times);
  return times[calls / 2];
}

bool is_wanted(const Wanted& wanted, const std::string& target) {
  const std::string name = target.substr(0, target.find('.'));
  return wanted.names.empty() || std::ranges::find(wanted.names, name) != wanted.names.end();
}

// What an earlier call has measured, or a beginning.
json taken_up(const Wanted& wanted, const fs::path& cache) {
  json out = {{"doctor", kernelpro_json(cache, {"doctor"})},
              {"ceilings", kernelpro_json(cache, {"ceilings"})},
              {"help_ms", help_ms()},
              {"evaluations", wanted.evaluations},
              {"flag_evaluations", wanted.flag_evaluations},
              {"seconds", 0.0},
              {"functions", json::array()}};
  if (!fs::exists(wanted.into)) {
    return out;
  }
  const json earlier = must(parse_json(must(read_file(wanted.into))));
  for (const char* key : {"evaluations", "flag_evaluations"}) {
    if (earlier.value(key, json()) != out[key]) {
      give_up(
          fmt::format("{} was measured with another \"{}\": name another file", wanted.into, key));
    }
  }
  out["functions"] = earlier.at("functions");
  out["seconds"] = earlier.at("seconds");
  return out;
}

bool has_function(const json& functions, const std::string& target) {
  return std::ranges::any_of(functions, [&](const json& one) { return one["function"] == target; });
}

}  // namespace

int main(int argc, char** argv) {
  const Wanted wanted = parse(argc, argv);
  const ScratchDir cache = must(ScratchDir::create("own-functions-cache"));
  setenv("KERNELPRO_CACHE", cache.path().c_str(), 1);
  json out = taken_up(wanted, cache.path());
  for (const std::string& target : own_tests::functions()) {
    if (!is_wanted(wanted, target) || has_function(out["functions"], target)) {
      continue;
    }
    const std::int64_t start = now_ns();
    out["functions"].push_back(measure(target, wanted));
    print(out["functions"].back());
    out["seconds"] = out["seconds"].get<double>() + seconds_since(start);
    out["summary"] = summary(out["functions"]);
    must(write_file_atomic(wanted.into, out.dump(2) + "\n"));
  }
  fmt::print("{}\n", out["summary"].dump(2));
  return 0;
}
