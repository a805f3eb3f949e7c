package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dray/internal/cli"
)

// asProgram is the environment variable that makes this test binary run as dray.
const asProgram = "DRAY_TEST_AS_PROGRAM"

// init runs dray instead of the tests if asProgram is set, as main of cmd/dray
// does.
func init() {
	if os.Getenv(asProgram) == "" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// program is an executable that runs as dray.
type program struct {
	path string
	env  []string
}

// thisProgram returns this test binary as the program.
func thisProgram(tb testing.TB) program {
	tb.Helper()
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return program{path: path, env: append(os.Environ(), asProgram+"=1")}
}

// buildProgram builds the program as `make build` does.
func buildProgram(tb testing.TB) program {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "dray")
	build := exec.CommandContext(tb.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "dray/cmd/dray")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build the program: %v\n%s", err, out)
	}
	return program{path: path}
}

// nodeStorage is where a node keeps its data.
type nodeStorage struct {
	data     string // folder; also for the master key when database is set
	database string // postgres:// URL
}

func (s nodeStorage) flags() []string {
	flags := []string{"--data", s.data}
	if s.database != "" {
		flags = append(flags, "--database", s.database, "--master-key-file", filepath.Join(s.data, "master.key"))
	}
	return flags
}

// node is a process that runs `dray serve`.
type node struct {
	cmd        *exec.Cmd
	address    string
	readyAfter time.Duration // from the start of the process
	logged     *tail
	ended      chan struct{} // closed when the process has exited
	ending     error         // result of Wait, once ended is closed
}

// startTimeout bounds a start on a slow machine.
const startTimeout = 2 * time.Minute

// startNode starts the program and waits until it is ready. The process is killed
// when the test ends.
func startNode(tb testing.TB, p program, storage nodeStorage) *node {
	tb.Helper()
	n := &node{logged: &tail{}, ended: make(chan struct{})}
	n.cmd = exec.Command(p.path, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", ""}, storage.flags()...)...)
	n.cmd.Env = p.env
	errs, err := n.cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	begin := time.Now()
	if err := n.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	addresses := make(chan string, 1)
	go func() {
		n.logged.follow(errs, addresses)
		n.ending = n.cmd.Wait()
		close(n.ended)
	}()
	tb.Cleanup(func() { n.kill(tb) })
	deadline := time.NewTimer(startTimeout)
	defer deadline.Stop()
	select {
	case n.address = <-addresses:
	case <-n.ended:
		tb.Fatalf("the node ended while it started: %v\n%s", n.ending, n.logged)
	case <-deadline.C:
		tb.Fatalf("the node did not listen within %v\n%s", startTimeout, n.logged)
	}
	for !n.ready() {
		select {
		case <-n.ended:
			tb.Fatalf("the node ended before it was ready: %v\n%s", n.ending, n.logged)
		case <-deadline.C:
			tb.Fatalf("the node was not ready within %v\n%s", startTimeout, n.logged)
		case <-time.After(time.Millisecond):
		}
	}
	n.readyAfter = time.Since(begin)
	return n
}

func (n *node) ready() bool {
	reply, err := http.Get("http://" + n.address + "/readyz")
	if err != nil {
		return false
	}
	reply.Body.Close()
	return reply.StatusCode == http.StatusOK
}

// call sends a request to the node, with an idempotency key if that is not empty.
func (n *node) call(tb testing.TB, key, method, path, body, idempotency string) (status int, reply []byte, err error) {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), method, "http://"+n.address+"/api/v2"+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	request.SetBasicAuth(key, "")
	if idempotency != "" {
		request.Header.Set("Idempotency-Key", idempotency)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	reply, err = io.ReadAll(response.Body)
	return response.StatusCode, reply, err
}

// kill kills the process and waits until it has exited.
func (n *node) kill(tb testing.TB) {
	tb.Helper()
	select {
	case <-n.ended:
		return
	default:
	}
	if err := n.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Errorf("kill the node: %v", err)
	}
	<-n.ended
}

// stop sends SIGTERM and returns how long the process took to exit. It fails the
// test if the exit code is not 0.
func (n *node) stop(tb testing.TB) time.Duration {
	tb.Helper()
	begin := time.Now()
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		tb.Fatalf("the node exited before it was stopped: %v\n%s", err, n.logged)
	}
	select {
	case <-n.ended:
	case <-time.After(longTimeout):
		tb.Fatalf("the node did not stop within %v\n%s", longTimeout, n.logged)
	}
	if n.ending != nil {
		tb.Fatalf("the node stopped with %v\n%s", n.ending, n.logged)
	}
	return time.Since(begin)
}

// resident returns the resident memory of the process, in bytes.
func (n *node) resident(tb testing.TB) int64 {
	tb.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.cmd.Process.Pid))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	tb.Fatal("no VmRSS in /proc")
	return 0
}

// command runs a command of the program on the node's data and returns what it
// printed.
func command(tb testing.TB, p program, storage nodeStorage, args ...string) []byte {
	tb.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(tb.Context(), p.path, append(args, storage.flags()...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, &out, &errs
	if err := cmd.Run(); err != nil {
		tb.Fatalf("dray %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.Bytes()
}

// newOrganization creates an organization with `dray org create` and returns its
// id and API key.
func newOrganization(tb testing.TB, p program, storage nodeStorage) (id, key string) {
	tb.Helper()
	out := command(tb, p, storage, "org", "create", "--name", "Torture", "--country", "US", "--timezone", "America/New_York", "--json")
	var made struct {
		Organization struct{ ID string }
		APIKey       string
	}
	if err := json.Unmarshal(out, &made); err != nil {
		tb.Fatalf("read %s: %v", out, err)
	}
	return made.Organization.ID, made.APIKey
}

// tail keeps the last lines of a node's log.
type tail struct {
	mu    sync.Mutex
	lines []string
}

// follow reads the log to its end and sends the node's address.
func (t *tail) follow(log io.Reader, addresses chan<- string) {
	scanner := bufio.NewScanner(log)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(scanner.Bytes(), &entry) == nil && entry.Msg == "serving" {
			addresses <- entry.Address
		}
		t.mu.Lock()
		if t.lines = append(t.lines, scanner.Text()); len(t.lines) > 50 {
			t.lines = t.lines[1:]
		}
		t.mu.Unlock()
	}
}

// String returns the lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
