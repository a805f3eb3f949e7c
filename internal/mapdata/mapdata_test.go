package mapdata_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dray/internal/mapdata"
)

// index is a product for tests: the content of its source, in capital letters.
type index struct{ content []byte }

var (
	errEmpty  = errors.New("empty")
	errBroken = errors.New("broken")
)

func openIndex(content []byte) (*index, error) {
	if !bytes.HasPrefix(content, []byte("INDEX ")) {
		return nil, errBroken
	}
	return &index{content}, nil
}

func (x *index) verify(context.Context) error {
	if bytes.Contains(x.content, []byte("ROTTEN")) {
		return errBroken
	}
	return nil
}

func buildIndex(ctx context.Context, open func() (io.ReadCloser, error), out io.Writer, progress func(float64)) error {
	source, err := open()
	if err != nil {
		return err
	}
	defer source.Close()
	content, err := io.ReadAll(source)
	if err != nil {
		return err
	}
	progress(0.5)
	switch text := string(content); {
	case text == "":
		return errEmpty
	case strings.HasPrefix(text, "fail"):
		_, _ = out.Write([]byte("INDEX half"))
		return errBroken
	case strings.HasPrefix(text, "full"):
		return fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	_, err = out.Write([]byte("INDEX " + strings.ToUpper(string(content))))
	return errors.Join(err, ctx.Err())
}

func newFolder(t *testing.T) mapdata.Folder {
	t.Helper()
	product := func(name string) mapdata.Product {
		return mapdata.Product{
			Name: name, Build: buildIndex, Empty: errEmpty,
			Accepts: func(file string) bool { return name == "roads" || strings.HasSuffix(file, ".pbf") },
			Check: func(ctx context.Context, content []byte) error {
				x, err := openIndex(content)
				return errors.Join(err, func() error {
					if x == nil {
						return nil
					}
					return x.verify(ctx)
				}())
			},
		}
	}
	now := time.Date(2026, time.May, 4, 8, 0, 0, 0, time.UTC)
	return mapdata.Folder{
		Path: filepath.Join(t.TempDir(), "maps"), Products: []mapdata.Product{product("roads"), product("streets")},
		Now: func() time.Time { return now },
	}
}

func source(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func doImport(t *testing.T, f mapdata.Folder, file, name string) error {
	t.Helper()
	_, err := f.Import(t.Context(), file, name, func(string, float64) {})
	return err
}

// files returns the names in a folder without the parts that change.
func files(t *testing.T, f mapdata.Folder) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if before, after, ok := strings.Cut(name, "-"); ok {
			name = before + after[16:]
		}
		names = append(names, name)
	}
	return names
}

func TestImport(t *testing.T) {
	f := newFolder(t)
	if maps, err := f.List(); err != nil || len(maps) != 0 {
		t.Fatalf("a new folder has %v, %v", maps, err)
	}
	var steps []string
	one, err := f.Import(t.Context(), source(t, "Milan.osm.pbf", "milan"), "milan", func(product string, share float64) {
		steps = append(steps, fmt.Sprint(product, " ", share))
	})
	if err != nil || one.Name != "milan" || one.Source != "Milan.osm.pbf" || one.Bytes != 5 || len(one.Files) != 2 {
		t.Fatalf("imported %+v, %v", one, err)
	}
	if !slices.Equal(steps, []string{"roads 0.5", "streets 0.5"}) {
		t.Errorf("progress was %q", steps)
	}
	if err := doImport(t, f, source(t, "a.csv", "addresses"), "addresses"); err != nil {
		t.Fatal(err)
	}
	want := []string{"addresses.roads", "import.lock", "maps.json", "milan.roads", "milan.streets"}
	if got := files(t, f); !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	if err := doImport(t, f, source(t, "milan.csv", "new"), "milan"); err != nil {
		t.Fatal(err)
	}
	want = []string{"addresses.roads", "import.lock", "maps.json", "milan.roads"}
	if got := files(t, f); !slices.Equal(got, want) {
		t.Errorf("after an import of the same name the folder has %q, want %q", got, want)
	}
	if err := f.Remove("rome"); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("removed a map that does not exist: %v", err)
	}
	if err := f.Remove("milan"); err != nil {
		t.Fatal(err)
	}
	if maps, err := f.List(); err != nil || len(maps) != 1 || maps[0].Name != "addresses" {
		t.Errorf("after the removal: %+v, %v", maps, err)
	}
}

func TestImportFails(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx           context.Context //nolint:containedctx // a table
		content, name string
		want          error
		text          string
	}{
		"a file that cannot be read":  {t.Context(), "fail", "milan", errBroken, "build roads from"},
		"a full disk":                 {t.Context(), "full", "milan", syscall.ENOSPC, "no space left"},
		"a file that was built wrong": {t.Context(), "rotten", "milan", errBroken, ""},
		"an import that is canceled":  {canceled, "milan", "milan", context.Canceled, ""},
		"nothing to import":           {t.Context(), "", "milan", mapdata.ErrNothingToImport, ""},
		"a name with a path":          {t.Context(), "milan", "../milan", nil, "lower-case letters"},
		"a file that does not exist":  {t.Context(), "-", "milan", os.ErrNotExist, ""},
		"a folder instead of a file":  {t.Context(), "/", "milan", nil, "is not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			if err := doImport(t, f, source(t, "old.pbf", "old"), "milan"); err != nil {
				t.Fatal(err)
			}
			before, _ := f.List()
			file := source(t, "new.pbf", test.content)
			switch test.content {
			case "-":
				file += "-"
			case "/":
				file = t.TempDir()
			}
			_, err := f.Import(test.ctx, file, test.name, func(string, float64) {})
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v, want %v %q", err, test.want, test.text)
			}
			if after, err := f.List(); err != nil || len(after) != 1 || after[0].Files[0] != before[0].Files[0] {
				t.Errorf("the old map is gone: %+v, %v", after, err)
			}
			if got, want := files(t, f), []string{"import.lock", "maps.json", "milan.roads", "milan.streets"}; !slices.Equal(got, want) {
				t.Errorf("the folder has %q, want %q", got, want)
			}
		})
	}
}

// TestImportAfterAKill imports over the files that a killed import leaves.
func TestImportAfterAKill(t *testing.T) {
	f := newFolder(t)
	if err := doImport(t, f, source(t, "old.pbf", "old"), "milan"); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{"milan.roads.part", "milan-0123456789abcdef.roads", "maps.json.part", "rome-0123456789abcdef.streets"} {
		if err := os.WriteFile(filepath.Join(f.Path, left), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	live := mapdata.NewLive(f, "roads", openIndex, (*index).verify)
	if _, err := live.Refresh(); err != nil || len(live.All()) != 1 {
		t.Errorf("the old map does not serve: %v", err)
	}
	if err := doImport(t, f, source(t, "new.pbf", "new"), "milan"); err != nil {
		t.Fatal(err)
	}
	if got, want := files(t, f), []string{"import.lock", "maps.json", "milan.roads", "milan.streets"}; !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

func TestOneImportAtATime(t *testing.T) {
	f := newFolder(t)
	f.Products[0].Build = func(context.Context, func() (io.ReadCloser, error), io.Writer, func(float64)) error {
		return doImport(t, newFolderAt(t, f.Path), source(t, "b.pbf", "b"), "b")
	}
	if err := doImport(t, f, source(t, "a.pbf", "a"), "a"); !errors.Is(err, mapdata.ErrBusy) {
		t.Errorf("two imports at a time: %v", err)
	}
}

func newFolderAt(t *testing.T, path string) mapdata.Folder {
	t.Helper()
	f := newFolder(t)
	f.Path = path
	return f
}

func TestNameOf(t *testing.T) {
	for file, want := range map[string]string{
		"/data/milan.osm.pbf": "milan", "Île-de-France.osm.pbf": "le-de-france", "us ny.csv.gz": "us-ny", "DE.zip": "de", "x.geojson": "x",
	} {
		if got := mapdata.NameOf(file); got != want {
			t.Errorf("%s is named %q, want %q", file, got, want)
		}
	}
}

func TestLive(t *testing.T) {
	f := newFolder(t)
	live := mapdata.NewLive(f, "roads", openIndex, (*index).verify)
	refresh := func(want ...string) {
		t.Helper()
		_, err := live.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range live.All() {
			got = append(got, l.Map+" "+string(l.Product.content))
		}
		if !slices.Equal(got, want) {
			t.Errorf("in use: %q, want %q", got, want)
		}
	}
	refresh()
	if err := doImport(t, f, source(t, "a.pbf", "one"), "milan"); err != nil {
		t.Fatal(err)
	}
	refresh("milan INDEX ONE")
	old := live.All()[0].Product
	if err := doImport(t, f, source(t, "a.pbf", "two"), "milan"); err != nil {
		t.Fatal(err)
	}
	refresh("milan INDEX TWO")
	runtime.GC()
	if string(old.content) != "INDEX ONE" {
		t.Error("a file that is in use was unmapped")
	}
	runtime.KeepAlive(old)
	if err := doImport(t, f, source(t, "b.pbf", "rome"), "rome"); err != nil {
		t.Fatal(err)
	}
	same := live.All()[0].Product
	refresh("milan INDEX TWO", "rome INDEX ROME")
	if live.All()[0].Product != same {
		t.Error("a file that did not change was opened again")
	}
	if changed, err := live.Refresh(); changed || err != nil {
		t.Errorf("nothing happened, but changed is %v, %v", changed, err)
	}
	if err := f.Remove("milan"); err != nil {
		t.Fatal(err)
	}
	refresh("rome INDEX ROME")
	away := f.Path + ".away" // as if its volume were not mounted
	if err := os.Rename(f.Path, away); err != nil {
		t.Fatal(err)
	}
	refresh()
	if err := os.Rename(away, f.Path); err != nil {
		t.Fatal(err)
	}
	refresh("rome INDEX ROME")
}

// TestLiveWithDamage damages files after their import.
func TestLiveWithDamage(t *testing.T) {
	f := newFolder(t)
	live := mapdata.NewLive(f, "roads", openIndex, (*index).verify)
	replace := func(content string) {
		t.Helper()
		maps, err := f.List()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(f.Path, maps[0].Files[0].Name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if content != "" {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := doImport(t, f, source(t, "a.pbf", "first one"), "milan"); err != nil {
		t.Fatal(err)
	}
	if _, err := live.Refresh(); err != nil {
		t.Fatal(err)
	}
	for i, damage := range []string{"", "INDEX", "WRONG SECOND 1"} {
		if err := doImport(t, f, source(t, "a.pbf", fmt.Sprint("second ", i)), "milan"); err != nil {
			t.Fatal(err)
		}
		replace(damage)
		if _, err := live.Refresh(); err == nil || string(live.All()[0].Product.content) != "INDEX FIRST ONE" {
			t.Errorf("damage %q: %v, in use is %q", damage, err, live.All()[0].Product.content)
		}
	}
	if err := os.WriteFile(filepath.Join(f.Path, "maps.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := live.Refresh(); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged manifest: %v", err)
	}
}

// TestLiveVerifies drops a file whose content is found to be damaged later.
func TestLiveVerifies(t *testing.T) {
	f := newFolder(t)
	f.Products[0].Check = func(context.Context, []byte) error { return nil }
	live := mapdata.NewLive(f, "roads", openIndex, (*index).verify)
	for _, content := range []string{"sound", "rotten"} {
		if err := doImport(t, f, source(t, "a.csv", content), content); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := live.Refresh(); err != nil || len(live.All()) != 2 {
		t.Fatalf("%d files in use, %v", len(live.All()), err)
	}
	if err := live.Verify(t.Context()); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "rotten") {
		t.Errorf("verified: %v", err)
	}
	if all := live.All(); len(all) != 1 || all[0].Map != "sound" {
		t.Errorf("in use: %+v", all)
	}
	if err := live.Verify(t.Context()); err != nil {
		t.Errorf("verified again: %v", err)
	}
	if err := doImport(t, f, source(t, "b.csv", "other"), "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := live.Refresh(); err != nil || len(live.All()) != 2 {
		t.Errorf("the damaged file is back: %+v, %v", live.All(), err)
	}
}

// TestImportAfterDamage imports an extract again after its file was found to be damaged. The
// new file is equal to the old one as it was built.
func TestImportAfterDamage(t *testing.T) {
	f := newFolder(t)
	now := f.Now()
	f.Now = func() time.Time { return now }
	var damage error
	live := mapdata.NewLive(f, "roads", openIndex, func(*index, context.Context) error { return damage })
	extract := source(t, "a.csv", "one")
	replace := func() *index {
		t.Helper()
		now = now.Add(time.Millisecond)
		if err := doImport(t, f, extract, "milan"); err != nil {
			t.Fatal(err)
		}
		if _, err := live.Refresh(); err != nil || len(live.All()) != 1 {
			t.Fatalf("in use: %+v, %v", live.All(), err)
		}
		return live.All()[0].Product
	}
	replace()
	damage = errBroken
	if err := live.Verify(t.Context()); !errors.Is(err, errBroken) || len(live.All()) != 0 {
		t.Fatalf("in use: %+v, %v", live.All(), err)
	}
	damage = nil
	first := replace()
	if err := live.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The file may have been damaged after it was verified.
	if second := replace(); second == first {
		t.Error("the file of the earlier import is still in use")
	}
	damage = errBroken
	if err := live.Verify(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("the file of the later import is not verified: %v", err)
	}
}

// TestVerificationEndsWithItsContext: a file that was not read to its end is neither damaged
// nor verified.
func TestVerificationEndsWithItsContext(t *testing.T) {
	f := newFolder(t)
	begun := 0
	live := mapdata.NewLive(f, "roads", openIndex, func(_ *index, ctx context.Context) error {
		begun++
		_, err := mapdata.Checksum(ctx, 0, make([]byte, 10))
		return err
	})
	for _, content := range []string{"one", "two"} {
		if err := doImport(t, f, source(t, "a.csv", content), content); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := live.Refresh(); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := live.Verify(stopped); !errors.Is(err, context.Canceled) || begun != 1 || len(live.All()) != 2 {
		t.Errorf("%d files were begun, and %d are in use: %v", begun, len(live.All()), err)
	}
	if err := live.Verify(t.Context()); err != nil || begun != 3 || len(live.All()) != 2 {
		t.Errorf("later, %d files were begun, and %d are in use: %v", begun, len(live.All()), err)
	}
}

func TestChecksumAsksWhetherToEnd(t *testing.T) {
	content := bytes.Repeat([]byte("map"), 1<<20)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := mapdata.Checksum(stopped, 0, content); !errors.Is(err, context.Canceled) {
		t.Errorf("it was read to its end: %v", err)
	}
	want := crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
	if sum, err := mapdata.Checksum(t.Context(), 0, content); sum != want || err != nil {
		t.Errorf("the checksum is %x, want %x: %v", sum, want, err)
	}
}
