package wire

import (
	_ "embed" // the descriptions
	"encoding/json"
)

// descriptionsFile holds the comments of types and fields of this package, of package codec,
// and of the files json.go and *_json.go of API packages.
// "make docs" writes it: see TestDocsDescribeFieldsAsTheSourceDoes.
//
//go:embed descriptions.json
var descriptionsFile []byte

// Descriptions returns the descriptions of JSON types and their fields for the API, which are
// their comments in the source. The keys are the names of types ("Worker") and of fields with
// the type that declares them ("WorkerRecord.Phone").
func Descriptions() map[string]string {
	all := map[string]string{}
	if err := json.Unmarshal(descriptionsFile, &all); err != nil {
		return nil // cannot happen: a test decodes the file
	}
	return all
}
