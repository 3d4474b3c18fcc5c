#include "coordinator/llm/batch_id.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/hash.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/batch_body.hpp"

namespace kernelpro {
namespace {

constexpr std::size_t hash_digits = 8;

// The part behind the last dot, taken off `text`; nothing where there is no dot.
std::optional<std::string_view> take_last(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view last = text.substr(dot + 1);
  text = text.substr(0, dot);
  return last;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_hash(std::string_view text) {
  return text.size() == hash_digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The attempt that "r2" names; 1 where it names none.
int attempt_of(std::string_view text) {
  const bool named = text.size() == 2 && text[0] == 'r' && text[1] >= '2' && text[1] <= '9';
  return named ? text[1] - '0' : 1;
}

}  // namespace

std::string BatchId::text() const {
  return attempt == 1 ? fmt::format("{}.{}.{}", run, call, hash)
                      : fmt::format("{}.{}.{}.r{}", run, call, hash, attempt);
}

std::optional<BatchId> parse_batch_id(std::string_view text) {
  BatchId id;
  std::optional<std::string_view> hash = take_last(text);
  id.attempt = attempt_of(hash.value_or(""));
  if (id.attempt > 1) {
    hash = take_last(text);
  }
  const std::optional<std::string_view> turn = take_last(text);
  const std::optional<std::string_view> role = take_last(text);
  const std::optional<std::string_view> node = take_last(text);
  if (!node || text.empty() || !is_number(*node) || !parse_llm_role(*role) || !is_number(*turn) ||
      !is_hash(*hash)) {
    return std::nullopt;
  }
  id.run = text;
  id.call = fmt::format("{}.{}.{}", *node, *role, *turn);
  id.hash = *hash;
  return id;
}

std::string batch_hash(const std::string& body) {
  return prompt_hash(body).substr(0, hash_digits);
}

std::string whole_batch_hash(const std::string& body) {
  return sha256(body).substr(0, hash_digits);
}

bool is_known(const BatchIds& known, const BatchId& id) {
  return known.contains({id.call, id.hash}) || known.contains({id.call, ""});
}

}  // namespace kernelpro
