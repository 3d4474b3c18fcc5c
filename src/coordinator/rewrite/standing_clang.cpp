#include "coordinator/rewrite/standing_clang.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

#include "common/base/deadline.hpp"
#include "common/base/secret.hpp"
#include "common/base/sigpipe_guard.hpp"
#include "common/base/spawn.hpp"
#include "coordinator/rewrite/clang_call.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

// clang frees no tree before it ends: 2 MB each where <cmath> is included.
constexpr int most_sources = 48;
constexpr std::size_t most_idle = 4;
constexpr std::size_t chunk_bytes = 64 * 1024;

std::string pipe_name(int source) {
  return std::to_string(source) + ".cpp";
}

Status make_source_pipes(const fs::path& folder) {
  for (int i = 0; i < most_sources; ++i) {
    const fs::path path = folder / pipe_name(i);
    if (::mkfifo(path.c_str(), 0644) != 0 || ::chmod(path.c_str(), 0644) != 0) {
      return make_error(ErrorKind::io, "a named pipe could not be made", path.string());
    }
  }
  return {};
}

// Behind -Xclang, more inputs come to whom the driver calls in its own process.
std::vector<std::string> arguments_for_all(const ParseSettings& settings) {
  std::vector<std::string> arguments = tree_arguments(settings);
  for (int i = 0; i + 1 < most_sources; ++i) {
    arguments.insert(arguments.end(), {"-Xclang", pipe_name(i)});
  }
  arguments.push_back(pipe_name(most_sources - 1));
  return arguments;
}

// clang prints through a buffer of a page. What is declared behind the source tells where its tree
// ends, by a name that no source can know, and pushes it out.
std::string with_end(const std::string& source, const std::string& end) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return source + "\n\nint " + end + ";\nint kp_pushes_" + std::string(page, 'x') + ";\n";
}

// Writes a text to a named pipe as fast as it is read.
class Feed {
 public:
  Feed(fs::path pipe, std::string text) : pipe_(std::move(pipe)), text_(std::move(text)) {}

  // False when it cannot be written.
  bool go_on() {
    if (sent_ < text_.size() && !fd_.valid()) {
      fd_.reset(::open(pipe_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
      if (!fd_.valid()) {
        return errno == ENXIO;  // clang has not come to it
      }
    }
    while (sent_ < text_.size()) {
      const ssize_t count = ::write(fd_.get(), text_.data() + sent_, text_.size() - sent_);
      if (count < 0 && errno != EINTR) {
        return errno == EAGAIN;
      }
      sent_ += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
    fd_.reset();
    return true;
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  // Nobody tells when clang opens the pipe.
  [[nodiscard]] std::int64_t patience_ms() const {
    return sent_ < text_.size() && !fd_.valid() ? 1 : 100;
  }

 private:
  fs::path pipe_;
  std::string text_;
  std::size_t sent_ = 0;
  UniqueFd fd_;
};

// Adds what is there to `text`; false when there will be no more.
bool drain(int fd, std::string& text) {
  std::array<char, chunk_bytes> chunk;
  while (text.size() < largest_clang_output) {
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return count < 0 && errno == EAGAIN;
    }
  }
  return false;
}

UniqueFd without_waiting(UniqueFd fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return fd;
}

}  // namespace

Result<std::unique_ptr<StandingClang>> StandingClang::start(const ParseSettings& settings) {
  KP_LET(ScratchDir folder, ScratchDir::create("standing"));
  KP_TRY(put_public_header(folder.path(), settings));
  KP_TRY(make_source_pipes(folder.path()));
  KP_LET(Pipe output, make_pipe());
  KP_LET(Pipe errors, make_pipe());
  KP_LET(Pipe nothing, make_pipe());
  nothing.write.reset();
  Command command = clang_command(folder.path(), arguments_for_all(settings), settings);
  command.ends_with_us = true;
  std::unique_ptr<StandingClang> clang(new StandingClang(std::move(folder)));
  KP_LET(clang->pid_, spawn(command, {nothing.read.get(), output.write.get(), errors.write.get()}));
  clang->process_ = open_process(clang->pid_);
  clang->output_ = without_waiting(std::move(output.read));
  clang->errors_ = without_waiting(std::move(errors.read));
  return clang;
}

StandingClang::~StandingClang() {
  if (pid_ > 0) {
    end_guarded(pid_, process_.get());
    kill_group(pid_);
  }
}

bool StandingClang::usable() const {
  pollfd process{process_.get(), POLLIN, 0};
  return read_ < most_sources && process_.valid() && ::poll(&process, 1, 0) == 0;
}

Result<std::optional<std::string>> StandingClang::tree_of(const std::string& source,
                                                          const ParseSettings& settings,
                                                          const std::stop_token& stop) {
  const SigpipeGuard guard;
  const Deadline deadline(settings.timeout_ms);
  const std::string end = "kp_end_" + key_text(secret_key());
  // Until it has answered, nobody shall ask again.
  const int number = std::exchange(read_, most_sources);
  Feed feed(folder_.path() / pipe_name(number), with_end(source, end));
  std::string errors;
  for (bool ended = false;;) {
    const bool fed = feed.go_on();
    const bool open = drain(output_.get(), printed_);
    ended = !drain(errors_.get(), errors) || !open || ended;
    if (!errors.empty()) {
      break;
    }
    // Behind the last source clang ends.
    if (std::optional<std::string> tree = take_tree(end)) {
      read_ = number + 1;
      return tree;
    }
    if (ended || !fed || stop.stop_requested()) {
      break;
    }
    if (deadline.passed()) {
      return too_slow(settings);
    }
    std::array<pollfd, 4> waits = {pollfd{process_.get(), POLLIN, 0},
                                   pollfd{output_.get(), POLLIN, 0},
                                   pollfd{errors_.get(), POLLIN, 0}, pollfd{feed.fd(), POLLOUT, 0}};
    ::poll(waits.data(), waits.size(), deadline.step(feed.patience_ms()));
    ended = waits[0].revents != 0;
  }
  return std::optional<std::string>();
}

// Only the brace that closes a tree stands at the start of a line, and the next tree follows it at
// once. Declarations are indented by four.
std::optional<std::string> StandingClang::take_tree(const std::string& end) {
  const std::string mark = R"("name": ")" + end + "\"";
  const std::size_t found = printed_.find(mark, searched_);
  if (found == std::string::npos) {
    searched_ = printed_.size() - std::min(printed_.size(), mark.size());
    return std::nullopt;
  }
  // What the tree before had behind its end comes first.
  const std::size_t before = printed_.starts_with("{") ? 0 : printed_.find("\n}") + 2;
  const std::size_t last = printed_.rfind("\n    {\n", found);
  if (last == std::string::npos || last < before) {
    return std::nullopt;
  }
  std::string tree = printed_.substr(before, last - before);
  if (tree.ends_with(",")) {
    tree.pop_back();
  }
  printed_.erase(0, found);
  searched_ = 0;
  return tree + "\n  ]\n}\n";
}

Result<std::optional<std::string>> StandingClangs::tree_of(const std::string& source,
                                                           const ParseSettings& settings,
                                                           const std::stop_token& stop) {
  std::unique_ptr<StandingClang> clang = take(settings);
  if (!clang) {
    return std::optional<std::string>();
  }
  Result<std::optional<std::string>> tree = clang->tree_of(source, settings, stop);
  give_back(std::move(clang), settings);
  return tree;
}

std::unique_ptr<StandingClang> StandingClangs::take(const ParseSettings& settings) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(idle_, settings.prepared_headers, &Idle::prepared_headers);
    if (found != idle_.end()) {
      std::unique_ptr<StandingClang> clang = std::move(found->clang);
      idle_.erase(found);
      if (clang->usable()) {
        return clang;
      }
    }
  }
  Result<std::unique_ptr<StandingClang>> started = StandingClang::start(settings);
  return started ? std::move(*started) : nullptr;
}

void StandingClangs::give_back(std::unique_ptr<StandingClang> clang,
                               const ParseSettings& settings) {
  std::list<Idle> too_many;  // ended without the lock
  if (!clang->usable()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  idle_.push_front({settings.prepared_headers, std::move(clang)});
  if (idle_.size() > most_idle) {
    too_many.splice(too_many.end(), idle_, std::prev(idle_.end()));
  }
}

}  // namespace kernelpro
