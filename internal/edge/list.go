package edge

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// A long list is read and sent in parts, so that any number of records can be sent
// with little memory, however slowly the client reads them.
const (
	// listPart is the number of bytes of records that a part should have.
	listPart = 256 << 10
	// firstRecords is the number of records of the first part, whose size is not known
	// before. maxRecords is the maximum number of records of a part.
	firstRecords, maxRecords = 16, 64
)

// SearchAll makes a POST route that changes nothing and responds with a list of
// records, which may be long: find returns their ids, and show the records of some
// ids, encoded, without those that were deleted since.
func SearchAll[Body, Record any](
	path, summary string, find func(context.Context, *Call, Body) ([]string, error), show func(ctx context.Context, c *Call, ids []string) ([][]byte, error),
) Route {
	rt := newRoute[[]Record](http.MethodPost, path, summary)
	rt.Body, rt.readOnly, rt.show = reflect.TypeFor[Body](), true, show
	rt.find = func(ctx context.Context, c *Call) ([]string, error) {
		var body Body
		if err := codec.Decode(c.Body, &body); err != nil {
			return nil, err
		}
		return find(ctx, c, body)
	}
	return rt
}

// listing is a list that is being sent.
type listing struct {
	*Mux
	c    *Call
	rt   Route
	of   list
	ids  []string // ids of the records that were not read yet
	base int64    // bytes counted for the ids
	most int      // maximum number of records of the next part
	any  bool     // a record was read

	compressed bool
	packer     packer
}

// sendList responds with a list. A short list is sent as any other response. If a
// part of a long one cannot be read, the connection is closed, so that the client
// notices.
func (m *Mux) sendList(ctx context.Context, w http.ResponseWriter, c *Call, rt Route, requestID string) error {
	l := &listing{Mux: m, c: c, rt: rt, of: list{c.Who.Organization, rt.Path}, most: firstRecords}
	c.hold.address = m.address(c.HTTP)
	text, err := l.begin(ctx)
	if err != nil {
		return err
	}
	if len(l.ids) == 0 {
		write(w, c.HTTP, rt.status(), append(text, ']'))
		return nil
	}
	w.Header()["Content-Type"] = typeJSON
	l.compressed, l.packer.large = compresses(w, c.HTTP, MinCompressed), true
	w.WriteHeader(rt.status())
	for len(l.ids) > 0 {
		if err := l.send(w, text, false); err != nil {
			return err
		}
		if text, err = l.next(ctx); err != nil {
			if ctx.Err() == nil {
				m.Log.Error("list ended early", "request", requestID, "route", rt.Path, "error", err)
			}
			return errAborted
		}
	}
	return l.send(w, append(text, ']'), true)
}

// errAborted means that a response ended before all of it was sent.
var errAborted = errors.New("the response ended early")

// begin finds the records and reads the first of them.
func (l *listing) begin(ctx context.Context) (text []byte, err error) {
	expected := l.Budget.expected(l.of, l.Now())
	if expected > largeList {
		end, err := l.Budget.listTurn(ctx, l.c.Who.Organization, false)
		if err != nil {
			return nil, err
		}
		defer func() { end(pauseAfter(l.c.read)) }()
	}
	if err := l.c.hold.await(ctx, max(min(expected, readWeight*listPart), l.c.hold.bytes)); err != nil {
		return nil, err
	}
	end, err := l.Budget.share(ctx, l.Budget.isLarge(l.of, l.Now()))
	if err != nil {
		return nil, err
	}
	defer end()
	ctx = lastmile.WithMeter(ctx, l.c)
	if l.ids, err = l.rt.find(ctx, l.c); err != nil {
		return nil, err
	}
	l.c.Body, l.base = nil, l.c.read
	if text, err = l.read(ctx, []byte{'['}); err != nil {
		return nil, err
	}
	size := l.c.read * readWeight
	if len(l.ids) > 0 {
		size = max(size, unknownBytes) // it is long
	}
	l.Budget.remember(l.of, size, l.Now())
	return text, nil
}

// next reads the next part, when it is the organization's turn. If there is too
// little memory, it waits and reads fewer records.
func (l *listing) next(ctx context.Context) (text []byte, err error) {
	end, err := l.Budget.listTurn(ctx, l.c.Who.Organization, true)
	if err != nil {
		return nil, err
	}
	defer func() { end(pauseAfter(int64(len(text)))) }()
	for waited := time.Duration(0); ; waited += admissionRetry {
		if text, err = l.share(ctx); err == nil {
			return text, nil
		}
		if rejected, ok := errors.AsType[*lastmile.Error](err); !ok || !rejected.Transient() || waited >= AdmissionWait {
			return text, err
		}
		l.most = max(1, l.most/2)
		if !l.Pause(ctx, admissionRetry) {
			return nil, err
		}
	}
}

// share reads the next part when it is the turn of this list among all large ones.
func (l *listing) share(ctx context.Context) ([]byte, error) {
	end, err := l.Budget.share(ctx, true)
	if err != nil {
		return nil, err
	}
	defer end()
	return l.read(lastmile.WithMeter(ctx, l.c), nil)
}

// read appends the next records to a text. They are counted in place of the previous
// part.
func (l *listing) read(ctx context.Context, text []byte) ([]byte, error) {
	l.c.read = l.base
	n := min(l.most, len(l.ids))
	if n == 0 {
		return text, nil
	}
	docs, err := l.rt.show(ctx, l.c, l.ids[:n])
	if err != nil {
		return nil, err
	}
	longest := 1
	for _, doc := range docs {
		if l.any {
			text = append(text, ',')
		}
		text, l.any = append(text, doc...), true
		longest = max(longest, len(doc))
	}
	l.ids = l.ids[n:]
	l.most = max(1, min(2*l.most, maxRecords, listPart/longest))
	return text, nil
}

// send writes a part.
func (l *listing) send(w http.ResponseWriter, text []byte, last bool) error {
	if l.compressed {
		text = l.packer.pack(text, last)
	}
	//nolint:errcheck // then the limit for all responses holds
	http.NewResponseController(w).SetWriteDeadline(l.Now().Add(StreamPatience))
	if _, err := w.Write(text); err != nil {
		return errAborted // the client has disconnected
	}
	return nil
}
