// Package audit records who changed what over the API: administrators and API keys, the
// route and the record, but never what was sent.
package audit
