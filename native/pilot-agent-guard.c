/*
 * Does what Node cannot do for an agent, on a machine without a shell and tools:
 *
 *   pilot-agent-guard fifo PATH                   makes a FIFO, mode 0600
 *   pilot-agent-guard run PARENT PROGRAM [ARG…]   becomes a program that is killed with its parent
 *   pilot-agent-guard reap                        waits for the end of its input, then kills each
 *                                                 process with PILOT_AGENT_BASE_ID among its
 *                                                 arguments, and removes their shared memory
 *
 * It is small and runs with any C library, because it needs none: only the kernel of Linux, on
 * x86-64 or arm64. scripts/build-guard.mjs compiles it.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>
#include <linux/signal.h>
#include <linux/stat.h>

/* The kernel gives `start` a stack with the count of arguments, the arguments and the variables. */
#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n mov %rsp, %rdi\n and $-16, %rsp\n call start\n");
static long call(long number, long a, long b, long c, long d) {
  long result;
  register long fourth __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n mov x0, sp\n bl start\n");
static long call(long number, long a, long b, long c, long d) {
  register long eighth __asm__("x8") = number;
  register long first __asm__("x0") = a, second __asm__("x1") = b, third __asm__("x2") = c, fourth __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(first) : "r"(eighth), "r"(second), "r"(third), "r"(fourth) : "memory");
  return first;
}
#else
#error "for x86-64 and arm64"
#endif

/* The shell's exit codes for a program that cannot be executed. The agent knows them. */
enum { USAGE = 64, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

/* An entry of a folder, as getdents64 writes it. */
struct entry {
  unsigned long inode, offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

static char arguments[2 << 20]; /* of another process: the kernel allows no more */

static long length(const char *text) {
  long size = 0;
  while (text[size]) size++;
  return size;
}

static int begins(const char *text, const char *with) {
  while (*with) if (*text++ != *with++) return 0;
  return 1;
}

static int same(const char *one, const char *other) {
  return begins(one, other) && length(one) == length(other);
}

static char *append(char *end, const char *text) {
  while (*text) *end++ = *text++;
  *end = 0;
  return end;
}

/* Returns a number of at most INT_MAX, or -1. To `kill`, 0 and 1 mean other processes. */
static long number(const char *text) {
  long value = 0;
  if (!*text) return -1;
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || value > 200000000) return -1;
    value = value * 10 + *text - '0';
  }
  return value;
}

static void say(const char *text) { call(__NR_write, 2, (long)text, length(text), 0); }

static int fail(const char *what, const char *path, long error, int code) {
  say("pilot-agent-guard: "), say(what), say(" "), say(path), say(": ");
  say(error == -ENOENT ? "it does not exist" : error == -EACCES ? "this user may not" : error == -ENOEXEC ? "it is no program" : "the system refuses");
  say("\n");
  return code;
}

static int makeFifo(const char *path) {
  long error = call(__NR_mknodat, AT_FDCWD, (long)path, S_IFIFO | 0600, 0);
  return error ? fail("cannot make", path, error, 1) : 0;
}

static int run(const char *parent, char **command, char **variables) {
  call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
  /* A parent that died before this call sends no signal. */
  if (call(__NR_getppid, 0, 0, 0, 0) != number(parent)) return 1;
  long error = call(__NR_execve, (long)command[0], (long)command, (long)variables, 0);
  return fail("cannot execute", command[0], error, error == -ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/* Calls `each` with each name in a folder, and with `wanted`. */
static void list(const char *folder, void (*each)(const char *folder, const char *name, const char *wanted), const char *wanted) {
  static char entries[32 << 10];
  long from = call(__NR_openat, AT_FDCWD, (long)folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (from < 0) return;
  for (long size; (size = call(__NR_getdents64, from, (long)entries, sizeof entries, 0)) > 0;)
    for (long at = 0; at < size; at += ((struct entry *)(entries + at))->size) each(folder, ((struct entry *)(entries + at))->name, wanted);
  call(__NR_close, from, 0, 0, 0);
}

static void killIfItHas(const char *folder, const char *name, const char *argument) {
  long process = number(name), size = 0, piece;
  if (process <= 1) return;
  char path[64];
  append(append(append(append(path, folder), "/"), name), "/cmdline");
  long from = call(__NR_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
  if (from < 0) return;
  while ((piece = call(__NR_read, from, (long)(arguments + size), sizeof arguments - 1 - size, 0)) > 0) size += piece;
  call(__NR_close, from, 0, 0, 0);
  arguments[size] = 0;
  for (const char *at = arguments; at < arguments + size; at += length(at) + 1)
    if (same(at, argument)) {
      call(__NR_kill, process, SIGKILL, 0, 0);
      return;
    }
}

static void removeIfItBegins(const char *folder, const char *name, const char *with) {
  char path[4096 + 256];
  if (!begins(name, with)) return;
  append(append(append(path, folder), "/"), name);
  call(__NR_unlinkat, AT_FDCWD, (long)path, 0, 0);
}

static const char *variable(char **variables, const char *name) {
  for (; *variables; variables++)
    if (begins(*variables, name) && (*variables)[length(name)] == '=') return *variables + length(name) + 1;
  return "";
}

static int reap(char **variables) {
  const char *baseId = variable(variables, "PILOT_AGENT_BASE_ID"), *sockets = variable(variables, "PILOT_AGENT_SOCKETS");
  if (number(baseId) < 0 || length(sockets) > 4000) return USAGE;
  char ignored[64], reserved[64];
  long size;
  do size = call(__NR_read, 0, (long)ignored, sizeof ignored, 0);
  while (size > 0 || size == -EINTR);
  list("/proc", killIfItHas, baseId);
  call(__NR_unlinkat, AT_FDCWD, (long)variable(variables, "PILOT_AGENT_SHARED_MEMORY"), 0, 0);
  append(append(append(reserved, "pilot-agent-"), baseId), "-");
  list("/dev/shm", removeIfItBegins, reserved);
  list(sockets, removeIfItBegins, "s_");
  call(__NR_unlinkat, AT_FDCWD, (long)sockets, AT_REMOVEDIR, 0);
  return 0;
}

__attribute__((used)) void start(long *stack) {
  long count = stack[0];
  char **words = (char **)(stack + 1), **variables = words + count + 1;
  int code = USAGE;
  if (count == 3 && same(words[1], "fifo")) code = makeFifo(words[2]);
  else if (count >= 4 && same(words[1], "run")) code = run(words[2], words + 3, variables);
  else if (count == 2 && same(words[1], "reap")) code = reap(variables);
  else say("pilot-agent-guard: a part of pilot-agent: fifo PATH, run PARENT PROGRAM [ARG...], or reap\n");
  call(__NR_exit_group, code, 0, 0, 0);
}
