#include "common/base/python.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "common/base/process.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t probe_timeout_ms = 20'000;

// Nothing when it has no PyTorch. Asked without importing it, which takes seconds.
std::optional<Python> with_torch(const std::string& path) {
  Command command;
  command.arguments = {path, "-c",
                       "import importlib.metadata, importlib.util, sys\n"
                       "if importlib.util.find_spec('torch') is None: sys.exit(1)\n"
                       "print(importlib.metadata.version('torch'))"};
  command.inherit_environment = true;
  command.timeout_ms = probe_timeout_ms;
  const Result<Finished> finished = run_command(command);
  if (!finished || !finished->succeeded()) {
    return std::nullopt;
  }
  return Python{path, finished->output.substr(0, finished->output.find('\n'))};
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

Result<Python> find_python() {
  if (const char* chosen = std::getenv("KERNELPRO_PYTHON"); chosen != nullptr) {
    const std::optional<Python> python = with_torch(chosen);
    return python
               ? Result<Python>(*python)
               : make_error(ErrorKind::environment,
                            "this Python has no PyTorch; set KERNELPRO_PYTHON to one that has it",
                            chosen);
  }
  for (const std::string& path : pythons()) {
    if (const std::optional<Python> python = with_torch(path)) {
      return *python;
    }
  }
  return make_error(ErrorKind::environment,
                    "no python3 with PyTorch was found: install it (apt-get install "
                    "python3-torch), or set KERNELPRO_PYTHON to a Python that has it");
}

}  // namespace

Result<Python> python_with_torch() {
  static const Result<Python> found = find_python();
  return found;
}

}  // namespace kernelpro
