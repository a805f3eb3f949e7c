package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/store/engine"
)

// child starts this test binary in another role, on a folder.
func child(t *testing.T, role, folder string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "DRAY_TEST_CHILD="+role, "DRAY_TEST_FOLDER="+folder)
	cmd.Stderr = os.Stderr
	return cmd
}

// writeUntilKilled writes from 32 goroutines and prints every id whose write
// was acknowledged. Each operation writes two rows.
func writeUntilKilled() int {
	ctx := context.Background()
	e, err := Open(ctx, options(os.Getenv("DRAY_TEST_FOLDER")))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("ready")
	run := fmt.Sprintf("%d", time.Now().UnixNano())
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%s-%d-%d", run, w, i)
				err := e.Write(ctx, func(c engine.Conn) error {
					if err := put(ctx, id, 1)(c); err != nil {
						return err
					}
					_, err := c.Exec(ctx, `INSERT INTO counter (name, n) VALUES ($1, 1)`, id)
					return err
				})
				if err == nil {
					fmt.Println(id)
				}
			}
		})
	}
	wg.Wait()
	return 0
}

func TestNoAcknowledgedRowIsLostToAKill(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	folder := t.TempDir()
	acknowledged := map[string]bool{}
	for range rounds {
		cmd := child(t, "write until killed", folder)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for lines.Scan() && lines.Text() != "ready" {
		}
		for n := 1; lines.Scan(); n++ {
			acknowledged[lines.Text()] = true
			if n == 100 { // a busy machine may take long for as many, and then it is killed at some moment
				time.AfterFunc(rand.N(100*time.Millisecond), func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait()

		e, err := Open(t.Context(), options(folder))
		must(t, err)
		notes, counters := ids(t, e, "SELECT id FROM note"), ids(t, e, "SELECT name FROM counter")
		for id := range acknowledged {
			if !notes[id] {
				t.Errorf("%s was acknowledged and is lost", id)
			}
		}
		if len(notes) != len(counters) {
			t.Errorf("half an operation was kept: %d and %d rows", len(notes), len(counters))
		}
		must(t, e.Close())
	}
	if len(acknowledged) < rounds*100 {
		t.Errorf("only %d writes were acknowledged: the test proves nothing", len(acknowledged))
	}
	t.Logf("%d kills, %d writes acknowledged", rounds, len(acknowledged))
}

// openTheFolder opens a folder, writes one row and closes it again.
func openTheFolder() int {
	ctx := context.Background()
	o := options(os.Getenv("DRAY_TEST_FOLDER"))
	o.Serve = false
	e, err := Open(ctx, o)
	if err == nil {
		err = e.Write(ctx, put(ctx, fmt.Sprint(os.Getpid()), 1))
	}
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestSeveralProcessesMayStartOnAFreshFolder(t *testing.T) {
	folder := t.TempDir() + "/new/folder"
	const processes = 4
	var wg sync.WaitGroup
	for range processes {
		cmd := child(t, "open the folder", folder)
		must(t, cmd.Start())
		wg.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("a process failed: %v", err)
			}
		})
	}
	for i := range processes {
		wg.Go(func() {
			o := options(folder)
			o.Serve = false
			e, err := Open(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			if err := e.Write(t.Context(), put(t.Context(), fmt.Sprintf("goroutine %d", i), 1)); err != nil {
				t.Error(err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	e, err := Open(t.Context(), options(folder))
	must(t, err)
	defer e.Close()
	if n := count(t, e); n != 2*processes {
		t.Errorf("%d rows of %d", n, 2*processes)
	}
}

func TestAKillAtTheFirstStartLeavesAFolderThatStarts(t *testing.T) {
	for i := range 25 {
		folder := t.TempDir()
		cmd := child(t, "open the folder", folder)
		cmd.Stderr = nil
		must(t, cmd.Start())
		time.Sleep(time.Duration(i) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		e, err := Open(t.Context(), options(folder))
		if err != nil {
			t.Errorf("after a kill at %d ms: %v", i, err)
			continue
		}
		must(t, e.Ping(t.Context()))
		must(t, e.Close())
	}
}

// holdTheFolder serves a folder until its standard input ends.
func holdTheFolder() int {
	e, err := Open(context.Background(), options(os.Getenv("DRAY_TEST_FOLDER")))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = e.Close()
	return 0
}

func TestAFolderHasOneServer(t *testing.T) {
	folder := t.TempDir()
	cmd := child(t, "hold the folder", folder)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	bufio.NewScanner(out).Scan()

	_, err = Open(t.Context(), options(folder))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d", cmd.Process.Pid)) ||
		!strings.Contains(err.Error(), "--data") {
		t.Errorf("a second server: %v", err)
	}
	o := options(folder)
	must(t, os.Remove(filepath.Join(folder, lockFile)))
	o.lockPatience = 10 * time.Millisecond
	for range 2 { // the first attempt creates the file again
		if _, err = Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "already served") || !strings.Contains(err.Error(), "was deleted") {
			t.Errorf("a second server after the lock file was deleted: %v", err)
		}
	}
	o.Serve = false
	tool, err := Open(t.Context(), o)
	must(t, err)
	must(t, tool.Write(t.Context(), put(t.Context(), "from a command", 1)))
	must(t, tool.Close())

	must(t, in.Close())
	must(t, cmd.Wait())
	e, err := Open(t.Context(), options(folder))
	must(t, err)
	if n := count(t, e); n != 1 {
		t.Errorf("%d rows", n)
	}
	must(t, e.Close())
}
