package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"dray/internal/store/engine/enginetest"
	"dray/internal/store/sqlstore"
)

// Postgres returns the URL of a database that has the schema of the program and no records.
// It is dropped when the test ends. The test is skipped if no server is configured.
func Postgres(t testing.TB) string {
	t.Helper()
	return emptyPostgres.Copy(t)
}

// Folder returns a data folder whose database has the schema of the program and no records.
func Folder(t testing.TB) string {
	t.Helper()
	content, err := emptySQLite()
	if err != nil {
		t.Fatalf("build an empty database: %v", err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, databaseFile), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// databaseFile is the file of a data folder that contains the records.
const databaseFile = "dray.db"

// Every migration is a separate transaction, so that building a database takes longer than
// most tests. Each process builds one of each kind and copies it.
var (
	emptyPostgres = enginetest.Template{Build: func(url string) error { return build(sqlstore.Options{Database: url}) }}

	emptySQLite = sync.OnceValues(func() ([]byte, error) {
		folder, err := os.MkdirTemp("", "dray-empty-")
		if err != nil {
			return nil, fmt.Errorf("create a folder: %w", err)
		}
		err = build(sqlstore.Options{Data: folder})
		content, readErr := os.ReadFile(filepath.Join(folder, databaseFile))
		return content, errors.Join(err, readErr, os.RemoveAll(folder))
	})
)

// build creates a database with the schema of the program.
func build(o sqlstore.Options) error {
	o.Now = time.Now
	s, err := sqlstore.Open(context.Background(), o)
	if err != nil {
		return err
	}
	return s.Close()
}
