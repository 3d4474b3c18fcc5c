// Help on a terminal.
#pragma once

#include <functional>
#include <string>

#include "coordinator/manual/manual.hpp"

namespace kernelpro {

// How help is laid out: columns, and what is done to a heading.
struct HelpStyle {
  int width = 100;
  std::function<std::string(const std::string& heading)> heading;  // empty: as it is
};

// What `COMMAND --help` prints.
[[nodiscard]] std::string help_text(const ManualCommand& command, const HelpStyle& style);

// "--evaluations, -n INT", "task TASK".
[[nodiscard]] std::string option_heading(const ManualOption& option);

// What stands behind the command's name: "[OPTIONS] task sources...".
[[nodiscard]] std::string usage_text(const ManualCommand& command);

}  // namespace kernelpro
