// Who uses this machine's processors besides us, seen once when a command begins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kernelpro {

struct ProcessorUse {
  std::string program;
  double processors = 0;  // that it kept busy
};

struct MachineLoad {
  int processors = 0;  // that we may run on; 0: nothing is known
  double taken = 0;    // of them, by others and by the hypervisor
  double stolen = 0;   // share of their time that the hypervisor gave to others: 0.06
  std::vector<ProcessorUse> programs;  // the largest first, a few
  // "process 1234": who else judges on this machine. Empty: nobody.
  std::string other_kernelpro;
};

// More than a tenth of the processors is taken.
[[nodiscard]] bool is_busy(const MachineLoad& load);

// A line each of what people should know before anything is measured; none where it is quiet.
[[nodiscard]] std::vector<std::string> load_notes(const MachineLoad& load);

[[nodiscard]] nlohmann::json to_json(const MachineLoad& load);

// What the kernel has counted up to one moment.
struct ProcessorTimes {
  struct Process {
    std::string name;
    std::int64_t parent = 0;
    std::int64_t ticks = 0;        // of its own
    std::int64_t child_ticks = 0;  // of its children that have ended
    std::int64_t started = 0;      // in ticks since the machine's start
    int processor = 0;             // that it ran on last
  };
  std::int64_t at_ns = 0;
  int processors = 0;
  std::int64_t busy = 0;    // ticks of all of them, but for the stolen ones
  std::int64_t stolen = 0;  // ticks
  std::map<std::int64_t, Process> processes;
};

// Of the processors that we may run on, as the files in `proc` say.
[[nodiscard]] ProcessorTimes read_processor_times(const std::filesystem::path& proc);

// What others took between two moments; `self` and all that it started are not others.
[[nodiscard]] MachineLoad load_between(const ProcessorTimes& before, const ProcessorTimes& after,
                                       std::int64_t self);

// Begins to watch when it is made.
class MachineWatch {
 public:
  MachineWatch();
  // Since then; waits until that is a quarter of a second.
  [[nodiscard]] MachineLoad look() const;

 private:
  ProcessorTimes before_;
  std::string other_kernelpro_;
};

}  // namespace kernelpro
