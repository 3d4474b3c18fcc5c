#include "coordinator/app/machine_load.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/machine_lock.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t watched_ns = 250'000'000;
constexpr double busy_share = 0.1;
constexpr double least_shown = 0.05;  // processors
constexpr double least_rest = 0.1;
constexpr std::size_t most_programs = 3;
// As the kernel cuts it.
constexpr std::string_view worker_name = "kernelpro-worke";

bool may_run_on(int processor) {
  static const cpu_set_t own = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  return processor >= 0 && processor < CPU_SETSIZE && CPU_ISSET(processor, &own);
}

// "cpu3 user nice system idle iowait irq softirq steal …"
void add_processor(const std::string& line, ProcessorTimes& times) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  if (name.size() < 4 || !name.starts_with("cpu") || !may_run_on(std::atoi(name.c_str() + 3))) {
    return;
  }
  std::array<std::int64_t, 8> ticks{};
  for (std::int64_t& one : ticks) {
    words >> one;
  }
  ++times.processors;
  times.busy += ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
  times.stolen += ticks[7];
}

// "1234 (name) S parent …": the name may hold anything, brackets too. False: it is gone.
bool read_process(const fs::path& file, ProcessorTimes::Process& process) {
  const Result<std::string> text = read_file(file);
  const std::size_t open = text ? text->find('(') : std::string::npos;
  const std::size_t close = text ? text->rfind(')') : std::string::npos;
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return false;
  }
  process.name = text->substr(open + 1, close - open - 1);
  std::istringstream words(text->substr(close + 1));
  std::vector<std::string> fields;
  for (std::string word; words >> word;) {
    fields.push_back(word);
  }
  constexpr std::size_t last_used = 36;
  if (fields.size() <= last_used) {
    return false;
  }
  const auto number = [&fields](std::size_t field) { return std::atoll(fields[field].c_str()); };
  process.parent = number(1);
  process.ticks = number(11) + number(12);
  process.child_ticks = number(13) + number(14);
  process.started = number(19);
  process.processor = static_cast<int>(number(last_used));
  return true;
}

// `self` and everything below it.
std::set<std::int64_t> family_of(const ProcessorTimes& times, std::int64_t self) {
  std::set<std::int64_t> family = {self};
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [id, process] : times.processes) {
      grown = (family.contains(process.parent) && family.insert(id).second) || grown;
    }
  }
  return family;
}

std::int64_t ticks_of(const ProcessorTimes& times, const std::set<std::int64_t>& family) {
  std::int64_t ticks = 0;
  for (const std::int64_t id : family) {
    if (const auto found = times.processes.find(id); found != times.processes.end()) {
      ticks += found->second.ticks + found->second.child_ticks;
    }
  }
  return ticks;
}

// Not one that waits for its next order: it or one below it has begun, or took time.
bool has_worked(const ProcessorTimes& before, const ProcessorTimes& after, std::int64_t id) {
  const std::set<std::int64_t> family = family_of(after, id);
  return std::ranges::any_of(family, [&](std::int64_t one) {
    const auto known = before.processes.find(one);
    const auto now = after.processes.find(one);
    return known == before.processes.end() || now == after.processes.end() ||
           known->second.started != now->second.started ||
           known->second.ticks != now->second.ticks ||
           known->second.child_ticks != now->second.child_ticks;
  });
}

// Ticks by program, of those that are not in `family`.
std::map<std::string, std::int64_t> others(const ProcessorTimes& before,
                                           const ProcessorTimes& after,
                                           const std::set<std::int64_t>& family) {
  std::map<std::string, std::int64_t> programs;
  for (const auto& [id, process] : after.processes) {
    const auto known = before.processes.find(id);
    const bool same = known != before.processes.end() && known->second.started == process.started;
    if (!family.contains(id) && may_run_on(process.processor)) {
      programs[process.name] += process.ticks - (same ? known->second.ticks : 0);
    }
  }
  return programs;
}

// Who holds the lock that timings on the processors take.
std::string lock_holder() {
  const int fd = ::open(MachineLock::path("cpu").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return "";
  }
  // Shared and given back at once: a timing that begins just now tries again in 10 ms.
  const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  std::array<char, 32> text{};
  const ssize_t count = held ? ::pread(fd, text.data(), text.size() - 1, 0) : 0;
  ::close(fd);
  const std::int64_t pid = count > 0 ? std::atoll(text.data()) : 0;
  if (!held) {
    return "";
  }
  return pid > 0 ? fmt::format("process {}", pid) : "another process";
}

// "process 1234: kernelpro optimize gemm", where that can be told.
std::string with_command(const std::string& holder) {
  constexpr std::string_view before = "process ";
  const std::string command =
      holder.starts_with(before) ? command_behind(std::atoll(holder.c_str() + before.size())) : "";
  return command.empty() ? holder : holder + ": " + command;
}

std::string programs_text(const MachineLoad& load) {
  std::string out;
  double rest = load.taken - load.stolen * load.processors;
  for (const ProcessorUse& one : load.programs) {
    out += fmt::format("{}{} {:.1f}", out.empty() ? "" : ", ", one.program, one.processors);
    rest -= one.processors;
  }
  // Programs that ended meanwhile, or that are too small to be named.
  if (!out.empty() && rest >= least_rest) {
    out += fmt::format(", others {:.1f}", rest);
  }
  if (load.stolen >= 0.01) {
    out += fmt::format("{}{:.0f} % stolen by the hypervisor", out.empty() ? "" : ", ",
                       100 * load.stolen);
  }
  return out.empty() ? "" : " (" + out + ")";
}

}  // namespace

bool is_busy(const MachineLoad& load) {
  return load.processors > 0 && load.taken > busy_share * load.processors;
}

std::vector<std::string> load_notes(const MachineLoad& load) {
  std::vector<std::string> notes;
  if (is_busy(load)) {
    notes.push_back(fmt::format(
        "the machine is busy: {:.1f} of {} processor{} {} taken{}; measuring takes longer, and "
        "speed-ups say \"at least\" where the baseline was disturbed",
        load.taken, load.processors, load.processors == 1 ? "" : "s",
        load.processors == 1 ? "is" : "are", programs_text(load)));
  }
  if (!load.other_kernelpro.empty()) {
    notes.push_back(fmt::format(
        "another kernelpro judges on this machine ({}): the two take turns in measuring, and both "
        "take longer",
        load.other_kernelpro));
  }
  return notes;
}

nlohmann::json to_json(const MachineLoad& load) {
  nlohmann::json programs = nlohmann::json::array();
  for (const ProcessorUse& one : load.programs) {
    programs.push_back({{"program", one.program}, {"processors", one.processors}});
  }
  return {{"busy", is_busy(load)},
          {"processors", load.processors},
          {"taken", load.taken},
          {"stolen", load.stolen},
          {"programs", std::move(programs)},
          {"other_kernelpro", load.other_kernelpro}};
}

ProcessorTimes read_processor_times(const fs::path& proc) {
  ProcessorTimes times;
  times.at_ns = now_ns();
  const Result<std::string> counted = read_file(proc / "stat");
  std::istringstream lines(counted ? *counted : std::string());
  for (std::string line; std::getline(lines, line);) {
    add_processor(line, times);
  }
  std::error_code gone;
  for (fs::directory_iterator entry(proc, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    const std::string name = entry->path().filename().string();
    ProcessorTimes::Process process;
    if (name.find_first_not_of("0123456789") == std::string::npos &&
        read_process(entry->path() / "stat", process)) {
      times.processes[std::atoll(name.c_str())] = process;
    }
  }
  return times;
}

MachineLoad load_between(const ProcessorTimes& before, const ProcessorTimes& after,
                         std::int64_t self) {
  MachineLoad load;
  const double elapsed = static_cast<double>(after.at_ns - before.at_ns) / 1e9;
  if (after.processors == 0 || elapsed <= 0) {
    return load;
  }
  const auto processors = [elapsed](std::int64_t ticks) {
    static const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
    return std::max(0.0, static_cast<double>(ticks) / per_second / elapsed);
  };
  const std::set<std::int64_t> family = family_of(after, self);
  const std::int64_t ours = ticks_of(after, family) - ticks_of(before, family_of(before, self));
  load.processors = after.processors;
  const double stolen = processors(after.stolen - before.stolen);
  load.stolen = std::min(1.0, stolen / load.processors);
  load.taken =
      std::min<double>(load.processors, processors(after.busy - before.busy - ours) + stolen);
  for (const auto& [name, ticks] : others(before, after, family)) {
    if (processors(ticks) >= least_shown) {
      load.programs.push_back({name, processors(ticks)});
    }
  }
  std::ranges::sort(load.programs, [](const ProcessorUse& a, const ProcessorUse& b) {
    return a.processors != b.processors ? a.processors > b.processors : a.program < b.program;
  });
  load.programs.resize(std::min(load.programs.size(), most_programs));
  for (const auto& [id, process] : after.processes) {
    if (process.name == worker_name && !family.contains(id) && has_worked(before, after, id)) {
      load.other_kernelpro = fmt::format("process {}", id);
    }
  }
  return load;
}

MachineWatch::MachineWatch()
    : before_(read_processor_times("/proc")), other_kernelpro_(lock_holder()) {}

MachineLoad MachineWatch::look() const {
  const std::int64_t left = watched_ns - (now_ns() - before_.at_ns);
  if (left > 0) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(left));
  }
  MachineLoad load = load_between(before_, read_processor_times("/proc"), ::getpid());
  if (load.other_kernelpro.empty()) {
    load.other_kernelpro = other_kernelpro_;
  }
  load.other_kernelpro = with_command(load.other_kernelpro);
  return load;
}

}  // namespace kernelpro
