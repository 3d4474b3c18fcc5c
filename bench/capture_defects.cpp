// Captures the cases of bench/defects on a GPU: times, traces and profiles, one JSON line a case.
//
//   capture_defects PROGRAM CEILINGS.json FOLDER > cases.jsonl
//
// PROGRAM is built from bench/defects (its README says how), CEILINGS.json is what
// `kernelpro ceilings --backend cuda --json` prints, FOLDER gets the profilers' files. Every case
// is a range between cudaProfilerStart and cudaProfilerStop, in the order of the program's list.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "common/wire/profile_json.hpp"
#include "must.hpp"
#include "worker/profile/collect.hpp"
#include "worker/profile/launch_choice.hpp"
#include "worker/profile/ncu_run.hpp"
#include "worker/profile/trace_file.hpp"
#include "worker/toolchain/cuda.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace kernelpro;

constexpr std::int64_t whole_run_ms = 500'000;
constexpr int timed_launches = 9;
constexpr int traced_launches = 3;

struct Capture {
  std::string program;
  fs::path folder;
  Profilers profilers;
  std::map<std::string, double> seconds;

  [[nodiscard]] ProfiledProgram with(std::vector<std::string> arguments) const {
    ProfiledProgram out;
    out.arguments = {program};
    out.arguments.insert(out.arguments.end(), arguments.begin(), arguments.end());
    out.timeout_ms = whole_run_ms;
    out.output_limit = std::size_t{256} << 20U;
    return out;
  }
};

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    json parsed = json::parse(line, nullptr, false);
    if (parsed.is_object()) {
      out.push_back(std::move(parsed));
    }
  }
  return out;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    out.push_back(word);
  }
  return out;
}

std::string run(const ProfiledProgram& program, const std::vector<std::string>& wrapper,
                const std::map<std::string, std::string>& environment) {
  Finished finished = must(run_profiled(program, wrapper, environment));
  if (!finished.succeeded()) {
    give_up(fmt::format("{}\n{}", fmt::join(program.arguments, " "),
                        finished.errors + finished.output));
  }
  return std::move(finished.output);
}

std::map<std::string, double> times(const Capture& capture, const std::string& cases) {
  std::map<std::string, double> out;
  const ProfiledProgram program =
      capture.with({"--run", cases, "--launches", std::to_string(timed_launches)});
  for (const json& line : lines_of(run(program, {}, {}))) {
    out[line.at("case")] = line.at("median_us");
  }
  return out;
}

std::vector<Trace> traces(const Capture& capture, const std::string& cases) {
  const fs::path file = capture.folder / "trace";
  const ProfiledProgram program =
      capture.with({"--run", cases, "--launches", std::to_string(traced_launches)});
  run(program, {},
      {{"CUDA_INJECTION64_PATH", capture.profilers.trace_library},
       {"KERNELPRO_TRACE_FILE", file.string()},
       {"KERNELPRO_CUPTI", capture.profilers.cupti}});
  return must(read_trace(file));
}

// Of the first kernel in each of the ranges; all of them have one only, or there is one range.
NcuPages counters(const Capture& capture, const std::vector<std::string>& cases) {
  NcuWish wish;
  wish.report = (capture.folder / "defects").string();
  // Caches as they are: the times were taken so.
  const std::vector<std::string> ncu = {
      capture.profilers.ncu,
      "--clock-control",
      "none",
      "--cache-control",
      "none",
      "--profile-from-start",
      "off",
      "--force-overwrite",
      "--export",
      wish.report,
      "--metrics",
      fmt::format("{}", fmt::join(ncu_names(ncu_keys(), "sm_90", {}), ",")),
      "--section",
      "SourceCounters",
      "--apply-rules",
      "no",
      "--launch-count",
      std::to_string(cases.size())};
  const ProfiledProgram program =
      capture.with({"--run", fmt::format("{}", fmt::join(cases, ",")), "--launches", "1"});
  const std::string said = run(program, ncu, {});
  NcuPages pages = must(read_ncu_pages(capture.profilers.ncu, capture.with({}), wish));
  if (pages.raw.launches.size() != cases.size()) {
    give_up(fmt::format("ncu profiled {} launches of {} cases\n{}", pages.raw.launches.size(),
                        cases.size(), said));
  }
  if (!pages.source_problem.empty()) {
    std::fprintf(stderr, "%s\n", pages.source_problem.c_str());
  }
  return pages;
}

Profile profile_of(const std::string& name, const Trace& trace) {
  Profile profile;
  profile.program = name;
  profile.architecture = trace.architecture;
  profile.device = "NVIDIA H200";
  profile.trace = trace;
  profile.kernels = choose_launches(trace, 0.9, 1).kernels;
  if (profile.kernels.empty()) {
    give_up(fmt::format("{}: nothing was launched", name));
  }
  return profile;
}

void add_counters(const NcuPages& pages, std::size_t index, Profile& profile) {
  constexpr std::size_t kept_lines = 4;
  KernelProfile& kernel = profile.kernels.front();
  add_ncu(pages, index, ncu_keys(), kernel);
  kernel.lines.resize(std::min(kernel.lines.size(), kept_lines));
  profile.limits = limits_from(pages.raw, pages.raw.launches[index]);
}

bool is_one_kernel(const Profile& profile) {
  return profile.trace->launches.size() == traced_launches;
}

// Cases whose ranges hold one kernel are profiled together, the others one by one where asked for.
void add_all_counters(const Capture& capture, std::vector<Profile*> profiles) {
  std::vector<std::string> single;
  for (const Profile* profile : profiles) {
    if (is_one_kernel(*profile)) {
      single.push_back(profile->program);
    }
  }
  const NcuPages pages = single.empty() ? NcuPages() : counters(capture, single);
  std::size_t next = 0;
  for (Profile* profile : profiles) {
    if (is_one_kernel(*profile)) {
      add_counters(pages, next++, *profile);
    } else if (std::getenv("CAPTURE_SEQUENCES") != nullptr) {
      add_counters(counters(capture, {profile->program}), 0, *profile);
    }
  }
}

template <typename Step>
auto timed(Capture& capture, const char* name, Step step) {
  const std::int64_t start = now_ns();
  auto result = step();
  capture.seconds[name] = static_cast<double>(now_ns() - start) / 1e9;
  std::fprintf(stderr, "%s: %.1f s\n", name, capture.seconds[name]);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    give_up("capture_defects PROGRAM CEILINGS.json FOLDER [CASE,CASE...]");
  }
  constexpr std::size_t together = 32;  // a run that is cut off loses no more
  Capture capture;
  capture.program = fs::absolute(argv[1]);
  capture.folder = fs::absolute(argv[3]);
  fs::create_directories(capture.folder);
  Compiler nvcc;
  nvcc.name = nvcc_name;
  nvcc.path = find_nvcc().value_or("");
  capture.profilers = find_profilers(program_directory(), {nvcc});
  std::map<std::string, json> known;
  std::vector<std::string> names;
  for (const json& one : lines_of(run(capture.with({"--list"}), {}, {}))) {
    names.push_back(one.at("case"));
    known[names.back()] = one;
  }
  const auto time = timed(capture, "times", [&] { return times(capture, "all"); });
  if (argc > 4) {
    names = split(argv[4]);
  }
  const auto parts = timed(
      capture, "traces", [&] { return traces(capture, fmt::format("{}", fmt::join(names, ","))); });
  if (parts.size() != names.size()) {
    give_up(fmt::format("{} traced parts of {} cases", parts.size(), names.size()));
  }
  std::printf("%s\n", json{{"ceilings", json::parse(must(read_file(argv[2])))}}.dump().c_str());
  std::vector<Profile> profiles;
  for (std::size_t i = 0; i < names.size(); ++i) {
    profiles.push_back(profile_of(names[i], parts[i]));
  }
  for (std::size_t first = 0; first < names.size(); first += together) {
    const std::size_t last = std::min(first + together, names.size());
    std::vector<Profile*> some;
    for (std::size_t i = first; i < last; ++i) {
      some.push_back(&profiles[i]);
    }
    timed(capture, "counters", [&] {
      add_all_counters(capture, some);
      return 0;
    });
    for (const Profile* profile : some) {
      json written = to_json(*profile);
      written.erase("ceilings");
      const json& said = known.at(profile->program);
      const std::string twin = said.at("twin");
      const double own_us = time.at(profile->program);
      const json line = {{"case", said},
                         {"time_us", own_us},
                         {"gain", twin.empty() ? 1.0 : own_us / time.at(twin)},
                         {"profile", std::move(written)}};
      std::printf("%s\n", line.dump().c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}
