package road

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPagesThatCannotBeRead truncates a file that is mapped into memory.
func TestPagesThatCannotBeRead(t *testing.T) {
	content := file(t, buildMap(t, randomTown(3, 8).network(t)))
	path := filepath.Join(t.TempDir(), "map")
	mapped := func() []byte {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		data, err := syscall.Mmap(int(f.Fd()), 0, len(content), syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Munmap(data) })
		return data
	}
	truncate := func(size int) {
		t.Helper()
		if err := os.Truncate(path, int64(size)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Open(mapped())
	if err != nil {
		t.Fatal(err)
	}
	southwest, northeast := m.Bounds()
	truncate(0)
	if low, high := m.Bounds(); low != southwest || high != northeast {
		t.Errorf("the bounds are %v and %v, want %v and %v", low, high, southwest, northeast)
	}
	for _, size := range []int{0, os.Getpagesize()} {
		data := mapped()
		truncate(size)
		if _, err := Open(data); !errors.Is(err, ErrDamaged) {
			t.Errorf("a file of which %d of %d bytes can be read: %v", size, len(content), err)
		}
	}
}
