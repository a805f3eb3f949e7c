package backup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/store/engine/postgres"
	"dray/internal/store/engine/sqlite"
	"dray/internal/store/sqlstore"
	"dray/internal/wire"
)

// Report is the result of a check of the data.
type Report struct {
	Engine   string   `json:"engine"`
	Records  int64    `json:"records"`
	Problems []string `json:"problems"`
	Warnings []string `json:"warnings,omitempty"` // about conditions that are not damage
}

// ErrDamaged is the error of a database that is damaged.
var ErrDamaged = sqlite.ErrDamaged

// maxProblems is the maximum number of problems in a report.
const maxProblems = 1_000

// Check reads everything and reports what is damaged or inconsistent. It changes nothing
// and may run beside a server. ErrDamaged means that the database cannot be read to the
// end. A database with another schema than that of this program is rejected.
func Check(ctx context.Context, o sqlstore.Options) (Report, error) {
	all, err := o.ReadMigrations()
	if err != nil {
		return Report{}, err
	}
	o.Existing, o.KeepSchema = true, true
	e, err := sqlstore.OpenEngine(ctx, o)
	if err != nil {
		return Report{}, err
	}
	defer e.Close()
	read := e.Read
	if p, ok := e.(*postgres.Engine); ok {
		read = p.Snapshot // a check of a large database takes longer than Read allows
	}
	report := Report{Engine: e.Name(), Problems: []string{}}
	err = read(ctx, func(c engine.Conn) error {
		if err := engine.AtHead(ctx, c, engine.Head(all)); err != nil {
			return fmt.Errorf("%w: check it with the version of dray that serves it, or let this version serve it first, which migrates it", err)
		}
		report.Records, report.Problems = 0, report.Problems[:0]
		if e.Name() == "sqlite" {
			o.Report("checking the database file", 0)
			if err := report.checkPages(ctx, c); err != nil {
				return err
			}
		}
		for _, kind := range checkedKinds {
			if err := report.checkRecords(ctx, c, kind, o); err != nil {
				return fmt.Errorf("check %s: %w", kind.table, err)
			}
		}
		o.Report("checking references", 0)
		return report.checkReferences(ctx, c)
	})
	return report, sqlite.Diagnose(o.Data, err)
}

func (r *Report) add(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// checkPages makes SQLite check its own file.
func (r *Report) checkPages(ctx context.Context, c engine.Conn) error {
	found, err := texts(ctx, c, `PRAGMA integrity_check`)
	for _, text := range found {
		if text != "ok" {
			r.add("database file: %s", text)
		}
	}
	return err
}

// checkedKind describes how the columns of a table are compared with its documents.
type checkedKind struct {
	table  string
	kind   store.Kind // kind of the metadata entries; empty if records have none
	column string     // an indexed column, compared with the record
	decode func(org lastmile.OrganizationID, doc []byte) (id, column string, m lastmile.Metadata, err error)
}

// checked returns a decoder of documents of a type of package wire.
func checked[F any](read func(lastmile.OrganizationID, F) (id, column string, m lastmile.Metadata)) func(lastmile.OrganizationID, []byte) (string, string, lastmile.Metadata, error) {
	return func(org lastmile.OrganizationID, doc []byte) (string, string, lastmile.Metadata, error) {
		var form F
		if err := json.Unmarshal(doc, &form); err != nil {
			return "", "", nil, err
		}
		id, column, m := read(org, form)
		return id, column, m, nil
	}
}

var checkedKinds = []checkedKind{
	{"destination", store.Destinations, "id", checked(func(_ lastmile.OrganizationID, f wire.Destination) (string, string, lastmile.Metadata) {
		return string(f.ID), string(f.ID), f.Metadata.Domain()
	})},
	{"recipient", store.Recipients, "phone", checked(func(_ lastmile.OrganizationID, f wire.Recipient) (string, string, lastmile.Metadata) {
		return string(f.ID), string(f.Phone), f.Metadata.Domain()
	})},
	{"worker", store.Workers, "phone", checked(func(_ lastmile.OrganizationID, f wire.WorkerRecord) (string, string, lastmile.Metadata) {
		return string(f.ID), string(f.Phone), f.Metadata.Domain()
	})},
	{"team", store.Teams, "name", checked(func(_ lastmile.OrganizationID, f wire.TeamRecord) (string, string, lastmile.Metadata) {
		return string(f.ID), f.Name, f.Metadata.Domain()
	})},
	{"admin", store.Admins, "email", checked(func(_ lastmile.OrganizationID, f wire.AdminRecord) (string, string, lastmile.Metadata) {
		return string(f.ID), f.Email, f.Metadata.Domain()
	})},
	{"custom_field", "", "id", checked(func(_ lastmile.OrganizationID, f wire.CustomField) (string, string, lastmile.Metadata) {
		return f.Key, f.Key, nil
	})},
	{"template", "", "name", checked(func(_ lastmile.OrganizationID, f wire.Template) (string, string, lastmile.Metadata) {
		return string(f.ID), f.Name, nil
	})},
	{"route_plan", "", "id", checked(func(_ lastmile.OrganizationID, f wire.RoutePlanRecord) (string, string, lastmile.Metadata) {
		return string(f.ID), string(f.ID), nil
	})},
	{"hub", "", "id", checked(func(_ lastmile.OrganizationID, f wire.HubRecord) (string, string, lastmile.Metadata) {
		return string(f.ID), string(f.ID), nil
	})},
}

// checkRecords reads every record of a table and compares it with its columns
// and its searchable metadata.
func (r *Report) checkRecords(ctx context.Context, c engine.Conn, k checkedKind, o sqlstore.Options) error {
	found, err := c.Query(ctx, `SELECT t.org, t.id, t.doc, t.`+k.column+` FROM `+k.table+` t`)
	if err != nil {
		return err
	}
	defer found.Close()
	searchable := map[[2]string]int{} // digest and id, for records that have metadata
	for found.Next() {
		var (
			org        lastmile.OrganizationID
			id, column string
			doc        []byte
		)
		if err := found.Scan(&org, &id, &doc, &column); err != nil {
			return err
		}
		r.Records++
		o.Report("checking record", r.Records)
		inDoc, columnInDoc, metadata, err := k.decode(org, doc)
		switch {
		case err != nil:
			r.add("%s %s: its document cannot be read: %v", k.table, id, err)
		case inDoc != id:
			r.add("%s %s: its document is of %s", k.table, id, inDoc)
		case columnInDoc != column:
			r.add("%s %s: %s is %q in the record and %q in the index", k.table, id, k.column, columnInDoc, column)
		}
		for _, entry := range metadata {
			searchable[[2]string{entry.Digest(), id}]++
		}
	}
	if err := found.Err(); err != nil || k.kind == "" {
		return err
	}
	return r.checkMetadata(ctx, c, k, searchable)
}

// checkMetadata compares the metadata of documents with the search index.
func (r *Report) checkMetadata(ctx context.Context, c engine.Conn, k checkedKind, searchable map[[2]string]int) error {
	stored, err := c.Query(ctx, `SELECT digest, id FROM metadata_entry WHERE kind = $1`, k.kind)
	if err != nil {
		return err
	}
	defer stored.Close()
	for stored.Next() {
		var entry [2]string
		if err := stored.Scan(&entry[0], &entry[1]); err != nil {
			return err
		}
		if _, ok := searchable[entry]; !ok {
			r.add("%s %s: a search finds metadata it does not have", k.table, entry[1])
		}
		delete(searchable, entry)
	}
	for entry := range searchable {
		r.add("%s %s: a search misses metadata it has", k.table, entry[1])
	}
	slices.Sort(r.Problems)
	return stored.Err()
}

// references are the columns that hold the id of another record: table, column and target.
var references = [][3]string{
	{"team_worker", "team", "team"},
	{"team_worker", "worker", "worker"},
	{"team_manager", "team", "team"},
	{"team_manager", "admin", "admin"},
	{"team", "hub", "hub"},
	{"replan", "team", "team"},
	{"worker_credential", "worker", "worker"},
	{"worker_schedule", "worker", "worker"},
	{"duty_change", "worker", "worker"},
	{"route_plan", "worker", "worker"},
	{"route_plan", "team", "team"},
	{"task", "route_plan", "route_plan"},
}

// checkReferences finds references to records that do not exist.
func (r *Report) checkReferences(ctx context.Context, c engine.Conn) error {
	for _, ref := range references {
		table, column, target := ref[0], ref[1], ref[2]
		lost, err := texts(ctx, c, `SELECT t.`+column+` FROM `+table+` t WHERE t.`+column+` IS NOT NULL AND NOT EXISTS (
			SELECT 1 FROM `+target+` o WHERE o.org = t.org AND o.id = t.`+column+`)`+" LIMIT "+strconv.Itoa(maxProblems))
		if err != nil {
			return fmt.Errorf("check %s of %s: %w", column, table, err)
		}
		for _, id := range lost {
			r.add("%s: %s %s does not exist", table, column, id)
		}
	}
	return nil
}

// texts runs a query for one column of texts.
func texts(ctx context.Context, c engine.Conn, query string) ([]string, error) {
	found, err := c.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var all []string
	for found.Next() {
		var text string
		if err := found.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, found.Err()
}
