#include "worker/profile/profiled_program.hpp"

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
    command.arguments =
        jail_arguments(program.jail_program, *program.jail, with_interpreter(command.arguments));
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
