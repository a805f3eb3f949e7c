package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// entry is an entry of the search index.
type entry struct {
	Title string `json:"t"`
	Kind  string `json:"k"` // method and path of an operation, or the kind of another entry
	Path  string `json:"p"`
	About string `json:"a,omitempty"`
}

// triggersPage is the data of the page of triggers.
type triggersPage struct {
	Triggers []triggerView
}

type triggerView struct {
	Trigger
	Anchor string
	Body   []token
}

func newTriggers(all []Trigger) triggersPage {
	var page triggersPage
	for _, t := range all {
		page.Triggers = append(page.Triggers, triggerView{Trigger: t, Anchor: t.Name, Body: highlight(indented(json.RawMessage(t.Sample)))})
	}
	return page
}

// index returns the entries of the search index, the most general first.
func index(guides []*guide, triggers triggersPage, references ...reference) []entry {
	var all []entry
	for _, g := range guides {
		all = append(all, entry{g.Title, "Guide", g.Path, g.Lead})
		for _, h := range g.Headings {
			all = append(all, entry{h.Text, g.Title, g.Path + "#" + h.Anchor, ""})
		}
	}
	for _, ref := range references {
		path := "/docs"
		if !ref.Public {
			path = "/docs/driver"
		}
		for _, s := range ref.Sections {
			for _, op := range s.Operations {
				all = append(all, entry{op.Summary, op.Method + " " + ref.Base + op.Text, path + "#" + op.Anchor, op.About})
			}
		}
		for _, o := range ref.Objects {
			all = append(all, entry{o.Name, "Object", path + "#" + o.Anchor, o.About})
		}
		if ref.Public {
			for _, e := range ref.Errors {
				all = append(all, entry{fmt.Sprintf("%d %s", e.Number, e.Class), "Error", fmt.Sprintf("%s#error-%d", path, e.Number), e.Meaning})
			}
		}
	}
	for _, t := range triggers.Triggers {
		all = append(all, entry{t.Name, fmt.Sprintf("Trigger %d", t.ID), "/docs/triggers#" + t.Anchor, t.About})
	}
	return all
}

func encodeIndex(all []entry) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(all); err != nil {
		return nil, fmt.Errorf("encode the index of the documentation: %w", err)
	}
	return out.Bytes(), nil
}
