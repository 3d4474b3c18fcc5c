#include "coordinator/terminal/color.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace kernelpro {

namespace {

// An empty variable counts as not set.
std::string_view environment(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in this program changes its environment.
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string_view code_of(Paint paint) {
  switch (paint) {
    case Paint::heading:
      return "1";
    case Paint::good:
      return "32";
    case Paint::bad:
      return "1;31";
    case Paint::warning:
      return "33";
  }
  return "0";
}

}  // namespace

bool color_wanted(int file) {
  if (!environment("NO_COLOR").empty()) {
    return false;
  }
  if (const std::string_view forced = environment("FORCE_COLOR"); !forced.empty()) {
    return forced != "0";
  }
  return ::isatty(file) == 1 && environment("TERM") != "dumb";
}

std::string painted(std::string_view text, Paint paint, int file) {
  if (text.empty() || !color_wanted(file)) {
    return std::string(text);
  }
  std::string out = "\033[";
  return out.append(code_of(paint)).append("m").append(text).append("\033[0m");
}

int text_width(int file) {
  constexpr int usual = 100;
  winsize size{};
  if (::isatty(file) != 1 || ::ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return usual;
  }
  return std::clamp(static_cast<int>(size.ws_col), 60, usual);
}

}  // namespace kernelpro
