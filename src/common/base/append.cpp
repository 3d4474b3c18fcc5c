#include "common/base/append.hpp"

#include <unistd.h>

#include <cerrno>

#include "common/base/file.hpp"

namespace kernelpro {

Status append_durably(int fd, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return errno_error("writing " + path.string());
    }
  }
  return ::fdatasync(fd) == 0 || errno == EINVAL || errno == EROFS
             ? Status()
             : Status(errno_error("writing " + path.string()));
}

}  // namespace kernelpro
