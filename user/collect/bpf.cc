#include "user/collect/bpf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "inject.skel.h"
#include "ledger.skel.h"
#include "ledger_symbols.skel.h"
#include "user/collect/clock.h"

namespace irqprof {
namespace {

constexpr char kBtfPath[] = "/sys/kernel/btf/vmlinux";

// What libbpf complained of first, for the one sentence a user gets; what follows
// are its consequences, and can be megabytes of verifier log.
std::string& FirstWarning() {
  static std::string warning;
  return warning;
}

int KeepWarning(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN || !FirstWarning().empty()) return 0;
  char line[256];
  vsnprintf(line, sizeof(line), format, arguments);
  if (char* end = strchr(line, '\n')) *end = '\0';
  FirstWarning() = line;
  return 0;
}

absl::Status Refused(const std::string& step, int error) {
  if (error == EPERM || error == EACCES)
    return absl::PermissionDeniedError(
        absl::StrCat(step, " was refused (", strerror(error),
                     "): run as root, or give the program CAP_BPF and CAP_PERFMON"));
  return absl::UnavailableError(
      absl::StrCat(step, " failed: ", strerror(error),
                   FirstWarning().empty() ? "" : absl::StrCat(" (", FirstWarning(), ")")));
}

struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
struct DestroyLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
struct FreeBtf {
  void operator()(btf* btf) const { btf__free(btf); }
};
using ObjectPtr = std::unique_ptr<bpf_object, CloseObject>;
using LinkPtr = std::unique_ptr<bpf_link, DestroyLink>;
using BtfPtr = std::unique_ptr<btf, FreeBtf>;

bool HasTracepoint(const btf* kernel, const std::string& name) {
  return btf__find_by_name_kind(kernel, ("btf_trace_" + name).c_str(), BTF_KIND_TYPEDEF) >= 0;
}

bool HasVariable(const btf* kernel, const char* name) {
  return btf__find_by_name_kind(kernel, name, BTF_KIND_VAR) >= 0;
}

// The pair that tells an interrupt's exit from a task's own softirqs.
bool NamesPercpuSymbols(const btf* kernel) {
  bool pending = HasVariable(kernel, "irq_stat") || HasVariable(kernel, "__softirq_pending");
  return HasVariable(kernel, "pcpu_hot") || (HasVariable(kernel, "__preempt_count") && pending);
}

std::string HookOf(const bpf_program* program) {
  std::string section = bpf_program__section_name(program);
  return section.substr(section.find('/') + 1);
}

// Without these there is no ledger; everything else refines.
bool Required(const std::string& hook) {
  return absl::StartsWith(hook, "irq_handler_") || hook == "softirq_entry" ||
         hook == "softirq_exit" || hook == "sched_switch";
}

// A map's memory in this process.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != nullptr) munmap(data_, size_);
  }

  absl::Status Open(int map_fd, size_t size, int protection) {
    void* data = mmap(nullptr, size, protection, MAP_SHARED, map_fd, 0);
    if (data == MAP_FAILED) return Refused("mapping a BPF map", errno);
    data_ = static_cast<char*>(data);
    size_ = size;
    return absl::OkStatus();
  }

  // The writable globals of a loaded object, in the order of its source.
  absl::Status OpenGlobals(bpf_object* object) {
    bpf_map* map = nullptr;
    bpf_object__for_each_map(map, object) {
      if (absl::EndsWith(bpf_map__name(map), ".bss"))
        return Open(bpf_map__fd(map), bpf_map__value_size(map), PROT_READ | PROT_WRITE);
    }
    return absl::InternalError("the BPF object has no globals");
  }

  char* data() const { return data_; }
  uint64_t* words() const { return reinterpret_cast<uint64_t*>(data_); }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
};

template <typename Key, typename Visit>
void ForEachKey(int map_fd, Visit visit) {
  Key key{}, next{};
  // the first key is asked for with null: a zero key may exist and be skipped
  int error = bpf_map_get_next_key(map_fd, nullptr, &next);
  while (error == 0) {
    key = next;
    visit(key);
    error = bpf_map_get_next_key(map_fd, &key, &next);
  }
}

}  // namespace

absl::Status CheckBpfUsable() {
  libbpf_set_print(KeepWarning);
  if (access(kBtfPath, R_OK) != 0)
    return absl::FailedPreconditionError(
        absl::StrCat("cannot read ", kBtfPath,
                     ": this kernel has no BTF; boot one built with CONFIG_DEBUG_INFO_BTF=y"));
  return absl::OkStatus();
}

struct BpfLedger::Impl {
  ObjectPtr object;
  std::vector<LinkPtr> links;
  std::vector<int> program_fds;
  Mapping globals;  // armed_ns
  Mapping accounts;
  size_t account_stride = 0;
  int tasks_fd = -1;
};

BpfLedger::BpfLedger() : impl_(std::make_unique<Impl>()) {}

BpfLedger::~BpfLedger() = default;

namespace {

absl::StatusOr<ObjectPtr> LoadObject(const void* bytes, size_t size, const btf* kernel,
                                     int possible_cpus, std::vector<std::string>* absent) {
  absent->clear();
  ObjectPtr object(bpf_object__open_mem(bytes, size, nullptr));
  if (object == nullptr) return Refused("opening the BPF object", errno);
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object.get()) {
    std::string hook = HookOf(program);
    if (HasTracepoint(kernel, hook)) continue;
    if (Required(hook))
      return absl::FailedPreconditionError(
          absl::StrCat("this kernel's BTF has no tracepoint ", hook,
                       ": boot a kernel with CONFIG_TRACEPOINTS=y and CONFIG_DEBUG_INFO_BTF=y"));
    bpf_program__set_autoload(program, false);
    absent->push_back(hook);
  }
  bpf_map__set_max_entries(bpf_object__find_map_by_name(object.get(), "cpu_accounts"),
                           possible_cpus);
  if (int error = bpf_object__load(object.get()))
    return Refused("loading the BPF programs", -error);
  return object;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BpfLedger>> BpfLedger::Attach(int possible_cpus) {
  if (absl::Status usable = CheckBpfUsable(); !usable.ok()) return usable;
  BtfPtr kernel(btf__load_vmlinux_btf());
  if (kernel == nullptr) return Refused("reading the kernel's BTF", errno);

  std::unique_ptr<BpfLedger> ledger(new BpfLedger());
  Impl& impl = *ledger->impl_;
  size_t size = 0;
  if (NamesPercpuSymbols(kernel.get())) {
    const void* bytes = ledger_symbols__elf_bytes(&size);
    auto object = LoadObject(bytes, size, kernel.get(), possible_cpus, &ledger->absent_hooks_);
    if (object.ok()) impl.object = std::move(*object);
    ledger->has_percpu_symbols_ = object.ok();
  }
  if (impl.object == nullptr) {
    const void* bytes = ledger__elf_bytes(&size);
    auto object = LoadObject(bytes, size, kernel.get(), possible_cpus, &ledger->absent_hooks_);
    if (!object.ok()) return object.status();
    impl.object = std::move(*object);
  }

  bpf_map* accounts = bpf_object__find_map_by_name(impl.object.get(), "cpu_accounts");
  impl.account_stride = (sizeof(cpu_account) + 7) / 8 * 8;
  absl::Status mapped =
      impl.accounts.Open(bpf_map__fd(accounts), impl.account_stride * possible_cpus, PROT_READ);
  mapped.Update(impl.globals.OpenGlobals(impl.object.get()));
  if (!mapped.ok()) return mapped;
  impl.tasks_fd = bpf_object__find_map_fd_by_name(impl.object.get(), "task_accounts");

  // Exits first: an entry whose exit is not attached yet would stay open.
  for (bool exits : {true, false}) {
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, impl.object.get()) {
      std::string hook = HookOf(program);
      if (!bpf_program__autoload(program) || absl::EndsWith(hook, "_exit") != exits) continue;
      bpf_link* link = bpf_program__attach(program);
      if (link == nullptr) return Refused(absl::StrCat("attaching to ", hook), errno);
      impl.links.emplace_back(link);
      impl.program_fds.push_back(bpf_program__fd(program));
    }
  }
  return ledger;
}

uint64_t BpfLedger::Arm() {
  uint64_t now_ns = MonotonicNs();
  __atomic_store_n(impl_->globals.words(), now_ns, __ATOMIC_SEQ_CST);
  return now_ns;
}

const volatile cpu_account* BpfLedger::Account(int cpu) const {
  return reinterpret_cast<const volatile cpu_account*>(impl_->accounts.data() +
                                                       cpu * impl_->account_stride);
}

std::vector<TaskSnapshot> BpfLedger::ReadTasks(uint64_t* torn) const {
  std::vector<TaskSnapshot> tasks;
  ForEachKey<task_key>(impl_->tasks_fd, [&](const task_key& key) {
    if (auto task = ReadTask(key, torn)) tasks.push_back(*task);
  });
  return tasks;
}

std::optional<TaskSnapshot> BpfLedger::ReadTask(const task_key& key, uint64_t* torn) const {
  TaskSnapshot first{key, {}, 0}, second{key, {}, 0};
  // Written with interrupts off on another CPU: a copy is good when no write
  // was under way and a second copy is the same.
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (bpf_map_lookup_elem(impl_->tasks_fd, &key, &first.account) != 0) return std::nullopt;
    if (bpf_map_lookup_elem(impl_->tasks_fd, &key, &second.account) != 0) return std::nullopt;
    if (first.account.writes_begun == first.account.writes_ended &&
        memcmp(&first.account, &second.account, sizeof(first.account)) == 0)
      return first;
  }
  ++*torn;
  return std::nullopt;
}

uint64_t BpfLedger::RecursionMisses() const {
  uint64_t misses = 0;
  for (int fd : impl_->program_fds) {
    bpf_prog_info info{};
    __u32 size = sizeof(info);
    if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0) misses += info.recursion_misses;
  }
  return misses;
}

struct BpfInjector::Impl {
  ObjectPtr object;
  Mapping globals;  // spin_ns, injected_ns
  int event_fd = -1;
};

BpfInjector::BpfInjector() : impl_(std::make_unique<Impl>()) {}

BpfInjector::~BpfInjector() {
  if (impl_->event_fd >= 0) close(impl_->event_fd);
}

absl::StatusOr<std::unique_ptr<BpfInjector>> BpfInjector::Start(int cpu, uint64_t spin_ns,
                                                                uint64_t period_ns) {
  if (absl::Status usable = CheckBpfUsable(); !usable.ok()) return usable;
  std::unique_ptr<BpfInjector> injector(new BpfInjector());
  Impl& impl = *injector->impl_;
  size_t size = 0;
  const void* bytes = inject__elf_bytes(&size);
  impl.object.reset(bpf_object__open_mem(bytes, size, nullptr));
  if (impl.object == nullptr) return Refused("opening the injector", errno);
  if (int error = bpf_object__load(impl.object.get()))
    return Refused("loading the injector", -error);
  if (absl::Status mapped = impl.globals.OpenGlobals(impl.object.get()); !mapped.ok())
    return mapped;
  impl.globals.words()[0] = spin_ns;

  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = period_ns;
  impl.event_fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (impl.event_fd < 0) return Refused("opening a cpu-clock event", errno);
  bpf_program* program = bpf_object__find_program_by_name(impl.object.get(), "on_cpu_clock");
  if (ioctl(impl.event_fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(program)) != 0 ||
      ioctl(impl.event_fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
    return Refused("starting the injector", errno);
  return injector;
}

uint64_t BpfInjector::injected_ns() const {
  return __atomic_load_n(&impl_->globals.words()[1], __ATOMIC_RELAXED);
}

}  // namespace irqprof
