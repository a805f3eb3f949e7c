package audit

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"dray/internal/lastmile"
)

var ada = Account{Email: "ada@example.com"}

// counts returns the number of requests that each saved entry stands for.
func counts(m *memory) (all []int) {
	for _, e := range m.entries {
		all = append(all, e.Count)
	}
	return all
}

func TestManyAttemptsShareAnEntry(t *testing.T) {
	m := &memory{}
	l := newLog(m)
	attempt := func(number int, kind AttemptKind, address string, at time.Time) {
		t.Helper()
		for i := range number {
			l.Attempt(ada, Entry{Time: at, Attempt: kind, Address: address, Status: 401, Request: fmt.Sprint(i)})
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...int) {
		t.Helper()
		if got := counts(m); !slices.Equal(got, want) {
			t.Errorf("entries stand for %v, want %v", got, want)
		}
	}
	attempt(3, "wrongPassword", "192.0.2.1", now)
	check(1, 1, 1)
	if e := m.entries[0]; e.Organization != "acme" || e.Record != "admin" || e.Actor.ID != "admin" || e.Name != "Ada" || e.Address != "192.0.2.1" {
		t.Errorf("the entry is %+v", e)
	}
	attempt(3, "wrongPassword", "192.0.2.1", now)
	check(1, 1, 1, 1, 1, 1)
	later := now.Add(time.Minute)
	attempt(1000, "wrongPassword", "192.0.2.1", later)
	check(1, 1, 1, 1, 1, 1001)
	if e := m.entries[5]; !e.Time.Equal(later) || e.Request != "999" || e.Address != "192.0.2.1" {
		t.Errorf("the shared entry is %+v", e)
	}
	attempt(1, "wrongPassword", "192.0.2.2", later)
	if e := m.entries[5]; e.Count != 1002 || e.Address != "" {
		t.Errorf("the shared entry of two addresses is %+v", e)
	}
	attempt(1, "wrongCode", "192.0.2.1", later) // is not hidden among the others
	check(1, 1, 1, 1, 1, 1002, 1)
	attempt(7, "wrongPassword", "192.0.2.1", now.Add(time.Hour))
	check(1, 1, 1, 1, 1, 1002, 1, 1, 1, 1, 1, 1, 2)
}

// TestAttemptsAtAPhoneNumberAreThoseOfItsWorkers makes attempts at a phone number of workers
// of two organizations, and then attempts to change the password of one of these workers.
func TestAttemptsAtAPhoneNumberAreThoseOfItsWorkers(t *testing.T) {
	m := &memory{}
	l := newLog(m)
	attempt := func(at Account, number int) {
		t.Helper()
		for range number {
			l.Attempt(at, Entry{Time: now, Attempt: "wrongPassword", Status: 401})
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	attempt(Account{Phone: "+12125550142"}, MaxAttempts-1)
	attempt(Account{Phone: "+12125550142", Organization: "acme"}, 2)
	attempt(Account{Phone: "+12125550142"}, 2)
	got := map[Entry][]int{}
	for _, e := range m.entries {
		of := Entry{Organization: e.Organization, Actor: e.Actor, Name: e.Name, Record: e.Record}
		got[of] = append(got[of], e.Count)
	}
	want := func(org lastmile.OrganizationID, id string, counts ...int) {
		t.Helper()
		of := Entry{Organization: org, Actor: lastmile.Actor{Type: lastmile.ActorWorker, ID: id}, Name: "name of " + id, Record: id}
		if !slices.Equal(got[of], counts) {
			t.Errorf("the entries of %s stand for %v, want %v: %v", id, got[of], counts, got)
		}
	}
	want("acme", "will", 1, 1, 1, 1, 1, 3)
	want("zenith", "willi", 1, 1, 1, 1, 1, 1)
}

func TestAttemptsAtUnknownAccountsAreNotSaved(t *testing.T) {
	m := &memory{}
	l := newLog(m)
	l.Attempt(Account{Email: "stranger@example.com"}, Entry{Time: now})
	l.Attempt(Account{Phone: "+12125550199"}, Entry{Time: now})
	l.Attempt(Account{Phone: "+12125550142", Organization: "other"}, Entry{Time: now})
	if err := l.Flush(t.Context()); err != nil || len(m.entries) != 0 || len(l.attempts) != 0 {
		t.Errorf("%d entries are saved, %d wait: %v", len(m.entries), len(l.attempts), err)
	}
}

func TestAttemptsThatWaitAreBounded(t *testing.T) {
	m := &memory{}
	l := newLog(m)
	for i := range maxAttempted + 10 {
		for range 2 * MaxAttempts {
			l.Attempt(Account{Email: fmt.Sprint(i)}, Entry{Time: now})
		}
	}
	if one := l.attempts[attempted{Account: Account{Email: "0"}}]; len(l.attempts) != maxAttempted || len(one.first) != MaxAttempts || one.more.Count != MaxAttempts {
		t.Errorf("attempts at %d accounts wait", len(l.attempts))
	}
}

func TestAttemptsThatCannotBeSavedWait(t *testing.T) {
	m := &memory{fail: errors.New("the disk is full")}
	l := newLog(m)
	for range 2 {
		for range MaxAttempts + 1 {
			l.Attempt(ada, Entry{Time: now})
		}
		if err := l.Flush(t.Context()); err == nil {
			t.Fatal("nothing fails")
		}
	}
	m.fail = nil
	if err := l.Flush(t.Context()); err != nil || !slices.Equal(counts(m), []int{1, 1, 1, 1, 1, MaxAttempts + 2}) {
		t.Errorf("entries stand for %v: %v", counts(m), err)
	}
}
