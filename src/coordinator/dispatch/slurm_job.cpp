#include "coordinator/dispatch/slurm_job.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "common/base/deadline.hpp"
#include "common/base/paths.hpp"
#include "common/base/process.hpp"
#include "common/base/random.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t question_timeout_ms = 10'000;
constexpr const char* errors_file = "errors";
constexpr std::string_view question_format = "%i|%T|%r|%h|%N";

// Inside a job srun would take a part of that job's own nodes.
std::vector<std::string> without_own_job() {
  std::vector<std::string> command;
  if (std::getenv("SLURM_JOB_ID") == nullptr) {
    return command;
  }
  command = {"env"};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string name = std::string(*entry).substr(0, std::string(*entry).find('='));
    if (name.starts_with("SLURM_") && name != "SLURM_CONF") {
      command.insert(command.end(), {"-u", name});
    }
  }
  return command;
}

Result<std::string> worker_program(const SlurmPlace& place) {
  if (!place.worker.empty()) {
    return place.worker;
  }
  KP_LET(const std::filesystem::path found, sibling_program("kernelpro-worker"));
  return found.string();
}

Result<Finished> ask_cluster(std::vector<std::string> arguments) {
  Command command;
  command.arguments = std::move(arguments);
  command.inherit_environment = true;
  command.timeout_ms = question_timeout_ms;
  return run_command(command);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string SlurmState::where() const {
  return "job " + id + (node.empty() ? "" : " on " + node);
}

std::string SlurmState::text() const {
  return where() + ": " + state + (reason == "None" ? "" : " (" + reason + ")");
}

std::optional<SlurmState> parse_slurm_state(std::string_view line) {
  SlurmState out;
  std::string* const fields[] = {&out.id, &out.state, &out.reason, &out.sharing, &out.node};
  std::size_t at = 0;
  for (std::string* const field : fields) {
    const bool last = field == &out.node;
    const std::size_t end = last ? line.size() : line.find('|', at);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    *field = line.substr(at, end - at);
    at = end + 1;
  }
  return out.id.empty() || out.state.empty() ? std::nullopt : std::optional(out);
}

Result<SlurmJob> SlurmJob::prepare(const SlurmPlace& place) {
  for (const char* program : {"srun", "squeue", "scancel"}) {
    if (!find_program(program)) {
      return make_error(ErrorKind::environment,
                        std::string("there is no ") + program +
                            " in PATH; run this where jobs are submitted (Debian: apt-get "
                            "install slurm-client)",
                        "slurm");
    }
  }
  KP_LET(const std::string worker, worker_program(place));
  const std::string name = "kernelpro-" + std::to_string(secret_seed());
  KP_LET(ScratchDir folder, ScratchDir::create("slurm"));
  std::vector<std::string> command = {"/bin/sh", "-c", R"(exec 2>"$0"; exec "$@")",
                                      (folder.path() / errors_file).string()};
  const std::vector<std::string> apart = without_own_job();
  command.insert(command.end(), apart.begin(), apart.end());
  // The worker has all of the node, or all of what was asked for: it decides itself which
  // processors it uses.
  command.insert(command.end(), {"srun", "--quiet", "--job-name=" + name, "--nodes=1", "--ntasks=1",
                                 "--kill-on-bad-exit=1", "--cpu-bind=none"});
  if (!place.shared) {
    command.emplace_back("--exclusive");
    if (!place.options.contains("mem")) {
      command.emplace_back("--mem=0");
    }
  }
  for (const auto& [option, value] : place.options) {
    command.push_back("--" + option + "=" + value);
  }
  command.insert(command.end(), {"--", worker});
  return SlurmJob(name, std::move(command), std::move(folder));
}

std::string SlurmJob::complaint() const {
  constexpr std::size_t most = 4096;
  const Result<std::string> errors = read_file(folder_.path() / errors_file);
  std::string text = errors ? *errors : "";
  text.erase(0, text.size() - std::min(text.size(), most));
  std::string out;
  for (const std::string& line : lines_of(text)) {
    if (line.find("error:") != std::string::npos) {
      out += (out.empty() ? "" : "; ") + line;
    }
  }
  return out;
}

std::optional<SlurmState> SlurmJob::look() const {
  const Result<Finished> asked =
      ask_cluster({"squeue", "--noheader", "--states=all", "--name=" + name_, "-o",
                   std::string(question_format)});
  const std::vector<std::string> lines =
      asked && asked->succeeded() ? lines_of(asked->output) : std::vector<std::string>();
  return lines.empty() ? std::nullopt : parse_slurm_state(lines.front());
}

std::optional<SlurmState> SlurmJob::look_back() const {
  constexpr std::int64_t patience_ms = 2000;
  const Deadline deadline(patience_ms);
  std::optional<SlurmState> state = look();
  while (state && (state->is_running() || state->state == "COMPLETING") && !deadline.passed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    state = look();
  }
  return state;
}

bool SlurmJob::was_ended(const std::optional<SlurmState>& state) const {
  constexpr std::array<std::string_view, 8> by_cluster = {"PREEMPTED", "NODE_FAIL", "TIMEOUT",
                                                          "CANCELLED", "DEADLINE",  "BOOT_FAIL",
                                                          "REVOKED",   "SUSPENDED"};
  if (state && std::ranges::find(by_cluster, state->state) != by_cluster.end()) {
    return true;
  }
  const std::string said = complaint();
  return said.find("CANCELLED AT") != std::string::npos ||
         said.find("Node failure") != std::string::npos;
}

void SlurmJob::cancel() const {
  (void)ask_cluster({"scancel", "--quiet", "--name=" + name_});
}

}  // namespace kernelpro
