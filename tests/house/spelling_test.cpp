// One spelling, the American one, in all that users and contributors read.
#include <gmock/gmock.h>

#include <sstream>

#include "common/base/file.hpp"
#include "house/source_tree.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view british[] = {
    "analysing",  "artefact", "behaviour", "catalogue", "centre",   "colour",     "favour",
    "grey",       "honour",   "initialis", "judgement", "labelled", "labelling",  "learnt",
    "licence",    "linearis", "misspelt",  "neighbour", "normalis", "offence",    "optimisa",
    "optimise",   "privatis", "quantis",   "recognis",  "serialis", "specialise", "summaris",
    "synchronis", "utilis",   "vectoris",  "whilst"};

// Words of others: what models wrote, and what was recorded of them.
bool is_quoted(const fs::path& path) {
  const std::string name = path.lexically_relative(source_tree).string();
  return name.starts_with("bench/kernelbench/") || name.starts_with("bench/results/") ||
         name.starts_with("examples/") || name == "tests/house/spelling_test.cpp";
}

// "3: behaviour": the lines with such a word, or a part of one.
std::vector<std::string> british_words(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::transform(line.begin(), line.end(), line.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const std::string_view word : british) {
      if (line.find(word) != std::string::npos) {
        found.push_back(std::to_string(number) + ": " + std::string(word));
      }
    }
  }
  return found;
}

TEST(SpellingTest, IsAmericanInTextsAndInNamesOfFiles) {
  std::vector<fs::path> files = files_under(
      source_tree, {".cpp", ".cu", ".cuh", ".h", ".hpp", ".json", ".md", ".py", ".toml", ".txt"});
  ASSERT_GT(files.size(), 1000U);
  const std::vector<fs::path> scripts = files_under(source_tree / "scripts", {"", ".sh"});
  files.insert(files.end(), scripts.begin(), scripts.end());
  std::erase_if(files, is_quoted);
  std::vector<std::string> wrong;
  for (const fs::path& file : files) {
    const Result<std::string> text = read_file(file);
    ASSERT_TRUE(text.ok()) << text.error().text();
    const std::string name = file.lexically_relative(source_tree).string();
    for (const std::string& word : british_words(name + "\n" + *text)) {
      wrong.push_back(name + ":" + word);
    }
  }
  EXPECT_THAT(wrong, IsEmpty()) << "the name of a file is its line 1";
}

TEST(SpellingTest, SeesSuchWordsWithinOthersAndInCapitals) {
  EXPECT_THAT(british_words("fine\nUninitialised colour\nOptimized by optimism\nsub_centre()"),
              ElementsAre("2: colour", "2: initialis", "4: centre"));
}

}  // namespace
}  // namespace kernelpro
