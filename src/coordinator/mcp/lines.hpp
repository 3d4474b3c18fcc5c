// Bytes of a client as lines, none of them without a bound.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpro::mcp {

class Lines {
 public:
  // Of one line. What goes beyond is read and dropped.
  static constexpr std::size_t most_bytes = std::size_t{4} << 20U;

  struct Line {
    std::string text;
    bool too_long = false;  // then `text` is empty
  };

  explicit Lines(std::size_t most = most_bytes) : most_(most) {}

  void add(std::string_view bytes);
  // The next whole line, without what ends it; empty ones are left out.
  [[nodiscard]] std::optional<Line> next();

 private:
  std::size_t most_;
  std::string buffer_;
  std::size_t searched_ = 0;  // of the buffer, what has no end of a line
  bool dropping_ = false;     // the line that is too long has not ended yet
};

// What came to `input` within that time, or before one of `others` had something to read; nothing:
// its end.
[[nodiscard]] std::optional<std::string> read_some(int input, int timeout_ms,
                                                   const std::vector<int>& others = {});

}  // namespace kernelpro::mcp
