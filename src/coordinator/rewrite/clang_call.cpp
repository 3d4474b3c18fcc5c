#include "coordinator/rewrite/clang_call.hpp"

#include <fmt/format.h>

#include <fstream>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/jail_policy.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t compiler_memory = 8LL << 30;

}  // namespace

Command clang_command(const fs::path& folder, const std::vector<std::string>& arguments,
                      const ParseSettings& settings) {
  JailPolicy policy;
  policy.read = {"/usr/bin",         "/bin",         "/usr/lib",     "/lib",
                 "/usr/lib64",       "/lib64",       "/usr/include", "/usr/local/include",
                 "/etc/ld.so.cache", folder.string()};
  if (!settings.prepared_headers.empty()) {
    policy.read.push_back(settings.prepared_headers.parent_path().string());
  }
  policy.memory_bytes = compiler_memory;
  policy.landlock = settings.landlock;
  policy.guard = true;
  std::vector<std::string> program = {settings.clang, "-std=c++20", "-fno-color-diagnostics",
                                      "-fno-caret-diagnostics"};
  program.insert(program.end(), arguments.begin(), arguments.end());
  Command command;
  command.guarded = true;
  command.arguments = jail_arguments(settings.jail.string(), policy, program);
  command.directory = folder.string();
  command.environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  command.timeout_ms = settings.timeout_ms;
  command.output_limit = largest_clang_output;
  return command;
}

std::vector<std::string> tree_arguments(const ParseSettings& settings) {
  std::vector<std::string> arguments = {"-I.", "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json"};
  if (!settings.prepared_headers.empty()) {
    arguments.insert(arguments.end(), {"-include-pch", settings.prepared_headers.string()});
  }
  return arguments;
}

Error too_slow(const ParseSettings& settings) {
  return make_error(ErrorKind::timeout,
                    fmt::format("it did not read the source within {} ms; try again when the "
                                "machine is less busy",
                                settings.timeout_ms),
                    settings.clang);
}

Status write_readable(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  std::error_code failure;
  fs::permissions(path, fs::perms(0644), failure);
  if (!file || failure) {
    return make_error(ErrorKind::io,
                      "could not be written; free space there, or set TMPDIR to another folder",
                      path.string());
  }
  return {};
}

// Readable for whom the jail becomes, as the sources are.
Status put_public_header(const fs::path& folder, const ParseSettings& settings) {
  if (settings.abi_include.empty()) {
    return {};
  }
  KP_LET(const std::string header, read_file(settings.abi_include / "kernelpro" / "candidate.h"));
  KP_TRY(make_directories(folder / "kernelpro"));
  std::error_code failure;
  fs::permissions(folder / "kernelpro", fs::perms(0755), failure);
  return write_readable(folder / "kernelpro" / "candidate.h", header);
}

Result<Finished> call_clang(const fs::path& folder, const std::vector<std::string>& arguments,
                            const ParseSettings& settings, std::stop_token stop) {
  Result<Finished> finished =
      run_command(clang_command(folder, arguments, settings), std::move(stop));
  if (!finished) {
    return finished;
  }
  if (finished->timed_out) {
    return too_slow(settings);
  }
  if (finished->signal == 0 && finished->exit_code == jail_failed_exit_code) {
    return make_error(ErrorKind::environment,
                      finished->errors + "; install clang-19 to rewrite C++ sources",
                      "starting " + settings.clang);
  }
  return finished;
}

}  // namespace kernelpro
