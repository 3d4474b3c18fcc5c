// A prompt's lines taken apart at their places.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/propose/agents/prompt_file.hpp"

namespace kernelpro::agents {

// Where something stands, for errors.
struct Place {
  std::string file;
  std::size_t line = 1;

  [[nodiscard]] Error error(const std::string& message) const;
};

// Adds line by line to `pieces`, each piece under the conditions that are open.
class PieceReader {
 public:
  // Whether a place of that name may stand there.
  using Check = std::function<Status(const std::string& name, const Place& at)>;

  PieceReader(std::vector<PromptPiece>& pieces, Check check);

  Status add(const std::string& line, const Place& at);
  // That no condition is open any more.
  [[nodiscard]] Status end(const Place& at) const;

 private:
  Status begin_condition(const std::string& condition, const Place& at);
  Status end_condition(const Place& at);
  void add_text(const std::string& text);

  std::vector<PromptPiece>* pieces_;
  Check check_;
  std::vector<std::string> when_;  // the conditions that are open
};

}  // namespace kernelpro::agents
