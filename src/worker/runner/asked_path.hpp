// The file that a path means to another process.
#pragma once

#include <sys/types.h>

#include <string>

namespace kernelpro {

// Who asks: /proc/self is that process there, and /proc/thread-self that thread.
struct Asker {
  pid_t process = -1;
  pid_t thread = -1;
};

// The folder that the process has open as `descriptor`; empty where it has none.
[[nodiscard]] std::string open_folder(const Asker& asker, int descriptor);

// Without links, dots and names of itself. What does not exist stays as it was asked for, and so do
// open files that have no name.
[[nodiscard]] std::string resolve_for(const Asker& asker, const std::string& path);

}  // namespace kernelpro
