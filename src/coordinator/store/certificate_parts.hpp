// A certificate without what a store keeps once for many: task, ceilings and sources. For the files
// of this room and their tests only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"

namespace kernelpro::store {

// A text and the SHA-256 by which it is found again.
struct HashedText {
  std::string hash;
  std::string text;
};

[[nodiscard]] HashedText hashed(std::string text);

struct CertificateParts {
  std::string rest;                   // JSON, with hashes in place of the parts below
  std::vector<HashedText> documents;  // JSON
  std::vector<HashedText> sources;
};

[[nodiscard]] CertificateParts take_apart(const Certificate& certificate);

// From a hash to the text.
using Lookup = std::function<Result<std::string>(const std::string& hash)>;

[[nodiscard]] Result<Certificate> put_together(const std::string& rest, const Lookup& document,
                                               const Lookup& source);

}  // namespace kernelpro::store
