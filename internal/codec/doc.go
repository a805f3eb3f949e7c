// Package codec decodes and encodes the JSON of the API, and has the table of errors that
// clients see.
//
// Decode is stricter than encoding/json, and its errors name the field at fault. The types of
// requests and responses are in package wire.
package codec
