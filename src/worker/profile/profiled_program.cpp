#include "worker/profile/profiled_program.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace kernelpro {

namespace {

// The jail starts programs by descriptor, which an interpreter cannot open again: a script (ncu is
// one in some toolkits) is given to its interpreter here.
std::vector<std::string> with_interpreter(std::vector<std::string> arguments) {
  std::ifstream file(arguments.front(), std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("#!")) {
    return arguments;
  }
  std::istringstream words(line.substr(2));
  std::vector<std::string> interpreter;
  for (std::string word; words >> word;) {
    interpreter.push_back(word);
  }
  arguments.insert(arguments.begin(), interpreter.begin(), interpreter.end());
  return arguments;
}

// A wrapper starts the program as a process of its own, whose number nobody knows yet: the driver
// names its threads under /proc, so all of /proc is opened. Not for root, who could change the
// machine there: then the driver does not start below a wrapper.
JailPolicy policy_below(const JailPolicy& policy) {
  JailPolicy out = policy;
  if (policy.drop_user || geteuid() != 0) {
    out.write.emplace_back("/proc");
  }
  return out;
}

}  // namespace

Result<Finished> run_profiled(const ProfiledProgram& program,
                              const std::vector<std::string>& wrapper,
                              const std::map<std::string, std::string>& environment,
                              std::stop_token stop) {
  Command command;
  command.arguments = wrapper;
  command.arguments.insert(command.arguments.end(), program.arguments.begin(),
                           program.arguments.end());
  if (program.jail) {
    JailPolicy policy = wrapper.empty() ? *program.jail : policy_below(*program.jail);
    policy.guard = true;
    command.guarded = true;
    command.arguments =
        jail_arguments(program.jail_program, policy, with_interpreter(command.arguments));
  }
  command.directory = program.directory;
  command.environment = program.environment;
  for (const auto& [name, value] : environment) {
    command.environment[name] = value;
  }
  command.inherit_environment = !program.jail;
  command.timeout_ms = program.timeout_ms;
  command.output_limit = program.output_limit;
  return run_command(command, stop);
}

}  // namespace kernelpro
