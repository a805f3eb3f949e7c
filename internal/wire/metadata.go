package wire

import (
	"bytes"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// MetadataEntry is a named value that an integration stores on a record.
type MetadataEntry struct {
	// Name of the entry, unique on the record.
	Name string `json:"name" required:"true" example:"customerId"`
	// Type of the value.
	Type lastmile.MetadataType `json:"type" required:"true" example:"string"`
	// Type of the array's elements. Only for arrays, and required for them.
	Subtype lastmile.MetadataType `json:"subtype,omitzero" enum:"boolean,number,string,object"`
	// Who can see the entry. Defaults to api.
	Visibility []string `json:"visibility" enum:"api,dashboard,worker" example:"api"`
	// Value of the entry, of the declared type.
	Value any `json:"value" type:"boolean,number,string,object,array" required:"true" example:"C-1044"`
}

// Metadata is the metadata of a record. In responses, it is never null.
type Metadata []MetadataEntry

// NewMetadata returns metadata in its wire form.
func NewMetadata(m lastmile.Metadata) Metadata {
	entries := make(Metadata, 0, len(m))
	for _, e := range m.Normalized() {
		entries = append(entries, MetadataEntry(e))
	}
	return entries
}

// Domain returns the entries as they were sent, without validation.
func (m Metadata) Domain() lastmile.Metadata {
	if m == nil {
		return nil
	}
	entries := make(lastmile.Metadata, 0, len(m))
	for _, e := range m {
		entries = append(entries, lastmile.MetadataEntry(e))
	}
	return entries
}

// MaxItems returns the maximum number of entries, for documentation.
func (Metadata) MaxItems() int { return lastmile.MaxMetadataEntries }

// UnmarshalJSON implements json.Unmarshaler. It rejects JSON that must exceed the limits of
// metadata before decoding it, because an array of small numbers takes many times more memory
// in Go than its JSON.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		var s codec.Scanner
		if err := s.Scan(data); err != nil {
			return err
		}
		if s.Items > lastmile.MaxMetadataEntries {
			return codec.Invalid("must have at most %d entries, not %d", lastmile.MaxMetadataEntries, s.Items)
		}
		// A value and the comma, colon or bracket after it are at least two bytes, so that
		// this is never stricter than the domain. The names, types and visibility of each
		// entry are counted separately.
		const perEntry = 8
		if s.Values > lastmile.MaxMetadataBytes/2+perEntry*lastmile.MaxMetadataEntries {
			return codec.Invalid("must be at most %d bytes of names and values in all", lastmile.MaxMetadataBytes)
		}
	}
	return codec.DecodePart(data, (*[]MetadataEntry)(m))
}

// MetadataUpdate is metadata in the body of an update. An array replaces all entries; an
// object sets and removes entries by name. Absent and null change nothing.
type MetadataUpdate lastmile.MetadataChange

// Domain returns the change, which lastmile.Metadata.Apply validates.
func (u MetadataUpdate) Domain() lastmile.MetadataChange { return lastmile.MetadataChange(u) }

// OneOf returns a value of each form, for documentation.
func (MetadataUpdate) OneOf() []any {
	return []any{Metadata{}, struct {
		Set Metadata `json:"$set"`
		Pop []string `json:"$pop"`
	}{}}
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *MetadataUpdate) UnmarshalJSON(data []byte) error {
	*u = MetadataUpdate{}
	switch {
	case string(data) == "null":
		return nil
	case data[0] == '[':
		var all Metadata
		if err := codec.DecodePart(data, &all); err != nil {
			return err
		}
		u.Replace, u.Replaced = all.Domain(), true
		return nil
	case data[0] != '{':
		return codec.Malformed("must be an array of entries, or an object with $set and $pop, not %s", codec.KindName(data[0]))
	}
	var change struct {
		Set Optional[Metadata] `json:"$set"`
		Pop Optional[[]string] `json:"$pop"`
	}
	if err := codec.DecodePart(data, &change); err != nil {
		return err
	}
	if !change.Set.Present && !change.Pop.Present && len(bytes.TrimSpace(data[1:len(data)-1])) > 0 {
		return codec.Malformed("must be an array of entries, or an object with $set and $pop: this object has neither")
	}
	u.Set, u.Pop = change.Set.Value.Domain(), change.Pop.Value
	return nil
}
