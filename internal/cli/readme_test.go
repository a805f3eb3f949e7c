package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// firstDelivery returns the commands of the section "A first delivery".
func firstDelivery(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(readme), "\n## A first delivery\n")
	_, block, fenced := strings.Cut(section, "\n```sh\n")
	block, _, closed := strings.Cut(block, "```\n")
	if !found || !fenced || !closed {
		t.Fatal("README.md has no commands for a first delivery")
	}
	return block
}

// TestReadmeFirstDelivery runs the commands of the README as they are, except for
// the port, against a server like that of `make run` with one simulated worker.
func TestReadmeFirstDelivery(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "grep", "cut", "head"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the README uses %s: %v", tool, err)
		}
	}
	block := firstDelivery(t)
	if n := strings.Count(block, "\n"); n > 10 {
		t.Errorf("a first delivery takes %d lines; the README promises ten", n)
	}
	folder := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(folder, "bin", "dray")); err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "DRAY_LISTEN="+address, "DRAY_ADMIN_LISTEN=")
		return cmd
	}
	ctx, stop := context.WithCancel(t.Context())
	server := run(ctx, "bin/dray", "demo", "--workers", "1")
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := server.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	awaitDemonstration(t, folder, address)

	script := run(t.Context(), "bash", "-euo", "pipefail", "-c", strings.ReplaceAll(block, "127.0.0.1:8080", address))
	if out, err := script.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("the commands of the README print something: %v\n%s", err, out)
	}
	key := run(t.Context(), "bin/dray", "key", "create", "--json")
	out, err := key.Output()
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ APIKey string }
	if err := json.Unmarshal(out, &made); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v2/tasks/all?from=1&state=3", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(made.APIKey, "")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var completed struct {
		Tasks []struct {
			Recipients        []struct{ Name string }
			CompletionDetails struct{ Success bool }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&completed); err != nil {
		t.Fatal(err)
	}
	delivered := false
	for _, task := range completed.Tasks { // the simulated worker may have completed others
		delivered = delivered || len(task.Recipients) > 0 && task.Recipients[0].Name == "Grace" && task.CompletionDetails.Success
	}
	if !delivered {
		t.Errorf("the delivery is not completed: %+v", completed)
	}
	text, err := run(t.Context(), "bin/dray", "outbox", "--to", "+12125550178").Output()
	if err != nil || !strings.Contains(string(text), "http://"+address+"/t/") {
		t.Errorf("the recipient got no link: %v\n%s", err, text)
	}
	watching, enough := context.WithCancel(t.Context())
	defer enough()
	tail := run(watching, "bin/dray", "tail", "--since", "0")
	lines, err := tail.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tail.Start(); err != nil {
		t.Fatal(err)
	}
	steps := bufio.NewScanner(lines)
	for steps.Scan() && !strings.Contains(steps.Text(), "started · 112 Main Street · Rosa") {
	}
	if err := steps.Err(); err != nil || !strings.Contains(steps.Text(), "Rosa") {
		t.Errorf("dray tail does not show the start: %v, %q", err, steps.Text())
	}
	enough()
	_ = tail.Wait() // it was interrupted
}

// awaitDemonstration waits until a demonstration has started.
func awaitDemonstration(t *testing.T, folder, address string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, err := os.Stat(filepath.Join(folder, "dray-data", "demo.json"))
		if err == nil {
			var response *http.Response
			if response, err = http.Get("http://" + address + "/readyz"); err == nil {
				response.Body.Close()
				if response.StatusCode == http.StatusOK {
					return
				}
				err = errors.New(response.Status)
			}
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
