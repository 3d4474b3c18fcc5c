// What the pages show is true: examples load and compile, commands exist, rules are the code's own.
#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "house/source_tree.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string text_of(const fs::path& path) {
  const Result<std::string> text = read_file(path);
  EXPECT_TRUE(text.ok()) << text.error().text();
  return text.ok() ? *text : "";
}

// The pages users read.
std::vector<fs::path> pages() {
  std::vector<fs::path> found = files_under(source_tree / "docs", {".md"});
  found.push_back(source_tree / "README.md");
  return found;
}

// A block between lines of three backquotes; `kind` is what stands behind the first three.
struct Block {
  std::string page;
  std::string kind;
  std::string text;
};

std::vector<Block> blocks_of(const fs::path& page) {
  std::vector<Block> blocks;
  std::istringstream lines(text_of(page));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      if (!inside) {
        blocks.push_back({page.filename().string(), line.substr(3), ""});
      }
      inside = !inside;
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

std::vector<Block> blocks_of_kind(const std::string& kind) {
  std::vector<Block> found;
  for (const fs::path& page : pages()) {
    for (Block& block : blocks_of(page)) {
      if (block.kind == kind) {
        found.push_back(std::move(block));
      }
    }
  }
  return found;
}

// All first groups of `pattern` in `text`.
std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    found.push_back((*at)[1].str());
  }
  return found;
}

Finished run_kernelpro(std::vector<std::string> arguments,
                       std::map<std::string, std::string> environment = {}) {
  Command command;
  command.arguments = std::move(arguments);
  command.arguments.insert(command.arguments.begin(),
                           std::string(KERNELPRO_BIN_DIR) + "/kernelpro");
  command.directory = "/";
  command.environment = std::move(environment);
  const Result<Finished> done = run_command(command);
  EXPECT_TRUE(done.ok()) << done.error().text();
  return done.ok() ? *done : Finished();
}

class DocsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(scratch_.ok()) << scratch_.error().text(); }

  [[nodiscard]] fs::path write(const std::string& name, const std::string& text) const {
    const fs::path path = scratch_->path() / name;
    EXPECT_TRUE(make_directories(path.parent_path()).ok());
    EXPECT_TRUE(write_file_unsynced(path, text).ok());
    return path;
  }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("docs-test");
};

TEST_F(DocsTest, EveryTaskShownLoads) {
  const std::vector<Block> tasks = blocks_of_kind("toml");
  ASSERT_FALSE(tasks.empty());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::string task = "tasks/example" + std::to_string(i);
    (void)write(task + "/task.toml", tasks[i].text);
    for (const std::string& file : matches(tasks[i].text, "file = \"([^\"]*)\"")) {
      (void)write(task + "/" + file, "// shown elsewhere\n");
    }
  }
  const Finished listed = run_kernelpro({"task", "list", "--json"},
                                        {{"KERNELPRO_TASKS", (folder() / "tasks").string()}});
  EXPECT_TRUE(listed.succeeded()) << listed.errors;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_THAT(listed.output, HasSubstr("/example" + std::to_string(i) + "\""));
  }
  for (const std::string& error : matches(listed.output, "\"error\": \"(.*)\",?\n")) {
    EXPECT_EQ(error, "");
  }
}

TEST_F(DocsTest, EverySourceShownCompiles) {
  const std::vector<Block> sources = blocks_of_kind("cpp");
  ASSERT_FALSE(sources.empty());
  for (const Block& source : sources) {
    const bool reference = source.text.find("Real") != std::string::npos;
    const fs::path file =
        write("shown.cpp", (reference ? "using Real = double;\n" : "") + source.text);
    Command compile;
    compile.arguments = {
        KERNELPRO_CXX, "-std=c++20", "-fsyntax-only", "-fopenmp",
        "-Wall",       "-Wextra",    "-Werror",       "-I" + (source_tree / "include").string(),
        file.string()};
    const Result<Finished> done = run_command(compile);
    ASSERT_TRUE(done.ok()) << done.error().text();
    EXPECT_TRUE(done->succeeded()) << source.page << ":\n" << source.text << done->errors;
  }
}

// The command lines shown, from the program's name on: lines of blocks, and inline code.
std::vector<std::string> shown_commands(const fs::path& page) {
  std::vector<std::string> found;
  for (const Block& block : blocks_of(page)) {
    if (block.kind.empty() || block.kind == "console") {
      const auto lines =
          matches(block.text, "(?:^|\n) *(?:\\$ )?[./a-z]*kernelpro +([a-z-][^\n]*)");
      found.insert(found.end(), lines.begin(), lines.end());
    }
  }
  const auto inlines = matches(text_of(page), "`kernelpro ([^`\n]+)`");
  found.insert(found.end(), inlines.begin(), inlines.end());
  return found;
}

// Subcommands and options of `command` that the program's own help does not know.
std::vector<std::string> unknown_words(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> arguments;
  std::vector<std::string> options;
  for (std::string word; stream >> word && word != "#" && word != "|" && word != ">";) {
    if (word.starts_with("--")) {
      options.push_back(word.substr(0, word.find('=')));
    } else if (arguments.empty() ||
               (arguments.size() == 1 &&
                (arguments[0] == "task" || arguments[0] == "bench" || arguments[0] == "code" ||
                 arguments[0] == "memory" || arguments[0] == "landscape" ||
                 (arguments[0] == "runs" && word == "rm")))) {
      arguments.push_back(word);
    }
  }
  std::string usage = "Usage: kernelpro ";
  for (const std::string& argument : arguments) {
    usage += argument + " ";
  }
  arguments.emplace_back("--help");
  static std::map<std::vector<std::string>, std::string> asked;
  if (!asked.contains(arguments)) {
    asked[arguments] = run_kernelpro(arguments).output;
  }
  const std::string& help = asked[arguments];
  std::vector<std::string> unknown;
  if (help.find(usage + "[OPTIONS]") == std::string::npos) {
    unknown.push_back(usage);
  }
  for (const std::string& option : options) {
    if (option != "--json" && help.find(option) == std::string::npos) {
      unknown.push_back(option);
    }
  }
  return unknown;
}

TEST(DocsCommandsTest, EveryCommandShownExists) {
  std::size_t seen = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& command : shown_commands(page)) {
      ++seen;
      EXPECT_THAT(unknown_words(command), IsEmpty()) << page.filename() << ": " << command;
    }
  }
  EXPECT_GT(seen, 5U);
}

TEST(DocsCommandsTest, AnUnknownCommandOrOptionIsSeen) {
  EXPECT_THAT(unknown_words("evaluate axpy a.cpp --quiet --json"), IsEmpty());
  EXPECT_THAT(unknown_words("evaluate axpy a.cpp --loud"), ElementsAre("--loud"));
  EXPECT_THAT(unknown_words("guess axpy"), ElementsAre("Usage: kernelpro guess "));
  EXPECT_THAT(unknown_words("task forget axpy"), ElementsAre("Usage: kernelpro task forget "));
}

// The rules that a verdict can name, as the worker's sources write them.
std::set<std::string> rules_in_code() {
  std::set<std::string> rules;
  for (const fs::path& file : files_under(source_tree / "src/worker", {".cpp"})) {
    const std::string text = text_of(file);
    for (const char* place : {"\\brule = ([^;]*);", "Outcome::[a-z_]+,\\s*([^,]*),"}) {
      for (const std::string& value : matches(text, place)) {
        const std::vector<std::string> words = matches(value, "\"([a-z_]+)\"");
        rules.insert(words.begin(), words.end());
      }
    }
  }
  return rules;
}

TEST(DocsRulesTest, TheThreatModelHasARowForEveryRule) {
  const std::string page = text_of(source_tree / "docs/honesty.md");
  const std::size_t begin = page.find("## Rule by rule");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  const std::vector<std::string> rows = matches(section, "\n\\| `([a-z_]+)` \\|");
  EXPECT_EQ(std::set<std::string>(rows.begin(), rows.end()), rules_in_code());
  const std::string judge = text_of(source_tree / "src/worker/judge/evaluation.cpp");
  for (const std::string& list : matches(judge, "rules_run[^;]*\\{([^}]*)\\}")) {
    for (const std::string& rule : matches(list, "\"([a-z_]+)\"")) {
      EXPECT_THAT(section, HasSubstr("`" + rule + "`"));
    }
  }
}

}  // namespace
}  // namespace kernelpro
