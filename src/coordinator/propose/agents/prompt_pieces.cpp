#include "coordinator/propose/agents/prompt_pieces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

#include "coordinator/propose/agents/conditions.hpp"

namespace kernelpro::agents {

namespace {

constexpr std::string_view opening = "{{";
constexpr std::string_view closing = "}}";
constexpr std::string_view condition_word = "if ";

// What stands between the braces of a line that holds nothing else; empty: it does.
std::string directive_of(const std::string& line) {
  const bool whole = line.starts_with(opening) && line.size() >= opening.size() + closing.size() &&
                     line.find(closing) == line.size() - closing.size();
  return whole ? line.substr(opening.size(), line.size() - opening.size() - closing.size()) : "";
}

}  // namespace

Error Place::error(const std::string& message) const {
  return make_error(ErrorKind::bad_input, message, fmt::format("{}:{}", file, line));
}

PieceReader::PieceReader(std::vector<PromptPiece>& pieces, Check check)
    : pieces_(&pieces), check_(std::move(check)) {}

Status PieceReader::add(const std::string& line, const Place& at) {
  const std::string directive = directive_of(line);
  if (directive == "end") {
    return end_condition(at);
  }
  if (directive.starts_with(condition_word)) {
    return begin_condition(directive.substr(condition_word.size()), at);
  }
  std::size_t from = 0;
  for (std::size_t first = line.find(opening); first != std::string::npos;
       first = line.find(opening, from)) {
    const std::size_t last = line.find(closing, first);
    if (last == std::string::npos) {
      return at.error("expected }} behind {{ on the same line");
    }
    const std::string name = line.substr(first + opening.size(), last - first - opening.size());
    KP_TRY(check_(name, at));
    add_text(line.substr(from, first - from));
    pieces_->push_back({true, name, when_});
    from = last + closing.size();
  }
  add_text(line.substr(from) + "\n");
  return {};
}

Status PieceReader::end(const Place& at) const {
  return when_.empty() ? Status()
                       : Status(at.error(fmt::format("expected {{{{end}}}} behind {{{{if {}}}}}",
                                                     when_.back())));
}

Status PieceReader::begin_condition(const std::string& condition, const Place& at) {
  if (!is_condition(condition)) {
    return at.error(
        fmt::format(R"(there is no condition "{}"; expected one of {}, or "not" before one)",
                    condition, fmt::join(condition_names(), ", ")));
  }
  when_.push_back(condition);
  return {};
}

Status PieceReader::end_condition(const Place& at) {
  if (when_.empty()) {
    return at.error("there is no {{if …}} before this {{end}}");
  }
  when_.pop_back();
  return {};
}

void PieceReader::add_text(const std::string& text) {
  if (text.empty()) {
    return;
  }
  if (pieces_->empty() || pieces_->back().section || pieces_->back().when != when_) {
    pieces_->push_back({false, "", when_});
  }
  pieces_->back().text += text;
}

}  // namespace kernelpro::agents
