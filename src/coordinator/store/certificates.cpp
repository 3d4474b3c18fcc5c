// Certificates, kept small: what repeats lies once in `documents` and under sources/, and the rest
// is packed after the model of its run, the first certificate there that passed.
#include <fmt/format.h>

#include "coordinator/store/certificate_parts.hpp"
#include "coordinator/store/deflate.hpp"
#include "coordinator/store/inner.hpp"
#include "coordinator/store/place.hpp"

namespace kernelpro {

using store::HashedText;
using store::Rows;

Status Store::Inner::keep_document(const std::string& hash, const std::string& json) {
  return database.execute("INSERT OR IGNORE INTO documents (hash, json) VALUES (?1, ?2)",
                          {hash, json});
}

Result<std::string> Store::Inner::find_document(const std::string& hash) {
  KP_LET(Rows rows, database.select("SELECT json FROM documents WHERE hash = ?1", {hash}));
  KP_LET(const bool found, rows.next());
  if (!found) {
    return make_error(ErrorKind::io,
                      fmt::format("the document {} is missing; put a copy of the store back", hash),
                      database.file().string());
  }
  return rows.text(0);
}

Result<std::string> Store::Inner::find_model(std::int64_t run) {
  if (const auto known = models.find(run); known != models.end()) {
    return known->second;
  }
  KP_LET(Rows rows, database.select("SELECT model FROM runs WHERE key = ?1", {run}));
  KP_LET(const bool found, rows.next());
  if (!found || rows.is_null(0)) {
    return std::string();
  }
  return models.emplace(run, rows.text(0)).first->second;
}

Status Store::Inner::keep_certificate(std::int64_t run, NodeId node,
                                      const Certificate& certificate) {
  const store::CertificateParts parts = store::take_apart(certificate);
  for (const HashedText& source : parts.sources) {
    KP_TRY(store::write_source(directory, source.hash, source.text));
  }
  for (const HashedText& document : parts.documents) {
    KP_TRY(keep_document(document.hash, document.text));
  }
  KP_LET(std::string model, find_model(run));
  if (model.empty() && certificate.verdict.outcome == Outcome::passed) {
    KP_TRY(database.execute("UPDATE runs SET model = ?2 WHERE key = ?1", {run, parts.rest}));
    model = parts.rest;
  }
  KP_LET(const std::string packed, store::pack_text(parts.rest, model));
  return database.execute(
      "INSERT OR REPLACE INTO certificates (run, node, packed) VALUES (?1, ?2, ?3)",
      {run, node, store::Blob{packed}});
}

Result<std::optional<Certificate>> Store::Inner::find_certificate(std::int64_t run, NodeId node) {
  KP_LET(Rows rows, database.select("SELECT packed FROM certificates WHERE run = ?1 AND node = ?2",
                                    {run, node}));
  KP_LET(const bool found, rows.next());
  if (!found) {
    return std::optional<Certificate>();
  }
  KP_LET(const std::string model, find_model(run));
  const auto unreadable = [&](const Error& why) {
    return make_error(ErrorKind::io,
                      fmt::format("the certificate of node {} cannot be read ({}); put a copy of "
                                  "the store back",
                                  node, why.text()),
                      database.file().string());
  };
  const Result<std::string> rest = store::unpack_text(rows.text(0), model);
  if (!rest) {
    return unreadable(rest.error());
  }
  Result<Certificate> certificate = store::put_together(
      *rest, [this](const std::string& hash) { return find_document(hash); },
      [this](const std::string& hash) { return store::read_source(directory, hash); });
  if (!certificate) {
    return unreadable(certificate.error());
  }
  return std::optional<Certificate>(std::move(*certificate));
}

}  // namespace kernelpro
