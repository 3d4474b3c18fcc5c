#include "common/wire/sealed_line.hpp"

#include "common/base/hash.hpp"

namespace kernelpro::wire {

namespace {

constexpr std::string_view before_sum = R"(,"sum":")";
constexpr std::string_view behind_sum = R"("})";
constexpr std::size_t seal_digits = 16;
static_assert(seal_bytes == before_sum.size() + seal_digits + behind_sum.size() - 1);

std::string sum_of(const std::string& object) {
  return sha256(object).substr(0, seal_digits);
}

}  // namespace

std::string sealed(std::string object) {
  const std::string sum = sum_of(object);
  object.pop_back();
  object += before_sum;
  object += sum;
  object += behind_sum;
  return object;
}

Seal seal_of(std::string_view line) {
  line = line.substr(0, line.find('\n'));
  if (line.size() <= seal_bytes) {
    return Seal::none;
  }
  const std::size_t end = line.size() - seal_bytes - 1;
  if (!line.substr(end).starts_with(before_sum) || !line.ends_with(behind_sum)) {
    return Seal::none;
  }
  const std::string object = std::string(line.substr(0, end)) + "}";
  return line.substr(end + before_sum.size(), seal_digits) == sum_of(object) ? Seal::whole
                                                                             : Seal::broken;
}

Status check_seal(std::string_view line) {
  const Seal seal = seal_of(line);
  if (seal == Seal::whole) {
    return {};
  }
  return make_error(
      ErrorKind::bad_input,
      seal == Seal::broken
          ? "its checksum does not fit: it was changed on the way, so copy or send it again"
          : std::string("it has no checksum") + same_on_both_sides);
}

}  // namespace kernelpro::wire
