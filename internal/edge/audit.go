package edge

import (
	"bytes"
	"context"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// Served is a request of an administrator or a key that changed something, may have changed
// something or was denied.
type Served struct {
	Who           lastmile.Principal
	Time          time.Time
	Method, Route string
	Record        string // id of the record that the path names or that was created; may be empty
	Status        int
	Request       string // id of the request
	Address       string // empty if unknown
}

// audit reports a request before its response is sent. Requests that were rejected for
// other reasons than a lack of rights changed nothing. One that failed may have: the
// connection to the database may be lost during the commit, or the client's after it.
func (m *Mux) audit(ctx context.Context, c *Call, rt Route, requestID string, reply []byte, err error) {
	if m.access.Audit == nil || rt.reads() || c.Who.Key == "" && c.Who.Admin == "" {
		return
	}
	status := rt.status()
	if err != nil {
		code := codec.Shown(err).Code
		switch code {
		case lastmile.CodeForbidden, lastmile.CodeOutsideScope, lastmile.CodeUnknownOutcome, lastmile.CodeInternal:
		default:
			return
		}
		status = codec.ErrorOf(code).Status
	}
	record := c.ID()
	if record == "" {
		record = createdID(reply)
	}
	m.access.Audit(ctx, Served{
		Who: c.Who, Time: m.Now(), Method: rt.Method, Route: rt.Path, Record: Clip(record), Status: status, Request: requestID, Address: m.address(c.HTTP),
	})
}

// createdID returns the id of the record that a reply begins with, or "".
func createdID(reply []byte) string {
	rest, ok := bytes.CutPrefix(reply, []byte(`{"id":"`))
	if !ok || len(rest) < lastmile.IDLength || !lastmile.ValidID(string(rest[:lastmile.IDLength])) {
		return ""
	}
	return string(rest[:lastmile.IDLength])
}
