// Captures cases of bench/defects_cpu: how long each takes, and its profile, as JSON lines.
//
//   capture_cpu PROGRAMS DEFECTS [CASE-PREFIX] > cases.jsonl
//
// PROGRAMS is the folder of kernelpro's programs, DEFECTS the program of bench/defects_cpu. A case
// is run for its time (processor time of its busiest thread), sampled, and run under callgrind with
// a fraction of its repeats, which its counts are scaled by. Ceilings are not needed: no case has a
// task.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/wire/profile_json.hpp"
#include "must.hpp"
#include "worker/host/host_collect.hpp"

namespace {

using nlohmann::json;
using namespace kernelpro;

std::string output_of(const std::vector<std::string>& arguments) {
  Command command;
  command.arguments = arguments;
  command.timeout_ms = 600'000;
  command.output_limit = std::size_t{16} << 20U;
  const Finished finished = must(run_command(command));
  if (!finished.succeeded()) {
    give_up(fmt::format("{} failed: {}", fmt::join(arguments, " "), finished.errors).c_str());
  }
  return finished.output;
}

// Nanoseconds a repeat: the best of a few runs, because others may be at work here.
double time_of(const std::string& program, const std::string& name) {
  constexpr int runs = 3;
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    const double ns = json::parse(output_of({program, "--time", name})).at("ns");
    best = i == 0 ? ns : std::min(best, ns);
  }
  return best;
}

Profile profile_of(const std::string& programs, const std::string& program,
                   const std::string& name) {
  const ScratchDir scratch = must(ScratchDir::create("capture"));
  ProfiledProgram sampled;
  const long repeats = json::parse(output_of({program, "--repeats", name})).at("repeats");
  const long counted = std::max(1L, repeats / 60);
  sampled.arguments = {program, "--run", name, std::to_string(repeats)};
  HostSettings settings;
  settings.tools = find_host_tools(programs);
  settings.folder = scratch.path();
  settings.count = true;
  settings.counted = sampled;
  settings.counted->arguments = {program, "--run", name, std::to_string(counted)};
  settings.counted_share = static_cast<double>(counted) / static_cast<double>(repeats);
  return must(collect_host_profile(sampled, settings)).profile;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    give_up("capture_cpu PROGRAMS DEFECTS [CASE-PREFIX]");
  }
  const std::string program = argv[2];
  const std::string prefix = argc > 3 ? argv[3] : "";
  std::istringstream lines(output_of({program, "--list"}));
  std::map<std::string, double> times;
  for (std::string line; std::getline(lines, line);) {
    json one = json::parse(line);
    const std::string name = one.at("name");
    if (!name.starts_with(prefix)) {
      continue;
    }
    const std::string twin = one.at("twin");
    for (const std::string& which : {name, twin}) {
      if (!times.contains(which)) {
        times[which] = time_of(program, which);
      }
    }
    one["gain"] = times[name] / times[twin];
    one["ns"] = times[name];
    const Profile profile = profile_of(argv[1], program, name);
    one["profile"] = to_json(profile);
    std::printf("%s\n", one.dump().c_str());
    std::fflush(stdout);
    std::fprintf(stderr, "%-50s gain %.2f\n", name.c_str(), one["gain"].get<double>());
  }
  return 0;
}
