#include "worker/profile/collect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "common/base/clock.hpp"
#include "worker/profile/launch_choice.hpp"
#include "worker/profile/ncu_run.hpp"
#include "worker/profile/trace_file.hpp"
#include "worker/profile/without_counters.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t shown_words = 600;

// Who runs us does not matter there: a candidate is nobody.
constexpr char denied_in_jail[] =
    "the driver keeps the GPU's counters for root (ERR_NVGPUCTRPERM), and no candidate is profiled "
    "as root: let an administrator load the nvidia module with "
    "NVreg_RestrictProfilingToAdminUsers=0";

std::string last_words(const Finished& finished) {
  const std::string& text = finished.errors.empty() ? finished.output : finished.errors;
  return text.size() > shown_words ? "…" + text.substr(text.size() - shown_words) : text;
}

Status check_end(const Finished& finished, const ProfiledProgram& program) {
  const std::string& name = program.arguments.front();
  if (finished.timed_out) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("the program did not end within {:.0f} s: give more with "
                                  "--timeout, or profile a shorter run",
                                  static_cast<double>(program.timeout_ms) / 1e3),
                      name);
  }
  if (finished.signal != 0) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("the program was ended by signal {}: {}", finished.signal,
                                  last_words(finished)),
                      name);
  }
  if (finished.exit_code != 0) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("the program failed with exit code {}: {}", finished.exit_code,
                                  last_words(finished)),
                      name);
  }
  return {};
}

Result<std::vector<Trace>> trace_program(const ProfiledProgram& program,
                                         const CollectSettings& settings, std::stop_token stop) {
  if (settings.profilers.trace_library.empty()) {
    return make_error(ErrorKind::environment,
                      "libkernelpro_trace.so is not beside the programs: install KernelPro again");
  }
  const fs::path file = settings.folder / "trace";
  std::map<std::string, std::string> environment = {
      {"CUDA_INJECTION64_PATH", settings.profilers.trace_library},
      {"KERNELPRO_TRACE_FILE", file.string()}};
  if (!settings.profilers.cupti.empty()) {
    environment["KERNELPRO_CUPTI"] = settings.profilers.cupti;
  }
  KP_LET(const Finished finished, run_profiled(program, {}, environment, stop));
  KP_TRY(check_end(finished, program));
  const std::vector<fs::path> files = trace_files(file);
  if (files.empty()) {
    return make_error(ErrorKind::bad_input, "the program does not use CUDA: it never opened a GPU",
                      program.arguments.front());
  }
  KP_LET(std::vector<Trace> parts, read_trace(files.front()));
  const bool launches = std::any_of(parts.begin(), parts.end(),
                                    [](const Trace& part) { return !part.launches.empty(); });
  if (!launches) {
    return make_error(ErrorKind::bad_input, "the program launched no kernel",
                      program.arguments.front());
  }
  return parts;
}

// A jailed program that stays root cannot be started by ncu (profiled_program.hpp).
std::string no_counters(const ProfiledProgram& program, const CollectSettings& settings) {
  if (!settings.counters) {
    return "counters were not asked for";
  }
  if (program.jail && !program.jail->drop_user && geteuid() == 0) {
    return fmt::format(
        "only root can reach {}, and no candidate is profiled as root: install KernelPro where "
        "every user can read it",
        program.arguments.front());
  }
  return settings.profilers.ncu.empty()
             ? "ncu is not there: install Nsight Compute, or name it with KERNELPRO_NCU"
             : "";
}

// Whether the launch that ncu profiled is the one that was chosen from the trace.
bool same_launch(const NcuLaunch& profiled, const TracedLaunch& traced) {
  return profiled.name == traced.name && profiled.grid == traced.grid &&
         profiled.block == traced.block;
}

void mark_missing(KernelProfile& kernel, const std::vector<std::string>& keys,
                  const std::string& why) {
  for (const std::string& key : keys) {
    if (!kernel.figures.contains(key)) {
      kernel.missing.try_emplace(key, why);
    }
  }
}

class NcuPart {
 public:
  NcuPart(const ProfiledProgram& program, const CollectSettings& settings, Profile& profile)
      : program_(program), settings_(settings), profile_(profile) {}

  // Profiles one window and puts what it says into the kernels.
  Status profile_window(const ChosenWindow& chosen, int number, std::stop_token stop) {
    NcuWish wish;
    wish.window = chosen.window;
    wish.rules = settings_.rules;
    wish.cold = settings_.cold;
    wish.report = (settings_.folder / fmt::format("ncu{}", number)).string();
    KP_LET(const std::optional<NcuFailure> failure,
           run_ncu(settings_.profilers.ncu, program_, wish, settings_.figures,
                   profile_.architecture, refused_, stop));
    if (failure) {
      const bool denied = failure->kind == NcuFailureKind::counters_denied;
      profile_.counters = denied && program_.jail ? denied_in_jail : failure->error.text();
      return {};
    }
    const Result<NcuPages> pages = read_ncu_pages(settings_.profilers.ncu, program_, wish, stop);
    if (!pages) {
      profile_.counters = pages.error().text();
      return {};
    }
    take(chosen, *pages);
    return {};
  }

 private:
  void take(const ChosenWindow& chosen, const NcuPages& pages) {
    for (KernelProfile& kernel : profile_.kernels) {
      const auto at = std::find_if(
          chosen.launches.begin(), chosen.launches.end(),
          [&kernel](const TracedLaunch& launch) { return launch.index == kernel.launch; });
      if (at == chosen.launches.end()) {
        continue;
      }
      const auto place = static_cast<std::size_t>(at - chosen.launches.begin());
      if (place >= pages.raw.launches.size() || !same_launch(pages.raw.launches[place], *at)) {
        mark_missing(kernel, settings_.figures,
                     "ncu profiled another launch than the one that was traced: the program does "
                     "not launch the same kernels each time");
        continue;
      }
      add_ncu(pages, place, settings_.figures, kernel);
      profile_.limits.merge(limits_from(pages.raw, pages.raw.launches[place]));
    }
  }

  const ProfiledProgram& program_;
  const CollectSettings& settings_;
  Profile& profile_;
  std::set<std::string> refused_;
};

}  // namespace

const Trace& typical_part(const std::vector<Trace>& parts) {
  std::vector<const Trace*> order;
  for (const Trace& part : parts) {
    if (!part.launches.empty()) {
      order.push_back(&part);
    }
  }
  if (order.empty()) {
    return parts.front();
  }
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(),
                   [](const Trace* a, const Trace* b) { return a->end_ns < b->end_ns; });
  return **middle;
}

Result<Collected> collect_profile(
    const ProfiledProgram& program, CollectSettings settings,
    const std::function<void(const Profile& traced, CollectSettings&)>& choose,
    std::stop_token stop) {
  const auto say = [&settings](const std::string& text) {
    if (settings.progress) {
      settings.progress(text);
    }
  };
  Collected out;
  Profile& profile = out.profile;
  std::int64_t start = now_ns();
  const auto took = [&](const char* step) {
    const std::int64_t now = now_ns();
    out.seconds[step] = static_cast<double>(now - start) / 1e9;
    start = now;
  };
  say("tracing");
  KP_LET(const std::vector<Trace> parts, trace_program(program, settings, stop));
  took("trace");
  profile.program = fmt::format("{}", fmt::join(program.arguments, " "));
  profile.trace = typical_part(parts);
  profile.limits = settings.limits;
  profile.architecture = profile.trace->architecture;
  LaunchChoice choice = choose_launches(*profile.trace, settings.share, settings.most_kernels);
  profile.kernels = std::move(choice.kernels);
  if (settings.figures.empty()) {
    settings.figures = ncu_keys();
  }
  if (choose) {
    choose(profile, settings);
  }
  profile.counters = no_counters(program, settings);
  NcuPart ncu(program, settings, profile);
  for (std::size_t i = 0; i < choice.windows.size() && profile.counters.empty(); ++i) {
    say(fmt::format("profiling {} of {} launches by ncu", i + 1, choice.windows.size()));
    KP_TRY(ncu.profile_window(choice.windows[i], static_cast<int>(i), stop));
  }
  took("ncu");
  if (!profile.counters.empty()) {
    for (KernelProfile& kernel : profile.kernels) {
      mark_missing(kernel, settings.figures, profile.counters);
    }
    add_code(settings.profilers.disassembler, settings.binary, program, profile, stop);
    took("code");
  }
  add_occupancy(profile);
  return out;
}

}  // namespace kernelpro
