package wire

import (
	_ "embed" // the descriptions
	"encoding/json"
)

// descriptionsFile holds the comments of the types and fields of this package, and
// of the json.go and *_json.go of API packages.
// "make docs" writes it: see TestDocsDescribeFieldsAsTheSourceDoes.
//
//go:embed descriptions.json
var descriptionsFile []byte

// Descriptions returns the API descriptions of the types of JSON
// ("Worker") and of their fields by the type that declares them
// ("WorkerRecord.Phone"): the comments in the source.
func Descriptions() map[string]string {
	all := map[string]string{}
	if err := json.Unmarshal(descriptionsFile, &all); err != nil {
		return nil // a test reads the file, too
	}
	return all
}
