package access

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

func TestFullHashingQueueRejects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPasswords()
		ctx, leave := context.WithCancel(t.Context())
		wait := func(caller string, known bool, times int) (rejected int) {
			results := make(chan error, times)
			for range times {
				go func() {
					_, err := p.Enter(ctx, caller, known)
					results <- err
				}()
			}
			synctest.Wait()
			for len(results) > 0 {
				if <-results != nil {
					rejected++
				}
			}
			return rejected
		}
		if got := wait("greedy", false, 40); got != 40-maxWaitingOf {
			t.Errorf("%d of 40 callers of one network were rejected, want %d", got, 40-maxWaitingOf)
		}
		if got := wait("other", false, 1); got != 0 {
			t.Error("one network keeps another out")
		}
		for n := range newcomers {
			wait(fmt.Sprint("network ", n), false, 1)
		}
		if got := wait("late", false, 1); got != 1 {
			t.Error("a full queue accepts a network")
		}
		if got := wait("device", true, 1); got != 0 {
			t.Error("networks keep out a device that signed in before")
		}
		for n := range maxWaiting {
			wait(fmt.Sprint("device ", n), true, 1)
		}
		if p.total != maxWaiting {
			t.Errorf("%d callers wait, want %d", p.total, maxWaiting)
		}
		leave()
		synctest.Wait()
		if p.total != p.slots || len(p.waiting) != 1 {
			t.Errorf("%d callers are left after the others went away, want the %d that hash", p.total, p.slots)
		}
	})
}

// TestKnownDevicesWaitForFewNetworks: a device that signed in before waits for one network
// at a time, however many of them guess.
func TestKnownDevicesWaitForFewNetworks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPasswords()
		p.slots = 2
		var order []string
		done := make(chan struct{})
		enter := func(caller string, known bool) {
			go func() {
				leave, err := p.Enter(t.Context(), caller, known)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, caller)
				<-done
				leave()
			}()
			synctest.Wait()
		}
		for n := range 10 {
			enter(fmt.Sprint("network ", n), false)
		}
		enter("device 1", true)
		enter("device 2", true)
		for range 12 {
			done <- struct{}{}
			synctest.Wait()
		}
		if want := []string{"network 0", "network 1", "device 1", "network 2", "device 2", "network 3"}; !slices.Equal(order[:6], want) {
			t.Errorf("the order is %v, want %v", order, want)
		}
		if len(order) != 12 || p.total != 0 || p.hashing != 0 {
			t.Errorf("%d of 12 got a slot; %d wait and %d hash in the end", len(order), p.total, p.hashing)
		}
	})
}
