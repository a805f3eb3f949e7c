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

func TestDecodedServices(t *testing.T) {
	d := &Decoded{}
	read := func(name string, length int) {
		t.Helper()
		doc := fmt.Sprintf(`{"DisplayName":%q,"Timezone":%q}`, name, strings.Repeat("x", length))
		got, err := d.scan(row{doc: doc})
		if err != nil || got.DisplayName != name || len(got.Timezone) != length {
			t.Fatalf("%s is read as %q with %d: %v", name, got.DisplayName, len(got.Timezone), err)
		}
	}
	for range 2 {
		read("one", 10)
		read("changed", 10)
	}
	if len(d.services) != 2 {
		t.Errorf("%d services are kept, want 2", len(d.services))
	}
	for i := range 10 {
		read(fmt.Sprint("large ", i), maxDecoded/4)
		if d.size > maxDecoded {
			t.Errorf("%d bytes are kept", d.size)
		}
	}
	read("too large", maxDecoded)
	sum := 0
	for _, one := range d.services {
		sum += one.size
	}
	if sum != d.size || len(d.services) == 0 {
		t.Errorf("%d services of %d bytes are kept, counted as %d", len(d.services), sum, d.size)
	}
	if _, err := d.scan(row{doc: `{`}); err == nil {
		t.Error("a broken document is read")
	}
}
