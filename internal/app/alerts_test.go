package app_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/app"
)

// takeovers are the longest leases, by kind of work; see "Limits of the server" in
// docs/operations.md.
var takeovers = map[string]time.Duration{
	"createBatch": 3 * time.Second, "webhook": 20 * time.Second, "textMessage": 30 * time.Second, "estimate": time.Minute,
}

// TestDocumentedMetricsExist compares the metrics and alert rules of
// docs/operations.md with those of a running node.
func TestDocumentedMetricsExist(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := runningMetrics(t)
	name := regexp.MustCompile(`\bdray_[a-z_]+`)
	documented, existing := name.FindAllString(string(text), -1), map[string]bool{}
	for line := range strings.SplitSeq(metrics, "\n") {
		if fields := strings.Fields(line); len(fields) > 2 && fields[1] == "TYPE" && strings.HasPrefix(fields[2], "dray_") {
			existing[fields[2]] = true
			if !slices.Contains(documented, fields[2]) {
				t.Errorf("%s is not documented", fields[2])
			}
		}
	}
	for _, one := range documented {
		if !existing[one] {
			t.Errorf("there is no metric %s", one)
		}
	}

	_, rules, found := strings.Cut(string(text), "groups:\n")
	rules, _, ended := strings.Cut(rules, "```")
	if !found || !ended {
		t.Fatal("there are no alert rules")
	}
	for _, selector := range regexp.MustCompile(`(dray_[a-z_]+)\{(\w+)="([^"]+)"\}`).FindAllStringSubmatch(rules, -1) {
		if !strings.Contains(metrics, selector[0]) {
			t.Errorf("an alert rule uses %s, which no node has", selector[0])
		}
	}
	for kind, takeover := range takeovers {
		limit := regexp.MustCompile(`oldest_due_seconds\{kind="` + kind + `"\}\) > (\d+)`).FindStringSubmatch(rules)
		if limit == nil {
			t.Errorf("no alert rule watches work of kind %s", kind)
			continue
		}
		if seconds, _ := strconv.Atoi(limit[1]); time.Duration(seconds)*time.Second < 2*takeover {
			t.Errorf("the alert rule of %s fires after %d s, although a takeover may take %v", kind, seconds, takeover)
		}
	}
	for _, step := range regexp.MustCompile(`step="([^"]+)"`).FindAllStringSubmatch(metrics, -1) {
		if !strings.HasPrefix(step[1], "purge") && !strings.Contains(rules, step[0]) {
			t.Errorf("no alert rule watches the step %q", step[1])
		}
	}
}

// runningMetrics returns the metrics of a node.
func runningMetrics(t *testing.T) (text string) {
	t.Helper()
	config := app.DefaultConfig()
	config.Data = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		m := newMonth(t, config)
		m.start()
		time.Sleep(time.Minute)
		m.send(http.MethodGet, "http://dray/api/v2/tasks", "", nil) // for the metrics of requests
		_, body := m.send(http.MethodGet, "http://admin/metrics", "", nil)
		text = string(body)
	})
	return text
}
