// Manual pages in the language of man(7).
#pragma once

#include <string>
#include <vector>

#include "coordinator/manual/manual.hpp"

namespace kernelpro {

struct ManPage {
  std::string name;  // "kernelpro-task-new.1"
  std::string text;
};

// One of the program as a whole, and one of each command.
[[nodiscard]] std::vector<ManPage> man_pages(const ManualCommand& root, const std::string& version);

// The page of one command.
[[nodiscard]] ManPage man_page(const ManualCommand& root, const ManualCommand& command,
                               const std::string& version);

}  // namespace kernelpro
