package tile_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"dray/internal/tile"
)

// buildFile builds the tiles of an extract in memory.
func buildFile(tb testing.TB, file []byte) ([]byte, error) {
	tb.Helper()
	var out bytes.Buffer
	err := tile.Build(tb.Context(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }, &out, func(float64) {})
	return out.Bytes(), err
}

// extracts returns the folder of extracts, which are not part of the repository.
func extracts(tb testing.TB) string {
	tb.Helper()
	folder := os.Getenv("DRAY_TESTDATA")
	if folder == "" {
		tb.Skip("SKIPPED: set DRAY_TESTDATA to the folder of test data to test real extracts")
	}
	return filepath.Join(folder, "osm")
}

func TestExtracts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(extracts(t), "*.osm.pbf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no extracts: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			content, err := buildFile(t, source)
			if err != nil {
				t.Fatal(err)
			}
			m, err := tile.Open(content)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Verify(t.Context()); err != nil {
				t.Error(err)
			}
			s := survey(t, m)
			if s.largest > 500_000 {
				t.Errorf("a tile has %d bytes", s.largest)
			}
			for _, layer := range tile.Layers {
				if s.layers[layer.ID] == 0 {
					t.Logf("there is no %s", layer.ID)
				}
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			t.Logf("%d bytes, %d tiles, the largest has %d bytes (%d compressed); %d MB of memory", len(content), s.tiles, s.largest, s.largestPacked, memory.Sys>>20)
		})
	}
}
