#include "coordinator/task/function_body.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <vector>

#include "coordinator/task/function_name.hpp"

namespace kernelpro {

Tokens body_of(const Tokens& tokens, const std::string& function) {
  const std::string name = plain_name(function);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text != name || tokens[i + 1].text != "(") {
      continue;
    }
    std::size_t at = closing(tokens, i + 1) + 1;
    while (at < tokens.size() && tokens[at].kind == Token::Kind::word) {
      ++at;  // const, noexcept
    }
    if (at < tokens.size() && tokens[at].text == "{") {
      const std::size_t end = closing(tokens, at);
      return {tokens.begin() + static_cast<std::ptrdiff_t>(at),
              tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end, tokens.size()))};
    }
  }
  return {};
}

std::vector<std::string> subtracted_in(const std::string& source, const std::string& function,
                                       const std::vector<std::string>& axes) {
  const Tokens body = body_of(lex_cpp(source), function);
  std::vector<std::string> out;
  const auto take = [&](const std::string& name) {
    if (std::ranges::find(axes, name) != axes.end() && std::ranges::find(out, name) == out.end()) {
      out.push_back(name);
    }
  };
  for (std::size_t i = 2; i < body.size(); ++i) {
    const bool shifts = body[i - 1].text == body[i - 2].text &&
                        (body[i - 1].text == "<" || body[i - 1].text == ">");
    if (body[i - 1].text != "-" && !shifts) {
      continue;
    }
    take(body[i].text);
    // "r" of "r = size / 2".
    for (std::size_t k = 0; k + 3 < body.size(); ++k) {
      const bool half =
          body[k].text == body[i].text && body[k + 1].text == "=" && body[k + 3].text == "/";
      if (half) {
        take(body[k + 2].text);
      }
    }
  }
  return out;
}

bool doubles(const std::string& source, const std::string& function, const std::string& axis) {
  const Tokens body = body_of(lex_cpp(source), function);
  const auto is = [&body](std::size_t at, const char* text) {
    return at < body.size() && body[at].text == text;
  };
  for (std::size_t i = 2; i < body.size(); ++i) {
    if (body[i].text == axis &&
        ((is(i - 1, "*") && is(i - 2, "2")) || (is(i + 1, "*") && is(i + 2, "2")) ||
         (is(i + 1, "<") && is(i + 2, "<") && is(i + 3, "1")))) {
      return true;
    }
  }
  return false;
}

bool asserts(const std::string& word) {
  std::string lower = word;
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.ends_with("assert") || lower == "expects" || lower == "check" || lower == "dcheck" ||
         lower == "require";
}

namespace {

// "i * lda", "lda * i", also with a cast: "i * (size_t)lda",
// "static_cast<size_t>(lda) * i".
bool is_factor(const Tokens& body, std::size_t at) {
  std::size_t behind = at + 1;
  while (behind < body.size() && body[behind].text == ")") {
    ++behind;
  }
  if (behind < body.size() && body[behind].text == "*") {
    return true;
  }
  std::size_t before = at - 1;
  const bool cast = body[before].text == ")" || body[before].text == "(";
  constexpr std::size_t longest_cast = 8;
  for (std::size_t i = 0; cast && i < longest_cast && before > 0 && body[before].text != "*"; ++i) {
    const std::string& text = body[before].text;
    const bool within = body[before].kind == Token::Kind::word || text == "(" || text == ")" ||
                        text == "<" || text == ">" || text == "::";
    if (!within) {
      return false;
    }
    --before;
  }
  return body[before].text == "*";
}

}  // namespace

namespace {

// Whether each token stands in the head of a `for`: where its counter begins
// and how it steps does not say how far it goes.
std::vector<bool> heads_of_loops(const Tokens& body) {
  std::vector<bool> heads(body.size());
  for (std::size_t i = 0; i + 1 < body.size(); ++i) {
    if (body[i].text == "for" && body[i + 1].text == "(") {
      const std::size_t end = std::min(closing(body, i + 1), body.size());
      std::fill(heads.begin() + static_cast<std::ptrdiff_t>(i),
                heads.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
  }
  return heads;
}

// "sum" of "sum = 2 * radius", "sum += radius", "int sum(radius);": the words
// that a statement with one of these gives a value.
void follow(const Tokens& body, const std::vector<bool>& heads, std::set<std::string>& words) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const std::string& text = body[i].text;
    if (text != ";" && text != "{" && text != "}") {
      continue;
    }
    std::size_t equals = begin;
    while (equals < i && (heads[equals] || body[equals].text != "=")) {
      ++equals;
    }
    bool from = false;
    for (std::size_t k = equals; k < i; ++k) {
      from = from || words.contains(body[k].text);
    }
    // The name that is given a value is the last word before the sign and what
    // it is joined with.
    std::size_t name = equals;
    int depth = 0;  // of subscripts: "y" of "y[i] = radius"
    while (from && name > begin && (depth > 0 || body[name - 1].kind != Token::Kind::word)) {
      --name;
      depth += body[name].text == "]" ? 1 : 0;
      depth -= body[name].text == "[" ? 1 : 0;
    }
    if (from && name > begin) {
      words.insert(body[name - 1].text);
    }
    begin = i + 1;
  }
}

std::size_t next_semicolon(const Tokens& body, std::size_t at, std::size_t end) {
  while (at < end && body[at].text != ";") {
    ++at;
  }
  return at;
}

bool has_word(const Tokens& body, std::size_t begin, std::size_t end,
              const std::set<std::string>& words) {
  for (std::size_t i = begin; i < std::min(end, body.size()); ++i) {
    if (words.contains(body[i].text)) {
      return true;
    }
  }
  return false;
}

}  // namespace

LoopRole role_in_loops(const std::string& source, const std::string& function,
                       const std::string& name) {
  const Tokens tokens = lex_cpp(source);
  const Tokens body = body_of(tokens, function);
  const std::vector<bool> heads = heads_of_loops(body);
  std::set<std::string> words = {name};
  for (std::size_t known = 0; known != words.size();) {
    known = words.size();
    follow(body, heads, words);
  }
  LoopRole part = body.empty() ? LoopRole::near : LoopRole::none;
  for (std::size_t i = 0; i + 1 < body.size(); ++i) {
    const bool loop = body[i].text == "for" || body[i].text == "while";
    if (body[i + 1].text != "(" || body[i].kind != Token::Kind::word ||
        (!loop && body_of(tokens, body[i].text).empty())) {
      continue;
    }
    const std::size_t end = std::min(closing(body, i + 1), body.size());
    if (!has_word(body, i + 2, end, words)) {
      continue;
    }
    // Of a for, what stands between the semicolons.
    std::size_t from = i + 2;
    std::size_t to = end;
    if (body[i].text == "for") {
      from = next_semicolon(body, from, end) + 1;
      to = next_semicolon(body, from, end);
    }
    part =
        loop && has_word(body, from, to, words) ? LoopRole::bound : std::max(part, LoopRole::near);
    if (part == LoopRole::bound) {
      break;
    }
  }
  return part;
}

bool steps_by(const std::string& source, const std::string& function, const std::string& axis) {
  const Tokens body = body_of(lex_cpp(source), function);
  const auto is = [&body](std::size_t at, const char* text) {
    return at < body.size() && body[at].text == text;
  };
  bool steps = false;
  for (std::size_t i = 1; i < body.size(); ++i) {
    if (asserts(body[i].text) && is(i + 1, "(")) {
      i = closing(body, i + 1);
      continue;
    }
    if (body[i].text != axis) {
      continue;
    }
    const bool moves = is(i - 1, "=") && is(i - 2, "+");
    if (!moves && !is_factor(body, i)) {
      return false;
    }
    steps = true;
  }
  return steps;
}

}  // namespace kernelpro
