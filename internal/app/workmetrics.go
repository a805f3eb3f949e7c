package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dray/internal/account"
	"dray/internal/fleet"
	"dray/internal/messaging"
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
	"dray/internal/work"
)

// workMetrics collects the metrics of background work: of the work of this node,
// and of the backlog in the database, which all nodes share.
type workMetrics struct {
	db     *sqlstore.Store
	sender *webhook.Sender
	texts  *messaging.Sender
	steps  *steps
	now    func() time.Time
	log    *slog.Logger
}

// countTimeout limits how long reading the backlog may take.
const countTimeout = 5 * time.Second

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	attemptsMade         = describe("dray_webhook_attempts_total", "Attempts of this node to deliver notifications, by result.", "result")
	attemptsInFlight     = describe("dray_webhook_attempts_in_flight", "Attempts of this node to deliver notifications that are in progress.")
	textsSent            = describe("dray_text_messages_total", "Attempts of this node to send text messages, by result.", "result")
	notificationsWaiting = describe("dray_webhook_notifications_waiting", "Notifications to be sent, now or later, by any node.")
	notificationsDue     = describe("dray_webhook_notifications_due", "Notifications to be sent now, by any node.")
	notificationsOldest  = describe("dray_webhook_oldest_due_seconds", "How long the oldest due notification has been due.")
	jobsDue              = describe("dray_jobs_due", "Background jobs that are due and not running.")
	jobsRunning          = describe("dray_jobs_running", "Background jobs that are running on any node.")
	jobsGivenUp          = describe("dray_jobs_given_up", "Background jobs that failed for good.")
	workDue              = describe("dray_work_due", "Background work that is due and not leased, by kind. For webhooks it counts notifications.", "kind")
	workLeased           = describe("dray_work_leased", "Background work that is leased to a node, by kind.", "kind")
	workGivenUp          = describe("dray_work_given_up", "Background work that failed for good, by kind.", "kind")
	workOldest           = describe("dray_work_oldest_due_seconds", "How long the oldest due work of a kind has been due.", "kind")
	stepAge              = describe("dray_step_age_seconds", "How long ago a periodic step of this node, such as a purge, last succeeded; at first, how long ago the node was started.", "step")
	jobsOldest           = describe("dray_jobs_oldest_due_seconds", "How long the oldest due job has been due.")
)

// Describe implements prometheus.Collector.
func (w workMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{
		attemptsMade, attemptsInFlight, textsSent, notificationsWaiting, notificationsDue, notificationsOldest,
		jobsDue, jobsRunning, jobsGivenUp, jobsOldest, workDue, workLeased, workGivenUp, workOldest, stepAge,
	} {
		out <- one
	}
}

// Collect implements prometheus.Collector. It omits metrics that cannot be read.
func (w workMetrics) Collect(out chan<- prometheus.Metric) {
	gauge := func(what *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(what, prometheus.GaugeValue, value)
	}
	done := w.sender.Stats()
	for result, count := range map[string]int64{"delivered": done.Delivered, "failed": done.Failed, "fenced": done.Fenced} {
		out <- prometheus.MustNewConstMetric(attemptsMade, prometheus.CounterValue, float64(count), result)
	}
	gauge(attemptsInFlight, float64(done.InFlight))
	texts := w.texts.Stats()
	for result, count := range map[string]int64{"sent": texts.Sent, "failed": texts.Failed, "suppressed": texts.Suppressed} {
		out <- prometheus.MustNewConstMetric(textsSent, prometheus.CounterValue, float64(count), result)
	}

	for step, age := range w.steps.ages() {
		out <- prometheus.MustNewConstMetric(stepAge, prometheus.GaugeValue, age.Seconds(), step)
	}
	backlogs, now := w.backlog(), w.now()
	for kind, b := range backlogs {
		perKind := func(what *prometheus.Desc, value float64) {
			out <- prometheus.MustNewConstMetric(what, prometheus.GaugeValue, value, string(kind))
		}
		perKind(workDue, float64(b.Due))
		perKind(workLeased, float64(b.Leased))
		perKind(workGivenUp, float64(b.GivenUp))
		perKind(workOldest, age(b.Oldest, now))
	}
	if notifications, ok := backlogs[work.Webhooks]; ok {
		gauge(notificationsWaiting, float64(notifications.Waiting))
		gauge(notificationsDue, float64(notifications.Due))
		gauge(notificationsOldest, age(notifications.Oldest, now))
	}
	if jobs, ok := backlogs[work.CreateBatch]; ok {
		gauge(jobsDue, float64(jobs.Due))
		gauge(jobsRunning, float64(jobs.Leased))
		gauge(jobsGivenUp, float64(jobs.GivenUp))
		gauge(jobsOldest, age(jobs.Oldest, now))
	}
}

// backlog counts the work of every kind. It returns nil if the database cannot be
// read.
func (w workMetrics) backlog() map[work.Kind]work.Backlog {
	backlogs, err := readBacklogs(context.Background(), w.db, w.now())
	if err != nil {
		w.log.Warn("metrics of the backlog are missing", "error", err)
		return nil
	}
	return backlogs
}

// workKinds are the kinds of background work.
var workKinds = []work.Kind{work.Webhooks, work.Messages, account.SendMail, work.Estimates, work.CreateBatch, work.Dispatch, work.Replans, webhook.Clearing, fleet.Clearing}

// readBacklogs counts the work of every kind.
func readBacklogs(ctx context.Context, db *sqlstore.Store, now time.Time) (map[work.Kind]work.Backlog, error) {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	backlogs := map[work.Kind]work.Backlog{}
	err := db.Read(ctx, func(r *sqlstore.Tx) error {
		clear(backlogs)
		for _, kind := range workKinds {
			b, err := r.WorkBacklog(ctx, kind, now)
			if err != nil {
				return err
			}
			backlogs[kind] = b
		}
		return nil
	})
	return backlogs, err
}

// age returns the seconds since a time, or 0 if there is none.
func age(since, now time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return now.Sub(since).Seconds()
}
