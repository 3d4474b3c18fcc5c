#include "worker/session/replay_job.hpp"

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "common/base/runner_protocol.hpp"
#include "worker/toolchain/flags.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t largest_report = 4LL << 30;
constexpr std::int64_t open_files = 4096;

Status make_public(const fs::path& path, bool writable) {
  std::error_code failure;
  using fs::perms;
  fs::permissions(path,
                  perms::owner_all | perms::group_read | perms::group_exec | perms::others_read |
                      perms::others_exec | (writable ? perms::others_write : perms::none),
                  failure);
  if (failure) {
    return make_error(ErrorKind::io, failure.message(), path.string());
  }
  return {};
}

// Whether any user can walk to it.
bool open_to_all(const fs::path& file) {
  std::error_code failure;
  for (fs::path folder = fs::canonical(file, failure).parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if ((fs::status(folder, failure).permissions() & fs::perms::others_exec) == fs::perms::none) {
      return false;
    }
  }
  return !failure;
}

std::string_view bytes_of(const runner::Layout& layout) {
  return {reinterpret_cast<const char*>(&layout), sizeof layout};
}

}  // namespace

Result<ReplayJob> ReplayJob::make(Judge& judge, const Axes& axes, const fs::path& library,
                                  const std::string& source) {
  KP_LET(ScratchDir scratch, ScratchDir::create("profile"));
  std::error_code failure;
  const fs::path folder = fs::canonical(scratch.path(), failure);
  KP_LET(const BufferPlan plan, plan_buffers(judge.task(), axes, 1, public_key));
  KP_LET(const Arena inputs, judge.oracle().inputs({axes, public_key, {public_key}}));
  const auto layout = std::make_unique<runner::Layout>(runner_layout(plan, judge.threads()));
  KP_TRY(write_file_unsynced(folder / runner::replay_layout, bytes_of(*layout)));
  KP_TRY(write_file_unsynced(folder / runner::replay_inputs, {inputs.data(), plan.input_bytes()}));
  fs::copy_file(library, folder / runner::replay_library, failure);
  if (failure) {
    return make_error(ErrorKind::io, failure.message(), "copying " + library.string());
  }
  KP_TRY(write_file_unsynced(folder / cuda_source_name, source));
  for (const char* name :
       {runner::replay_layout, runner::replay_inputs, runner::replay_library, cuda_source_name}) {
    KP_TRY(make_public(folder / name, false));
  }
  KP_TRY(make_public(folder, true));
  return ReplayJob(std::move(scratch), folder);
}

ProfiledProgram ReplayJob::program(const Ground& ground, const JudgeSettings& settings,
                                   const Profilers& profilers) const {
  const RunnerSettings runner =
      ground.runner(settings, (folder_ / runner::replay_library).string(), false, 0);
  ProfiledProgram out;
  out.arguments = {runner.program, runner::cuda_argument, runner::replay_argument, folder_.string(),
                   std::to_string(replayed_calls)};
  out.jail_program = runner.jail;
  out.jail = runner.policy;
  out.jail->read.insert(out.jail->read.end(), runner.start_up_read.begin(),
                        runner.start_up_read.end());
  for (const std::string& file : {profilers.ncu, profilers.cupti, profilers.trace_library}) {
    std::error_code failure;
    if (!file.empty()) {
      out.jail->read.push_back(fs::canonical(file, failure).parent_path().string());
    }
  }
  // A profiler starts it by its path.
  out.jail->read.push_back(runner.program);
  // ncu lies under /opt or /usr, and starts scripts and tools of the system.
  for (const char* system : {"/usr", "/lib", "/lib64", "/bin", "/opt"}) {
    std::error_code failure;
    out.jail->read.push_back(fs::canonical(system, failure).string());
  }
  out.jail->write = runner.start_up_write;
  out.jail->write.push_back(folder_.string());
  out.jail->write.emplace_back("/dev/shm");
  out.jail->file_bytes = largest_report;
  out.jail->open_files = open_files;
  out.jail->heap_bytes = 0;
  out.jail->network = true;
  // A profiler starts the runner by its path, which may lie in a folder of root's own.
  out.jail->drop_user = open_to_all(runner.program);
  out.directory = folder_.string();
  out.environment = {{"TMPDIR", folder_.string()}, {"HOME", folder_.string()}, {"LC_ALL", "C"}};
  for (const std::string& setting : runner.environment) {
    const std::size_t equals = setting.find('=');
    out.environment[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return out;
}

ProfiledProgram ReplayJob::host_program(const Ground& ground, const JudgeSettings& settings,
                                        int milliseconds, std::int64_t cache_bytes) const {
  const RunnerSettings runner =
      ground.runner(settings, (folder_ / runner::replay_library).string(), true, 0);
  ProfiledProgram out;
  out.arguments = {runner.program, runner::host_replay_argument, folder_.string(),
                   std::to_string(milliseconds), std::to_string(cache_bytes)};
  out.jail_program = runner.jail;
  out.jail = runner.policy;
  out.jail->read.push_back(runner.program);
  // valgrind lies under /usr, and its own tools beside it.
  for (const char* system : {"/usr", "/bin"}) {
    std::error_code failure;
    out.jail->read.push_back(fs::canonical(system, failure).string());
  }
  out.jail->write = {folder_.string()};
  out.jail->file_bytes = largest_report;
  out.jail->open_files = open_files;
  out.jail->memory_bytes = 0;  // valgrind maps more than it uses
  out.jail->drop_user = open_to_all(runner.program);
  out.directory = folder_.string();
  out.environment = {{"TMPDIR", folder_.string()},
                     {"LC_ALL", "C"},
                     {"OMP_NUM_THREADS", std::to_string(settings.threads)}};
  return out;
}

}  // namespace kernelpro
