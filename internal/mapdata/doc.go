// Package mapdata keeps the map files of a node in a folder: a manifest of the imported maps,
// and the files that were built from them, one for each product.
//
// An import builds its files next to those of the map that it replaces and then writes the
// manifest, which makes the new files replace the old ones. Servers poll the manifest and map
// new files into memory. Whatever happens during an import, the manifest names complete files;
// the next import deletes the others.
package mapdata

import (
	"context"
	"errors"
	"io"
	"time"
)

// Product is a kind of file that is built from extracts.
type Product struct {
	Name string
	// Build writes the file of an extract, which it may open several times. Progress
	// is called with the share that is done.
	Build func(ctx context.Context, open func() (io.ReadCloser, error), out io.Writer, progress func(share float64)) error
	// Check opens the content of a file and verifies all of it.
	Check func(ctx context.Context, content []byte) error
	// Accepts reports whether the product can be built from a file with a name.
	Accepts func(name string) bool
	// Empty is the error of Build for an extract that has nothing for the product.
	Empty error
}

// Map is an extract that was imported.
type Map struct {
	Name     string    `json:"name"`
	Source   string    `json:"source"` // name of the file
	Bytes    int64     `json:"bytes"`  // of the source
	Imported time.Time `json:"imported"`
	Files    []File    `json:"files"`
}

// File is a file that was built from an extract.
type File struct {
	Product  string `json:"product"`
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	Checksum string `json:"checksum"` // SHA-256; equal extracts give equal files
}

// Errors of imports and removals.
var (
	ErrBusy            = errors.New("another import into the folder is running")
	ErrNotFound        = errors.New("there is no such map")
	ErrNothingToImport = errors.New("the file has nothing to import")
)
