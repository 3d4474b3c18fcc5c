#include "worker/host/host_tools.hpp"

#include <cstdlib>
#include <filesystem>

#include "common/base/jail_policy.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t longest_read_ms = 30'000;
constexpr std::size_t most_output = std::size_t{128} << 20U;

std::string chosen(const char* variable, const std::vector<const char*>& names) {
  if (const char* given = std::getenv(variable); given != nullptr) {
    return given;
  }
  for (const char* name : names) {
    if (const auto found = find_program(name)) {
      return *found;
    }
  }
  return "";
}

}  // namespace

HostTools find_host_tools(const std::string& programs) {
  HostTools out;
  out.disassembler = chosen("KERNELPRO_OBJDUMP", {"objdump"});
  out.lines = chosen("KERNELPRO_ADDR2LINE", {"addr2line"});
  out.simulator = chosen("KERNELPRO_LLVM_MCA", {"llvm-mca-19", "llvm-mca"});
  out.valgrind = chosen("KERNELPRO_VALGRIND", {"valgrind"});
  out.jail = (fs::path(programs) / "kernelpro-jail").string();
  const fs::path library = fs::path(programs) / "libkernelpro_sample.so";
  std::error_code failure;
  out.sample_library = fs::is_regular_file(library, failure) ? library.string() : "";
  return out;
}

Result<std::string> run_reader(const HostTools& tools, const std::vector<std::string>& arguments,
                               const std::vector<std::string>& files, std::stop_token stop) {
  JailPolicy policy;
  std::error_code failure;
  for (const char* system :
       {"/usr", "/lib", "/lib64", "/bin", "/etc/alternatives", "/proc", "/sys"}) {
    if (fs::exists(system, failure)) {
      policy.read.push_back(fs::weakly_canonical(system, failure).string());
    }
  }
  for (const std::string& file : files) {
    policy.read.push_back(fs::weakly_canonical(file, failure).string());
  }
  policy.landlock = tools.landlock;
  policy.drop_user = !tools.own;
  policy.guard = true;
  Command command;
  command.arguments = jail_arguments(tools.jail, policy, arguments);
  command.guarded = true;
  command.environment = {{"LC_ALL", "C"}};
  command.timeout_ms = longest_read_ms;
  command.output_limit = most_output;
  KP_LET(Finished finished, run_command(command, stop));
  if (!finished.succeeded()) {
    return make_error(ErrorKind::environment,
                      finished.timed_out ? "it took too long"
                                         : finished.errors.substr(0, finished.errors.find('\n')),
                      fs::path(arguments.front()).filename().string());
  }
  return std::move(finished.output);
}

}  // namespace kernelpro
