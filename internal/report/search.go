package report

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// Limits of searches.
const (
	MaxFound     = 10  // maximum records of a kind
	MinQuery     = 2   // characters
	MaxQuery     = 100 // characters
	maxRelated   = 20  // maximum recipients, and destinations, whose tasks are found
	minPhone     = 3   // minimum digits of a phone number
	shortIDWidth = 8
)

// Reports searches and summarizes the records of organizations.
type Reports struct {
	Store store.Transactor[Reader, Writer]
	// CallingCode returns the digits that phone numbers of a country begin with.
	CallingCode func(country string) string
	Now         func() time.Time

	turns rate.Turns // one request for analytics of an organization at a time, because they read many rows
}

// Found is the result of a search.
type Found struct {
	Tasks      []lastmile.Task // newest first
	Workers    []lastmile.Worker
	Recipients []lastmile.Recipient
}

// Search finds tasks, workers and recipients of the caller's organization by the beginning
// of a name, phone number, street or short id, at most MaxFound of each. Its cost does not
// grow with the number of records.
func (rs *Reports) Search(ctx context.Context, who lastmile.Principal, text string) (found Found, err error) {
	text = lastmile.FoldName(text)
	switch length := utf8.RuneCountInString(text); {
	case length == 0:
		return found, lastmile.Missing("q")
	case length < MinQuery || length > MaxQuery:
		return found, lastmile.Invalid("q must have %d to %d characters, not %d", MinQuery, MaxQuery, length)
	}
	err = rs.Store.Read(ctx, func(r Reader) error {
		org, err := r.Organization(ctx, who.Organization)
		if err != nil {
			return err
		}
		s := search{Reader: r, org: org.ID, by: store.ViewerOf(who), text: text, phones: phonesOf(text, rs.CallingCode(org.Country))}
		found, err = s.run(ctx)
		return err
	})
	return found, err
}

// phonesOf returns the beginnings of the phone numbers that a text may be the beginning of;
// none if it is not one. Without a plus sign, the text may be a number of the country or an
// international number.
func phonesOf(text, callingCode string) []string {
	digits := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "", "/", "").Replace(text)
	international := strings.HasPrefix(digits, "+")
	digits = strings.TrimPrefix(digits, "+")
	if len(digits) < minPhone || strings.Trim(digits, "0123456789") != "" {
		return nil
	}
	if international {
		return []string{"+" + digits}
	}
	return []string{"+" + callingCode + strings.TrimPrefix(digits, "0"), "+" + digits}
}

// search is one search.
type search struct {
	Reader
	org    lastmile.OrganizationID
	by     store.Viewer
	text   string   // in lower case
	phones []string // beginnings of phone numbers
}

func (s search) run(ctx context.Context) (found Found, err error) {
	recipients, err := either(s.phones, s.text, maxRelated,
		func(phone string) ([]lastmile.RecipientID, error) {
			return s.RecipientsCalled(ctx, s.org, phone, maxRelated)
		},
		func(name string) ([]lastmile.RecipientID, error) {
			return s.RecipientsNamed(ctx, s.org, name, maxRelated)
		})
	if err != nil {
		return found, err
	}
	workers, err := either(s.phones, s.text, MaxFound,
		func(phone string) ([]lastmile.WorkerID, error) { return s.WorkersCalled(ctx, s.by, phone, MaxFound) },
		func(name string) ([]lastmile.WorkerID, error) { return s.WorkersNamed(ctx, s.by, name, MaxFound) })
	if err != nil {
		return found, err
	}
	for _, id := range workers {
		worker, err := s.Tracked(ctx, s.org, id)
		if err != nil {
			return found, err
		}
		found.Workers = append(found.Workers, worker)
	}
	for _, id := range recipients[:min(MaxFound, len(recipients))] {
		recipient, err := s.Recipient(ctx, s.org, id)
		if err != nil {
			return found, err
		}
		found.Recipients = append(found.Recipients, recipient)
	}
	found.Tasks, err = s.tasks(ctx, recipients)
	return found, err
}

// either returns at most limit records with the name or one of the phone numbers, without
// duplicates.
func either[ID comparable](phones []string, name string, limit int, called, named func(string) ([]ID, error)) ([]ID, error) {
	all, err := named(name)
	if err != nil {
		return nil, err
	}
	for _, phone := range phones {
		more, err := called(phone)
		if err != nil {
			return nil, err
		}
		for _, id := range more {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all[:min(limit, len(all))], nil
}

// tasks finds tasks: first those whose short id begins with the text, then the newest for
// the recipients and on the street.
func (s search) tasks(ctx context.Context, recipients []lastmile.RecipientID) ([]lastmile.Task, error) {
	var ids []lastmile.TaskID
	if len(s.text) <= shortIDWidth && strings.Trim(s.text, "0123456789abcdef") == "" {
		called, err := s.TasksCalled(ctx, s.by, s.text, MaxFound)
		if err != nil {
			return nil, err
		}
		ids = called
	}
	var related []store.Created
	for _, id := range recipients {
		latest, err := s.LatestFor(ctx, s.by, id, MaxFound)
		if err != nil {
			return nil, err
		}
		related = append(related, latest...)
	}
	onStreet, err := s.onStreet(ctx)
	if err != nil {
		return nil, err
	}
	related = append(related, onStreet...)
	slices.SortFunc(related, func(a, b store.Created) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.ID, a.ID)) })
	for _, t := range related {
		if id := lastmile.TaskID(t.ID); !slices.Contains(ids, id) && len(ids) < MaxFound {
			ids = append(ids, id)
		}
	}
	return s.TasksOf(ctx, s.org, ids)
}

// onStreet finds the newest tasks on a street. A house number before or after the name is
// ignored.
func (s search) onStreet(ctx context.Context) (found []store.Created, err error) {
	words := strings.Fields(s.text)
	if len(words) > 1 && isNumber(words[0]) {
		words = words[1:]
	} else if len(words) > 1 && isNumber(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	places, err := s.DestinationsAt(ctx, s.org, strings.Join(words, " "), maxRelated)
	if err != nil {
		return nil, err
	}
	for _, id := range places {
		latest, err := s.LatestAt(ctx, s.by, id, MaxFound)
		if err != nil {
			return nil, err
		}
		found = append(found, latest...)
	}
	return found, nil
}

// isNumber reports whether a text has only digits.
func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }
