// Whether an exported kernel, built by its own build line in an empty folder, is as fast as its
// certificate says; one JSON value on standard output.
//
//   cmake --build --preset release && build/release/bin/export_speed gemm softmax axpy >
//   bench/results/export_speed-NAME.json
//
// For each task a short run, or with --run the best of runs that a store has already; its best is
// exported, built and measured by the exported bench, each time in a process of its own. Needs a
// quiet machine; nobody who keeps the machine's lock measures or builds meanwhile.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/machine_lock.hpp"
#include "kernelpro_command.hpp"
#include "must.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr double allowed = 0.1;
constexpr std::int64_t timeout_ms = 600'000;

struct Wanted {
  std::vector<std::string> tasks = {"gemm", "softmax", "axpy"};
  std::vector<std::string> runs;
  std::string store;
  int evaluations = 30;
  int repeats = 3;
};

std::string run_in(const fs::path& folder, const std::vector<std::string>& arguments) {
  Command command;
  command.arguments = arguments;
  command.directory = folder.string();
  command.timeout_ms = timeout_ms;
  const Finished finished = must(run_command(command));
  if (!finished.succeeded()) {
    give_up(fmt::format("{} in {}: exit code {}: {}{}", fmt::join(arguments, " "), folder.string(),
                        finished.exit_code, finished.output, finished.errors));
  }
  return finished.output;
}

// What one run of the exported bench measured at one shape.
struct Measured {
  double kernel_ns = 0;
  double speedup = 0;
};

std::vector<Measured> run_bench(const fs::path& folder) {
  const MachineLock lock = must(MachineLock::acquire("cpu", LockMode::timing, timeout_ms));
  const std::string output = run_in(folder, {(folder / "bench").string()});
  static const std::regex line(R"(measured +kernel +([0-9.]+) us .*speed-up ([0-9.]+) )");
  std::vector<Measured> shapes;
  for (std::sregex_iterator at(output.begin(), output.end(), line), end; at != end; ++at) {
    shapes.push_back({1e3 * std::stod((*at)[1]), std::stod((*at)[2])});
  }
  return shapes;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// One shape: the certificate's figures, each repeat's, and the ratio of the median to the former.
json shape_json(const json& certified, const std::vector<Measured>& repeats) {
  std::vector<double> times;
  std::vector<double> speedups;
  for (const Measured& repeat : repeats) {
    times.push_back(repeat.kernel_ns);
    speedups.push_back(repeat.speedup);
  }
  const double time_ratio = median(times) / certified["candidate_ns"].get<double>();
  return {{"shape", certified["shape"]},
          {"certified_ns", certified["candidate_ns"]},
          {"measured_ns", times},
          {"time_ratio", time_ratio},
          {"certified_speedup", certified["speedup"]},
          {"certified_interval", certified["speedup_interval"]},
          {"measured_speedup", speedups},
          {"speedup_ratio", median(speedups) / certified["speedup"].get<double>()},
          {"within_10_percent", std::fabs(time_ratio - 1) <= allowed}};
}

json measure(const fs::path& folder, const std::vector<std::string>& store, const std::string& run,
             int repeats) {
  const auto with_store = [&store](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), store.begin(), store.end());
    return arguments;
  };
  if (kernelpro_json(folder, with_store({"show", run}))["node"]["id"] == 0) {
    give_up(run +
            ": nothing beats the baseline, so there is no kernel to export; try more "
            "--evaluations, or a quieter machine");
  }
  const fs::path home = folder / ("export-" + run);
  kernelpro_json(folder, with_store({"export", run, home.string()}));
  run_in(home, {"sh", "build.sh"});
  std::vector<std::vector<Measured>> measured;
  for (int i = 0; i < repeats; ++i) {
    measured.push_back(run_bench(home));
  }
  const json certificate = must(parse_json(must(read_file(home / "certificate.json"))));
  const json& shapes = certificate["verdict"]["timing"]["shapes"];
  json out = {{"run", run},
              {"task", certificate["task"]["name"]},
              {"candidate", certificate["candidate"]["name"]},
              {"compiler", certificate["build"]["compiler_identity"]},
              {"flags", certificate["build"]["flags"]},
              {"threads", certificate["threads"]},
              {"shapes", json::array()}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::vector<Measured> repeated;
    for (const std::vector<Measured>& one : measured) {
      if (one.size() != shapes.size()) {
        give_up(fmt::format("{}: the exported bench printed {} shapes, expected {}", run,
                            one.size(), shapes.size()));
      }
      repeated.push_back(one[i]);
    }
    out["shapes"].push_back(shape_json(shapes[i], repeated));
    const json& shape = out["shapes"].back();
    fmt::print(stderr, "{:<12} {}: time {:.3f}, speed-up {:.3f} of the certificate's\n", run,
               shape["shape"].dump(), shape["time_ratio"].get<double>(),
               shape["speedup_ratio"].get<double>());
  }
  return out;
}

Wanted parse(int argc, char** argv) {
  Wanted wanted;
  CLI::App app("Measures whether exported kernels are as fast as their certificates say.");
  app.add_option("tasks", wanted.tasks, "Tasks to make short runs of (default: gemm softmax axpy)");
  app.add_option("--run", wanted.runs, "Take the best of this run instead, repeatable")
      ->allow_extra_args(false);
  app.add_option("--store", wanted.store, "The store of these runs");
  app.add_option("--evaluations", wanted.evaluations, "Of a short run (default 30)");
  app.add_option("--repeats", wanted.repeats, "Of the exported bench (default 3)")
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return wanted;
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted = parse(argc, argv);
  const ScratchDir scratch = must(ScratchDir::create("export-speed"));
  std::vector<std::string> store;
  if (!wanted.store.empty()) {
    store = {"--store", fs::absolute(wanted.store).string()};
  }
  json out = {{"doctor", kernelpro_json(scratch.path(), {"doctor"})}, {"kernels", json::array()}};
  if (wanted.runs.empty()) {
    out["evaluations"] = wanted.evaluations;
    for (const std::string& task : wanted.tasks) {
      std::vector<std::string> arguments = {"optimize", task, "--evaluations",
                                            std::to_string(wanted.evaluations)};
      arguments.insert(arguments.end(), store.begin(), store.end());
      wanted.runs.push_back(kernelpro_json(scratch.path(), arguments)["run"]);
    }
  }
  bool all = true;
  for (const std::string& run : wanted.runs) {
    out["kernels"].push_back(measure(scratch.path(), store, run, wanted.repeats));
    for (const json& shape : out["kernels"].back()["shapes"]) {
      all = all && shape["within_10_percent"].get<bool>();
    }
  }
  out["all_within_10_percent"] = all;
  fmt::print("{}\n", out.dump(2));
  return 0;
}
