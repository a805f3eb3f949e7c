package api

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"time"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

// MaxBatchBody is the largest body of a request for a batch, in bytes: 500
// tasks with the longest notes there can be are 20 MB of notes alone.
const MaxBatchBody = 32 << 20

func (s *Server) batchRoutes() []route {
	return tagged("Tasks",
		bulk(post("/tasks/batch", "Create up to 100 tasks at once", wire.TaskBatch{}, s.createTasks)),
		bulk(post("/tasks/batch-async", "Create up to 500 tasks in the background", wire.BatchJob{}, s.submitBatch)),
		get("/tasks/batch/{jobId}", "Read how far a batch is", wire.Batch{}, s.showBatch),
	)
}

// bulk makes a route take a body as large as that of a batch, and have the
// errors of one, which have another shape than all others (interface, "POST
// /tasks/batch-async").
func bulk(rt route) route {
	rt.batch = true
	return rt
}

// maxBody is the largest body that the route takes.
func (rt route) maxBody() int64 {
	if rt.batch {
		return MaxBatchBody
	}
	return cmp.Or(rt.largest, MaxBody)
}

// uploadTime is how long the body of a batch, or an image, may take to arrive.
const uploadTime = time.Minute

// giveTime lets a body that may be large arrive later than others must.
func (rt route) giveTime(w http.ResponseWriter, now time.Time) {
	if rt.maxBody() > MaxBody {
		//nolint:errcheck // then the limit for all bodies holds
		http.NewResponseController(w).SetReadDeadline(now.Add(uploadTime))
	}
}

// shaped returns an error in the shape of the route's errors. Callers without
// access get the same error everywhere.
func (rt route) shaped(rejected *lastmile.Error, body ErrorBody) any {
	if !rt.batch || !batchShaped(wire.ErrorKindOf(rejected.Code).Status) {
		return body
	}
	return wire.NewBatchError(rejected)
}

// batchShaped reports whether an error of a batch has its own shape.
func batchShaped(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests:
		return false
	}
	return true
}

func (s *Server) createTasks(ctx context.Context, c *call, body wire.BatchBody) (any, error) {
	items, err := body.Items(c.who.Organization)
	if err != nil {
		return nil, err
	}
	return s.Tasks.CreateAll(ctx, c.who, items)
}

func (s *Server) submitBatch(ctx context.Context, c *call, body wire.BatchBody) (any, error) {
	items, err := body.Items(c.who.Organization)
	if err != nil {
		return nil, err
	}
	return s.Tasks.Submit(ctx, c.who, items)
}

func (s *Server) showBatch(ctx context.Context, c *call) (any, error) {
	batch, err := s.Tasks.Batch(ctx, c.who, lastmile.BatchID(c.http.PathValue("jobId")))
	if err != nil {
		return nil, err
	}
	return wire.NewBatch(batch, wire.Millis(s.Now())), nil
}

// sentTask describes a task of a batch as sent: whatever it is, it comes back
// with its error.
func sentTask(b *schemas, f form) *schema {
	if !f.request {
		return ofType("object")
	}
	return b.of(reflect.TypeFor[wire.TaskBody](), form{request: true, name: "NewTaskBody", needs: []string{"destination", "recipients"}})
}

func batchTasks(b *schemas) *schema {
	list := listOf(sentTask(b, form{request: true}))
	list.MinItems, list.MaxItems = 1, lastmile.MaxBatch
	return list
}

// batchRefusal describes an error of a batch like one of other requests.
func (b *specBuilder) batchRefusal(like *response) *response {
	r := *like
	r.Content = map[string]content{jsonType: {Schema: b.of(reflect.TypeFor[wire.BatchError](), form{})}}
	return &r
}

func batchResponseName(status int) string { return "Batch" + responseName(status) }
