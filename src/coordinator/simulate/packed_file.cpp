// Landscapes as files, packed by gzip or not.
#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "coordinator/simulate/any_landscape.hpp"

namespace kernelpro {

namespace {

// Ten times the largest cache that is published.
constexpr std::size_t most_unpacked = std::size_t{1} << 30;

Error with_file(const Error& error, const std::filesystem::path& path) {
  return make_error(error.kind, error.text(), path.string());
}

Result<std::string> read_packed(const std::filesystem::path& path) {
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file || !std::filesystem::is_regular_file(path)) {
    return make_error(ErrorKind::bad_input, "cannot be read: no such file", path.string());
  }
  std::string text;
  std::array<char, 1 << 16> part{};
  int count = 0;
  while ((count = gzread(file.get(), part.data(), part.size())) > 0 &&
         text.size() <= most_unpacked) {
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  int code = Z_OK;
  const std::string why = gzerror(file.get(), &code);
  if (count < 0 || code == Z_BUF_ERROR) {
    return make_error(ErrorKind::bad_input, "the file is cut or damaged: " + why, path.string());
  }
  if (text.size() > most_unpacked) {
    return make_error(ErrorKind::bad_input, "more than 1 GiB when unpacked", path.string());
  }
  return text;
}

std::string packed(const std::string& text) {
  constexpr int with_gzip_header = 15 + 16;
  constexpr int memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, with_gzip_header, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> end(&stream, deflateEnd);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  // zlib's interface has no const; it reads only.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  return bytes;
}

}  // namespace

Result<nlohmann::json> read_packed_json(const std::filesystem::path& path) {
  KP_LET(const std::string text, read_packed(path));
  Result<nlohmann::json> json = parse_json(text);
  return json ? std::move(json) : Result<nlohmann::json>(with_file(json.error(), path));
}

namespace {

template <typename Kind>
Result<AnyLandscape> any_of(Result<Kind> landscape, const std::filesystem::path& path) {
  return landscape ? Result<AnyLandscape>(std::move(*landscape))
                   : Result<AnyLandscape>(with_file(landscape.error(), path));
}

}  // namespace

Result<AnyLandscape> read_landscape(const std::filesystem::path& path) {
  KP_LET(const nlohmann::json json, read_packed_json(path));
  return json.is_object() && json.contains("agents") ? any_of(agent_landscape_from_json(json), path)
                                                     : any_of(landscape_from_json(json), path);
}

const std::string& name_of(const AnyLandscape& landscape) {
  return std::visit([](const auto& one) -> const std::string& { return one.name; }, landscape);
}

Status write_landscape(const Landscape& landscape, const std::filesystem::path& path) {
  const std::string bytes = packed(to_json(landscape).dump());
  return bytes.empty() ? Status(make_error(ErrorKind::environment, "out of memory", path.string()))
                       : write_file_atomic(path, bytes);
}

}  // namespace kernelpro
