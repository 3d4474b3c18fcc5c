#include "coordinator/serve/events.hpp"

#include <fmt/format.h>

#include <charconv>

#include "common/base/clock.hpp"
#include "common/base/random.hpp"

namespace kernelpro::serve {

namespace {

constexpr std::size_t most_kept = 2000;
constexpr std::int64_t silence_ns = 15'000 * ns_per_ms;

}  // namespace

Events::Events() : life_(fmt::format("{:08x}", secret_seed() >> 32U)) {}

std::int64_t Events::number_of(const std::string& id) const {
  std::int64_t number = 0;
  if (id.starts_with(life_ + "-")) {
    std::from_chars(id.data() + life_.size() + 1, id.data() + id.size(), number);
  }
  return number;
}

bool Events::hears(const Listener& listener, const Told& told) {
  return (listener.client.empty() || listener.client == told.client) &&
         (listener.work.empty() || listener.work == told.work);
}

void Events::listen(const std::shared_ptr<http::Exchange>& exchange, const std::string& client,
                    const std::string& work, const std::string& last_id) {
  exchange->begin({200, "text/event-stream", "", {{"Cache-Control", "no-store"}}});
  exchange->send(": what happens from here on\n\n");
  const Listener listener{exchange, client, work};
  const std::int64_t seen = number_of(last_id);
  for (const Told& told : told_) {
    if (!last_id.empty() && told.number > seen && hears(listener, told)) {
      exchange->send(told.text);
    }
  }
  listeners_.push_back(listener);
}

void Events::tell(const std::string& client, const std::string& work, const std::string& name,
                  const std::string& data) {
  ++last_;
  told_.push_back(
      {last_, client, work, http::event_of(fmt::format("{}-{}", life_, last_), name, data)});
  if (told_.size() > most_kept) {
    told_.pop_front();
  }
  for (const Listener& listener : listeners_) {
    if (hears(listener, told_.back())) {
      listener.exchange->send(told_.back().text);
    }
  }
}

void Events::tick() {
  std::erase_if(listeners_, [](const Listener& one) {
    return one.exchange->gone() || !one.exchange->streaming();
  });
  if (now_ns() - spoke_ns_ > silence_ns) {
    spoke_ns_ = now_ns();
    for (const Listener& listener : listeners_) {
      listener.exchange->send(": still here\n\n");
    }
  }
}

void Events::end() {
  for (const Listener& listener : listeners_) {
    listener.exchange->end();
  }
  listeners_.clear();
}

}  // namespace kernelpro::serve
