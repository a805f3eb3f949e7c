package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dray/internal/messaging"
	"dray/internal/store"
	"dray/internal/webhook"
)

// workload is the metrics of what is done in the background: what this node
// did, and what waits in the database, whichever node will do it.
type workload struct {
	db     store.Store
	sender *webhook.Sender
	texts  *messaging.Sender
	now    func() time.Time
	log    *slog.Logger
}

// countTimeout bounds the reading of what waits.
const countTimeout = 5 * time.Second

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	attemptsMade     = describe("dray_webhook_attempts_total", "Attempts at notifications that this node made, by what came of them.", "result")
	attemptsUnderWay = describe("dray_webhook_attempts_in_flight", "Attempts at notifications under way on this node.")
	textsSent        = describe("dray_text_messages_total", "Attempts at text messages that this node made, by what came of them.", "result")
	owed             = describe("dray_webhook_notifications_waiting", "Notifications to be sent, now or later, by any node.")
	owedNow          = describe("dray_webhook_notifications_due", "Notifications to be sent now, by any node.")
	owedSince        = describe("dray_webhook_oldest_due_seconds", "How long the notification has been due that has been so the longest.")
	jobsDue          = describe("dray_jobs_due", "Background jobs that may begin and that nobody runs.")
	jobsRunning      = describe("dray_jobs_running", "Background jobs that a node runs.")
	jobsGivenUp      = describe("dray_jobs_given_up", "Background jobs that failed for good.")
	jobsSince        = describe("dray_jobs_oldest_due_seconds", "How long the job has been due that has been so the longest.")
)

// Describe implements prometheus.Collector.
func (w workload) Describe(out chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{attemptsMade, attemptsUnderWay, textsSent, owed, owedNow, owedSince, jobsDue, jobsRunning, jobsGivenUp, jobsSince} {
		out <- one
	}
}

// Collect implements prometheus.Collector. What cannot be read is left out.
func (w workload) Collect(out chan<- prometheus.Metric) {
	level := func(what *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(what, prometheus.GaugeValue, value)
	}
	done := w.sender.Stats()
	for result, count := range map[string]int64{"delivered": done.Delivered, "failed": done.Failed, "fenced": done.Fenced} {
		out <- prometheus.MustNewConstMetric(attemptsMade, prometheus.CounterValue, float64(count), result)
	}
	level(attemptsUnderWay, float64(done.InFlight))
	texts := w.texts.Stats()
	for result, count := range map[string]int64{"sent": texts.Sent, "failed": texts.Failed, "suppressed": texts.Suppressed} {
		out <- prometheus.MustNewConstMetric(textsSent, prometheus.CounterValue, float64(count), result)
	}

	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	var (
		left store.Backlog
		now  = w.now()
	)
	err := w.db.Read(ctx, func(r store.Reader) (err error) {
		left, err = r.Backlog(ctx, now)
		return err
	})
	if err != nil {
		w.log.Warn("metrics of what is waiting are missing", "error", err)
		return
	}
	level(owed, float64(left.Owed))
	level(owedNow, float64(left.Due))
	level(owedSince, age(left.OldestDue, now))
	level(jobsDue, float64(left.JobsDue))
	level(jobsRunning, float64(left.JobsHeld))
	level(jobsGivenUp, float64(left.GivenUp))
	level(jobsSince, age(left.OldestWork, now))
}

// age is how many seconds ago a time was; 0 for none.
func age(since, now time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return now.Sub(since).Seconds()
}
