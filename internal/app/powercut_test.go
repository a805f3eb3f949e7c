//go:build torture && linux

package app_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTorturePowerCut cuts the power of a node on SQLite under 32 writers. When a
// process is killed, the kernel still has what it wrote; after a power cut only
// synced data is left.
func TestTorturePowerCut(t *testing.T) {
	disk := newDisk(t)
	c := newCampaign(t, 1, nodeStorage{data: filepath.Join(disk.mounted, "data")})
	testFaults(t, c, 30, func(t *testing.T) {
		c.end(t, func(n *node) { disk.cutPower(t, n) })
	})
	t.Logf("unsynced files lost: %d", disk.lost)
	if disk.lost == 0 {
		t.Error("no unsynced file was lost: the power cut was not simulated")
	}
}

// disk is an ext4 file system in a file. That file is on XFS, which can clone it
// atomically: the clone is what a disk holds after a power cut.
type disk struct {
	image, clone, mounted string
	cuts, lost            int
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: mounting file systems needs root")
	}
	for _, tool := range []string{"mkfs.xfs", "mkfs.ext4", "mount", "umount", "cp", "truncate"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT TESTED: %v (Debian packages xfsprogs and e2fsprogs)", err)
		}
	}
	folder := t.TempDir()
	host, below := filepath.Join(folder, "host.img"), filepath.Join(folder, "host")
	d := &disk{
		image: filepath.Join(below, "disk.img"), clone: filepath.Join(below, "cut.img"),
		mounted: filepath.Join(folder, "disk"),
	}
	for _, name := range []string{below, d.mounted} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, "truncate", "-s", "3G", host)
	shell(t, "mkfs.xfs", "-q", "-m", "reflink=1", host)
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop", host, below).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: cannot mount file systems: %v %s", err, out)
	}
	t.Cleanup(func() { unmount(t, below) })
	shell(t, "truncate", "-s", "1G", d.image)
	shell(t, "mkfs.ext4", "-q", d.image)
	shell(t, "mount", "-o", "loop", d.image, d.mounted)
	t.Cleanup(func() { unmount(t, d.mounted) })
	return d
}

// cutPower freezes the node, clones the disk, kills the node and mounts the clone.
func (d *disk) cutPower(t *testing.T, n *node) {
	t.Helper()
	d.cuts++
	unsynced, content := filepath.Join(d.mounted, fmt.Sprintf("unsynced-%d", d.cuts)), bytes.Repeat([]byte("x"), 4096)
	if err := os.WriteFile(unsynced, content, 0o600); err != nil {
		t.Fatal(err)
	}
	n.freeze(t)
	shell(t, "cp", "--reflink=always", d.image, d.clone)
	n.kill(t)
	unmount(t, d.mounted)
	if err := os.Rename(d.clone, d.image); err != nil {
		t.Fatal(err)
	}
	shell(t, "mount", "-o", "loop", d.image, d.mounted)
	if got, err := os.ReadFile(unsynced); err != nil || !bytes.Equal(got, content) {
		d.lost++
	}
}

// freeze stops the process and waits until all its threads are stopped.
func (n *node) freeze(t *testing.T) {
	t.Helper()
	if err := n.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 1_000 {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", n.cmd.Process.Pid))
		if err != nil || len(tasks) == 0 {
			t.Fatalf("the node is gone: %v", err)
		}
		if allStopped(tasks) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the node did not stop")
}

// allStopped reports whether all threads are stopped.
func allStopped(tasks []string) bool {
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // the thread ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if !strings.HasPrefix(rest, "T") {
			return false
		}
	}
	return true
}

func shell(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// unmount retries while the kernel reports that the file system is busy.
func unmount(t *testing.T, folder string) {
	t.Helper()
	var out []byte
	var err error
	for range 100 {
		if out, err = exec.Command("umount", folder).CombinedOutput(); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("umount %s: %v %s", folder, err, out)
}
