// Captures the cases of bench/defects on a GPU: times, traces and profiles, one JSON line a case.
//
//   capture_defects PROGRAM CEILINGS.json FOLDER [--rules] [CASE,CASE...] > cases.jsonl
//
// A name that ends with * stands for all that begin so: divergent_warps/*.
//
// PROGRAM is built from bench/defects (its README says how), CEILINGS.json is what
// `kernelpro ceilings --backend cuda --json` prints, FOLDER gets the profilers' files, and
// code.jsonl: the machine code of each case with its counts, from which reread_code makes the facts
// again. Every case is a range between cudaProfilerStart and cudaProfilerStop, in the order of the
// program's list.
// --rules: ncu's own rules too, of the cases that are reported on; they tune nothing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "case_names.hpp"
#include "code_lines.hpp"
#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "common/wire/profile_json.hpp"
#include "must.hpp"
#include "support/defect_cases.hpp"
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

// What ncu is told for every case. Caches as they are: the times were taken so.
std::vector<std::string> ncu_command(const Capture& capture, const NcuWish& wish) {
  std::vector<std::string> out = {capture.profilers.ncu, "--clock-control", "none"};
  out.insert(out.end(), {"--cache-control", "none", "--profile-from-start", "off"});
  out.insert(out.end(), {"--force-overwrite", "--export", wish.report, "--metrics"});
  out.push_back(fmt::format("{}", fmt::join(ncu_names(ncu_keys(), "sm_90", {}), ",")));
  out.insert(out.end(), {"--section", "SourceCounters"});
  if (wish.rules) {
    for (const std::string& section : ncu_rule_sections()) {
      out.insert(out.end(), {"--section", section});
    }
  }
  out.insert(out.end(), {"--apply-rules", wish.rules ? "yes" : "no"});
  return out;
}

// Runs ncu, and reads its report beside what comes next.
std::future<NcuPages> counters(const Capture& capture, const std::string& cases, NcuWish wish,
                               const std::vector<std::string>& filter) {
  static int number = 0;
  wish.report = (capture.folder / fmt::format("defects{}", ++number)).string();
  std::vector<std::string> ncu = ncu_command(capture, wish);
  ncu.insert(ncu.end(), filter.begin(), filter.end());
  run(capture.with({"--run", cases, "--launches", "1"}), ncu, {});
  return std::async(std::launch::async, [&capture, wish] {
    NcuPages pages = must(read_ncu_pages(capture.profilers.ncu, capture.with({}), wish));
    if (!pages.source_problem.empty()) {
      std::fprintf(stderr, "%s\n", pages.source_problem.c_str());
    }
    return pages;
  });
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

// Appends the case's machine code to FOLDER/code.jsonl.
void keep_code(const Capture& capture, const NcuPages& pages, std::size_t index,
               const Profile& profile) {
  if (index < pages.block_of.size()) {
    std::ofstream file(capture.folder / "code.jsonl", std::ios::app);
    file << code_line(profile.program, pages.source.kernels[pages.block_of[index]].instructions)
                .dump()
         << "\n";
  }
}

void add_counters(const NcuPages& pages, std::size_t index, Profile& profile) {
  constexpr std::size_t kept_lines = 4;
  constexpr std::size_t kept_letters = 200;  // of a rule's advice, the rest of which is general
  KernelProfile& kernel = profile.kernels.front();
  add_ncu(pages, index, ncu_keys(), kernel);
  kernel.lines.resize(std::min(kernel.lines.size(), kept_lines));
  std::erase_if(kernel.rules, [](const RuleNote& note) { return note.type != "OPT"; });
  for (RuleNote& note : kernel.rules) {
    note.text.resize(std::min(note.text.size(), kept_letters));
  }
  profile.limits = limits_from(pages.raw, pages.raw.launches[index]);
}

bool is_one_kernel(const Profile& profile) {
  return profile.trace->launches.size() == traced_launches;
}

// Cases that one run of ncu profiles.
struct Batch {
  std::vector<Profile*> profiles;
  std::future<NcuPages> pages;
};

std::string names_of(const std::vector<Profile*>& profiles) {
  std::vector<std::string> names;
  for (const Profile* profile : profiles) {
    names.push_back(profile->program);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

// Ranges of one kernel each: the launches of the report are these cases.
Batch kernel_batch(const Capture& capture, std::vector<Profile*> profiles, bool rules) {
  NcuWish wish;
  wish.rules = rules;
  Batch batch;
  batch.pages = counters(capture, names_of(profiles), wish,
                         {"--launch-count", std::to_string(profiles.size())});
  batch.profiles = std::move(profiles);
  return batch;
}

// Ranges of many launches of one kernel: it is profiled once for each size of its grid.
Batch sequence_batch(const Capture& capture, std::vector<Profile*> profiles, bool rules) {
  NcuWish wish;
  wish.rules = rules;
  Batch batch;
  batch.pages = counters(
      capture, names_of(profiles), wish,
      {"--kernel-name-base", "mangled", "--kernel-name", profiles.front()->kernels.front().mangled,
       "--filter-mode", "per-launch-config", "--launch-count", "1"});
  batch.profiles = std::move(profiles);
  return batch;
}

void take_kernels(const Capture& capture, Batch& batch) {
  const NcuPages pages = batch.pages.get();
  if (pages.raw.launches.size() != batch.profiles.size()) {
    give_up(fmt::format("ncu profiled {} launches of {} cases", pages.raw.launches.size(),
                        batch.profiles.size()));
  }
  for (std::size_t i = 0; i < batch.profiles.size(); ++i) {
    add_counters(pages, i, *batch.profiles[i]);
    keep_code(capture, pages, i, *batch.profiles[i]);
  }
}

void take_sequences(const Capture& capture, Batch& batch) {
  const NcuPages pages = batch.pages.get();
  for (Profile* profile : batch.profiles) {
    const KernelProfile& kernel = profile->kernels.front();
    const auto& launches = pages.raw.launches;
    const auto at = std::find_if(launches.begin(), launches.end(), [&](const NcuLaunch& launch) {
      return launch.name == kernel.mangled && launch.grid == kernel.grid &&
             launch.block == kernel.block;
    });
    if (at != launches.end()) {
      const auto index = static_cast<std::size_t>(at - launches.begin());
      add_counters(pages, index, *profile);
      keep_code(capture, pages, index, *profile);
    } else {
      std::fprintf(stderr, "%s: its kernel was not profiled\n", profile->program.c_str());
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

struct Wanted {
  std::string ceilings;  // file
  bool rules = false;
  std::vector<std::string> names;  // empty: all
};

class Writer {
 public:
  Writer(std::map<std::string, json> known, std::map<std::string, double> time)
      : known_(std::move(known)), time_(std::move(time)) {}

  void write(const std::vector<Profile*>& profiles) const {
    for (const Profile* profile : profiles) {
      json written = to_json(*profile);
      written.erase("ceilings");
      const json& said = known_.at(profile->program);
      const std::string twin = said.at("twin");
      const double own_us = time_.at(profile->program);
      const json line = {{"case", said},
                         {"time_us", own_us},
                         {"gain", twin.empty() ? 1.0 : own_us / time_.at(twin)},
                         {"profile", std::move(written)}};
      std::printf("%s\n", line.dump().c_str());
    }
    std::fflush(stdout);
  }

 private:
  std::map<std::string, json> known_;
  std::map<std::string, double> time_;
};

// Profiles that are measured alike, in pieces: a run that is cut off loses no more than two.
void capture_alike(Capture& capture, const std::vector<Profile*>& profiles, bool sequences,
                   bool rules, const Writer& writer) {
  const std::size_t together = sequences ? profiles.size() : 32;
  std::optional<Batch> running;
  const auto finish = [&] {
    if (running) {
      sequences ? take_sequences(capture, *running) : take_kernels(capture, *running);
      writer.write(running->profiles);
    }
  };
  for (std::size_t first = 0; first < profiles.size(); first += together) {
    const auto begin = profiles.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end =
        profiles.begin() + static_cast<std::ptrdiff_t>(std::min(first + together, profiles.size()));
    Batch next = timed(capture, "counters", [&] {
      return sequences ? sequence_batch(capture, {begin, end}, rules)
                       : kernel_batch(capture, {begin, end}, rules);
    });
    finish();
    running = std::move(next);
  }
  finish();
}

void capture_all(Capture& capture, std::vector<Profile>& profiles, const Wanted& wanted,
                 const Writer& writer) {
  // Those that are reported on first.
  for (const bool calibration : {false, true}) {
    std::vector<Profile*> kernels;
    std::map<std::string, std::vector<Profile*>> sequences;  // by their main kernel
    for (Profile& profile : profiles) {
      if (is_for_calibration(profile.program) == calibration) {
        (is_one_kernel(profile) ? kernels : sequences[profile.kernels.front().mangled])
            .push_back(&profile);
      }
    }
    const bool rules = wanted.rules && !calibration;
    capture_alike(capture, kernels, false, rules, writer);
    for (const auto& [kernel, alike] : sequences) {
      capture_alike(capture, alike, true, rules, writer);
    }
  }
}

Wanted wanted_from(int argc, char** argv) {
  Wanted out;
  out.ceilings = argv[2];
  for (int i = 4; i < argc; ++i) {
    if (std::string(argv[i]) == "--rules") {
      out.rules = true;
    } else {
      out.names = split(argv[i]);
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    give_up("capture_defects PROGRAM CEILINGS.json FOLDER [--rules] [CASE,CASE...]");
  }
  Wanted wanted = wanted_from(argc, argv);
  Capture capture;
  capture.program = fs::absolute(argv[1]);
  capture.folder = fs::absolute(argv[3]);
  fs::create_directories(capture.folder);
  Compiler nvcc;
  nvcc.name = nvcc_name;
  nvcc.path = find_nvcc().value_or("");
  capture.profilers = find_profilers(program_directory(), {nvcc});
  std::map<std::string, json> known;
  std::vector<std::string> all;
  for (const json& one : lines_of(run(capture.with({"--list"}), {}, {}))) {
    all.push_back(one.at("case"));
    known[all.back()] = one;
  }
  const std::vector<std::string> names = chosen(all, wanted.names);
  if (names.empty()) {
    give_up("no case is called so");
  }
  std::vector<std::string> clocked = names;  // and their twins
  for (const std::string& name : names) {
    const std::string twin = known[name].at("twin");
    if (!twin.empty() && std::find(clocked.begin(), clocked.end(), twin) == clocked.end()) {
      clocked.push_back(twin);
    }
  }
  const Writer writer(known, timed(capture, "times", [&] {
                        return times(capture, fmt::format("{}", fmt::join(clocked, ",")));
                      }));
  fs::remove(capture.folder / "code.jsonl");
  const auto parts = timed(
      capture, "traces", [&] { return traces(capture, fmt::format("{}", fmt::join(names, ","))); });
  if (parts.size() != names.size()) {
    give_up(fmt::format("{} traced parts of {} cases", parts.size(), names.size()));
  }
  std::printf("%s\n",
              json{{"ceilings", json::parse(must(read_file(wanted.ceilings)))}}.dump().c_str());
  std::vector<Profile> profiles;
  for (std::size_t i = 0; i < names.size(); ++i) {
    profiles.push_back(profile_of(names[i], parts[i]));
  }
  capture_all(capture, profiles, wanted, writer);
  return 0;
}
