package app_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// The board that dispatchers open: how large it is, and what it may cost.
const (
	boardTasks, boardWorkers = 5_000, 200
	boardTime                = 300 * time.Millisecond
	boardBytes               = 700_000 // compressed
)

// BenchmarkBoard reads the board of a busy day, compressed, over HTTP. The ratio is that of
// the time to boardTime.
func BenchmarkBoard(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		p.busyDay(b)
		var took []time.Duration
		size := 0
		for b.Loop() {
			begin := time.Now()
			size = p.readBoard(b)
			took = append(took, time.Since(begin))
			time.Sleep(time.Second) // large lists of an organization take turns
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(medianMillis(took), "ms/board")
		b.ReportMetric(medianMillis(took)/float64(boardTime.Milliseconds()), "ratio")
		b.ReportMetric(float64(size), "B/board")
	})
}

func TestBoardIsSmall(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, app.Config{Data: t.TempDir()})
	p.busyDay(t)
	if size := p.readBoard(t); size > boardBytes {
		t.Errorf("the board has %d bytes, want at most %d", size, boardBytes)
	}
}

// readBoard returns the size of the board, compressed.
func (p *platform) readBoard(tb testing.TB) int {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, "http://"+p.address+"/api/v2/board", nil)
	if err != nil {
		tb.Fatal(err)
	}
	request.SetBasicAuth(p.key, "")
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || response.Header.Get("Content-Encoding") != "gzip" {
		tb.Fatalf("status %d, %d bytes: %v", response.StatusCode, len(body), err)
	}
	return len(body)
}

// busyDay saves the workers of a busy day, each with a list, and tasks with windows,
// estimates and different addresses, most of them assigned.
func (p *platform) busyDay(tb testing.TB) {
	tb.Helper()
	random, newID := rand.New(rand.NewPCG(1, 2)), (&access.IDs{Now: time.Now}).New
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	name := func() string {
		return pick("Ada", "Grace", "Mary", "Katherine", "Dorothy", "Annie", "Margaret", "Radia", "Barbara", "Hedy") + " " +
			pick("Lovelace", "Hopper", "Seacole", "Johnson", "Vaughan", "Easley", "Hamilton", "Perlman", "Liskov", "Lamarr", "Okonkwo", "Jansen")
	}
	write := func(fn func(w *sqlstore.Tx) error) {
		tb.Helper()
		if err := p.Store.Write(tb.Context(), fn); err != nil {
			tb.Fatal(err)
		}
	}
	var workers []lastmile.WorkerID
	write(func(w *sqlstore.Tx) error {
		for n := range boardWorkers {
			worker := lastmile.Worker{
				ID: lastmile.WorkerID(newID()), Organization: p.org, Created: p.created, Modified: p.created, Name: name(), Capacity: 40,
				Phone: lastmile.Phone(benchPhone(900_000 + n)), Vehicle: &lastmile.Vehicle{ID: lastmile.VehicleID(newID()), Type: lastmile.Car, Modified: p.created},
			}
			workers = append(workers, worker.ID)
			if err := w.SaveWorker(tb.Context(), worker); err != nil {
				return err
			}
			at := lastmile.Point{Lon: -122.4 + random.Float64()/5, Lat: 37.7 + random.Float64()/5}
			position := lastmile.Position{Location: at, At: p.created, Speed: new(8.25), Heading: new(float64(random.IntN(360)))}
			if err := w.SavePositions(tb.Context(), p.org, worker.ID, []lastmile.Position{position}); err != nil {
				return err
			}
			whereabouts := lastmile.Whereabouts{OnDuty: true, LastSeen: p.created, Location: &at, LocatedAt: p.created, Battery: new(0.75)}
			if err := w.SaveWhereabouts(tb.Context(), p.org, worker.ID, whereabouts); err != nil {
				return err
			}
		}
		return nil
	})
	lists := map[lastmile.WorkerID][]lastmile.Task{}
	write(func(w *sqlstore.Tx) error {
		clear(lists)
		for n := range boardTasks {
			task := p.newTask(n)
			task.ID, task.ShortID, task.Destination.ID = lastmile.TaskID(newID()), fmt.Sprintf("%08x", random.Uint32()), lastmile.DestinationID(newID())
			task.TrackingURL = "https://dray.example/t/" + task.TrackingToken
			task.Recipient.ID, task.Recipient.Name = lastmile.RecipientID(newID()), name()
			task.Created = p.created.Add(-time.Duration(random.IntN(86_400_000)) * time.Millisecond)
			task.Modified = task.Created.Add(time.Duration(random.IntN(1_000_000)) * time.Millisecond)
			task.CompleteAfter = p.created.Truncate(15 * time.Minute).Add(-time.Duration(random.IntN(16)) * 15 * time.Minute)
			task.CompleteBefore = task.CompleteAfter.Add(2 * time.Hour)
			task.Notes = pick("", "", "Leave with the concierge.", fmt.Sprintf("Gate code %04d", random.IntN(10_000)), "Second floor, ring twice")
			task.Quantity = float64(random.IntN(5))
			task.Destination.Location = lastmile.Point{Lon: float64(-12_240_000+random.IntN(20_000)) / 1e5, Lat: float64(3_770_000+random.IntN(20_000)) / 1e5}
			task.Destination.Address.Number = fmt.Sprint(1 + random.IntN(2_000))
			task.Destination.Address.Apartment = pick("", "", "2B", "7")
			task.Destination.Address.Street = pick("Howard", "Folsom", "Mission", "Market", "Valencia", "Geary", "Fulton", "Irving", "Judah", "Noriega", "Taraval", "Divisadero") + pick(" Street", " Avenue", " Boulevard")
			task.Destination.Address.PostalCode = fmt.Sprint(94_102 + random.IntN(30))
			if err := p.save(tb, w, task); err != nil {
				return err
			}
			if n%10 > 0 { // one in ten is not assigned
				of := workers[random.IntN(len(workers))]
				lists[of] = append(lists[of], task)
			}
		}
		return nil
	})
	write(func(w *sqlstore.Tx) error {
		for worker, list := range lists {
			in, ids, moved, estimates := lastmile.WorkerContainer(worker), []lastmile.TaskID{}, []lastmile.Task{}, []store.TaskEstimate{}
			for _, task := range list {
				arrival := p.created.Add(time.Duration(random.IntN(36_000_000)) * time.Millisecond)
				estimates = append(estimates, store.TaskEstimate{Task: task.ID, State: lastmile.TaskAssigned, Estimates: lastmile.Estimates{Arrival: arrival, Completion: arrival.Add(4 * time.Minute)}})
				if _, err := task.Put(in, lastmile.Actor{}, p.created); err != nil {
					return err
				}
				ids, moved = append(ids, task.ID), append(moved, task)
			}
			if err := w.MoveTasks(tb.Context(), p.org, in, store.Position{}, ids, moved, p.created); err != nil {
				return err
			}
			if err := w.SaveEstimates(tb.Context(), p.org, worker, estimates, nil); err != nil {
				return err
			}
		}
		return nil
	})
}
