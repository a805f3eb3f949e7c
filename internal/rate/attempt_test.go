package rate

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

// rows are allowances in memory.
type rows map[[2]string]time.Time

func (r rows) SignInAllowance(_ context.Context, account, source string) (time.Time, error) {
	if account == "broken" {
		return time.Time{}, errors.New("broken")
	}
	return r[[2]string{account, source}], nil
}

func (r rows) SaveSignInAllowance(_ context.Context, account, source string, full time.Time) error {
	r[[2]string{account, source}] = full
	return nil
}

func TestCheckReportsAnExhaustedAllowanceOnce(t *testing.T) {
	stored, reads := rows{}, 0
	read := func(check func(AllowanceReader) error) error {
		reads++
		return check(stored)
	}
	var d Denials
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	all := []Allowance{OfSource("ada", "network 1"), OfAccount("ada"), OfNetwork("network 1")}
	check := func(wantWait time.Duration, wantNews bool, wantReads int) {
		t.Helper()
		wait, news, err := d.Check(t.Context(), all, now, read)
		if err != nil || wait != wantWait || news != wantNews || reads != wantReads {
			t.Errorf("wait %v, news %t, %d reads, %v; want %v, %t, %d", wait, news, reads, err, wantWait, wantNews, wantReads)
		}
	}
	for range maxAttempts {
		check(0, false, reads+1)
		if wait, err := Reserve(t.Context(), stored, all, now); err != nil || wait > 0 {
			t.Fatal(wait, err)
		}
	}
	check(attemptEvery, true, maxAttempts+1)
	check(attemptEvery, false, maxAttempts+1) // cached
	now = now.Add(denialLifetime)
	check(attemptEvery-denialLifetime, true, maxAttempts+2)
	now = now.Add(attemptEvery)
	check(0, false, maxAttempts+3)
	if _, _, err := d.Check(t.Context(), []Allowance{OfAccount("broken")}, now, read); err == nil {
		t.Error("an error of the database is lost")
	}
}

func TestTooManyAttemptsSaysHowLongToWait(t *testing.T) {
	rejected, _ := errors.AsType[*lastmile.Error](TooManyAttempts(1500*time.Millisecond, "or go home"))
	if rejected == nil || rejected.Code != lastmile.CodeTooMany || rejected.RetryAfter != 2*time.Second || !strings.Contains(rejected.Message, "wait 2 seconds, or go home.") {
		t.Errorf("%+v", rejected)
	}
}
