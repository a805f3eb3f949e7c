package app

import (
	"net/http"
	"net/http/pprof"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dray/internal/edge"
	"dray/internal/store/sqlstore"
)

// metrics are the Prometheus metrics of this node.
type metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.HistogramVec
	observers sync.Map // labels → prometheus.Observer, because WithLabelValues is slow
}

// labels are the labels of a request's duration.
type labels struct {
	route, method string
	status        int
}

func newMetrics(db *sqlstore.Store, budget *edge.Budget, trail *edge.Trail, work workMetrics) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "dray_http_request_duration_seconds",
			Help:    "Time to respond to API requests, by route, method and status.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "method", "status"}),
	}
	count := func(name, help string, value func(sqlstore.Stats) float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return value(db.Stats()) })
	}
	level := func(name, help string, value func(sqlstore.Stats) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(db.Stats()) })
	}
	m.registry.MustRegister(
		m.requests, work,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		level("dray_store_waiting", "Writes waiting to be started.", func(s sqlstore.Stats) float64 { return float64(s.Waiting) }),
		level("dray_store_connections", "Open database connections.", func(s sqlstore.Stats) float64 { return float64(s.Connections) }),
		level("dray_store_wal_bytes", "Size of the write-ahead log at the last checkpoint.", func(s sqlstore.Stats) float64 { return float64(s.WALBytes) }),
		count("dray_store_operations_total", "Writes committed.", func(s sqlstore.Stats) float64 { return float64(s.Operations) }),
		count("dray_store_commits_total", "Transactions committed.", func(s sqlstore.Stats) float64 { return float64(s.Commits) }),
		count("dray_store_failed_total", "Writes that returned an error.", func(s sqlstore.Stats) float64 { return float64(s.Failed) }),
		count("dray_store_retries_total", "Writes that were retried.", func(s sqlstore.Stats) float64 { return float64(s.Retries) }),
		count("dray_store_shed_total", "Writes rejected because the database was too busy.", func(s sqlstore.Stats) float64 { return float64(s.Shed) }),
	)
	denied := func(kind string, value func(edge.TrailCounts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "dray_requests_denied_total", Help: "Requests with invalid credentials, for records of other organizations, and those of them that were over the limit of an address.",
			ConstLabels: prometheus.Labels{"reason": kind},
		}, func() float64 { return float64(value(trail.Counts())) })
	}
	m.registry.MustRegister(
		denied("credentials", func(c edge.TrailCounts) int64 { return c.Credentials }),
		denied("scope", func(c edge.TrailCounts) int64 { return c.Scope }),
		denied("limited", func(c edge.TrailCounts) int64 { return c.Limited }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "dray_requests_memory_bytes", Help: "Memory held by large requests and responses in flight."},
			func() float64 { return float64(budget.Stats().Held) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "dray_requests_memory_limit_bytes", Help: "Memory that requests and responses in flight may hold."},
			func() float64 { return float64(budget.Stats().Total) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "dray_requests_memory_rejected_total", Help: "Requests rejected because of the memory they would hold."},
			func() float64 { return float64(budget.Stats().Rejected) }),
	)
	return m
}

func (m *metrics) observe(route, method string, status int, took time.Duration) {
	key := labels{route, method, status}
	observer, ok := m.observers.Load(key)
	if !ok {
		observer = m.requests.WithLabelValues(route, method, strconv.Itoa(status))
		m.observers.Store(key, observer)
	}
	observer.(prometheus.Observer).Observe(took.Seconds())
}

// handler serves metrics and profiles. Only operators may reach it.
func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
