// From the values of a task.toml to a Task, without the files it names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/task.hpp"
#include "coordinator/task/table_reader.hpp"
#include "coordinator/task/toml_value.hpp"

namespace kernelpro {

constexpr int task_schema = 1;

class TaskReader {
 public:
  // Errors go to `errors`; the task is whole only when there are none.
  explicit TaskReader(FirstError& errors) : errors_(&errors) {}

  [[nodiscard]] Task read(const TomlValue& root);

 private:
  // Each element of the array of tables `key`; an error when it is something else.
  [[nodiscard]] static std::vector<const TomlValue*> tables(const TableReader& root,
                                                            const std::string& key);
  void read_axes(const TableReader& root);
  void read_input(const TomlValue& table);
  [[nodiscard]] ValueSpec read_values(const TableReader& input, DType dtype);
  [[nodiscard]] ValueSpec read_value_table(const TableReader& input, const TomlValue& table);
  void read_output(const TomlValue& table);
  void read_selection(const TomlValue& table);
  void check_selects(const TableReader& root);
  void read_scalar(const TomlValue& table);
  void read_tolerance(const TableReader& root);
  void read_work(const TableReader& root);
  void read_shapes(const TableReader& root);
  // The list of shapes `name`, all given axes in each.
  [[nodiscard]] std::vector<Axes> read_shape_list(const TableReader& shapes,
                                                  const std::string& name);
  void read_held_out(const TableReader& shapes);
  void read_reference(const TableReader& root);
  void read_entry(const TableReader& root);
  [[nodiscard]] ImplementationSpec read_implementation(const TomlValue& table,
                                                       const std::string& key);
  void read_implementations(const TableReader& root);
  void read_includes(const TableReader& root);

  // The given axes, which a table of sizes must name, all of them and nothing else.
  [[nodiscard]] std::vector<std::string> given_axes() const;
  void check_axes(const TableReader& reader, const TomlValue& table, const std::string& name);
  [[nodiscard]] static DType read_dtype(const TableReader& reader);
  // The table's `name`: a C identifier that no axis, tensor, selection or scalar has yet.
  [[nodiscard]] std::string read_name(const TableReader& reader);
  void claim_name(const std::string& name, int line, const std::string& key);

  FirstError* errors_;
  Task task_;
  std::map<std::string, int> lines_of_names_;
};

// "gemm(m, n, A)" as a function and its arguments, all plain names.
[[nodiscard]] Result<CallSpec> parse_call(const std::string& text);

}  // namespace kernelpro
