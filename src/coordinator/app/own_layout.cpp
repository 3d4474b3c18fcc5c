#include "coordinator/app/own_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "coordinator/app/own_braces.hpp"
#include "coordinator/report/diff.hpp"
#include "coordinator/task/lexer.hpp"

namespace kernelpro {
namespace {

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// What stands before each token, and behind the last: blanks and comments.
std::vector<std::string> gaps_of(const std::string& source, const std::vector<Token>& tokens) {
  std::vector<std::string> gaps;
  std::size_t at = 0;
  for (const Token& token : tokens) {
    gaps.push_back(source.substr(at, token.offset - at));
    at = token.offset + token.text.size();
  }
  gaps.push_back(source.substr(at));
  return gaps;
}

// A directive begins and ends with a line.
bool needs_line(const std::vector<Token>& tokens, std::size_t at) {
  const bool begins = tokens[at].text == "#" && !tokens[at].directive.empty();
  return begins || (at > 0 && !tokens[at - 1].directive.empty() && tokens[at].directive.empty());
}

bool has_line(const std::string& gap) {
  return gap.find('\n') != std::string::npos;
}

// One behind the comment at `at`; `at` where there is none.
std::size_t comment_end(const std::string& gap, std::size_t at) {
  if (gap.compare(at, 2, "//") == 0) {
    return std::min(gap.find('\n', at), gap.size());
  }
  if (gap.compare(at, 2, "/*") == 0) {
    const std::size_t end = gap.find("*/", at + 2);
    return end == std::string::npos ? gap.size() : end + 2;
  }
  return at;
}

std::vector<std::string> comments_in(const std::string& gap) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < gap.size();) {
    const std::size_t end = comment_end(gap, at);
    if (end > at) {
      out.push_back(gap.substr(at, end - at));
    }
    at = std::max(end, at + 1);
  }
  return out;
}

class Layout {
 public:
  Layout(const std::string& original, const std::string& rewritten)
      : before_(lex_cpp(original)),
        after_(lex_cpp(rewritten)),
        old_gaps_(gaps_of(original, before_)),
        new_gaps_(gaps_of(rewritten, after_)),
        steps_(diff_steps(views_of(told_apart(before_)), views_of(told_apart(after_)))) {
    std::erase_if(steps_, [](const DiffStep& step) { return step.sign == '-'; });
    for (const std::string& gap : old_gaps_) {
      count(gap, 1);
    }
    find_said();
  }

  [[nodiscard]] std::string text() {
    std::string text;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const DiffStep& step = steps_[i];
      const std::size_t place = behind_directives(i);
      if (place > i) {
        std::string& gap = old_gaps_[steps_[place].before];
        const std::size_t line = gap.rfind('\n');
        text += gap.substr(0, line + 1);
        gap.erase(0, line);
      } else if (keeps_gap(i)) {
        text += (wants_line(i) ? "\n" : "") + old_gaps_[step.before];
      } else {
        text += without_known(new_gaps_[step.after]);
      }
      text += after_[step.after].text;
    }
    return text + old_gaps_.back();
  }

 private:
  void count(const std::string& gap, int by) {
    for (const std::string& comment : comments_in(gap)) {
      left_[comment] += by;
    }
  }

  // A comment stands in front of what was put there: tokens with that comment already before them.
  // What others keep is not left for copies.
  void find_said() {
    std::set<std::string> inserted;
    std::set<std::string> gaps;
    said_.assign(steps_.size(), false);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const DiffStep& step = steps_[i];
      if (step.sign == '+') {
        const auto comments = comments_in(new_gaps_[step.after]);
        inserted.insert(comments.begin(), comments.end());
        gaps.insert(new_gaps_[step.after]);
        continue;
      }
      const auto kept = comments_in(old_gaps_[step.before]);
      said_[i] = gaps.contains(old_gaps_[step.before]) ||
                 (!kept.empty() && std::ranges::all_of(kept, [&](const std::string& one) {
                   return inserted.contains(one);
                 }));
      if (!said_[i] && keeps_gap(i)) {
        count(old_gaps_[step.before], -1);
      }
      inserted.clear();
      gaps.clear();
    }
    count(old_gaps_.back(), -1);
  }

  // Of new directives in front of a token with comments: where that token is, else `at`. They stand
  // between the two, as close to the token as they can.
  [[nodiscard]] std::size_t behind_directives(std::size_t at) const {
    std::size_t place = at;
    while (place < steps_.size() && steps_[place].sign == '+' &&
           !after_[steps_[place].after].directive.empty()) {
      ++place;
    }
    const bool first = at == 0 || steps_[at - 1].sign == ' ';
    if (place == at || !first || place == steps_.size() || !keeps_gap(place) ||
        !after_[steps_[place].after].directive.empty()) {
      return at;
    }
    const std::string& gap = old_gaps_[steps_[place].before];
    return has_line(gap) && !comments_in(gap).empty() ? place : at;
  }

  // Behind a directive, in front of what began no line before.
  [[nodiscard]] bool wants_line(std::size_t at) const {
    const DiffStep& step = steps_[at];
    return step.after > 0 && needs_line(after_, step.after) && !has_line(old_gaps_[step.before]);
  }

  // Lines break as they did, unless other tokens stand before this one now.
  [[nodiscard]] bool keeps_gap(std::size_t at) const {
    const DiffStep& step = steps_[at];
    if (step.sign == '+' || said_[at]) {
      return false;
    }
    const std::string& kept = old_gaps_[step.before];
    if (wants_line(at)) {
      return !comments_in(kept).empty();
    }
    const bool neighbors = at == 0 ? step.before == 0
                                   : steps_[at - 1].sign == ' ' && step.before > 0 &&
                                         steps_[at - 1].before + 1 == step.before;
    return neighbors || !comments_in(kept).empty() ||
           has_line(kept) == has_line(new_gaps_[step.after]);
  }

  // Comments of the original that stand where they stood are not repeated.
  std::string without_known(const std::string& gap) {
    std::string out;
    for (std::size_t at = 0; at < gap.size();) {
      const std::size_t end = comment_end(gap, at);
      const auto known = end > at ? left_.find(gap.substr(at, end - at)) : left_.end();
      if (known == left_.end() || known->second-- > 0) {
        out += gap.substr(at, std::max(end, at + 1) - at);
        at = std::max(end, at + 1);
        continue;
      }
      while (!out.empty() && (out.back() == ' ' || out.back() == '\t')) {
        out.pop_back();
      }
      const bool alone = out.ends_with('\n') && end < gap.size() && gap[end] == '\n';
      at = end + (alone ? 1 : 0);
    }
    return out;
  }

  std::vector<Token> before_;
  std::vector<Token> after_;
  std::vector<std::string> old_gaps_;
  std::vector<std::string> new_gaps_;
  std::vector<DiffStep> steps_;
  std::vector<bool> said_;
  std::map<std::string, int> left_;  // by comment of the original: how many may still come
};

}  // namespace

bool same_program(const std::string& one, const std::string& other) {
  const auto left = lex_cpp(one);
  const auto right = lex_cpp(other);
  return std::ranges::equal(left, right, [](const Token& a, const Token& b) {
    return a.text == b.text && a.directive == b.directive;
  });
}

std::string in_layout_of(const std::string& original, const std::string& rewritten) {
  const std::string bare = without_new_braces(original, rewritten);
  const std::string text = Layout(original, bare).text();
  return same_program(text, bare) ? text : rewritten;
}

}  // namespace kernelpro
