#include "coordinator/store/certificate_parts.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "coordinator/store/columns.hpp"

namespace kernelpro::store {

namespace {

using nlohmann::json;

const std::array<json::json_pointer, 2>& document_places() {
  static const std::array<json::json_pointer, 2> places = {json::json_pointer("/task"),
                                                           json::json_pointer("/ceilings")};
  return places;
}

const std::array<json::json_pointer, 2>& source_places() {
  static const std::array<json::json_pointer, 2> places = {json::json_pointer("/candidate/source"),
                                                           json::json_pointer("/incumbent/source")};
  return places;
}

// The text behind the hash at `place`.
Result<std::string> look_up(const json& whole, const json::json_pointer& place,
                            const Lookup& lookup) {
  const json* hash = whole.contains(place) ? &whole[place] : nullptr;
  if (hash == nullptr || !hash->is_string()) {
    return make_error(ErrorKind::io,
                      "a kept certificate is damaged: no hash at " + place.to_string());
  }
  return lookup(hash->get<std::string>());
}

}  // namespace

HashedText hashed(std::string text) {
  std::string hash = sha256(text);
  return {std::move(hash), std::move(text)};
}

CertificateParts take_apart(const Certificate& certificate) {
  CertificateParts parts;
  json whole = to_json(certificate);
  for (const json::json_pointer& place : document_places()) {
    parts.documents.push_back(hashed(whole[place].dump()));
    whole[place] = parts.documents.back().hash;
  }
  for (const json::json_pointer& place : source_places()) {
    parts.sources.push_back(hashed(whole[place].get<std::string>()));
    whole[place] = parts.sources.back().hash;
  }
  whole["verdict"] = to_columns(whole["verdict"]);
  parts.rest = whole.dump();
  return parts;
}

Result<Certificate> put_together(const std::string& rest, const Lookup& document,
                                 const Lookup& source) {
  KP_LET(json whole, parse_json(rest));
  for (const json::json_pointer& place : document_places()) {
    KP_LET(const std::string text, look_up(whole, place, document));
    KP_LET(whole[place], parse_json(text));
  }
  for (const json::json_pointer& place : source_places()) {
    KP_LET(whole[place], look_up(whole, place, source));
  }
  whole["verdict"] = from_columns(whole["verdict"]);
  return certificate_from_json(whole);
}

}  // namespace kernelpro::store
