#include "coordinator/propose/agents/json_objects.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

namespace kernelpro::agents {

namespace {

constexpr std::size_t most_text = 8U << 20U;
constexpr const char* blanks = " \t\r\n";

// Where objects end, for all of a text at once: each place goes by those behind it.
class ObjectEnds {
 public:
  explicit ObjectEnds(std::string_view text)
      : of_string_(text.size() + 2, never), of_object_(text.size() + 2, never) {
    for (std::size_t i = text.size(); i-- > 0;) {
      const auto behind = static_cast<std::uint32_t>(i + 1);
      const char c = text[i];
      if (c == '"') {
        of_object_[i] = from(of_string_[behind]);
        of_string_[i] = behind;
      } else {
        of_string_[i] = of_string_[c == '\\' ? behind + 1 : behind];
        of_object_[i] = c == '{' ? from(of_object_[behind]) : of_object_[behind];
      }
      if (c == '}') {
        of_object_[i] = behind;
      }
    }
  }

  // Behind the last brace of the object that begins at `open`; npos: it does not end.
  [[nodiscard]] std::size_t of(std::size_t open) const {
    const std::uint32_t end = of_object_[open + 1];
    return end == never ? std::string::npos : end;
  }

 private:
  static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::uint32_t from(std::uint32_t place) const {
    return place == never ? never : of_object_[place];
  }

  std::vector<std::uint32_t> of_string_;  // behind the quote that ends a string one is in here
  std::vector<std::uint32_t> of_object_;  // behind the brace that ends an object one is in here
};

// The first character that is neither blank nor in a comment; 0: it is too far away.
char first_inside(std::string_view text, std::size_t from) {
  constexpr std::size_t longest_comments = 400;
  std::string_view rest = text.substr(std::min(text.find_first_not_of(blanks, from), text.size()));
  rest = rest.substr(0, longest_comments);
  while (rest.starts_with("//") || rest.starts_with("/*")) {
    const std::string_view mark = rest[1] == '/' ? "\n" : "*/";
    const std::size_t end = rest.find(mark, 2);
    rest = end == std::string_view::npos ? "" : rest.substr(end + mark.size());
    rest = rest.substr(std::min(rest.find_first_not_of(blanks), rest.size()));
  }
  return rest.empty() ? '\0' : rest.front();
}

}  // namespace

std::vector<std::string> json_objects(const std::string& text) {
  std::string_view looked_at = text;
  looked_at.remove_prefix(text.size() - std::min(text.size(), most_text));
  const ObjectEnds ends(looked_at);
  std::vector<std::string> out;
  for (std::size_t at = looked_at.find('{'); at != std::string_view::npos;) {
    const std::size_t end = ends.of(at);
    const bool is_object = end != std::string_view::npos && first_inside(looked_at, at + 1) == '"';
    if (is_object) {
      out.emplace_back(looked_at.substr(at, end - at));
    }
    at = looked_at.find('{', is_object ? end : at + 1);
  }
  return out;
}

}  // namespace kernelpro::agents
