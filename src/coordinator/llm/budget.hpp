// Tokens and money of a run: set apart before a call, settled after it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"

namespace kernelpro {

// What is taken from a budget.
struct Charge {
  std::int64_t tokens = 0;  // of input and output
  std::int64_t cost = 0;    // in billionths of a dollar

  friend bool operator==(const Charge&, const Charge&) = default;
};

// What a provider counts, without what cannot be: negative numbers, more from a cache than in all,
// so many that costs would overflow.
[[nodiscard]] Usage plausible(const Usage& usage);

// Without a price it costs nothing.
[[nodiscard]] Charge charge_of(const Usage& usage, const std::optional<Price>& price);
// At the price of the dearest kind of input.
[[nodiscard]] Charge worst_charge(const Usage& usage, const std::optional<Price>& price);

// Billionths as dollars, exactly: "$0.05", "$0.000003".
[[nodiscard]] std::string dollar_text(std::int64_t billionths);

// Together the charges stay within the budgets, as long as no call takes more than was set apart
// for it. Safe to be used by several threads at once.
class Budget {
 public:
  // 0: none. `money` in billionths of a dollar.
  Budget(std::int64_t tokens, std::int64_t money) : tokens_(tokens), money_(money) {}

  struct Reservation {
    Charge worst;
    std::string refusal;  // which budget does not allow it and what is left; empty: set apart
    [[nodiscard]] bool granted() const { return refusal.empty(); }
  };
  // Sets the worst case of a call apart. One that is never settled stays: a stream that was cut
  // costs what was set apart. `instead_of`, set apart before, is given back in the same step; no
  // more than that is always granted. A bad_input error where there is a budget of money and no
  // price; `model` is for its text.
  [[nodiscard]] Result<Reservation> reserve(const Usage& worst, const std::optional<Price>& price,
                                            const std::string& model,
                                            const Charge& instead_of = {});
  // What was set apart becomes what it was in fact. More than that is taken too, as it was spent.
  void settle(const Charge& reserved, const Charge& actual);
  // What earlier processes have spent or set apart.
  void take_up(const Charge& charge);

  // What may still be set apart; none: no budget.
  [[nodiscard]] std::optional<std::int64_t> tokens_left() const;
  [[nodiscard]] std::optional<std::int64_t> money_left() const;
  [[nodiscard]] Charge taken() const;

  // The error of `reserve`.
  [[nodiscard]] Status check_price(const std::optional<Price>& price,
                                   const std::string& model) const;

 private:
  // Of what comes on top of `before`.
  [[nodiscard]] std::string refusal(const Charge& worst, const Charge& before) const;

  const std::int64_t tokens_;
  const std::int64_t money_;
  mutable std::mutex mutex_;
  Charge taken_;
};

}  // namespace kernelpro
