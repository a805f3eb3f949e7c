package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/simulate"
)

func TestTailLines(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 16, 12, 31, 4, 0, zone)
	lines := &eventLines{zone: zone, worker: rememberNames(func(id lastmile.WorkerID) string { return map[lastmile.WorkerID]string{"w1": "Ada"}[id] })}
	times := strings.NewReplacer(
		"NOW", millis(at), "BEFORE", millis(at.Add(-4*time.Minute)), "AFTER", millis(at.Add(4*time.Minute)), "HOURS", millis(at.Add(-90*time.Minute)),
	)
	const address = `"destination":{"address":{"number":"98","street":"E 37th St","city":"New York"}}`
	const arrival = `"state":2,"completionDetails":{"failureReason":"NONE","events":[{"name":"start","time":1},{"name":"arrival","time":NOW}]}`
	for _, tt := range []struct{ body, want string }{
		{`{"triggerId":7,"data":{"task":{"completeAfter":AFTER,"completeBefore":null,` + address + `,` + arrival + `}}`, "arrived · 98 E 37th St · 4 min early"},
		{`{"triggerId":7,"data":{"task":{"completeAfter":BEFORE,"completeBefore":NOW,` + address + `,` + arrival + `}}`, "arrived · 98 E 37th St · on time"},
		{`{"triggerId":7,"data":{"task":{"completeAfter":null,"completeBefore":BEFORE,"worker":"w1",` + address + `,` + arrival + `}}`, "arrived · 98 E 37th St · 4 min late · Ada"},
		{`{"triggerId":7,"data":{"task":{"completeAfter":null,"completeBefore":null,` + address + `,` + arrival + `}}`, "arrived · 98 E 37th St"},
		{`{"triggerId":7,"data":{"task":{` + address + `,"state":2,"completionDetails":{"events":[{"name":"departure","time":NOW}]}}}`, "left · 98 E 37th St"},
		{`{"triggerId":7,"data":{"task":{` + address + `,"state":3,"completionDetails":{"events":[{"name":"departure","time":NOW}]}}}`, "updated · 98 E 37th St"},
		{`{"triggerId":7,"data":{"task":{` + address + `,"state":2,"completionDetails":{"events":[{"name":"arrival","time":BEFORE}]}}}`, "updated · 98 E 37th St"},
		// A task is late if the worker arrives late, not if the service takes long.
		{`{"triggerId":3,"workerId":"w1","data":{"task":{"completeBefore":BEFORE,` + address + `,"completionDetails":{"events":[{"name":"arrival","time":BEFORE}]}}}`, "completed · 98 E 37th St · on time · Ada"},
		// A worker who arrives early and waits for the window is not early.
		{`{"triggerId":3,"data":{"task":{"completeAfter":BEFORE,` + address + `,"completionDetails":{"events":[{"name":"arrival","time":HOURS}]}}}`, "completed · 98 E 37th St · on time"},
		{`{"triggerId":3,"data":{"task":{"completeAfter":AFTER,` + address + `,"completionDetails":{"events":[{"name":"arrival","time":HOURS}]}}}`, "completed · 98 E 37th St · 4 min early"},
		{`{"triggerId":3,"workerId":"w1","data":{"task":{"completeBefore":HOURS,` + address + `}}`, "completed · 98 E 37th St · 1 h 30 min late · Ada"},
		{`{"triggerId":4,"workerId":"w2","data":{"task":{` + address + `,"completionDetails":{"failureReason":"CUSTOMER_UNAVAILABLE"}}}`, "failed · 98 E 37th St · CUSTOMER_UNAVAILABLE"},
		{`{"triggerId":6,"data":{"task":{"shortId":"8f2a61c4","destination":{"address":{"number":"","street":"","city":"Hoboken"}}}}`, "created · Hoboken"},
		{`{"triggerId":9,"workerId":"w1","data":{"task":{` + address + `},"worker":{"name":"Ada"}}`, "assigned · 98 E 37th St · Ada"},
		{`{"triggerId":1,"etaSeconds":247.3,"data":{"task":{` + address + `}}`, "near · 98 E 37th St · 4 min away"},
		{`{"triggerId":2,"distance":149.6,"data":{"task":{` + address + `}}`, "near · 98 E 37th St · 150 m away"},
		{`{"triggerId":12,"delay":900,"data":{"task":{` + address + `}}`, "delayed · 98 E 37th St · 15 min late"},
		{`{"triggerId":30,"data":{"delayTime":20,"task":{` + address + `}}`, "delay predicted · 98 E 37th St · 1 min late"},
		{`{"triggerId":5,"status":1,"workerId":"w1","data":{"worker":{"name":"Ada"}}`, "on duty · Ada"},
		{`{"triggerId":5,"status":0,"workerId":"w1","data":{"worker":{"name":"Ada"}}`, "off duty · Ada"},
		{`{"triggerId":14,"from":"+12125550142","body":"Where is it?","data":{}`, "text message received · +12125550142: Where is it?"},
		{`{"triggerId":17,"recipient":{"name":"Grace"},"data":{}`, "text messages stopped · Grace"},
		{`{"triggerId":19,"status":"completedWithErrors","tasksCreated":499,"tasksErrored":1,"data":{}`, "batch created · 499 tasks, 1 rejected"},
		{`{"triggerId":19,"status":"completed","tasksCreated":1,"data":{}`, "batch created · 1 task"},
		{`{"triggerId":22,"data":{"routePlan":{"name":"Monday"}}`, "route created · Monday"},
		{`{"triggerId":99,"triggerName":"somethingNew","data":{}`, "somethingNew"},
		{`{"triggerId":6,"data":{"task":{"destination":{"address":{"street":"\u001b[2JMain\nSt \u202e"}}}}`, "created ·  [2JMain St �"},
	} {
		body := times.Replace(tt.body + `,"time":NOW}`)
		got, err := lines.format([]byte(body))
		if err != nil || got != "12:31:04 "+tt.want {
			t.Errorf("%s\n got %q, %v\nwant %q", body, got, err, "12:31:04 "+tt.want)
		}
	}
	for trigger, name := range lastmile.TriggerNames {
		if word, _ := (&tailedEvent{Trigger: trigger}).what(); word == "" && !slices.Contains(unused, trigger) {
			t.Errorf("there is no word for %s", name)
		}
	}
}

// unused are the triggers whose events do not occur yet.
var unused = []lastmile.Trigger{lastmile.TriggerRouteOptimizationJobCompleted}

func millis(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) }

func TestReportIsSorted(t *testing.T) {
	report := simulate.Report{Routes: []simulate.Route{{Name: "GET /tasks", Rejected: map[int]int{503: 1, 400: 2, 429: 3, 404: 4, 500: 5}}}}
	const want = "  2 with status 400  4 with status 404  3 with status 429  5 with status 500  1 with status 503\n"
	if got := formatReport(report); !strings.Contains(got, want) {
		t.Errorf("the report lacks %q:\n%s", want, got)
	}
}

func TestTable(t *testing.T) {
	rows := &table{header: []string{"NAME", "STATE"}}
	if got := rows.format(screen{}); got != "" {
		t.Errorf("an empty table is %q", got)
	}
	rows.add("Øster\x1b]0;title\a", "active")
	rows.color(1, green)
	rows.add("X", "")
	if got, want := rows.format(screen{}), "NAME             STATE\nØster ]0;title   active\nX                \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := rows.format(screen{color: true}), "\x1b[1mNAME\x1b[0m             \x1b[1mSTATE\x1b[0m\nØster ]0;title   \x1b[32mactive\x1b[0m\nX                \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestColorsOnlyOnATerminal(t *testing.T) {
	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, like a terminal
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, tt := range []struct {
		out           io.Writer
		noColor, term string
		want          bool
	}{
		{terminal, "", "xterm", true},
		{terminal, "1", "xterm", false},
		{terminal, "", "dumb", false},
		{file, "", "xterm", false},
		{&bytes.Buffer{}, "", "xterm", false},
	} {
		t.Setenv("NO_COLOR", tt.noColor)
		t.Setenv("TERM", tt.term)
		if got := newScreen(tt.out).color; got != tt.want {
			t.Errorf("%T with NO_COLOR=%s and TERM=%s: color %v", tt.out, tt.noColor, tt.term, got)
		}
	}
}

func TestProgress(t *testing.T) {
	run := func(terminal bool, d time.Duration) string {
		var text string
		synctest.Test(t, func(t *testing.T) {
			var errs bytes.Buffer
			p := &progress{to: screen{Writer: &errs, terminal: terminal}}
			stop := p.watch("backup")
			p.report("records copied", 1_234_567)
			time.Sleep(d)
			fmt.Fprintln(behind{&errs, p}, "done")
			stop()
			text = errs.String()
		})
		return text
	}
	const line = "dray backup: 2s, records copied 1,234,567"
	if got := run(true, 1900*time.Millisecond); got != "done\n" {
		t.Errorf("a quick command prints %q", got)
	}
	if got := run(false, 1900*time.Millisecond); got != "done\n" {
		t.Errorf("a quick command prints %q", got)
	}
	if got, want := run(true, 2600*time.Millisecond), "\r\x1b[K"+line+"\r\x1b[K"+line+"\r\x1b[Kdone\n"; got != want {
		t.Errorf("on a terminal got %q, want %q", got, want)
	}
	if got, want := run(false, 33*time.Second), line+"\n"+strings.Replace(line, "2s", "32s", 1)+"\ndone\n"; got != want {
		t.Errorf("in a log got %q, want %q", got, want)
	}
}
