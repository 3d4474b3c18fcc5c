// What happens to work, told to whoever listens: server-sent events. On the server's thread alone.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/http/server.hpp"

namespace kernelpro::serve {

class Events {
 public:
  Events();
  // From what came after `last_id` of it, as far as that is still there; all that is there where
  // that was an id of an earlier life of the service. `client`: events of its work alone; empty: of
  // all.
  void listen(const std::shared_ptr<http::Exchange>& exchange, const std::string& client,
              const std::string& work, const std::string& last_id);
  void tell(const std::string& client, const std::string& work, const std::string& name,
            const std::string& data);
  // Drops those who left; says something to the others now and then, so that nobody between takes
  // the connection for dead.
  void tick();
  // No more will come.
  void end();
  [[nodiscard]] std::size_t listeners() const { return listeners_.size(); }

 private:
  struct Told {
    std::int64_t number;
    std::string client;
    std::string work;
    std::string text;
  };
  struct Listener {
    std::shared_ptr<http::Exchange> exchange;
    std::string client;
    std::string work;
  };
  [[nodiscard]] static bool hears(const Listener& listener, const Told& told);

  // Ids are LIFE-NUMBER: the numbers begin anew with each start of the service.
  [[nodiscard]] std::int64_t number_of(const std::string& id) const;

  std::string life_;
  std::int64_t last_ = 0;
  std::deque<Told> told_;  // the newest
  std::vector<Listener> listeners_;
  std::int64_t spoke_ns_ = 0;
};

}  // namespace kernelpro::serve
