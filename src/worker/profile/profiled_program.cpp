#include "worker/profile/profiled_program.hpp"

namespace kernelpro {

Result<Finished> run_profiled(const ProfiledProgram& program,
                              const std::vector<std::string>& wrapper,
                              const std::map<std::string, std::string>& environment,
                              std::stop_token stop) {
  Command command;
  command.arguments = wrapper;
  command.arguments.insert(command.arguments.end(), program.arguments.begin(),
                           program.arguments.end());
  if (program.jail) {
    command.arguments = jail_arguments(program.jail_program, *program.jail, command.arguments);
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
