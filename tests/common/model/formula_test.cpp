#include "common/model/formula.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Axes sample_axes = {{"m", 6}, {"n", 100}, {"zero", 0}, {"huge", std::int64_t{1} << 61U}};

double value(const std::string& text) {
  const Result<Formula> formula = Formula::parse(text);
  EXPECT_TRUE(formula.ok()) << formula.error().text();
  const Result<double> result = formula.ok() ? formula->evaluate(sample_axes) : formula.error();
  EXPECT_TRUE(result.ok()) << result.error().text();
  return result.ok() ? *result : NAN;
}

std::string parse_error(const std::string& text) {
  const Result<Formula> formula = Formula::parse(text);
  EXPECT_FALSE(formula.ok()) << text;
  if (formula.ok()) {
    return "";
  }
  EXPECT_EQ(formula.error().kind, ErrorKind::bad_input);
  return formula.error().message;
}

std::string evaluation_error(const std::string& text) {
  const Result<double> result = Formula::parse(text)->evaluate(sample_axes);
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? "" : result.error().message;
}

std::string size_error(const std::string& text) {
  const Result<std::int64_t> result = Formula::parse(text)->evaluate_size(sample_axes);
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? "" : result.error().message;
}

TEST(FormulaTest, FollowsTheRulesOfArithmetic) {
  EXPECT_EQ(value("1 + 2*3"), 7);
  EXPECT_EQ(value("(1 + 2)*3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("48/4/2"), 6);
  EXPECT_EQ(value("2*m*n"), 1200);
  EXPECT_EQ(value("1.5*m"), 9);
  EXPECT_EQ(value("\tm \t"), 6);
}

TEST(FormulaTest, SignsBindTighterThanProducts) {
  EXPECT_EQ(value("-m"), -6);
  EXPECT_EQ(value("n - -m"), 106);
  EXPECT_EQ(value("-m*-2"), 12);
  EXPECT_EQ(value("--m"), 6);
  EXPECT_EQ(value("-(m - 10)"), 4);
}

TEST(FormulaTest, KnowsItsFunctions) {
  EXPECT_EQ(value("min(m, n)"), 6);
  EXPECT_EQ(value("max(m, n + 1)"), 101);
  EXPECT_EQ(value("ceil(n/64)"), 2);
  EXPECT_EQ(value("floor(n/64)"), 1);
  EXPECT_EQ(value("log2(64)"), 6);
  EXPECT_EQ(value("sqrt(n)"), 10);
  EXPECT_EQ(value("max(min(m, 3), floor(sqrt(17)))"), 4);
}

TEST(FormulaTest, FunctionNameWithoutParenthesisIsAnAxis) {
  EXPECT_EQ(*Formula::parse("min + 1")->evaluate({{"min", 4}}), 5);
}

TEST(FormulaTest, DefaultIsZero) {
  const Formula formula;
  EXPECT_EQ(formula.text(), "0");
  EXPECT_EQ(*formula.evaluate({}), 0);
  EXPECT_EQ(*formula.evaluate_size({}), 0);
  EXPECT_THAT(formula.names(), IsEmpty());
}

TEST(FormulaTest, ListsEachNameOnce) {
  EXPECT_THAT(Formula::parse("2*m*k + m*log2(n_1)")->names(), ElementsAre("m", "k", "n_1"));
  EXPECT_EQ(Formula::parse(" 2*m ")->text(), " 2*m ");
}

TEST(FormulaTest, SyntaxErrorsSayWhereAndWhatWasExpected) {
  EXPECT_EQ(parse_error("2*(m"),
            "the formula \"2*(m\" is wrong at position 5: expected ')', it ended");
  EXPECT_EQ(parse_error("m n"),
            "the formula \"m n\" is wrong at position 3: expected an operator or the end of the "
            "formula, found 'n'");
  EXPECT_EQ(parse_error("2*"),
            "the formula \"2*\" is wrong at position 3: expected a number, a name, '-' or '(', it "
            "ended");
  EXPECT_THAT(parse_error("m + * n"), HasSubstr("position 5: expected a number"));
  EXPECT_THAT(parse_error("2m"), HasSubstr("position 2: expected an operator"));
  EXPECT_THAT(parse_error("m)"), HasSubstr("position 2: expected an operator"));
  EXPECT_THAT(parse_error("m^2"), HasSubstr("found '^'"));
  EXPECT_THAT(parse_error("1e9"), HasSubstr("position 2"));
  EXPECT_THAT(parse_error(".5"), HasSubstr("position 1: expected a number"));
}

TEST(FormulaTest, WrongCallsSayWhatTheFunctionWants) {
  EXPECT_THAT(parse_error("cos(m)"),
              HasSubstr("position 1: expected one of the functions min, max, ceil, floor, log2, "
                        "sqrt"));
  EXPECT_THAT(parse_error("min(m)"), HasSubstr("expected ',' and the second argument of min"));
  EXPECT_THAT(parse_error("min(m, n, 1)"), HasSubstr("expected ')' after 2 argument(s) of min"));
  EXPECT_THAT(parse_error("sqrt(m, n)"), HasSubstr("expected ')' after 1 argument(s) of sqrt"));
  EXPECT_THAT(parse_error("sqrt()"), HasSubstr("position 6: expected a number"));
  EXPECT_THAT(parse_error("max(,)"), HasSubstr("position 5: expected a number"));
}

TEST(FormulaTest, HostileTextIsRefusedWithAMessage) {
  EXPECT_THAT(parse_error(""), HasSubstr("position 1: expected a number"));
  EXPECT_THAT(parse_error("   "), HasSubstr("it ended"));
  EXPECT_THAT(parse_error(std::string("m\0+1", 4)), HasSubstr("\"m?+1\""));
  EXPECT_THAT(parse_error(std::string("m\0+1", 4)), HasSubstr("found the byte 0"));
  EXPECT_THAT(parse_error("m\n+1"), HasSubstr("found the byte 10"));
  EXPECT_THAT(parse_error("\xc3\xa4"), HasSubstr("found the byte 195"));
  EXPECT_THAT(parse_error("inf("), HasSubstr("functions"));
}

TEST(FormulaTest, DeepNestingIsRefusedWithoutOverflow) {
  const auto nested = [](const std::string& open, std::size_t count, const std::string& close) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += open;
    }
    text += "1";
    for (std::size_t i = 0; i < count; ++i) {
      text += close;
    }
    return text;
  };
  EXPECT_EQ(value(nested("(", 60, ")")), 1);
  EXPECT_THAT(parse_error(nested("(", 400, ")")), HasSubstr("at most 64 nested"));
  EXPECT_THAT(parse_error(nested("-", 900, "")), HasSubstr("at most 64 nested"));
  EXPECT_THAT(parse_error(nested("sqrt(", 150, ")")), HasSubstr("at most 64 nested"));
  EXPECT_THAT(parse_error(nested("(", 1'000'000, ")")), HasSubstr("has 2000001 characters"));
}

TEST(FormulaTest, LongSumsAreFineUpToTheLimit) {
  std::string text = "1";
  while (text.size() + 2 <= 1000) {
    text += "+1";
  }
  EXPECT_EQ(value(text), static_cast<double>(text.size() / 2 + 1));
  EXPECT_THAT(parse_error(text + "+1"), HasSubstr("at most 1000"));
}

TEST(FormulaTest, HugeNumbersAreRefused) {
  EXPECT_EQ(value("4611686018427387904"), 0x1p62);
  EXPECT_THAT(parse_error("9999999999999999999"), HasSubstr("expected a number of at most 2^62"));
  EXPECT_THAT(parse_error(std::string(900, '9')), HasSubstr("expected a number of at most 2^62"));
}

TEST(FormulaTest, EvaluationErrorsQuoteTheFormulaAndTheAxes) {
  EXPECT_EQ(evaluation_error("m/zero"),
            "the formula \"m/zero\" has no value with huge=2305843009213693952 m=6 n=100 zero=0: "
            "division by zero");
  EXPECT_THAT(evaluation_error("m*k"), HasSubstr("'k' is not an axis"));
  EXPECT_THAT(evaluation_error("log2(zero)"), HasSubstr("log2 of a number that is not above zero"));
  EXPECT_THAT(evaluation_error("sqrt(m - n)"), HasSubstr("sqrt of a negative number"));
  EXPECT_EQ(Formula::parse("k")->evaluate({}).error().message,
            "the formula \"k\" has no value with no axes: 'k' is not an axis");
}

TEST(FormulaTest, MagnitudesBeyondTheLimitAreErrorsEvenInBetween) {
  EXPECT_EQ(value("huge*2"), 0x1p62);
  EXPECT_THAT(evaluation_error("huge*3"), HasSubstr("a magnitude beyond 2^62"));
  EXPECT_THAT(evaluation_error("-huge*3"), HasSubstr("a magnitude beyond 2^62"));
  EXPECT_THAT(evaluation_error("huge*huge*huge/huge/huge"), HasSubstr("beyond 2^62"));
  EXPECT_THAT(evaluation_error("min(huge*huge, 1)"), HasSubstr("beyond 2^62"));
}

TEST(FormulaTest, DividesWholeNumbersAsCDoes) {
  EXPECT_EQ(value("(n - 3)/2 + 1"), 49);
  EXPECT_EQ(value("n/8*8"), 96);
  EXPECT_EQ(value("(m - n)/8"), -11);
  EXPECT_EQ(value("ceil(n/8)"), 13);
  EXPECT_EQ(value("n/2.5"), 40);
  EXPECT_EQ(value("m/0.5"), 12);
}

TEST(FormulaTest, IsWrittenAsCppOverWholeNumbers) {
  const auto cpp = [](const std::string& text) {
    const Result<std::string> found = Formula::parse(text)->cpp();
    return found.ok() ? *found : found.error().text();
  };
  EXPECT_EQ(cpp("n"), "n");
  EXPECT_EQ(cpp("in*int"), "(in * int_)");
  EXPECT_EQ(cpp("-n/2*(m + 10000000)"), "(((-n) / 2) * (m + 10000000))");
  EXPECT_EQ(cpp("min(n, 3) - 1"), "(std::min<std::int64_t>(n, 3) - 1)");
  EXPECT_EQ(cpp("2*ceil(n/64)"), "(2 * static_cast<std::int64_t>(std::ceil((double(n) / 64.0))))");
  EXPECT_EQ(cpp("floor(0.5*max(sqrt(n), 2))"),
            "static_cast<std::int64_t>(std::floor((0.5 * std::max<double>(std::sqrt(double(n)), "
            "2.0))))");
  EXPECT_EQ(*Formula().cpp(), "0");
  EXPECT_THAT(cpp("n*1.5"), HasSubstr("\"n*1.5\" has parts outside of ceil and floor"));
  EXPECT_THAT(cpp("log2(n)"), HasSubstr("need not be whole numbers"));
}

TEST(FormulaTest, SizesAreWholeAndNotNegative) {
  EXPECT_EQ(*Formula::parse("n/4")->evaluate_size(sample_axes), 25);
  EXPECT_EQ(*Formula::parse("zero")->evaluate_size(sample_axes), 0);
  EXPECT_THAT(size_error("n*0.125"),
              HasSubstr("it gives 12.5, expected a whole number of at least 0"));
  EXPECT_THAT(size_error("m - n"), HasSubstr("it gives -94, expected a whole number"));
  EXPECT_THAT(size_error("m/zero"), HasSubstr("division by zero"));
}

}  // namespace
}  // namespace kernelpro
