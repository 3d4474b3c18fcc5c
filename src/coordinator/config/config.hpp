// kernelpro.toml: defaults for options, by command.
//
//   quiet = true            of every command that has the option
//   [optimize]
//   evaluations = 40        of one command
//   [task.check]
//   timing = "100ms"
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/manual/manual.hpp"

namespace kernelpro {

// What the file says of one option.
struct ConfigDefault {
  std::vector<std::string> command;  // {"task", "check"}; empty: of every command that has it
  std::string option;                // "--timing"
  std::vector<std::string> values;   // one for each time it is given; of a flag: none
  bool off = false;                  // a flag that is not to be given
  int line = 0;
};

struct Config {
  std::filesystem::path file;
  std::vector<ConfigDefault> defaults;  // in the order of the file
};

// The file in force: what KERNELPRO_CONFIG names (empty: none), else kernelpro.toml in the nearest
// folder upwards that has one. A file that another user wrote is refused, unless it is named: it
// can say what programs are started.
[[nodiscard]] Result<std::optional<std::filesystem::path>> find_config();

// Every error is bad_input with "file:line: key": unknown commands and options (with the nearest
// known one), values of another kind than the option takes. What values mean is left to the
// options.
[[nodiscard]] Result<Config> load_config(const std::filesystem::path& file,
                                         const ManualCommand& root);

// What holds for a command, one entry an option: what its own table says comes before what is said
// of all.
[[nodiscard]] std::vector<ConfigDefault> defaults_of(const Config& config,
                                                     const ManualCommand& command);

// Those of a command that its command line leaves in force: neither given there, nor at odds with
// what is given there, nor without what they need.
[[nodiscard]] std::vector<ConfigDefault> in_force(const std::vector<ConfigDefault>& defaults,
                                                  const ManualCommand& command,
                                                  const std::vector<std::string>& words);

// The words to put behind those of a command line: {"--timing=100ms"}.
[[nodiscard]] std::vector<std::string> as_words(const ConfigDefault& one);

}  // namespace kernelpro
