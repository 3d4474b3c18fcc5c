#include "coordinator/report/llm_summary.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/printable.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

constexpr double billionths_of_a_dollar = 1e9;

std::string who(const LlmSummary& summary) {
  std::string text;
  for (const auto& [name, count] : summary.answered_by) {
    const std::string one = name.empty() ? "somebody unnamed" : printable(name);
    text += (text.empty() ? "" : ", ") + one +
            (summary.answered_by.size() > 1 ? fmt::format(" ({})", count) : "");
  }
  return text;
}

std::string cost_text(const LlmSummary& summary) {
  if (summary.unpriced == 0) {
    return ", " + money_text(summary.cost);
  }
  return summary.cost > 0 ? fmt::format(", {} and {} calls without a known price",
                                        money_text(summary.cost), summary.unpriced)
                          : "";
}

}  // namespace

std::string money_text(std::int64_t billionths) {
  const double dollars = static_cast<double>(billionths) / billionths_of_a_dollar;
  return fmt::format("${:.{}f}", dollars, dollars < 1 ? 4 : 2);
}

LlmSummary summarize_calls(const std::vector<LlmCall>& calls) {
  LlmSummary summary;
  for (const LlmCall& call : calls) {
    summary.asked_again += call.turn > 1 ? 1 : 0;
    if (call.state == CallState::waiting) {
      ++summary.waiting;
      continue;
    }
    summary.usage.input += call.usage.input;
    summary.usage.cached += call.usage.cached;
    summary.usage.cache_written += call.usage.cache_written;
    summary.usage.output += call.usage.output;
    summary.cost += call.cost;
    if (call.state == CallState::failed) {
      ++summary.failed;
      summary.last_failure = call.failure;
    } else {
      ++summary.answered;
      ++summary.answered_by[call.answered_by];
      summary.unpriced += call.priced ? 0 : 1;
    }
  }
  return summary;
}

std::string llm_text(const LlmSummary& summary) {
  std::string text = fmt::format("{} calls answered", summary.answered);
  if (summary.answered > 0) {
    text += fmt::format(" by {}", who(summary));
  }
  // What failed may have cost as well.
  if (summary.answered > 0 || summary.usage.input + summary.usage.output > 0) {
    text += fmt::format(", {} tokens in, {} out{}", summary.usage.input, summary.usage.output,
                        cost_text(summary));
  }
  text += summary.waiting > 0 ? fmt::format("; {} waiting", summary.waiting) : "";
  text += summary.failed > 0 ? fmt::format("; {} failed, the last: {}", summary.failed,
                                           printable(summary.last_failure))
                             : "";
  text += summary.asked_again > 0 ? fmt::format("; {} further turns", summary.asked_again) : "";
  return text;
}

nlohmann::json llm_json(const LlmSummary& summary) {
  return {{"answered", summary.answered},
          {"waiting", summary.waiting},
          {"failed", summary.failed},
          {"last_failure", summary.last_failure},
          {"asked_again", summary.asked_again},
          {"input_tokens", summary.usage.input},
          {"cached_tokens", summary.usage.cached},
          {"output_tokens", summary.usage.output},
          {"cost_billionths", summary.cost},
          {"unpriced", summary.unpriced},
          {"answered_by", summary.answered_by}};
}

std::string calls_table(const std::vector<LlmCall>& calls) {
  Table table({"call", "state", "answered by", "tokens in", "out", "cost", "took", ""});
  for (const LlmCall& call : calls) {
    table.add({call.id, std::string(name_of(call.state)), printable(call.answered_by),
               std::to_string(call.usage.input), std::to_string(call.usage.output),
               call.priced ? money_text(call.cost) : "–",
               call.latency_ns > 0 ? duration_text(static_cast<double>(call.latency_ns)) : "–",
               printable(call.failure)});
  }
  return table.text();
}

}  // namespace kernelpro
