package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store/engine"
)

// Options say how to open a PostgreSQL database.
type Options struct {
	URL        string           // postgres://…; pgxpool's own settings may be in it
	Now        func() time.Time // the clock
	Timer      func() time.Time // a monotonic clock that measures operations; nil means Now
	Logger     *slog.Logger     // nil discards
	Migrations fs.FS            // NNNN_name.sql files
	Patience   time.Duration    // longest wait for a connection that is in use; 0 means patience

	KeepSchema bool // leave an older schema as it is
}

const (
	// oldestPostgres is the oldest major version that is tested.
	oldestPostgres = 15
	// connectPatience is the longest wait for a new connection, unless the URL
	// has connect_timeout.
	connectPatience = 2 * time.Second
	// patience is the longest wait while other operations use all connections.
	// Few clients repeat a request that was rejected, so that waiting through a
	// short peak is better. A longer connect_timeout extends it.
	patience = 10 * time.Second
	// queueLength is the maximum number of operations that wait at once.
	queueLength = 4096
	// An operation that takes longer than this has met a server that hangs. The caller's own
	// deadline is usually shorter.
	directPatience    = 20 * time.Second
	operationPatience = 30 * time.Second
	// commitPatience is the longest wait for the result of a commit. The wait does not end
	// with the caller, because the outcome must be known.
	commitPatience = 10 * time.Second
	// defaultConns is the size of the pool, unless the URL has pool_max_conns.
	defaultConns = 16
	// ofCaller is the number of connections that every caller may use while others are
	// active, or half the number of processors if that is more. A caller may use more while
	// all callers together use fewer than sharedOfProcessor per processor, and up to
	// burstOfProcessor per processor if it has used hardly more than its share lately.
	ofCaller          = 1
	sharedOfProcessor = 2
	burstOfProcessor  = 2
)

// Engine is an engine.Engine over a PostgreSQL database, or one that speaks
// its protocol and dialect.
type Engine struct {
	pool       *pgxpool.Pool
	patience   time.Duration // longest wait for a connection
	log        *slog.Logger
	now        func() time.Time
	timer      func() time.Time // monotonic
	migrations []engine.Migration
	slots      *engine.Slots
	again      rate.Turns // one retrying operation at a time, by caller
	gate       rate.Gate  // lets a transaction run alone, by caller
	count      engine.Counters

	unversioned atomic.Int64 // counts versions on a server that has none
	relay       *Relay
	outage      outage
}

// Open connects, checks the server and migrates the schema to head.
func Open(ctx context.Context, o Options) (*Engine, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Timer == nil {
		o.Timer = o.Now
	}
	all, err := engine.ReadMigrations(o.Migrations)
	if err != nil {
		return nil, err
	}
	pool, err := connect(ctx, o.URL)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		pool: pool, patience: cmp.Or(o.Patience, max(patience, pool.Config().ConnConfig.ConnectTimeout)),
		log: o.Logger, now: o.Now, timer: o.Timer, migrations: all,
	}
	most := int(pool.Config().MaxConns)
	e.slots = engine.NewSlots(engine.SlotOptions{
		Most: most, Each: min(max(runtime.GOMAXPROCS(0)/2, ofCaller), most), Shared: min(sharedOfProcessor*runtime.GOMAXPROCS(0), most),
		Burst: min(burstOfProcessor*runtime.GOMAXPROCS(0), most), Alone: most,
		MaxWaiting: queueLength, Patience: e.patience, Now: o.Timer, Count: &e.count,
	})
	if e.relay, err = newRelay(ctx, pool.Config()); err != nil {
		pool.Close()
		return nil, err
	}
	if err := e.prepare(ctx, o, all); err != nil {
		e.relay.close()
		pool.Close()
		return nil, err
	}
	return e, nil
}

// prepare checks the server and brings the schema to head.
func (e *Engine) prepare(ctx context.Context, o Options, all []engine.Migration) error {
	if err := e.Direct(ctx, func(c engine.Conn) error { return checkServer(ctx, c) }); err != nil {
		if lost, ok := errors.AsType[*unreachableError](err); ok {
			err = lost.cause // the text for clients does not help here
		}
		return fmt.Errorf("open the PostgreSQL database: %w", err)
	}
	s := engine.Schema{Read: e.Direct, Change: e.define, Logger: o.Logger}
	var err error
	if o.KeepSchema {
		_, err = engine.CheckVersion(ctx, s, all)
	} else {
		err = engine.Migrate(ctx, s, all, o.Now)
	}
	return err
}

// connect creates the pool. It does not wait for the first connection.
func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's URL: %w", err)
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = defaultConns
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectPatience
	}
	config.PingTimeout = config.ConnConfig.ConnectTimeout / 2
	config.ConnConfig.DialFunc = dialer(config.ConnConfig.ConnectTimeout).DialContext
	config.ConnConfig.BuildContextWatcherHandler = watch
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "dray"
	}
	config.AfterConnect = preferIndexes
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("set up the PostgreSQL pool: %w", err)
	}
	return pool, nil
}

// preferIndexes makes a connection use indexes wherever possible, even for small tables: a
// serializable transaction that reads a table without an index conflicts with all
// insertions into it, even those of other organizations. This makes PostgreSQL
// overestimate the cost of other queries, so it would compile them or run them in
// parallel; both are disabled, also because one request must not use more than one
// processor. Errors of databases that lack these settings are ignored.
func preferIndexes(ctx context.Context, c *pgx.Conn) error {
	for _, setting := range []string{"SET enable_seqscan = off", "SET jit = off", "SET max_parallel_workers_per_gather = 0"} {
		if _, err := c.Exec(ctx, setting); err != nil && pgCode(err) == "" {
			return err // the connection is broken
		}
	}
	return nil
}

// checkServer rejects a PostgreSQL server that is too old. Other databases that
// speak its protocol have versions of another kind and are accepted.
func checkServer(ctx context.Context, c engine.Conn) error {
	var text string
	if err := c.Row(ctx, "SELECT version()").Scan(&text); err != nil {
		return err
	}
	if major, ok := postgresMajor(text); ok && major < oldestPostgres {
		return fmt.Errorf("the server is %s: version %d or newer is needed", text, oldestPostgres)
	}
	return nil
}

// postgresMajor parses the major version from the result of version(). ok is false for
// other databases, such as "PostgreSQL 11.2-YB-2.25 on …".
func postgresMajor(text string) (major int, ok bool) {
	fields := strings.Fields(text)
	if len(fields) < 2 || fields[0] != "PostgreSQL" || strings.Contains(fields[1], "-") {
		return 0, false
	}
	digits := strings.TrimRight(strings.SplitN(fields[1], ".", 2)[0], "abcdefghijklmnopqrstuvwxyz")
	if i := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = digits[:i] // 16beta2
	}
	major, err := strconv.Atoi(digits)
	return major, err == nil
}

// Direct implements engine.Engine.
func (e *Engine) Direct(ctx context.Context, fn func(engine.Conn) error) error {
	return e.limited(ctx, directPatience, func(operation context.Context) error {
		c, release, err := e.acquire(operation)
		if err != nil {
			return err
		}
		defer release()
		return e.present(operation, e.call(&conn{q: c, raw: c.Conn(), limit: within(ctx, operation)}, fn))
	})
}

// Read implements engine.Engine.
func (e *Engine) Read(ctx context.Context, fn func(engine.Conn) error) error {
	return e.limited(ctx, operationPatience, func(ctx context.Context) error {
		return e.Snapshot(ctx, fn)
	})
}

// Snapshot is Read without a time limit.
func (e *Engine) Snapshot(ctx context.Context, fn func(engine.Conn) error) error {
	again, err := e.snapshot(ctx, false, fn)
	if again {
		_, err = e.snapshot(ctx, true, fn)
	}
	return err
}

// snapshot is one attempt of Snapshot. again reports that a careful attempt must follow,
// because the connection broke before the transaction began.
func (e *Engine) snapshot(ctx context.Context, careful bool, fn func(engine.Conn) error) (again bool, err error) {
	c, release, err := e.begin(ctx, beginRead, careful)
	if err != nil {
		return false, e.settle(ctx, err)
	}
	defer func() { go release() }() // what was read need not wait for the end of the transaction
	err = e.call(c, fn)
	if err != nil && !careful && c.neverBegan() && !givenUp(err) && ctx.Err() == nil {
		return true, err
	}
	return false, e.present(ctx, err)
}

// call runs fn over a connection for reading.
func (e *Engine) call(c *conn, fn func(engine.Conn) error) error {
	err := engine.Protect(e.log, c, fn)
	c.end()
	if err == nil {
		err = c.failed
	}
	return err
}

// limited runs fn with a time limit, so that a server that hangs does not block
// its callers. Exceeding it is reported as overload.
func (e *Engine) limited(ctx context.Context, limit time.Duration, fn func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := fn(within)
	if err != nil && ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded) && !errors.Is(err, lastmile.ErrUnknownOutcome) {
		return e.unreachable(err)
	}
	return err
}

// acquire takes a connection from the pool. It waits while all are in use, or as many as
// the caller may have; the waiting time and the number of waiting operations are limited.
// It fails soon if the server cannot be reached. release returns the connection.
func (e *Engine) acquire(ctx context.Context) (c *pgxpool.Conn, release func(), err error) {
	caller := lastmile.CallerOf(ctx)
	if err := e.slots.Take(ctx, caller); err != nil {
		return nil, nil, err
	}
	if c, err = e.connection(ctx); err != nil {
		e.slots.Give(caller)
		return nil, nil, err
	}
	return c, func() {
		c.Release()
		e.slots.Give(caller)
	}, nil
}

// connection takes a connection from the pool.
func (e *Engine) connection(ctx context.Context) (*pgxpool.Conn, error) {
	soon, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	c, err := e.pool.Acquire(soon)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case e.pool.Stat().AcquiredConns() == e.pool.Config().MaxConns:
		return nil, e.count.Overloaded("too many operations are waiting")
	default:
		e.count.Shed.Add(1)
		return nil, e.unreachable(err)
	}
}

// Name implements engine.Engine.
func (e *Engine) Name() string { return "postgres" }

// Ping implements engine.Engine.
func (e *Engine) Ping(ctx context.Context) error {
	return e.Direct(ctx, func(c engine.Conn) error { return engine.AtHead(ctx, c, engine.Head(e.migrations)) })
}

// Stats implements engine.Engine.
func (e *Engine) Stats() engine.Stats {
	s := e.count.Stats()
	s.Waiting = e.slots.Waiting()
	s.Connections = int(e.pool.Stat().TotalConns())
	return s
}

// Close implements engine.Engine.
func (e *Engine) Close() error {
	e.relay.close()
	e.pool.Close()
	return nil
}
