// Package platform_test runs simulated days on the platform.
package platform_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/simulate"
)

var temporary = regexp.MustCompile(`temporary password (\S+)`)

// options returns the options of a short run: at two thousand times the speed, so
// that workers wait for time windows only a second, in a small area.
func options(t *testing.T, p *apptest.Platform, name string, prefix string) simulate.Options {
	t.Helper()
	return simulate.Options{
		URL: p.URL, Key: p.Organization(t, name).Key, Password: "simulated", Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Temporary: func(_ context.Context, phone string) (string, error) {
			sent := p.Outbox(t, phone)
			return temporary.FindStringSubmatch(sent[len(sent)-1].Body)[1], nil
		},
		Seed: 3, Run: name, Workers: 4, Tasks: 7, Duration: 10 * time.Minute, Speed: 2000, Interval: 100 * time.Millisecond, Radius: 120,
		Offline: 0.5, Check: true, Prefix: prefix,
	}
}

// numbering numbers events as a server does, so that the stream delivers them.
func numbering(t *testing.T, p *apptest.Platform) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { p.Feed.Run(ctx) })
	t.Cleanup(func() { stop(); work.Wait() })
}

func TestRun(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		numbering(t, p)
		for name, test := range map[string]func(*testing.T, *apptest.Platform){
			"every task is done once and nothing is lost":          testRun,
			"lost responses change nothing":                        testLostResponses,
			"a server that loses what it acknowledged is detected": testLiar,
			"photos are uploaded if the server accepts them":       testPhotos,
			"a second run goes on with the same workers":           testSecondRun,
			"workers wait for time windows":                        testWindows,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, p)
			})
		}
	})
}

func run(t *testing.T, o simulate.Options) simulate.Report {
	t.Helper()
	report, err := simulate.Run(t.Context(), o)
	if err != nil {
		t.Fatalf("the run ended with %v: %+v", err, report)
	}
	return report
}

func testRun(t *testing.T, p *apptest.Platform) {
	var mu sync.Mutex
	started := map[string]bool{}
	o := options(t, p, "run", "+1646555")
	o.Offline = 1
	o.Started = func(a simulate.Active) {
		mu.Lock()
		defer mu.Unlock()
		started[a.Task] = true
		if a.Drive <= 0 || slices.Contains(a.Then, a.TrackingURL) || slices.ContainsFunc(append(a.Then, a.TrackingURL), func(url string) bool { return !strings.HasPrefix(url, "http") }) {
			t.Errorf("the task under way is %+v", a)
		}
	}
	report := run(t, o)
	if report.Breaches != 0 {
		t.Errorf("%d promises were broken: %q", report.Breaches, report.Broken)
	}
	if report.Created != o.Tasks || report.Completed+report.Failed != o.Tasks || report.Open != 0 || report.Checked != o.Tasks || report.Workers != o.Workers {
		t.Errorf("the report is %+v", report)
	}
	if report.CaughtUp == 0 || report.Resent == 0 || len(started) != o.Tasks {
		t.Errorf("%d actions were reported later, %d reported twice, %d starts reported", report.CaughtUp, report.Resent, len(started))
	}
	if report.Positions == 0 || report.Accepted != report.Positions {
		t.Errorf("of %d positions %d were accepted", report.Positions, report.Accepted)
	}
	for _, route := range report.Routes {
		trial := route.Name == "POST /driver/v1/uploads" // tests whether the server accepts photos
		if !trial && len(route.Rejected) > 0 || route.Lost > 0 {
			t.Errorf("%s was rejected: %+v", route.Name, route)
		}
	}
}

// lossy drops some responses after the request was processed.
type lossy struct{ requests atomic.Int64 }

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost && l.requests.Add(1)%4 == 0 {
		reply.Body.Close()
		return nil, errors.New("the reply got lost")
	}
	return reply, err
}

func testLostResponses(t *testing.T, p *apptest.Platform) {
	o := options(t, p, "lost", "+1332555")
	o.Transport, o.Tasks = &lossy{}, 4
	report := run(t, o)
	lost := 0
	for _, route := range report.Routes {
		lost += route.Lost
	}
	if report.Breaches != 0 || report.Created != o.Tasks || report.Completed+report.Failed != o.Tasks || lost == 0 {
		t.Errorf("with %d lost replies the report is %+v", lost, report)
	}
}

// liar acknowledges the completion of one task without forwarding it.
type liar struct{ once sync.Once }

func (l *liar) RoundTrip(r *http.Request) (reply *http.Response, err error) {
	if strings.HasSuffix(r.URL.Path, "/complete") {
		l.once.Do(func() {
			body := io.NopCloser(bytes.NewReader([]byte(`{"state":3,"completionDetails":{"success":true,"time":1}}`)))
			reply = &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}
		})
	}
	if reply != nil {
		return reply, nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

func testLiar(t *testing.T, p *apptest.Platform) {
	o := options(t, p, "liar", "+1347555")
	o.Transport, o.Tasks, o.Offline = &liar{}, 3, 0
	if report := run(t, o); report.Breaches == 0 {
		t.Errorf("not noticed: %+v", report)
	}
}

// album counts photos, and accepts them if the server does not.
type album struct{ photos, wrong atomic.Int64 }

func (a *album) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/driver/v1/uploads" {
		return http.DefaultTransport.RoundTrip(r)
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if _, err := jpeg.DecodeConfig(bytes.NewReader(sent)); err != nil || r.Header.Get("Content-Type") != "image/jpeg" {
		a.wrong.Add(1)
	}
	body := fmt.Sprintf(`{"uploadId":"photo%d"}`, a.photos.Add(1))
	passed := r.Clone(r.Context())
	passed.Body = io.NopCloser(bytes.NewReader(sent))
	reply, err := http.DefaultTransport.RoundTrip(passed)
	if err != nil || reply.StatusCode != http.StatusNotFound {
		return reply, err
	}
	reply.Body.Close()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// allPhotos is a seed whose first five tasks all require a photo.
const allPhotos = 2779

func testPhotos(t *testing.T, p *apptest.Platform) {
	taken := &album{}
	o := options(t, p, "photos", "+1718555")
	o.Transport, o.Tasks, o.Seed, o.Offline = taken, 5, allPhotos, 1
	report := run(t, o)
	if report.Breaches != 0 || report.Abandoned != 0 || report.Completed+report.Failed != o.Tasks {
		t.Errorf("the report is %+v", report)
	}
	if taken.photos.Load() < 2 || taken.wrong.Load() > 0 { // the first is a test
		t.Errorf("%d photos were handed in, %d of them no pictures", taken.photos.Load(), taken.wrong.Load())
	}
}

func testSecondRun(t *testing.T, p *apptest.Platform) {
	o := options(t, p, "again", "+1929555")
	o.Workers, o.Tasks = 1, 1
	run(t, o)
	o.Run, o.Seed = "again2", 4
	o.Temporary = func(context.Context, string) (string, error) {
		return "", errors.New("the worker has a password by now")
	}
	report := run(t, o)
	if report.Breaches != 0 || report.Completed+report.Failed != o.Tasks || report.Workers != o.Workers {
		t.Errorf("the report is %+v", report)
	}
	for _, route := range report.Routes {
		if route.Name == "POST /workers" || route.Name == "POST /teams" || route.Name == "POST /hubs" {
			t.Errorf("%s was asked for again", route.Name)
		}
	}
}

func testWindows(t *testing.T, p *apptest.Platform) {
	o := options(t, p, "windows", "+1315555")
	o.Tasks, o.Unassigned = 12, 2
	report := run(t, o)
	if report.Breaches != 0 || report.Completed+report.Failed != o.Tasks {
		t.Errorf("the report is %+v", report)
	}
	day := report.Day
	if day.Windowed == 0 || day.InWindow > day.Windowed || day.Drives == 0 || day.Pages == 0 || day.MessagedTasks != o.Tasks || day.PerDelivery < 1 {
		t.Errorf("the day is %+v", day)
	}
	client := apptest.Client{Platform: p, Key: o.Key}
	from := time.Now().Add(-time.Hour).UnixMilli()
	tasks, _ := client.Must(t, http.MethodGet, fmt.Sprintf("/tasks/all?from=%d", from), nil)["tasks"].([]any)
	windows := 0
	for _, one := range tasks {
		task, _ := one.(map[string]any)
		details, _ := task["completionDetails"].(map[string]any)
		opens, windowed := task["completeAfter"].(float64)
		ended, _ := details["time"].(float64)
		if windowed {
			windows++
		}
		if windowed && ended < opens {
			t.Errorf("task %v was completed %.0f ms before its window opened", task["id"], opens-ended)
		}
	}
	if len(tasks) != o.Tasks || windows == 0 {
		t.Errorf("%d tasks, %d with a window", len(tasks), windows)
	}
}
