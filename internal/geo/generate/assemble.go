package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"dray/internal/geo/gazetteer"
)

// assemble combines the data of all sources.
func assemble(from archives) (gazetteer.Data, error) {
	names := make([]string, len(sources))
	for i, s := range sources {
		names[i] = s.String()
	}
	data := gazetteer.Data{Sources: strings.Join(names, ", ")}
	var err error
	if data.Countries, err = countries(from[countrySource]); err != nil {
		return data, err
	}
	if data.Regions, err = regions(from[citiesSource], from[divisionSource]); err != nil {
		return data, err
	}
	data.Cities, data.Postal, err = cities(from[citiesSource], from[namesSource], from[postalSource], data.Regions)
	return data, err
}

// decode parses a JSON file of a package.
func decode[T any](files map[string][]byte, name string) (value T, err error) {
	content, ok := files[name]
	if !ok {
		return value, fmt.Errorf("there is no %s", name)
	}
	if err := json.Unmarshal(content, &value); err != nil {
		return value, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// rows parses a file of tab-separated lines.
func rows(files map[string][]byte, name string, fields int) ([][]string, error) {
	content, ok := files[name]
	if !ok {
		return nil, fmt.Errorf("there is no %s", name)
	}
	var all [][]string
	for line := range strings.Lines(string(content)) {
		row := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(row) != fields {
			return nil, fmt.Errorf("%s: a line with %d fields, not %d", name, len(row), fields)
		}
		all = append(all, row)
	}
	return all, nil
}

// claims assigns each name to its first claimant.
type claims map[string]string

// claim adds a name of owner to list, unless it is taken.
func (c claims) claim(owner, name string, list *[]string) {
	key := gazetteer.Fold(name)
	if _, taken := c[key]; taken || key == "" {
		return
	}
	c[key] = owner
	*list = append(*list, name)
}
