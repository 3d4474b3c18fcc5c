#include "coordinator/memory/lesson_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "coordinator/memory/traits.hpp"
#include "coordinator/store/lesson_json.hpp"

namespace kernelpro::memory {

namespace {

Error damaged_row(const store::Rows& row) {
  return make_error(ErrorKind::io, "damaged: a lesson holds what no run writes; move the file away",
                    "lesson " + std::to_string(row.integer(0)));
}

Status read_causes(const std::string& text, Tally& tally) {
  if (text.empty()) {
    return {};
  }
  KP_LET(const nlohmann::json causes, parse_json(text));
  for (const auto& [cause, count] : causes.items()) {
    if (!count.is_number_integer() || !parse_outcome(cause)) {
      return make_error(ErrorKind::io, "no count by outcome");
    }
    tally.causes[cause] = count.get<std::int64_t>();
  }
  return {};
}

bool is_sound(const Recalled& one) {
  const Tally& tally = one.tally;
  return is_plain_name(one.move) && is_plain_name(one.bottleneck) &&
         (one.site.empty() || is_plain_name(one.site)) &&
         (one.finding.empty() || is_plain_name(one.finding)) && tally.tried >= tally.failed &&
         tally.failed >= 0 && std::isfinite(tally.mean) && std::isfinite(tally.spread) &&
         std::isfinite(tally.useful);
}

}  // namespace

Result<RecalledRow> read_recalled(const store::Rows& row) {
  RecalledRow out;
  Recalled& one = out.lesson;
  one.id = row.integer(0);
  one.code = unpacked(code_trait_kinds(), floats_of(row.text(1), code_trait_kinds().size()).data());
  one.bottleneck = row.text(2);
  one.finding = row.text(3);
  one.move = row.text(4);
  one.site = row.text(5);
  one.tally.tried = row.integer(6);
  one.tally.failed = row.integer(7);
  one.tally.mean = row.number(8);
  one.tally.spread = row.number(9);
  one.tally.useful = row.number(10);
  out.confirmed = row.number(12);
  out.contradicted = row.number(13);
  out.last_run = row.integer(14);
  if (!read_causes(row.text(11), one.tally) || !is_sound(one)) {
    return damaged_row(row);
  }
  return out;
}

std::string causes_text(const Tally& tally) {
  return tally.causes.empty() ? "" : nlohmann::json(tally.causes).dump();
}

std::vector<float> floats_of(std::string_view bytes, std::size_t count) {
  std::vector<float> values(count, std::numeric_limits<float>::quiet_NaN());
  std::memcpy(values.data(), bytes.data(), std::min(bytes.size(), count * sizeof(float)));
  return values;
}

}  // namespace kernelpro::memory
