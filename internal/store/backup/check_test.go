package backup_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/store/backup"
	"dray/internal/store/sqlstore"
)

func TestCheckReadsCustomFieldsAndTemplates(t *testing.T) {
	options := sqlstore.Options{Data: t.TempDir(), Serve: true}
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{Data: options.Data, Serve: true, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const org lastmile.OrganizationID = "acmeacmeacmeacmeacmeacme"
	err = s.Write(t.Context(), func(w *sqlstore.Tx) error {
		return errors.Join(
			w.SaveCustomField(t.Context(), lastmile.CustomField{Organization: org, Key: "order", Name: "Order", Type: lastmile.FieldDate}),
			w.SaveTemplate(t.Context(), customfield.Template{ID: "templatetemplatetemplate", Organization: org, Name: "T", Created: time.UnixMilli(1)}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := backup.Check(t.Context(), sqlstore.Options{Data: options.Data, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil || report.Records != 2 || len(report.Problems) > 0 {
		t.Errorf("found %+v: %v", report, err)
	}
}

// TestCheckMeetsADamagedPage damages a page that is not read when the database
// is opened.
func TestCheckMeetsADamagedPage(t *testing.T) {
	options := sqlstore.Options{Data: t.TempDir(), Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	s, err := sqlstore.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(options.Data, "dray.db")
	pages, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const third = 2 * 4096
	pages[third] ^= 1 // the kind of the page
	if err := os.WriteFile(file, pages, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = backup.Check(t.Context(), options)
	if !errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), "dray restore") {
		t.Errorf("the check ended with: %v", err)
	}
}
