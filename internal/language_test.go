package internal_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"
)

// phrases are expressions that readers had to decode, with what to write
// instead. The glossary in CONTRIBUTING.md has the rest.
var phrases = []struct {
	avoid *regexp.Regexp
	write string
}{
	{regexp.MustCompile(`(?i)\btells?\s+whether\b`), "reports whether"},
	{regexp.MustCompile(`(?i)\btells? (who|what|when|how|which|why) `), "reports, returns or describes"},
	{regexp.MustCompile(`(?i)\bunless\s+given\b`), "default"},
	{regexp.MustCompile(`(?i)\bmay\s+be\s+given\s+again\b`), "repeatable"},
	{regexp.MustCompile(`(?i)\banew\b`), "again, re-encoded, recreated or refreshed"},
	{regexp.MustCompile(`(?i)\b(is|are|was|were|be) owed\b`), "pending or due"},
	{regexp.MustCompile(`(?i)\btold\b`), "notified, reported or returned"},
	{regexp.MustCompile(`(?i)\blook(s|ed|ing)? at\b`), "refresh, poll or check"},
	{regexp.MustCompile(`(?i)\bsomebody\b`), "a caller"},
	{regexp.MustCompile(`(?i)\bheld against\b`), "compared with"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "callers that"},
	{regexp.MustCompile(`\b[mM]ax\w+ is how (many|long|much)\b`), "the maximum number, time or size"},
}

// languageFiles are the extensions of the files that people write and read. The
// statements of a migration never change once it is released, but its comments may.
var languageFiles = []string{".go", ".md", ".ts", ".js", ".mjs", ".svelte", ".sh", ".sql", ".txt", ".txtar", ".yml"}

func TestLanguage(t *testing.T) {
	for _, problem := range findPhrases(t, os.DirFS("..")) {
		t.Error(problem)
	}
}

func TestLanguageIsChecked(t *testing.T) {
	tree := fstest.MapFS{
		"docs/guide.md":               {Data: []byte("The first line.\nWhoever it is.\n")},
		"web/node_modules/lib/mod.ts": {Data: []byte("// whoever\n")},
		"internal/geo/places.bin":     {Data: []byte("whoever")},
	}
	want := []string{`docs/guide.md:2: "Whoever": write "callers that"`}
	if got := findPhrases(t, tree); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// findPhrases returns the places in a tree where a phrase to avoid is used.
func findPhrases(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var problems []string
	err := fs.WalkDir(tree, ".", func(p string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && p != "." && ignoredText(p):
			return fs.SkipDir
		case entry.IsDir() || !slices.Contains(languageFiles, path.Ext(p)) || p == "internal/language_test.go" || p == "CONTRIBUTING.md":
			return nil
		}
		text, err := fs.ReadFile(tree, p)
		if err != nil {
			return err
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			for _, phrase := range phrases {
				if found := phrase.avoid.Find(line); found != nil {
					problems = append(problems, fmt.Sprintf("%s:%d: %q: write %q", p, i+1, found, phrase.write))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

// ignoredText reports whether a folder holds no text of this project.
func ignoredText(p string) bool {
	base := path.Base(p)
	return base == "node_modules" || base == "dist" || base == "bin" || base == "dray-data" || base[0] == '.'
}
