package backup_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
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
	err = s.Write(t.Context(), func(w store.Writer) error {
		return errors.Join(
			w.SaveCustomField(t.Context(), lastmile.CustomField{Organization: org, Key: "order", Name: "Order", Type: lastmile.FieldDate}),
			w.SaveTemplate(t.Context(), lastmile.Template{ID: "templatetemplatetemplate", Organization: org, Name: "T", Created: time.UnixMilli(1)}),
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
