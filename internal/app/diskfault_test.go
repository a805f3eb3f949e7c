//go:build torture && linux

package app_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestTortureDiskFault makes an fsync of a node on SQLite fail under 32 writers.
// The node must exit at once with status 74: the kernel may have dropped what it
// could not write, and the next fsync would seem to succeed.
func TestTortureDiskFault(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skipf("NOT TESTED: %v (Debian package strace)", err)
	}
	c := newCampaign(t, 1, nodeStorage{data: filepath.Join(t.TempDir(), "data")})
	round := 0
	testFaults(t, c, 40, func(t *testing.T) {
		round++
		c.end(t, func(n *node) { n.failSync(t, round) })
	})
}

// failSync makes the nth fsync of the node fail, and all after it succeed.
func (n *node) failSync(t *testing.T, nth int) {
	t.Helper()
	trace := exec.CommandContext(t.Context(), "strace", "-f", "-q", "-o", "/dev/null", "-p", fmt.Sprint(n.cmd.Process.Pid),
		"-e", "trace=fsync", "-e", fmt.Sprintf("inject=fsync:error=EIO:when=%d", nth))
	if err := trace.Start(); err != nil {
		t.Fatal(err)
	}
	defer trace.Wait() //nolint:errcheck // it ends with the node
	select {
	case <-n.ended:
	case <-time.After(startTimeout):
		t.Fatalf("the disk failed, and the node went on\n%s", n.logged)
	}
	if ending, ok := errors.AsType[*exec.ExitError](n.ending); !ok || ending.ExitCode() != 74 {
		t.Errorf("the disk failed, and the node ended with %v, want exit status 74\n%s", n.ending, n.logged)
	}
}
