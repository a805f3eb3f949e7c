package contract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

func TestWorkerScheduleContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := newFleet(t, p, "Acme")
		path := "/workers/" + c.worker(t, "+12125550101") + "/schedule"
		zone, err := time.LoadLocation("America/Los_Angeles")
		if err != nil {
			t.Fatal(err)
		}
		today := p.Now().In(zone).AddDate(0, 0, 1)
		noon := time.Date(today.Year(), today.Month(), today.Day(), 12, 0, 0, 0, zone)
		p.Advance(noon.Sub(p.Now())) // no day is over before the test is
		// day returns the entry of a day that is some days after today, with shifts.
		day := func(ahead int, shifts ...[2]int) string {
			midnight := time.Date(noon.Year(), noon.Month(), noon.Day()+ahead, 0, 0, 0, 0, zone)
			var list []string
			for _, s := range shifts {
				list = append(list, fmt.Sprintf("[%d,%d]", midnight.Add(time.Duration(s[0])*time.Hour).UnixMilli(), midnight.Add(time.Duration(s[1])*time.Hour).UnixMilli()))
			}
			return `{"date":"` + midnight.Format(time.DateOnly) + `","timezone":"America/Los_Angeles","shifts":[` + strings.Join(list, ",") + `]}`
		}
		matches(t, c.Must(t, "GET", path, nil), `{"entries":[]}`)

		t.Run("a schedule is replaced, its latest day first and without days that are over", func(t *testing.T) {
			today, later := day(0, [2]int{9, 12}, [2]int{13, 17}), day(3, [2]int{20, 29})
			want := `{"entries":[` + later + `,` + today + `]}`
			matches(t, c.Must(t, "POST", path, `{"entries":[`+day(-1, [2]int{9, 17})+`,`+today+`,`+day(-400)+`,`+later+`]}`), want)
			matches(t, c.Must(t, "GET", path, nil), want)
			matches(t, c.Must(t, "POST", path, `{"entries":[`+day(5)+`]}`), `{"entries":[`+day(5)+`]}`)
			matches(t, c.Must(t, "POST", path, `{"entries":[]}`), `{"entries":[]}`)
			matches(t, c.Must(t, "GET", path, nil), `{"entries":[]}`)
		})
		t.Run("an invalid schedule is rejected, and the old one stays", func(t *testing.T) {
			kept := `{"entries":[` + day(2, [2]int{9, 17}) + `]}`
			c.Must(t, "POST", path, kept)
			const shift = `[1893456000000,1893459600000]`
			many := make([]string, 367)
			for i := range many {
				many[i] = day(i + 1)
			}
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                    {``, malformed, []string{"entries"}},
				"no entries":                 {`{}`, malformed, []string{"entries"}},
				"null entries":               {`{"entries":null}`, malformed, []string{"entries"}},
				"an object of entries":       {`{"entries":{}}`, malformed, []string{"entries", "array"}},
				"an entry as a text":         {`{"entries":["2030-01-01"]}`, malformed, []string{"entries[0]"}},
				"no date":                    {`{"entries":[{"timezone":"UTC","shifts":[]}]}`, malformed, []string{"entries[0].date"}},
				"no time zone":               {`{"entries":[{"date":"2030-01-01","shifts":[]}]}`, malformed, []string{"entries[0].timezone"}},
				"a date that does not exist": {`{"entries":[{"date":"2030-02-30","timezone":"UTC","shifts":[]}]}`, invalid, []string{"date", "2030-02-30"}},
				"a date of another order":    {`{"entries":[{"date":"01/02/2030","timezone":"UTC","shifts":[]}]}`, invalid, []string{"date"}},
				"an unknown time zone":       {`{"entries":[{"date":"2030-01-01","timezone":"Mars","shifts":[]}]}`, invalid, []string{"entries[0].timezone", "Mars"}},
				"one day twice":              {`{"entries":[` + day(1) + `,` + day(1) + `]}`, invalid, []string{"entries", "twice"}},
				"too many days":              {`{"entries":[` + strings.Join(many, ",") + `]}`, invalid, []string{"entries", "366"}},
				"a shift that ends first":    {`{"entries":[{"date":"2030-01-01","timezone":"UTC","shifts":[[1893459600000,1893456000000]]}]}`, invalid, []string{"shift"}},
				"a shift of no length":       {`{"entries":[{"date":"2030-01-01","timezone":"UTC","shifts":[[1893459600000,1893459600000]]}]}`, invalid, []string{"shift"}},
				"shifts that overlap":        {`{"entries":[{"date":"2030-01-01","timezone":"UTC","shifts":[` + shift + `,` + shift + `]}]}`, invalid, []string{"shifts"}},
				"days that overlap":          {`{"entries":[` + day(1, [2]int{20, 30}) + `,` + day(2, [2]int{5, 12}) + `]}`, invalid, []string{"entries", "overlap"}},
				"a shift of one time":        {`{"entries":[{"date":"2030-01-01","timezone":"UTC","shifts":[[1893459600000]]}]}`, malformed, []string{"entries[0].shifts[0]"}},
				"a shift without a start":    {`{"entries":[{"date":"2030-01-01","timezone":"UTC","shifts":[[null,1893459600000]]}]}`, malformed, []string{"shift"}},
				"a shift without an end":     {`{"entries":[{"date":"2030-01-01","timezone":"UTC","shifts":[[1893459600000,null]]}]}`, malformed, []string{"shift"}},
				"a shift in seconds":         {`{"entries":[{"date":"2030-01-01","timezone":"UTC","shifts":[[1893456000,1893459600]]}]}`, invalid, []string{"entries[0].shifts[0][0]", "milliseconds"}},
				"a shift in words":           {`{"entries":[{"date":"2030-01-01","timezone":"UTC","shifts":[["noon","night"]]}]}`, malformed, []string{"entries[0].shifts[0][0]"}},
			} {
				t.Run(name, func(t *testing.T) { tt.want.check(t, c.Call(t, "POST", path, tt.body), tt.words...) })
			}
			matches(t, c.Must(t, "GET", path, nil), kept)
		})
	})
}
