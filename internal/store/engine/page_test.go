package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"dray/internal/store/engine"
)

// TestPagesEndAfterBytes reads pages of rows of 100 bytes each. Both databases send the rows
// that belong to a page, and no database that sends all rows sends more.
func TestPagesEndAfterBytes(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		must(t, e.Write(ctx, func(c engine.Conn) error {
			for i := range 10 {
				if err := c.Send(ctx, `INSERT INTO note (org, id, doc) VALUES ('acme', $1, $2)`, fmt.Sprint(i), make([]byte, 100)); err != nil {
					return err
				}
			}
			return c.Send(ctx, `INSERT INTO note (org, id, doc) VALUES ('other', '0', $1)`, make([]byte, 100))
		}))
		for _, test := range []struct {
			after        string
			limit, bytes int
			want         []string
		}{
			{"", 10, 1, []string{"0"}},
			{"", 10, 100, []string{"0"}},
			{"3", 10, 101, []string{"4", "5"}},
			{"3", 10, 10_000, []string{"4", "5", "6", "7", "8", "9"}},
			{"3", 2, 10_000, []string{"4", "5"}},
			{"6", 10, 0, []string{"7", "8", "9"}},
			{"9", 10, 100, nil},
		} {
			page := engine.Page{Columns: `id`, Table: `note`, Where: `org = $1 AND id > $2`, Key: `id`, Size: `LENGTH(doc)`, Limit: strconv.Itoa(test.limit), Bytes: test.bytes}
			var got []string
			must(t, e.Direct(ctx, func(c engine.Conn) (err error) {
				got, err = engine.Collect(ctx, c, func(r engine.Rows) (id string, err error) {
					err = r.Scan(&id)
					return id, err
				}, page.Statement(c.Dialect()), "acme", test.after)
				if !c.Dialect().SendsAll { // the reader stops in time
					got = got[:min(len(got), len(test.want))]
				}
				return err
			}))
			if !slices.Equal(got, test.want) {
				t.Errorf("%d rows and %d bytes after %q: %v, want %v", test.limit, test.bytes, test.after, got, test.want)
			}
		}
	})
}
