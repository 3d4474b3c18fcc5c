#include "coordinator/task/token_list.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace kernelpro {

std::string joined(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    const bool words =
        !text.empty() && token.kind == Token::Kind::word &&
        (std::isalnum(static_cast<unsigned char>(text.back())) != 0 || text.back() == '_');
    text += (words ? " " : "") + token.text;
  }
  return text;
}

bool contains(const Tokens& tokens, const std::string& text) {
  return std::ranges::any_of(tokens, [&](const Token& token) { return token.text == text; });
}

std::size_t closing(const Tokens& tokens, std::size_t open) {
  const std::string& opener = tokens[open].text;
  static const std::map<std::string, std::string> closers = {{"(", ")"}, {"{", "}"}, {"[", "]"}};
  const std::string& closer = closers.at(opener);
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    depth += tokens[i].text == opener ? 1 : 0;
    depth -= tokens[i].text == closer ? 1 : 0;
    if (depth == 0) {
      return i;
    }
  }
  return tokens.size();
}

bool is_macro_name(const std::string& word) {
  return std::ranges::all_of(word,
                             [](unsigned char c) {
                               return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
                             }) &&
         std::ranges::any_of(word, [](unsigned char c) { return std::isupper(c) != 0; });
}

Tokens without_attributes(const Tokens& tokens) {
  Tokens left;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
    if ((tokens[i].text == "__attribute__" || tokens[i].text == "__declspec") && next == "(") {
      i = closing(tokens, i + 1);
    } else if (tokens[i].text == "[" && next == "[") {
      i = closing(tokens, i);
    } else {
      left.push_back(tokens[i]);
    }
  }
  return left;
}

}  // namespace kernelpro
