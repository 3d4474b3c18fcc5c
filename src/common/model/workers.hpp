// Who judges: workers that are started and talked to, or one that gets its jobs and gives its
// results by files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/slurm_place.hpp"

namespace kernelpro {

enum class WorkerScheme {
  live,    // started now: on this machine, by a command, in a job of a cluster
  bundle,  // jobs are written into the file, results come back in FILE.out
  replay,  // the results of such a run once more
};

// Where one worker is started.
struct WorkerPlace {
  std::string command;  // speaks worker lines, `ssh HOST kernelpro-worker` for one; empty: here
  std::optional<int> device;  // which GPU of this machine; none: the one that judging names
  // In a job of a cluster; then there is no command.
  std::optional<SlurmPlace> slurm = {};  // NOLINT(readability-redundant-member-init)

  [[nodiscard]] bool here() const { return command.empty() && !slurm; }

  friend bool operator==(const WorkerPlace&, const WorkerPlace&) = default;
};

struct Workers {
  WorkerScheme scheme = WorkerScheme::live;
  std::vector<WorkerPlace> places = {WorkerPlace()};  // of live ones
  std::filesystem::path file;  // of a bundle or a recording, with its whole path in a run

  friend bool operator==(const Workers&, const Workers&) = default;
};

// "local", "local:DEVICE", "cmd:COMMAND" and "slurm:partition=P,count=3", or several of them with
// commas between; "bundle:FILE" or "replay:FILE". And back.
[[nodiscard]] std::string text_of(const Workers& workers);
[[nodiscard]] Result<Workers> parse_workers(std::string_view text);

// One place as it is written in a list.
[[nodiscard]] std::string text_of(const WorkerPlace& place);

// What is expected, for messages.
[[nodiscard]] std::string worker_forms();

}  // namespace kernelpro
