#include "coordinator/task/asserted_sizes.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "coordinator/task/function_body.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// What `void f(int a, int b, int c, int d, int n, int k)` asserts.
AssertedSizes read(const std::string& body, const std::string& before = "") {
  return asserted_sizes(before + "void f(int a, int b, int c, int d, int n, int k) {" + body + "}",
                        "f", {"a", "b", "c", "d", "n", "k"});
}

// Low, high, step and rest of n.
std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t> of_n(
    const std::string& condition, const std::string& before = "") {
  const AssertedSizes read_sizes = read("assert(" + condition + ");", before);
  const auto found = read_sizes.bounds.find("n");
  const auto bounds = found == read_sizes.bounds.end() ? AssertedSizes::Bounds{} : found->second;
  return {bounds.low, bounds.high, bounds.step, bounds.rest};
}

const auto nothing = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>(1, 0, 1, 0);

TEST(AssertedSizes, AreBoundsAndMultiples) {
  EXPECT_EQ(of_n("n >= 64 && n <= 1024"), std::tuple(64, 1024, 1, 0));
  EXPECT_EQ(of_n("64 < n, \"large ones\""), std::tuple(65, 0, 1, 0));
  EXPECT_EQ(of_n("n > 3 && (n % 8 == 0) && n % 12 == 0"), std::tuple(4, 0, 24, 0));
  EXPECT_EQ(of_n("!(n % 8)"), std::tuple(1, 0, 8, 0));
  EXPECT_EQ(of_n("0 == (n & 15)"), std::tuple(1, 0, 16, 0));
  EXPECT_EQ(of_n("n <= 64 && n <= 1024"), std::tuple(1, 64, 1, 0));
  EXPECT_EQ(of_n("!(n < 16)"), std::tuple(16, 0, 1, 0));
  EXPECT_EQ(read("assert((n & (n - 1)) == 0);").powers_of_two.count("n"), 1U);
  EXPECT_THAT(read("assert(n % k == 0);").multiple_of, ElementsAre(Pair("n", "k")));
}

TEST(AssertedSizes, MayBeOdd) {
  EXPECT_EQ(of_n("n % 2 == 1"), std::tuple(1, 0, 2, 1));
  EXPECT_EQ(of_n("n % 2"), std::tuple(1, 0, 2, 1));
  EXPECT_EQ(of_n("n & 1"), std::tuple(1, 0, 2, 1));
  EXPECT_EQ(of_n("(n & 1) != 0"), std::tuple(1, 0, 2, 1));
  EXPECT_EQ(of_n("n % 2 != 1"), std::tuple(1, 0, 2, 0));
  EXPECT_EQ(of_n("n % 4 == 3"), std::tuple(1, 0, 4, 3));
  EXPECT_EQ(of_n("n % 8"), nothing);
  EXPECT_EQ(of_n("n & 7"), nothing);
  EXPECT_EQ(of_n("!n % 8 == 0"), nothing);
}

TEST(AssertedSizes, ThatHoldTogetherWithOthersAlonePassUnread) {
  for (const char* condition :
       {"k == 0 || n >= 64", "k == 0 || n >= 64 && n % 8 == 0", "k == 0 || (k > 1 && n >= 64)",
        "!(k > 1 && n < 64)", "k ? n >= 64 : n % 8 == 0", "n % 8 + 1 == 1", "n * 2 % 8 == 0",
        "n / 2 >= 64", "g(n >= 64)", "1 < n < 64"}) {
    EXPECT_EQ(of_n(condition), nothing) << condition;
  }
  EXPECT_EQ(of_n("(k == 0 || k == 2) && n >= 64"), std::tuple(64, 0, 1, 0));
  for (const char* body : {"if (k) assert(n >= 64);", "if (k) { assert(n >= 64); }",
                           "n /= 2; assert(n >= 64);", "++n; assert(n >= 64);"}) {
    EXPECT_THAT(read(body).bounds, IsEmpty()) << body;
  }
}

TEST(AssertedSizes, KnowConstants) {
  EXPECT_EQ(of_n("n >= 0x40u && n % (4 * 2) == 0"), std::tuple(64, 0, 8, 0));
  EXPECT_EQ(of_n("n <= 1'024L"), std::tuple(1, 1024, 1, 0));
  EXPECT_EQ(of_n("n % BLOCK == 0", "constexpr int LANES = 8, BLOCK = 2 * LANES;\n"),
            std::tuple(1, 0, 16, 0));
  EXPECT_EQ(of_n("n % BLOCK == 0", "#define BLOCK (4 * 8)\n"), std::tuple(1, 0, 32, 0));
  EXPECT_EQ(of_n("n <= MOST", "enum { LEAST = 2, MOST = 256 };\n"), std::tuple(1, 256, 1, 0));
  EXPECT_EQ(of_n("n >= 1e3"), nothing);
  EXPECT_EQ(of_n("n >= least", "int least = 3;\n"), nothing);
  EXPECT_EQ(of_n("n >= B", "namespace x { const int B = 3; } namespace y { const int B = 4; }\n"),
            nothing);
}

TEST(AssertedSizes, ThatAreTheSameAreOne) {
  using Equal = std::map<std::string, std::string>;
  const Equal all = {{"b", "a"}, {"c", "a"}};
  EXPECT_EQ(read("assert(a == b && b == c);").equal, all);
  EXPECT_EQ(read("assert(a == c); assert(b == c);").equal, all);
  EXPECT_EQ(read("assert(c == b); assert(d == c); assert(d == a);").equal,
            (Equal{{"b", "a"}, {"c", "a"}, {"d", "a"}}));
  const AssertedSizes sizes = read("assert(b % 8 == 0); assert(k >= c); assert(a == b && b == c);");
  ASSERT_EQ(sizes.bounds.count("a"), 1U);
  EXPECT_EQ(sizes.bounds.at("a").step, 8);
  EXPECT_THAT(sizes.at_least, ElementsAre(SizeOrder{"k", "a", false}));
}

TEST(AssertedSizes, MayBeFieldsAndLengthsOfLists) {
  const AssertedSizes sizes = asserted_sizes(
      "void f(const M& m, std::vector<float>& x, std::vector<float>& y) {\n"
      "  assert(x.size() == y.size() && m.rows % 4 == 0);\n}\n",
      "f", {"m_rows", "x_size", "y_size"});
  EXPECT_THAT(sizes.equal, ElementsAre(Pair("y_size", "x_size")));
  EXPECT_EQ(sizes.bounds.at("m_rows").step, 4);
}

TEST(AssertedSizes, AreInOrder) {
  EXPECT_THAT(read("assert(n >= k && n > a); assert(b < n);").at_least,
              ElementsAre(SizeOrder{"n", "k", false}, SizeOrder{"n", "a", true},
                          SizeOrder{"n", "b", true}));
}

TEST(FunctionBody, KnowsWhatOnlyStepsFromRowToRow) {
  const auto steps = [](const std::string& body) {
    return steps_by("void f(const float* x, int n, int k) {" + body + "}", "f", "n");
  };
  EXPECT_TRUE(steps("assert(n >= k); for (i = 0; i < k; ++i) y = x[i * n + 1];"));
  EXPECT_TRUE(steps("y = x[i * (size_t)n] + x[static_cast<size_t>(n) * i];"));
  EXPECT_TRUE(steps("for (i = 0; i < k; ++i, x += n) y += *x;"));
  EXPECT_FALSE(steps("for (i = 0; i < n; ++i) y += x[i];"));
  EXPECT_FALSE(steps("for (i = 0; i + k <= (int)n; ++i) y += x[i * k];"));
  EXPECT_FALSE(steps("assert(n >= k);"));
}

}  // namespace
}  // namespace kernelpro
