package order_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"dray/internal/orderapi"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/order"
)

// TestDocsOfPrices computes the examples of docs/orders.md.
func TestDocsOfPrices(t *testing.T) {
	page, err := os.ReadFile("../../docs/orders.md")
	if err != nil {
		t.Fatal(err)
	}
	monday := time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC)
	var (
		service  order.Service
		block    []string
		inBlock  bool
		computed = map[order.RatingType]int{}
	)
	row := regexp.MustCompile(`^\| ([\d.]+) km \| (\d+) min \| ([\d.]+) kg \| (\d+) \| ([^|]+) \| ([^|]+) \|$`)
	for line := range strings.SplitSeq(string(page), "\n") {
		switch {
		case line == "```json":
			block, inBlock = nil, true
		case line == "```" && inBlock:
			inBlock = false
			var body orderapi.DeliveryServiceBody
			if err := codec.Decode([]byte(strings.Join(block, "\n")), &body); err != nil {
				t.Fatal(err)
			}
			if service, err = order.NewService("s", lastmile.Organization{}, body.Change(), func() string { return "id" }, monday); err != nil {
				t.Fatal(err)
			}
		case inBlock:
			block = append(block, line)
		case row.MatchString(line):
			cells := row.FindStringSubmatch(line)
			price, ok := service.Price(jobOf(t, service, monday, cells))
			var parts []string
			for _, e := range price.Entries {
				parts = append(parts, e.Name+" "+price.Currency.Text(e.Cost))
				computed[e.Type]++
			}
			got := strings.Join(parts, " + ") + " = " + price.Currency.Text(price.Total)
			if !ok || got != cells[6] {
				t.Errorf("%s\nis %s", line, got)
			}
		}
	}
	for _, rating := range order.RatingType("").Values() {
		if computed[rating] == 0 {
			t.Errorf("there is no example of %s", rating)
		}
	}
}

// jobOf returns the delivery in a row of the page.
func jobOf(t *testing.T, s order.Service, monday time.Time, cells []string) order.Job {
	t.Helper()
	job := order.Job{Weight: order.Weight{Unit: order.Kilograms}}
	var kilometers float64
	if _, err := fmt.Sscan(cells[1]+" "+cells[2]+" "+cells[3]+" "+cells[4], &kilometers, &job.Duration, &job.Weight.Value, &job.Quantity); err != nil {
		t.Fatal(err)
	}
	job.Distance, job.Duration = int64(kilometers*1000+0.5), job.Duration*60
	if at, err := time.Parse(time.RFC3339, cells[5]); err == nil {
		job.ReadyBy = at
		return job
	}
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		t.Fatal(err)
	}
	name, clock, _ := strings.Cut(cells[5], " ")
	for day := range 7 {
		on := monday.AddDate(0, 0, day)
		if on.Weekday().String() != name {
			continue
		}
		if job.ReadyBy, err = time.ParseInLocation("2006-01-02 15:04", on.Format(time.DateOnly)+" "+clock, zone); err != nil {
			t.Fatal(err)
		}
		return job
	}
	t.Fatalf("%q is no day and time", cells[5])
	return job
}
