#include "worker/host/host_collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/sample_file.hpp"
#include "common/base/sort.hpp"
#include "worker/host/callgrind.hpp"
#include "worker/host/hot_code.hpp"
#include "worker/host/mca.hpp"
#include "worker/host/processor_speed.hpp"
#include "worker/host/remarks.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

// Fewer say nothing of where time goes.
constexpr double least_samples = 20;
constexpr std::size_t most_simulated = 12;
constexpr char source_name[] = "candidate.cpp";

double seconds_since(std::int64_t start) {
  return static_cast<double>(now_ns() - start) / 1e9;
}

std::string end_of(const Finished& finished, const ProfiledProgram& program) {
  if (finished.timed_out) {
    return fmt::format(
        "it did not end within {:.0f} s (--timeout): this is what was seen until then",
        static_cast<double>(program.timeout_ms) / 1e3);
  }
  if (finished.signal != 0) {
    return fmt::format("it was ended by signal {} ({}): this is what was seen until then",
                       finished.signal, strsignal(finished.signal));
  }
  return finished.exit_code != 0 ? fmt::format("it ended with exit code {}", finished.exit_code)
                                 : "";
}

// "calls N ns T", as a replayed candidate says it.
struct Calls {
  double count = 0;
  double ns = 0;
};

Calls calls_of(const std::string& output) {
  std::istringstream words(output);
  std::string word;
  Calls out;
  words >> word >> out.count >> word >> out.ns;
  return words && out.count > 0 ? out : Calls();
}

Result<Finished> sample_program(const ProfiledProgram& program, const HostSettings& settings,
                                std::stop_token stop) {
  std::map<std::string, std::string> environment = {
      {sample::folder_variable, settings.folder.string()}};
  // Threads that wait are then seen where they do.
  environment["OMP_WAIT_POLICY"] = "active";
  if (settings.preload) {
    if (settings.tools.sample_library.empty()) {
      return make_error(
          ErrorKind::environment,
          "libkernelpro_sample.so is not beside the programs: install KernelPro again");
    }
    environment["LD_PRELOAD"] = settings.tools.sample_library;
  }
  return run_profiled(program, {}, environment, stop);
}

std::string text_of_line(const std::string& source, const SourcePlace& place) {
  std::istringstream given(source);
  std::ifstream file;
  if (source.empty()) {
    file.open(place.file);
  }
  std::istream& lines = source.empty() ? static_cast<std::istream&>(file) : given;
  std::string text;
  for (int i = 0; i < place.line && std::getline(lines, text); ++i) {
  }
  return lines ? text : "";
}

KernelProfile kernel_of(HotFunction& hot, double working, const HostSettings& settings,
                        double call_ns) {
  KernelProfile out;
  out.name = hot.name;
  out.module = hot.module;
  out.share = working > 0 ? hot.samples / working : 0;
  out.duration_ns = call_ns * out.share;
  out.figures["samples"] = {hot.samples, Origin::sample};
  for (HotLine& line : hot.lines) {
    const bool own = fs::path(line.place.file).filename() == source_name;
    line.text = text_of_line(own ? settings.source : "", line.place);
  }
  out.lines = std::move(hot.lines);
  for (FoundLoop& found : hot.loops) {
    out.loops.push_back(std::move(found.loop));
  }
  return out;
}

// A remark is about the loop that begins or computes there; bodies are a few lines long.
void add_remarks(const std::vector<CompilerRemark>& remarks, HotCode& code) {
  constexpr int nearby = 3;
  for (HotFunction& function : code.functions) {
    for (FoundLoop& found : function.loops) {
      for (const CompilerRemark& remark : remarks) {
        const int distance = found.loop.place.line - remark.line;
        if (found.loop.place.line > 0 && distance >= -1 && distance <= nearby) {
          found.loop.remarks.push_back(fmt::format("line {}: {}", remark.line, remark.text));
        }
      }
    }
  }
}

std::vector<FoundLoop*> hottest_loops(HotCode& code) {
  std::vector<FoundLoop*> out;
  for (HotFunction& function : code.functions) {
    for (FoundLoop& found : function.loops) {
      out.push_back(&found);
    }
  }
  sort_keeping_ties(
      out, [](const FoundLoop* a, const FoundLoop* b) { return a->loop.share > b->loop.share; });
  out.resize(std::min(out.size(), most_simulated));
  return out;
}

HostRun run_of(const HostSamples& samples, const Calls& calls, std::string ended) {
  HostRun out;
  out.processors = usable_processors();
  out.processes = samples.processes;
  out.samples = samples.all;
  out.period_ns = samples.all > 0 ? samples.cpu_ns / (samples.all + samples.lost) : 0;
  out.span_ns = samples.span_ns;
  out.gigahertz = measure_gigahertz();
  out.call_ns = calls.count > 0 ? calls.ns / calls.count : 0;
  out.vector_bits = widest_vector_bits();
  out.system_share = samples.cpu_ns > 0 ? std::min(1.0, samples.system_ns / samples.cpu_ns) : 0;
  out.faults = samples.faults;
  out.resident_bytes = samples.resident_bytes;
  out.threads = samples.threads;
  out.ended = std::move(ended);
  out.evidence = {"samples of running threads"};
  return out;
}

// Cycles a turn, from the samples and the counted turns.
void add_cycles(const HostRun& run, double working, double calls, HotCode& code) {
  const double cpu_ns = working * run.period_ns / std::max(calls, 1.0);
  for (HotFunction& function : code.functions) {
    for (FoundLoop& found : function.loops) {
      if (found.loop.turns && *found.loop.turns > 0) {
        found.loop.cycles = found.loop.share * cpu_ns * run.gigahertz / *found.loop.turns;
      }
    }
  }
}

double working_samples(const HostSamples& samples) {
  double out = samples.all;
  for (const auto& [module, counts] : samples.modules) {
    for (const auto& [offset, count] : counts) {
      out -= lets_threads_wait(module) ? count : 0;
    }
  }
  return out;
}

void note(HostRun& run, const char* what, const Status& done) {
  run.evidence.push_back(done ? what : fmt::format("no {}: {}", what, done.error().message));
}

}  // namespace

Result<Collected> collect_host_profile(const ProfiledProgram& program, const HostSettings& settings,
                                       std::stop_token stop) {
  const auto say = [&settings](const char* text) {
    if (settings.progress) {
      settings.progress(text);
    }
  };
  Collected out;
  say("sampling");
  std::int64_t start = now_ns();
  KP_LET(const Finished finished, sample_program(program, settings, stop));
  out.seconds["sample"] = seconds_since(start);
  KP_LET(const HostSamples samples, read_samples(settings.folder));
  const Calls calls = calls_of(finished.output);
  if (samples.all < least_samples) {
    const std::string end = end_of(finished, program);
    return make_error(ErrorKind::bad_input,
                      fmt::format("{:.0f} samples were taken, and {:.0f} are needed: let it run "
                                  "longer{}",
                                  samples.all, least_samples, end.empty() ? "" : "; " + end),
                      program.arguments.front());
  }
  start = now_ns();
  say("reading machine code");
  HotCode code = find_hot_code(samples, settings.tools, stop);
  HostRun run = run_of(samples, calls, end_of(finished, program));
  run.evidence.emplace_back("machine code");
  for (const std::string& problem : code.problems) {
    run.evidence.push_back("no machine code of " + problem);
  }
  const Status simulated =
      simulate_loops(settings.tools, settings.folder, hottest_loops(code), stop);
  note(run, "llvm-mca", simulated);
  if (!settings.compiler_said.empty()) {
    add_remarks(parse_remarks(settings.compiler_said, source_name), code);
    run.evidence.emplace_back("the compiler's remarks");
  }
  out.seconds["code"] = seconds_since(start);
  if (settings.count) {
    start = now_ns();
    say("counting");
    note(run, "callgrind", count_loops(program, settings, code, stop));
    add_cycles(run, working_samples(samples), calls.count, code);
    out.seconds["callgrind"] = seconds_since(start);
  }
  const double working = working_samples(samples);
  for (HotFunction& function : code.functions) {
    out.profile.kernels.push_back(kernel_of(function, working, settings, run.call_ns));
  }
  out.profile.program = fmt::format("{}", fmt::join(program.arguments, " "));
  out.profile.host = std::move(run);
  return out;
}

}  // namespace kernelpro
