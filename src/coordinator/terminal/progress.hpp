// A line on standard error that says what is going on.
#pragma once

#include <string>

namespace kernelpro {

// On a terminal one line that is rewritten; nothing when standard error is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(const std::string& text);
  void clear();

 private:
  bool active_ = false;
  bool shown_ = false;
};

}  // namespace kernelpro
