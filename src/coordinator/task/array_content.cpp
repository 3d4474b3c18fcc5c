#include "coordinator/task/array_content.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace kernelpro {
namespace {

template <typename T>
void append_as(std::string& content, double value) {
  const T number = static_cast<T>(value);
  content.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_number(std::string& content, DType dtype, double value) {
  switch (dtype) {
    case DType::f64:
      append_as<double>(content, value);
      break;
    case DType::i64:
      append_as<std::int64_t>(content, value);
      break;
    case DType::i32:
      append_as<std::int32_t>(content, value);
      break;
    case DType::i16:
      append_as<std::int16_t>(content, value);
      break;
    case DType::i8:
      append_as<std::int8_t>(content, value);
      break;
    case DType::u8:
      append_as<std::uint8_t>(content, value);
      break;
    default:
      append_as<float>(content, value);
  }
}

}  // namespace

std::optional<std::string> ArrayContent::draw(const TensorSpec& spec, std::int64_t count,
                                              const Axes& axes) {
  if (const auto known = drawn_.find(spec.name); known != drawn_.end()) {
    return known->second;
  }
  const auto values = numbers_of(spec, count, axes);
  if (!values) {
    return {};
  }
  std::string content;
  for (const double value : *values) {
    append_number(content, spec.dtype, value);
  }
  drawn_[spec.name] = content;
  numbers_[spec.name] = *values;
  return content;
}

std::string ArrayContent::rubbish(std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), 0);
  std::ranges::generate(text, [this] { return static_cast<char>(below(100)); });
  return text;
}

double ArrayContent::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - random_.unit()));
  return radius * std::cos(2 * std::numbers::pi * random_.unit());
}

std::int64_t ArrayContent::below(std::int64_t bound) {
  return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound)));
}

std::optional<ArrayContent::Numbers> ArrayContent::numbers_of(const TensorSpec& spec,
                                                              std::int64_t count,
                                                              const Axes& axes) {
  const ValueSpec& values = spec.values;
  Numbers out(static_cast<std::size_t>(count));
  const bool whole = !is_floating(spec.dtype);
  const auto fill = [&out, whole](auto one) {
    std::ranges::generate(out, [&] { return whole ? std::floor(one()) : one(); });
  };
  const auto evaluated = values.bound.evaluate_size(axes);
  const std::int64_t bound = evaluated.ok() ? *evaluated : 0;
  switch (values.kind) {
    case ValueKind::uniform:
      fill([&] { return values.low + (values.high - values.low) * random_.unit(); });
      return out;
    case ValueKind::index:
      if (bound <= 0 && count > 0) {
        return {};
      }
      fill([&] { return static_cast<double>(below(bound)); });
      return out;
    case ValueKind::offsets:
      return offsets(std::move(out), bound);
    case ValueKind::csr_columns:
      return columns(std::move(out), values.rows_of, bound);
    default:
      fill([&] { return whole ? 8 * normal() : normal(); });
      return out;
  }
}

std::optional<ArrayContent::Numbers> ArrayContent::offsets(Numbers out, std::int64_t total) {
  if (out.size() == 1 && total > 0) {
    return {};
  }
  std::ranges::generate(out, [&] { return static_cast<double>(below(total + 1)); });
  std::ranges::sort(out);
  if (!out.empty()) {
    out.front() = 0;
    out.back() = static_cast<double>(total);
  }
  return out;
}

std::optional<ArrayContent::Numbers> ArrayContent::columns(Numbers out, const std::string& rows_of,
                                                           std::int64_t bound) {
  const auto rows = numbers_.find(rows_of);
  if (rows == numbers_.end() || (bound <= 0 && !out.empty())) {
    return {};
  }
  for (std::size_t row = 0; row + 1 < rows->second.size(); ++row) {
    const auto first = static_cast<std::size_t>(rows->second[row]);
    const auto last = static_cast<std::size_t>(rows->second[row + 1]);
    fill_row(out, first, std::min(last, out.size()), bound);
  }
  return out;
}

// Rising; distinct where there are as many columns.
void ArrayContent::fill_row(Numbers& out, std::size_t first, std::size_t last, std::int64_t bound) {
  auto wanted = static_cast<std::int64_t>(last) - static_cast<std::int64_t>(first);
  std::size_t at = first;
  for (std::int64_t column = 0; column < bound && wanted <= bound && wanted > 0; ++column) {
    if (below(bound - column) < wanted) {
      out[at++] = static_cast<double>(column);
      --wanted;
    }
  }
  for (; at < last; ++at) {
    const std::int64_t column =
        static_cast<std::int64_t>(at - first) * bound / static_cast<std::int64_t>(last - first);
    out[at] = static_cast<double>(column);
  }
}

}  // namespace kernelpro
