#include "coordinator/code/index_row.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "coordinator/code/words.hpp"

namespace kernelpro::code {

namespace {

// More of the same word says no more about a file; it would make long tables of numbers and
// instructions the longest of all texts.
constexpr int most_repeated = 6;

class Bag {
 public:
  void add(std::string_view name, int times) {
    const Identifier identifier = split_name(name);
    for (const std::string& part : identifier.parts) {
      counts_[part] += times;
    }
    if (identifier.parts.size() > 1) {
      counts_[identifier.whole] += times;
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& [word, count] : counts_) {
      for (int time = 0; time < std::min(count, most_repeated); ++time) {
        text += word;
        text += ' ';
      }
    }
    return text;
  }

 private:
  std::map<std::string, int> counts_;
};

// Names repeat much more than they differ: each is split once.
std::string words_of(std::string_view text) {
  std::unordered_map<std::string_view, int> counts;
  for (const std::string_view name : names_of(text)) {
    ++counts[name];
  }
  Bag bag;
  for (const auto& [name, count] : counts) {
    bag.add(name, count);
  }
  return bag.text();
}

}  // namespace

IndexRow index_row(std::string_view path, const std::vector<Symbol>& symbols,
                   std::string_view text) {
  Bag defined;
  for (const Symbol& symbol : symbols) {
    for (const std::string_view name : names_of(symbol.name)) {
      defined.add(name, 1);
    }
  }
  return {.path = words_of(path), .symbols = defined.text(), .body = words_of(text)};
}

}  // namespace kernelpro::code
