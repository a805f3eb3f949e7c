package sqlorder

import (
	"fmt"
	"strings"
	"testing"

	"dray/internal/store/engine"
)

// row is a row with a document.
type row struct {
	engine.Rows
	doc string
}

func (r row) Scan(into ...any) error { return into[0].(*engine.Raw).ScanBytes([]byte(r.doc)) }

func TestServiceCache(t *testing.T) {
	c := &ServiceCache{}
	read := func(name string, length int) {
		t.Helper()
		doc := fmt.Sprintf(`{"DisplayName":%q,"Timezone":%q}`, name, strings.Repeat("x", length))
		got, err := c.scan(row{doc: doc})
		if err != nil || got.DisplayName != name || len(got.Timezone) != length {
			t.Fatalf("%s is read as %q with %d: %v", name, got.DisplayName, len(got.Timezone), err)
		}
	}
	for range 2 {
		read("one", 10)
		read("changed", 10)
	}
	if len(c.services) != 2 {
		t.Errorf("%d services are cached, want 2", len(c.services))
	}
	for i := range 10 {
		read(fmt.Sprint("large ", i), maxCached/4)
		if c.size > maxCached {
			t.Errorf("%d bytes are cached", c.size)
		}
	}
	read("too large", maxCached)
	sum := 0
	for _, one := range c.services {
		sum += one.size
	}
	if sum != c.size || len(c.services) == 0 {
		t.Errorf("%d services of %d bytes are cached, counted as %d", len(c.services), sum, c.size)
	}
	if _, err := c.scan(row{doc: `{`}); err == nil {
		t.Error("a broken document is read")
	}
}
