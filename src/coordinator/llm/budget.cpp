#include "coordinator/llm/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "coordinator/llm/json_parts.hpp"

namespace kernelpro {
namespace {

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

// Neither is negative.
std::int64_t capped_sum(std::int64_t one, std::int64_t other) {
  return one > highest - other ? highest : one + other;
}

Charge sum(const Charge& one, const Charge& other) {
  return {.tokens = capped_sum(one.tokens, other.tokens), .cost = capped_sum(one.cost, other.cost)};
}

Charge difference(const Charge& all, const Charge& part) {
  return {.tokens = all.tokens - part.tokens, .cost = all.cost - part.cost};
}

std::int64_t left_of(std::int64_t budget, std::int64_t taken) {
  return std::max<std::int64_t>(budget - taken, 0);
}

// As if every token of input were of the kind that costs most.
std::int64_t worst_cost(const Usage& usage, const Price& price) {
  const std::int64_t dearest = std::max({price.input, price.cached, price.cache_written});
  return usage.input * dearest + usage.output * price.output;
}

}  // namespace

Usage plausible(const Usage& usage) {
  const auto bounded = [](std::int64_t tokens) {
    return std::clamp<std::int64_t>(tokens, 0, most_tokens_of_call);
  };
  Usage fixed{.input = bounded(usage.input),
              .cached = bounded(usage.cached),
              .cache_written = bounded(usage.cache_written),
              .output = bounded(usage.output)};
  fixed.input = std::max(fixed.input, fixed.cached + fixed.cache_written);
  return fixed;
}

Charge charge_of(const Usage& usage, const std::optional<Price>& price) {
  const Usage counted = plausible(usage);
  return {.tokens = counted.input + counted.output, .cost = price ? cost_of(counted, *price) : 0};
}

Charge worst_charge(const Usage& usage, const std::optional<Price>& price) {
  const Usage counted = plausible(usage);
  return {.tokens = counted.input + counted.output,
          .cost = price ? worst_cost(counted, *price) : 0};
}

Status Budget::check_price(const std::optional<Price>& price, const std::string& model) const {
  if (money_ <= 0 || price) {
    return {};
  }
  return make_error(ErrorKind::bad_input,
                    fmt::format("there is a budget of money, but the price of the model '{0}' is "
                                "not known: give it in dollars a million tokens with "
                                "--price {0}=IN/OUT",
                                model));
}

std::string Budget::refusal(const Charge& worst, const Charge& before) const {
  const std::int64_t tokens_left = left_of(tokens_, taken_.tokens - before.tokens);
  if (tokens_ > 0 && worst.tokens > std::max(tokens_left, before.tokens)) {
    return fmt::format("the budget of {} tokens has {} left, and the call may take {}", tokens_,
                       tokens_left, worst.tokens);
  }
  const std::int64_t money_left = left_of(money_, taken_.cost - before.cost);
  if (money_ > 0 && worst.cost > std::max(money_left, before.cost)) {
    return fmt::format("the budget of {} has {} left, and the call may cost {}",
                       dollar_text(money_), dollar_text(money_left), dollar_text(worst.cost));
  }
  return {};
}

Result<Budget::Reservation> Budget::reserve(const Usage& worst, const std::optional<Price>& price,
                                            const std::string& model, const Charge& instead_of) {
  KP_TRY(check_price(price, model));
  Reservation reservation{.worst = worst_charge(worst, price), .refusal = {}};
  const std::lock_guard lock(mutex_);
  reservation.refusal = refusal(reservation.worst, instead_of);
  if (reservation.granted()) {
    taken_ = sum(difference(taken_, instead_of), reservation.worst);
  }
  return reservation;
}

void Budget::settle(const Charge& reserved, const Charge& actual) {
  const std::lock_guard lock(mutex_);
  taken_ = sum(difference(taken_, reserved), actual);
}

void Budget::take_up(const Charge& charge) {
  const std::lock_guard lock(mutex_);
  taken_ = sum(taken_, charge);
}

std::optional<std::int64_t> Budget::tokens_left() const {
  const std::lock_guard lock(mutex_);
  return tokens_ > 0 ? std::optional(left_of(tokens_, taken_.tokens)) : std::nullopt;
}

std::optional<std::int64_t> Budget::money_left() const {
  const std::lock_guard lock(mutex_);
  return money_ > 0 ? std::optional(left_of(money_, taken_.cost)) : std::nullopt;
}

Charge Budget::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

std::string dollar_text(std::int64_t billionths) {
  constexpr std::int64_t dollar = 1'000'000'000;
  const std::int64_t size = billionths < 0 ? -billionths : billionths;
  std::string text =
      fmt::format("{}${}.{:09}", billionths < 0 ? "-" : "", size / dollar, size % dollar);
  const std::size_t cents = text.find('.') + 3;
  const std::size_t end = text.find_last_not_of('0') + 1;
  text.resize(std::max(cents, end));
  return text;
}

}  // namespace kernelpro
