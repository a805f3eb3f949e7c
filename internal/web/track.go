package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

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
}

// Track serves the page on which a recipient follows a task, at /t/{token}. It
// is complete without a script; the script, if there is one, updates it live.
type Track struct {
	Recipients Recipients
	Now        func() time.Time
	Log        *slog.Logger

	script Entry // empty when there is none
	page   *template.Template
	policy string
}

// NewTrack returns the page, with the script named track if the assets have one.
func NewTrack(a *Assets, r Recipients, now func() time.Time, log *slog.Logger) *Track {
	sum := sha256.Sum256([]byte(trackStyle))
	script, _ := a.Entry("track")
	return &Track{
		Recipients: r, Now: now, Log: log, script: script,
		page: template.Must(template.New("track").Parse(trackPage)),
		policy: "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	}
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
	Headline, Detail    string
	Lines               []trackLine
	Asked               []string
	MayRate, Rated      bool
	Ratings             []int
}

// trackLine is a labelled value.
type trackLine struct{ Name, Value string }

// ServeHTTP implements http.Handler.
func (t *Track) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", t.policy)
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
		t.rate(w, r, token)
	default:
		header.Set("Allow", "GET, HEAD, POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// show writes the page.
func (t *Track) show(w http.ResponseWriter, r *http.Request, token string, status int) {
	found, err := t.Recipients.Follow(r.Context(), token)
	view := trackView{Script: t.script, CSS: template.CSS(trackStyle), Token: token} // embedded, so it is safe
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
	w.Write(out.Bytes()) //nolint:errcheck // the client is gone
}

// maxForm is the largest form, in bytes.
const maxForm = 16 << 10

// rate handles the form, which pages without a script submit.
func (t *Track) rate(w http.ResponseWriter, r *http.Request, token string) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		t.show(w, r, token, http.StatusBadRequest)
		return
	}
	rating, err := strconv.Atoi(r.PostForm.Get("rating"))
	if err != nil {
		t.show(w, r, token, http.StatusBadRequest)
		return
	}
	err = t.Recipients.Rate(r.Context(), token, lastmile.Feedback{Rating: rating, Comments: strings.ToValidUTF8(strings.ReplaceAll(r.PostForm.Get("comments"), "\x00", ""), "")})
	if err != nil {
		status := http.StatusBadRequest
		rejection, rejected := errors.AsType[*lastmile.Error](err)
		switch {
		case !rejected:
			t.Log.Error("feedback cannot be kept", "error", err)
		case rejection.Code == lastmile.CodeTooMany:
			status = http.StatusTooManyRequests
		}
		t.show(w, r, token, status)
		return
	}
	http.Redirect(w, r, "/t/"+token, http.StatusSeeOther)
}

// describe fills the view with the words for a task.
func (v *trackView) describe(f trackingpage.Page, now time.Time) {
	words := v.Words
	zone, err := time.LoadLocation(f.Timezone)
	if err != nil {
		zone = time.UTC
	}
	v.Organization, v.Stage = f.Organization, string(f.Stage)
	v.Headline = words.Stages[f.Stage]
	if f.Pickup && words.PickupStages[f.Stage] != "" {
		v.Headline = words.PickupStages[f.Stage]
	}
	line := func(name, value string) {
		if value != "" {
			v.Lines = append(v.Lines, trackLine{name, value})
		}
	}
	if f.Stage == trackingpage.StageCompleted || f.Stage == trackingpage.StageFailed {
		line(words.Done, words.moment(f.CompletedAt, zone, now))
	} else {
		line(words.Expected, words.moment(f.Arrival, zone, now))
		line(words.Window, words.window(f.CompleteAfter, f.CompleteBefore, zone, now))
		line(words.By, f.WorkerName)
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
