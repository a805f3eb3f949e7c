package sqlboard

import (
	"slices"

	"dray/internal/board"
	"dray/internal/lastmile"
)

// decodedAtOnce is the number of rows that are decoded together.
const decodedAtOnce = 64

// decoder decodes rows in another goroutine while the next ones are read.
type decoder struct {
	rows  []taskRow
	todo  chan []taskRow
	done  chan struct{}
	tasks []board.Task // owned by the goroutine until done is closed
	err   error
}

func newDecoder(org lastmile.OrganizationID) *decoder {
	d := &decoder{todo: make(chan []taskRow, 2), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		for rows := range d.todo {
			for i := range rows {
				if d.err != nil {
					continue
				}
				var task board.Task
				if task, d.err = rows[i].task(org); d.err == nil {
					d.tasks = append(d.tasks, task)
				}
			}
		}
	}()
	return d
}

// add decodes a row. It copies the documents, which are valid only until the next row.
func (d *decoder) add(row taskRow) {
	row.doc, row.destination, row.recipient = slices.Clone(row.doc), slices.Clone(row.destination), slices.Clone(row.recipient)
	if d.rows = append(d.rows, row); len(d.rows) == decodedAtOnce {
		d.todo <- d.rows
		d.rows = nil
	}
}

// end returns the tasks of all rows.
func (d *decoder) end() ([]board.Task, error) {
	d.todo <- d.rows
	close(d.todo)
	<-d.done
	return d.tasks, d.err
}

// abort ends the decoder without a result.
func (d *decoder) abort() error {
	_, err := d.end()
	return err
}
