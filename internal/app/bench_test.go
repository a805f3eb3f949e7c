package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store/engine/enginetest"
	"dray/internal/store/sqlstore"
)

// benchClients is how many clients call at once, each over one connection that
// stays open.
const benchClients = 32

// turnTime is how long one side of a comparison runs before the other has its
// turn. With short turns a busy machine slows both sides equally.
const turnTime = 150 * time.Millisecond

// BenchmarkGet compares reading one record with a bare net/http server that
// returns the same bytes and headers. On PostgreSQL the bare server also makes
// one point read of the record through a pool of the same size: a read there
// cannot cost less.
func BenchmarkGet(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		destinations := p.saveRecords(b, func(w *sqlstore.Tx, n int) (string, error) {
			d := p.destination(n)
			return "/destinations/" + string(d.ID), w.SaveDestination(b.Context(), d)
		})
		recipients := p.saveRecords(b, func(w *sqlstore.Tx, n int) (string, error) {
			r := p.recipient(n)
			return "/recipients/" + string(r.ID), w.SaveRecipient(b.Context(), r)
		})
		const destination, recipient = `SELECT doc FROM destination WHERE org = $1 AND id = $2`, `SELECT doc FROM recipient WHERE org = $1 AND id = $2`
		b.Run("destination", func(b *testing.B) { benchGet(b, p, destinations, p.wireClients, destination) })
		b.Run("recipient", func(b *testing.B) { benchGet(b, p, recipients, p.wireClients, recipient) })
		b.Run("destination-nethttp", func(b *testing.B) { benchGet(b, p, destinations, p.netHTTPClients, destination) })
	})
}

// benchGet compares reads of the paths, one path after the other. connect returns
// the clients of one side; pointRead is the query of the bare server on PostgreSQL.
func benchGet(b *testing.B, p *platform, paths []string, connect func(b *testing.B, address string, next func() string) []func() error, pointRead string) {
	header, body := p.getRecord(b, paths[0])
	reply := func(*http.Request) []byte { return body }
	if p.Config.Database != "" {
		reply = p.pointReads(b, pointRead, body)
	}
	var turn atomic.Uint64
	next := func() string { return paths[turn.Add(1)%uint64(len(paths))] }
	compare(b, "req", connect(b, bareServer(b, header, reply), next), connect(b, p.address, next))
	b.ReportMetric(float64(len(body)), "B/response")
}

// pointReads returns the handler of the bare server on PostgreSQL: it reads the
// record whose id ends the path, and returns body, a response of the platform.
func (p *platform) pointReads(b *testing.B, query string, body []byte) func(*http.Request) []byte {
	b.Helper()
	config, err := pgxpool.ParseConfig(p.Config.Database)
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = 16 // as many as the platform's pool has
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	return func(r *http.Request) []byte {
		var doc []byte
		id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		if err := pool.QueryRow(r.Context(), query, string(p.org), id).Scan(&doc); err != nil {
			b.Error(err)
		}
		return body
	}
}

// wireClients returns clients that do as little as possible, so that most of the
// time is the server's.
func (p *platform) wireClients(b *testing.B, address string, next func() string) []func() error {
	requests := sync.Map{} // path → request
	return steps(clients(b, address, func() []byte {
		path := next()
		request, ok := requests.Load(path)
		if !ok {
			request, _ = requests.LoadOrStore(path, p.request(http.MethodGet, path, ""))
		}
		return request.([]byte)
	}))
}

// netHTTPClients returns clients of package net/http.
func (p *platform) netHTTPClients(b *testing.B, address string, next func() string) []func() error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchClients}}
	b.Cleanup(client.CloseIdleConnections)
	step := func() error {
		request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://"+address+"/api/v2"+next(), nil)
		if err != nil {
			return err
		}
		request.SetBasicAuth(p.key, "")
		reply, err := client.Do(request)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, reply.Body)
		if reply.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d", reply.StatusCode)
		}
		return errors.Join(err, reply.Body.Close())
	}
	return slices.Repeat([]func() error{step}, benchClients)
}

// getRecord returns the response to a GET, without the Date header.
func (p *platform) getRecord(b *testing.B, path string) (http.Header, []byte) {
	b.Helper()
	client := clients(b, p.address, nil)[0]
	if _, err := client.conn.Write(p.request(http.MethodGet, path, "")); err != nil {
		b.Fatal(err)
	}
	reply, err := http.ReadResponse(client.in, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		b.Fatalf("GET %s: %s %s %v", path, reply.Status, body, err)
	}
	reply.Header.Del("Date")
	return reply.Header, body
}

// BenchmarkPost compares creating one record over HTTP with saving the same
// record through the same store, committed in the same groups, by as many
// goroutines. Both return when the record is on disk.
func BenchmarkPost(b *testing.B) {
	onEngines(b, func(b *testing.B, p *platform) {
		var n atomic.Int64
		b.Run("destination", func(b *testing.B) {
			raw := p.writes(b, func(w *sqlstore.Tx) error { return w.SaveDestination(b.Context(), p.destination(int(n.Add(1)))) })
			benchPost(b, p, raw, "/destinations", func() string { return destinationBody(int(n.Add(1))) })
		})
		b.Run("recipient", func(b *testing.B) {
			raw := p.writes(b, func(w *sqlstore.Tx) error { return w.AddRecipient(b.Context(), p.recipient(int(n.Add(1)))) })
			benchPost(b, p, raw, "/recipients", func() string { return recipientBody(int(n.Add(1))) })
		})
	})
}

func benchPost(b *testing.B, p *platform, raw []func() error, path string, body func() string) {
	dray := clients(b, p.address, func() []byte { return p.request(http.MethodPost, path, body()) })
	compare(b, "write", raw, steps(dray))
}

// BenchmarkStart measures the program: its size, the time from the start of the
// process to the first 200 of /readyz, and its resident memory when idle. It uses
// the real binary.
func BenchmarkStart(b *testing.B) {
	program := buildProgram(b)
	info, err := os.Stat(program.path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("empty", func(b *testing.B) {
		benchStart(b, program, func() string { return filepath.Join(b.TempDir(), "data") }, 20*time.Second)
		b.ReportMetric(float64(info.Size())/1e6, "MB/program")
	})
	b.Run("million", func(b *testing.B) {
		if testing.Short() {
			b.Skip("creating a million records takes a minute")
		}
		folder := filepath.Join(b.TempDir(), "data")
		saveMillion(b, folder)
		benchStart(b, program, func() string { return folder }, 20*time.Second)
	})
}

func benchStart(b *testing.B, p program, folder func() string, idle time.Duration) {
	var took []time.Duration
	for b.Loop() {
		n := startNode(b, p, nodeStorage{data: folder()})
		took = append(took, n.readyAfter)
		n.stop(b)
	}
	n := startNode(b, p, nodeStorage{data: folder()})
	time.Sleep(idle)
	b.ReportMetric(float64(n.resident(b))/1e6, "MB/resident")
	n.stop(b)
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "ms/start")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1e3, "ms/slowest")
}

// saveMillion creates a database with half a million destinations and as many
// recipients.
func saveMillion(b *testing.B, folder string) {
	b.Helper()
	p := startPlatform(b, app.Config{Data: folder})
	const perTransaction, halves = 1_000, 500
	for i := 0; i < halves; {
		err := p.Store.Write(b.Context(), func(w *sqlstore.Tx) error {
			for j := range perTransaction {
				n := i*perTransaction + j
				if err := errors.Join(w.SaveDestination(b.Context(), p.destination(n)), w.SaveRecipient(b.Context(), p.recipient(n))); err != nil {
					return err
				}
			}
			return nil
		})
		switch rejected, ok := errors.AsType[*lastmile.Error](err); {
		case err == nil:
			i++
		case !ok || rejected.Code != lastmile.CodeOverloaded: // when the disk cannot keep up, try again
			b.Fatal(err)
		}
	}
	p.end(b)
}

// platform is a node that serves in this process, with one organization.
type platform struct {
	*app.App
	address string
	org     lastmile.OrganizationID
	key     string
	headers string // headers of every request, up to the length of its body
	created time.Time
	end     func(testing.TB)
}

func onEngines(b *testing.B, bench func(*testing.B, *platform)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, startPlatform(b, app.Config{Data: b.TempDir()})) })
	b.Run("postgres", func(b *testing.B) {
		bench(b, startPlatform(b, app.Config{Data: b.TempDir(), Database: enginetest.Postgres(b)}))
	})
}

// startPlatform starts a node with its background loops and its listener.
func startPlatform(tb testing.TB, c app.Config) *platform {
	tb.Helper()
	c.Listen, c.LogFormat = "127.0.0.1:0", "json"
	a, err := app.New(tb.Context(), c, slog.New(slog.DiscardHandler), app.Clock, true)
	if err != nil {
		tb.Fatal(err)
	}
	if err := a.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	var once sync.Once
	end := func(tb testing.TB) {
		once.Do(func() {
			if err := a.Stop(context.Background()); err != nil {
				tb.Error(err)
			}
		})
	}
	tb.Cleanup(func() { end(tb) })
	made, err := a.Organizations.Create(tb.Context(), lastmile.OrganizationDraft{Name: "Bench", Country: "US", Timezone: "America/New_York"})
	if err != nil {
		tb.Fatal(err)
	}
	return &platform{
		App: a, address: a.Address(), org: made.Organization.ID, key: made.APIKey, created: a.Now(), end: end,
		headers: "Host: " + a.Address() + "\r\nAuthorization: Basic " + base64.StdEncoding.EncodeToString([]byte(made.APIKey+":")) +
			"\r\nContent-Type: application/json\r\nContent-Length: ",
	}
}

// saveRecords saves a thousand records and returns their paths.
func (p *platform) saveRecords(b *testing.B, save func(w *sqlstore.Tx, n int) (path string, err error)) []string {
	b.Helper()
	const records = 1_000
	var paths []string
	err := p.Store.Write(b.Context(), func(w *sqlstore.Tx) error {
		paths = make([]string, 0, records)
		for n := range records {
			path, err := save(w, n)
			if err != nil {
				return err
			}
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return paths
}

// writes returns the steps of the side that writes without HTTP.
func (p *platform) writes(b *testing.B, save func(*sqlstore.Tx) error) []func() error {
	b.Helper()
	steps := make([]func() error, benchClients)
	for i := range steps {
		steps[i] = func() error { return p.Store.Write(b.Context(), save) }
	}
	return steps
}

// destination returns the record that destinationBody creates.
func (p *platform) destination(n int) lastmile.Destination {
	return lastmile.Destination{
		ID: lastmile.DestinationID(access.RandomSecret(lastmile.IDLength)), Organization: p.org, Created: p.created, Modified: p.created,
		Location: lastmile.Point{Lon: -122.41289, Lat: 37.78808}, UseGPS: true,
		Address: lastmile.Address{Number: strconv.Itoa(n), Street: "Howard Street", Apartment: "5th Floor", City: "San Francisco", State: "California", PostalCode: "94105", Country: "United States"},
		Notes:   "Don't forget to check out the epic rooftop.",
		Metadata: lastmile.Metadata{{
			Name: "order", Type: lastmile.MetadataNumber, Value: float64(n), Visibility: []string{"api"},
		}},
	}
}

func destinationBody(n int) string {
	return fmt.Sprintf(`{"address":{"number":"%d","street":"Howard Street","apartment":"5th Floor","city":"San Francisco","state":"California","postalCode":"94105","country":"United States"},`+
		`"location":[-122.41289,37.78808],"notes":"Don't forget to check out the epic rooftop.","metadata":[{"name":"order","type":"number","value":%d}]}`, n, n)
}

// recipient returns the record that recipientBody creates.
func (p *platform) recipient(n int) lastmile.Recipient {
	return lastmile.Recipient{
		ID: lastmile.RecipientID(access.RandomSecret(lastmile.IDLength)), Organization: p.org, Created: p.created, Modified: p.created,
		Name: "Boris Foster", Phone: lastmile.Phone(benchPhone(n)), Notes: "Always orders our GSC special",
		Metadata: lastmile.Metadata{{
			Name: "order", Type: lastmile.MetadataNumber, Value: float64(n), Visibility: []string{"api"},
		}},
	}
}

func recipientBody(n int) string {
	return fmt.Sprintf(`{"name":"Boris Foster","phone":%q,"notes":"Always orders our GSC special","metadata":[{"name":"order","type":"number","value":%d}]}`, benchPhone(n), n)
}

// benchPhone returns a number that is valid in the United States, a different one
// for each n below eight million. Like real numbers they are not in order, so that
// the index does not grow at one end only.
func benchPhone(n int) string {
	const numbers, stride = 8_000_000, 4_858_207 // no common factor
	return "+1212" + strconv.Itoa(2_000_000+n*stride%numbers)
}

// request returns the bytes of a request.
func (p *platform) request(method, path, body string) []byte {
	return []byte(method + " /api/v2" + path + " HTTP/1.1\r\n" + p.headers + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// bareServer serves every request with the same headers and the body that response
// returns.
func bareServer(b *testing.B, header http.Header, reply func(*http.Request) []byte) string {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), header)
		w.Write(reply(r)) //nolint:errcheck // the client would notice
	})}
	var served sync.WaitGroup
	served.Go(func() { server.Serve(listener) }) //nolint:errcheck // it ends when the benchmark does
	b.Cleanup(func() {
		server.Close()
		served.Wait()
	})
	return listener.Addr().String()
}

// wireClient sends prepared requests over one connection and parses no more of
// the responses than it must, so that most of the time measured is the server's.
type wireClient struct {
	conn net.Conn
	in   *bufio.Reader
	next func() []byte
}

func clients(b *testing.B, address string, next func() []byte) []*wireClient {
	b.Helper()
	all := make([]*wireClient, benchClients)
	for i := range all {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		all[i] = &wireClient{conn: conn, in: bufio.NewReader(conn), next: next}
	}
	return all
}

// steps returns the step of each client.
func steps(clients []*wireClient) []func() error {
	steps := make([]func() error, len(clients))
	for i, c := range clients {
		steps[i] = c.step
	}
	return steps
}

// step sends one request and waits for its response, which must be 200.
func (c *wireClient) step() error {
	if _, err := c.conn.Write(c.next()); err != nil {
		return err
	}
	status, length := 0, 0
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first {
			status, _ = strconv.Atoi(string(line[9:12]))
		}
		if len(line) == 2 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if status != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(c.in, int64(length)))
		return fmt.Errorf("status %d: %s", status, text)
	}
	_, err := c.in.Discard(length)
	return err
}

// compare runs two sides in turns for as long as the benchmark lasts. One
// iteration is a turn of each. It reports the rates of both, and the median, the
// 10th and the 90th percentile of the ratio dray/bare.
func compare(b *testing.B, unit string, bare, dray []func() error) {
	b.Helper()
	run(b, bare) // warm up
	run(b, dray)
	var (
		ratios     []float64
		sums       [2]float64
		bareFirsts bool
	)
	for b.Loop() {
		var rate [2]float64
		for i := range rate {
			if (i == 0) == bareFirsts {
				rate[0] = run(b, bare)
			} else {
				rate[1] = run(b, dray)
			}
		}
		bareFirsts = !bareFirsts
		sums[0] += rate[0]
		sums[1] += rate[1]
		ratios = append(ratios, rate[1]/rate[0])
	}
	n := float64(len(ratios))
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(sums[0]/n, "bare-"+unit+"/s")
	b.ReportMetric(sums[1]/n, "dray-"+unit+"/s")
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(ratios[len(ratios)/10], "ratio-p10")
	b.ReportMetric(ratios[len(ratios)*9/10], "ratio-p90")
}

// run repeats all steps concurrently for one turn and returns how many ran per
// second.
func run(b *testing.B, steps []func() error) float64 {
	b.Helper()
	var (
		done  atomic.Int64
		group sync.WaitGroup
		fault atomic.Value
	)
	begin := time.Now()
	for _, step := range steps {
		group.Go(func() {
			n := int64(0)
			for time.Since(begin) < turnTime {
				if err := step(); err != nil {
					fault.Store(err.Error())
					break
				}
				n++
			}
			done.Add(n)
		})
	}
	group.Wait()
	if text := fault.Load(); text != nil {
		b.Fatal(strings.TrimSpace(text.(string)))
	}
	return float64(done.Load()) / time.Since(begin).Seconds()
}
