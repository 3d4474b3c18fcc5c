#include "coordinator/llm/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>

#include "common/base/printable.hpp"
#include "common/base/text.hpp"
#include "common/wire/json.hpp"
#include "common/wire/writer.hpp"
#include "coordinator/llm/json_parts.hpp"
#include "coordinator/llm/lower_case.hpp"
#include "coordinator/llm/redact.hpp"
#include "coordinator/llm/retry.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

// What a provider says of an error. All of it may be empty.
struct Reported {
  std::string message;
  std::string type;
  std::string code;
};

// 529 is Anthropic's "overloaded".
constexpr std::array retriable_statuses = {408, 409, 429, 500, 502, 503, 504, 529};

bool is_retriable(int status) {
  return std::find(retriable_statuses.begin(), retriable_statuses.end(), status) !=
         retriable_statuses.end();
}

// Behind a gateway, somebody may still be at work.
bool may_still_work(int status) {
  return status == 502 || status == 504;
}

// The first line that is not blank, bounded, with nothing in it that a terminal would act on.
// A key goes before it is cut: half of one would not be known as one.
std::string first_line(const Asked& asked, std::string whole) {
  constexpr std::size_t longest = 200;
  const std::string text = redacted(std::move(whole), asked.key);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) {
    return "nothing";
  }
  return wire::valid_utf8(
      printable(text.substr(begin, std::min(text.find_first_of("\r\n", begin) - begin, longest))));
}

Reported read_error(const Asked& asked, const json& error) {
  Reported reported;
  reported.message = error.is_string() ? error.get<std::string>() : text_part(error, "message");
  const std::string type = text_part(error, "type");
  reported.type = type.empty() ? "" : first_line(asked, type);
  const json& code = part(error, "code");
  reported.code = code.is_number_integer() ? code.dump() : text_part(error, "code");
  return reported;
}

// Of a page by a server in between; empty: there is none.
std::string title_of(const std::string& page) {
  const std::string lower = lower_case(page);
  const std::size_t tag = lower.find("<title");
  const std::size_t begin = tag == std::string::npos ? tag : lower.find('>', tag);
  return begin == std::string::npos ? ""
                                    : page.substr(begin + 1, lower.find('<', begin) - begin - 1);
}

// Of {"error": {...}}, {"error": "..."}, {"message": "..."}, {"detail": "..."}; of HTML its title;
// otherwise the first line.
Reported read_body(const Asked& asked, const std::string& body, bool& is_json) {
  const Result<json> parsed = parse_json(body);
  is_json = parsed.ok() && parsed->is_object();
  Reported reported;
  if (is_json) {
    reported = read_error(asked, part(*parsed, "error"));
    for (const char* const key : {"message", "detail"}) {
      if (reported.message.empty()) {
        reported.message = text_part(*parsed, key);
      }
    }
  }
  if (reported.message.empty()) {
    reported.message = is_json ? parsed->dump() : title_of(body);
  }
  if (trimmed(reported.message).empty()) {
    reported.message = body;
  }
  reported.message = first_line(asked, reported.message);
  return reported;
}

bool is_quota(int status, const Reported& reported) {
  const auto is_one = [](const std::string& word) {
    return word == "insufficient_quota" || word == "billing_hard_limit_reached" ||
           word == "billing_error";
  };
  return status == 402 || is_one(reported.type) || is_one(reported.code) ||
         reported.message.find("credit balance is too low") != std::string::npos;
}

// Something in the form of the request, which all have.
bool is_form(int status, const Reported& reported) {
  return (status == 400 || status == 422) &&
         (reported.code == "unsupported_parameter" || reported.code == "unsupported_value" ||
          reported.code == "unknown_parameter");
}

ChatFailure hopeless(ErrorKind kind, const Asked& asked, std::string message) {
  ChatFailure failure;
  failure.error = make_error(kind, std::move(message), asked.url);
  failure.for_all = true;
  return failure;
}

ChatFailure with_status(const Asked& asked, int status, const Reported& reported) {
  const std::string said = fmt::format("(HTTP {}: {})", status, reported.message);
  if (is_quota(status, reported)) {
    return hopeless(ErrorKind::environment, asked,
                    "no quota is left " + said + "; look at the provider's billing page");
  }
  if (status == 401) {
    return hopeless(
        ErrorKind::bad_input, asked,
        fmt::format("the provider wants another key {}; sent was: {}", said, asked.key_origin));
  }
  if (status == 403) {
    return hopeless(ErrorKind::bad_input, asked,
                    fmt::format("access was refused {}; may {} be used for the model {}?", said,
                                asked.key_origin, asked.model));
  }
  if (status == 404 || reported.code == "model_not_found") {
    return hopeless(ErrorKind::bad_input, asked,
                    fmt::format("not found {}; is there a model {}, and is the base URL right?",
                                said, asked.model));
  }
  if (is_form(status, reported)) {
    return hopeless(ErrorKind::bad_input, asked,
                    fmt::format("the request was refused {}, as every other would be; can the "
                                "model {} be asked so?",
                                said, asked.model));
  }
  ChatFailure failure;
  failure.retriable = is_retriable(status);
  failure.away = failure.retriable;
  failure.may_cost = may_still_work(status);
  if (status == 429) {
    failure.error = make_error(ErrorKind::busy, "too many requests " + said, asked.url);
  } else if (status >= 500 || failure.retriable) {
    failure.error = make_error(ErrorKind::lost, "the provider failed " + said, asked.url);
  } else {
    failure.error = make_error(ErrorKind::bad_input, "the request was refused " + said, asked.url);
  }
  return failure;
}

}  // namespace

ChatFailure transport_failure(const Asked& asked, const HttpEnd& end) {
  ChatFailure failure;
  failure.may_cost = end.sent;
  const auto set = [&](ErrorKind kind, const std::string& message) {
    failure.error = make_error(kind, message, asked.url);
  };
  const std::string detail = " (" + end.detail + ")";
  switch (end.outcome) {
    case HttpOutcome::no_host:
      failure.for_all = true;
      set(ErrorKind::environment,
          "no such host" + detail + "; check the base URL, the network and the proxy settings");
      break;
    case HttpOutcome::no_connection:
      failure.retriable = true;
      failure.for_all = true;
      set(ErrorKind::environment,
          "nobody answers there" + detail + "; does the server run, and is the base URL right?");
      break;
    case HttpOutcome::no_trust:
      failure.for_all = true;
      set(ErrorKind::environment, "no trusted connection" + detail +
                                      "; is it https:// there? SSL_CERT_FILE names the "
                                      "certificates of a private authority");
      break;
    case HttpOutcome::no_http:
      failure.for_all = true;
      failure.may_cost = false;
      set(ErrorKind::bad_input, "what answers there is no HTTP server" + detail +
                                    "; is the port right, and is it https:// there?");
      break;
    case HttpOutcome::timed_out:
      set(ErrorKind::timeout, "no whole answer within the time for one call" + detail);
      break;
    case HttpOutcome::stalled:
      failure.retriable = true;
      set(ErrorKind::timeout, "the answer began and then nothing more came");
      break;
    case HttpOutcome::cut:
      failure.retriable = true;
      set(ErrorKind::lost, "the connection was cut before the answer was whole" + detail);
      break;
    case HttpOutcome::too_large:
      set(ErrorKind::lost, "the answer has more than 64 MB and was dropped");
      break;
    case HttpOutcome::stopped:
      set(ErrorKind::interrupted, "stopped while the model was asked");
      break;
    case HttpOutcome::finished:
    case HttpOutcome::ended:
    case HttpOutcome::failed:
      set(ErrorKind::lost, "the call failed" + detail);
      break;
  }
  return failure;
}

ChatFailure status_failure(const Asked& asked, const HttpHead& head, const std::string& body) {
  if (head.status >= 300 && head.status < 400) {
    return hopeless(ErrorKind::bad_input, asked,
                    fmt::format("it sends us on to {} (HTTP {}), where nobody asked us to send "
                                "anything; if that is right, give it as the base URL",
                                first_line(asked, head.location), head.status));
  }
  bool is_json = false;
  const Reported reported = read_body(asked, body, is_json);
  if (!is_json && (head.status == 404 || head.status == 405 || head.status == 501)) {
    return no_llm_failure(asked, head, body);
  }
  ChatFailure failure = with_status(asked, head.status, reported);
  failure.retry_after_seconds = parse_retry_after(head.retry_after, std::time(nullptr));
  return failure;
}

ChatFailure reported_failure(const Asked& asked, const json& error) {
  const Reported reported = read_error(asked, error);
  const auto is_one = [&reported](std::string_view word) {
    return reported.type == word || reported.code == word;
  };
  constexpr std::array<std::string_view, 6> passing = {"overloaded_error",    "api_error",
                                                       "rate_limit_error",    "timeout_error",
                                                       "rate_limit_exceeded", "server_error"};
  const bool by_status = std::any_of(retriable_statuses.begin(), retriable_statuses.end(),
                                     [&](int status) { return is_one(std::to_string(status)); });
  ChatFailure failure;
  failure.retriable = by_status || std::any_of(passing.begin(), passing.end(), is_one);
  failure.may_cost = true;
  if (is_quota(0, reported)) {
    failure.retriable = false;
    failure.for_all = true;
  }
  failure.error = make_error(
      ErrorKind::lost,
      fmt::format("the provider broke off ({}{}{})", reported.type,
                  reported.type.empty() ? "" : ": ", first_line(asked, reported.message)),
      asked.url);
  return failure;
}

ChatFailure whole_failure(const Asked& asked, const HttpHead& head, const json& error) {
  Reported reported = read_error(asked, error);
  int status = 0;
  std::from_chars(reported.code.data(), reported.code.data() + reported.code.size(), status);
  if (status < 400 || status > 599) {
    return reported_failure(asked, error);
  }
  reported.message = first_line(asked, reported.message);
  ChatFailure failure = with_status(asked, status, reported);
  failure.retry_after_seconds = parse_retry_after(head.retry_after, std::time(nullptr));
  return failure;
}

ChatFailure event_failure(const Asked& asked, const std::string& data) {
  const Result<json> parsed = parse_json(data);
  if (!parsed) {
    return reported_failure(asked, data);
  }
  const json& error = part(*parsed, "error");
  return reported_failure(asked, error.is_null() ? *parsed : error);
}

ChatFailure cut_failure(const Asked& asked) {
  ChatFailure failure;
  failure.retriable = true;
  failure.may_cost = true;
  failure.error = make_error(ErrorKind::lost, "the stream ended before the answer did", asked.url);
  return failure;
}

ChatFailure malformed_failure(const Asked& asked, const std::string& why) {
  ChatFailure failure;
  failure.may_cost = true;
  failure.error = make_error(ErrorKind::lost,
                             "the answer cannot be read: " + first_line(asked, why), asked.url);
  return failure;
}

ChatFailure not_json_failure(const Asked& asked, const std::string& what, const std::string& text) {
  const Result<json> parsed = parse_json(redacted(text, asked.key));
  return malformed_failure(asked, what + (parsed ? "not valid JSON" : parsed.error().text()));
}

ChatFailure no_llm_failure(const Asked& asked, const HttpHead& head, const std::string& body) {
  return hopeless(
      ErrorKind::bad_input, asked,
      fmt::format("that base URL is no LLM: it answers HTTP {} with {} beginning \"{}\"; "
                  "check the base URL",
                  head.status,
                  head.content_type.empty() ? "text" : first_line(asked, head.content_type),
                  first_line(asked, body)));
}

}  // namespace kernelpro
