package app_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/app"
)

// TestClockSetBack sets the clock of a node back by less than half an hour: estimates are
// refreshed soon, and not only when the clock has reached the old times again.
func TestClockSetBack(t *testing.T) {
	config := app.DefaultConfig()
	config.Data, config.Patience, config.Poll = t.TempDir(), time.Minute, 10*time.Second
	synctest.Test(t, func(t *testing.T) {
		m := newMonth(t, config)
		m.start()
		m.setUp()
		m.duty(true)
		m.position(40.70)
		task := m.task(m.onWorkersList(nil))
		estimated := func() time.Duration { // from now until the task will be completed
			at, _ := m.api(http.MethodGet, "/tasks/"+task, nil)["estimatedCompletionTime"].(float64)
			return time.UnixMilli(int64(at)).Sub(m.now())
		}
		m.within(time.Minute, "the task is estimated", func() bool { return estimated() > 0 })
		way := estimated()
		fresh := func() bool { return (estimated() - way).Abs() < time.Minute }
		for _, onDuty := range []bool{true, false} {
			m.setClock(9 * time.Minute)
			m.duty(onDuty)
			m.within(2*time.Minute, "the task is estimated by the wrong clock", fresh)
			time.Sleep(time.Minute) // the node checks its clock
			m.setClock(0)
			m.within(2*time.Minute, "the task is estimated by the right clock", fresh)
		}
	})
}
