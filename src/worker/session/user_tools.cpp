#include "worker/session/user_tools.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/jail_policy.hpp"
#include "common/base/process.hpp"
#include "common/wire/finding_json.hpp"
#include "common/wire/json.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t tool_timeout_ms = 10'000;
constexpr std::int64_t tool_memory_bytes = 4LL << 30;
constexpr std::size_t longest_answer = std::size_t{1} << 20U;

std::vector<fs::path> executables(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    if (entry.is_regular_file() && access(entry.path().c_str(), X_OK) == 0) {
      out.push_back(entry.path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// What a tool may see: the system, itself and its input; it may write nothing.
JailPolicy tool_policy(const fs::path& tool, const fs::path& input, bool confined) {
  JailPolicy policy;
  policy.read = {"/usr", "/lib", "/lib64", "/bin", "/etc", tool.string(), input.string()};
  policy.devices = {"/dev/null"};
  policy.memory_bytes = tool_memory_bytes;
  policy.cpu_seconds = tool_timeout_ms / 1000;
  policy.landlock = confined;
  policy.guard = true;
  return policy;
}

Result<ToolOutput> ask(const fs::path& tool, const fs::path& input, const std::string& jail,
                       bool confined, const Profile& profile, std::stop_token stop) {
  Command command;
  command.guarded = true;
  // Through a shell, which gives it the input; a script needs one anyway.
  command.arguments =
      jail_arguments(jail, tool_policy(tool, input, confined),
                     {"/bin/sh", "-c", R"(exec "$0" < "$1")", tool.string(), input.string()});
  command.timeout_ms = tool_timeout_ms;
  command.output_limit = longest_answer;
  KP_LET(const Finished finished, run_command(command, stop));
  if (!finished.succeeded()) {
    return make_error(ErrorKind::bad_input, finished.timed_out
                                                ? "it did not answer in time"
                                                : "it failed: " + finished.errors.substr(0, 400));
  }
  const Result<nlohmann::json> answer = parse_json(finished.output);
  return answer ? tool_output_from_json(*answer, tool.filename().string(), profile)
                : answer.error();
}

Result<ScratchDir> write_input(const Profile& profile, const DiagnosisReport& report) {
  std::vector<KernelClass> classes;
  classes.reserve(report.kernels.size());
  for (const KernelDiagnosis& kernel : report.kernels) {
    classes.push_back(kernel.kind);
  }
  Result<ScratchDir> scratch = ScratchDir::create("tools");
  if (!scratch) {
    return scratch;
  }
  KP_TRY(write_file_unsynced(scratch->path() / "input.json", tool_input(profile, classes).dump()));
  // For whom the jail becomes.
  std::error_code failure;
  fs::permissions(scratch->path() / "input.json", fs::perms::others_read | fs::perms::group_read,
                  fs::perm_options::add, failure);
  fs::permissions(scratch->path(), fs::perms::others_exec | fs::perms::group_exec,
                  fs::perm_options::add, failure);
  return scratch;
}

}  // namespace

fs::path user_tools_folder() {
  if (const char* chosen = std::getenv("KERNELPRO_TOOLS"); chosen != nullptr) {
    return chosen;
  }
  if (const char* settings = std::getenv("XDG_CONFIG_HOME"); settings != nullptr) {
    return fs::path(settings) / "kernelpro" / "tools.d";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr ? fs::path() : fs::path(home) / ".config" / "kernelpro" / "tools.d";
}

void run_user_tools(const fs::path& folder, const std::string& jail, bool confined,
                    const Profile& profile, DiagnosisReport& report, std::stop_token stop) {
  const std::vector<fs::path> tools = executables(folder);
  if (tools.empty() || report.kernels.empty()) {
    return;
  }
  std::vector<std::string>& not_available = report.kernels.front().not_available;
  const Result<ScratchDir> scratch = write_input(profile, report);
  if (!scratch) {
    not_available.push_back("tools of your own: " + scratch.error().text());
    return;
  }
  for (const fs::path& tool : tools) {
    std::error_code failure;
    Result<ToolOutput> answer =
        ask(fs::canonical(tool, failure), fs::canonical(scratch->path() / "input.json", failure),
            jail, confined, profile, stop);
    const std::string id = tool.filename().string();
    if (!answer) {
      not_available.push_back(id + ": " + answer.error().text());
      continue;
    }
    for (const std::string& missing : answer->not_available) {
      not_available.push_back(id + ": " + missing);
    }
    std::move(answer->findings.begin(), answer->findings.end(),
              std::back_inserter(report.findings));
  }
  sort_by_gain(report.findings);
}

}  // namespace kernelpro
