package app

import (
	"bytes"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMasterKeyIsWrittenOnce(t *testing.T) {
	for name, link := range map[string]func(from, to string) error{
		"with hard links":    os.Link,
		"without hard links": func(string, string) error { return errors.ErrUnsupported },
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "master.key")
			first := newMasterKey()
			for _, master := range [][]byte{first, newMasterKey()} {
				if err := writeMasterKey(file, master, link); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := hex.DecodeString(strings.TrimSpace(string(text))); err != nil || !bytes.Equal(got, first) {
					t.Errorf("the file holds %q, want the first key: %v", text, err)
				}
			}
			if mode, ok := exposed(file); ok {
				t.Errorf("others can read the key: %v", mode)
			}
			if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
				t.Errorf("the folder holds %v, want only the key: %v", left, err)
			}
		})
	}
}

// TestAnEmptyMasterKey: a crash at the first start leaves an empty file where the file system
// has no hard links. The error says what to do.
func TestAnEmptyMasterKey(t *testing.T) {
	c := DefaultConfig()
	c.Data = t.TempDir()
	file := filepath.Join(c.Data, "master.key")
	start := func() error {
		a, err := New(t.Context(), c, slog.New(slog.DiscardHandler), Clock, false)
		if err == nil {
			err = a.Store.Close()
		}
		return err
	}
	empty := func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	empty()
	if err := start(); err == nil || !strings.Contains(err.Error(), file+" is empty") || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("at the first start: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := start(); err != nil {
		t.Fatalf("after the file was removed: %v", err)
	}
	empty()
	if err := start(); err == nil || !strings.Contains(err.Error(), "fingerprint") || strings.Contains(err.Error(), "remove") {
		t.Errorf("with data that need the key: %v", err)
	}
}
