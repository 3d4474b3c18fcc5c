#include "coordinator/report/speed_text.hpp"

#include <fmt/format.h>

namespace kernelpro {

namespace {

const char* qualifier(bool at_least) {
  return at_least ? "at least " : "";
}

}  // namespace

std::string speedup_words(double speedup, bool at_least) {
  return fmt::format("{}{:.2f}", qualifier(at_least), speedup);
}

std::string speedup_words(double speedup, const Interval& interval, bool at_least) {
  return fmt::format("{} [{:.2f}, {:.2f}]", speedup_words(speedup, at_least), interval.low,
                     interval.high);
}

std::string times_words(double speedup, bool at_least) {
  return speedup_words(speedup, at_least) + "x";
}

std::string share_words(double share_of_bound) {
  // What rounds to 100 % is no surprise.
  constexpr double reached = 1.005;
  if (share_of_bound <= 0) {
    return "–";
  }
  return share_of_bound < reached ? fmt::format("{:.0f} %", 100 * share_of_bound) : "over 100 %";
}

std::string likely_words(double speedup, double likely) {
  constexpr double worth_saying = 1.1;
  return likely > worth_saying * speedup
             ? fmt::format(", about {:.2f}x without other programs", likely)
             : "";
}

}  // namespace kernelpro
