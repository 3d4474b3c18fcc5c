// Pages taken apart: which elements they have, and whether they are well formed.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

namespace kernelpro::testing {

struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // up to the next tag
};

// Every element that is opened, in order. Fails the test where a tag is not closed by its own name,
// or where an attribute is in another form than ours.
inline std::vector<Tag> tags_in(const std::string& html) {
  std::vector<Tag> tags;
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    EXPECT_NE(end, std::string::npos) << html.substr(at, 80);
    std::string inside = html.substr(at + 1, end - at - 1);
    if (inside.starts_with("!DOCTYPE") || inside.starts_with("meta ")) {
      continue;
    }
    if (inside.starts_with('/')) {
      EXPECT_FALSE(open.empty()) << inside;
      EXPECT_EQ(open.empty() ? "" : open.back(), inside.substr(1));
      if (!open.empty()) {
        open.pop_back();
      }
      continue;
    }
    Tag tag;
    const std::size_t name_end = std::min(inside.find(' '), inside.size());
    tag.name = inside.substr(0, name_end);
    for (std::size_t place = name_end; place < inside.size();) {
      const std::size_t equals = inside.find("=\"", place);
      const std::size_t close = equals == std::string::npos ? equals : inside.find('"', equals + 2);
      if (close == std::string::npos) {
        ADD_FAILURE() << "attributes of another form: " << inside;
        break;
      }
      tag.attributes[inside.substr(place + 1, equals - place - 1)] =
          inside.substr(equals + 2, close - equals - 2);
      place = close + 1;
    }
    tag.text = html.substr(end + 1, html.find('<', end) - end - 1);
    open.push_back(tag.name);
    tags.push_back(std::move(tag));
  }
  EXPECT_THAT(open, ::testing::IsEmpty());
  return tags;
}

inline bool has_class(const Tag& tag, const std::string& wanted) {
  const auto found = tag.attributes.find("class");
  return found != tag.attributes.end() &&
         (" " + found->second + " ").find(" " + wanted + " ") != std::string::npos;
}

// The elements of that class.
inline std::vector<Tag> of_class(const std::vector<Tag>& tags, const std::string& wanted) {
  std::vector<Tag> out;
  for (const Tag& tag : tags) {
    if (has_class(tag, wanted)) {
      out.push_back(tag);
    }
  }
  return out;
}

}  // namespace kernelpro::testing
