// Headers stand on their own: the public one in every language it promises, those under src/ as the
// first include of the source of their name, or compiled alone by the build (kp_lone_headers).
#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "house/source_tree.hpp"

namespace kernelpro {
namespace {

Finished compile_alone(const std::filesystem::path& header, const std::string& language,
                       const std::string& standard) {
  Command command;
  command.arguments = {KERNELPRO_CXX, "-fsyntax-only",    "-Wall",    "-Wextra",
                       "-Werror",     "-std=" + standard, "-include", header.string(),
                       "-x",          language,           "/dev/null"};
  const Result<Finished> done = run_command(command);
  EXPECT_TRUE(done.ok()) << done.error().text();
  return done.ok() ? *done : Finished{};
}

TEST(HeadersTest, ThePublicInterfaceIsPlainCAndAnyCpp) {
  const std::vector<std::filesystem::path> headers = files_under(source_tree / "include", {".h"});
  ASSERT_FALSE(headers.empty());
  for (const std::filesystem::path& header : headers) {
    for (const auto& [language, standard] :
         {std::pair("c", "c99"), std::pair("c++", "c++11"), std::pair("c++", "c++20")}) {
      const Finished done = compile_alone(header, language, standard);
      EXPECT_TRUE(done.succeeded()) << header << " as " << standard << "\n" << done.errors;
    }
  }
}

TEST(HeadersTest, ASourceIncludesTheHeaderOfItsNameFirst) {
  int looked_at = 0;
  for (const std::filesystem::path& source : files_under(source_tree / "src", {".cpp"})) {
    const std::filesystem::path header = std::filesystem::path(source).replace_extension(".hpp");
    if (!std::filesystem::exists(header)) {
      continue;
    }
    const Result<std::string> text = read_file(source);
    ASSERT_TRUE(text);
    const std::string wanted =
        "#include \"" + header.lexically_relative(source_tree / "src").string() + "\"";
    const std::size_t first = text->find("#include");
    EXPECT_EQ(text->substr(first, wanted.size()), wanted) << source;
    ++looked_at;
  }
  EXPECT_GT(looked_at, 50);
}

// The types that a header defines at namespace scope, each with its namespace. Text in raw strings
// (a program that we write) does not count.
std::set<std::string> types_of(const std::filesystem::path& header) {
  const Result<std::string> read = read_file(header);
  EXPECT_TRUE(read);
  static const std::regex raw_string("R\"([a-z]*)\\([\\s\\S]*?\\)\\1\"");
  const std::string text = std::regex_replace(*read, raw_string, "");
  static const std::regex line(R"((?:^|\n)(namespace|struct|class|enum class) ([\w:]+)[^;\n]*\{)");
  std::set<std::string> types;
  std::string space;
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
    if ((*at)[1] == "namespace") {
      space = (*at)[2];
    } else {
      types.insert(space + "::" + (*at)[2].str());
    }
  }
  return types;
}

// Two types of one name in one program are undefined behavior that no compiler reports.
TEST(HeadersTest, NoTypeIsDefinedInTwoHeaders) {
  std::map<std::string, std::filesystem::path> known;
  for (const std::filesystem::path& header : files_under(source_tree / "src", {".hpp"})) {
    for (const std::string& type : types_of(header)) {
      const auto [first, fresh] = known.try_emplace(type, header);
      EXPECT_TRUE(fresh) << type << " in " << header << " and in " << first->second;
    }
  }
  EXPECT_TRUE(known.contains("kernelpro::Verdict"));
}

}  // namespace
}  // namespace kernelpro
