#include "worker/profile/csv.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/base/file.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro {

CsvRow CsvReader::next() {
  fields_.clear();
  unquoted_.clear();
  if (position_ >= text_.size()) {
    return CsvRow::end;
  }
  std::size_t at = position_;
  while (fields_.size() < limits_.fields) {
    switch (read_field(at)) {
      case After::comma:
        break;
      case After::line_end:
        position_ = at;
        return CsvRow::whole;
      case After::cut:
        fields_.clear();
        return CsvRow::cut;
      case After::malformed:
        fields_.clear();
        return CsvRow::malformed;
    }
  }
  fields_.clear();
  return CsvRow::malformed;
}

CsvReader::After CsvReader::read_field(std::size_t& at) {
  return at < text_.size() && text_[at] == '"' ? read_quoted(at) : read_plain(at);
}

CsvReader::After CsvReader::read_quoted(std::size_t& at) {
  const std::size_t begin = ++at;
  std::size_t kept = begin;     // what was not copied yet begins here
  std::string* copy = nullptr;  // the field so far, once a doubled quote was met
  const std::size_t last = begin + limits_.field_bytes;
  for (;; at += 2) {
    at = text_.find('"', at);
    if (at > last) {  // npos too
      return text_.size() > last ? After::malformed : After::cut;
    }
    if (at + 1 >= text_.size() || text_[at + 1] != '"') {
      break;
    }
    copy = copy == nullptr ? &unquoted_.emplace_back() : copy;
    copy->append(text_, kept, at + 1 - kept);
    kept = at + 2;
  }
  if (copy != nullptr) {
    copy->append(text_, kept, at - kept);
  }
  fields_.push_back(copy == nullptr ? text_.substr(begin, at - begin) : std::string_view(*copy));
  ++at;
  return after_field(at);
}

CsvReader::After CsvReader::read_plain(std::size_t& at) {
  const std::size_t begin = at;
  while (at < text_.size() && text_[at] != ',' && text_[at] != '\n') {
    if (text_[at] == '"' || at - begin > limits_.field_bytes) {
      return After::malformed;
    }
    ++at;
  }
  std::size_t end = at;
  if (end > begin && text_[end - 1] == '\r' && (at == text_.size() || text_[at] == '\n')) {
    --end;
  }
  fields_.push_back(text_.substr(begin, end - begin));
  return after_field(at);
}

CsvReader::After CsvReader::after_field(std::size_t& at) const {
  if (at < text_.size() && text_[at] == ',') {
    ++at;
    return After::comma;
  }
  if (at < text_.size() && text_[at] == '\r' && (at + 1 == text_.size() || text_[at + 1] == '\n')) {
    ++at;
  }
  if (at >= text_.size()) {
    return After::line_end;
  }
  if (text_[at] != '\n') {
    return After::malformed;
  }
  ++at;
  return After::line_end;
}

std::string_view CsvReader::line() const {
  std::string_view rest = text_.substr(position_);
  rest = rest.substr(0, rest.find('\n'));
  if (!rest.empty() && rest.back() == '\r') {
    rest.remove_suffix(1);
  }
  return rest;
}

void CsvReader::skip_line() {
  const std::size_t end = text_.find('\n', position_);
  position_ = end == std::string_view::npos ? text_.size() : end + 1;
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat state{};
  if (file.get() < 0 || fstat(file.get(), &state) != 0) {
    return errno_error("opening " + path.string());
  }
  if (!S_ISREG(state.st_mode)) {
    return make_error(ErrorKind::bad_input, "is not a file", path.string());
  }
  const auto size = static_cast<std::size_t>(state.st_size);
  if (size == 0) {
    return MappedFile(nullptr, 0);
  }
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) {
    return errno_error("mapping " + path.string());
  }
  return MappedFile(data, size);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    munmap(data_, size_);
  }
}

}  // namespace kernelpro
