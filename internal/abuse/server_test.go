package abuse

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Memory of the process, in MiB. The Go runtime gets half of it, as in a container.
const (
	memoryLimit   = 512
	goMemoryLimit = memoryLimit / 2
)

// buildProgram builds the program as `make build` does.
func buildProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dray")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "dray/cmd/dray")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	return path
}

// limiter is a way to run a command with little memory.
type limiter struct {
	name    string
	command []string // prefix of a command that runs in the same process
}

// findLimiter returns the first limiter that works on this machine.
func findLimiter(t *testing.T) limiter {
	t.Helper()
	group := newGroup(t)
	for _, l := range []limiter{
		{
			name:    fmt.Sprintf("a control group of %d MiB", memoryLimit),
			command: []string{"sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, group},
		},
		{
			name: fmt.Sprintf("a control group of %d MiB (systemd-run)", memoryLimit),
			command: []string{
				"systemd-run", "--scope", "--quiet", "--collect",
				fmt.Sprintf("--property=MemoryMax=%dM", memoryLimit), "--property=MemorySwapMax=0", "--",
			},
		},
		{
			// A resource limit would count memory that was given back to the system, so
			// watchMemory kills the program instead, as soon as it sees that it uses more
			// than the limit. The program cannot know that limit.
			name:    fmt.Sprintf("killing the program when it uses more than %d MiB, with GOMEMLIMIT=%dMiB", memoryLimit, goMemoryLimit),
			command: []string{"env", fmt.Sprintf("GOMEMLIMIT=%dMiB", goMemoryLimit)},
		},
	} {
		if exec.CommandContext(t.Context(), l.command[0], append(l.command[1:], "true")...).Run() == nil {
			return l
		}
	}
	t.Fatal("there is no way to limit the memory of a process here")
	return limiter{}
}

// newGroup creates a control group of version 1 that is limited to memoryLimit, and returns
// its folder, or one that does not exist if the group cannot be created.
func newGroup(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("/sys/fs/cgroup/memory", fmt.Sprintf("dray-abuse-%d", os.Getpid()))
	if os.Mkdir(folder, 0o755) == nil { // as the other groups
		t.Cleanup(func() { os.Remove(folder) })
	}
	limit := strconv.Itoa(memoryLimit << 20)
	if os.WriteFile(filepath.Join(folder, "memory.limit_in_bytes"), []byte(limit), 0o600) != nil {
		return "/nonexistent"
	}
	//nolint:errcheck // not every kernel counts memory with swap
	os.WriteFile(filepath.Join(folder, "memory.memsw.limit_in_bytes"), []byte(limit), 0o600)
	return folder
}

// server is the program, with its data, as a process that can be restarted.
type server struct {
	program string
	limits  limiter
	storage []string // flags
	extra   []string // flags of serve

	address string
	cmd     *exec.Cmd
	ended   chan struct{}
	peak    atomic.Int64 // maximum anonymous memory since it was reset, in bytes
	stopped sync.WaitGroup
	log     *os.File
}

// newServer starts the program with a database: a postgres:// URL, or "" for SQLite. The
// program is killed when the test ends.
func newServer(t *testing.T, program, database string, extra ...string) *server {
	t.Helper()
	data := t.TempDir()
	s := &server{program: program, limits: findLimiter(t), storage: []string{"--data", data}, extra: extra, address: "127.0.0.1:0"}
	if database != "" {
		s.storage = append(s.storage, "--database", database, "--master-key-file", filepath.Join(data, "master.key"))
	}
	var err error
	if s.log, err = os.Create(filepath.Join(data, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end(syscall.SIGKILL); s.log.Close() })
	t.Logf("memory is limited by %s", s.limits.name)
	s.start(t)
	return s
}

// start starts the process on the address it had before and waits until it is
// ready.
func (s *server) start(t *testing.T) {
	t.Helper()
	args := append(s.limits.command[1:], s.program, "serve", "--listen", s.address, "--admin-listen", "")
	s.cmd = exec.Command(s.limits.command[0], append(append(args, s.storage...), s.extra...)...)
	errs, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.ended = make(chan struct{})
	addresses := make(chan string, 1)
	s.stopped.Go(func() {
		defer close(s.ended)
		follow(io.TeeReader(errs, s.log), addresses)
		s.cmd.Wait() //nolint:errcheck // the log says why it ended
	})
	s.stopped.Go(s.watchMemory)
	select {
	case s.address = <-addresses:
	case <-s.ended:
		t.Fatalf("the program ended while it started:\n%s", s.lastLines())
	case <-time.After(time.Minute):
		t.Fatalf("the program did not start within a minute:\n%s", s.lastLines())
	}
	for deadline := time.Now().Add(time.Minute); !s.ready(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) || !s.alive() {
			t.Fatalf("the program did not become ready:\n%s", s.lastLines())
		}
	}
}

// follow reads the log to its end and sends the address that the program serves.
func follow(log io.Reader, addresses chan<- string) {
	scanner := bufio.NewScanner(log)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(scanner.Bytes(), &entry) == nil && entry.Msg == "serving" {
			addresses <- entry.Address
		}
	}
	io.Copy(io.Discard, log) //nolint:errcheck // a line was too long; the rest is in the file
}

func (s *server) ready() bool {
	response, err := http.Get("http://" + s.address + "/readyz")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// alive reports whether the process runs.
func (s *server) alive() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// end sends a signal to the process and waits until it has ended.
func (s *server) end(signal os.Signal) {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	s.cmd.Process.Signal(signal) //nolint:errcheck // it may have ended
	s.stopped.Wait()
}

// watchMemory records the maximum memory of the process, and kills it beyond the limit, as a
// container would.
func (s *server) watchMemory() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-tick.C:
		}
		now := s.anonymous()
		s.peak.Store(max(now, s.peak.Load()))
		if now > memoryLimit<<20 {
			fmt.Fprintf(s.log, "killed: it used %d MiB\n", now>>20)
			s.cmd.Process.Kill() //nolint:errcheck // it may have ended
			return
		}
	}
}

// anonymous returns the resident memory of the process, in bytes, without files: the
// kernel can drop those, and SQLite maps its file once for each connection.
func (s *server) anonymous() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

// lastLines returns the end of the log.
func (s *server) lastLines() string {
	text, _ := os.ReadFile(s.log.Name())
	return string(text[max(0, len(text)-8000):])
}

// errors returns the errors in the log, each with the number of its occurrences.
func (s *server) errors() map[string]int {
	text, _ := os.ReadFile(s.log.Name())
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var entry struct{ Level, Msg, Route, Error string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Level == "ERROR" {
			counts[fmt.Sprintf("%s %s: %.150s", entry.Msg, entry.Route, entry.Error)]++
		}
	}
	return counts
}

// ending returns why the process ended.
func (s *server) ending() string {
	text, _ := os.ReadFile(s.log.Name())
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "fatal error") || strings.HasPrefix(line, "panic") || strings.HasPrefix(line, "killed") {
			return line
		}
	}
	return s.lastLines()
}

// run runs a command of the program on the server's data.
func (s *server) run(t *testing.T, reply any, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), s.program, append(append(args, "--json"), s.storage...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("dray %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), reply); err != nil {
		t.Fatalf("dray %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
}
