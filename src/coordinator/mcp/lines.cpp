#include "coordinator/mcp/lines.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace kernelpro::mcp {

void Lines::add(std::string_view bytes) {
  buffer_ += bytes;
}

std::optional<Lines::Line> Lines::next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end == std::string::npos) {
      dropping_ = dropping_ || buffer_.size() > most_;
      if (dropping_) {
        buffer_.clear();
      }
      searched_ = buffer_.size();
      return std::nullopt;
    }
    Line line{buffer_.substr(0, end), dropping_ || end > most_};
    buffer_.erase(0, end + 1);
    searched_ = 0;
    dropping_ = false;
    if (line.too_long) {
      line.text.clear();
      return line;
    }
    if (line.text.ends_with('\r')) {
      line.text.pop_back();
    }
    if (!line.text.empty()) {
      return line;
    }
  }
}

std::optional<std::string> read_some(int input, int timeout_ms, const std::vector<int>& others) {
  std::vector<pollfd> watched = {{input, POLLIN, 0}};
  for (const int other : others) {
    watched.push_back({other, POLLIN, 0});
  }
  if (::poll(watched.data(), watched.size(), timeout_ms) <= 0 || watched.front().revents == 0) {
    return "";
  }
  std::array<char, 65536> bytes;
  const ssize_t got = ::read(input, bytes.data(), bytes.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
    return "";
  }
  return got <= 0 ? std::nullopt
                  : std::optional(std::string(bytes.data(), static_cast<std::size_t>(got)));
}

}  // namespace kernelpro::mcp
