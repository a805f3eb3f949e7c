package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// bulkRows is the number of rows that one statement inserts if there are many.
const bulkRows = 25

// insertion is a statement that inserts rows of one table.
type insertion struct {
	one, many string // for one row, and for bulkRows
}

// newInsertion returns an insertion into columns of a table. otherwise is the ON CONFLICT
// action for rows that exist; if it is empty, they are an error.
func newInsertion(table, columns, otherwise string) insertion {
	return newComputed(table, columns, otherwise, "", "")
}

// newComputed returns an insertion that computes one column by an expression, in which a
// question mark stands for the argument.
func newComputed(table, columns, otherwise, column, expression string) insertion {
	names := strings.Split(columns, ",")
	n := len(names)
	text := func(rows int) string {
		var b strings.Builder
		b.WriteString("INSERT INTO " + table + " (" + columns + ") VALUES ")
		for i := range rows * n {
			switch {
			case i == 0:
				b.WriteString("(")
			case i%n == 0:
				b.WriteString("), (")
			default:
				b.WriteString(", ")
			}
			value := "$" + strconv.Itoa(i+1)
			if strings.TrimSpace(names[i%n]) == column {
				value = strings.Replace(expression, "?", value, 1)
			}
			b.WriteString(value)
		}
		b.WriteString(")")
		if otherwise != "" {
			b.WriteString(" ON CONFLICT " + otherwise)
		}
		return b.String()
	}
	return insertion{one: text(1), many: text(bulkRows)}
}

// insert sends the statements that insert the rows.
func (t *base) insert(ctx context.Context, i insertion, rows [][]any) error {
	for ; len(rows) >= bulkRows && !t.oneByOne(); rows = rows[bulkRows:] {
		args := make([]any, 0, bulkRows*len(rows[0]))
		for _, row := range rows[:bulkRows] {
			args = append(args, row...)
		}
		if err := t.send(ctx, i.many, args...); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if err := t.send(ctx, i.one, row...); err != nil {
			return err
		}
	}
	return nil
}

// SaveNew saves new records with fewer statements than saving each of them. It returns
// store.UsedKeys if import keys of the tasks have been used.
func (t taskTx) SaveNew(ctx context.Context, r store.NewRecords) error {
	if err := t.claimKeys(ctx, r.Tasks); err != nil {
		return err
	}
	var (
		destinations, recipients, tasks, listed, metadata [][]any
		err                                               error
	)
	add := func(rows *[][]any, row []any, failed error) {
		*rows = append(*rows, row)
		if err == nil {
			err = failed
		}
	}
	for _, d := range r.Destinations {
		row, failed := destinationRow(d)
		add(&destinations, row, failed)
		metadata = append(metadata, metadataRows(store.Destinations, d.Organization, string(d.ID), d.Metadata)...)
	}
	for _, p := range r.Recipients {
		row, failed := recipientRow(p)
		add(&recipients, row, failed)
		metadata = append(metadata, metadataRows(store.Recipients, p.Organization, string(p.ID), p.Metadata)...)
	}
	ranks, err := t.lastRanks(ctx, r.Tasks)
	if err != nil {
		return err
	}
	for i, task := range r.Tasks {
		if ranks[i] != 0 {
			row, failed := t.taskRow(task, ranks[i])
			add(&listed, row, failed)
		} else {
			row, failed := t.taskRow(task, t.newRank(task, i))
			add(&tasks, row, failed)
		}
		metadata = append(metadata, taskMetadataRows(task)...)
		if err := t.addDependencies(ctx, task); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	for _, table := range []struct {
		insertion
		rows [][]any
	}{
		{destinationInsertion, destinations}, {recipientInsertion, recipients}, {t.taskInsertion(), tasks}, {placedTasks, listed}, {metadataInsertion, metadata},
	} {
		if err := t.insert(ctx, table.insertion, table.rows); err != nil {
			return fmt.Errorf("save new records: %w", err)
		}
	}
	return nil
}

// importKeyInsertion saves import keys that have not been used.
var importKeyInsertion = newInsertion(`import_key`, `org, key, task`, `DO NOTHING`)

// claimKeys saves the import keys of new tasks, which are distinct. It returns
// store.UsedKeys if some have been used. Of two transactions with the same key, one waits
// for the other; on PostgreSQL, it then runs again.
func (t taskTx) claimKeys(ctx context.Context, tasks []lastmile.Task) error {
	var (
		org   lastmile.OrganizationID // the creator of the tasks, which owns the keys
		keys  []string
		owner = map[string]lastmile.TaskID{}
	)
	for _, task := range tasks {
		if task.ImportKey != "" {
			org = cmp.Or(task.Origin, task.Organization)
			keys = append(keys, task.ImportKey)
			owner[task.ImportKey] = task.ID
		}
	}
	slices.Sort(keys) // a fixed order, so that transactions with the same keys do not deadlock
	added := int64(0)
	for some := range slices.Chunk(keys, bulkRows) {
		statement, rows := importKeyInsertion.many, [][]string{some}
		if len(some) < bulkRows {
			statement, rows = importKeyInsertion.one, slices.Collect(slices.Chunk(some, 1))
		}
		for _, row := range rows {
			var args []any
			for _, key := range row {
				args = append(args, org, key, owner[key])
			}
			n, err := t.exec(ctx, statement, args...)
			if err != nil {
				return fmt.Errorf("save import keys: %w", err)
			}
			added += n
		}
	}
	if added == int64(len(keys)) {
		return nil
	}
	// The keys are read only now, because on PostgreSQL reading many of them conflicts with
	// transactions that add some.
	where := within(org)
	in(where, `t.key`, keys)
	used := store.UsedKeys{}
	_, err := collect(ctx, t, func(r rows) (key string, err error) {
		var task lastmile.TaskID
		if err := r.Scan(&key, &task); err != nil {
			return key, err
		}
		if task != owner[key] {
			used[key] = task
		}
		return key, nil
	}, `SELECT t.key, t.task FROM import_key t WHERE `+where.text, where.args...)
	if err != nil {
		return fmt.Errorf("read import keys: %w", err)
	}
	return used
}

// lastRanks returns ranks at the ends of the lists of workers and teams for the new tasks
// in them, and 0 for other tasks.
func (t taskTx) lastRanks(ctx context.Context, tasks []lastmile.Task) ([]int64, error) {
	type list struct {
		org lastmile.OrganizationID
		in  lastmile.ContainerRef
	}
	ranks, places := make([]int64, len(tasks)), map[list][]int{}
	for i, task := range tasks {
		if task.Container.Kind == lastmile.InTeam || task.Container.Kind == lastmile.InWorker {
			in := list{task.Organization, task.Container}
			places[in] = append(places[in], i)
		}
	}
	for in, at := range places {
		first, err := containerTx(t).claimEnd(ctx, in.org, in.in, len(at), tasks[at[0]].Created)
		if err != nil {
			return nil, err
		}
		for n, i := range at {
			ranks[i] = first + int64(n)*rankStep
		}
	}
	return ranks, nil
}

// newTaskInsertion saves rows that record new tasks.
var newTaskInsertion = newInsertion(`new_task`, `org, task, executor`, `DO NOTHING`)

// NoteNewTasks records, for the log of lists, that tasks were created without an event.
func (t taskTx) NoteNewTasks(ctx context.Context, tasks []lastmile.Task) error {
	rows := make([][]any, 0, len(tasks))
	for _, task := range tasks {
		rows = append(rows, []any{task.Organization, task.ID, task.Organization})
		if task.Origin != "" {
			rows = append(rows, []any{task.Origin, task.ID, task.Organization})
		}
	}
	if err := t.insert(ctx, newTaskInsertion, rows); err != nil {
		return fmt.Errorf("note new tasks: %w", err)
	}
	return nil
}

// metadataInsertion saves searchable entries.
var metadataInsertion = newInsertion(`metadata_entry`, `org, kind, digest, id`, `DO NOTHING`)

// metadataRows returns the searchable entries of a record.
func metadataRows(kind store.Kind, org lastmile.OrganizationID, id string, metadata lastmile.Metadata) [][]any {
	rows := make([][]any, 0, len(metadata))
	for _, entry := range metadata {
		rows = append(rows, []any{org, kind, entry.Digest(), id})
	}
	return rows
}
