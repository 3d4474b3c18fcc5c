// `kernelpro` as a measurement calls it: beside the measurement's own program.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/paths.hpp"
#include "common/base/process.hpp"
#include "common/wire/json.hpp"
#include "must.hpp"

namespace kernelpro {

// What the command printed as JSON; a candidate that is no faster (exit code 3) is a result too.
inline nlohmann::json kernelpro_json(const std::filesystem::path& folder,
                                     const std::vector<std::string>& arguments) {
  Command command;
  command.arguments = {(program_directory() / "kernelpro").string()};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.arguments.insert(command.arguments.end(), {"--json", "--quiet"});
  command.directory = folder.string();
  command.timeout_ms = 3600'000;
  command.inherit_environment = true;
  command.output_limit = std::size_t{64} << 20U;
  const Finished finished = must(run_command(command));
  if (finished.exit_code != 0 && finished.exit_code != 3) {
    give_up(fmt::format("{}: exit code {}: {}", fmt::join(arguments, " "), finished.exit_code,
                        finished.errors));
  }
  return must(parse_json(finished.output));
}

}  // namespace kernelpro
