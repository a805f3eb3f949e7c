package sqlboard

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// TestBoardsDoNotKeepLongNotes: of long notes, only what the board shows stays in memory.
func TestBoardsDoNotKeepLongNotes(t *testing.T) {
	doc := taskDoc{Notes: strings.Repeat("n", 10_000)}
	task := doc.task(destinationDoc{}, recipientDoc{})
	if len(task.Notes) != board.MaxNotes {
		t.Errorf("the notes have %d characters, want %d", len(task.Notes), board.MaxNotes)
	}
	if unsafe.StringData(task.Notes) == unsafe.StringData(doc.Notes) {
		t.Error("the task shares the memory of all of its notes")
	}
}

// TestPastTasksHaveOneListOfEachWorker: all events of a worker show the whole list, of
// which only the latest is needed, and kept.
func TestPastTasksHaveOneListOfEachWorker(t *testing.T) {
	shown, tasks := shownLists{}, []board.PastTask{}
	add := func(id lastmile.TaskID, worker lastmile.WorkerID, second int64, list string) {
		task := board.PastTask{Task: board.Task{ID: id, Worker: worker}, At: time.Unix(second, 0)}
		var doc pastDoc
		if err := wire.Unmarshal([]byte(`{"data":{"worker":{"tasks":`+list+`}}}`), &doc); err != nil {
			t.Fatal(err)
		}
		shown.add(task, doc)
		tasks = append(tasks, task)
	}
	add("a", "ada", 1, `["a"]`)
	add("b", "ada", 3, `["b","a"]`)
	add("c", "ada", 2, `["a","b","c"]`)
	add("d", "bob", 2, `["d"]`)
	if len(shown) != 2 {
		t.Errorf("%d lists are kept, want 2", len(shown))
	}
	if err := shown.attach(tasks); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]lastmile.TaskID{nil, {"b", "a"}, nil, {"d"}} {
		if !slices.Equal(tasks[i].List, want) {
			t.Errorf("task %s has the list %v, want %v", tasks[i].ID, tasks[i].List, want)
		}
	}
}
