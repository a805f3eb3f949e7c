package app

import (
	"bytes"
	"encoding/hex"
	"errors"
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
