#include "coordinator/llm/html_text.hpp"

#include <array>
#include <string_view>

#include "common/base/text.hpp"
#include "coordinator/llm/lower_case.hpp"

namespace kernelpro {
namespace {

// Where what begins at `tag` and is no text ends. `lower` is the page in lower case.
std::size_t end_of_tag(std::string_view lower, std::size_t tag) {
  constexpr std::array<std::array<std::string_view, 2>, 3> hidden = {
      {{"<!--", "-->"}, {"<script", "</script>"}, {"<style", "</style>"}}};
  for (const auto& [begin, end] : hidden) {
    if (lower.substr(tag).starts_with(begin)) {
      const std::size_t found = lower.find(end, tag);
      return found == std::string_view::npos ? lower.size() : found + end.size();
    }
  }
  const std::size_t found = lower.find('>', tag);
  return found == std::string_view::npos ? lower.size() : found + 1;
}

std::string without_tags(const std::string& page, std::string_view lower) {
  std::string text;
  std::size_t at = 0;
  while (at < page.size()) {
    if (page[at] == '<') {
      at = end_of_tag(lower, at);
      text += '\n';
    } else {
      text += page[at++];
    }
  }
  return std::string(trimmed(text));
}

}  // namespace

std::string html_text(const std::string& page) {
  if (!trimmed(page).starts_with('<')) {
    return {};
  }
  const std::string lower = lower_case(page);
  if (const std::size_t tag = lower.find("<title"); tag != std::string::npos) {
    const std::size_t begin = end_of_tag(lower, tag);
    const std::string title = page.substr(begin, lower.find('<', begin) - begin);
    if (!trimmed(title).empty()) {
      return std::string(trimmed(title));
    }
  }
  return without_tags(page, lower);
}

}  // namespace kernelpro
