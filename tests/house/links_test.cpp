// Every page of ours links to files that exist.
#include <gmock/gmock.h>

#include <sstream>

#include "common/base/file.hpp"
#include "house/source_tree.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The targets of [text](target) outside blocks of code, without addresses and without anchors.
std::vector<std::string> relative_links(const std::string& markdown) {
  std::vector<std::string> links;
  std::istringstream lines(markdown);
  bool in_code = false;
  for (std::string line; std::getline(lines, line);) {
    in_code = line.starts_with("```") ? !in_code : in_code;
    for (std::size_t at = line.find("]("); !in_code && at != std::string::npos;
         at = line.find("](", at + 2)) {
      const std::string target = line.substr(at + 2, line.find(')', at) - at - 2);
      const std::string file = target.substr(0, target.find('#'));
      if (!file.empty() && file.find("://") == std::string::npos && !file.starts_with("mailto:")) {
        links.push_back(file);
      }
    }
  }
  return links;
}

TEST(LinksTest, EveryRelativeLinkLeadsToAFile) {
  const std::vector<fs::path> pages = files_under(source_tree, {".md"});
  ASSERT_FALSE(pages.empty());
  std::vector<std::string> broken;
  for (const fs::path& page : pages) {
    const Result<std::string> text = read_file(page);
    ASSERT_TRUE(text.ok()) << text.error().text();
    for (const std::string& link : relative_links(*text)) {
      if (!fs::exists(page.parent_path() / link)) {
        broken.push_back(page.lexically_relative(source_tree).string() + ": " + link);
      }
    }
  }
  EXPECT_THAT(broken, IsEmpty());
}

TEST(LinksTest, FindsLinksButNotAddressesAnchorsAndCode) {
  EXPECT_THAT(relative_links("[a](b.md) and [c](d/e.md#f), [g](https://h.i), [j](#k)\n"
                             "```\n[l](m)\n```\n![n](o.png)\n"),
              ElementsAre("b.md", "d/e.md", "o.png"));
}

}  // namespace
}  // namespace kernelpro
