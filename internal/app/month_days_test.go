package app_test

import (
	"net/http"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// day is a day of the node: a disturbance in the early morning, work, an idle
// afternoon, and a night in which a receiver may be down.
func (m *month) day(day int) {
	m.t.Helper()
	m.until(day, 5*time.Hour)
	m.hooks.recover(flaky)
	m.until(day, 5*time.Hour+35*time.Minute)
	m.deliveredAll(flaky)
	m.until(day, 6*time.Hour)
	m.disturb(day)
	m.checkAllWork()
	m.until(day, 8*time.Hour)
	if day%7 < 5 {
		m.work()
	}
	m.until(day, 12*time.Hour)
	m.longTerm(day % 35)
	m.until(day, 15*time.Hour)
	m.checkAllWork() // after hours without any event
	m.until(day, 16*time.Hour)
	if day%5 == 2 {
		m.gatewayFails(day%35 == 22)
	}
	m.until(day, 23*time.Hour)
	m.noneOverdue()
	m.until(day, 23*time.Hour+50*time.Minute)
	if day%3 == 1 {
		m.hooks.fail(flaky, day%2 == 1)
		m.task(nil)
	}
}

// disturb stops the node or sets its clock, depending on the day.
func (m *month) disturb(day int) {
	m.t.Helper()
	switch day % 6 {
	case 1:
		m.stop()
		time.Sleep(time.Minute)
		m.start()
	case 2:
		done := m.busy()
		m.kill(true)
		done()
	case 3:
		m.rateLimit(func() { m.setClock(jumpSize) })
	case 4:
		m.hooks.fail(flaky, false)
		task := m.task(nil)
		time.Sleep(time.Minute)
		m.rateLimit(func() { m.setClock(0) }) // the clock jumps back
		m.hooks.recover(flaky)
		m.checkAllWork()
		m.awaitNotification(lastmile.RetryInterval+m.config.Poll+2*time.Minute, flaky, task)
	case 5:
		done := m.busy()
		m.setClock(-jumpSize) // the leases now seem to last for hours
		m.kill(false)
		done()
		m.checkAllWork()
		m.setClock(0)
	}
}

// setClock sets the error of the node's clock; zero makes it right.
func (m *month) setClock(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.disturbed = append(m.disturbed, time.Now())
	m.jump.Store(int64(by))
}

// busy starts work of every kind that has leases, and leaves it unfinished. done
// checks that all of it was finished.
func (m *month) busy() (done func()) {
	m.t.Helper()
	m.gateway.set(false, response)
	number := m.number()
	m.duty(true)
	m.position(40.71)
	task := m.task(m.onWorkersList(map[string]any{"recipients": []any{map[string]any{"name": "R", "phone": number}}}))
	time.Sleep(time.Minute)
	m.act("start", task, nil)
	job := m.api(http.MethodPost, "/tasks/batch-async", map[string]any{"tasks": []any{newTaskBody(nil), newTaskBody(nil)}})["jobId"]
	time.Sleep(response / 2)
	sent := m.hooks.at(onStart, func(r received) bool { return r.task == task })
	if len(sent) != 1 || len(m.gateway.to(number, textmessage.KindStarted)) != 1 {
		m.t.Fatalf("%s: nothing is being sent", m.when())
	}
	return func() {
		m.t.Helper()
		m.gateway.set(false, 0)
		m.within(takeover, "the notification is sent again", func() bool {
			return m.api(http.MethodGet, "/webhooks/"+m.hookID[onStart]+"/notifications/"+sent[0].id, nil)["state"] == "delivered"
		})
		m.within(takeover, "the text message is sent again", func() bool { return len(m.gateway.to(number, textmessage.KindStarted)) > 1 })
		m.within(takeover, "the batch is done", func() bool { return m.batchDone(job) })
		m.act("complete", task, map[string]any{"success": true})
		m.duty(false)
	}
}

// work is a shift of the worker. One task is started too late, which is predicted.
func (m *month) work() {
	m.t.Helper()
	m.duty(true)
	m.position(40.70)
	task := m.task(m.onWorkersList(map[string]any{"completeBefore": m.now().Add(25 * time.Minute).UnixMilli()}))
	for i := range 6 {
		time.Sleep(5 * time.Minute)
		shown := m.api(http.MethodGet, "/tasks/"+task, nil)
		estimate, _ := shown["estimatedCompletionTime"].(float64)
		if age := m.now().Sub(time.UnixMilli(int64(estimate))); age > 0 { // the worker still has to drive
			m.t.Errorf("%s: the estimate is %v old: %v", m.when(), age, shown["estimatedCompletionTime"])
		}
		m.position(40.70 + float64(i)/1000)
	}
	m.awaitNotification(time.Second, predicted, task)
	m.act("start", task, nil)
	m.act("complete", task, map[string]any{"success": true})
	m.duty(false)
}

// deliveredAll checks that a receiver was notified of every task created.
func (m *month) deliveredAll(path string) {
	m.t.Helper()
	got := map[string]bool{}
	for _, r := range m.hooks.at(path, func(r received) bool { return r.ok }) {
		got[r.task] = true
	}
	for task, at := range m.created {
		if !got[task] {
			m.t.Errorf("%s: %s was not notified of a task that was created %v ago", m.when(), path, time.Since(at))
		}
	}
}

// gatewayFails starts a task while text messages cannot be sent. The message is
// retried for 40 minutes.
func (m *month) gatewayFails(long bool) {
	m.t.Helper()
	number := m.number()
	m.duty(true)
	task := m.task(m.onWorkersList(map[string]any{"recipients": []any{map[string]any{"name": "R", "phone": number}}}))
	m.gateway.set(true, 0)
	begun := time.Now()
	m.act("start", task, nil)
	m.duty(false)
	pauses := []time.Duration{0, 5 * time.Second, 15 * time.Second, 45 * time.Second, 135 * time.Second, 405 * time.Second, 15 * time.Minute, 15 * time.Minute}
	if !long {
		time.Sleep(12 * time.Minute)
		m.gateway.set(false, 0)
		pauses = pauses[:7]
	}
	time.Sleep(2 * time.Hour)
	m.gateway.set(false, 0)
	got := m.gateway.to(number, textmessage.KindStarted)
	if len(got) != len(pauses) || got[len(got)-1].ok == long {
		m.t.Errorf("%s: %d attempts were made at a text message", m.when(), len(got))
	}
	due := begun
	for i, a := range got {
		due = due.Add(pauses[i])
		if late := a.at.Sub(due); late < -time.Millisecond || late > prompt { // clocks are read in milliseconds
			m.t.Errorf("%s: attempt %d at a text message was %v late", m.when(), i+1, late)
		}
		due = a.at
	}
	m.duty(true)
	m.act("complete", task, map[string]any{"success": true})
	m.duty(false)
}

// longTerm is the state of the checks that span several days; they run at noon.
type longTerm struct {
	keyed       string    // task that was created with an idempotency key
	idle        string    // token of a session that is not used
	early, late [2]string // phone numbers and temporary passwords
	upload      string    // upload that no task uses
	deleted     string    // task whose deletion a receiver rejects
	died        time.Time // when another receiver began to fail
	since       int64     // the same, by the clock of the node
}

// longTerm runs the checks that span several days. They begin again after 35 days.
func (m *month) longTerm(day int) {
	m.t.Helper()
	l := &m.long
	switch day {
	case 0:
		l.idle = m.newSession()
	case 1:
		for _, who := range []*[2]string{&l.early, &l.late} {
			who[0] = m.number()
			_, who[1] = m.invite(who[0])
		}
	case 2:
		l.upload, _ = m.must(http.MethodPost, "/driver/v1/uploads", "Bearer "+m.token, m.drawing(), "Content-Type", "image/png")["uploadId"].(string)
		if status := m.uploadStatus(); status != http.StatusOK {
			m.t.Errorf("%s: an upload cannot be read: %d", m.when(), status)
		}
	case 3:
		if m.signIn(l.early[0], l.early[1]) == "" {
			m.t.Errorf("%s: a temporary password does not work after two days", m.when())
		}
	case 5:
		if m.signIn(l.late[0], l.late[1]) != "" {
			m.t.Errorf("%s: a temporary password works after four days", m.when())
		}
		l.deleted = m.task(nil)
		m.hooks.fail(rare, false)
		m.api(http.MethodDelete, "/tasks/"+l.deleted, nil)
	case 7:
		m.givenUpAfterADay()
	case 10:
		l.died, l.since = time.Now(), m.now().UnixMilli()
		m.hooks.fail(dead, false)
	case 12:
		m.disabledAfterTooManyFailures()
	case 13:
		l.keyed = m.task(nil, "Idempotency-Key", "a key")
	case 14:
		if again := m.task(nil, "Idempotency-Key", "a key"); again != l.keyed {
			m.t.Errorf("%s: a request was not recognized after a day", m.when())
		}
	case 16:
		if again := m.task(nil, "Idempotency-Key", "a key"); again == l.keyed {
			m.t.Errorf("%s: a request was recognized after three days", m.when())
		}
	case 20, 27: // the receiver was idle for days
		task := m.task(nil)
		m.api(http.MethodDelete, "/tasks/"+task, nil)
		m.awaitNotification(prompt, rare, task)
	case 32:
		if status, _ := m.send(http.MethodGet, "http://dray/driver/v1/me", "Bearer "+l.idle, nil); status != http.StatusUnauthorized {
			m.t.Errorf("%s: a session that was not used for a month: %d", m.when(), status)
		}
		if status := m.uploadStatus(); status != http.StatusNotFound {
			m.t.Errorf("%s: an upload that no task uses was not purged: %d", m.when(), status)
		}
	}
}

func (m *month) uploadStatus() int {
	m.t.Helper()
	status, _ := m.send(http.MethodGet, "http://dray/api/v2/uploads/"+m.long.upload, basic(m.key), nil)
	return status
}

// newSession invites a worker, who signs in.
func (m *month) newSession() (token string) {
	m.t.Helper()
	number := m.number()
	_, password := m.invite(number)
	return m.signIn(number, password)
}

// givenUpAfterADay checks that a receiver that failed for two days was tried every
// half hour for a day. A requested redelivery then succeeds.
func (m *month) givenUpAfterADay() {
	m.t.Helper()
	tried := m.hooks.at(rare, func(r received) bool { return r.task == m.long.deleted })
	if span := tried[len(tried)-1].at.Sub(tried[0].at); len(tried) < 43 || len(tried) > 54 || span < 21*time.Hour || span > 27*time.Hour { // the clock may jump meanwhile
		m.t.Errorf("%s: a failing receiver was tried %d times in %v", m.when(), len(tried), span)
	}
	path := "/webhooks/" + m.hookID[rare] + "/notifications/" + tried[0].id
	if state := m.api(http.MethodGet, path, nil)["state"]; state != "givenUp" {
		m.t.Errorf("%s: after a day of failures a notification is %v", m.when(), state)
	}
	m.hooks.recover(rare)
	m.resent[tried[0].id] = true
	m.api(http.MethodPost, path+"/redeliver", nil)
	m.awaitNotification(prompt, rare, m.long.deleted)
}

// disabledAfterTooManyFailures checks that a webhook was disabled after 300
// failures in a row, and that it gets everything once it is enabled again.
func (m *month) disabledAfterTooManyFailures() {
	m.t.Helper()
	id := m.hookID[dead]
	failures := m.hooks.at(dead, func(r received) bool { return !r.ok && r.at.After(m.long.died) })
	// An attempt that a crash interrupted does not count.
	if n := len(failures); n <= lastmile.MaxFailureStreak || n > lastmile.MaxFailureStreak+10 {
		m.t.Errorf("%s: a receiver failed %d times", m.when(), n)
	}
	if m.enabled(id) {
		m.t.Errorf("%s: a webhook is enabled after %d failures", m.when(), len(failures))
	}
	m.hooks.recover(dead)
	m.api(http.MethodPut, "/webhooks/"+id, map[string]any{"isEnabled": true})
	m.api(http.MethodPost, "/webhooks/"+id+"/redeliver", map[string]any{"since": m.long.since})
	tasks := map[string]bool{}
	for _, f := range failures {
		tasks[f.task], m.resent[f.id] = true, true
	}
	if len(tasks) < 6 {
		m.t.Errorf("%s: a receiver rejected only %d notifications", m.when(), len(tasks))
	}
	m.within(time.Minute, "everything arrives after a webhook was enabled again", func() bool {
		for _, r := range m.hooks.at(dead, func(r received) bool { return r.ok }) {
			delete(tasks, r.task)
		}
		return len(tasks) == 0
	})
	task := m.task(nil)
	m.awaitNotification(prompt, dead, task)
}

func (m *month) enabled(hook string) bool {
	m.t.Helper()
	for _, h := range m.list("/webhooks") {
		if h["id"] == hook {
			return h["isEnabled"] == true
		}
	}
	m.t.Fatalf("%s: there is no webhook %s", m.when(), hook)
	return false
}

// checkSchedules compares all attempts with the rules: the first is made at once,
// the next every half hour for a day, and none after one succeeded.
func (m *month) checkSchedules() {
	m.t.Helper()
	byID := map[string][]received{}
	for _, r := range m.hooks.all() {
		byID[r.path+" "+r.id] = append(byID[r.path+" "+r.id], r)
	}
	for name, attempts := range byID {
		if m.resent[attempts[0].id] {
			continue
		}
		if at, known := m.created[attempts[0].task]; known && attempts[0].trigger == "taskCreated" {
			if late := attempts[0].at.Sub(at); late > prompt && m.undisturbed(at, attempts[0].at) {
				m.t.Errorf("the first attempt at %s was %v late", name, late)
			}
		}
		for i, a := range attempts[1:] {
			last := attempts[i]
			gap, calm := a.at.Sub(last.at), m.undisturbed(last.at.Add(-time.Minute), a.at)
			switch {
			case last.ok && calm:
				m.t.Errorf("%s was sent again %v after it was delivered", name, gap)
			case calm && (gap < lastmile.RetryInterval || gap > lastmile.RetryInterval+time.Minute):
				m.t.Errorf("attempt %d at %s was %v after the one before", i+2, name, gap)
			case gap > lastmile.RetryInterval+jumpSize+2*time.Minute:
				m.t.Errorf("attempt %d at %s was %v after the one before, although nothing explains it", i+2, name, gap)
			}
		}
		if last := attempts[len(attempts)-1]; !last.ok && time.Since(last.at) > lastmile.RetryInterval+jumpSize && last.at.Sub(attempts[0].at) < 21*time.Hour {
			m.t.Errorf("%s was dropped after %d attempts", name, len(attempts))
		}
	}
	if got := m.hooks.at(steady, func(received) bool { return true }); len(got) < len(m.created) {
		m.t.Errorf("of %d tasks, %d were reported", len(m.created), len(got))
	}
	m.deliveredAll(steady)
}
