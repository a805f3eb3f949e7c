package abuse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dray/internal/store/engine/enginetest"
)

// Environment variables: how long all attacks are played at once, a regular expression
// that selects attacks by their names, and how long each is played alone.
const (
	durationVariable = "DRAY_ABUSE"
	attackVariable   = "DRAY_ABUSE_ATTACK"
	aloneVariable    = "DRAY_ABUSE_ALONE"
)

// alone is the time for which each attack is played before all are played at once, unless
// aloneVariable is set. With 0, attacks are only prepared.
const alone = 5 * time.Second

// maxMemory is the maximum memory of the process, in bytes. The rest of the limit is for
// other memory that the kernel counts.
const maxMemory = 448 << 20

// mixedP99 bounds the latency of the honest organization while everything happens
// at once.
const mixedP99 = 250 * time.Millisecond

// TestAbuse plays every attack alone and then all of them at random, next to an
// honest organization. The program survives in little memory, the honest
// organization notices little, and none of its acknowledged changes is lost.
func TestAbuse(t *testing.T) {
	duration, err := time.ParseDuration(os.Getenv(durationVariable))
	if err != nil {
		t.Skip("run make abuse")
	}
	each := alone
	if text := os.Getenv(aloneVariable); text != "" {
		if each, err = time.ParseDuration(text); err != nil {
			t.Fatalf("%s: %v", aloneVariable, err)
		}
	}
	program := buildProgram(t)
	t.Run("sqlite", func(t *testing.T) { testAbuse(t, program, "", each, duration) })
	t.Run("postgres", func(t *testing.T) { testAbuse(t, program, enginetest.Postgres(t), each, duration) })
}

func testAbuse(t *testing.T, program, database string, each, duration time.Duration) {
	w := newWorld(t, program, database)
	attacks := slices.Concat(signInAttacks, connectionAttacks, dataAttacks, taskAttacks, phoneAttacks, webhookAttacks, orderAttacks, readAttacks)
	only, err := regexp.Compile(os.Getenv(attackVariable))
	if err != nil {
		t.Fatalf("%s: %v", attackVariable, err)
	}
	attacks = slices.DeleteFunc(attacks, func(a attack) bool { return !only.MatchString(a.name) })

	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { w.honest.work(ctx) })
	defer func() { stop(); working.Wait() }()

	pace(ctx, time.Second) // caches fill
	w.honest.take()
	pace(ctx, 10*time.Second)
	quiet, faults := w.honest.take()
	limits := map[string]time.Duration{}
	for kind, floor := range floors {
		limits[kind] = max(3*p99(quiet[kind]), floor)
		t.Logf("quiet %-8s p99 %v of %d; at most %v during attacks", kind, p99(quiet[kind]), len(quiet[kind]), limits[kind])
	}
	report(t, faults)

	for _, a := range attacks {
		if w.prepare(t, a); each > 0 {
			w.play(t, a, each, limits)
		}
	}
	t.Run("revoked key", func(t *testing.T) { testRevokedKey(t, w) })
	if os.Getenv(attackVariable) == "" {
		w.mix(t, attacks, duration)
	}

	stop()
	working.Wait()
	for text, count := range w.server.errors() {
		t.Logf("logged %d times: %s", count, text)
	}
	w.verify(t)
}

// play plays one attack by all three organizations.
func (w *world) play(t *testing.T, a attack, during time.Duration, limits map[string]time.Duration) {
	t.Helper()
	w.recover(t)
	w.server.peak.Store(0)
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	var all sync.WaitGroup
	for _, by := range w.tenants {
		all.Go(func() { a.run(ctx, w, by) })
	}
	<-ctx.Done()
	took, faults := w.honest.take()
	all.Wait()
	w.assess(t, a.name, took, faults, limits)
}

// prepare prepares an attack, once.
func (w *world) prepare(t *testing.T, a attack) {
	t.Helper()
	if a.prepare == nil || w.prepared[a.name] {
		return
	}
	begin := time.Now()
	a.prepare(t, w)
	w.prepared[a.name] = true
	t.Logf("prepared %q in %v", a.name, time.Since(begin).Round(time.Second))
}

// recover lets the server finish what an attack or a preparation left behind, and
// drops the measurements of that time.
func (w *world) recover(t *testing.T) {
	t.Helper()
	pace(t.Context(), time.Second)
	_, faults := w.honest.take()
	report(t, faults)
	for _, by := range w.tenants {
		by.statuses.take()
	}
}

// mix plays attacks at random, several at a time.
func (w *world) mix(t *testing.T, attacks []attack, during time.Duration) {
	t.Helper()
	w.recover(t)
	w.server.peak.Store(0)
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	var all sync.WaitGroup
	for _, by := range w.tenants {
		for range 2 {
			all.Go(func() {
				for ctx.Err() == nil && w.server.alive() {
					turn, cancel := context.WithTimeout(ctx, 2*time.Second+rand.N(8*time.Second))
					attacks[rand.IntN(len(attacks))].run(turn, w, by)
					cancel()
				}
			})
		}
	}
	took, faults := w.minutes(ctx, t)
	all.Wait()
	w.assess(t, fmt.Sprintf("everything at once for %v", during), took, faults, map[string]time.Duration{
		kindRequest: mixedP99, kindSignIn: floors[kindSignIn], kindPhoto: floors[kindPhoto],
	})
}

// minutes reports the p99 of every minute, and returns all measurements when ctx ends.
func (w *world) minutes(ctx context.Context, t *testing.T) (took map[string][]time.Duration, faults []string) {
	t.Helper()
	took = map[string][]time.Duration{}
	for minute := 1; ctx.Err() == nil; minute++ {
		pace(ctx, time.Minute)
		latest, more := w.honest.take()
		for kind, durations := range latest {
			took[kind] = append(took[kind], durations...)
		}
		faults = append(faults, more...)
		t.Logf("minute %d: p99 %v of %d, %d failed", minute, p99(latest[kindRequest]), len(latest[kindRequest]), len(more))
	}
	return took, faults
}

// assess reports and checks what happened during an attack.
func (w *world) assess(t *testing.T, name string, took map[string][]time.Duration, faults []string, limits map[string]time.Duration) {
	t.Helper()
	var seen []string
	for _, by := range w.tenants {
		counts, wrong := by.statuses.take()
		seen = append(seen, counts)
		for _, fault := range wrong {
			t.Errorf("%s: an attacker got %s", name, fault)
		}
	}
	t.Logf("%-55s p99 %v of %d, longest %v; sign-in %v, photo %v; memory %d MiB; attackers saw %s", name,
		p99(took[kindRequest]), len(took[kindRequest]), slices.Max(append(took[kindRequest], 0)).Round(time.Millisecond),
		p99(took[kindSignIn]), p99(took[kindPhoto]), w.server.peak.Load()>>20, strings.Join(seen, " | "))
	if !w.server.alive() {
		t.Errorf("%s: the program ended: %s", name, w.server.ending())
		w.server.start(t)
		return
	}
	report(t, faults)
	if len(took[kindRequest]) == 0 {
		t.Errorf("%s: no honest request was served", name)
	}
	for kind, limit := range limits {
		if got := p99(took[kind]); got > limit {
			t.Errorf("%s: the p99 of an honest %s is %v, want at most %v", name, kind, got, limit)
		}
	}
	if got := w.server.peak.Load(); got > maxMemory {
		t.Errorf("%s: the program used %d MiB, want at most %d", name, got>>20, maxMemory>>20)
	}
}

// report fails the test if the honest organization had faults.
func report(t *testing.T, faults []string) {
	t.Helper()
	if len(faults) > 0 {
		t.Errorf("%d honest requests failed: %s", len(faults), strings.Join(faults[:min(5, len(faults))], "\n  "))
	}
}

// verify reads back what was acknowledged: from the running program, after it was
// killed, and with fsck.
func (w *world) verify(t *testing.T) {
	t.Helper()
	w.honest.readBack(t)
	w.server.end(syscall.SIGKILL)
	w.server.start(t)
	w.honest.readBack(t)
	w.server.end(syscall.SIGTERM)
	var found struct{ Problems []string }
	w.server.run(t, &found, "fsck")
	if len(found.Problems) > 0 {
		t.Errorf("fsck: %s", strings.Join(found.Problems, "\n"))
	}
}

// testRevokedKey revokes the key of an event stream, which ends within two seconds.
func testRevokedKey(t *testing.T, w *world) {
	o := w.tenants[0]
	var key struct{ ID, APIKey string }
	w.server.run(t, &key, "key", "create", "--org", o.org)
	ended := make(chan struct{})
	stream := o.with(keyOf(key.APIKey))
	go func() { stream.listen(t.Context(), "/api/v2/events"); close(ended) }()
	select {
	case <-ended:
		t.Fatal("the stream of a new key ended")
	case <-time.After(time.Second):
	}
	var revoked any
	w.server.run(t, &revoked, "key", "revoke", "--org", o.org, key.ID)
	select {
	case <-ended:
	case <-time.After(3 * time.Second): // one more than promised, for a busy machine
		t.Error("the stream of a revoked key is open after three seconds")
	}
}
