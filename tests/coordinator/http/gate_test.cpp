#include "coordinator/http/gate.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"

namespace kernelpro::http {
namespace {

using ::testing::HasSubstr;

Request asked(const std::string& host, const std::string& origin = "",
              const std::string& authorization = "") {
  Request request;
  request.headers["host"] = host;
  if (!origin.empty()) {
    request.headers["origin"] = origin;
  }
  if (!authorization.empty()) {
    request.headers["authorization"] = authorization;
  }
  return request;
}

TEST(GateTest, OnlyNamesOfThisMachineAreOursByDefault) {
  const Gate gate("127.0.0.1", {"kernels.example"}, {});
  for (const char* const host :
       {"localhost", "LOCALHOST:8086", "127.0.0.1:8086", "[::1]:8086", "kernels.example"}) {
    EXPECT_FALSE(gate.refused(asked(host))) << host;
  }
  for (const char* const host :
       {"", "evil.example", "localhost.evil.example", "[::1", "10.0.0.1"}) {
    EXPECT_TRUE(gate.refused(asked(host))) << host;
  }
}

// Whoever owns evil.example can let each name below it point to us.
TEST(GateTest, ANameThatOnlyBeginsAsAnAddressIsNone) {
  const Gate gate("127.0.0.1", {}, {});
  for (const char* const host :
       {"127.evil.example", "127.0.0.1.evil.example", "127.0.0.1.evil.example:8086",
        "[::1].evil.example", "[::1]evil.example:80", "localhost:80.evil.example", "127."}) {
    EXPECT_TRUE(gate.refused(asked(host))) << host;
    EXPECT_TRUE(gate.refused(asked("localhost", std::string("http://") + host))) << host;
  }
  for (const char* const host : {"127.0.0.2", "127.255.0.1:80", "[0:0:0:0:0:0:0:1]:80"}) {
    EXPECT_FALSE(gate.refused(asked(host))) << host;
  }
}

TEST(GateTest, PagesOfOthersMayNotAsk) {
  const Gate gate("127.0.0.1", {}, {});
  EXPECT_FALSE(gate.refused(asked("localhost", "http://localhost:3000")));
  for (const char* const origin :
       {"http://evil.example", "null", "file://", "https://localhost.evil.example"}) {
    EXPECT_EQ(gate.refused(asked("localhost", origin))->status, 403) << origin;
  }
}

class TokensTest : public ::testing::Test {
 protected:
  Result<std::vector<Token>> read(const std::string& text) {
    EXPECT_TRUE(write_file_unsynced(file(), text).ok());
    return read_tokens(file());
  }
  [[nodiscard]] std::filesystem::path file() const { return folder_->path() / "tokens"; }
  Result<ScratchDir> folder_ = ScratchDir::create("tokens");
};

TEST_F(TokensTest, ATokenSaysWhoAsks) {
  const auto tokens = read("# ours\n\nann 0123456789abcdef\nroot fedcba9876543210 admin\n");
  ASSERT_TRUE(tokens.ok()) << tokens.error().text();
  const Gate gate("0.0.0.0", {}, *tokens);
  const auto caller = gate.caller_of(asked("any.example", "", "Bearer 0123456789abcdef"));
  ASSERT_TRUE(std::holds_alternative<Caller>(caller));
  EXPECT_EQ(std::get<Caller>(caller).name, "ann");
  EXPECT_FALSE(std::get<Caller>(caller).admin);
  EXPECT_TRUE(std::get<Caller>(gate.caller_of(asked("x", "", "bearer fedcba9876543210"))).admin);
  for (const char* const wrong : {"", "Bearer ", "Bearer 0123456789abcdeF",
                                  "Basic 0123456789abcdef", "Bearer 0123456789abcdef0"}) {
    EXPECT_TRUE(std::holds_alternative<Refusal>(gate.caller_of(asked("x", "", wrong)))) << wrong;
  }
}

TEST_F(TokensTest, AFileThatIsNoneIsRefusedWithItsLine) {
  EXPECT_THAT(read("ann short\n").error().text(), HasSubstr(":1: expected NAME TOKEN"));
  EXPECT_THAT(read("\nann 0123456789abcdef root\n").error().text(), HasSubstr(":2: "));
  EXPECT_THAT(read("# nobody\n").error().text(), HasSubstr("there is no token in it"));
}

}  // namespace
}  // namespace kernelpro::http
