package sqlboard

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// allowance is a meter with the number of bytes that may still be counted.
type allowance int

var errNoMemory = errors.New("no memory")

// Count implements lastmile.Meter.
func (a *allowance) Count(bytes int) error {
	if *a -= allowance(bytes); *a < 0 {
		return errNoMemory
	}
	return nil
}

func TestMemoryOfTasks(t *testing.T) {
	if got := memory(board.Task{Address: "350 5th Avenue, New York", Recipient: "Ada", Notes: "Ring twice."}); got != taskBytes {
		t.Errorf("a task with short texts counts %d bytes, want %d", got, taskBytes)
	}
	long := strings.Repeat("é", 1_000)
	for name, test := range map[string]struct {
		board.Task
		texts int
	}{
		"an address":     {board.Task{Address: long}, len(long)},
		"a recipient":    {board.Task{Recipient: long}, len(long)},
		"a reason":       {board.Task{FailureReason: long}, len(long)},
		"notes":          {board.Task{Notes: long}, len(long)},
		"warnings":       {board.Task{Warnings: []string{long}}, len(long)},
		"dependencies":   {board.Task{Dependencies: slices.Repeat([]lastmile.TaskID{"K2dF8gHj5LzX9cVb7NmQ4wRt"}, 100)}, 100 * 24},
		"several fields": {board.Task{Address: long, Recipient: long}, 2 * len(long)},
	} {
		if got := memory(test.Task); got < taskBytes-shortBytes+test.texts {
			t.Errorf("%s: a task with %d bytes of text counts %d", name, test.texts, got)
		}
	}
}

// row returns a row of a task whose address has a street.
func row(t *testing.T, street string) taskRow {
	t.Helper()
	destination, err := wire.Marshal(destinationDoc{Address: wire.Address{Street: street}})
	if err != nil {
		t.Fatal(err)
	}
	return taskRow{doc: []byte(`{"id":"K2dF8gHj5LzX9cVb7NmQ4wRt"}`), destination: destination}
}

// TestDecoderCountsLongAddresses: the memory for a number of tasks is enough for fewer
// tasks with long addresses, and the decoder stops there.
func TestDecoderCountsLongAddresses(t *testing.T) {
	const tasks = 10 * decodedAtOnce
	read := func(street string) (added int, err error) {
		left := allowance(tasks * taskBytes)
		d, of := newDecoder("", &left), row(t, street)
		for added < tasks && d.add(of) {
			added++
		}
		_, err = d.end()
		return added, err
	}
	if added, err := read("5th Avenue"); added != tasks || err != nil {
		t.Errorf("%d tasks with short addresses were read: %v", added, err)
	}
	if added, err := read(strings.Repeat("s", 20*taskBytes)); added == tasks || !errors.Is(err, errNoMemory) {
		t.Errorf("%d tasks with long addresses were read: %v", added, err)
	}
}

// TestDecoderHoldsFewLongRows: long rows do not wait for others before they are decoded.
func TestDecoderHoldsFewLongRows(t *testing.T) {
	d, of := newDecoder("", nil), row(t, strings.Repeat("s", decodedBytes/4))
	for range 20 {
		if !d.add(of) {
			t.Fatal("the decoder stopped")
		}
		if held := len(d.rows) * len(of.destination); held > decodedBytes {
			t.Fatalf("%d bytes wait to be decoded", held)
		}
	}
	if tasks, err := d.end(); len(tasks) != 20 || err != nil {
		t.Errorf("%d tasks were decoded: %v", len(tasks), err)
	}
}

// TestTasksInPlaceOfOthers: of tasks that are read in place of others, what they take
// besides the memory of those is counted.
func TestTasksInPlaceOfOthers(t *testing.T) {
	short, long := board.Task{}, board.Task{Address: strings.Repeat("a", 10*taskBytes)}
	left := allowance(memory(long) - taskBytes)
	meter := replacing([]board.Task{short, short}, &left)
	for _, task := range []board.Task{short, long} {
		if err := count(meter, task); err != nil {
			t.Errorf("a task takes more than is left: %v", err)
		}
	}
	if left != 0 {
		t.Errorf("%d bytes are left, want 0", left)
	}
	if err := count(meter, short); !errors.Is(err, errNoMemory) {
		t.Errorf("a task without memory: %v", err)
	}
	if replacing([]board.Task{short}, nil) != nil {
		t.Error("without a meter, there is one")
	}
}
