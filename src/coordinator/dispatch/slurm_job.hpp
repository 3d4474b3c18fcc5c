// A job of a Slurm cluster that runs one worker: srun asks for it and carries the worker's lines.
// The job has a name of its own, by which it is looked for and canceled.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/result.hpp"
#include "common/model/slurm_place.hpp"

namespace kernelpro {

// What the cluster says of a job.
struct SlurmState {
  std::string id;
  std::string state;    // PENDING, RUNNING, PREEMPTED …
  std::string reason;   // why it waits or ended: Resources, TimeLimit …
  std::string sharing;  // NO: its node is its own
  std::string node;     // empty while it waits

  [[nodiscard]] bool is_waiting() const { return state == "PENDING" || state == "CONFIGURING"; }
  [[nodiscard]] bool is_running() const { return state == "RUNNING"; }
  // "job 17 on n2", "job 17: PENDING (Resources)"
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::string text() const;
};

// A line of squeue as SlurmJob asks for it; nothing where it is another.
[[nodiscard]] std::optional<SlurmState> parse_slurm_state(std::string_view line);

class SlurmJob {
 public:
  // Asks for nothing yet. An error where there is no srun.
  [[nodiscard]] static Result<SlurmJob> prepare(const SlurmPlace& place);

  // What asks for the job, runs the worker in it and ends with it.
  [[nodiscard]] const std::vector<std::string>& command() const { return command_; }
  // What it wrote about errors on its standard error; the end of it, where that is long.
  [[nodiscard]] std::string complaint() const;

  // Nothing: the cluster knows no such job, or does not answer.
  [[nodiscard]] std::optional<SlurmState> look() const;
  // The same once it has ended; a state that lasts a moment longer is waited for.
  [[nodiscard]] std::optional<SlurmState> look_back() const;
  // Whether the cluster ended it, and not the worker itself.
  [[nodiscard]] bool was_ended(const std::optional<SlurmState>& state) const;
  // Ends it, waiting or running. Its worker has the cluster's KillWait to leave by itself.
  void cancel() const;

 private:
  SlurmJob(std::string name, std::vector<std::string> command, ScratchDir folder)
      : name_(std::move(name)), command_(std::move(command)), folder_(std::move(folder)) {}

  std::string name_;
  std::vector<std::string> command_;
  ScratchDir folder_;  // of what it writes on its standard error
};

}  // namespace kernelpro
