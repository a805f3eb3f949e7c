package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dray/internal/calendar"
	"dray/internal/lastmile"
	"dray/internal/textmessage"
	"dray/internal/trackingpage"
)

//go:embed track.html
var trackPage string

//go:embed track.css
var trackStyle string

// Recipients is the use case behind a recipient's page.
type Recipients interface {
	Follow(ctx context.Context, token string) (trackingpage.Page, error)
	Rate(ctx context.Context, token string, feedback lastmile.Feedback) error
	RequestTime(ctx context.Context, token string, begin time.Time) error
}

// Track serves the page on which a recipient follows a task, at /t/{token}. It
// is complete without a script; the script, if there is one, updates it live.
type Track struct {
	Recipients Recipients
	Now        func() time.Time
	Log        *slog.Logger
	// ShowPhone returns a phone number as people in a country write it.
	ShowPhone func(phone lastmile.Phone, country string) string

	tiles  string // server of the map's tiles, if it is another one
	script Entry  // empty when there is none
	page   *template.Template
}

// NewTrack returns the page, with the script named track if the assets have one.
// Tiles is the server of the map's tiles, if it is another one.
func NewTrack(a *Assets, tiles string, r Recipients, now func() time.Time, log *slog.Logger, showPhone func(lastmile.Phone, string) string) *Track {
	script, _ := a.Entry("track")
	return &Track{
		Recipients: r, Now: now, Log: log, ShowPhone: showPhone, tiles: tiles, script: script,
		page: template.Must(template.New("track").Parse(trackPage)),
	}
}

// trackPolicy returns the content security policy of a page with a style.
func trackPolicy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}

// trackView is the data of the page's template.
type trackView struct {
	Language string
	Script   Entry
	CSS      template.CSS
	Words    words
	Gone     bool
	Token    string

	Organization, Stage string
	Logo                bool
	Headline, Detail    string
	Steps               []trackStep
	Lines               []trackLine
	Asked               []string
	Problem, Next       string
	Times               []trackTime
	MayRate, Rated      bool
	Ratings             []int
	Phone               bool
	Call                template.URL
	CallText, Number    string
}

// trackStep is a step of the task. State is the name of a style.
type trackStep struct{ State, Label string }

// trackTime is an option of the form that requests another time.
type trackTime struct {
	Value    int64 // Unix milliseconds at which it begins
	Label    string
	Selected bool
}

// trackLine is a labelled value.
type trackLine struct{ Name, Value string }

// ServeHTTP implements http.Handler.
func (t *Track) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	header.Set("Cache-Control", "no-store")
	header.Set("Vary", "Accept-Language")
	token := strings.TrimPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/t/")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		t.show(w, r, token, http.StatusOK)
	case http.MethodPost:
		t.submit(w, r, token)
	default:
		header.Set("Allow", "GET, HEAD, POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// show writes the page.
func (t *Track) show(w http.ResponseWriter, r *http.Request, token string, status int) {
	found, err := t.Recipients.Follow(r.Context(), token)
	style := trackStyle + accents(found.Color)
	w.Header().Set("Content-Security-Policy", withTiles(trackPolicy(style), t.tiles))
	view := trackView{Script: t.script, CSS: template.CSS(style), Token: token} // embedded, and a checked color: it is safe
	view.Language = textmessage.ChooseLanguage(r.Header.Get("Accept-Language"), found.Country)
	view.Words = dictionary[view.Language]
	_, rejected := errors.AsType[*lastmile.Error](err)
	switch {
	case rejected:
		view.Gone, status = true, http.StatusNotFound
		view.Headline, view.Detail = view.Words.Gone, view.Words.GoneDetail
	case err != nil:
		t.Log.Error("a recipient's page cannot be shown", "error", err)
		http.Error(w, "The page cannot be shown just now. Try again.", http.StatusInternalServerError)
		return
	default:
		view.describe(found, t.Now())
		view.contact(found, t.ShowPhone)
		if status != http.StatusOK {
			view.Problem = view.Words.Problem
		}
	}
	var out bytes.Buffer
	if err := t.page.Execute(&out, view); err != nil {
		t.Log.Error("a recipient's page cannot be made", "error", err)
		http.Error(w, "The page cannot be shown just now. Try again.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(status)
	w.Write(out.Bytes()) //nolint:errcheck // the client may be gone
}

// maxForm is the largest form, in bytes.
const maxForm = 16 << 10

// submit handles the forms, which pages without a script submit.
func (t *Track) submit(w http.ResponseWriter, r *http.Request, token string) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	err := r.ParseForm()
	if err == nil {
		err = t.store(r.Context(), token, r.PostForm)
	} else {
		err = lastmile.Invalid("the form cannot be read")
	}
	if err == nil {
		http.Redirect(w, r, "/t/"+token, http.StatusSeeOther)
		return
	}
	status := http.StatusBadRequest
	rejection, rejected := errors.AsType[*lastmile.Error](err)
	switch {
	case !rejected:
		t.Log.Error("a recipient's form cannot be stored", "error", err)
		status = http.StatusInternalServerError
	case rejection.Code == lastmile.CodeTooMany:
		status = http.StatusTooManyRequests
	}
	t.show(w, r, token, status)
}

// store stores a form: the request for another time, or feedback.
func (t *Track) store(ctx context.Context, token string, form url.Values) error {
	if form.Has("time") {
		begin, err := strconv.ParseInt(form.Get("time"), 10, 64)
		if err != nil {
			return lastmile.Invalid("time must be one of the offered times")
		}
		return t.Recipients.RequestTime(ctx, token, time.UnixMilli(begin))
	}
	rating, err := strconv.Atoi(form.Get("rating"))
	if err != nil {
		return lastmile.Invalid("rating must be a number")
	}
	comments := strings.ToValidUTF8(strings.ReplaceAll(form.Get("comments"), "\x00", ""), "")
	return t.Recipients.Rate(ctx, token, lastmile.Feedback{Rating: rating, Comments: comments})
}

// describe fills the view with the words for a task.
func (v *trackView) describe(f trackingpage.Page, now time.Time) {
	words := v.Words
	zone := calendar.Zone(f.Timezone)
	v.Organization, v.Stage, v.Logo = f.Organization, string(f.Stage), f.Logo
	v.Headline = words.headline(f.Stage, f.Pickup)
	for _, step := range f.Steps {
		v.Steps = append(v.Steps, trackStep{string(step.State), words.step(step.Stage, f.Pickup)})
	}
	line := func(name, value string) {
		if value != "" {
			v.Lines = append(v.Lines, trackLine{name, value})
		}
	}
	switch f.Stage {
	case trackingpage.StageCompleted:
		line(words.step(f.Stage, f.Pickup), words.moment(f.CompletedAt, zone, now))
	case trackingpage.StageFailed:
		v.Detail = words.Reasons[f.FailureReason]
		line(words.Tried, words.moment(f.CompletedAt, zone, now))
		v.offer(f, zone)
	default:
		coming := words.By
		if f.Stage == trackingpage.StageArrived {
			coming = words.Here
		}
		if f.Stage != trackingpage.StageArrived || f.Arrival.After(now) { // the worker waits for the time window
			line(words.Expected, words.moment(f.Arrival, zone, now))
		}
		line(words.Window, words.window(f.CompleteAfter, f.CompleteBefore, zone, now))
		line(coming, f.WorkerName)
		if f.Delay >= time.Minute {
			v.Detail = words.Late
		}
		v.list(f.Requirements)
	}
	v.MayRate, v.Rated = f.CanRate, f.Rated
	for n := lastmile.MinRating; n <= lastmile.MaxRating; n++ {
		v.Ratings = append(v.Ratings, n)
	}
}

// offer says what happens after a failed task: the times that may be requested, or
// whom to contact.
func (v *trackView) offer(f trackingpage.Page, zone *time.Location) {
	words := v.Words
	switch {
	case f.Requested != nil:
		v.Next = fmt.Sprintf(words.Requested, words.slot(*f.Requested, zone), f.Organization)
	case len(f.NewTimes) > 0:
		v.Next = words.Choose
	default:
		v.Next = fmt.Sprintf(words.Contact, f.Organization)
	}
	for _, slot := range f.NewTimes {
		selected := f.Requested != nil && f.Requested.After.Equal(slot.After)
		v.Times = append(v.Times, trackTime{slot.After.UnixMilli(), words.slot(slot, zone), selected})
	}
}

// contact adds the phone number that recipients call.
func (v *trackView) contact(f trackingpage.Page, show func(lastmile.Phone, string) string) {
	if f.Phone == "" {
		return
	}
	v.Phone, v.Call = true, template.URL("tel:"+string(f.Phone)) // digits and a plus, so it is safe
	v.CallText, v.Number = fmt.Sprintf(v.Words.Call, f.Organization)+":", show(f.Phone, f.Country)
}

// list adds what the worker will require of the recipient.
func (v *trackView) list(r lastmile.Requirements) {
	if r.Signature {
		v.Asked = append(v.Asked, v.Words.Signature)
	}
	if r.Photo {
		v.Asked = append(v.Asked, v.Words.Photo)
	}
	if r.MinimumAge > 0 {
		v.Asked = append(v.Asked, strings.ReplaceAll(v.Words.Age, "#", strconv.Itoa(r.MinimumAge)))
	}
}
