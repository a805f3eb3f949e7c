package sqlboard

import (
	"slices"

	"dray/internal/board"
	"dray/internal/lastmile"
)

// Rows are decoded together until they are this many, or their documents this long.
const (
	decodedAtOnce = 64
	decodedBytes  = 256 << 10
)

// decoder decodes rows in another goroutine while the next ones are read. It stops at the
// first error.
type decoder struct {
	rows  []taskRow
	bytes int // of the documents of rows
	todo  chan []taskRow
	done  chan struct{}
	tasks []board.Task // owned by the goroutine until done is closed
	err   error
}

// newDecoder returns a decoder that counts the tasks with a meter, if it is not nil.
func newDecoder(org lastmile.OrganizationID, meter lastmile.Meter) *decoder {
	d := &decoder{todo: make(chan []taskRow, 2), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		for rows := range d.todo {
			for i := range rows {
				var task board.Task
				if task, d.err = rows[i].task(org); d.err == nil {
					d.err = count(meter, task)
				}
				if d.err != nil {
					return
				}
				d.tasks = append(d.tasks, task)
			}
		}
	}()
	return d
}

// add decodes a row, and reports false if the decoder has stopped. It copies the documents,
// which are valid only until the next row.
func (d *decoder) add(row taskRow) bool {
	row.doc, row.destination, row.recipient = slices.Clone(row.doc), slices.Clone(row.destination), slices.Clone(row.recipient)
	d.rows = append(d.rows, row)
	d.bytes += len(row.doc) + len(row.destination) + len(row.recipient)
	if len(d.rows) < decodedAtOnce && d.bytes < decodedBytes {
		return true
	}
	return d.flush()
}

func (d *decoder) flush() bool {
	rows := d.rows
	d.rows, d.bytes = nil, 0
	select {
	case d.todo <- rows:
		return true
	case <-d.done:
		return false
	}
}

// end returns the tasks of all rows.
func (d *decoder) end() ([]board.Task, error) {
	d.flush()
	close(d.todo)
	<-d.done
	return d.tasks, d.err
}

// abort ends the decoder without a result.
func (d *decoder) abort() error {
	_, err := d.end()
	return err
}
