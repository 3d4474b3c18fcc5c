#include "common/base/python.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "common/base/process.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t probe_timeout_ms = 20'000;

bool has_torch(const std::string& python) {
  Command command;
  command.arguments = {python, "-c",
                       "import importlib.util, sys; "
                       "sys.exit(importlib.util.find_spec('torch') is None)"};
  command.inherit_environment = true;
  command.timeout_ms = probe_timeout_ms;
  const Result<Finished> finished = run_command(command);
  return finished && finished->succeeded();
}

std::vector<std::string> pythons() {
  std::vector<std::string> out;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path python = fs::path(folder) / "python3";
    if (access(python.c_str(), X_OK) == 0) {
      out.push_back(python.string());
    }
  }
  return out;
}

Result<std::string> find_python() {
  if (const char* chosen = std::getenv("KERNELPRO_PYTHON"); chosen != nullptr) {
    return has_torch(chosen)
               ? Result<std::string>(chosen)
               : make_error(ErrorKind::environment,
                            "this Python has no PyTorch; set KERNELPRO_PYTHON to one that has it",
                            chosen);
  }
  for (const std::string& python : pythons()) {
    if (has_torch(python)) {
      return python;
    }
  }
  return make_error(ErrorKind::environment,
                    "no python3 with PyTorch was found: install it (apt-get install "
                    "python3-torch), or set KERNELPRO_PYTHON to a Python that has it");
}

}  // namespace

Result<std::string> python_with_torch() {
  static const Result<std::string> found = find_python();
  return found;
}

}  // namespace kernelpro
