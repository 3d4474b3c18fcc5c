#include "coordinator/code/passage.hpp"

#include <algorithm>
#include <bitset>
#include <unordered_map>

#include "coordinator/code/words.hpp"

namespace kernelpro::code {

namespace {

constexpr std::size_t most_words = 64;
using WordSet = std::bitset<most_words>;

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Which of the words stand in a line. Names repeat, so each is looked up once.
class Spotter {
 public:
  explicit Spotter(const std::vector<WeighedWord>& words) {
    for (std::size_t at = 0; at < std::min(words.size(), most_words); ++at) {
      for (const std::string& form : words[at].forms) {
        forms_[form].set(at);
      }
    }
  }

  WordSet spot(std::string_view line) {
    WordSet found;
    for (const std::string_view name : names_of(line)) {
      found |= spot_name(name);
    }
    return found;
  }

 private:
  WordSet spot_name(std::string_view name) {
    const auto [entry, is_new] = names_.try_emplace(name);
    if (is_new) {
      const Identifier identifier = split_name(name);
      entry->second = of_form(identifier.whole);
      for (const std::string& part : identifier.parts) {
        entry->second |= of_form(part);
      }
    }
    return entry->second;
  }

  [[nodiscard]] WordSet of_form(const std::string& form) const {
    const auto found = forms_.find(form);
    return found == forms_.end() ? WordSet() : found->second;
  }

  std::unordered_map<std::string, WordSet> forms_;
  std::unordered_map<std::string_view, WordSet> names_;
};

double weight_of(const WordSet& found, const std::vector<WeighedWord>& words) {
  double sum = 0;
  for (std::size_t at = 0; at < std::min(words.size(), most_words); ++at) {
    sum += found[at] ? words[at].weight : 0;
  }
  return sum;
}

// How much the words of one line count beside those that a place has at all.
constexpr double per_line = 0.1;

}  // namespace

Lines best_lines(std::string_view text, const std::vector<WeighedWord>& words, std::int64_t room) {
  Spotter spotter(words);
  std::vector<WordSet> found;
  for (const std::string_view line : split_lines(text)) {
    found.push_back(spotter.spot(line));
  }
  Lines best;
  double best_weight = 0;
  for (std::size_t first = 0; first < found.size(); ++first) {
    if (found[first].none()) {
      continue;
    }
    WordSet together;
    double lines = 0;
    std::size_t last = first;
    const std::size_t end = std::min(found.size(), first + static_cast<std::size_t>(room));
    for (std::size_t at = first; at < end; ++at) {
      if (found[at].any()) {
        together |= found[at];
        lines += weight_of(found[at], words);
        last = at;
      }
    }
    const double weight = weight_of(together, words) + per_line * lines;
    if (weight > best_weight) {
      best_weight = weight;
      best = {.first = static_cast<std::int64_t>(first) + 1,
              .last = static_cast<std::int64_t>(last) + 1};
    }
  }
  return best;
}

std::string cut_lines(std::string_view text, Lines lines) {
  std::string cut;
  std::int64_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (number >= lines.first && number <= lines.last) {
      cut += line;
      cut += '\n';
    }
  }
  return cut;
}

std::int64_t count_lines(std::string_view text) {
  return static_cast<std::int64_t>(split_lines(text).size());
}

}  // namespace kernelpro::code
