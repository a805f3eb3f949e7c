package wire

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// encodedKey identifies a task in the form F, after a number of events.
type encodedKey[F any] struct {
	id     lastmile.TaskID
	events int64
}

// encodedTask is a task that has been encoded in some form.
type encodedTask struct {
	task lastmile.Task
	json []byte
}

// rememberedSize is the key of the size of all JSON that is remembered, an *atomic.Int64.
type rememberedSize struct{}

// maxRemembered is the maximum size of the JSON that is remembered.
const maxRemembered = 8 << 20

// EncodeTask encodes a task in one of its forms. If remembered has the same task in that form
// already, EncodeTask returns the same JSON, which must not be changed; otherwise it adds the
// task, up to a maximum size of all. remembered may be nil.
func EncodeTask[F Task | TaskRecord](remembered *sync.Map, t lastmile.Task, convert func(lastmile.Task) F) ([]byte, error) {
	t.History = nil // not shown, and long
	same := func(known lastmile.Task) bool { return reflect.DeepEqual(known, t) }
	return encodeTask(remembered, t, convert, same)
}

// EncodeAssignments is EncodeTask for the assignments of a task.
func EncodeAssignments(remembered *sync.Map, t lastmile.Task) ([]byte, error) {
	same := func(known lastmile.Task) bool {
		return known.Organization == t.Organization && slices.Equal(known.History, t.History)
	}
	return encodeTask(remembered, t, NewAssignments, same)
}

func encodeTask[F any](remembered *sync.Map, t lastmile.Task, convert func(lastmile.Task) F, same func(lastmile.Task) bool) ([]byte, error) {
	if remembered == nil {
		return codec.Marshal(convert(t))
	}
	key := encodedKey[F]{t.ID, t.Events}
	if found, ok := remembered.Load(key); ok && same(found.(*encodedTask).task) {
		return found.(*encodedTask).json, nil
	}
	encoded, err := codec.Marshal(convert(t))
	size, _ := remembered.LoadOrStore(rememberedSize{}, &atomic.Int64{})
	if err == nil && size.(*atomic.Int64).Add(int64(len(encoded))) <= maxRemembered {
		remembered.Store(key, &encodedTask{t, encoded})
	}
	return encoded, err
}
