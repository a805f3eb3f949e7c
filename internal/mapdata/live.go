package mapdata

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Live holds the files of one product that a server uses. Refresh updates them from the
// folder.
type Live[T any] struct {
	folder  Folder
	product string
	open    func(content []byte) (*T, error)
	verify  func(*T, context.Context) error

	current atomic.Pointer[[]Loaded[T]]

	mu       sync.Mutex
	seen     stamp            // of the manifest at the last refresh
	damaged  map[edition]bool // damaged files, which are not used
	verified map[edition]bool // files whose content was read
}

// Loaded is a file that is in use.
type Loaded[T any] struct {
	Map      string
	Checksum string
	Product  *T

	edition edition
}

// edition identifies a file that an import built. Importing an extract again gives an equal
// file in place of one that may be damaged.
type edition struct {
	name     string
	imported int64 // Unix time in nanoseconds
}

// stamp distinguishes versions of the manifest.
type stamp struct {
	modified time.Time
	size     int64
}

// NewLive returns the files of a product in a folder. Open opens the content of a
// file quickly; verify reads all of it.
func NewLive[T any](f Folder, product string, open func([]byte) (*T, error), verify func(*T, context.Context) error) *Live[T] {
	l := &Live[T]{folder: f, product: product, open: open, verify: verify, damaged: map[edition]bool{}, verified: map[edition]bool{}}
	l.current.Store(new([]Loaded[T]))
	return l
}

// All returns the files in use, by the name of their map. They stay valid as long
// as they are referenced.
func (l *Live[T]) All() []Loaded[T] { return *l.current.Load() }

// Refresh opens new files and drops those that are gone, and reports whether the files in use
// have changed. If a file cannot be opened, the one that it replaces remains in use.
func (l *Live[T]) Refresh() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := os.Stat(filepath.Join(l.folder.Path, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		l.seen = stamp{}
		return l.use(nil), nil
	}
	if err != nil {
		return false, err
	}
	now := stamp{info.ModTime(), info.Size()}
	if now == l.seen {
		return false, nil
	}
	maps, err := l.folder.List()
	if err != nil {
		return false, err
	}
	var next []Loaded[T]
	for _, m := range maps {
		for _, file := range m.Files {
			if file.Product == l.product {
				loaded, problem := l.load(m, file)
				err = errors.Join(err, problem)
				if loaded.Product != nil {
					next = append(next, loaded)
				}
			}
		}
	}
	if err == nil {
		l.seen = now
	}
	return l.use(next), err
}

// load opens a file. If the map already uses the same file, or if the new one cannot be used,
// load returns the file in use.
func (l *Live[T]) load(m Map, file File) (Loaded[T], error) {
	var before Loaded[T]
	for _, used := range l.All() {
		if used.Map == m.Name {
			before = used
		}
	}
	this := edition{file.Name, m.Imported.UnixNano()}
	if before.edition == this || l.damaged[this] {
		return before, nil
	}
	content, unmap, err := mapFile(filepath.Join(l.folder.Path, file.Name))
	if err != nil {
		return before, err
	}
	if int64(len(content)) != file.Bytes {
		return before, errors.Join(fmt.Errorf("%s has %d bytes instead of %d; import the map again", file.Name, len(content), file.Bytes), unmap())
	}
	product, err := l.open(content)
	if err != nil {
		return before, errors.Join(fmt.Errorf("%s: %w", file.Name, err), unmap())
	}
	runtime.AddCleanup(product, func(unmap func() error) { _ = unmap() }, unmap)
	return Loaded[T]{m.Name, file.Checksum, product, this}, nil
}

// use replaces the files in use and reports whether they are different.
func (l *Live[T]) use(next []Loaded[T]) bool {
	same := func(a, b Loaded[T]) bool { return a.Map == b.Map && a.edition == b.edition }
	if slices.EqualFunc(l.All(), next, same) {
		return false
	}
	l.current.Store(&next)
	return true
}

// Verify reads the files in use that have not been verified yet, and drops those that are
// damaged. If the context ends, it verifies the others the next time.
func (l *Live[T]) Verify(ctx context.Context) (err error) {
	for _, used := range l.All() {
		l.mu.Lock()
		known := l.verified[used.edition]
		l.mu.Unlock()
		if known {
			continue
		}
		problem := l.verify(used.Product, ctx)
		if problem != nil && ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		l.mu.Lock()
		if problem == nil {
			l.verified[used.edition] = true
		} else {
			err = errors.Join(err, fmt.Errorf("map %s: %w", used.Map, problem))
			l.damaged[used.edition] = true
			l.use(slices.DeleteFunc(slices.Clone(l.All()), func(o Loaded[T]) bool { return o.edition == used.edition }))
		}
		l.mu.Unlock()
	}
	return err
}
