package textmessage_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// linked matches what phones turn into links: URLs, host names, e-mail
// addresses and phone numbers.
var linked = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*:[^\s]|//|[^\s.]\.[^\s.]|[^\s]@[^\s]|(\d[\s().+/-]*){7,}`)

func TestNamesBringNothingIntoMessages(t *testing.T) {
	corpus := map[string]string{ // a name and its plain form
		"Grace Hopper":               "Grace Hopper",
		"Jos\u00e9 \u00c1lvarez":     "José Álvarez",
		"Zo\u0065\u0308":             "Zoe\u0308",
		"\u674e\u5c0f\u9f8d":         "李小龍",
		"O'Brien & Sons, c/o Smith":  "O'Brien & Sons, c/o Smith",
		"A/S 24/7":                   "A/S 24/7",
		"J.R.R. Tolkien":             "J. R. R. Tolkien",
		"Acme Inc.":                  "Acme Inc.",
		"7-Eleven 12345":             "7-Eleven 12345",
		"evil.com":                   "evil. com",
		"www.evil.com/login?x=1":     "www. evil. com/login?x=1",
		"http://evil.com":            "http: evil. com",
		"HTTPS://evil.com/a":         "HTTPS: evil. com/a",
		"javascript:alert(1)":        "javascript: alert(1)",
		"http:\\\\evil":              "http: \\evil",
		"//evil":                     "evil",
		"bit.ly/3x":                  "bit. ly/3x",
		"evil\u3002com":              "evil. com",
		"evil\uff0ecom":              "evil. com",
		"evil\uff61com":              "evil. com",
		"evil\u2024com":              "evil. com",
		"ev\u200bil\u200b.\u200bcom": "evil. com",
		"evil\u00ad.\u2060com":       "evil. com",
		"192.168.1.1":                "",
		"mail me@evil.com":           "mail me at evil. com",
		"call +1 (900) 555-0199 now": "call + now",
		"\u0661\u0662\u0663\u0664\u0665\u0666\u0667": "",
		"tel:5550199123":                      "tel",
		"sms:12345":                           "sms: 12345",
		"Bob\nYour code is 1":                 "Bob Your code is 1",
		"Bob\r\n\tEve":                        "Bob Eve",
		"a\u0000b\u0007c\u007f":               "abc",
		"\u202egnp.exe":                       "gnp. exe",
		"\u2066Eve\u2069\u200e\u061c":         "Eve",
		"Eve\ufeff\u034f\u3164\u2800\ufe0f":   "Eve",
		"\U000e0041\U000e0042Eve":             "Eve",
		"x\u2028y\u2029z\u0085w":              "x y z w",
		"  \u3000 spaced   out  ":             "spaced out",
		"Z\u0300\u0301\u0302\u0303\u0304algo": "Z\u0300\u0301\u0302algo",
		"\xff\xfebroken":                      "broken",
		"name:":                               "name",
		"http://":                             "http",
	}
	for name, want := range corpus {
		got := shownName(t, name)
		if got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
		if found := linked.FindString(got); found != "" {
			t.Errorf("%q became %q, in which a phone links %q", name, got, found)
		}
	}
	if got := shownName(t, strings.Repeat("long ", 50)); len(got) > 60 {
		t.Errorf("a long name has %d characters left", len(got))
	}
}

func FuzzNamesBecomeNoLinks(f *testing.F) {
	for _, seed := range []string{"evil.com", "http://evil", "a@b.c", "1234567", "x:/y", "..a", ":/:/", "1.2.3.4.5.6.7"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if found := linked.FindString(shownName(t, name)); found != "" {
			t.Errorf("%q became %q, in which a phone links %q", name, shownName(t, name), found)
		}
	})
}

// shownName returns a name as it appears in a message.
func shownName(t *testing.T, name string) string {
	t.Helper()
	s := textmessage.DefaultSettings("acme")
	o := textmessage.Occasion{Kind: textmessage.KindStarted}
	if err := s.SetText(textmessage.Template{Occasion: o, Language: "en", Text: "[{organization}]"}); err != nil {
		t.Fatal(err)
	}
	body := s.Compose(textmessage.Notice{Kind: o.Kind, Merchant: lastmile.Organization{Name: name}})
	return strings.TrimSuffix(strings.TrimPrefix(body, "["), "]")
}

func TestSegmentsAreCountedAsNetworksDo(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"nothing":                                        {"", 0},
		"160 characters of the GSM alphabet":             {strings.Repeat("a", 160), 1},
		"161 characters of the GSM alphabet":             {strings.Repeat("a", 161), 2},
		"306 characters of the GSM alphabet":             {strings.Repeat("a", 306), 2},
		"307 characters of the GSM alphabet":             {strings.Repeat("a", 307), 3},
		"80 that count twice":                            {strings.Repeat("€", 80), 1},
		"81 that count twice":                            {strings.Repeat("[", 81), 2},
		"one that counts twice is not split":             {strings.Repeat("a", 152) + "€" + strings.Repeat("a", 152), 3},
		"accents of the GSM alphabet":                    {strings.Repeat("é", 160), 1},
		"70 characters outside the GSM alphabet":         {strings.Repeat("á", 70), 1},
		"71 characters outside the GSM alphabet":         {strings.Repeat("á", 71), 2},
		"134 characters outside the GSM alphabet":        {strings.Repeat("á", 134), 2},
		"135 characters outside the GSM alphabet":        {strings.Repeat("á", 135), 3},
		"one such character changes the encoding of all": {strings.Repeat("a", 70) + "ç", 2},
		"35 emoji":                            {strings.Repeat("😀", 35), 1},
		"36 emoji, which are two each":        {strings.Repeat("😀", 36), 2},
		"an emoji is not split":               {strings.Repeat("á", 66) + "😀" + strings.Repeat("á", 66), 3},
		"a line break is in the GSM alphabet": {strings.Repeat("\n", 160), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := textmessage.Segments(tt.text); got != tt.want {
				t.Errorf("%d segments, want %d", got, tt.want)
			}
		})
	}
}

func TestBuiltInTextsCanBeSentCheaply(t *testing.T) {
	org := lastmile.Organization{Name: "My Courier Company"}
	for _, language := range []string{"en", "es", "fr", "de", "pt"} {
		for _, o := range textmessage.Occasions() {
			s := textmessage.DefaultSettings("acme")
			text, own := s.Template(o, language)
			if own || text.Language != language {
				t.Errorf("%s in %s: there is only one in %q", o, language, text.Language)
				continue
			}
			if err := text.Check(); err != nil {
				t.Errorf("%s in %s: %v", o, language, err)
			}
			sample := s.Preview(text, org, "https://track.example.com")
			if n := textmessage.Segments(sample); n > 2 {
				t.Errorf("%s in %s takes %d segments: %s", o, language, n, sample)
			}
			if n := textmessage.Segments(strings.Repeat(sample, 160/len(sample)+1)); n > 3 {
				t.Errorf("%s in %s has a letter that networks have not: %s", o, language, sample)
			}
			if strings.ContainsAny(sample, "{}") || !strings.Contains(sample, org.Name) {
				t.Errorf("%s in %s reads %q", o, language, sample)
			}
		}
	}
}

func TestTemplatesAreCheckedWhenTheyAreSaved(t *testing.T) {
	started := textmessage.Occasion{Kind: textmessage.KindStarted}
	for name, tt := range map[string]struct {
		of   textmessage.Occasion
		lang string
		text string
		want string // part of the error; empty for none
	}{
		"every placeholder that all messages have":       {started, "en", "{organization} {recipient} {worker} {tracking} {task}", ""},
		"the time in a message about it":                 {textmessage.Occasion{Kind: textmessage.KindETA}, "en", "{eta}", ""},
		"the delay in a message about it":                {textmessage.Occasion{Kind: textmessage.KindDelayed, Pickup: true}, "en", "{delay}", ""},
		"two lines":                                      {started, "en", "one\ntwo", ""},
		"a language without built-in texts":              {started, "it", "Ciao {recipient}", ""},
		"a misspelt placeholder":                         {started, "en", "Hi {recpient}", "{recpient} cannot be filled in; a taskStarted message knows {eta}, {organization}"},
		"when the worker will be there":                  {started, "en", "in {eta} min, at {time}", ""},
		"a time in a message without one":                {textmessage.Occasion{Kind: textmessage.KindCompleted}, "en", "in {eta} min", "{eta} cannot be filled in"},
		"a placeholder in another letter case":           {started, "en", "{Worker}", "{Worker} cannot be filled in"},
		"an empty placeholder":                           {started, "en", "{}", "{} cannot be filled in"},
		"a brace that is not closed":                     {started, "en", "{worker", "{ without a }"},
		"a brace that is not opened":                     {started, "en", "worker}", "} without a {"},
		"an empty text":                                  {started, "en", "  ", "text is required"},
		"a text that is too long":                        {started, "en", strings.Repeat("a", 481), "at most 480"},
		"a control character":                            {started, "en", "a\x07b", "U+0007"},
		"a character that changes the direction of text": {started, "en", "a\u202eb", "U+202E"},
		"an invalid language":                            {started, "english", "hello", "language must be a two-letter"},
		"a kind without texts":                           {textmessage.Occasion{Kind: "invitation"}, "en", "hello", "kind must be one of"},
	} {
		t.Run(name, func(t *testing.T) {
			s := textmessage.DefaultSettings("acme")
			err := s.SetText(textmessage.Template{Occasion: tt.of, Language: tt.lang, Text: tt.text})
			switch {
			case tt.want == "" && strings.TrimSpace(tt.text) != "" && err != nil:
				t.Errorf("rejected: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want a rejection with %q", err, tt.want)
			}
		})
	}
}

func TestMessagesAreWrittenInTheRecipientsLanguage(t *testing.T) {
	task := func(languages ...string) lastmile.Task {
		r := &lastmile.Recipient{Name: "Ana"}
		for _, l := range languages {
			r.Metadata = append(r.Metadata, lastmile.MetadataEntry{Name: "language", Type: lastmile.MetadataString, Value: l})
		}
		return lastmile.Task{Recipient: r, TrackingURL: "https://t.example/t/x"}
	}
	settings := textmessage.DefaultSettings("acme")
	italian := settings
	if err := italian.SetText(textmessage.Template{Occasion: textmessage.Occasion{Kind: textmessage.KindArrived}, Language: "it", Text: "Arrivato: {worker}"}); err != nil {
		t.Fatal(err)
	}
	german := settings
	german.Language = "de"
	for name, tt := range map[string]struct {
		settings textmessage.Settings
		task     lastmile.Task
		country  string
		want     string
	}{
		"the country's":                              {settings, task(), "BR", "Acme: o nosso estafeta chegou com a sua encomenda."},
		"English where there is none":                {settings, task(), "JP", "Acme: our courier has arrived with your delivery."},
		"the organization's":                         {german, task(), "US", "Acme: unser Kurier ist mit Ihrer Lieferung da."},
		"the recipient's before it":                  {german, task("fr"), "US", "Acme : notre livreur est là avec votre colis."},
		"a recipient's language with a country":      {german, task("es-MX"), "US", "Acme: nuestro repartidor ya ha llegado con su entrega."},
		"a language that only the organization has":  {italian, task("it"), "US", "Arrivato: our courier"},
		"the organization's for an unknown language": {german, task("xx"), "US", "Acme: unser Kurier ist mit Ihrer Lieferung da."},
		"an invalid language is ignored":             {german, task("7!"), "US", "Acme: unser Kurier ist mit Ihrer Lieferung da."},
	} {
		t.Run(name, func(t *testing.T) {
			got := tt.settings.Compose(textmessage.Notice{
				Kind: textmessage.KindArrived, Task: tt.task, Merchant: lastmile.Organization{Name: "Acme"}, Country: tt.country,
			})
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTheFirstMessageSaysWhenTheWorkerWillBeThere(t *testing.T) {
	now := time.Date(2026, 5, 4, 14, 30, 20, 0, time.UTC)
	task := func(arrival, after time.Duration) lastmile.Task {
		task := lastmile.Task{TrackingURL: "https://t.example/t/x"}
		if arrival != 0 {
			task.Estimates = lastmile.Estimates{Arrival: now.Add(arrival), ETA: new(arrival)}
		}
		if after != 0 {
			task.CompleteAfter = now.Add(after)
		}
		return task
	}
	own := textmessage.DefaultSettings("acme")
	if err := own.SetText(textmessage.Template{Occasion: textmessage.Occasion{Kind: textmessage.KindStarted}, Language: "en", Text: "{eta} min, {time}"}); err != nil {
		t.Fatal(err)
	}
	plain, german := textmessage.DefaultSettings("acme"), textmessage.DefaultSettings("acme")
	german.Language = "de"
	for name, tt := range map[string]struct {
		settings textmessage.Settings
		task     lastmile.Task
		want     string
	}{
		"the arrival":                  {plain, task(12*time.Minute, 0), "Acme: Ada is on the way with your delivery and will be there at about 10:42 AM. Follow it here: https://t.example/t/x"},
		"another clock":                {german, task(12*time.Minute, 0), "Acme: Ada ist mit Ihrer Lieferung unterwegs und kommt gegen 10:42 Uhr. Zur Verfolgung: https://t.example/t/x"},
		"when the window opens":        {plain, task(12*time.Minute, 4*time.Hour), "Acme: Ada is on the way with your delivery and will be there at about 2:30 PM. Follow it here: https://t.example/t/x"},
		"not today":                    {plain, task(12*time.Minute, 24*time.Hour), "Acme: Ada is on the way with your delivery. Follow it here: https://t.example/t/x"},
		"unknown":                      {plain, task(0, 0), "Acme: Ada is on the way with your delivery. Follow it here: https://t.example/t/x"},
		"a text of the organization":   {own, task(11*time.Minute+time.Second, 0), "12 min, 10:41 AM"},
		"its text without a time":      {own, task(0, 0), "Acme: Ada is on the way with your delivery. Follow it here: https://t.example/t/x"},
		"its minutes until the window": {own, task(time.Minute, 30*time.Minute), "30 min, 11:00 AM"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tt.settings.Compose(textmessage.Notice{
				Kind: textmessage.KindStarted, Task: tt.task, Merchant: lastmile.Organization{Name: "Acme", Timezone: "America/New_York"}, Worker: "Ada", Now: now,
			})
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWhatRecipientsAreTold(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	yes, no := true, false
	arrived := lastmile.Completion{Events: []lastmile.CompletionEvent{{Name: "start", At: at.Add(-time.Hour)}, {Name: "arrival", At: at}}}
	left := lastmile.Completion{Events: append(arrived.Events[:2:2], lastmile.CompletionEvent{Name: "departure", At: at.Add(time.Minute)})}
	for name, tt := range map[string]struct {
		trigger lastmile.Trigger
		event   lastmile.Event
		skip    bool
		off     *bool
		done    lastmile.Completion
		want    textmessage.Kind
		wants   bool
	}{
		"a start":                               {trigger: lastmile.TriggerTaskStarted, want: textmessage.KindStarted, wants: true},
		"a worker who is near":                  {trigger: lastmile.TriggerTaskEta, want: textmessage.KindETA, wants: true},
		"a delay":                               {trigger: lastmile.TriggerTaskDelayed, want: textmessage.KindDelayed, wants: true},
		"success":                               {trigger: lastmile.TriggerTaskCompleted, want: textmessage.KindCompleted, wants: true},
		"failure":                               {trigger: lastmile.TriggerTaskFailed, want: textmessage.KindFailed, wants: true},
		"an arrival":                            {trigger: lastmile.TriggerTaskUpdated, done: arrived, want: textmessage.KindArrived, wants: true},
		"a departure":                           {trigger: lastmile.TriggerTaskUpdated, done: left, wants: true},
		"any other change":                      {trigger: lastmile.TriggerTaskUpdated, wants: true},
		"not a creation":                        {trigger: lastmile.TriggerTaskCreated, wants: true},
		"not an event for one webhook":          {trigger: lastmile.TriggerTaskEta, event: lastmile.Event{Webhooks: []lastmile.WebhookID{"hook"}}, wants: true},
		"not a test":                            {trigger: lastmile.TriggerTaskStarted, event: lastmile.Event{Test: true}, wants: true},
		"a recipient who wants no messages":     {trigger: lastmile.TriggerTaskStarted, skip: true, want: textmessage.KindStarted},
		"a task that disables messages":         {trigger: lastmile.TriggerTaskStarted, off: &yes, want: textmessage.KindStarted},
		"a task cannot enable messages":         {trigger: lastmile.TriggerTaskStarted, skip: true, off: &no, want: textmessage.KindStarted},
		"a task that does not disable messages": {trigger: lastmile.TriggerTaskStarted, off: &no, want: textmessage.KindStarted, wants: true},
	} {
		t.Run(name, func(t *testing.T) {
			task := lastmile.Task{Recipient: &lastmile.Recipient{SkipSMSNotifications: tt.skip}, Completion: tt.done}
			task.Overrides.RecipientSkipSMSNotifications = tt.off
			e := tt.event
			e.Trigger, e.Task, e.At = tt.trigger, &task, at
			if got := textmessage.KindFor(e); got != tt.want {
				t.Errorf("kind %q, want %q", got, tt.want)
			}
			if got := textmessage.WantsMessages(&task); got != tt.wants {
				t.Errorf("wants messages: %v", got)
			}
		})
	}
}

func TestAMessageIsTriedAgainOnlySoOften(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	busy := textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "busy"}
	unsure := textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "lost"}
	for name, tt := range map[string]struct {
		kind     textmessage.Kind
		result   textmessage.Result
		attempts int64
		reason   string
		waits    []time.Duration
	}{
		"busy, with time": {
			textmessage.KindFailed, busy, 8, "tried too often: busy",
			[]time.Duration{5 * time.Second, 15 * time.Second, 45 * time.Second, 135 * time.Second, 405 * time.Second, 15 * time.Minute, 15 * time.Minute},
		},
		"busy, without": {
			textmessage.KindArrived, busy, 5, "too late to be of use: busy",
			[]time.Duration{5 * time.Second, 15 * time.Second, 45 * time.Second, 135 * time.Second},
		},
		"unsure": {
			textmessage.KindFailed, unsure, 3, "it is not known whether the gateway took it: lost",
			[]time.Duration{5 * time.Second, 15 * time.Second},
		},
		"rejected": {textmessage.KindFailed, textmessage.Result{Verdict: textmessage.SendRejected, Reason: "no"}, 1, "no", nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := textmessage.New("m", "acme", tt.kind, "+12125550100", "hello", at, at)
			now := at
			var waits []time.Duration
			for m.State == textmessage.StateQueued {
				m.Attempts++
				m.Record(tt.result, "gateway", now)
				if m.State == textmessage.StateQueued {
					waits = append(waits, m.Next.Sub(now))
					now = m.Next
				}
			}
			if m.State != textmessage.StateFailed || m.Reason != tt.reason || m.Attempts != tt.attempts || !m.Next.IsZero() {
				t.Errorf("ended %s after %d attempts: %s", m.State, m.Attempts, m.Reason)
			}
			if len(waits) != len(tt.waits) {
				t.Fatalf("waited %v, want %v", waits, tt.waits)
			}
			for i := range waits {
				if waits[i] != tt.waits[i] {
					t.Errorf("waited %v, want %v", waits, tt.waits)
				}
			}
		})
	}
}

func TestReportsComeInAnyOrder(t *testing.T) {
	sent, delivered, failed := textmessage.StateSent, textmessage.StateDelivered, textmessage.StateFailed
	for name, tt := range map[string]struct {
		from    textmessage.State
		reports []textmessage.State
		want    textmessage.State
	}{
		"in order":                             {sent, []textmessage.State{sent, delivered}, delivered},
		"the last one first":                   {sent, []textmessage.State{delivered, sent}, delivered},
		"before the response":                  {textmessage.StateSending, []textmessage.State{sent}, sent},
		"for a message that was to be retried": {textmessage.StateQueued, []textmessage.State{delivered}, delivered},
		"failed for good":                      {sent, []textmessage.State{failed, delivered}, failed},
		"delivered for good":                   {sent, []textmessage.State{delivered, failed}, delivered},
		"for a message that was suppressed":    {textmessage.StateSuppressed, []textmessage.State{delivered}, textmessage.StateSuppressed},
	} {
		t.Run(name, func(t *testing.T) {
			m := textmessage.Message{State: tt.from, Next: time.Unix(1, 0)}
			for _, state := range tt.reports {
				if m.Report(textmessage.DeliveryReport{State: state}) && !m.Next.IsZero() {
					t.Error("it is still to be sent")
				}
			}
			if m.State != tt.want {
				t.Errorf("it is %s, want %s", m.State, tt.want)
			}
		})
	}
}

func TestWordsThatStopMessages(t *testing.T) {
	for text, want := range map[string]string{
		"STOP": "stops", "stop": "stops", " Stop. ": "stops", "STOP!": "stops", "Unsubscribe": "stops", "opt out": "stops", "opt-out": "stops",
		"ARRÊT": "stops", "arret": "stops", "Abmelden": "stops", "baja": "stops", "SAIR": "stops", "parar": "stops", "cancel": "stops", "QUIT": "stops",
		"START": "starts", "unstop": "starts", "anmelden": "starts", "Alta": "starts", "recomeçar": "starts",
		"Please stop": "", "stop it": "", "don't stop": "", "STOP 2": "", "": "", "?": "", "where is it": "", "yes": "", "👍": "",
	} {
		r := lastmile.Reply{Body: text}
		got := ""
		switch {
		case textmessage.IsStop(r):
			got = "stops"
		case textmessage.IsStart(r):
			got = "starts"
		}
		if got != want {
			t.Errorf("%q %s, want %q", text, got, want)
		}
	}
}

func TestCapsHoldMessagesBack(t *testing.T) {
	caps := textmessage.Caps{NumberHour: 2, NumberDay: 4, OrganizationHour: 10, OrganizationDay: 20, SharedHour: 30, SharedDay: 40}
	for name, tt := range map[string]struct {
		sent textmessage.Counts
		want string
	}{
		"room":                            {textmessage.Counts{NumberHour: 1, NumberDay: 3, OrganizationHour: 9, OrganizationDay: 19}, ""},
		"the number's hour is full":       {textmessage.Counts{NumberHour: 2}, "to this number in an hour"},
		"the number's day is full":        {textmessage.Counts{NumberDay: 4}, "to this number in a day"},
		"the organization's hour is full": {textmessage.Counts{OrganizationHour: 10}, "of the organization in an hour"},
		"the organization's day is full":  {textmessage.Counts{OrganizationDay: 20}, "of the organization in a day"},
		"others filled the hour":          {textmessage.Counts{NumberDay: 3, SharedHour: 30}, "of all organizations to this number in an hour"},
		"others filled the day":           {textmessage.Counts{NumberDay: 3, SharedDay: 40}, "of all organizations to this number in a day"},
		"a fair share is kept":            {textmessage.Counts{NumberHour: 1, NumberDay: 2, SharedHour: 30, SharedDay: 40}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := caps.Exceeded(tt.sent)
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := (textmessage.Caps{}).Exceeded(textmessage.Counts{NumberHour: 1_000_000}); got != "" {
		t.Errorf("no caps: %q", got)
	}
}
