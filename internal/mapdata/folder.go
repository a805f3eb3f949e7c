package mapdata

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"dray/internal/durable"
)

// manifestName is the file that lists the maps of a folder.
const (
	manifestName = "maps.json"
	lockName     = "import.lock"
	partSuffix   = ".part"
)

// Folder is the folder of the maps of a node. It is created by the first import.
type Folder struct {
	Path     string
	Products []Product
	Now      func() time.Time
}

// manifest is the content of the manifest.
type manifest struct {
	Version int   `json:"version"`
	Maps    []Map `json:"maps"`
}

const manifestVersion = 1

// nameForm matches the names of maps.
var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// NameOf returns the default name of the map of a file.
func NameOf(file string) string {
	name := strings.ToLower(filepath.Base(file))
	for _, extension := range []string{".gz", ".zip", ".pbf", ".osm", ".csv", ".geojson", ".json", ".txt"} {
		name = strings.TrimSuffix(name, extension)
	}
	return strings.Trim(regexp.MustCompile(`[^a-z0-9._-]+`).ReplaceAllString(name, "-"), "-._")
}

// List returns the maps of the folder by name.
func (f Folder) List() ([]Map, error) {
	content, err := os.ReadFile(filepath.Join(f.Path, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(content, &m); err != nil || m.Version != manifestVersion {
		return nil, fmt.Errorf("%s is damaged or of another version; delete it and import the maps again", filepath.Join(f.Path, manifestName))
	}
	for _, one := range m.Maps {
		for _, file := range one.Files {
			if file.Name != filepath.Base(file.Name) {
				return nil, fmt.Errorf("%s names the file %q, which is not in its folder", filepath.Join(f.Path, manifestName), file.Name)
			}
		}
	}
	return m.Maps, nil
}

// Import builds all products from a file and adds them as a map, in place of the
// one with the same name. Progress is called with the product and the share of it
// that is done.
func (f Folder) Import(ctx context.Context, file, name string, progress func(product string, share float64)) (Map, error) {
	if !nameForm.MatchString(name) {
		return Map{}, fmt.Errorf("the name of a map consists of lower-case letters, digits, dots and hyphens, not %q", name)
	}
	info, err := os.Stat(file)
	if err != nil {
		return Map{}, err
	}
	if !info.Mode().IsRegular() {
		return Map{}, fmt.Errorf("%s is not a file", file)
	}
	var one Map
	err = f.locked(func(maps []Map) ([]Map, error) {
		one = Map{Name: name, Source: filepath.Base(file), Bytes: info.Size(), Imported: f.Now()}
		if one.Files, err = f.build(ctx, file, name, progress); err != nil {
			return nil, err
		}
		maps = append(without(maps, name), one)
		slices.SortFunc(maps, func(a, b Map) int { return strings.Compare(a.Name, b.Name) })
		return maps, nil
	})
	return one, err
}

// Remove removes a map.
func (f Folder) Remove(name string) error {
	return f.locked(func(maps []Map) ([]Map, error) {
		rest := without(maps, name)
		if len(rest) == len(maps) {
			return nil, fmt.Errorf("%w: %q", ErrNotFound, name)
		}
		return rest, nil
	})
}

func without(maps []Map, name string) []Map {
	return slices.DeleteFunc(slices.Clone(maps), func(m Map) bool { return m.Name == name })
}

// locked changes the list of maps while no other process does. Files that are not
// in the list before or after are deleted.
func (f Folder) locked(change func([]Map) ([]Map, error)) error {
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return err
	}
	lock, err := lockFile(filepath.Join(f.Path, lockName))
	if err != nil {
		return err
	}
	defer lock.Close()
	maps, err := f.List()
	if err != nil {
		return err
	}
	if err := f.sweep(maps); err != nil {
		return err
	}
	changed, err := change(maps)
	if err != nil {
		return errors.Join(err, f.sweep(maps))
	}
	if err := f.save(changed); err != nil {
		return errors.Join(fmt.Errorf("save the list of maps: %w", err), f.sweep(maps))
	}
	return f.sweep(changed)
}

// sweep deletes the files that no map has. Servers that use one keep it until they
// refresh.
func (f Folder) sweep(maps []Map) error {
	keep := map[string]bool{manifestName: true, lockName: true}
	for _, m := range maps {
		for _, file := range m.Files {
			keep[file.Name] = true
		}
	}
	entries, err := os.ReadDir(f.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && !keep[e.Name()] && f.ours(e.Name()) {
			if err := os.Remove(filepath.Join(f.Path, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// ours reports whether a name is one that imports give to files.
func (f Folder) ours(name string) bool {
	if strings.HasSuffix(name, partSuffix) {
		return true
	}
	return slices.ContainsFunc(f.Products, func(p Product) bool { return strings.HasSuffix(name, "."+p.Name) })
}

// build builds the files of all products, except those for which the source has no data.
func (f Folder) build(ctx context.Context, file, name string, progress func(string, float64)) (files []File, err error) {
	for _, p := range f.Products {
		if !p.Accepts(file) {
			continue
		}
		built, err := f.buildOne(ctx, p, file, name, func(share float64) { progress(p.Name, share) })
		switch {
		case p.Empty != nil && errors.Is(err, p.Empty):
		case err != nil:
			return nil, fmt.Errorf("build %s from %s: %w", p.Name, filepath.Base(file), err)
		default:
			files = append(files, built)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNothingToImport, filepath.Base(file))
	}
	return files, nil
}

func (f Folder) buildOne(ctx context.Context, p Product, source, name string, progress func(float64)) (File, error) {
	part := filepath.Join(f.Path, name+"."+p.Name+partSuffix)
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return File{}, err
	}
	sum, written := sha256.New(), &counter{}
	buffer := bufio.NewWriterSize(io.MultiWriter(out, sum, written), 1<<20)
	open := func() (io.ReadCloser, error) { return os.Open(source) }
	err = p.Build(ctx, open, buffer, progress)
	if err == nil {
		err = buffer.Flush()
	}
	if err = errors.Join(err, syncFile(out, err), out.Close()); err != nil {
		return File{}, err
	}
	if err := check(ctx, part, p); err != nil {
		return File{}, err
	}
	checksum := hex.EncodeToString(sum.Sum(nil))
	built := File{Product: p.Name, Name: fmt.Sprintf("%s-%s.%s", name, checksum[:16], p.Name), Bytes: written.n, Checksum: checksum}
	return built, os.Rename(part, filepath.Join(f.Path, built.Name))
}

// syncFile makes a file durable unless writing it failed.
func syncFile(f *os.File, err error) error {
	if err != nil {
		return nil //nolint:nilerr // that error is reported
	}
	return f.Sync()
}

// check opens a new file in the same way as servers, and verifies it.
func check(ctx context.Context, path string, p Product) error {
	content, unmap, err := mapFile(path)
	if err != nil {
		return err
	}
	return errors.Join(p.Check(ctx, content), unmap())
}

type counter struct{ n int64 }

// Write implements io.Writer.
func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// save replaces the manifest.
func (f Folder) save(maps []Map) error {
	content, err := json.MarshalIndent(manifest{manifestVersion, maps}, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(f.Path, manifestName)
	out, err := os.OpenFile(path+partSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(append(content, '\n'))
	if err = errors.Join(err, syncFile(out, err), out.Close()); err != nil {
		return err
	}
	if err := durable.SyncFolder(f.Path); err != nil { // the files that it names
		return err
	}
	if err := os.Rename(path+partSuffix, path); err != nil {
		return err
	}
	return durable.SyncFolder(f.Path)
}
