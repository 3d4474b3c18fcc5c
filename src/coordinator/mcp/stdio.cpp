#include "coordinator/mcp/stdio.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <string>

#include "coordinator/mcp/job_processes.hpp"
#include "coordinator/mcp/lines.hpp"
#include "coordinator/mcp/session.hpp"

namespace kernelpro::mcp {

namespace {

// False: nobody reads any more, or a stop was asked for while nobody did.
bool write_line(const std::string& line, const std::stop_token& stop) {
  constexpr int wait_ms = 200;
  constexpr std::size_t piece = PIPE_BUF;  // what can be written at once where anything can
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&output, 1, wait_ms) <= 0) {
      if (stop.stop_requested()) {
        return false;
      }
      continue;
    }
    const ssize_t wrote =
        ::write(STDOUT_FILENO, text.data() + done, std::min(piece, text.size() - done));
    if (wrote < 0 && errno != EINTR && errno != EAGAIN) {
      return false;
    }
    done += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
  }
  return true;
}

}  // namespace

Status serve_stdio(const std::filesystem::path& store, std::stop_token stop) {
  constexpr int busy_wait_ms = 50;
  constexpr int idle_wait_ms = 500;
  JobProcesses processes;
  bool heard = true;
  Session session({.store = std::filesystem::absolute(store).lexically_normal(),
                   .launch = [&processes](const auto& folder) { return processes.start(folder); }},
                  [&](const std::string& line) { heard = heard && write_line(line, stop); });
  Lines lines;
  while (heard && !stop.stop_requested()) {
    const std::optional<std::string> bytes =
        read_some(STDIN_FILENO, session.waits() ? busy_wait_ms : idle_wait_ms, processes.news());
    if (!bytes) {
      break;
    }
    lines.add(*bytes);
    for (std::optional<Lines::Line> line; heard && (line = lines.next());) {
      if (line->too_long) {
        session.refuse_long_line();
      } else {
        session.take(line->text);
      }
    }
    processes.reap();
    session.tick();
  }
  return {};
}

}  // namespace kernelpro::mcp
