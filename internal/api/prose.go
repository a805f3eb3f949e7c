package api

import (
	_ "embed" // the texts below
	"encoding/json"
	"strings"
)

//go:embed docs/notes.txt
var notesFile string

//go:embed docs/examples.json
var examplesFile []byte

// prose is what the document says beyond the types: notes and examples, by
// field ("Worker.phone", or ".phone" for every phone), by type ("Worker"), by
// operation ("POST /workers") and by error ("error 1000").
type prose struct {
	notes    map[string]string
	examples map[string]json.RawMessage // as written, for the order of their members
}

// newProse reads the texts of the document. They are part of the program, and
// a test reads them too: a fault in them costs text, never the document.
func newProse() prose {
	p := prose{notes: map[string]string{}, examples: map[string]json.RawMessage{}}
	var key string
	for line := range strings.Lines(notesFile) {
		text := strings.TrimSpace(line)
		switch {
		case text == "", strings.HasPrefix(text, "#"):
		case line[0] == ' ' || line[0] == '\t':
			p.notes[key] += " " + text
		default:
			key, text, _ = strings.Cut(text, ": ")
			p.notes[key] = strings.TrimSpace(text)
		}
	}
	if err := json.Unmarshal(examplesFile, &p.examples); err != nil {
		clear(p.examples)
	}
	return p
}
