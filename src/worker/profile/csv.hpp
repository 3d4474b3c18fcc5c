// Comma-separated values, read row by row: nothing of the text is copied but fields that hold
// doubled quotes.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

struct CsvLimits {
  std::size_t field_bytes = std::size_t{1} << 20;
  std::size_t fields = std::size_t{1} << 16;  // of one row
};

enum class CsvRow {
  whole,
  cut,        // the text ends inside a quoted field
  malformed,  // a quote stands where none may, or a limit is passed
  end,        // there are no more rows
};

// Fields may be quoted; inside quotes a quote is doubled, and commas and line ends are content.
// Lines end with LF or CRLF; the last one need not end.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text, CsvLimits limits = {}) : text_(text), limits_(limits) {}

  // Reads the row at position(). Behind a row that is not whole, position() stays where it was.
  CsvRow next();
  // Of the last whole row; valid until next() is called again, as long as the text lives.
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] bool ended() const { return position_ >= text_.size(); }
  void seek(std::size_t position) { position_ = position < text_.size() ? position : text_.size(); }
  // The rest of the line at position(), without its end; position() does not move.
  [[nodiscard]] std::string_view line() const;
  void skip_line();

 private:
  // What follows a field.
  enum class After { comma, line_end, cut, malformed };
  After read_field(std::size_t& at);
  After read_quoted(std::size_t& at);
  After read_plain(std::size_t& at);
  [[nodiscard]] After after_field(std::size_t& at) const;

  std::string_view text_;
  CsvLimits limits_;
  std::size_t position_ = 0;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  // a deque: views into it stay valid while it grows
};

// A file's content in memory without a copy of it. The file must not shrink meanwhile.
class MappedFile {
 public:
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::string_view text() const { return {static_cast<const char*>(data_), size_}; }

 private:
  MappedFile(void* data, std::size_t size) : data_(data), size_(size) {}
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kernelpro
