package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// shown are the statements that read a whole record in one row.
var shown = map[store.Kind]string{
	store.Destinations: `SELECT doc FROM destination WHERE org = $1 AND id = $2`,
	store.Recipients:   `SELECT doc FROM recipient WHERE org = $1 AND id = $2`,
	store.Templates:    `SELECT doc FROM template WHERE org = $1 AND id = $2`,
}

// Show returns one record in the form of the API, ready to send. It is the
// cheapest read there is.
func (s *Store) Show(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, id string) ([]byte, error) {
	if !lastmile.ValidID(id) {
		return nil, lastmile.NotFound(string(kind), id)
	}
	if kind == store.Tasks {
		return s.showTask(ctx, org, id)
	}
	query, whole := shown[kind]
	if !whole {
		return s.assemble(ctx, kind, org, id)
	}
	var doc []byte
	err := s.engine.Direct(ctx, func(c engine.Conn) error {
		err := c.Row(ctx, query, string(org), id).Scan(&doc)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return newTx(sqlConn{c}, s.now).missing(ctx, kind, id)
		case err != nil:
			return fmt.Errorf("read %s %s: %w", kind, id, err)
		}
		return nil
	})
	return doc, err
}

// Find returns the ids of the tasks, destinations or recipients that have all of the
// metadata entries, in the order in which they are listed, up to limit.
func (s *Store) Find(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, metadata lastmile.Metadata, most int) (ids []string, err error) {
	where := within(org).has(kind, metadata)
	query, args := `SELECT t.id FROM `+string(kind)+` t WHERE `+where.text, where.args
	switch kind {
	case store.Tasks:
		page, of := listPage(org, store.TaskFilter{Metadata: metadata, Limit: most}, 0)
		query, args = `SELECT id FROM (`+page+`) AS p ORDER BY created, id`, of
	case store.Recipients:
		query += ` ORDER BY t.created DESC, t.id` + limit(most)
	default:
		query += ` ORDER BY t.created, t.id` + limit(most)
	}
	err = s.engine.Direct(ctx, func(c engine.Conn) error {
		ids, err = collect(ctx, newTx(sqlConn{c}, s.now), scanID[string], query, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", kind, err)
	}
	return ids, nil
}

// ShowAll returns records in the order of their ids, without those that do not
// exist any more. The caller divides long lists: a statement must not hold all of
// one in memory.
func (s *Store) ShowAll(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, ids []string) (docs [][]byte, err error) {
	byID := make(map[string][]byte, len(ids))
	where := within(org)
	in(where, `t.id`, ids)
	err = s.engine.Direct(ctx, func(c engine.Conn) error {
		t := newTx(sqlConn{c}, s.now)
		if kind == store.Tasks {
			tasks, err := collect(ctx, t, t.scanShown, `SELECT `+taskColumns+taskTables+` WHERE `+where.text, where.args...)
			for _, task := range tasks {
				byID[string(task.ID)] = task.Doc
			}
			return err
		}
		_, err := collect(ctx, t, func(r rows) (doc []byte, err error) {
			var id string
			err = r.Scan(&id, &doc)
			byID[id] = doc
			return doc, err
		}, `SELECT t.id, t.doc FROM `+string(kind)+` t WHERE `+where.text, where.args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %ss: %w", kind, err)
	}
	for _, id := range ids {
		if doc, ok := byID[id]; ok {
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// assemble reads a record that is made of several rows.
func (s *Store) assemble(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, id string) (doc []byte, err error) {
	err = s.engine.Read(ctx, func(c engine.Conn) error {
		t := newTx(sqlConn{c}, s.now)
		var record any
		switch kind {
		case store.Workers:
			var worker lastmile.Worker
			worker, err = t.WholeWorker(ctx, org, lastmile.WorkerID(id))
			record = wire.NewWorker(worker)
		case store.Teams:
			var team lastmile.Team
			team, err = t.WholeTeam(ctx, org, lastmile.TeamID(id))
			record = wire.NewTeam(team)
		case store.Admins:
			var admin lastmile.Admin
			admin, err = t.Admin(ctx, org, lastmile.AdminID(id))
			record = wire.NewAdmin(admin)
		case store.Hubs:
			var hub lastmile.Hub
			hub, err = t.Hub(ctx, org, lastmile.HubID(id))
			record = wire.NewHub(hub)
		default:
			err = fmt.Errorf("cannot show a %s", kind)
		}
		if err != nil {
			return err
		}
		doc, err = wire.Marshal(record)
		return err
	})
	return doc, err
}
