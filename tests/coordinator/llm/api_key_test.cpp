// Keys: where they come from, and that they are not seen again.
#include "coordinator/llm/api_key.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "common/base/file.hpp"
#include "common/base/random.hpp"
#include "coordinator/llm/redact.hpp"
#include "support/environment.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

BaseUrl base(const std::string& text) {
  const Result<BaseUrl> parsed = parse_base_url(text);
  EXPECT_TRUE(parsed.ok());
  return *parsed;
}

class ApiKeyTest : public ::testing::Test {
 protected:
  std::string file(const std::string& content, fs::perms perms = fs::perms::owner_read) {
    const fs::path path = scratch_->path() / "key";
    fs::remove(path);
    EXPECT_TRUE(write_file_unsynced(path, content).ok());
    fs::permissions(path, perms);
    return path.string();
  }

  Result<ScratchDir> scratch_ = ScratchDir::create("api-key-test");
  ScopedVariable anthropic_{"ANTHROPIC_API_KEY", std::nullopt};
  ScopedVariable openai_{"OPENAI_API_KEY", std::nullopt};
  BaseUrl own_ = base("https://api.anthropic.com");
};

TEST_F(ApiKeyTest, TheFirstLineOfAFileIsTheKey) {
  for (const std::string content :
       {"sk-secret-1", "sk-secret-1\n", "sk-secret-1\r\nmore\n", "  sk-secret-1 \t\nmore"}) {
    const Result<ApiKey> key =
        find_api_key(*find_provider("anthropic"), own_, false, file(content));
    ASSERT_TRUE(key.ok()) << key.error().text();
    EXPECT_EQ(key->value, "sk-secret-1");
    EXPECT_THAT(key->origin, Not(HasSubstr("sk-secret-1")));
  }
}

TEST_F(ApiKeyTest, AFileThatOthersCanReadIsSaidToBeSo) {
  const std::string open = file("sk-secret-1", fs::perms::owner_read | fs::perms::others_read);
  EXPECT_THAT(find_api_key(*find_provider("anthropic"), own_, false, open)->origin,
              HasSubstr("which others can read: chmod 600 " + open));
  EXPECT_THAT(find_api_key(*find_provider("anthropic"), own_, false, file("sk-secret-1"))->origin,
              Not(HasSubstr("chmod")));
}

TEST_F(ApiKeyTest, AFileWithoutAKeyIsAnErrorThatDoesNotShowIt) {
  const auto complaint = [this](const std::string& key_file) {
    const Result<ApiKey> key = find_api_key(*find_provider("anthropic"), own_, false, key_file);
    EXPECT_FALSE(key.ok());
    EXPECT_EQ(key.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(key.error().text(), HasSubstr(key_file));
    return key.error().text();
  };
  EXPECT_THAT(complaint(file("")), HasSubstr("there is no key in it"));
  EXPECT_THAT(complaint(file("\nsk-secret-1")), HasSubstr("there is no key in it"));
  const std::string two_words = complaint(file("key: sk-secret-1"));
  EXPECT_THAT(two_words, HasSubstr("no key: expected one word"));
  EXPECT_THAT(two_words, Not(HasSubstr("sk-secret-1")));
  EXPECT_THAT(complaint(file("sk-\x01-secret")), HasSubstr("no key"));
  EXPECT_THAT(complaint(file(std::string(100'000, 'x'))),
              HasSubstr("expected a file with the key"));
  EXPECT_THAT(complaint(file(std::string(10'000, 'x'))), HasSubstr("no key"));
  EXPECT_THAT(complaint(scratch_->path().string()), HasSubstr("expected a file with the key"));
  EXPECT_THAT(complaint((scratch_->path() / "absent").string()), HasSubstr("No such file"));
}

TEST_F(ApiKeyTest, WithoutAFileEachProviderHasItsVariable) {
  const ScopedVariable one("ANTHROPIC_API_KEY", "sk-ant-1");
  const ScopedVariable other("OPENAI_API_KEY", " sk-oai-1\n");
  EXPECT_EQ(find_api_key(*find_provider("anthropic"), own_, false, "")->value, "sk-ant-1");
  EXPECT_EQ(find_api_key(*find_provider("anthropic"), own_, false, "")->origin,
            "the key in ANTHROPIC_API_KEY");
  EXPECT_EQ(find_api_key(*find_provider("openai"), own_, false, "")->value, "sk-oai-1");
  EXPECT_EQ(find_api_key(*find_provider("openai"), own_, false, file("sk-file"))->value, "sk-file");
}

TEST_F(ApiKeyTest, WithoutAnyKeyItSaysWhatToSet) {
  EXPECT_THAT(find_api_key(*find_provider("anthropic"), own_, false, "").error().text(),
              HasSubstr("no key: set ANTHROPIC_API_KEY, or name a file"));
  EXPECT_THAT(find_api_key(*find_provider("openai"), own_, false, "").error().text(),
              HasSubstr("OPENAI_API_KEY"));
  const ScopedVariable empty("ANTHROPIC_API_KEY", "");
  EXPECT_FALSE(find_api_key(*find_provider("anthropic"), own_, false, "").ok());
}

TEST_F(ApiKeyTest, ServersThatSpeakOpenAisFormNeedNone) {
  const Result<ApiKey> key =
      find_api_key(*find_provider("openai"), base("http://127.0.0.1:8000"), true, "");
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->value, "");
  EXPECT_THAT(key->origin, HasSubstr("no key was sent"));
  EXPECT_FALSE(
      find_api_key(*find_provider("anthropic"), base("http://127.0.0.1:8000"), true, "").ok());
}

TEST_F(ApiKeyTest, AKeyOfTheEnvironmentDoesNotGoOpenlyToAnotherMachine) {
  const ScopedVariable one("OPENAI_API_KEY", "sk-secret-1");
  const ScopedVariable other("ANTHROPIC_API_KEY", "sk-secret-2");
  const BaseUrl far = base("http://gpu-box:8000/v1");
  EXPECT_EQ(find_api_key(*find_provider("openai"), far, true, "")->value, "");
  EXPECT_THAT(find_api_key(*find_provider("openai"), far, true, "")->origin,
              HasSubstr("name a key file"));
  EXPECT_THAT(find_api_key(*find_provider("anthropic"), far, true, "").error().text(),
              HasSubstr("does not go over http://"));
  EXPECT_EQ(find_api_key(*find_provider("openai"), base("https://gpu-box/v1"), true, "")->value,
            "sk-secret-1");
  EXPECT_EQ(find_api_key(*find_provider("openai"), base("http://localhost/v1"), true, "")->value,
            "sk-secret-1");
  EXPECT_EQ(find_api_key(*find_provider("openai"), far, true, file("sk-file"))->value, "sk-file");
}

TEST(RedactTest, TakesAKeyOutWhereverItIs) {
  EXPECT_EQ(redacted("bad key sk-secret-1, sk-secret-1!", "sk-secret-1"), "bad key [key], [key]!");
  EXPECT_EQ(redacted("nothing", "sk-secret-1"), "nothing");
  EXPECT_EQ(redacted("none of it", "none"), "none of it") << "too short to be a secret";
  EXPECT_EQ(redacted("text", ""), "text");
  EXPECT_EQ(redacted(R"(a/b/c/d/e a\/b\/c\/d\/e)", "a/b/c/d/e"), "[key] [key]") << "as JSON has it";
}

TEST(RedactTest, CutsMakeNoDifference) {
  const std::string key = "abcabcabd";
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    while (text.size() < 40) {
      text += random.below(4) == 0 ? key : key.substr(0, 1 + random.below(key.size()));
    }
    Redactor redactor(key);
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random.below(5);
      shown += redactor.feed(std::string_view(text).substr(at, size));
      EXPECT_THAT(shown, Not(HasSubstr(key)));
      at += size;
    }
    shown += redactor.finish();
    EXPECT_EQ(shown, redacted(text, key));
  }
}

}  // namespace
}  // namespace kernelpro
