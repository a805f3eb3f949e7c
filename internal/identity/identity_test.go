package identity

import (
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestCodesAreThoseOfTheStandard(t *testing.T) {
	secret := []byte("12345678901234567890") // RFC 6238, appendix B
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037"} {
		if got := Code(secret, StepAt(time.Unix(at, 0))); got != want {
			t.Errorf("the code at %d is %s, want %s", at, got, want)
		}
	}
}

func TestACodeIsAcceptedOnceAndInTime(t *testing.T) {
	secret, step := []byte("12345678901234567890"), StepAt(noon)
	tests := map[string]struct {
		step, last int64
		want       bool
	}{
		"now":                          {step, 0, true},
		"of a slow clock":              {step - 1, 0, true},
		"of a fast clock":              {step + 1, 0, true},
		"too old":                      {step - 2, 0, false},
		"too early":                    {step + 2, 0, false},
		"used":                         {step, step, false},
		"before the one that was used": {step - 1, step, false},
		"after the one that was used":  {step + 1, step, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := AcceptCode(secret, Code(secret, tt.step), tt.last, noon)
			if ok != tt.want || ok && got != tt.step {
				t.Errorf("accepted %t as %d", ok, got)
			}
		})
	}
}

func TestTypedCodes(t *testing.T) {
	for typed, want := range map[string]bool{"123456": true, " 123 456 ": true, "12345": false, "1234567": false, "abcdef": false, "": false, "abcd-efgh-ijkl-mnop": false} {
		if _, ok := OneTimeCode(typed); ok != want {
			t.Errorf("%q is a one-time code: %t", typed, ok)
		}
	}
	code := RecoveryCode([]byte("0123456789"))
	if len(code) != 19 || strings.Count(code, "-") != 3 {
		t.Errorf("a recovery code is %q", code)
	}
	same := HashRecoveryCode("ada", code)
	if same != HashRecoveryCode("ada", strings.ToUpper(strings.ReplaceAll(code, "-", " "))) || same == HashRecoveryCode("bob", code) {
		t.Error("a recovery code is that of the administrator, however it is typed")
	}
	if uri := FactorURI([]byte("12345678901234567890"), "ada@acme.example"); uri !=
		"otpauth://totp/Dray:ada@acme.example?algorithm=SHA1&digits=6&issuer=Dray&period=30&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" {
		t.Errorf("the URI is %s", uri)
	}
}

func TestPasswordsThatCanBeChosen(t *testing.T) {
	for password, want := range map[string]bool{
		"correct horse": true, "0123456789": true, strings.Repeat("ab", 100): true, "ééééèèèèàà": true,
		"": false, "012345678": false, strings.Repeat("ab", 101): false, "            ": false, "aaaaaaaaaaaa": false, "éééééééééééé": false, "Ada@Acme.example": false,
	} {
		if err := CheckPassword("password", password, "ada@acme.example"); (err == nil) != want {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestSessionsExpire(t *testing.T) {
	s := Session{Created: noon, Used: noon}
	for day := range 29 { // used twice a day
		for _, hour := range []int{0, 11} {
			at := noon.Add(time.Duration(day*24+hour) * time.Hour)
			if hour == 0 && day > 0 {
				s.Used = at.Add(-time.Hour)
			}
			if !s.Valid(at) {
				t.Fatalf("it ended on day %d", day)
			}
			s.Use(at)
		}
	}
	if !s.Valid(s.Used.Add(SessionIdle-1)) || s.Valid(s.Used.Add(SessionIdle)) {
		t.Error("it does not end after 12 hours without use")
	}
	s.Used = noon.Add(SessionLifetime - time.Hour)
	if !s.Valid(noon.Add(SessionLifetime-1)) || s.Valid(noon.Add(SessionLifetime)) {
		t.Error("it does not end after 30 days")
	}
}

func TestUseIsSavedOnceAMinute(t *testing.T) {
	s := Session{Created: noon, Used: noon}
	if s.Use(noon.Add(59*time.Second)) || !s.Use(noon.Add(time.Minute)) || s.Use(noon.Add(61*time.Second)) {
		t.Error("the use is not saved once a minute")
	}
	if !s.Use(noon) {
		t.Error("a use after the clock was set back is not saved")
	}
}

func TestLinksExpire(t *testing.T) {
	ada := lastmile.Admin{ID: "ada", Organization: "acme", Email: "ada@acme.example"}
	for kind, lifetime := range map[LinkKind]time.Duration{Invitation: 7 * 24 * time.Hour, Reset: time.Hour, SignIn: time.Hour} {
		link := NewLink("hash", kind, ada, noon)
		if link.Check(ada, noon.Add(lifetime-1)) != nil || link.Check(ada, noon.Add(lifetime)) == nil {
			t.Errorf("%s does not last %s", kind, lifetime)
		}
		other := ada
		other.Email = "eve@acme.example"
		if link.Check(other, noon) == nil {
			t.Errorf("%s works for another e-mail address", kind)
		}
	}
	if link := NewLink("hash", Setup, lastmile.Admin{}, noon); link.Check(lastmile.Admin{}, noon.AddDate(50, 0, 0)) != nil {
		t.Error("the link of the setup expires")
	}
}

func TestLettersAreComplete(t *testing.T) {
	for _, language := range Languages {
		for _, kind := range []LinkKind{Invitation, Reset} {
			l := Compose(kind, lastmile.Admin{Name: "Ada\r\nBcc: eve@x.example", Email: "ada@acme.example"}, lastmile.Organization{Name: "Acme\n"}, language, "https://x.example/#/link/T")
			if l.Subject == "" || strings.ContainsAny(l.Subject+l.Text, "{}") || strings.ContainsAny(l.Subject+l.Name, "\r\n") ||
				!strings.Contains(l.Text, "\nhttps://x.example/#/link/T\n") || strings.Contains(l.Text, "\nBcc") {
				t.Errorf("%s %s: %+v", language, kind, l)
			}
		}
	}
	if l := Compose(Reset, lastmile.Admin{}, lastmile.Organization{Country: "BR"}, "", ""); !strings.HasPrefix(l.Text, "Olá") {
		t.Errorf("in Brazil: %q", l.Text)
	}
}

func TestAgentsAreClipped(t *testing.T) {
	if got := ClipAgent(strings.Repeat("é", 300) + "\n"); len(got) != 256 || strings.ContainsRune(got, '\n') {
		t.Errorf("%d bytes", len(got))
	}
	if got := ClipAgent("a\xffb\x00c"); got != "abc" {
		t.Errorf("%q", got)
	}
}
