#include "coordinator/llm/redact.hpp"

#include <algorithm>
#include <utility>

namespace kernelpro {
namespace {

constexpr std::string_view instead = "[key]";

// How many of the last bytes of `text` may be the beginning of the key.
std::size_t begun(std::string_view text, std::string_view key) {
  for (std::size_t size = std::min(text.size(), key.size() - 1); size > 0; --size) {
    if (key.starts_with(text.substr(text.size() - size))) {
      return size;
    }
  }
  return 0;
}

void blank_out(std::string& text, std::string_view secret) {
  std::size_t found = text.find(secret);
  while (found != std::string::npos) {
    text.replace(found, secret.size(), instead);
    found = text.find(secret, found + instead.size());
  }
}

// As some write it in JSON.
std::string with_escaped_slashes(std::string_view key) {
  std::string escaped;
  for (const char letter : key) {
    escaped += letter == '/' ? "\\/" : std::string(1, letter);
  }
  return escaped;
}

}  // namespace

std::string redacted(std::string text, std::string_view key) {
  if (key.size() < shortest_secret) {
    return text;
  }
  blank_out(text, key);
  if (key.find('/') != std::string_view::npos) {
    blank_out(text, with_escaped_slashes(key));
  }
  return text;
}

std::string Redactor::feed(std::string_view piece) {
  if (key_.size() < shortest_secret) {
    return std::string(piece);
  }
  std::string text = redacted(std::exchange(held_, {}) += piece, key_);
  held_ = text.substr(text.size() - begun(text, key_));
  text.resize(text.size() - held_.size());
  return text;
}

std::string Redactor::finish() {
  return std::exchange(held_, {});
}

}  // namespace kernelpro
