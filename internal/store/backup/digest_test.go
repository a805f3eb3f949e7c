package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dray/internal/store/engine/enginetest"
	"dray/internal/store/sqlstore"
)

// restore is Restore of a backup that must not be damaged.
func restore(ctx context.Context, o sqlstore.Options, file string) error {
	_, err := Restore(ctx, o, file, false)
	return err
}

// smallBackup makes a backup of a few pages, and returns the rows in it.
func smallBackup(t *testing.T) (o sqlstore.Options, file, rows string) {
	t.Helper()
	o = targets(t, enginetest.Schema())["sqlite"](t)
	e, err := sqlstore.OpenEngine(t.Context(), o)
	must(t, err)
	fill(t, e, 100)
	rows = digest(t, e)
	must(t, e.Close())
	file = filepath.Join(t.TempDir(), "backup.db")
	must(t, Write(t.Context(), o, file, nil))
	return o, file, rows
}

func TestProgressIsReported(t *testing.T) {
	o, _, _ := smallBackup(t)
	steps := map[string]int64{}
	o.Progress = func(step string, done int64) { steps[step] = done }
	file := filepath.Join(t.TempDir(), "watched.db")
	must(t, Write(t.Context(), o, file, nil))
	o.Data = filepath.Join(t.TempDir(), "forced")
	damaged, err := os.ReadFile(file)
	must(t, err)
	damaged[len(damaged)-2] ^= 1 // of the digest
	must(t, os.WriteFile(file, damaged, 0o600))
	_, err = Restore(t.Context(), o, file, true)
	must(t, err)
	for _, step := range []string{"copying the database", "computing the digest", "verifying the digest", "verifying the database"} {
		if _, reported := steps[step]; !reported {
			t.Errorf("%q is not reported: %v", step, steps)
		}
	}
	rows := int64(0)
	for step, done := range steps {
		if strings.HasPrefix(step, "copying table ") {
			rows += done
		}
	}
	if rows < 100 {
		t.Errorf("%d rows are reported, of at least 100: %v", rows, steps)
	}
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	o, file, _ := smallBackup(t)
	if found, err := Verify(t.Context(), o, file); err != nil || len(found.Digest) != 64 || found.Schema != 2 {
		t.Fatalf("an intact backup: %+v, %v", found, err)
	}
	content, err := os.ReadFile(file)
	must(t, err)
	spoiled := filepath.Join(t.TempDir(), "spoiled.db")
	last := len(content) - 1
	for at := 0; at <= last; at++ {
		if at > headerLength && at < last-int(digestLength) {
			at += 96 // a sample of the pages
		}
		content[at] ^= 1 << (at % 8)
		must(t, os.WriteFile(spoiled, content, 0o600))
		content[at] ^= 1 << (at % 8)
		if digest, err := checkDigest(t.Context(), spoiled); !errors.Is(err, ErrDamaged) {
			t.Errorf("a bit of byte %d of %d is flipped: %q, %v", at, len(content), digest, err)
		}
	}
	for cut := range digestLength {
		must(t, os.WriteFile(spoiled, content[:int64(len(content))-1-cut], 0o600))
		if _, err := Verify(t.Context(), o, spoiled); !errors.Is(err, ErrDamaged) {
			t.Errorf("the last %d bytes are missing: %v", 1+cut, err)
		}
	}
}

func TestADamagedBackupIsRestoredOnlyByForce(t *testing.T) {
	_, file, rows := smallBackup(t)
	content, err := os.ReadFile(file)
	must(t, err)
	at := strings.Index(string(content), "filled 42") // in a row, or in an index
	content[at] ^= 1
	must(t, os.WriteFile(file, content, 0o600))
	for name, target := range targets(t, enginetest.Schema()) {
		t.Run(name, func(t *testing.T) {
			into := target(t)
			if _, err := Restore(t.Context(), into, file, false); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "SHA-256") {
				t.Fatalf("without force: %v", err)
			}
			found, err := Restore(t.Context(), into, file, true)
			must(t, err)
			if !strings.Contains(found.Damage, "SHA-256") {
				t.Errorf("the damage is %q", found.Damage)
			}
			e, err := sqlstore.OpenEngine(t.Context(), into)
			must(t, err)
			defer e.Close()
			if got := strings.NewReplacer("gilled 42", "filled 42", "fhlled 42", "filled 42").Replace(digest(t, e)); len(got) != len(rows) {
				t.Errorf("the rows are %s", got)
			}
			if into.Data != "" {
				report, err := Verify(t.Context(), into, filepath.Join(into.Data, "dray.db"))
				if err != nil || report.Digest != "" {
					t.Errorf("the restored database: %+v, %v", report, err)
				}
			}
		})
	}
}

func TestABackupOfAnOlderVersionHasNoDigest(t *testing.T) {
	o, file, rows := smallBackup(t)
	content, err := os.ReadFile(file)
	must(t, err)
	clear(content[applicationIDAt : applicationIDAt+4])
	must(t, os.WriteFile(file, content[:int64(len(content))-digestLength], 0o600))
	if found, err := Verify(t.Context(), o, file); err != nil || found.Digest != "" {
		t.Errorf("found %+v, %v", found, err)
	}
	into := targets(t, enginetest.Schema())["sqlite"](t)
	must(t, restore(t.Context(), into, file))
	e, err := sqlstore.OpenEngine(t.Context(), into)
	must(t, err)
	defer e.Close()
	if digest(t, e) != rows {
		t.Error("what came back is not what was there")
	}
}
