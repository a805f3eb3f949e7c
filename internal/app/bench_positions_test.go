package app_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// positionsPerReport is how many positions a phone reports at once: one a second,
// sent every five.
const positionsPerReport = 5

// BenchmarkPositions compares phones that report positions over HTTP with
// inserting the same rows through the same store, committed in the same groups,
// by as many goroutines. Both return when the rows are on disk. Each worker has an
// active task, so that estimates are refreshed meanwhile.
func BenchmarkPositions(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		phones := p.phones(b, benchClients)
		b.Run("report", func(b *testing.B) {
			raw := make([]func() error, benchClients)
			for i := range raw {
				worker, clock := lastmile.WorkerID(access.RandomSecret(lastmile.IDLength)), newDrive(p.Now())
				raw[i] = func() error {
					return p.Store.Write(b.Context(), func(w *sqlstore.Tx) error {
						return w.SavePositions(b.Context(), p.org, worker, clock.next())
					})
				}
			}
			compare(b, "report", raw, steps(p.reporting(b, phones)))
			b.ReportMetric(positionsPerReport, "positions/report")
		})
	})
}

// drive is the sequence of a phone's positions. It begins twenty hours ago, so
// that no benchmark reaches the present.
type drive struct {
	start time.Time
	n     atomic.Int64
}

func newDrive(now time.Time) *drive { return &drive{start: now.Add(-20 * time.Hour)} }

// next returns the next positions.
func (d *drive) next() []lastmile.Position {
	first := d.n.Add(positionsPerReport) - positionsPerReport
	positions := make([]lastmile.Position, positionsPerReport)
	for i := range positions {
		n := first + int64(i)
		accuracy, speed, heading := 5.0, 8.3, float64(n%360)
		positions[i] = lastmile.Position{
			Location: lastmile.Point{Lon: -74 + float64(n%1000)/1e6, Lat: 40.7}, At: d.start.Add(time.Duration(n) * 100 * time.Millisecond),
			Accuracy: &accuracy, Speed: &speed, Heading: &heading,
		}
	}
	return positions
}

// phone is a worker's phone.
type phone struct {
	token string
	*drive
}

// phones signs workers in, each with an active task.
func (p *platform) phones(b *testing.B, count int) []*phone {
	b.Helper()
	var phones []*phone
	err := p.Store.Write(b.Context(), func(w *sqlstore.Tx) error {
		phones = phones[:0]
		for i := range count {
			now := p.Now()
			worker := lastmile.Worker{
				ID: lastmile.WorkerID(access.RandomSecret(lastmile.IDLength)), Organization: p.org, Created: now, Modified: now, Name: "W",
				Phone: lastmile.Phone(benchPhone(i)), Vehicle: &lastmile.Vehicle{Type: lastmile.Car},
			}
			place := p.destination(i)
			task := lastmile.Task{
				ID: lastmile.TaskID(access.RandomSecret(lastmile.IDLength)), ShortID: strconv.Itoa(i), Organization: p.org, Created: now, Modified: now,
				Destination: place, TrackingToken: access.RandomSecret(lastmile.IDLength), State: lastmile.TaskAssigned, Worker: worker.ID,
				Container: lastmile.WorkerContainer(worker.ID),
			}
			token := access.RandomSecret(43)
			hash := sha256.Sum256([]byte(token))
			session := lastmile.Session{Hash: hex.EncodeToString(hash[:]), Organization: p.org, Worker: worker.ID, Created: now, Used: now}
			err := errors.Join(
				w.SaveWorker(b.Context(), worker), w.SaveWhereabouts(b.Context(), p.org, worker.ID, lastmile.Whereabouts{OnDuty: true, LastSeen: now}),
				w.SaveDestination(b.Context(), place), w.AddTask(b.Context(), task), w.SaveTask(b.Context(), started(task)),
				w.ScheduleEstimate(b.Context(), p.org, worker.ID, now), w.SaveSession(b.Context(), session),
			)
			if err != nil {
				return err
			}
			phones = append(phones, &phone{token, newDrive(now)})
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return phones
}

// reporting returns a client for each phone.
func (p *platform) reporting(b *testing.B, phones []*phone) []*wireClient {
	b.Helper()
	all := clients(b, p.address, nil)
	for i, c := range all {
		phone := phones[i]
		c.next = func() []byte {
			var body strings.Builder
			body.WriteString(`{"positions":[`)
			for n, at := range phone.drive.next() {
				if n > 0 {
					body.WriteByte(',')
				}
				fmt.Fprintf(&body, `{"location":[%g,%g],"time":%d,"accuracy":%g,"speed":%g,"heading":%g}`,
					at.Location.Lon, at.Location.Lat, at.At.UnixMilli(), *at.Accuracy, *at.Speed, *at.Heading)
			}
			body.WriteString(`]}`)
			return []byte("POST /driver/v1/positions HTTP/1.1\r\nHost: " + p.address + "\r\nAuthorization: Bearer " + phone.token +
				"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(body.Len()) + "\r\n\r\n" + body.String())
		}
	}
	return all
}
