package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Kind names a sort of work.
type Kind = store.JobKind

// Handler does one kind of work.
type Handler struct {
	// Run does a job. It may be called again for a job it has done a part of.
	// Its own transactions begin with HoldJob; what it returns is run in the
	// transaction that ends the job, and may run more than once.
	Run func(ctx context.Context, job store.Job) (end func(store.Writer) error, err error)

	// GiveUp is run in the transaction that ends a job which failed too often.
	// It may be nil.
	GiveUp func(ctx context.Context, w store.Writer, job store.Job) error
}

// What a runner does at once, and how patient it is.
const (
	concurrency     = 4 // jobs at a time
	perOrganization = 2 // of them of one organization
	defaultLease    = 3 * time.Second
	pollSoon        = 250 * time.Millisecond
	pollIdle        = 2 * time.Second
	firstBackoff    = 250 * time.Millisecond
	longestBackoff  = time.Minute
	stopPatience    = 2 * time.Second

	// maxFailures is how often a job may fail. Claims that ended without an
	// error, because a process was killed, are not the job's fault, but not
	// without end: it may be the job that takes processes down.
	maxFailures = 10
	maxAttempts = 200
)

// Runner claims jobs that are due and runs them. Several may run on one
// database, in one process or in many.
type Runner struct {
	Store    store.Store
	Now      func() time.Time
	Log      *slog.Logger
	Handlers map[Kind]Handler
	Lease    time.Duration   // how long a claim outlives its process; 0 is 3 s
	Alone    bool            // no other process runs jobs of this database
	Added    <-chan struct{} // receives after a job was added; nil leaves it to polling
}

func (r *Runner) lease() time.Duration {
	if r.Lease == 0 {
		return defaultLease
	}
	return r.Lease
}

// Run runs jobs until ctx ends. Then it waits for those that are running to
// notice, and returns them to be claimed by others.
func (r *Runner) Run(ctx context.Context) {
	s := &shift{Runner: r, running: map[*work]bool{}, ended: make(chan *work)}
	for kind := range r.Handlers {
		s.kinds = append(s.kinds, kind)
	}
	slices.Sort(s.kinds)
	if r.Alone {
		s.reclaim(ctx)
	}
	s.loop(ctx)
	for len(s.running) > 0 {
		delete(s.running, <-s.ended)
	}
}

// shift is one call of Run.
type shift struct {
	*Runner
	kinds   []Kind
	running map[*work]bool
	ended   chan *work
	after   lastmile.OrganizationID // whose turn it was last
}

// work is a job that is running.
type work struct {
	job    store.Job
	cancel context.CancelFunc
}

func (s *shift) loop(ctx context.Context) {
	renew := time.NewTicker(s.lease() / 3)
	defer renew.Stop()
	pause := pollSoon
	poll := time.NewTimer(0)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
			s.renew(ctx)
			continue
		case done := <-s.ended:
			delete(s.running, done)
			pause = pollSoon
		case <-s.Added:
			pause = pollSoon
		case <-poll.C:
			pause = min(2*pause, pollIdle)
		}
		if err := s.fill(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("jobs cannot be claimed", "error", err)
		}
		poll.Reset(pause)
	}
}

// fill starts jobs until there is no room or nothing is due.
func (s *shift) fill(ctx context.Context) error {
	for {
		claimed, err := s.claim(ctx)
		if err != nil || len(claimed) == 0 {
			return err
		}
		for _, job := range claimed {
			s.start(ctx, job)
		}
	}
}

// claim claims due jobs, as many as there is room for: one of each
// organization in turn.
func (s *shift) claim(ctx context.Context) (claimed []store.Job, err error) {
	free := concurrency - len(s.running)
	if free == 0 {
		return nil, nil
	}
	now := s.Now()
	var due []store.Job
	err = s.Store.Read(ctx, func(r store.Reader) (err error) {
		// As many organizations may have all they can have already.
		due, err = r.DueJobs(ctx, s.kinds, now, s.after, 2*concurrency)
		return err
	})
	due = slices.DeleteFunc(due, func(j store.Job) bool { return s.busy(j.Organization) })
	if err != nil || len(due) == 0 {
		return nil, err
	}
	due = due[:min(free, len(due))]
	err = s.Store.Write(ctx, func(w store.Writer) error {
		claimed = nil
		for _, job := range due {
			job.Lease = s.lease()
			job, err := w.ClaimJob(ctx, job, now)
			if errors.Is(err, store.ErrJobLost) {
				continue // another node was faster
			}
			if err != nil {
				return err
			}
			job.Last = job.Failures >= maxFailures-1 || job.Attempt >= maxAttempts
			claimed = append(claimed, job)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.after = due[len(due)-1].Organization
	return claimed, nil
}

// busy tells whether an organization has as many jobs running as it may.
func (s *shift) busy(org lastmile.OrganizationID) bool {
	n := 0
	for w := range s.running {
		if w.job.Organization == org {
			n++
		}
	}
	return n >= perOrganization
}

func (s *shift) start(ctx context.Context, job store.Job) {
	ctx, cancel := context.WithCancel(ctx)
	w := &work{job: job, cancel: cancel}
	s.running[w] = true
	go func() {
		defer cancel()
		s.do(ctx, job)
		s.ended <- w
	}()
}

// renew makes the claims of what is running last longer. Work whose job was
// lost all the same is told to stop.
func (s *shift) renew(ctx context.Context) {
	if len(s.running) == 0 {
		return
	}
	var lost []*work
	err := s.Store.Write(ctx, func(w store.Writer) error {
		lost = nil
		for one := range s.running {
			err := w.HoldJob(ctx, one.job, s.Now())
			if errors.Is(err, store.ErrJobLost) {
				lost = append(lost, one)
				continue
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("claims of jobs cannot be renewed", "error", err)
		return
	}
	for _, one := range lost {
		one.cancel()
	}
}

// reclaim ends the claims of processes that are gone.
func (s *shift) reclaim(ctx context.Context) {
	err := s.Store.Write(ctx, func(w store.Writer) error { return w.ReclaimJobs(ctx, s.Now()) })
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("jobs cannot be reclaimed at once: they will be when their claims end", "error", err)
	}
}

// do runs a claimed job and ends its claim.
func (r *Runner) do(ctx context.Context, job store.Job) {
	log := r.Log.With("kind", job.Kind, "job", job.ID, "organization", job.Organization, "attempt", job.Attempt)
	err := errExhausted
	if job.Failures < maxFailures && job.Attempt <= maxAttempts {
		err = r.attempt(ctx, job)
	}
	// What follows must be written even if the runner is stopping.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	switch {
	case err == nil:
		return
	case errors.Is(err, store.ErrJobLost):
		log.Warn("a job was taken over by another process")
		return
	case ctx.Err() != nil && !errors.Is(err, errExhausted):
		err = r.giveBack(ending, job, r.Now(), "")
	case job.Last || errors.Is(err, errExhausted):
		log.Error("a job is given up", "failures", job.Failures+1, "error", err)
		err = r.giveUp(ending, job, err)
	default:
		again := backoff(job.Failures)
		log.Warn("a job failed and will be tried again", "failures", job.Failures+1, "after", again, "error", err)
		job.Failures++
		err = r.giveBack(ending, job, r.Now().Add(again), err.Error())
	}
	if err != nil && !errors.Is(err, store.ErrJobLost) {
		log.Warn("a job waits for its claim to end", "error", err)
	}
}

// errExhausted is why a job is not even tried any more.
var errExhausted = errors.New("the job was tried too often")

// backoff is how long a job waits that has failed so often before.
func backoff(failures int) time.Duration {
	return min(firstBackoff<<min(failures, 20), longestBackoff)
}

// attempt runs a job once and, if that went well, ends it.
func (r *Runner) attempt(ctx context.Context, job store.Job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	end, err := r.Handlers[job.Kind].Run(ctx, job)
	if err != nil {
		return err
	}
	return r.Store.Write(ctx, func(w store.Writer) error {
		if err := w.FinishJob(ctx, job); err != nil || end == nil {
			return err
		}
		return end(w)
	})
}

// giveBack ends the claim of a job that is to be claimed again.
func (r *Runner) giveBack(ctx context.Context, job store.Job, again time.Time, why string) error {
	return r.Store.Write(ctx, func(w store.Writer) error { return w.ReturnJob(ctx, job, again, why) })
}

// giveUp ends a job for good. Its row stays, to be looked at.
func (r *Runner) giveUp(ctx context.Context, job store.Job, cause error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err != nil { // try to end it again, later
			job.Failures = maxFailures
			err = errors.Join(err, r.giveBack(ctx, job, r.Now().Add(longestBackoff), cause.Error()))
		}
	}()
	return r.Store.Write(ctx, func(w store.Writer) error {
		if err := w.HoldJob(ctx, job, r.Now()); err != nil {
			return err
		}
		if handler := r.Handlers[job.Kind]; handler.GiveUp != nil {
			if err := handler.GiveUp(ctx, w, job); err != nil {
				return err
			}
		}
		ended := job
		ended.Failures++
		return w.ReturnJob(ctx, ended, time.Time{}, cause.Error())
	})
}
