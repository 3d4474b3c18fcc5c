// The loop's journal: one run of a store.
#pragma once

#include <string>

#include "coordinator/loop/partners.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

class StoreJournal : public Journal {
 public:
  StoreJournal(Store& store, std::string run) : store_(store), run_(std::move(run)) {}

  [[nodiscard]] Status proposed(const Node& node, const std::string& source) override {
    return store_.add_node(run_, node, source);
  }
  [[nodiscard]] Status chosen(const Node& node) override { return store_.choose_node(run_, node); }
  [[nodiscard]] Status written(const Node& node, const std::string& source) override {
    return store_.write_node(run_, node, source);
  }
  [[nodiscard]] Status answered(const Node& node, const Certificate& certificate) override {
    return store_.finish_node(run_, node, &certificate);
  }
  [[nodiscard]] Status ended(const Node& node, const Certificate* certificate) override {
    return store_.finish_node(run_, node, certificate);
  }
  [[nodiscard]] Status closed(const Closure& closure) override {
    return store_.add_closure(run_, closure);
  }
  [[nodiscard]] Result<std::string> source(const std::string& hash) override {
    return store_.load_source(hash);
  }
  [[nodiscard]] Result<std::optional<Certificate>> certificate(NodeId node) override {
    return store_.load_certificate(run_, node);
  }

  [[nodiscard]] Status recalled(const Recollection& recollection) override {
    return store_.keep_recollection(run_, recollection);
  }

 private:
  Store& store_;
  std::string run_;
};

}  // namespace kernelpro
