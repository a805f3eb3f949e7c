// Package codec reads and writes the JSON of the API: it decodes requests
// strictly, encodes responses, and has the table of errors that clients see.
//
// Decode rejects what encoding/json would silently accept, and its errors name
// the field at fault. The shapes of requests and responses are in package wire.
package codec
