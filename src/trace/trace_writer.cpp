#include "trace/trace_writer.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace kernelpro::trace {
namespace {

constexpr std::size_t longest_name = std::size_t{64} << 10U;
constexpr std::size_t most_name_bytes = std::size_t{64} << 20U;

int make_file(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
}

std::uint64_t file_size_limit() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? limit.rlim_cur : UINT64_MAX;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(file, text.data(), text.size());
    if (done < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(done > 0 ? static_cast<std::size_t>(done) : 0);
  }
  return true;
}

}  // namespace

bool TraceWriter::open(const std::string& path, std::uint64_t limit) {
  file_ = make_file(path);
  if (file_ < 0 && errno == EEXIST) {
    file_ = make_file(path + "." + std::to_string(getpid()));
  }
  limit_ = limit;
  most_written_ = file_size_limit();
  pending_ = "kernelpro-trace 1\n";
  return file_ >= 0;
}

bool TraceWriter::start(char kind) {
  if (records_ >= limit_ || file_ < 0) {
    ++refused_;
    return false;
  }
  ++records_;
  pending_ += kind;
  return true;
}

void TraceWriter::add_number(std::string_view digits) {
  pending_ += ' ';
  pending_ += digits;
}

void TraceWriter::add(std::uint64_t value) {
  char digits[24];
  add_number({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
}

void TraceWriter::add_signed(std::int64_t value) {
  char digits[24];
  add_number({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
}

void TraceWriter::add_times(std::uint64_t begin, std::uint64_t end) {
  if (begin == 0 || end < begin) {
    pending_ += " - -";
    return;
  }
  add_signed(static_cast<std::int64_t>(begin - moment_));
  add_signed(static_cast<std::int64_t>(end - moment_));
}

void TraceWriter::end() {
  pending_ += '\n';
}

void TraceWriter::line(char kind, std::string_view text) {
  pending_ += kind;
  if (!text.empty()) {
    pending_ += ' ';
    add_escaped(text);
  }
  pending_ += '\n';
}

void TraceWriter::add_escaped(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (code >= 0x20 && code != 0x7f && character != '\\') {
      pending_ += character;
    } else {
      pending_ += "\\x";
      pending_ += digits[code >> 4U];
      pending_ += digits[code & 15U];
    }
  }
}

std::uint64_t TraceWriter::name(std::string_view text, std::string_view module) {
  text = text.substr(0, longest_name);
  if (text.empty() || file_ < 0) {
    return 0;
  }
  const auto known = known_.find(std::string(text));
  if (known != known_.end() && known->second.module == module) {
    return known->second.number;
  }
  if (name_bytes_ + text.size() > most_name_bytes) {
    return 0;
  }
  name_bytes_ += text.size();
  const std::uint64_t number = ++names_;
  known_[std::string(text)] = {number, std::string(module)};
  pending_ += 'N';
  add(number);
  add_number(module);
  pending_ += ' ';
  add_escaped(text);
  pending_ += '\n';
  return number;
}

void TraceWriter::flush() {
  const bool fits = pending_.size() <= most_written_ - written_;
  if (file_ >= 0 && fits && write_all(file_, pending_)) {
    written_ += pending_.size();
  } else if (file_ >= 0) {
    // No room: the file keeps its whole lines, and lacks its end.
    ::close(file_);
    file_ = -1;
  }
  pending_.clear();
}

void TraceWriter::close() {
  if (refused_ > 0) {
    line('M', std::to_string(refused_));
  }
  line('E', {});
  flush();
  if (file_ >= 0) {
    ::close(file_);
    file_ = -1;
  }
}

}  // namespace kernelpro::trace
