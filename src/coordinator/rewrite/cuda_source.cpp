#include "coordinator/rewrite/cuda_source.hpp"

#include <algorithm>
#include <string_view>

#include "common/base/text.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t nowhere = std::string::npos;
constexpr std::string_view spaces = " \t\n\v\f\r";
constexpr std::string_view dim3 = "dim3";
constexpr std::string_view constant_signs = "*()/+";

bool blank(char c) {
  return spaces.find(c) != nowhere;
}

std::size_t skip_space(const std::string& text, std::size_t at) {
  while (at < text.size() && blank(text[at])) {
    ++at;
  }
  return at;
}

// The next place of a whole word.
std::size_t find_word(const std::string& text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != nowhere; at = text.find(word, at + 1)) {
    const std::size_t behind = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (behind == text.size() || !is_word(text[behind]))) {
      return at;
    }
  }
  return nowhere;
}

// Behind the bracket that closes the one at `open`.
std::size_t behind_bracket(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '{' || text[at] == '[') {
      ++depth;
    } else if (text[at] == ')' || text[at] == '}' || text[at] == ']') {
      if (--depth == 0) {
        return at + 1;
      }
    }
  }
  return nowhere;
}

// Split at commas outside of brackets.
std::vector<std::string> split_arguments(const std::string& text) {
  std::vector<std::string> out;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '{' || c == '[' ? 1 : 0;
    depth -= c == ')' || c == '}' || c == ']' ? 1 : 0;
    if (c == ',' && depth == 0) {
      out.emplace_back(trimmed(part, spaces));
      part.clear();
    } else {
      part += c;
    }
  }
  out.emplace_back(trimmed(part, spaces));
  return out;
}

// The word that ends before `end`, with blanks between.
std::string word_before(const std::string& text, std::size_t end) {
  while (end > 0 && blank(text[end - 1])) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) {
    --begin;
  }
  return text.substr(begin, end - begin);
}

// Behind the statement at `at`: a block, or up to its semicolon.
std::size_t behind_statement(const std::string& text, std::size_t at) {
  at = skip_space(text, at);
  if (at < text.size() && text[at] == '{') {
    return behind_bracket(text, at);
  }
  for (; at < text.size(); ++at) {
    if (text[at] == ';') {
      return at + 1;
    }
    if (text[at] == '(' || text[at] == '{' || text[at] == '[') {
      at = behind_bracket(text, at);
      if (at == nowhere) {
        return nowhere;
      }
      --at;
    }
  }
  return nowhere;
}

std::optional<CudaKernel> kernel_at(const std::string& text, std::size_t begin) {
  CudaKernel kernel;
  kernel.begin = begin;
  std::size_t open = text.find('(', begin);
  if (open != nowhere && word_before(text, open) == "__launch_bounds__") {
    kernel.bounded = true;
    const std::size_t behind = behind_bracket(text, open);
    open = behind == nowhere ? nowhere : text.find('(', behind);
  }
  if (open == nowhere) {
    return std::nullopt;
  }
  kernel.name = word_before(text, open);
  const std::size_t behind = behind_bracket(text, open);
  kernel.body = behind == nowhere ? nowhere : skip_space(text, behind);
  if (kernel.name.empty() || kernel.body >= text.size() || text[kernel.body] != '{') {
    return std::nullopt;
  }
  kernel.end = behind_bracket(text, kernel.body);
  return kernel.end == nowhere ? std::nullopt : std::optional(kernel);
}

bool is_number(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), is_digit);
}

// Whether the file says `#define NAME`, or `constexpr … NAME =`, before `place`.
bool is_constant_name(const std::string& text, const std::string& name, std::size_t place) {
  for (std::size_t at = find_word(text, name, 0); at < place; at = find_word(text, name, at + 1)) {
    if (word_before(text, at) == "define") {
      return true;
    }
    const std::size_t next = skip_space(text, at + name.size());
    const std::size_t before = at == 0 ? nowhere : text.find_last_of(";{}=", at - 1);
    const std::size_t begin = before == nowhere ? 0 : before + 1;
    if (next < text.size() && (text[next] == '=' || text[next] == '{') &&
        find_word(text.substr(begin, at - begin), "constexpr", 0) != nowhere) {
      return true;
    }
  }
  return false;
}

// Made of numbers and constants that are known before `place`.
bool is_constant(const std::string& text, const std::string& expression, std::size_t place) {
  for (std::size_t at = 0; at < expression.size();) {
    std::size_t end = at;
    while (end < expression.size() && is_word(expression[end])) {
      ++end;
    }
    const std::string word = expression.substr(at, end - at);
    const bool known = word.empty()
                           ? blank(expression[at]) || constant_signs.find(expression[at]) != nowhere
                           : is_number(word) || is_constant_name(text, word, place);
    if (!known) {
      return false;
    }
    at = std::max(end, at + 1);
  }
  return !expression.empty();
}

// What stands between the brackets at `open`, split at commas.
std::vector<std::string> parts_between(const std::string& text, std::size_t open) {
  const std::size_t behind = open < text.size() && (text[open] == '(' || text[open] == '{')
                                 ? behind_bracket(text, open)
                                 : nowhere;
  return behind == nowhere ? std::vector<std::string>()
                           : split_arguments(text.substr(open + 1, behind - open - 2));
}

// What a dim3 of that name is made of; empty where there is none, or more than one.
std::vector<std::string> parts_of_dim3(const std::string& text, const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t at = find_word(text, name, 0); at != nowhere;
       at = find_word(text, name, at + 1)) {
    if (word_before(text, at) != dim3) {
      continue;
    }
    std::size_t open = skip_space(text, at + name.size());
    if (open < text.size() && text[open] == '=') {
      open = skip_space(text, open + 1);
      open =
          text.compare(open, dim3.size(), dim3) == 0 ? skip_space(text, open + dim3.size()) : open;
    }
    if (!parts.empty()) {
      return {};
    }
    parts = parts_between(text, open);
  }
  return parts;
}

}  // namespace

std::string without_text(const std::string& source) {
  std::string out = source;
  const auto blank_out = [&out](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < std::min(end, out.size()); ++at) {
      out[at] = out[at] == '\n' ? '\n' : ' ';
    }
  };
  for (std::size_t at = 0; at < source.size(); ++at) {
    std::size_t end = at;
    if (source.compare(at, 2, "//") == 0) {
      end = std::min(source.find('\n', at), source.size());
    } else if (source.compare(at, 2, "/*") == 0) {
      end = source.find("*/", at + 2);
      end = end == nowhere ? source.size() : end + 2;
    } else if (source[at] == '"' || (source[at] == '\'' && (at == 0 || !is_word(source[at - 1])))) {
      for (end = at + 1; end < source.size() && source[end] != source[at]; ++end) {
        end += source[end] == '\\' ? 1 : 0;
      }
      ++end;
    }
    if (end > at) {
      blank_out(at, end);
      at = end - 1;
    }
  }
  return out;
}

std::vector<CudaKernel> find_kernels(const std::string& text) {
  std::vector<CudaKernel> out;
  for (std::size_t at = find_word(text, "__global__", 0); at != nowhere;
       at = find_word(text, "__global__", at + 1)) {
    if (const std::optional<CudaKernel> kernel = kernel_at(text, at)) {
      out.push_back(*kernel);
    }
  }
  return out;
}

std::vector<std::size_t> find_innermost_loops(const std::string& text, std::size_t begin,
                                              std::size_t end) {
  std::vector<std::size_t> out;
  for (std::size_t at = find_word(text, "for", begin); at < end;
       at = find_word(text, "for", at + 1)) {
    const std::size_t open = skip_space(text, at + 3);
    const std::size_t head =
        open < text.size() && text[open] == '(' ? behind_bracket(text, open) : nowhere;
    const std::size_t behind = head == nowhere ? nowhere : behind_statement(text, head);
    if (behind == nowhere || behind > end) {
      continue;
    }
    const bool inner =
        find_word(text, "for", head) < behind || find_word(text, "while", head) < behind;
    if (!inner) {
      out.push_back(at);
    }
  }
  return out;
}

std::vector<std::string> launch_threads(const std::string& text, const std::string& kernel) {
  std::vector<std::string> out;
  for (std::size_t at = text.find("<<<"); at != nowhere; at = text.find("<<<", at + 1)) {
    std::size_t name_end = at;
    if (at > 0 && text[at - 1] == '>') {
      name_end = text.rfind('<', at - 1);
    }
    const std::size_t close = text.find(">>>", at);
    if (close == nowhere || name_end == nowhere || word_before(text, name_end) != kernel) {
      continue;
    }
    const std::vector<std::string> parts = split_arguments(text.substr(at + 3, close - at - 3));
    out.push_back(parts.size() < 2 ? "" : parts[1]);
  }
  return out;
}

std::optional<std::string> constant_threads(const std::string& text, const std::string& expression,
                                            std::size_t place) {
  if (is_constant(text, expression, place)) {
    return expression;
  }
  std::vector<std::string> parts;
  if (!expression.empty() && std::all_of(expression.begin(), expression.end(), is_word)) {
    parts = parts_of_dim3(text, expression);
  } else if (expression.starts_with(dim3)) {
    parts = parts_between(expression, skip_space(expression, dim3.size()));
  }
  std::string product;
  for (const std::string& part : parts) {
    if (!is_constant(text, part, place)) {
      return std::nullopt;
    }
    product += (product.empty() ? "" : " * ") +
               (std::all_of(part.begin(), part.end(), is_word) ? part : "(" + part + ")");
  }
  return product.empty() ? std::nullopt : std::optional(product);
}

}  // namespace kernelpro
